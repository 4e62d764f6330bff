//! Discovery on a real disk: roots, folders above and below, links, worktrees and odd names.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rulebook::evidence::Input;
use rulebook_workspace::{Homes, Reach, Workspace, find_root};

/// A folder that is gone after the test.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        Place { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(path)
    }

    fn put(&self, path: &str, text: &str) -> &Place {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    fn homes(&self) -> Homes {
        let home = self.path("home");
        Homes {
            config: Some(home.join(".config")),
            cache: Some(home.join(".cache")),
            state: Some(home.join(".local/state")),
            home: Some(home),
            system: Some(self.path("system")),
            ..Homes::default()
        }
    }

    fn open(&self, roots: &[&str]) -> Workspace {
        let roots: Vec<PathBuf> = roots.iter().map(|root| self.path(root)).collect();
        for root in &roots {
            fs::create_dir_all(root).unwrap();
        }
        Workspace::open_with(&roots, self.homes(), "").unwrap()
    }
}

/// Every file of the whole tree, with its state: `id source` or `!id source: code`.
fn all(workspace: &Workspace) -> Vec<String> {
    let loaded = workspace.load(Reach::Tree);
    let rules = loaded.book.rules().map(|(rule, _)| format!("{} {}", rule.id, rule.origin.display));
    let rejected = loaded.book.rejected().iter().map(|rejected| {
        let codes: Vec<&str> = rejected.codes.iter().map(|code| code.row().name).collect();
        format!("!{} {}: {}", rejected.id, rejected.origin.display, codes.join(","))
    });
    rules.chain(rejected).collect()
}

/// The rules that apply to some open tabs.
fn stack(workspace: &Workspace, tabs: &[&str]) -> Vec<String> {
    let input = Input { open_tabs: tabs.iter().map(|tab| (*tab).to_owned()).collect(), ..Input::default() };
    let prepared = workspace.prepare(&input);
    prepared
        .evaluate()
        .verdicts
        .iter()
        .filter(|verdict| matches!(verdict.state, rulebook::evaluate::State::Stack))
        .map(|verdict| verdict.rule.origin.display.clone())
        .collect()
}

fn diagnostics(workspace: &Workspace) -> Vec<String> {
    let line = |found: &rulebook::diagnostic::Diagnostic| format!("{} {}", found.path, found.code.row().name);
    workspace.load(Reach::Tree).diagnostics.iter().map(line).collect()
}

#[test]
fn the_root_is_the_nearest_folder_with_git() {
    let place = Place::new();
    place.put("a/.git/HEAD", "").put("a/b/c/x", "").put("plain/x", "");
    assert_eq!(find_root(&place.path("a/b/c")), place.path("a"));
    assert_eq!(find_root(&place.path("plain")), place.path("plain"));
}

#[test]
fn the_nearest_clinerules_above_counts_when_the_root_has_none() {
    let place = Place::new();
    place.put("home/.clinerules/far.md", "far").put("home/w/.clinerules/near.md", "near");
    assert_eq!(all(&place.open(&["home/w/app"])), ["near ../.clinerules/near.md"]);
    place.put("home/w/app/.clinerules", "own");
    assert_eq!(all(&place.open(&["home/w/app"])), ["clinerules .clinerules"]);
    assert_eq!(all(&place.open(&["home/other/deep"])), ["far ../../.clinerules/far.md"]);
    // Folders above home are not searched.
    place.put(".clinerules/above.md", "above").put("home2/x", "");
    fs::remove_dir_all(place.path("home/.clinerules")).unwrap();
    assert_eq!(all(&place.open(&["home/other/deep"])), Vec::<String>::new());
    // Outside home, up to the file system's root.
    assert_eq!(all(&place.open(&["elsewhere/app"])), ["above ../../.clinerules/above.md"]);
}

#[test]
fn several_roots_are_one_workspace() {
    let place = Place::new();
    place.put("web/.clinerules/a.md", "---\npaths: ['src/**']\n---\nweb").put("api/.clinerules/b.md", "api");
    place.put("api/packages/x/.cursor/rules/n.mdc", "---\nalwaysApply: true\n---\nnested");
    place.put("web/packages/x/y.ts", "").put("api/packages/x/z.ts", "").put("api/src/only.ts", "");
    let one = place.open(&["web", "api"]);
    let other = place.open(&["api", "web"]);
    assert_eq!(
        all(&one),
        ["n api/packages/x/.cursor/rules/n.mdc", "a web/.clinerules/a.md", "b api/.clinerules/b.md"]
    );
    assert_eq!(all(&one), all(&other));
    // A pattern applies in any root; a nested folder is one place.
    assert_eq!(stack(&one, &["src/only.ts"]), ["web/.clinerules/a.md", "api/.clinerules/b.md"]);
    let web = place.path("web/packages/x/y.ts");
    assert_eq!(stack(&one, &[web.to_str().unwrap()]), ["api/.clinerules/b.md"]);
    let api = place.path("api/packages/x/z.ts");
    assert_eq!(
        stack(&one, &[api.to_str().unwrap()]),
        ["api/packages/x/.cursor/rules/n.mdc", "api/.clinerules/b.md"]
    );
}

