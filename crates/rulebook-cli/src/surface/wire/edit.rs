//! Adds texts to a request between its bytes: everything else stays as the client wrote it, and a prompt cache keeps its
//! prefix.

use std::ops::Range;

use serde_json::Value;

/// A place in a request where texts can be added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::surface) enum Slot {
    /// After the last item of a list of parts.
    Parts { at: usize, is_empty: bool },
    /// A text that becomes a list of parts.
    Text(Range<usize>),
    /// At the end of a text, before its closing quote.
    Inside(usize),
    /// After an entry.
    After(usize),
    /// Before the first entry.
    Before(usize),
    /// A key that is missing, after the opening brace of the request.
    Key(usize),
}

/// How a wire writes a text in each place.
pub(in crate::surface) struct Shapes {
    /// As a part of an entry.
    pub(super) part: fn(&str) -> Value,
    /// As an entry for the model.
    pub(super) to_model: fn(&str) -> Value,
    /// As an entry from the model.
    pub(super) from_model: fn(&str) -> Value,
    /// As an entry before the conversation.
    pub(super) system_entry: fn(&str) -> Value,
    /// As a key of the request.
    pub(super) system_key: fn(&str) -> (&'static str, Value),
}

/// A change of a request: some bytes replaced, or bytes inserted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::surface) struct Edit {
    pub(in crate::surface) range: Range<usize>,
    pub(in crate::surface) text: String,
}

impl Edit {
    fn insert(at: usize, text: String) -> Edit {
        Edit { range: at..at, text }
    }
}

impl Shapes {
    /// Returns the edits that add texts to a slot, in order.
    pub(in crate::surface) fn put(&self, slot: &Slot, texts: &[&str]) -> Vec<Edit> {
        let parts = || texts.iter().map(|text| (self.part)(text).to_string()).collect::<Vec<_>>().join(",");
        match slot {
            _ if texts.is_empty() => Vec::new(),
            Slot::Parts { at, is_empty } => {
                vec![Edit::insert(*at, format!("{}{}", if *is_empty { "" } else { "," }, parts()))]
            }
            Slot::Text(range) => {
                // The existing text stays where it is and gets the shape of a part around it.
                let shape = (self.part)("").to_string();
                let (before, after) = shape.split_once("\"\"").unwrap_or_default();
                vec![
                    Edit::insert(range.start, format!("[{before}")),
                    Edit::insert(range.end, format!("{after},{}]", parts())),
                ]
            }
            Slot::Inside(at) => {
                let written = Value::from(format!("\n\n{}", texts.join("\n\n"))).to_string();
                vec![Edit::insert(*at, written[1..written.len() - 1].to_owned())]
            }
            Slot::After(at) => vec![Edit::insert(*at, entries(texts, self.to_model))],
            Slot::Before(at) => {
                vec![Edit::insert(*at, format!("{},", (self.system_entry)(&texts.join("\n\n"))))]
            }
            Slot::Key(at) => {
                let (key, value) = (self.system_key)(&texts.join("\n\n"));
                vec![Edit::insert(*at, format!("\"{key}\":{value},"))]
            }
        }
    }

    /// Returns the edits that add, after the last entry, what the model said and what it is told then.
    pub(in crate::surface) fn answer(&self, end: &Slot, said: &str, reply: &str) -> Vec<Edit> {
        let Slot::After(at) = end else { return Vec::new() };
        let both = format!("{}{}", entries(&[said], self.from_model), entries(&[reply], self.to_model));
        vec![Edit::insert(*at, both)]
    }
}

fn entries(texts: &[&str], shape: fn(&str) -> Value) -> String {
    texts.iter().map(|text| format!(",{}", shape(text))).collect()
}

/// Returns a body with edits applied. Of two at one place the first comes first.
pub(in crate::surface) fn apply(body: &[u8], mut edits: Vec<Edit>) -> Vec<u8> {
    edits.sort_by_key(|edit| edit.range.start);
    let added: usize = edits.iter().map(|edit| edit.text.len()).sum();
    let mut edited = Vec::with_capacity(body.len() + added);
    let mut written = 0;
    for edit in edits {
        edited.extend_from_slice(&body[written..edit.range.start.max(written)]);
        edited.extend_from_slice(edit.text.as_bytes());
        written = edit.range.end.max(written);
    }
    edited.extend_from_slice(&body[written..]);
    edited
}
