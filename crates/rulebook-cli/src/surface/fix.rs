//! `check --fix`: applies safe fixes, and reports how each changes the behaviour of the agents.

use std::collections::{BTreeMap, HashSet};
use std::io;

use rulebook::diagnostic::{Code, Diagnostic};
use rulebook::evidence::Seen;
use rulebook::fix::{Refusal, changes, fix as fixed_text, retain_safe};
use rulebook::source::MAX_SOURCE;
use rulebook_workspace::write::{Rewrite, rewrite_all};
use rulebook_workspace::{FixableFile, Sources, Tree, read};
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

/// A kind of problem that `--fix` leaves to the user, and why.
#[derive(Serialize)]
pub(super) struct NotFixed {
    pub(super) code: &'static str,
    pub(super) count: usize,
    pub(super) reason: String,
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
            path: file.display.clone(),
            diff: String::new(),
            changes: Vec::new(),
            is_written: false,
            failed: None,
        };
        match text_of(&file) {
            Ok(before) => {
                let Some(after) = fixed_text(&before, &file.readers, &files) else { continue };
                one.diff = diff(&before, &after);
                one.changes = changes(&before, &after, &file.readers);
                changed.push(Rewrite { path: file.path, root: file.root, text: after });
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

/// Removes the fixes that `--fix` would not apply, so that no report offers them. Returns why.
pub(super) fn retain_fixable(
    sources: &Sources<'_>,
    tree: &Tree,
    found: &mut [Diagnostic],
) -> Vec<(Code, Refusal)> {
    let mut refused = Vec::new();
    let files = sample(tree, found);
    let fixable_files = sources.fixable_files(&fixable(found));
    for file in &fixable_files {
        let Ok(text) = text_of(file) else { continue };
        let here = found.iter_mut().filter(|found| found.path == file.display);
        refused.extend(retain_safe(&text, &file.readers, &files, here));
    }
    let known: HashSet<&str> = fixable_files.iter().map(|file| file.display.as_str()).collect();
    for found in found.iter_mut().filter(|found| !known.contains(found.path.as_str())) {
        found.fix = None;
    }
    refused
}

/// Says for each kind of problem that has no safe fix why `--fix` leaves it.
pub(super) fn not_fixed(found: &[Diagnostic], refused: &[(Code, Refusal)]) -> Vec<NotFixed> {
    let mut reasons: BTreeMap<(&str, String), usize> = BTreeMap::new();
    let mut unsafe_fixes: BTreeMap<Code, usize> = BTreeMap::new();
    for (code, why) in refused {
        *reasons.entry((code.row().name, format!("not safe: {why}"))).or_default() += 1;
        *unsafe_fixes.entry(*code).or_default() += 1;
    }
    for found in found.iter().filter(|found| found.fix.is_none()) {
        match unsafe_fixes.get_mut(&found.code) {
            Some(rest @ 1..) => *rest -= 1,
            _ => {
                let reason = "no automatic fix: follow the help of each problem".to_owned();
                *reasons.entry((found.code.row().name, reason)).or_default() += 1;
            }
        }
    }
    let one = |((code, reason), count)| NotFixed { code, count, reason };
    reasons.into_iter().map(one).collect()
}

fn text_of(file: &FixableFile) -> io::Result<String> {
    let text = read::text_within(&file.path, &file.root, MAX_SOURCE as usize)?;
    text.ok_or_else(|| io::ErrorKind::NotFound.into())
}

fn fixable(found: &[Diagnostic]) -> HashSet<&str> {
    found.iter().filter(|found| found.fix.is_some()).map(|found| found.path.as_str()).collect()
}

fn sample(tree: &Tree, found: &[Diagnostic]) -> Vec<Seen> {
    if fixable(found).is_empty() { Vec::new() } else { tree.sample(MAX_FILES) }
}
