//! Preview: what the stream rules match in an open file, as if an agent had written it.

use std::ops::Range;

use rulebook::stream::{Hit, Monitor, StreamKind};
use serde_json::{Value, json};

use super::document::Document;
use super::snapshot::Snapshot;

/// How many bytes are watched, counting repeated ones, so that many matches in a large file take bounded time.
const MAX_BYTES: usize = 4 << 20;

/// The code of the hints, and what it means.
pub(super) const CODE: &str = "stream-rule";
pub(super) const MEANING: &str = "a stream rule watches for this text: if an agent writes it, the rule is delivered\nWhat to do: nothing. If it should not fire here, narrow the rule's trigger, `scope` or globs; the setting `preview` hides these hints";

/// How many matches are shown.
const MAX_HITS: usize = 100;

/// How an agent could write the text.
type Writing = fn(path: &str, text: &str) -> (StreamKind, String);

const WRITINGS: &[Writing] = &[
    |_, text| (StreamKind::Text, text.to_owned()),
    |path, text| {
        let call = json!({ "file_path": path, "content": text });
        (StreamKind::Tool("Write".to_owned()), call.to_string())
    },
    |path, text| {
        let call = json!({ "file_path": path, "old_string": "", "new_string": text });
        (StreamKind::Tool("Edit".to_owned()), call.to_string())
    },
];

/// The matches in a document, as hints.
pub(super) fn hints(snapshot: &Snapshot, document: &Document) -> Vec<Value> {
    // A rule file shows its own pattern, which is no match.
    if snapshot.located(document.name()).is_none() || snapshot.origin(document.name()).is_some() {
        return Vec::new();
    }
    let mut monitor = snapshot.monitor();
    if monitor.is_empty() {
        return Vec::new();
    }
    let path = snapshot.named(document.name());
    let mut found = matches(&mut monitor, &path, &document.text);
    if let Some(parser) = &snapshot.parser {
        let nodes = monitor.nodes(&**parser, &path, &document.text, MAX_HITS).into_iter();
        found.extend(nodes.map(|hit| (hit.start..hit.end, hit)));
    }
    found.sort_by_key(|(span, _)| (span.start, span.end));
    found.truncate(MAX_HITS);
    let hint = |(span, hit): &(Range<usize>, Hit)| {
        json!({
            "range": document.span(span.clone()), "severity": 4, "code": CODE, "source": "rulebook preview",
            "message": format!("the stream rule `{}` ({}) fires here: `{}`", hit.rule, hit.source, hit.condition),
        })
    };
    found.iter().map(hint).collect()
}

/// Every match of a condition. The monitor reports a condition once, so the rest is watched again from the line after it.
fn matches(monitor: &mut Monitor, path: &str, text: &str) -> Vec<(Range<usize>, Hit)> {
    let mut found: Vec<(Range<usize>, Hit)> = Vec::new();
    for writing in WRITINGS {
        let (mut start, mut bytes) = (0, 0);
        while start < text.len() && bytes < MAX_BYTES && found.len() < MAX_HITS {
            bytes += text.len() - start;
            let (kind, written) = writing(path, &text[start..]);
            let mut hits = monitor.feed("preview", &kind, written.as_bytes());
            hits.extend(monitor.finish("preview"));
            let Some(first) = hits.iter().map(|hit| hit.end).min() else { break };
            for hit in hits {
                let span = start + hit.start..start + hit.end;
                let is_known = |known: &(Range<usize>, Hit)| {
                    (&known.0, &known.1.condition, &known.1.source) == (&span, &hit.condition, &hit.source)
                };
                if text.get(span.clone()).is_some() && !found.iter().any(is_known) {
                    found.push((span, hit));
                }
            }
            let end = text.ceil_char_boundary(start + first);
            start = text[end..].find('\n').map_or(text.len(), |line| end + line + 1);
        }
    }
    found
}
