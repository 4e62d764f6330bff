//! `check --fix`: applies safe fixes, and reports how each changes the behaviour of the agents.

use std::collections::HashSet;
use std::fs;

use rulebook::diagnostic::Diagnostic;
use rulebook::evidence::Seen;
use rulebook::fix::{changes, fix as fixed_text, retain_safe};
use rulebook_workspace::{Sources, Tree, rewrite_all};
use serde::Serialize;

use crate::diff::diff;

/// A file with fixes.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Fixed {
    pub(super) path: String,
    /// The changed lines, marked `-` before and `+` after.
    pub(super) diff: String,
    /// How the fix changes what the agents that read the file do.
    pub(super) changes: Vec<String>,
    pub(super) is_written: bool,
    /// Why the file could not be fixed.
    pub(super) failed: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FixMode {
    Write,
    DryRun,
}

/// How many files of the tree the views of a rule are compared on.
const MAX_FILES: usize = 2_000;

/// Applies every safe fix, file by file. A file that cannot be written does not stop the others.
pub(super) fn fix(sources: &Sources<'_>, tree: &Tree, found: &[Diagnostic], mode: FixMode) -> Vec<Fixed> {
    let (fixable, files) = (fixable(found), sample(tree, found));
    let mut fixed = Vec::new();
    let mut changed = Vec::new();
    for file in sources.fixable_files(&fixable) {
        let mut one = Fixed {
            path: file.display,
            diff: String::new(),
            changes: Vec::new(),
            is_written: false,
            failed: None,
        };
        match fs::read_to_string(&file.path) {
            Ok(before) => {
                let Some(after) = fixed_text(&before, &file.readers, &files) else { continue };
                one.diff = diff(&before, &after);
                one.changes = changes(&before, &after, &file.readers);
                changed.push((file.path, after));
            }
            Err(error) => one.failed = Some(error.to_string()),
        }
        fixed.push(one);
    }
    if mode == FixMode::Write {
        let written = fixed.iter_mut().filter(|one| one.failed.is_none());
        for (one, result) in written.zip(rewrite_all(&changed)) {
            one.is_written = result.is_ok();
            one.failed = result.err().map(|error| error.to_string());
        }
    }
    fixed
}

/// Removes the fixes that `--fix` would not apply, so that no report offers them.
pub(super) fn retain_fixable(sources: &Sources<'_>, tree: &Tree, found: &mut [Diagnostic]) {
    let files = sample(tree, found);
    let fixable_files = sources.fixable_files(&fixable(found));
    for file in &fixable_files {
        let Ok(text) = fs::read_to_string(&file.path) else { continue };
        retain_safe(
            &text,
            &file.readers,
            &files,
            found.iter_mut().filter(|found| found.path == file.display),
        );
    }
    let known: HashSet<&str> = fixable_files.iter().map(|file| file.display.as_str()).collect();
    for found in found.iter_mut().filter(|found| !known.contains(found.path.as_str())) {
        found.fix = None;
    }
}

fn fixable(found: &[Diagnostic]) -> HashSet<&str> {
    found.iter().filter(|found| found.fix.is_some()).map(|found| found.path.as_str()).collect()
}

fn sample(tree: &Tree, found: &[Diagnostic]) -> Vec<Seen> {
    if fixable(found).is_empty() { Vec::new() } else { tree.sample(MAX_FILES) }
}
