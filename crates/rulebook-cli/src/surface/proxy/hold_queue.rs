//! Events on their way to the client, in order: each is sent once what it waits for has arrived.

use std::collections::VecDeque;

use rulebook::session::FedPiece;
use tokio::time::Instant;

use crate::surface::wire::{Cut, Deltas, Event, Waits, cut};

/// An event that waits.
pub(super) struct Item {
    pub(super) event: Event,
    pub(super) waits: Waits,
    pub(super) texts: Vec<FedPiece>,
    pub(super) at: Instant,
}

/// The waiting events.
#[derive(Default)]
pub(super) struct HoldQueue {
    queue: VecDeque<Item>,
    /// How many at the front wait for the next event.
    chained: usize,
    bytes: usize,
    /// Whether the response ended: nothing waits any longer. What arrives nevertheless is held again.
    has_ended: bool,
}

impl HoldQueue {
    pub(super) fn push(&mut self, item: Item) {
        self.bytes += item.event.raw.len();
        self.queue.push_back(item);
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// The response ended without an interrupt.
    pub(super) fn end(&mut self) {
        self.has_ended = true;
    }

    /// Drops everything: another response begins.
    pub(super) fn clear(&mut self) {
        *self = HoldQueue::default();
    }

    /// Takes the events that may be sent now. `settled` tells how far a stream may be shown.
    pub(super) fn take(&mut self, mut settled: impl FnMut(usize) -> usize) -> Vec<Item> {
        if std::mem::take(&mut self.has_ended) {
            self.bytes = 0;
            self.chained = 0;
            return self.queue.drain(..).collect();
        }
        let mut free = 0;
        let mut chained = self.chained;
        for item in self.queue.iter().skip(self.chained) {
            let is_clear = item.texts.iter().all(|text| text.end <= settled(text.stream));
            match item.waits {
                Waits::Next if is_clear => chained += 1,
                Waits::Nothing if is_clear => {
                    free += chained + 1;
                    chained = 0;
                }
                _ => break,
            }
        }
        self.chained = chained;
        let taken: Vec<Item> = self.queue.drain(..free).collect();
        self.bytes -= taken.iter().map(|item| item.event.raw.len()).sum::<usize>();
        taken
    }

    /// Takes the settled beginning of the text that everything waits for, as an event of its own, and returns whether later
    /// events must be numbered again.
    pub(super) fn take_beginning(
        &mut self,
        deltas: &Deltas,
        mut settled: impl FnMut(usize) -> usize,
    ) -> (Vec<Item>, bool) {
        let none = (Vec::new(), false);
        let Some(item) = self.queue.get_mut(self.chained) else { return none };
        let ([text], Waits::Nothing) = (&mut item.texts[..], item.waits) else { return none };
        let most = settled(text.stream).saturating_sub(text.start);
        let Some(Cut { len, first, rest, is_numbered }) = cut(deltas, &item.event, most) else { return none };
        let first =
            Item { event: Event { raw: first }, waits: Waits::Nothing, texts: Vec::new(), at: item.at };
        text.start += len;
        self.bytes = self.bytes - item.event.raw.len() + rest.len();
        item.event.raw = rest;
        let mut taken: Vec<Item> = self.queue.drain(..std::mem::take(&mut self.chained)).collect();
        self.bytes -= taken.iter().map(|item| item.event.raw.len()).sum::<usize>();
        taken.push(first);
        (taken, is_numbered)
    }

    /// The texts that everything after them waits for, and since when.
    pub(super) fn waits_for(&self) -> Option<(&[FedPiece], Instant)> {
        let item = self.queue.get(self.chained)?;
        let is_text = item.waits == Waits::Nothing && !item.texts.is_empty();
        is_text.then_some((&item.texts, item.at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes events with what they wait for and where their text ends, and how far it is settled; compares which are sent.
    #[track_caller]
    fn check(events: &[(&str, Waits, usize)], settled: usize, wanted: &[&str]) {
        let mut queue = HoldQueue::default();
        let mut sent = Vec::new();
        for (name, waits, end) in events {
            let text = FedPiece { stream: 0, start: 0, end: *end };
            let texts = if *end == 0 { Vec::new() } else { vec![text] };
            queue.push(Item {
                event: Event { raw: (*name).to_owned().into() },
                waits: *waits,
                texts,
                at: Instant::now(),
            });
            sent.extend(queue.take(|_| settled).into_iter().map(|item| item.event.raw));
        }
        assert_eq!(sent, wanted);
        let left: usize = events.iter().map(|(name, ..)| name.len()).sum::<usize>()
            - sent.iter().map(bytes::Bytes::len).sum::<usize>();
        assert_eq!(queue.bytes(), left);
        queue.end();
        assert_eq!(sent.len() + queue.take(|_| 0).len(), events.len());
    }

    #[test]
    fn events_are_sent_in_order_once_what_they_wait_for_has_arrived() {
        use Waits::{End, Next, Nothing};
        check(&[("a", Nothing, 0), ("b", Nothing, 3), ("c", Nothing, 4)], 3, &["a", "b"]);
        check(&[("open", Next, 0), ("text", Nothing, 3)], 2, &[]);
        check(&[("open", Next, 0), ("text", Nothing, 3)], 3, &["open", "text"]);
        check(
            &[("open", Next, 0), ("more", Next, 0), ("text", Nothing, 1), ("x", Next, 0)],
            1,
            &["open", "more", "text"],
        );
        check(&[("a", Nothing, 0), ("call", End, 0), ("stop", Nothing, 0)], 9, &["a"]);
        check(&[("a", Next, 0), ("call", End, 0), ("stop", Nothing, 0)], 9, &[]);
    }
}
