//! Headers as people write them: `corpus/` has one file per case, and what is read from it.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test may fail loudly, and fixes a file"
)]

#[allow(dead_code, reason = "shared with the other pages")]
mod page;

use std::path::{Path, PathBuf};

use page::Stage;
use rulebook::agent::Agent;
use rulebook::diagnostic::{Code, Diagnostic};
use rulebook::export::{Draft, Loss, Meant, TARGETS, draft};
use rulebook::rule::Rule;
use rulebook_workspace::{Homes, Reach, Workspace};

#[test]
fn every_header_is_read_as_it_was_meant_or_reported() {
    let (mut files, mut answers) = (0, 0);
    page::run(&corpus(), |stage, block| match block.words() {
        ("file", _) => {
            stage.section();
            files += 1;
            None
        }
        ("reads", _) => {
            answers += 1;
            Some(reads(stage, &block.info))
        }
        (other, _) => panic!("a case has no `{other}`"),
    });
    assert_eq!(files, answers, "every file has its answer");
    assert!(files >= 100, "only {files} cases");
}

/// Of what a target can express, a copy does the same as its rule. What is wider is not written, and everything else is
/// reported, so no difference is silent.
#[test]
fn what_a_target_can_express_comes_out_the_same() {
    let mut found = vec![Export::default(); TARGETS.len()];
    let mut rules = 0;
    page::run(&corpus(), |stage, block| {
        let ("reads", _) = block.words() else {
            stage.section();
            return None;
        };
        let loaded =
            Workspace::open_with(&[stage.workspace()], Homes::default(), "").unwrap().load(Reach::Tree);
        for (rule, _) in loaded.book.rules().filter(|(rule, _)| rule.enabled && !rule.body.is_empty()) {
            rules += 1;
            let meant = Meant::of(rule);
            let source = &rule.origin.display;
            TARGETS
                .iter()
                .zip(&mut found)
                .for_each(|(target, found)| found.add(&draft(&meant, target, "case", source)));
        }
        Some(block.body.clone())
    });
    let table: String = TARGETS.iter().zip(&found).map(|(target, found)| found.row(target.name)).collect();
    let [expressed, same] =
        [|one: &Export| one.expressed, |one: &Export| one.same].map(|of| found.iter().map(of).sum::<usize>());
    assert!(rules >= 100, "only {rules} rules");
    assert!(same * 100 >= expressed * 99, "{same} of {expressed}\n{table}");
    for (target, found) in TARGETS.iter().zip(&found) {
        assert!(found.same * 100 >= found.expressed * 98, "{}\n{table}", target.name);
    }
}

/// What became of the rules for a target.
#[derive(Clone, Default)]
struct Export {
    /// It has a form that applies to no more than meant.
    expressed: usize,
    /// The proof finds no difference.
    same: usize,
    /// Every form applies to more, so none is written.
    wider: usize,
    none: usize,
}

impl Export {
    fn add(&mut self, draft: &Result<Draft, Loss>) {
        match draft {
            Ok(draft) if draft.proof.is_wider() => self.wider += 1,
            // No form of it waits for files and is offered meanwhile.
            Ok(draft) if draft.proof.without_files.is_some() => self.none += 1,
            Ok(draft) => {
                self.expressed += 1;
                self.same += usize::from(draft.proof.is_same());
            }
            Err(_) => self.none += 1,
        }
    }

