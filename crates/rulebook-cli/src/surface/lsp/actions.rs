//! Code actions: the fixes that `check --fix` would apply, one by one or all of a file.

use std::collections::{BTreeMap, BTreeSet};

use rulebook::diagnostic::{Code, Diagnostic};
use rulebook::fix::{diagnose, fix, retain_safe};
use serde_json::{Value, json};

use super::document::Document;
use super::preview;
use super::problems::{place_in, shown};
use super::protocol::{Place, Span};
use super::server::Server;
use super::snapshot::Snapshot;

pub(super) fn actions(server: &Server, place: &Place) -> Value {
    let Some((document, snapshot)) = server.open(&place.text_document.uri) else { return Value::Null };
    let mut all = Vec::new();
    // As they are published: editors compare them.
    let published = server.problems_of(document);
    if place.wants(QUICK_FIX) {
        let fixes = safe_fixes(snapshot, document);
        let here = fixes.iter().filter(|found| place_in(found, document).touches(&place.range));
        all.extend(here.filter_map(|found| quick_fix(found, document, &published)));
    }
    if place.wants(FIX_ALL) {
        all.extend(fix_all(snapshot, document));
    }
    if place.wants(QUICK_FIX) {
        all.extend(explanations(&published, document, place));
        all.extend(preview_explanation(server, snapshot, document, place));
    }
    Value::Array(all)
}

/// The kinds of actions.
pub(super) const QUICK_FIX: &str = "quickfix";
pub(super) const FIX_ALL: &str = "source.fixAll.rulebook";

/// What the codes of the problems at a place mean.
fn explanations(published: &[Diagnostic], document: &Document, place: &Place) -> Vec<Value> {
    let mut here: BTreeMap<Code, Vec<Value>> = BTreeMap::new();
    for found in published.iter().filter(|found| place_in(found, document).touches(&place.range)) {
        here.entry(found.code).or_default().push(shown(found, Some(document)));
    }
    here.into_iter().map(|(code, found)| explanation(code.row().name, &found)).collect()
}

/// What the hints of stream rules at a place mean.
fn preview_explanation(
    server: &Server,
    snapshot: &Snapshot,
    document: &Document,
    place: &Place,
) -> Option<Value> {
    let hints = server.client.choices.preview.then(|| preview::hints(snapshot, document))?;
    let is_here = |hint: &Value| {
        serde_json::from_value(hint["range"].clone()).is_ok_and(|range: Span| range.touches(&place.range))
    };
    let here: Vec<Value> = hints.into_iter().filter(is_here).collect();
    (!here.is_empty()).then(|| explanation(preview::CODE, &here))
}

fn explanation(code: &str, diagnostics: &[Value]) -> Value {
    let title = format!("What does `{code}` mean?");
    json!({
        "title": title, "kind": QUICK_FIX, "diagnostics": diagnostics,
        "command": { "title": title, "command": "rulebook.describe", "arguments": [code] },
    })
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

fn quick_fix(found: &Diagnostic, document: &Document, published: &[Diagnostic]) -> Option<Value> {
    let fix = found.fix.as_ref()?;
    let edit = json!({ "range": document.span(fix.start..fix.end), "newText": fix.replacement });
    // What several agents report of one place is published once, in other words than each one's.
    let place = place_in(found, document);
    let same =
        published.iter().filter(|other| other.code == found.code && place_in(other, document) == place);
    let same: Vec<Value> = same.map(|other| shown(other, Some(document))).collect();
    Some(json!({
        "title": format!("Fix: {}", found.help.lines().next().unwrap_or_default()),
        "kind": QUICK_FIX, "isPreferred": true, "diagnostics": same,
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
