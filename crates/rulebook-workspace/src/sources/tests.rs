//! What is opened, listed and parsed, counted.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rulebook::agent::AGENTS;
use rulebook::evidence::Input;

use super::*;
use crate::homes::Homes;
use crate::read::record;

/// A workspace whose files many agents read, beside folders that no evidence is about.
fn workspace(folder: &Path) -> Workspace {
    let put = |path: &str, text: &str| {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    put("AGENTS.md", "For all.");
    put("CLAUDE.md", "See @AGENTS.md and @docs/more.md.");
    put("docs/more.md", "More.");
    put(".kiro/steering/x.md", "---\ninclusion: always\n---\nKiro.");
    put(".claude/rules/a.md", "---\npaths: ['src/**']\n---\nClaude.");
    put(".cursor/rules/b.mdc", "---\nglobs: src/**\n---\nCursor.");
    put("src/.cursor/rules/c.mdc", "---\nalwaysApply: true\n---\nNested.");
    put("src/AGENTS.md", "For the sources.");
    put("src/a.ts", "");
    for at in 0..50 {
        put(&format!("packages/p{at}/AGENTS.md"), "For a package.");
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink("../../.claude/rules/a.md", folder.join(".cursor/rules/linked.mdc")).unwrap();
    Workspace::open_with(&[folder], Homes::default(), "").unwrap()
}

/// How often each file was opened, by its canonical path.
fn opened(recorded: &[PathBuf]) -> BTreeMap<PathBuf, usize> {
    let mut counts = BTreeMap::new();
    for path in recorded.iter().filter(|path| path.is_file()) {
        *counts.entry(path.canonicalize().unwrap()).or_default() += 1;
    }
    counts
}

#[test]
fn every_file_is_opened_once_for_all_agents() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = workspace(folder.path());
    record::take();
    let sources = workspace.sources(Reach::Tree);
    let loaded = sources.meant();
    assert!(loaded.book.rules().count() > 50);
    let once = opened(&record::take());
    assert!(once.len() > 50 && once.values().all(|count| *count == 1), "{once:?}");
    sources.differences(&loaded.book);
    for agent in AGENTS {
        sources.native(agent);
    }
    loaded.book.rules().for_each(|(rule, _)| assert!(sources.text(rule).is_some(), "{}", rule.id));
    assert_eq!(record::take(), Vec::<PathBuf>::new());
}

#[test]
fn only_the_folders_above_evidence_are_searched() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = workspace(folder.path());
    let input = Input { open_tabs: vec!["src/a.ts".to_owned()], ..Input::default() };
    record::take();
    let prepared = workspace.prepare(&input);
    for agent in AGENTS {
        prepared.view(agent, &[]);
        prepared.sources().native(agent);
    }
    let recorded = record::take();
    let below =
        |name: &str| recorded.iter().any(|path| path.starts_with(workspace_root(&workspace).join(name)));
    assert!(below(".kiro") && below("src") && !below("packages"), "{recorded:?}");
    assert!(opened(&recorded).values().all(|count| *count == 1), "{recorded:?}");
}

#[test]
fn a_requested_rule_is_found_without_opening_a_file_twice() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = workspace(folder.path());
    let input = Input { requested: vec!["agents@packages/p7".to_owned()], ..Input::default() };
    record::take();
    let prepared = workspace.prepare(&input);
    assert!(prepared.book.rules().any(|(rule, _)| rule.id == "agents@packages/p7"));
    let counts = opened(&record::take());
    assert!(counts.values().all(|count| *count == 1), "{counts:?}");
}

#[test]
fn agents_that_read_alike_share_a_reading() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = workspace(folder.path());
    let sources = workspace.sources(Reach::Above(&[]));
    let file = workspace_root(&workspace).join("AGENTS.md");
    let reads_it = |agent: &&'static Agent| {
        sources.native(agent).book.rules().any(|(rule, _)| Path::new(&rule.origin.path) == file)
    };
    let agents = AGENTS.iter().filter(reads_it).count();
    let readings = sources.readings.count(&file);
    assert!(agents > 20 && readings < 10, "{agents} agents, {readings} readings");
}

fn workspace_root(workspace: &Workspace) -> &Path {
    Path::new(&workspace.roots.roots[0].path)
}

#[test]
fn a_reload_parses_only_the_files_that_changed() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = workspace(folder.path());
    let rule = |name: &str| folder.path().join(".rulebook/rules").join(name);
    fs::create_dir_all(rule("")).unwrap();
    for name in ["gone.md", "same.md", "changed.md"] {
        fs::write(rule(name), "---\ncondition: bad\n---\nNo.").unwrap();
    }
    let readings = Readings::default();
    let load = || {
        let book = workspace.reload(Reach::Tree, &readings).book;
        let triggers = book.rules().filter_map(|(rule, _)| Some((rule.id.clone(), rule.stream.clone()?)));
        triggers.collect::<BTreeMap<_, _>>()
    };
    let first = load();
    fs::remove_file(rule("gone.md")).unwrap();
    fs::write(rule("changed.md"), "---\ncondition: worse\n---\nNo.").unwrap();
    let second = load();
    let is_same = |id: &str| Arc::ptr_eq(&first[id], &second[id]);
    assert_eq!((is_same("same"), is_same("changed")), (true, false));
    assert_eq!(second["changed"].conditions[0].written, "worse");
    let root = workspace_root(&workspace).join(".rulebook/rules");
    let known = ["gone.md", "same.md", "changed.md"].map(|name| readings.count(&root.join(name)));
    assert_eq!(known, [0, 1, 1]);
}
