//! Lists: the files that name rules which a target cannot express, for the agent to read on request.

use std::io;
use std::path::PathBuf;

use rulebook::export::{Loss, LossPolicy, Target, block, index};
use rulebook::rule::Rule;

use super::files::{CopyState, ExportRow, Files, Outcome, PlannedCopy};
use super::place::index_path;
use crate::recorded::{INDEX, RecordedCopies};

/// A rule that a target cannot express.
pub(super) struct Lost<'r> {
    pub(super) rule: &'r Rule,
    pub(super) target: &'static Target,
    pub(super) loss: Loss,
    pub(super) notes: Vec<String>,
}

/// Root, path, source and target of a copy.
pub(super) type Planned = (usize, String, String, &'static str);

/// Decides what happens to the rules that a target cannot express. `partly` are those that it expresses in part.
pub(super) fn list(
    (target, policy): (&'static Target, LossPolicy),
    lost: &[&Lost<'_>],
    partly: &[&Rule],
    keep: &[String],
    planned: &mut Vec<Planned>,
    files: &mut Files<'_>,
    new: &mut [(PathBuf, RecordedCopies)],
) -> io::Result<Vec<ExportRow>> {
    let path = index_path(target, planned, files)?;
    let mut rows = Vec::new();
    let listed: Vec<&Rule> = lost.iter().map(|lost| lost.rule).chain(partly.iter().copied()).collect();
    // The text of a list that was edited, which stays as it is.
    let mut edited: Option<String> = None;
    if policy == LossPolicy::Index && !listed.is_empty() {
        let copy = PlannedCopy {
            root: 0,
            path: path.clone(),
            source: String::new(),
            target: target.name,
            text: list_text(target, &index(listed.into_iter())),
            block: target.is_block().then(|| INDEX.to_owned()),
            source_hash: String::new(),
            is_kept: keep.iter().any(|name| name.trim_start_matches("./") == path),
        };
        planned.push((0, path.clone(), String::new(), target.name));
        if let CopyState::Edited { before, after, .. } = files.put(copy, new)? {
            edited = Some(before.clone());
            let outcome = Outcome::ListEdited { path: path.clone(), before, after };
            rows.push(ExportRow {
                id: String::new(),
                source: path.clone(),
                target,
                outcome,
                notes: Vec::new(),
            });
        }
    }
    for Lost { rule, loss, notes, .. } in lost {
        let (id, source) = (rule.id.clone(), rule.origin.display.clone());
        let is_named = |text: &String| text.contains(&format!("`{source}`"));
        let mut notes = notes.clone();
        let outcome = match policy {
            LossPolicy::Index if edited.as_ref().is_some_and(|text| !is_named(text)) => {
                notes.push(format!("the list in `{path}` was edited and does not name it"));
                Outcome::LeftOut(loss.clone())
            }
            LossPolicy::Index => Outcome::Indexed(path.clone(), loss.clone()),
            LossPolicy::Deliver => Outcome::Delivered(loss.clone()),
            LossPolicy::LeaveOut => Outcome::LeftOut(loss.clone()),
        };
        rows.push(ExportRow { id, source, target, outcome, notes });
    }
    Ok(rows)
}

/// The text of a list, always on.
fn list_text(target: &Target, listed: &str) -> String {
    match target.is_block() {
        true => block(INDEX, listed),
        false => target.always_text(INDEX, listed),
    }
}
