//! Coverage on a real disk: which files count, and that its results agree with `explain` and streams.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use rulebook::coverage::{CoverageReport, Listing};
use rulebook::rule::Rule;
use rulebook::stream::{Monitor, StreamKind};
use rulebook_workspace::{Homes, Reach, Wanted, Workspace};

/// A folder with files, gone after the test.
fn place(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn open(folder: &Path, roots: &[&str]) -> Workspace {
    let roots: Vec<_> = roots.iter().map(|root| folder.join(root)).collect();
    Workspace::open_with(&roots, Homes::default(), "").unwrap()
}

fn report(workspace: &Workspace) -> CoverageReport {
    let tree = workspace.tree(Wanted::Files, &|_| ());
    workspace.coverage(&workspace.load(Reach::Walked(&tree)).book, &tree, Listing::All)
}

#[test]
fn ignored_files_do_not_count_and_hidden_files_do() {
    let folder = place(&[
        (".git/HEAD", ""),
        (".gitignore", "dist/\n*.log\n!keep.log\n"),
        (".ignore", "docs\n"),
        (".env", ""),
        ("dist/a.js", ""),
        ("dist/.clinerules/a.md", "Lost."),
        ("docs/a.md", ""),
        ("keep.log", ""),
        ("old.log", ""),
        ("sub/.git", "gitdir: elsewhere"),
        ("sub/.gitignore", "*.tmp\n"),
        ("sub/a.tmp", ""),
        ("sub/b.txt", ""),
    ]);
    symlink("/etc", folder.path().join("link")).unwrap();
    let report = report(&open(folder.path(), &["."]));
    let want = [".env", ".gitignore", ".ignore", "docs/a.md", "keep.log", "sub/.gitignore", "sub/b.txt"];
    assert_eq!(report.unreached.paths, want);
    assert!(report.rules.is_empty());
}

#[test]
fn files_of_a_root_inside_another_count_once() {
    let folder = place(&[
        ("a/x.txt", ""),
        ("a/b/y.txt", ""),
        ("a/b/.clinerules/here.md", "---\npaths: ['y.txt']\n---\nFor the inner root's file."),
    ]);
    let report = report(&open(folder.path(), &["a", "a/b"]));
    assert_eq!((report.files, report.rules[0].files), (3, 1));
    assert_eq!(report.unreached.paths, ["a/x.txt", "b/.clinerules/here.md"]);
}

#[test]
fn files_in_many_batches_are_counted_once_each() {
    let folder = place(&[(".clinerules/one.md", "---\npaths: ['many/*1.ts']\n---\nOne.")]);
    fs::create_dir(folder.path().join("many")).unwrap();
    for number in 0..20_000 {
        fs::File::create(folder.path().join(format!("many/{number}.ts"))).unwrap();
    }
    let workspace = open(folder.path(), &["."]);
    let first = report(&workspace);
    assert_eq!((first.files, first.rules[0].files, first.unreached.files), (20_001, 2000, 18_001));
    let again = serde_json::to_string(&report(&workspace)).unwrap();
    assert_eq!(serde_json::to_string(&first).unwrap(), again);
}

#[test]
fn a_glob_is_dead_in_its_own_dialect_only() {
    #[track_caller]
    fn check(rule: &str, text: &str, dead: &[&str]) {
        let folder = place(&[(rule, text), ("src/deep/a.ts", ""), ("src/.b.ts", ""), ("docs/C.md", "")]);
        let found: Vec<String> =
            report(&open(folder.path(), &["."])).dead.into_iter().map(|dead| dead.pattern).collect();
        assert_eq!(found, dead, "{rule} {text}");
    }
    let claude = ".claude/rules/r.md";
    check(claude, "---\npaths: [src, SRC, a.ts, b.ts, '!never']\n---\nText.", &["b.ts"]);
    check(claude, "---\npaths: [docs/c.md, /a.ts, '*.MD']\n---\nText.", &["/a.ts"]);
    let cline = ".clinerules/r.md";
    check(cline, "---\npaths: [src, a.ts, 'src/*.ts', '!never']\n---\nText.", &["src", "a.ts"]);
    let copilot = ".github/instructions/r.instructions.md";
    check(copilot, "---\napplyTo: 'a.ts,docs/c.md,docs/d.md'\n---\nText.", &["docs/d.md"]);
}

#[test]
fn a_stream_rule_counts_the_files_that_its_gate_admits() {
    let paths = ["a.ts", "src/b.ts", "src/gen/c.ts", "src/d.tsx", "README", "docs/README"];
    for globs in
        ["*.ts", "src/**", "['src/**', '!src/gen/**']", "'!src/**'", "README", "'*.{ts,tsx}'", "src/*.ts"]
    {
        let rule = format!("---\ncondition: foo\nglobs: {globs}\n---\nNo foo.");
        let mut files = vec![(".rulebook/rules/r.md", rule.as_str())];
        files.extend(paths.map(|path| (path, "")));
        let folder = place(&files);
        let workspace = open(folder.path(), &["."]);
        let loaded = workspace.load(Reach::Tree);
        let reached =
            workspace.reached_by(&[0], &loaded.book, &workspace.tree(Wanted::Files, &|_| ())).remove(0);
        let fires = |path: &&str| {
            let rules = loaded.book.rules().map(|(rule, _)| rule);
            let mut monitor =
                Monitor::new(rules.into_iter().filter_map(Rule::stream_rule), workspace.roots.clone());
            let call = format!(r#"{{"path": "{path}", "content": "foo"}}"#);
            let kind = StreamKind::Tool("write".to_owned());
            let early = monitor.feed("call", &kind, call.as_bytes()).len();
            early + monitor.finish("call").len() > 0
        };
        let mut want: Vec<&str> = paths.iter().filter(|path| fires(path)).copied().collect();
        want.sort_unstable();
        let found: Vec<&str> =
            reached.files.iter().map(String::as_str).filter(|path| paths.contains(path)).collect();
        assert_eq!(found, want, "{globs}");
    }
}
