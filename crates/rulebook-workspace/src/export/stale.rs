//! Copies whose rule is gone, or that are no longer wanted.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use rulebook::export::{Blocks, Target, Tool, is_marked};

use rulebook::rule::Rule;

use super::files::{ExportRow, Files, Outcome};
use super::{ExportOptions, Removes};
use crate::recorded::{INDEX, Record, RecordedCopies};

/// Removes the copies of earlier exports that this one does not make. Copies that were edited stay.
pub(super) fn remove(
    files: &mut Files<'_>,
    records: &mut [(PathBuf, RecordedCopies)],
    options: &ExportOptions,
    planned: &[(usize, String, String, &'static str)],
    selected: &[(usize, &str)],
    roots: &[PathBuf],
) -> io::Result<Vec<ExportRow>> {
    let mut rows = Vec::new();
    let planned: HashSet<(usize, &str, &str, &str)> = planned
        .iter()
        .map(|(root, path, source, target)| (*root, path.as_str(), source.as_str(), *target))
        .collect();
    let selected: HashSet<(usize, &str)> = selected.iter().copied().collect();
    for (root, (_, recorded)) in records.iter_mut().enumerate() {
        let is_planned =
            |record: &Record| planned.contains(&(root, &*record.path, &*record.source, &*record.target));
        let is_ours = |record: &Record| {
            let is_wanted = options.to.iter().any(|target| target.name == record.target);
            let is_selected = selected.contains(&(root, record.source.as_str()));
            // What was imported from a tool is no copy of a rule here, and the other way round.
            let of_file = Tool::of_file(&record.source).map(|tool| tool.name);
            let is_made = is_wanted && (is_selected || record.source.is_empty());
            let is_gone = || is_gone(record, &roots[root]);
            of_file == options.tool.map(|tool| tool.name)
                && match options.removes {
                    Removes::Others => true,
                    Removes::Gone => is_made || is_gone(),
                    Removes::Nothing => is_made || is_wanted && options.check && is_gone(),
                }
        };
        let (stale, kept): (Vec<Record>, Vec<Record>) =
            recorded.copies.drain(..).partition(|record| is_ours(record) && !is_planned(record));
        recorded.copies = kept;
        for record in stale {
            let is_shared = recorded
                .copies
                .iter()
                .any(|other| other.path == record.path && other.source == record.source);
            let is_edited = !is_shared && take_out(files, root, &record)? == Taken::Edited;
            let Some(target) = Target::named(&record.target) else { continue };
            let is_gone = is_gone(&record, &roots[root]);
            let outcome = Outcome::Stale { path: record.path.clone(), is_edited, is_gone };
            let (id, source) = (String::new(), record.source.clone());
            rows.push(ExportRow { id, source, target, outcome, notes: Vec::new() });
            if is_edited {
                recorded.copies.push(record);
            }
        }
    }
    Ok(rows)
}

/// The file that a rule is a copy of, if that is gone.
pub(super) fn gone_source(
    rule: &Rule,
    records: &[(PathBuf, RecordedCopies)],
    roots: &[PathBuf],
) -> Option<String> {
    let (_, recorded) = records.get(rule.origin.root)?;
    let root = roots.get(rule.origin.root)?;
    let is_of = |record: &&Record| root.join(&record.path) == Path::new(&rule.origin.path);
    recorded
        .copies
        .iter()
        .filter(is_of)
        .find(|record| is_gone(record, root))
        .map(|record| record.source.clone())
}

/// Whether the rule of a copy is gone.
fn is_gone(record: &Record, root: &Path) -> bool {
    !record.source.is_empty() && !root.join(&record.source).exists()
}

/// What became of a copy.
#[derive(PartialEq)]
pub(super) enum Taken {
    Out,
    Edited,
}

/// Takes a copy out: its file, or its block. One that was edited stays.
pub(super) fn take_out(files: &mut Files<'_>, root: usize, record: &Record) -> io::Result<Taken> {
    let (_, after) = files.get(root, &record.path)?;
    let Some(text) = after.clone() else { return Ok(Taken::Out) };
    let name = if record.source.is_empty() { INDEX } else { &record.source };
    if !record.is_block {
        if !record.is_of(&text) || !is_marked(&text, name) {
            return Ok(Taken::Edited);
        }
        *after = None;
        return Ok(Taken::Out);
    }
    let blocks = Blocks::of(&text);
    match blocks.get(name) {
        Some(block) if !record.is_of(block) => return Ok(Taken::Edited),
        Some(_) => {
            let rest = blocks.without(name);
            *after = (!rest.is_empty() || !record.is_new_file).then_some(rest);
        }
        None => {}
    }
    Ok(Taken::Out)
}
