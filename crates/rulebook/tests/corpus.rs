//! The corpus: headers as people write them, in `corpus/`, one file a case, and what is read of each.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

#[allow(dead_code, reason = "shared with the other pages")]
mod page;

use std::path::Path;

use page::{Piece, Stage};
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
    let loaded = Workspace::open(&[stage.workspace()], nowhere).unwrap().load(Reach::Tree);
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
