//! Code actions: the fixes that `check --fix` would apply, one by one or all of a file.

use std::collections::{BTreeSet, HashSet};

use rulebook::diagnostic::Diagnostic;
use rulebook::fix::{diagnose, fix, retain_safe};
use serde_json::{Value, json};

use super::document::Document;
use super::problems::{place_in, shown};
use super::protocol::Place;
use super::server::Server;
use super::snapshot::Snapshot;

pub(super) fn actions(server: &Server, place: &Place) -> Value {
    let Some((document, snapshot)) = server.open(&place.text_document.uri) else { return Value::Null };
    let mut all = Vec::new();
    if place.wants(QUICK_FIX) {
        let fixes = safe_fixes(snapshot, document);
        let here = fixes.iter().filter(|found| place_in(found, document).touches(&place.range));
        all.extend(here.filter_map(|found| quick_fix(found, document)));
    }
    if place.wants(FIX_ALL) {
        all.extend(fix_all(snapshot, document));
    }
    if place.wants(QUICK_FIX) {
        all.extend(explanations(server, document, place));
    }
    Value::Array(all)
}

/// The kinds of actions.
pub(super) const QUICK_FIX: &str = "quickfix";
pub(super) const FIX_ALL: &str = "source.fixAll.rulebook";

/// What the codes of the problems at a place mean.
fn explanations(server: &Server, document: &Document, place: &Place) -> Vec<Value> {
    let here = server.problems_of(document).into_iter();
    let mut codes = HashSet::new();
    let here = here
        .filter(|found| place_in(found, document).touches(&place.range))
        .filter(|found| codes.insert(found.code));
    let action = |found: Diagnostic| {
        let code = found.code.row().name;
        let title = format!("What does `{code}` mean?");
        json!({
            "title": title, "kind": QUICK_FIX, "diagnostics": [shown(&found, Some(document))],
            "command": { "title": title, "command": "rulebook.describe", "arguments": [code] },
        })
    };
    here.map(action).collect()
}

/// The problems of a document that have a safe fix.
fn safe_fixes(snapshot: &Snapshot, document: &Document) -> Vec<Diagnostic> {
    let Some(readers) = snapshot.readers(document.name(), &document.real) else { return Vec::new() };
    let mut found = diagnose(&document.text, &readers);
    found.sort();
    found.dedup();
    retain_safe(&document.text, &readers, &snapshot.files.sample, &mut found);
    let mut fixes = BTreeSet::new();
    // Several problems may have one fix.
    found.retain(|found| found.fix.clone().is_some_and(|fix| fixes.insert(fix)));
    found
}

fn quick_fix(found: &Diagnostic, document: &Document) -> Option<Value> {
    let fix = found.fix.as_ref()?;
    let edit = json!({ "range": document.span(fix.start..fix.end), "newText": fix.replacement });
    Some(json!({
        "title": format!("Fix: {}", found.help.lines().next().unwrap_or_default()),
        "kind": QUICK_FIX, "isPreferred": true, "diagnostics": [shown(found, Some(document))],
        "edit": { "changes": { (document.uri.as_str()): [edit] } },
    }))
}

/// Everything that `check --fix` would change in this file.
fn fix_all(snapshot: &Snapshot, document: &Document) -> Option<Value> {
    let readers = snapshot.readers(document.name(), &document.real)?;
    let fixed = fix(&document.text, &readers, &snapshot.files.sample)?;
    let edit = json!({ "range": document.span(0..document.text.len()), "newText": fixed });
    Some(json!({
        "title": "Fix all problems of this file that are safe to fix", "kind": FIX_ALL,
        "edit": { "changes": { (document.uri.as_str()): [edit] } },
    }))
}
