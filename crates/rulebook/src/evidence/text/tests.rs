//! Messages and the paths in them.

use std::cell::RefCell;

use proptest::prelude::*;

use super::disk::MAX_CHECKS;
use super::{MAX_PATHS, MAX_TEXT, mentions, path_like};
use crate::work;

/// The files of the workspace; their folders exist too.
#[rustfmt::skip]
const FILES: &[&str] = &[
    "src/index.ts", "src/my file.ts", "src/a b/c.ts", "src/Dockerfile", "src/c#/a.cs", "apps/web/page.tsx",
    "packages/ui/lib/x.ts", "@scope/pkg/lib/x.js", "data/year=2026/part.bin", "__tests__/__mocks__/fs",
    "docs/guide", "and/or", "24/7", "Node.js", "Makefile", "LICENSE", "CMakeLists.txt", ".env", ".gitignore",
    "justfile", "my notes.md", "文档src/说明.md", "/abs/path/x.ts", "/etc/hosts", "2026/01/01", "read me/now",
];

fn exists(path: &str) -> bool {
    FILES
        .iter()
        .any(|file| file.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}

/// Checks the paths in `text` if nothing exists.
#[track_caller]
fn check(text: &str, paths: &[&str]) {
    assert_eq!(path_like(text, &|_| false), paths, "{text}");
}

/// Checks the paths in `text` in the workspace of [`FILES`].
#[track_caller]
fn check_in_workspace(text: &str, paths: &[&str]) {
    assert_eq!(path_like(text, &exists), paths, "{text}");
}

#[track_caller]
fn check_mentions(text: &str, paths: &[&str]) {
    assert_eq!(mentions(text, &exists), paths, "{text}");
}

#[test]
fn plain_paths_are_found_in_order_and_once() {
    check("edit src/index.ts", &["src/index.ts"]);
    check("b/z.ts then a/y.ts then b/z.ts", &["b/z.ts", "a/y.ts"]);
    check("src/a.ts\r\nsrc/b.ts\tsrc/c.ts", &["src/a.ts", "src/b.ts", "src/c.ts"]);
    check(".github/workflows/ci.yml", &[".github/workflows/ci.yml"]);
    check("src/naïve/a.ts", &["src/naïve/a.ts"]);
    check("src/main.c++", &["src/main.c++"]);
    check("src/.env and src/Dockerfile", &["src/.env", "src/Dockerfile"]);
    check("app/routes/$id.tsx", &["app/routes/$id.tsx"]);
    check("public/icon@2x.png and icon@2x.png", &["public/icon@2x.png", "icon@2x.png"]);
    check("docs/what's-new.md", &["docs/what's-new.md"]);
    check("a/b.test.tsx", &["a/b.test.tsx"]);
    check("", &[]);
    check("nothing to see here", &[]);
}

#[test]
fn punctuation_is_not_part_of_a_path() {
    check("edit src/index.ts.", &["src/index.ts"]);
    check("src/a.ts! src/b.ts? src/c.ts; src/d.ts:", &["src/a.ts", "src/b.ts", "src/c.ts", "src/d.ts"]);
    check("src/a.ts... and src/b.ts…", &["src/a.ts", "src/b.ts"]);
    check("src/a.ts,src/b.ts", &["src/a.ts", "src/b.ts"]);
    check("src/a.ts, src/b.ts", &["src/a.ts", "src/b.ts"]);
    check("src/a.ts;src/b.ts|src/c.ts", &["src/a.ts", "src/b.ts", "src/c.ts"]);
    check("src/a.ts|b", &["src/a.ts"]);
    check("src/a.ts=1", &["src/a.ts"]);
    check("src/a.ts's types", &["src/a.ts"]);
    check("src/a.ts—the entry→src/b.ts", &["src/a.ts", "src/b.ts"]);
    check("(see src/a.ts).", &["src/a.ts"]);
    check("-src/a.ts +src/b.ts !src/c.ts", &["src/a.ts", "src/b.ts", "src/c.ts"]);
    check("- src/a.ts", &["src/a.ts"]);
    check("--f=src/a.ts --out=dist/b.js", &["src/a.ts", "dist/b.js"]);
    check("path:src/a.ts HEAD:src/b.ts", &["src/a.ts", "src/b.ts"]);
    check_in_workspace("data/year=2026/part.bin", &["data/year=2026/part.bin"]);
}

#[test]
fn positions_in_a_file_are_removed() {
    check("src/index.ts#L10", &["src/index.ts"]);
    check("src/index.ts#L10-L20.", &["src/index.ts"]);
    check("src/index.ts:12:3", &["src/index.ts"]);
    check("src/index.ts:12", &["src/index.ts"]);
    check("src/index.ts:12-20,src/b.ts", &["src/index.ts", "src/b.ts"]);
    check("src/index.ts(12,3): error", &["src/index.ts"]);
    check("main.c(12): error", &["main.c"]);
    check("src/a.ts?x", &["src/a.ts"]);
    check("src/a.svg?raw=b/c.ts,src/d.ts", &["src/a.svg", "src/d.ts"]);
    check("docs/r.md#some/part.x", &["docs/r.md"]);
    check("tests/test_a.py::TestB::test_c", &["tests/test_a.py"]);
    check("src/a.ts[1]", &["src/a.ts"]);
    check("src/Dockerfile#L3", &["src/Dockerfile"]);
    check_in_workspace("src/c#/a.cs", &["src/c#/a.cs"]);
}

#[test]
fn quotes_and_brackets_surround_a_path() {
    check("`src/a.ts`", &["src/a.ts"]);
    check("``src/a.ts`` and \"src/b.ts\" and 'src/c.ts'", &["src/a.ts", "src/b.ts", "src/c.ts"]);
    check("“src/a.ts” ‘src/b.ts’ «src/c.ts»", &["src/a.ts", "src/b.ts", "src/c.ts"]);
    check("(src/a.ts) [src/b.ts] <src/c.ts>", &["src/a.ts", "src/b.ts", "src/c.ts"]);
    check("{src/a.ts,src/b.ts}", &["src/a.ts", "src/b.ts"]);
    check("{src/a.ts}", &["src/a.ts"]);
    check("load(src/a.ts)", &["src/a.ts"]);
    check("import x from './lib/a'", &["lib/a"]);
    check(r#"{"file":"src/a.ts","n":1}"#, &["src/a.ts"]);
    check(r#""{\"file\":\"src/a.ts\"}""#, &["src/a.ts"]);
    check("<img src=\"img/a.png\"/> <br/> </div>", &["img/a.png"]);
    check("\"src/a.ts", &["src/a.ts"]);
}

#[test]
fn brackets_can_be_part_of_a_path() {
    check("app/[slug]/page.tsx", &["app/[slug]/page.tsx"]);
    check("app/[[...slug]]/page.tsx", &["app/[[...slug]]/page.tsx"]);
    check("app/(group)/page.tsx", &["app/(group)/page.tsx"]);
    check("(app/(group)/page.tsx)", &["app/(group)/page.tsx"]);
    check("(group)/page.tsx", &["(group)/page.tsx"]);
    check("app/@modal/(.)photo/[id].tsx", &["app/@modal/(.)photo/[id].tsx"]);
    check("[slug]/page.tsx", &["[slug]/page.tsx"]);
    check("src/file(1).ts", &["src/file(1).ts"]);
}

#[test]
fn markdown_is_not_part_of_a_path() {
    check("**src/a.ts**", &["src/a.ts"]);
    check("**src/a.ts**.", &["src/a.ts"]);
    check("**src/a.ts.**", &["src/a.ts"]);
    check(
        "*src/a.ts* _src/b.ts_ __src/c.ts__ ***src/d.ts***",
        &["src/a.ts", "src/b.ts", "src/c.ts", "src/d.ts"],
    );
    check("~~src/a.ts~~", &["src/a.ts"]);
    check("**src/a.ts and src/b.ts**", &["src/a.ts", "src/b.ts"]);
    check("**`src/a.ts`**", &["src/a.ts"]);
    check("_src/my_file.ts_", &["src/my_file.ts"]);
    check("src/__init__.py and __init__.py", &["src/__init__.py", "__init__.py"]);
    check("[l](docs/r.md)", &["docs/r.md"]);
    check("[the long label](docs/r.md \"title\")", &["docs/r.md"]);
    check("![x](img/a.png)", &["img/a.png"]);
    check("[l](https://x.dev/a.md), [m](docs/r.md#part)", &["docs/r.md"]);
    check("# src/a.ts\n> src/b.ts\n1. src/c.ts", &["src/a.ts", "src/b.ts", "src/c.ts"]);
    check_in_workspace("__tests__/__mocks__", &["__tests__/__mocks__"]);
}

#[test]
fn fenced_code_is_not_searched() {
    check("a/x.ts\n```ts\nb/y.ts\n```\nc/z.ts", &["a/x.ts", "c/z.ts"]);
    check("a/x.ts\n~~~\nb/y.ts\n~~~\nc/z.ts", &["a/x.ts", "c/z.ts"]);
    check("fix: ```ts\nb/y.ts\n``` in c/z.ts", &["c/z.ts"]);
    check("````md\n```\nb/y.ts\n```\nb/w.ts\n````\nc/z.ts", &["c/z.ts"]);
    check("~~~\n```\nb/y.ts\n~~~\nc/z.ts", &["c/z.ts"]);
    check("> ```\n> b/y.ts\n> ```\nc/z.ts", &["c/z.ts"]);
    check("1. ```\n   b/y.ts\n   ```\nc/z.ts", &["c/z.ts"]);
    check("```\nb/y.ts\n```\na/x.ts\n```\nb/y.ts\n```", &["a/x.ts"]);
}

#[test]
fn an_unclosed_fence_hides_nothing() {
    check("```ts\nb/y.ts", &["b/y.ts"]);
    check("```\nb/y.ts\n```\n```ts\nc/z.ts", &["c/z.ts"]);
    check("~~~\nb/y.ts\n```", &["b/y.ts"]);
    check("````\nb/y.ts\n```\nc/z.ts", &["b/y.ts", "c/z.ts"]);
    check("```src/a.ts``` is inline", &["src/a.ts"]);
    check("~~~src/a.ts~~~", &["src/a.ts"]);
}

#[test]
fn addresses_are_not_searched() {
    check("https://x.y/a/b.ts http://localhost:3000/a.ts", &[]);
    check("file:///h/x.ts ssh://git@x.y/a.git git+https://x.y/z.ts", &[]);
    check("www.example.com/a/b www.example.com/a.ts", &[]);
    check("(https://x.y/a_(b)/c.ts) src/a.ts", &["src/a.ts"]);
    check("<https://x.y/a.ts>,src/b.ts", &["src/b.ts"]);
    check("url=https://x.y/a.ts", &[]);
    check("看https://x.y/a.ts，src/b.ts", &["src/b.ts"]);
    check("user@example.com mailto:a.b@x.org <me@x.io> git@github.com:o/r.git", &[]);
    check("example.com/a/b.html github.com/o/r.git //cdn.x.com/a.js", &[]);
    check("localhost:3000/api/u.json 127.0.0.1/a.html x.dev:80/b.ts", &[]);
}

#[test]
fn prose_is_not_a_path() {
    check("Node.js 3.5.1 e.g. and/or i.e. 24/7", &[]);
    check("he/she 1/2 TCP/IP n/a km/h 2026/11/15 v1.2.3 example.com 3.14 wait...what", &[]);
    check("Next.js, node.js, D3.js and ASP.NET; React/Next.js or Vue.js/Nuxt.js", &[]);
    check("a.m. p.m. U.S. Ph.D. etc. e.g./i.e. vs.", &[]);
    check("w/ tests, w/o tests, I/O, CI/CD.", &[]);
    check("it is done.Then go on, yes/no.If so", &[]);
    check("user.name this.state arr.map(x) console.log(x) process.env foo.json() x.y", &[]);
    check("release/2.x v18.x/v20.x application/vnd.api+json text/html image/*", &[]);
    check("2*3/4 */5 * * * /* note */ a*b/c width*height/scale", &[]);
    check("the .ts files, .env, Makefile, LICENSE", &[]);
    check("$HOME/x ${ROOT}/src/a.ts %APPDATA%/x.ts $HOME/a.ts", &[]);
    check(".../src/a.ts", &[]);
    check("/review /api/users /help", &[]);
    check("@Component @scope/pkg @scope/pkg/lib @app.route", &[]);
    check("don't can't it's \"quoted words\" 'more of them'", &[]);
    check("--- +++ === ... .. . / // \\ @ ~ ` * ** # [] () {}", &[]);
}

#[test]
fn prose_that_exists_counts() {
    check_in_workspace("Node.js 3.5.1 e.g. and/or i.e. 24/7", &["Node.js", "and/or", "24/7"]);
    check_in_workspace("Next.js he/she 1/2 2026/11/15", &[]);
    check_in_workspace("2026/01/01", &["2026/01/01"]);
    check_in_workspace("@scope/pkg/lib and @scope/pkg", &["@scope/pkg/lib", "@scope/pkg"]);
    check_in_workspace("docs/guide", &["docs/guide"]);
}

#[test]
fn bare_names_need_a_common_extension_or_must_exist() {
    check("utils.ts, README.md and styles.module.css", &["utils.ts", "README.md", "styles.module.css"]);
    check(
        "go.mod Cargo.lock .eslintrc.json tsconfig.build.json",
        &["go.mod", "Cargo.lock", ".eslintrc.json", "tsconfig.build.json"],
    );
    check("main.c FOO.PNG analysis.R", &["main.c", "FOO.PNG", "analysis.R"]);
    check("schema.unheard", &[]);
    check("`Makefile` and .env", &[]);
    check_in_workspace(
        "Makefile, justfile, LICENSE, .env and .gitignore.",
        &["Makefile", "justfile", "LICENSE", ".env", ".gitignore"],
    );
    check_in_workspace("the src folder, the docs", &[]);
    check_in_workspace("the `src` folder, \"docs\"", &["src", "docs"]);
    check_in_workspace("`npm run docs`", &[]);
}

#[test]
fn folders_need_a_slash_or_an_existing_parent() {
    check("update src/", &["src"]);
    check("apps/web/ and a/b/", &["apps/web", "a/b"]);
    check("add it to apps/web", &[]);
    check("packages/ui.", &[]);
    check("24/7/", &[]);
    check("./scripts", &["scripts"]);
    check("src/... and ./...", &["src"]);
    check_in_workspace("add a new component to apps/web", &["apps/web"]);
    check_in_workspace("add apps/admin.", &["apps/admin"]);
    check_in_workspace("add tools/admin", &[]);
    check_in_workspace("update src/", &["src"]);
    check_in_workspace("src/Dockerfile", &["src/Dockerfile"]);
}

#[test]
fn globs_are_kept_as_written() {
    check("packages/*/lib", &["packages/*/lib"]);
    check("src/{a,b}/c.ts", &["src/{a,b}/c.ts"]);
    check("src/{a,b}", &["src/{a,b}"]);
    check("{src,test}/**/*.ts,docs/*.md", &["{src,test}/**/*.ts", "docs/*.md"]);
    check("**/*.ts and *.tsx and src/**", &["**/*.ts", "*.tsx", "src/**"]);
    check("`src/**/*.{ts,tsx}`, *.{js,jsx}", &["src/**/*.{ts,tsx}", "*.{js,jsx}"]);
    check("**/test/** **`**/x.ts`**", &["**/test/**", "**/x.ts"]);
    check("src/[a-z]*.ts src/?.ts", &["src/[a-z]*.ts", "src/?.ts"]);
    check("apps/web-*/src", &["apps/web-*/src"]);
    check("!dist/**", &["dist/**"]);
    check("{a,b}.ts and *Test.java", &["{a,b}.ts", "*Test.java"]);
}

#[test]
fn every_spelling_of_a_path_is_understood() {
    check("./src/a.ts ././src/b.ts", &["src/a.ts", "src/b.ts"]);
    check("../x/y ../../a.ts", &["../x/y", "../../a.ts"]);
    check("~/x/y", &["~/x/y"]);
    check("/abs/path/x.ts", &["/abs/path/x.ts"]);
    check("a//b/c.ts", &["a/b/c.ts"]);
    check("//src/a.ts //tools/lint:all.sh", &["src/a.ts", "all.sh"]);
    check(r"src\b\c.ts", &["src/b/c.ts"]);
    check(r".\src\c.ts ..\x\y.ts", &["src/c.ts", "../x/y.ts"]);
    check(r"C:\repo\a.ts:12 d:/repo/b", &["C:/repo/a.ts", "d:/repo/b"]);
    check(r"\\server\share\a.ts", &["//server/share/a.ts"]);
    check_in_workspace("/etc/hosts /etc/nothing/at/all /opt/x", &["/etc/hosts", "/etc/nothing/at/all"]);
    check_in_workspace(
        "/src/index.ts /src/new.ts /abs/new.ts",
        &["src/index.ts", "src/new.ts", "/abs/new.ts"],
    );
}

#[test]
fn diff_headers_lose_their_prefixes() {
    check("diff --git a/src/x.ts b/src/x.ts", &["src/x.ts"]);
    check("--- a/src/x.ts\n+++ b/src/y.ts", &["src/x.ts", "src/y.ts"]);
    check("--- a/src/x.ts\n+++ /dev/null", &["src/x.ts"]);
    check("see a/src/x.ts", &["a/src/x.ts"]);
}

#[test]
fn paths_with_spaces_are_quoted_or_exist() {
    check("\"src/a b/c.ts\"", &["src/a b/c.ts"]);
    check("open `src/my file.ts:12` and 'docs/x y z.md'", &["src/my file.ts", "docs/x y z.md"]);
    check("[l](<docs/a b.md>)", &["docs/a b.md"]);
    check("don't touch 'src/a b.ts'", &["src/a b.ts"]);
    check("`cat src/a.ts src/b.ts`", &["src/a.ts", "src/b.ts"]);
    check("\"edit src/a.ts\" or \"src/a.ts and src/b.ts\"", &["src/a.ts", "src/b.ts"]);
    check("`bin/run --file lib/a.ts`", &["lib/a.ts"]);
    check("`bin/run | lib/a.ts` \"src/x or lib/y.ts\"", &["lib/a.ts", "lib/y.ts"]);
    check("src/a b/c.ts", &["b/c.ts"]);
    check_in_workspace("in src/a b/c.ts.", &["src/a b/c.ts"]);
    check_in_workspace("\"my notes.md\" \"read me/now\"", &["my notes.md", "read me/now"]);
    check_in_workspace("`src/Dockerfile lib/a.ts`", &["src/Dockerfile", "lib/a.ts"]);
}

#[test]
fn paths_are_found_in_scripts_without_spaces() {
    check("请修改src/a.ts文件，然后看docs/b.md。", &["src/a.ts", "docs/b.md"]);
    check("src/a.ts를 수정", &["src/a.ts"]);
    check("文档/说明.md", &["文档/说明.md"]);
    check("「src/a.ts」を", &["src/a.ts"]);
}

#[test]
fn mentions_start_with_an_at_sign() {
    check_mentions("@src/index.ts and src/other.ts", &["src/index.ts"]);
    check_mentions(
        "@/src/index.ts, (@src/new.ts) \"@apps/web\"",
        &["src/index.ts", "src/new.ts", "apps/web"],
    );
    check_mentions("@\"a b.ts\" @'src/my file.ts' @\"c.ts\"", &["a b.ts", "src/my file.ts", "c.ts"]);
    check_mentions("@folder/ @src @Makefile @.env", &["folder", "src", "Makefile", ".env"]);
    check_mentions(
        "@src/index.ts:10-20. @src/a.ts#L3 **@src/b.ts**",
        &["src/index.ts", "src/a.ts", "src/b.ts"],
    );
    check_mentions("@./src/a.ts @../x/y @~/x/y", &["src/a.ts", "../x/y", "~/x/y"]);
    check_mentions(r"@src\a.ts @C:\x\a.ts", &["src/a.ts", "C:/x/a.ts"]);
    check_mentions("@scope/pkg @other/pkg @scope/pkg/lib", &["@scope/pkg", "@scope/pkg/lib"]);
    check_mentions("@/etc/hosts @/abs/path/x.ts", &["/etc/hosts", "/abs/path/x.ts"]);
    check_mentions("me@example.com @Component({}) @param @https://x.y/a.ts @\"some words\"", &[]);
    check_mentions("```\n@src/index.ts\n```", &[]);
    check_in_workspace("@src/index.ts @new/a.ts @\"a b.ts\"", &["src/index.ts", "new/a.ts", "a b.ts"]);
}

#[test]
fn whole_messages_are_understood() {
    check(
        "Refactor `UserService` in src/user.service.ts, and its tests (src/__tests__/user.test.ts:42).",
        &["src/user.service.ts", "src/__tests__/user.test.ts"],
    );
    check(
        "See README.md#usage and package.json's scripts; bump lodash@4.17.21 to ^5.0.0",
        &["README.md", "package.json"],
    );
    check(
        "    at Object.<anonymous> (/home/me/src/index.js:10:15)\n    at node:internal/modules/cjs/loader:1105:14",
        &["/home/me/src/index.js"],
    );
    check("  File \"/app/main.py\", line 3, in <module>", &["/app/main.py"]);
    check("run `npm run test -- src/a.test.ts --watch` and `cargo test -p foo --lib`", &["src/a.test.ts"]);
    check("branch feature/add-login, origin/main, PR #12/13, user/repo#45", &[]);
    check("GET /api/users/:id, the regex /^foo\\/bar$/ and s/foo/bar/g", &[]);
    check("docker run -v $(pwd)/src:/app/src img:1.2 -f docker/Dockerfile.dev", &["docker/Dockerfile.dev"]);
    check("touch src/a.py;cat src/b.py>out.txt && ls src/", &["src/a.py", "src/b.py", "out.txt", "src"]);
    check(
        "[guide][1]\n\n[1]: docs/guide.md\n| src/t.ts | src/u.ts |",
        &["docs/guide.md", "src/t.ts", "src/u.ts"],
    );
    check("1)src/a.ts (2)src/b.ts", &["src/a.ts", "src/b.ts"]);
    check("It's in “src/it's here/a.ts”, isn't it? The users' src/b.ts", &["src/it's here/a.ts", "src/b.ts"]);
    check(r#""C:\Program Files\app\main.ts""#, &["C:/Program Files/app/main.ts"]);
    check("vue 3.x, .NET 8.0, C++/CLI, A/B testing, $5/mo, 10.0.0.0/8, fe80::1/64, com.example.app", &[]);
    check("copy .env.example to .env.local", &[".env.example", ".env.local"]);
}

#[test]
fn size_is_bounded() {
    let long = format!("src/{}.ts", "a".repeat(300));
    check(&long, &[]);
    let late = format!("{} src/a.ts", "ü".repeat(MAX_TEXT / 2));
    check(&late, &[]);
    let many: String = (0..3000).map(|n| format!("src/{n}.ts ")).collect();
    assert_eq!(path_like(&many, &|_| false).len(), MAX_PATHS);
}

#[test]
fn each_path_is_checked_once_and_checks_are_limited() {
    let checked = RefCell::new(Vec::new());
    let check = |path: &str| {
        checked.borrow_mut().push(path.to_owned());
        false
    };
    let text: String = (0..2000).map(|n| format!("x{n}/y ")).collect();
    path_like(&text.repeat(2), &check);
    let mut checked = checked.into_inner();
    assert_eq!(checked.len(), MAX_CHECKS);
    checked.sort();
    checked.dedup();
    assert_eq!(checked.len(), MAX_CHECKS);
}

#[test]
fn plain_prose_needs_no_existence_checks() {
    let check = |path: &str| -> bool { panic!("checked {path}") };
    path_like("Please add a test, then Fix the Bug in utils.ts and src/a.ts", &check);
}

#[test]
fn hostile_text_takes_linear_time() {
    let units = [
        "/", "[", "(", "{", "[]", "(a", "]", "<", "\"", "'", "`", "` ", "\" a", "@", "*", ".", "=", "a=",
        "a/=", "#", "?", ":", "://", "w", "www.", "````", "```\n", "```a\n", "~~~\n", "\\", "a.ts(",
        "a/ b.c ", "文a", "{a,",
    ];
    let check = |text: &dyn Fn(usize) -> String| {
        work::assert_linear(&text(1), &text(2), |text| drop(path_like(text, &|_| false)));
    };
    for unit in units {
        check(&|size| unit.repeat(size * (MAX_TEXT / 2 / unit.len())));
    }
    check(&|size| (3..350 * size).rev().map(|n| "`".repeat(n) + "a\n").collect());
    check(&|size| "a".repeat(50_000 * size) + "/" + &"=".repeat(50_000 * size));
}

proptest! {
    #[test]
    fn results_are_parts_of_the_text(
        text in r#"([a-c]{1,3}|[/\\.@*_~`"'<>()\[\]{}#:=,?!$ \n-]{1,2}|\.ts|```|https://|www\.|é|文|L1){0,40}"#,
        exists: bool,
    ) {
        let without_slashes = |text: &str| text.replace(['/', '\\'], "");
        for path in path_like(&text, &|_| exists).into_iter().chain(mentions(&text, &|_| exists)) {
            prop_assert!(without_slashes(&text).contains(&without_slashes(&path)), "{path}");
            prop_assert!(path.contains(char::is_alphanumeric) && !path.ends_with('/'), "{path}");
            prop_assert!(!path.contains(['\\', '`', '"', '\n']) && path.trim() == path, "{path}");
        }
    }

    #[test]
    fn no_text_panics(text in any::<String>(), exists: bool) {
        path_like(&text, &|_| exists);
        mentions(&text, &|_| exists);
    }
}
