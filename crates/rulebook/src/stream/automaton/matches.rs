//! All matches of one pattern in a text that is known as a whole.

use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::{Anchored, Input};

use super::lazy::{Direction, build};
use crate::work;

/// One pattern, forwards and backwards.
#[derive(Debug)]
pub(in crate::stream) struct Matches {
    forwards: (DFA, Cache),
    backwards: (DFA, Cache),
}

impl Matches {
    /// `None` if the pattern is too large.
    pub(in crate::stream) fn new(pattern: &str) -> Option<Matches> {
        let one = |direction| {
            let dfa = build(&[pattern.to_owned()], direction)?;
            let cache = dfa.create_cache();
            Some((dfa, cache))
        };
        Some(Matches { forwards: one(Direction::Forwards)?, backwards: one(Direction::Backwards)? })
    }

    /// The text of each match, at its earliest end.
    pub(in crate::stream) fn of<'t>(&mut self, text: &'t str) -> Vec<&'t [u8]> {
        let (Matches { forwards: (forwards, cache), backwards: (backwards, back) }, text) =
            (self, text.as_bytes());
        let (mut found, mut from) = (Vec::new(), 0);
        while from <= text.len() {
            let input = Input::new(text).range(from..).earliest(true);
            let Ok(Some(end)) = forwards.try_search_fwd(cache, &input) else { break };
            let end = end.offset();
            let input = Input::new(text).range(from..end).anchored(Anchored::Yes);
            let start =
                backwards.try_search_rev(back, &input).ok().flatten().map_or(from, |half| half.offset());
            work::count(end - start);
            found.push(&text[start..end]);
            from = end.max(from + 1);
        }
        found
    }
}
