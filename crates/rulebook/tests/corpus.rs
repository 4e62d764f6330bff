//! The corpus: headers as people write them, in `corpus/`, one file a case, and what is read of each.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test may fail loudly, and mend a file")]

#[allow(dead_code, reason = "shared with the other pages")]
mod page;

use std::path::Path;

use page::{Piece, Stage};
use rulebook::agent::Agent;
use rulebook::diagnostic::{Code, Diagnostic};
use rulebook::rule::Rule;
use rulebook_workspace::{Homes, Reach, Workspace};

#[test]
fn every_header_is_read_as_it_was_meant_or_told() {
    let mut stage = Stage::new();
    let (mut files, mut answers) = (0, 0);
    page::run(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus"), |_, piece| {
        let Piece::Block(block) = piece else { return None };
        match block.words() {
            ("file", path) => {
                stage.section();
                stage.file(path, &block.body);
                files += 1;
                None
            }
            ("reads", _) => {
                answers += 1;
                Some(reads(&stage, &block.info))
            }
            (other, _) => panic!("a case has no `{other}`"),
        }
    });
    assert_eq!(files, answers, "every file has its answer");
    assert!(files >= 100, "only {files} cases");
}

/// What was read of the one file there is: its rule, or that it is rejected; then the diagnostics.
fn reads(stage: &Stage, case: &str) -> String {
    let nowhere = Homes::default();
    let loaded = Workspace::open_with(&[stage.workspace()], nowhere, "").unwrap().load(Reach::Tree);
    let rules = loaded.book.rules().map(|(rule, _)| shown(rule));
    let rejected = loaded.book.rejected().iter().map(|_| "rejected\n".to_owned());
    let entries: Vec<String> = rules.chain(rejected).collect();
    assert_eq!(entries.len(), 1, "a file is lost, or read twice: {case} {entries:?}");
    let told = loaded.diagnostics.iter().map(|told| {
        let (line, column, code) = (told.line, told.column, told.code.row().name);
        let meant = told.help.strip_prefix("did you mean").map(|meant| format!(":{meant}"));
        format!("{line}:{column} {code}{}\n", meant.unwrap_or_default())
    });
    entries.into_iter().chain(told).collect()
}

/// The activation and its basis, the conditions, with the patterns of paths; the description; where the text starts.
fn shown(rule: &Rule) -> String {
    let mut shown = format!("{}/{}", rule.activation.name(), rule.basis.name());
    for condition in &rule.conditions {
        shown += &format!(" {}", condition.key);
        if condition.key == "paths" {
            shown.extend(rule.globs.iter().map(|glob| format!(" `{glob}`")));
        }
    }
    if !rule.enabled {
        shown += " off";
    }
    if let Some(description) = &rule.description {
        shown += &format!("\nfor: {}", description.trim_end().replace('\n', "⏎"));
    }
    format!("{shown}\ntext: {}\n", rule.body.lines().next().unwrap_or_default())
}

#[test]
fn a_fix_changes_nothing_but_what_was_told_to_go_wrong() {
    let mut stage = Stage::new();
    let mut mended = 0;
    page::run(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus"), |_, piece| {
        let Piece::Block(block) = piece else { return None };
        let ("file", path) = block.words() else { return Some(block.body.clone()) };
        for path in [path, ".rulebook/rules/a.md", ".xcsh/rules/a.md"] {
            stage.section();
            stage.file(path, &block.body);
            mended += usize::from(fix_is_safe(&stage));
        }
        None
    });
    assert!(mended >= 10, "only {mended} cases can be mended");
}

/// What is told to be ignored, or to match nothing, does something once it is mended.
const ANNOUNCED: &[Code] =
    &[Code::BadValue, Code::DoubtfulGlob, Code::UnclosedHeader, Code::UnknownKey, Code::WrongType];

/// Mends the one file there is, if it can be, and compares what comes of it before and after: as meant, and as its agent
/// takes it.
fn fix_is_safe(stage: &Stage) -> bool {
    let nowhere = Homes { home: None, config: None, cache: None, state: None, system: None };
    let workspace = Workspace::open_with(&[stage.workspace()], nowhere, "").unwrap();
    let loaded = workspace.load(Reach::Tree);
    let told: Vec<_> = loaded.diagnostics.iter().filter(|told| told.fix.is_some()).collect();
    let mut fixes: Vec<_> = told.iter().filter_map(|told| told.fix.as_ref()).collect();
    let announced: Vec<Code> =
        told.iter().map(|told| told.code).filter(|code| ANNOUNCED.contains(code)).collect();
    let Some((rule, _)) = loaded.book.rules().next().filter(|_| !fixes.is_empty()) else { return false };
    let was_told = !workspace.differences(&loaded.book, Reach::Tree).is_empty();
    let (file, meant, own) = (rule.origin.path.clone(), way(rule), own_way(&workspace, rule));
    let mut text = std::fs::read_to_string(&file).unwrap();
    fixes.sort();
    fixes.iter().rev().for_each(|fix| text.replace_range(fix.start..fix.end, &fix.replacement));
    std::fs::write(&file, text).unwrap();
    let loaded = workspace.load(Reach::Tree);
    let (rule, _) = loaded.book.rules().next().unwrap();
    assert!(way(rule) == meant || !announced.is_empty(), "{file}: what was meant changed");
    let is_left = |told: &&Diagnostic| announced.contains(&told.code) && told.fix.is_some();
    assert_eq!(loaded.diagnostics.iter().find(is_left), None, "{file}: mended once is mended");
    let own_after = own_way(&workspace, rule);
    let is_told = was_told || !announced.is_empty();
    assert!(own_after == own || is_told, "{file}: its agent did {own:?}, and does {own_after:?}");
    true
}

/// What the agent a rule belongs to makes of its file.
fn own_way(workspace: &Workspace, rule: &Rule) -> Option<String> {
    let agent = Agent::owner_of(rule.origin.format.id)?;
    let loaded = workspace.load_as(agent, Reach::Tree);
    loaded.book.rules().find(|(own, _)| own.origin.path == rule.origin.path).map(|(own, _)| way(own))
}

/// How a rule comes on and what it says, whatever its header took to be read.
fn way(rule: &Rule) -> String {
    let conditions: Vec<&str> = rule.conditions.iter().map(|condition| condition.key).collect();
    let Rule { activation, enabled, globs, description, body, .. } = rule;
    format!("{activation:?} {enabled} {conditions:?} {globs:?} {description:?}\n{body}")
}