#[test]
fn a_root_inside_another_owns_its_files() {
    let place = Place::new();
    place
        .put("app/.clinerules/outer.md", "outer")
        .put("app/core/.clinerules/inner.md", "inner")
        .put("app/core/x.rs", "");
    let workspace = place.open(&["app", "app/core"]);
    assert_eq!(all(&workspace), ["inner core/.clinerules/inner.md", "outer app/.clinerules/outer.md"]);
    assert_eq!(stack(&workspace, &["core/x.rs"]).len(), 2);
}

#[test]
fn links_stay_inside_their_root() {
    let place = Place::new();
    place
        .put("app/.clinerules/real.md", "real")
        .put("app/shared/linked.md", "linked")
        .put("outside/evil.md", "evil");
    place.put("home/.cursor/rules/own.mdc", "---\nalwaysApply: true\n---\nown");
    place.put("outside/rules/x.mdc", "evil");
    symlink(place.path("app/shared/linked.md"), place.path("app/.clinerules/in.md")).unwrap();
    symlink("../shared", place.path("app/.clinerules/folder")).unwrap();
    symlink(place.path("outside/evil.md"), place.path("app/.clinerules/out.md")).unwrap();
    symlink(place.path("outside"), place.path("app/.clinerules/out-folder")).unwrap();
    symlink(place.path("home/.cursor/rules/own.mdc"), place.path("app/.clinerules/mine.md")).unwrap();
    symlink("nowhere", place.path("app/.clinerules/dangling.md")).unwrap();
    symlink("loop.md", place.path("app/.clinerules/loop.md")).unwrap();
    symlink(".", place.path("app/.clinerules/self")).unwrap();
    symlink(place.path("outside"), place.path("app/.cursor")).unwrap();
    let workspace = place.open(&["app"]);
    let found = all(&workspace);
    assert!(found.iter().all(|line| !line.contains("evil")), "{found:?}");
    assert!(found.contains(&"real .clinerules/real.md".to_owned()));
    assert!(found.iter().all(|line| !line.contains("self")), "a loop ends at once: {found:?}");
    assert!(found.contains(&"!out .clinerules/out.md: outside-root".to_owned()), "{found:?}");
    assert!(found.contains(&"!dangling .clinerules/dangling.md: not-a-file".to_owned()), "{found:?}");
    // The same file through two names of one format counts once; in the folders of two formats, it is a rule of each.
    assert_eq!(
        found.iter().filter(|line| line.contains("linked") || line.contains("in.md")).count(),
        1,
        "{found:?}"
    );
    assert_eq!(
        found.iter().filter(|line| line.contains("own") || line.contains("mine")).count(),
        2,
        "{found:?}"
    );
    let diagnostics = diagnostics(&workspace);
    for wanted in [
        ".clinerules/out-folder outside-root",
        ".cursor/rules outside-root",
        ".clinerules/loop.md unreadable",
    ] {
        assert!(diagnostics.iter().any(|line| line == wanted), "{wanted} in {diagnostics:?}");
    }
    // Links to folders that the user allows are followed.
    let outside = place.path("outside");
    place.put(
        "home/.config/rulebook/config.toml",
        &format!("rules.allow_links = [{:?}]", outside.to_str().unwrap()),
    );
    let allowed = all(&place.open(&["app"]));
    assert!(allowed.contains(&"out-folder/evil .clinerules/out-folder/evil.md".to_owned()), "{allowed:?}");
}

