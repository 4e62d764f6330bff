//! All patterns in one lazy DFA, with its state kept from chunk to chunk.
//!
//! All streams share one cache of states, so that it is warm for each. When the cache is full, it is cleared, and the state
//! IDs of all streams become invalid. Each stream therefore keeps its text since the last checkpoint (a position that no
//! match can span) and recovers its state from that. A stream without a recent checkpoint gets its own cache.

mod lazy;
mod matches;

use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::util::start::Config as StartConfig;
use regex_automata::{Anchored, Input};

use super::hit::{AROUND, Spot};
use super::pattern::{NEVER, Pattern};
use crate::work;
use lazy::{Direction, NO_QUIT, build, next, size, start_state};
pub(super) use matches::Matches;

/// The maximum text that a stream keeps. A match that started earlier is shown from the start of the kept text.
const MAX_KEPT: usize = (1 << 20) - CHECKPOINT;

/// The maximum text that a stream reads again to recover its state in the shared cache.
const MAX_REPLAYED: usize = 64 << 10;

/// The distance between possible checkpoints in bytes.
const CHECKPOINT: usize = 4 << 10;

/// The maximum size of all states that are built: a constant, and an allowance for each byte read. Building states takes
/// most of the time. With realistic patterns, most states are built within the first kilobytes of a text.
const MAX_BUILT: usize = 64 << 20;
const BUILT_PER_BYTE: usize = 256;

/// The number of bytes between two measurements of the cache.
const PIECE: usize = 128;

/// The maximum number of bytes for which possible matches are followed at a time.
const MAX_FOLLOWED: usize = 64 << 10;

/// All patterns, with the states built so far.
#[derive(Debug)]
pub(super) struct Automaton {
    dfa: DFA,
    cache: Cache,
    /// Find the start of a match; built on the first match.
    backwards: Vec<Option<Box<(DFA, Cache)>>>,
    patterns: Vec<String>,
    /// The maximum number of active states of each pattern; `None` for dropped patterns.
    active: Vec<Option<usize>>,
    /// The number of mandatory patterns, which come first and are dropped last.
    mandatory: usize,
    /// How often patterns were dropped, and how often earlier caches were cleared.
    epoch: usize,
    past_generations: usize,
    /// The bytes read and the size of the states built since patterns were last dropped.
    fed: usize,
    built: usize,
    /// The size of the shared cache at the last measurement, and the bytes read since.
    measured: usize,
    unmeasured: usize,
}

/// The position of a stream.
#[derive(Debug, Default)]
pub(super) struct Position {
    state: LazyStateID,
    /// The generation of the shared cache and the epoch that `state` belongs to.
    generation: usize,
    epoch: usize,
    own_cache: Option<Box<Cache>>,
    /// The kept text: since the last checkpoint, and a little before it for excerpts.
    tail: Vec<u8>,
    /// The index of the last checkpoint in `tail`.
    checkpoint: usize,
    /// The numbers of bytes and of line breaks before `tail`.
    discarded: usize,
    discarded_lines: usize,
    /// The byte before `tail`.
    before: Option<u8>,
    /// The earliest undecided match.
    candidate: Candidate,
}

/// A match that may have started.
#[derive(Clone, Copy, Debug, Default)]
struct Candidate {
    /// Its start in the whole text.
    from: usize,
    /// The offset up to which it was followed, and the state there with its generation.
    reached: Option<(usize, LazyStateID, usize)>,
}

/// Patterns that matched at the same position.
pub(super) struct Matched {
    state: LazyStateID,
    pub(super) end: usize,
}

impl Automaton {
    /// Builds the automaton, if it is not too large. The first `mandatory` patterns are dropped last.
    pub(super) fn new(patterns: &[&Pattern], mandatory: usize) -> Option<Automaton> {
        let active = patterns.iter().map(|pattern| Some(pattern.active)).collect();
        let backwards = patterns.iter().map(|_| None).collect();
        let patterns: Vec<String> = patterns.iter().map(|pattern| pattern.regex.clone()).collect();
        let dfa = build(&patterns, Direction::Forwards)?;
        let cache = dfa.create_cache();
        Some(Automaton {
            dfa,
            measured: size(&cache),
            cache,
            backwards,
            patterns,
            active,
            mandatory,
            epoch: 0,
            past_generations: 0,
            fed: 0,
            built: 0,
            unmeasured: 0,
        })
    }

    /// The patterns that were dropped because the automaton became too expensive.
    pub(super) fn dropped(&self) -> impl Iterator<Item = usize> {
        (0..self.active.len()).filter(|at| self.active[*at].is_none())
    }

    pub(super) fn start(&mut self) -> Position {
        let state = start_state(&self.dfa, &mut self.cache, None);
        Position { state, generation: self.generation(), epoch: self.epoch, ..Position::default() }
    }

