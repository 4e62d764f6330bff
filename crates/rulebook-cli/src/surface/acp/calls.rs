//! The tool calls of a turn. Of very many, the earliest are forgotten.

use std::collections::{BTreeMap, VecDeque};

use super::call::Call;

/// The most calls that are kept, and the most bytes of messages about them.
const MAX_CALLS: usize = 1_000;
const MAX_BYTES: usize = 16 << 20;

/// Calls by their ids.
#[derive(Default)]
pub(super) struct Calls {
    by_id: BTreeMap<String, Kept>,
    /// The ids, the earliest first.
    order: VecDeque<String>,
    bytes: usize,
}

#[derive(Default)]
struct Kept {
    call: Call,
    bytes: usize,
}

impl Calls {
    /// Returns a call that a message of this size is about. One that was forgotten begins again.
    pub(super) fn about(&mut self, id: &str, bytes: usize) -> &mut Call {
        self.of(id);
        self.bytes += bytes;
        if let Some(kept) = self.by_id.get_mut(id) {
            kept.bytes += bytes;
        }
        while self.order.len() > MAX_CALLS || self.bytes > MAX_BYTES {
            let Some(earliest) = self.order.pop_front() else { break };
            let forgotten = self.by_id.remove(&earliest);
            self.bytes -= forgotten.map_or(0, |forgotten| forgotten.bytes);
        }
        self.of(id)
    }

    /// Returns the call with this id.
    pub(super) fn of(&mut self, id: &str) -> &mut Call {
        if !self.by_id.contains_key(id) {
            self.order.push_back(id.to_owned());
        }
        &mut self.by_id.entry(id.to_owned()).or_default().call
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Call> {
        self.by_id.values().map(|kept| &kept.call)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_calls_are_forgotten_beyond_a_number_and_a_size() {
        let mut calls = Calls::default();
        (0..MAX_CALLS * 3).for_each(|id| calls.about(&format!("{id:08}"), 1).is_shown = true);
        assert_eq!((calls.all().count(), calls.order.len(), calls.bytes), (MAX_CALLS, MAX_CALLS, MAX_CALLS));
        assert!(calls.of(&format!("{:08}", MAX_CALLS * 3 - 1)).is_shown);
        for id in 0..1_000 {
            calls.about(&format!("{}", id % 40), MAX_BYTES / 20);
            assert!(calls.bytes <= MAX_BYTES && calls.by_id.len() == calls.order.len());
        }
        calls.about("large", MAX_BYTES * 2);
        assert_eq!((calls.all().count(), calls.bytes), (1, 0));
    }
}
