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
    let Some(reach) = reach(snapshot, document) else { return Value::Array(Vec::new()) };
    let end = document.text.find(['\r', '\n']).unwrap_or(document.text.len());
    let position = document.span(end..end).start;
    if !(place.range.start..=place.range.end).contains(&position) {
        return Value::Array(Vec::new());
    }
    json!([{ "position": position, "label": reach.label(), "paddingLeft": true, "tooltip": reach.tooltip() }])
}

/// How far a rule reaches, and what becomes of it for each agent while one of its files is in use.
struct Reach {
    words: String,
    states: Vec<(&'static str, CellState)>,
}

impl Reach {
    /// One line. Editors cut long ones.
    fn label(&self) -> String {
        let states = self.states.iter().map(|(agent, state)| format!("{agent} {}", state.symbol()));
        let states = states.collect::<Vec<_>>().join(" ");
        if states.is_empty() { self.words.clone() } else { format!("{} · {states}", self.words) }
    }

    /// The same with the meaning of each symbol.
    fn tooltip(&self) -> String {
        let meaning = |wanted: CellState| {
            SYMBOLS.iter().find(|(state, ..)| *state == wanted).map_or("", |(.., meaning)| meaning)
        };
        let states = self.states.iter();
        let states = states.map(|(agent, state)| format!("{} {agent}: {}", state.symbol(), meaning(*state)));
        [self.words.clone()].into_iter().chain(states).collect::<Vec<_>>().join("\n")
    }
}

/// How far the rule of a document reaches, and what each agent does with it there.
fn reach(snapshot: &Snapshot, document: &Document) -> Option<Reach> {
    let Some(origin) = snapshot.origin(document.name()) else {
        let importers = snapshot.importers(document.name())?;
        let states = states(snapshot, &snapshot.named(document.name()), None);
        return Some(Reach { words: format!("imported by {}", importers.join(", ")), states });
    };
    let reading = Reading::meant(&origin, &document.text);
    let rule = reading.rule()?;
    let (activation, has_globs) = (rule.activation, !rule.globs.is_empty());
    let files = reading.files(snapshot);
    let words = match activation {
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
    Some(Reach { words, states })
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