    /// The offset below which no future match can start. Each possible start is followed until it fails, so the total work is
    /// that of all possible matches.
    pub(super) fn settled(&mut self, at: &mut Position) -> usize {
        let now = at.end();
        let certain = at.discarded + at.checkpoint;
        if at.own_cache.is_some() {
            // There is no recent checkpoint, and the states are not in the shared cache.
            return certain;
        }
        if !self.is_stale(at) && start_state(&self.dfa, &mut self.cache, at.last()) == at.state {
            at.candidate = Candidate { from: now, reached: None };
            return now;
        }
        if at.candidate.from < certain {
            at.candidate = Candidate { from: certain, reached: None };
        }
        let mut left = MAX_FOLLOWED;
        while at.candidate.from < now && !self.may_match(at, &mut left) {
            at.candidate = Candidate { from: at.candidate.from + 1, reached: None };
        }
        at.candidate.from
    }

    /// Whether the candidate may still match, as far as it was followed.
    fn may_match(&mut self, at: &mut Position, left: &mut usize) -> bool {
        let from = at.candidate.from - at.discarded;
        let known = at.candidate.reached.filter(|(.., generation)| *generation == self.generation());
        let (mut reached, mut state) = match known {
            Some((reached, state, _)) => (reached - at.discarded, state),
            None => {
                let before = if from == 0 { at.before } else { Some(at.tail[from - 1]) };
                let config = StartConfig::new().anchored(Anchored::Yes).look_behind(before);
                (from, self.dfa.start_state(&mut self.cache, &config).expect(NO_QUIT))
            }
        };
        while reached < at.tail.len() && *left > 0 && !self.is_exhausted() {
            let end = at.tail.len().min(reached + PIECE);
            for &byte in &at.tail[reached..end] {
                state = next(&self.dfa, &mut self.cache, state, byte);
                if state.is_dead() {
                    break;
                }
            }
            work::count(end - reached);
            self.measure();
            *left = left.saturating_sub(end - reached);
            if state.is_dead() {
                return false;
            }
            reached = end;
        }
        at.candidate.reached = Some((at.discarded + reached, state, self.generation()));
        true
    }

    /// Reads bytes until patterns match; `rest` is what remains.
    pub(super) fn feed(&mut self, at: &mut Position, rest: &mut &[u8]) -> Option<Matched> {
        if self.is_stale(at) {
            self.recover(at);
        }
        while !rest.is_empty() {
            // Text is discarded at positions that do not depend on the chunks.
            let to_mark = CHECKPOINT - at.end() % CHECKPOINT;
            if to_mark == CHECKPOINT {
                self.discard_text(at);
            }
            if self.is_exhausted() {
                self.drop_heaviest();
                self.recover(at);
            }
            let slice = &rest[..to_mark.min(rest.len()).min(PIECE)];
            let owned = at.own_cache.as_deref().map(size);
            let cache = at.own_cache.as_deref_mut().unwrap_or(&mut self.cache);
            let mut state = at.state;
            let matched_at = slice.iter().position(|&byte| {
                state = next(&self.dfa, cache, state, byte);
                state.is_match()
            });
            self.built += owned.map_or(0, |before| size(cache).saturating_sub(before));
            work::count(slice.len());
            self.fed += slice.len();
            self.unmeasured += slice.len();
            if self.unmeasured >= PIECE {
                self.measure();
            }
            at.state = state;
            at.generation = self.generation();
            let (done, more) = rest.split_at(matched_at.map_or(slice.len(), |at| at + 1));
            at.tail.extend_from_slice(done);
            *rest = more;
            if matched_at.is_some() {
                // The automaton reports a match one byte late.
                return Some(Matched { state, end: at.end() - 1 });
            }
        }
        None
    }

    /// Ends a stream. Returns the match that only the end decides.
    pub(super) fn finish(&mut self, at: &mut Position) -> Option<Matched> {
        if self.is_stale(at) {
            self.recover(at);
        }
        let cache = at.own_cache.as_deref_mut().unwrap_or(&mut self.cache);
        let state =
            self.dfa.next_eoi_state(cache, at.state).expect("the cache is cleared, and never gives up");
        state.is_match().then(|| Matched { state, end: at.end() })
    }

    /// The nth pattern that matched.
    pub(super) fn pattern(&self, at: &Position, matched: &Matched, nth: usize) -> Option<usize> {
        let cache = at.own_cache.as_deref().unwrap_or(&self.cache);
        let is_one = nth < self.dfa.match_len(cache, matched.state);
        is_one.then(|| self.dfa.match_pattern(cache, matched.state, nth).as_usize())
    }