#[test]
fn the_same_file_through_two_worktrees_counts_once() {
    let place = Place::new();
    place.put("main/.git/HEAD", "ref: refs/heads/main\n");
    place
        .put("main/.git/worktrees/wt/commondir", "../..\n")
        .put("main/.git/worktrees/wt/HEAD", "ref: refs/heads/topic/x\n");
    let pointer = format!("gitdir: {}\n", place.path("main/.git/worktrees/wt").display());
    for checkout in ["wt", "main/nested-wt"] {
        place.put(&format!("{checkout}/.git"), &pointer);
        place
            .put(&format!("{checkout}/.clinerules/same.md"), "same")
            .put(&format!("{checkout}/.clinerules/differs.md"), "changed");
    }
    place.put("main/.clinerules/same.md", "same").put("main/.clinerules/differs.md", "original");
    let both = place.open(&["main", "wt"]);
    assert_eq!(
        all(&both),
        [
            "differs main/.clinerules/differs.md",
            "differs wt/.clinerules/differs.md",
            "same main/.clinerules/same.md"
        ]
    );
    // A worktree inside another is not a part of it.
    assert_eq!(all(&place.open(&["main"])), ["differs .clinerules/differs.md", "same .clinerules/same.md"]);
}

#[test]
fn xdg_folders_are_honoured() {
    let place = Place::new();
    place
        .put("xdg/rulebook/rules/a.md", "a")
        .put("xdg/opencode/rules/b.md", "---\ndescription: b\npriority: 1\n---\nb");
    fs::create_dir_all(place.path("app")).unwrap();
    let homes = Homes { config: Some(place.path("xdg")), ..place.homes() };
    let workspace = Workspace::open_with(&[place.path("app")], homes, "").unwrap();
    let shown = |path: &str| place.path(path).to_string_lossy().into_owned();
    assert_eq!(
        all(&workspace),
        [
            format!("a {}", shown("xdg/rulebook/rules/a.md")),
            format!("b {}", shown("xdg/opencode/rules/b.md"))
        ]
    );
}

#[test]
fn home_as_a_workspace_counts_its_files_once() {
    let place = Place::new();
    place.put("home/.cursor/rules/a.mdc", "---\nalwaysApply: true\n---\na");
    assert_eq!(all(&place.open(&["home"])), ["a .cursor/rules/a.mdc"]);
}

