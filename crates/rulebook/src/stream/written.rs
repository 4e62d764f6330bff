//! A text that a call writes, together with the text that it replaces: only what occurs more often than before counts.

use super::changes::{NEW, OLD};
use super::gates::Gates;
use super::hit::Hit;
use super::scope::Covers;
use super::watch::{Channel, Watch};
use crate::evidence::plain;

/// The longest text that is compared. Of a longer one, every match counts.
const MAX_COMPARED: usize = 1 << 20;

/// A text that is compared, as long as it is short enough.
#[derive(Debug)]
pub(super) struct Compared(Option<String>);

impl Default for Compared {
    fn default() -> Compared {
        Compared(Some(String::new()))
    }
}

impl Compared {
    pub(super) fn push(&mut self, text: &[u8]) {
        let is_short = |known: &String| known.len() + text.len() <= MAX_COMPARED;
        self.0 = self.0.take().filter(is_short);
        if let Some(known) = &mut self.0 {
            known.push_str(&String::from_utf8_lossy(text));
        }
    }
}

/// A text being searched.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) channel: Channel,
    /// The text, and what it replaces, if it may replace something.
    pub(super) compared: Option<(Compared, Compared)>,
    /// The matches that wait for the comparison.
    pub(super) held: Vec<(usize, Covers, Hit)>,
}

impl Written {
    pub(super) fn new(channel: Channel, is_compared: bool) -> Written {
        let compared = is_compared.then(|| (Compared::default(), Compared::default()));
        Written { channel, compared, held: Vec::new() }
    }

    /// Adds to the text that it replaces.
    pub(super) fn replace(&mut self, text: &str) {
        if let Some((_, old)) = &mut self.compared {
            old.push(text.as_bytes());
        }
    }

    /// Decides about the matches that wait. Those of a file that is known already need no other.
    pub(super) fn settle(
        &mut self,
        has_file: bool,
        watch: &mut Watch,
        gates: &mut Gates,
        hits: &mut Vec<Hit>,
    ) {
        let texts =
            self.compared.as_ref().and_then(|(new, old)| Some((new.0.as_deref()?, old.0.as_deref()?)));
        for (condition, covers, hit) in std::mem::take(&mut self.held) {
            if texts.is_some_and(|(new, old)| !old.is_empty() && !watch.adds(condition, old, new)) {
                self.channel.met[condition] = false;
                continue;
            }
            match covers {
                Covers::Yes => hits.push(hit),
                _ if !has_file => gates.add_hit(&watch.conditions, condition, hit, hits),
                _ => {}
            }
        }
    }
}

/// What a field is to an edit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum EditRole {
    /// The text that is replaced.
    Old,
    /// The text that replaces it.
    New,
    #[default]
    Other,
}

impl EditRole {
    pub(super) fn of(key: &str) -> EditRole {
        let key = plain(key);
        match () {
            () if OLD.contains(&key.as_str()) => EditRole::Old,
            () if NEW.contains(&key.as_str()) => EditRole::New,
            () => EditRole::Other,
        }
    }
}

/// The texts of the fields of one object that replace each other.
#[derive(Debug, Default)]
pub(super) struct Replacement {
    pub(super) old: Compared,
    pub(super) new: Vec<Written>,
}

impl Replacement {
    /// Decides about the new texts, now that the old one is known.
    pub(super) fn settle(self, watch: &mut Watch, gates: &mut Gates, hits: &mut Vec<Hit>) {
        let Replacement { old: Compared(old), new } = self;
        for mut written in new {
            if let Some((_, replaced)) = &mut written.compared {
                replaced.0.clone_from(&old);
            }
            written.settle(false, watch, gates, hits);
        }
    }
}
