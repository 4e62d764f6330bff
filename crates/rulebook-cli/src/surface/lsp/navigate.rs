//! Navigation: from imports and names to rules, and from a rule to those that import, override or mention it.

use std::collections::BTreeSet;

use rulebook::evaluate::rivals;
use rulebook::parse::imports;
use rulebook::rule::Rule;
use serde_json::{Value, json};

use super::document::Lines;
use super::protocol::{Place, Span};
use super::references::{Texts, import_target, importing, mention_at, mentions};
use super::server::Server;
use super::snapshot::Snapshot;

/// Where the name under the cursor leads. In a header: the rules that override this one, or that it is a copy of.
pub(super) fn definition(server: &Server, place: &Place) -> Value {
    let Some((document, snapshot)) = server.open(&place.text_document.uri) else { return Value::Null };
    let offset = document.offset(place.position);
    if let Some((_, name)) = mention_at(&document.text, offset) {
        let rules = snapshot.views.meant.book.lookup(&name).into_iter();
        return rules.map(|(rule, _)| start_of(snapshot, &rule.origin.path)).collect();
    }
    let mut imports = imports(&document.text).into_iter();
    if let Some(import) = imports.find(|import| import.span.contains(&offset) || import.span.end == offset) {
        let found = import_target(snapshot, document.name(), &import.path);
        return found.map_or(Value::Null, |path| start_of(snapshot, &snapshot.named(&path)));
    }
    let mut winners = Vec::new();
    for (_, rule) in snapshot.rules_of(document.name()) {
        let body = body_start(rule, &document.text);
        let rivals = rivals(&snapshot.views.meant.book, rule).filter(|rival| rival.wins && offset < body);
        winners.extend(rivals.map(|rival| start_of(snapshot, &rival.rule.origin.path)));
    }
    Value::Array(winners)
}

/// Who imports, overrides, is overridden by or mentions the rule of this file, or the rule under the cursor.
pub(super) fn references(server: &Server, place: &Place) -> Value {
    let Some((document, snapshot)) = server.open(&place.text_document.uri) else { return Value::Null };
    let book = &snapshot.views.meant.book;
    let (rules, files): (Vec<&Rule>, BTreeSet<String>) =
        match mention_at(&document.text, document.offset(place.position)) {
            Some((_, name)) => {
                let rules: Vec<&Rule> = book.lookup(&name).into_iter().map(|(rule, _)| rule).collect();
                let files = rules.iter().map(|rule| rule.origin.path.clone()).collect();
                (rules, files)
            }
            // A file that is imported need not be a rule.
            None => {
                let rules = snapshot.rules_of(document.name()).into_iter().map(|(_, rule)| rule);
                (rules.collect(), [snapshot.named(document.name())].into())
            }
        };
    let rivals = rules.iter().flat_map(|rule| rivals(book, rule));
    let mut all: Vec<Value> = rivals.map(|rival| start_of(snapshot, &rival.rule.origin.path)).collect();
    let texts = Texts::new(server, snapshot);
    for places in importing(&texts, &files).into_iter().chain(mentions(&texts, document, &rules)) {
        let lines = Lines::of(&places.text);
        let spans = places.spans.into_iter().map(|span| lines.span(&places.text, span));
        all.extend(spans.map(|span| location(snapshot, &places.path, span)));
    }
    all.sort_by_key(ToString::to_string);
    all.dedup();
    Value::Array(all)
}

/// Where the body of a rule starts in a text that may have changed since.
pub(super) fn body_start(rule: &Rule, text: &str) -> usize {
    text.split_inclusive('\n').take(rule.body_line.saturating_sub(1)).map(str::len).sum()
}

fn start_of(snapshot: &Snapshot, path: &str) -> Value {
    location(snapshot, path, Span::default())
}

fn location(snapshot: &Snapshot, path: &str, range: Span) -> Value {
    json!({ "uri": snapshot.uris.of(path), "range": range })
}