#[test]
fn a_thousand_malformed_files_are_all_listed_and_hide_no_other() {
    let place = Place::new();
    let pieces = [
        "---\n",
        "globs: ",
        "*.ts",
        "[",
        "]",
        "{",
        "}",
        "\u{feff}",
        "\r\n",
        "\n",
        "\0",
        "é",
        "&a ",
        "*a",
        "<<: ",
        "- ",
        "? ",
        "!!x ",
        "\"",
        "'",
        "|",
        ">",
        "#",
        "priority: 1e9",
        "alwaysApply: true\n",
        "when: ((",
        "paths: [1, {}]",
        "tags: [[[[",
        "\t",
        "---",
        "description: a: b\n",
        "\u{202e}",
        "𝕏",
        "%YAML 9\n",
        "...\n",
        "condition: (?<x",
        "\\",
        "body",
    ];
    let folders = [
        ".clinerules",
        ".cursor/rules",
        ".opencode/rules",
        ".rulebook/rules",
        ".xcsh/rules",
        ".windsurf/rules",
    ];
    let mut seed = 42u64;
    let mut next = move |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(seed >> 33).unwrap() % below
    };
    for at in 0..1000 {
        let folder = folders[at % folders.len()];
        let path = place.path(&format!("app/{folder}/n{at}.md"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut bytes: Vec<u8> = (0..next(12)).flat_map(|_| pieces[next(pieces.len())].bytes()).collect();
        if next(10) == 0 {
            bytes.push(0xff);
        }
        fs::write(path, bytes).unwrap();
    }
    place.put("app/.clinerules/good.md", "good");
    let workspace = place.open(&["app"]);
    let found = all(&workspace);
    assert_eq!(found.len(), 1001);
    assert!(found.contains(&"good .clinerules/good.md".to_owned()));
    assert_eq!(stack(&workspace, &["a.ts"]).iter().filter(|source| source.ends_with("good.md")).count(), 1);
    // A second run gives the same bytes.
    let shown = |workspace: &Workspace| format!("{:?}", workspace.load(Reach::Tree).diagnostics);
    assert_eq!(shown(&workspace), shown(&place.open(&["app"])));
}

#[test]
fn a_root_that_cannot_be_opened_is_an_error() {
    let place = Place::new();
    place.put("file", "");
    let fails =
        |path: &Path| Workspace::open_with(&[path.to_owned()], Homes::default(), "").unwrap_err().to_string();
    assert!(fails(&place.path("missing")).contains("cannot be opened"));
    assert!(fails(&place.path("file")).contains("is not a folder"));
}

#[test]
fn a_folder_linked_into_two_packages_applies_to_both() {
    let place = Place::new();
    place.put("app/shared/rules/r.mdc", "---\nglobs: src/**\n---\nshared");
    for package in ["a", "b"] {
        fs::create_dir_all(place.path(&format!("app/packages/{package}/.cursor"))).unwrap();
        symlink("../../../shared/rules", place.path(&format!("app/packages/{package}/.cursor/rules")))
            .unwrap();
        place.put(&format!("app/packages/{package}/src/x.ts"), "");
    }
    let workspace = place.open(&["app"]);
    assert_eq!(all(&workspace).len(), 2);
    for tabs in [&["packages/b/src/x.ts"][..], &["packages/a/none.ts", "packages/b/src/x.ts"]] {
        assert_eq!(stack(&workspace, tabs), ["packages/b/.cursor/rules/r.mdc"], "{tabs:?}");
    }
}

#[test]
fn home_may_be_a_link() {
    let place = Place::new();
    place.put(".clinerules/above.md", "above").put("home/proj/x", "");
    symlink(place.path("home"), place.path("linked-home")).unwrap();
    let homes = Homes { home: Some(place.path("linked-home")), ..Homes::default() };
    let workspace = Workspace::open_with(&[place.path("home/proj")], homes, "").unwrap();
    assert_eq!(all(&workspace), Vec::<String>::new());
}

#[test]
fn folder_names_may_contain_any_character() {
    let place = Place::new();
    place.put("back\\slash/.clinerules/a.md", "a");
    assert_eq!(all(&place.open(&["back\\slash"])), ["a .clinerules/a.md"]);
    use std::os::unix::ffi::OsStrExt;
    let odd = place.path("app").join(std::ffi::OsStr::from_bytes(b"o\xffdd"));
    fs::create_dir_all(&odd).unwrap();
    let workspace = place.open(&["app"]);
    assert_eq!(diagnostics(&workspace).len(), 1, "{:?}", diagnostics(&workspace));
    assert!(
        Workspace::open_with(&[odd], Homes::default(), "").unwrap_err().to_string().contains("not UTF-8")
    );
}

#[test]
fn deep_folders_are_searched() {
    let place = Place::new();
    let deep = "d/".repeat(70);
    place
        .put(&format!("app/{deep}.clinerules/nested.md"), "nested")
        .put(&format!("app/.clinerules/{deep}rule.md"), "rule");
    let workspace = place.open(&["app"]);
    assert_eq!(all(&workspace).len(), 2);
    assert_eq!(stack(&workspace, &[&format!("{deep}x.ts")]).len(), 2);
}

#[test]
fn a_folder_above_the_root_counts_if_the_user_owns_it_and_its_links_stay_in_it() {
    use std::os::unix::fs::MetadataExt as _;
    let place = Place::new();
    place.put("up/.clinerules/a.md", "A.").put("up/secret.md", "Secret.").put("up/repo/x.ts", "");
    symlink(place.path("up/secret.md"), place.path("up/.clinerules/b.md")).unwrap();
    let user = fs::metadata(place.path("up")).unwrap().uid();
    let open = |owners: Vec<u32>| {
        let homes = Homes { owners, ..place.homes() };
        Workspace::open_with(&[place.path("up/repo")], homes, "").unwrap()
    };
    let own = open(vec![user]);
    assert_eq!(all(&own), ["a ../.clinerules/a.md", "!b ../.clinerules/b.md: outside-root"]);
    let foreign = open(vec![user + 1]);
    assert_eq!(all(&foreign), Vec::<String>::new());
    let reported = foreign.load(Reach::Tree).diagnostics;
    assert_eq!(reported[0].message, "this file is above the root and is not read: another user owns it");
    let link = place.path("up/.clinerules");
    fs::rename(&link, place.path("up/rules")).unwrap();
    symlink(place.path("up"), &link).unwrap();
    assert_eq!(all(&own), Vec::<String>::new(), "a link is not followed out of the place");
}

#[test]
fn patterns_of_git_are_bounded_together_and_the_order_of_folders_does_not_matter() {
    let place = Place::new();
    place.put("repo/.git/HEAD", "").put("repo/.gitignore", "top.log\n").put("repo/top.log", "");
    for at in 0..8 {
        let patterns = format!("{}\n*xy\n", "x".repeat(4_000)).repeat(50);
        place.put(&format!("repo/d{at}/.gitignore"), &patterns).put(&format!("repo/d{at}/{at}xy"), "");
    }
    let workspace = place.open(&["repo"]);
    let tree = workspace.tree(rulebook_workspace::Wanted::All, &|_| ());
    // Eight pattern files, eight others and the one at the top.
    assert_eq!(tree.files(), 17);
    let found = workspace.load(Reach::Walked(&tree)).diagnostics;
    assert!(found.iter().any(|found| found.path == ".gitignore files"), "{found:?}");
}