    fn row(&self, name: &str) -> String {
        let Export { expressed, same, wider, none } = self;
        format!("{name:16} {expressed:4} {same:4} {wider:4} {none:4}\n")
    }
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

/// What is read from the one file: its rule, or that it is rejected; then the diagnostics.
fn reads(stage: &Stage, case: &str) -> String {
    let nowhere = Homes::default();
    let loaded = Workspace::open_with(&[stage.workspace()], nowhere, "").unwrap().load(Reach::Tree);
    let rules = loaded.book.rules().map(|(rule, _)| shown(rule));
    let rejected = loaded.book.rejected().iter().map(|_| "rejected\n".to_owned());
    let entries: Vec<String> = rules.chain(rejected).collect();
    assert_eq!(entries.len(), 1, "a file is lost, or read twice: {case} {entries:?}");
    let diagnostics = loaded.diagnostics.iter().map(|found| {
        let (line, column, code) = (found.line, found.column, found.code.row().name);
        let meant = found.help.strip_prefix("did you mean").map(|meant| format!(":{meant}"));
        format!("{line}:{column} {code}{}\n", meant.unwrap_or_default())
    });
    entries.into_iter().chain(diagnostics).collect()
}

/// The activation and its basis, the conditions with the patterns of paths, the description, the first line of the text.
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
fn a_fix_changes_only_what_the_diagnostic_announces() {
    let mut fixed = 0;
    page::run(&corpus(), |stage, block| {
        let ("file", path) = block.words() else { return Some(block.body.clone()) };
        for path in [path, ".rulebook/rules/a.md", ".xcsh/rules/a.md"] {
            stage.section();
            stage.file(path, &block.body);
            fixed += usize::from(fix_is_safe(stage));
        }
        None
    });
    assert!(fixed >= 10, "only {fixed} cases can be fixed");
}

/// The codes that report a part of a rule as ignored, or as matching nothing: after the fix it has an effect.
const ANNOUNCED: &[Code] = &[
    Code::BadValue,
    Code::DoubtfulGlob,
    Code::UnclosedHeader,
    Code::UnclosedList,
    Code::UnknownKey,
    Code::WrongType,
];

/// Fixes the one file, if possible, and compares the rule before and after, as it is meant and as its agent reads it. Returns
/// whether there was a fix.
fn fix_is_safe(stage: &Stage) -> bool {
    let nowhere = Homes::default();
    let workspace = Workspace::open_with(&[stage.workspace()], nowhere, "").unwrap();
    let loaded = workspace.load(Reach::Tree);
    let fixable: Vec<_> = loaded.diagnostics.iter().filter(|found| found.fix.is_some()).collect();
    let mut fixes: Vec<_> = fixable.iter().filter_map(|found| found.fix.as_ref()).collect();
    let announced: Vec<Code> =
        fixable.iter().map(|found| found.code).filter(|code| ANNOUNCED.contains(code)).collect();
    let Some((rule, _)) = loaded.book.rules().next().filter(|_| !fixes.is_empty()) else { return false };
    let differed = !workspace.sources(Reach::Tree).differences(&loaded.book).is_empty();
    let (file, meant, own) = (rule.origin.path.clone(), reading(rule), own_reading(&workspace, rule));
    let mut text = std::fs::read_to_string(&file).unwrap();
    fixes.sort();
    fixes.iter().rev().for_each(|fix| text.replace_range(fix.start..fix.end, &fix.replacement));
    std::fs::write(&file, text).unwrap();
    let loaded = workspace.load(Reach::Tree);
    let (rule, _) = loaded.book.rules().next().unwrap();
    assert!(reading(rule) == meant || !announced.is_empty(), "{file}: the meaning changed");
    let is_left = |found: &&Diagnostic| announced.contains(&found.code) && found.fix.is_some();
    assert_eq!(loaded.diagnostics.iter().find(is_left), None, "{file}: one fix is not enough");
    let own_after = own_reading(&workspace, rule);
    let is_announced = differed || !announced.is_empty();
    assert!(own_after == own || is_announced, "{file}: its agent reads {own_after:?} instead of {own:?}");
    true
}

/// How the agent that a rule belongs to reads its file.
fn own_reading(workspace: &Workspace, rule: &Rule) -> Option<String> {
    let agent = Agent::owner_of(rule.origin.format.id)?;
    let loaded = workspace.load_as(agent, Reach::Tree);
    loaded.book.rules().find(|(own, _)| own.origin.path == rule.origin.path).map(|(own, _)| reading(own))
}

/// When a rule applies and what it says, regardless of how its header was read.
fn reading(rule: &Rule) -> String {
    let conditions: Vec<&str> = rule.conditions.iter().map(|condition| condition.key).collect();
    let Rule { activation, enabled, globs, description, body, .. } = rule;
    format!("{activation:?} {enabled} {conditions:?} {globs:?} {description:?}\n{body}")
}
