//! Inlay hints: how far a rule reaches, and which agents have it.

use rulebook::evidence::{Evidence, Seen};
use rulebook::matrix::{CellState, SYMBOLS};
use rulebook::rule::Activation;
use serde_json::{Value, json};

use super::document::Document;
use super::protocol::Place;
use super::reading::Reading;
use super::server::Server;
use super::snapshot::Snapshot;
use crate::out::plural;

pub(super) fn hints(server: &Server, place: &Place) -> Value {
    let Some((document, snapshot)) = server.open(&place.text_document.uri) else { return Value::Null };
    let Some(label) = label(snapshot, document) else { return Value::Array(Vec::new()) };
    let end = document.text.find(['\r', '\n']).unwrap_or(document.text.len());
    let position = document.span(end..end).start;
    if !(place.range.start..=place.range.end).contains(&position) {
        return Value::Array(Vec::new());
    }
    json!([{ "position": position, "label": label, "paddingLeft": true, "tooltip": tooltip() }])
}

/// How far the rule of a document reaches, and what each agent does with it there.
fn label(snapshot: &Snapshot, document: &Document) -> Option<String> {
    let origin = snapshot.origin(document.name())?;
    let reading = Reading::meant(&origin, &document.text);
    let rule = reading.rule()?;
    let (activation, has_globs) = (rule.activation, !rule.globs.is_empty());
    let files = reading.files(snapshot);
    let reach = match activation {
        Activation::Always => "in every request".to_owned(),
        Activation::When if !has_globs => "applies if its conditions hold".to_owned(),
        Activation::When => format!("reaches {}", plural(files.len(), "file")),
        Activation::OnRequest => "offered".to_owned(),
        Activation::Manual => "only when mentioned by name".to_owned(),
        Activation::Stream => "watches the output".to_owned(),
        Activation::Never => "never applies".to_owned(),
    };
    let first = files.first().map(|at| &snapshot.files.evidence.paths[*at]);
    let states = states(snapshot, &origin.path, first.filter(|_| activation == Activation::When));
    let states = states.into_iter().map(|(agent, state)| format!("{agent} {}", state.symbol()));
    Some(format!("{reach} · {}", states.collect::<Vec<_>>().join(" ")))
}

/// What becomes of the rule of a file for each agent, while that file is in use.
fn states(snapshot: &Snapshot, path: &str, file: Option<&Seen>) -> Vec<(&'static str, CellState)> {
    let book = &snapshot.views.meant.book;
    let mut evidence: Evidence = snapshot.workspace.evidence_for(book, &rulebook::evidence::Input::default());
    evidence.paths.extend(file.cloned());
    let matrix = snapshot.views.matrix(&evidence);
    let Some(row) = matrix.rows.iter().position(|row| row.origin.path == path) else { return Vec::new() };
    matrix.columns.iter().map(|column| (column.agent.title, column.cells[row].state)).collect()
}

/// What the symbols mean.
fn tooltip() -> String {
    let lines = SYMBOLS.iter().map(|(_, symbol, meaning)| format!("{symbol} {meaning}"));
    lines.collect::<Vec<_>>().join("\n")
}
