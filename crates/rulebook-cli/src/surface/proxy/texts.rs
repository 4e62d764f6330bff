//! Texts that many conversations have in common, kept once.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::lock::lock;

/// The texts that conversations in memory contain.
#[derive(Default)]
pub(super) struct Texts {
    known: Mutex<HashSet<Arc<str>>>,
}

/// A text that may be shared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Text(Arc<str>);

impl Texts {
    /// Returns a text, shared with the conversations that have the same one.
    pub(super) fn share(&self, text: &str) -> Text {
        let mut known = lock(&self.known);
        if let Some(known) = known.get(text) {
            return Text(Arc::clone(known));
        }
        let text: Arc<str> = text.into();
        known.insert(Arc::clone(&text));
        Text(text)
    }

    /// Drops the texts that no conversation has any more. Returns how many bytes the others have.
    pub(super) fn sweep(&self) -> usize {
        let mut known = lock(&self.known);
        known.retain(|text| Arc::strong_count(text) > 1);
        known.iter().map(|text| text.len()).sum()
    }
}

impl std::ops::Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Text, D::Error> {
        String::deserialize(deserializer).map(|text| Text(text.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_are_kept_once_and_dropped_with_their_last_owner() {
        let texts = Texts::default();
        let owners: Vec<Text> = (0..100).map(|_| texts.share("the same rule")).collect();
        let other = texts.share("another");
        assert_eq!(texts.sweep(), "the same rule".len() + "another".len());
        drop(other);
        assert_eq!(texts.sweep(), "the same rule".len());
        drop(owners);
        assert_eq!(texts.sweep(), 0);
    }
}