    /// Finds the leftmost start of a match that ends at `end`, within the kept text.
    pub(super) fn locate<'t>(&mut self, at: &'t Position, pattern: usize, end: usize) -> Spot<'t> {
        let slot = &mut self.backwards[pattern];
        if slot.is_none() {
            let dfa = build(&self.patterns[pattern..=pattern], Direction::Backwards)
                .expect("it was built forwards");
            let cache = dfa.create_cache();
            *slot = Some(Box::new((dfa, cache)));
        }
        let (dfa, cache) = slot.as_deref_mut().expect("just built");
        let end = end - at.discarded;
        let from = at.checkpoint.min(end);
        let input = Input::new(&at.tail).range(from..end).anchored(Anchored::Yes);
        let start = dfa.try_search_rev(cache, &input).ok().flatten().map_or(from, |half| half.offset());
        let shown = start.saturating_sub(AROUND);
        Spot {
            start: at.discarded + start,
            end: at.discarded + end,
            line: at.discarded_lines + memchr::memchr_iter(b'\n', &at.tail[..start]).count() + 1,
            text: &at.tail[start..end],
            around: &at.tail[shown..(end + AROUND).min(at.tail.len())],
            lead: start - shown,
        }
    }

    /// How often the shared cache was cleared.
    fn generation(&self) -> usize {
        self.past_generations + self.cache.clear_count()
    }

    /// Whether the state of a stream is no longer in the cache.
    fn is_stale(&self, at: &Position) -> bool {
        at.epoch != self.epoch || (at.generation != self.generation() && at.own_cache.is_none())
    }

    /// Recovers the state of a stream that is no longer in the cache.
    #[cold]
    fn recover(&mut self, at: &mut Position) {
        while !self.replay(at) {
            self.drop_heaviest();
        }
    }

    /// Reads the kept text of a stream again. Returns false if that becomes too expensive.
    fn replay(&mut self, at: &mut Position) -> bool {
        self.measure();
        at.own_cache.take_if(|_| at.epoch != self.epoch);
        at.epoch = self.epoch;
        if at.tail.len() - at.checkpoint > MAX_REPLAYED {
            at.own_cache = Some(Box::new(self.dfa.create_cache()));
        }
        let cache = at.own_cache.as_deref_mut().unwrap_or(&mut self.cache);
        let (before, since) = at.tail.split_at(at.checkpoint);
        at.state = start_state(&self.dfa, cache, before.last().copied().or(at.before));
        let is_done = since.chunks(PIECE).all(|piece| {
            let before = size(cache);
            at.state = piece.iter().fold(at.state, |state, &byte| next(&self.dfa, cache, state, byte));
            work::count(piece.len());
            self.built += size(cache).saturating_sub(before);
            self.built <= allowed(self.fed)
        });
        self.measured = size(&self.cache);
        at.generation = self.generation();
        is_done
    }

    /// Adds the growth of the shared cache since the last measurement.
    fn measure(&mut self) {
        let size = size(&self.cache);
        self.built += size.saturating_sub(self.measured);
        (self.measured, self.unmeasured) = (size, 0);
    }

    fn is_exhausted(&self) -> bool {
        self.built > allowed(self.fed)
    }

    /// Drops the patterns with the most active states until a quarter of all remains: a few heavy patterns must not disable
    /// many light ones.
    #[cold]
    fn drop_heaviest(&mut self) {
        let mut left: usize = self.active.iter().flatten().sum();
        let goal = left / 4;
        let mut heaviest: Vec<usize> = (0..self.active.len()).collect();
        heaviest.sort_by_key(|at| (*at < self.mandatory, std::cmp::Reverse(self.active[*at])));
        let mut has_dropped = false;
        for at in heaviest {
            if left <= goal || (at < self.mandatory && has_dropped) {
                break;
            }
            has_dropped |= self.active[at].is_some();
            left -= self.active[at].take().unwrap_or(0);
            NEVER.clone_into(&mut self.patterns[at]);
        }
        self.past_generations = self.generation() + 1;
        self.epoch += 1;
        self.dfa = build(&self.patterns, Direction::Forwards).expect("it was built with more patterns");
        self.cache = self.dfa.create_cache();
        self.measure();
        (self.fed, self.built) = (0, 0);
    }

    /// Discards text that no match can include.
    fn discard_text(&mut self, at: &mut Position) {
        if at.own_cache.is_none() {
            let start = start_state(&self.dfa, &mut self.cache, at.tail.last().copied());
            if self.is_stale(at) {
                self.recover(at);
            } else if start == at.state {
                at.checkpoint = at.tail.len();
                at.discard(at.tail.len().saturating_sub(AROUND));
            }
        }
        if at.tail.len() > MAX_KEPT {
            // The state cannot be recovered from the discarded text.
            at.own_cache.get_or_insert_with(|| Box::new(self.cache.clone()));
            at.discard(at.tail.len() - MAX_KEPT / 2);
        }
    }
}

impl Position {
    /// The number of bytes read.
    fn end(&self) -> usize {
        self.discarded + self.tail.len()
    }

    fn last(&self) -> Option<u8> {
        self.tail.last().copied().or(self.before)
    }

    fn discard(&mut self, count: usize) {
        self.discarded += count;
        self.discarded_lines += memchr::memchr_iter(b'\n', &self.tail[..count]).count();
        self.before = self.tail[..count].last().copied().or(self.before);
        self.checkpoint = self.checkpoint.saturating_sub(count);
        self.tail.drain(..count);
    }
}

/// The maximum size of the states built for this many bytes.
fn allowed(fed: usize) -> usize {
    MAX_BUILT + fed * BUILT_PER_BYTE
}
