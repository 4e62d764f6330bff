//! A JSON value in a request, known by the bytes it is written in.

use std::collections::HashMap;
use std::ops::Range;

use rulebook::evidence::json;
use serde_json::Value;
use serde_json::value::RawValue;

use super::edit::Slot;

#[derive(Clone, Copy, Debug)]
pub(super) struct Node<'b> {
    raw: &'b RawValue,
    body: &'b str,
}

impl<'b> Node<'b> {
    /// Reads a body that [`json::repaired`] returned.
    pub(super) fn root(body: &'b str) -> Option<Node<'b>> {
        Some(Node { raw: serde_json::from_str(body).ok()?, body })
    }

    fn with(&self, raw: &'b RawValue) -> Node<'b> {
        Node { raw, body: self.body }
    }

    /// Returns its place in the body.
    pub(super) fn range(&self) -> Range<usize> {
        let at = self.raw.get().as_ptr() as usize - self.body.as_ptr() as usize;
        at..at + self.raw.get().len()
    }

    pub(super) fn fields(&self) -> Option<HashMap<String, Node<'b>>> {
        let fields: HashMap<String, &'b RawValue> = serde_json::from_str(self.raw.get()).ok()?;
        Some(fields.into_iter().map(|(key, raw)| (key, self.with(raw))).collect())
    }

    pub(super) fn items(&self) -> Option<Vec<Node<'b>>> {
        let items: Vec<&'b RawValue> = serde_json::from_str(self.raw.get()).ok()?;
        Some(items.into_iter().map(|raw| self.with(raw)).collect())
    }

    /// Returns whether it is a list with something in it.
    pub(super) fn has_items(&self) -> bool {
        self.items().is_some_and(|items| !items.is_empty())
    }

    /// Returns the value at a JSON pointer without escapes.
    pub(super) fn at(&self, pointer: &str) -> Option<Node<'b>> {
        pointer.split('/').skip(1).try_fold(*self, |node, key| match key.parse::<usize>() {
            Ok(at) => node.items()?.into_iter().nth(at),
            Err(_) => node.fields()?.remove(key),
        })
    }

    pub(super) fn value(&self) -> Value {
        json::read(self.raw.get().as_bytes()).unwrap_or_default()
    }

    pub(super) fn text(&self) -> Option<String> {
        serde_json::from_str(self.raw.get()).ok()
    }

    pub(super) fn is_null(&self) -> bool {
        self.raw.get() == "null"
    }

    /// Returns the place after its opening bracket or quote.
    pub(super) fn inside(&self) -> usize {
        self.range().start + 1
    }

    /// Returns where parts are added: to a list after its last item, to a text by making it a list.
    pub(super) fn parts_slot(&self) -> Slot {
        match self.items() {
            Some(items) => {
                let at = items.last().map_or(self.inside(), |last| last.range().end);
                Slot::Parts { at, is_empty: items.is_empty() }
            }
            None => Slot::Text(self.range()),
        }
    }

    /// Returns where text is added: to a list as a part, to a text at its end.
    pub(super) fn text_slot(&self) -> Slot {
        match self.parts_slot() {
            Slot::Text(range) => Slot::Inside(range.end - 1),
            list => list,
        }
    }

    /// Returns its text, or the texts of its parts under a key.
    pub(super) fn texts(&self, key: &str) -> Vec<String> {
        let parts = self.items().unwrap_or_default();
        let texts = parts.iter().filter_map(|part| part.value()[key].as_str().map(str::to_owned));
        self.text().into_iter().chain(texts).collect()
    }
}
