//! The automaton: all patterns in one lazy DFA, its state carried from chunk to chunk.
//!
//! One cache is shared by all streams, so that it is warm for each. A cache that is full is emptied, and then the
//! states other streams hold mean nothing: each stream keeps the text since its last checkpoint (a place no match
//! can span) to find its state again. A stream that goes long without one gets a cache of its own when it must.

mod lazy;

use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::util::start::Config as StartConfig;
use regex_automata::{Anchored, Input};

use super::pattern::{NEVER, Pattern};
use super::watch::{AROUND, Spot};
use lazy::{Direction, NO_QUIT, build, next, size, start_state};

/// How much text a stream keeps at most. A match that started before it is shown from where it starts.
const RETAINED: usize = (1 << 20) - CHECKPOINT;

/// How much text a stream goes over more than once to find its state again.
const REPEATED: usize = 64 << 10;

/// Where checkpoints are looked for: at every so many bytes of a stream.
const CHECKPOINT: usize = 4 << 10;

/// How large states may be that are built: all together at first, and for every byte that goes by. Building them is what
/// takes the time; with those of honest patterns a text has met most after its first kilobytes.
const BUILT: usize = 64 << 20;
const BUILT_A_BYTE: usize = 256;

/// How many bytes go by before somebody looks at what was built for them.
const PIECE: usize = 128;

/// How far matches that may be under way are followed at a time.
const FOLLOWED: usize = 64 << 10;

/// All patterns, and the states met so far.
#[derive(Debug)]
pub(super) struct Automaton {
    dfa: DFA,
    cache: Cache,
    /// For finding where a match starts; built when the first match is found.
    backwards: Vec<Option<Box<(DFA, Cache)>>>,
    patterns: Vec<String>,
    /// How much of each a text can be in at once; nothing for those that were dropped.
    active: Vec<Option<usize>>,
    /// How many of them are dropped only when there are no others.
    held: usize,
    /// How often patterns were dropped, and how often the caches before that were emptied.
    epoch: usize,
    past: usize,
    /// How many bytes went by, and how large the states are that were built for them, since patterns were dropped.
    fed: usize,
    built: usize,
    /// How large the shared states were when somebody last looked, and how many bytes went by since.
    measured: usize,
    unmeasured: usize,
}

/// Where a stream stands.
#[derive(Debug)]
pub(super) struct Position {
    state: LazyStateID,
    /// How often the shared cache had been emptied, and patterns dropped, when `state` was found.
    generation: usize,
    epoch: usize,
    own: Option<Box<Cache>>,
    /// The text that is kept: since the last checkpoint, and a little before it to show.
    tail: Vec<u8>,
    /// Where in `tail` the last checkpoint is.
    checkpoint: usize,
    /// How many bytes, and how many line breaks, went before `tail`.
    gone: usize,
    gone_lines: usize,
    /// The byte before `tail`.
    before: Option<u8>,
    /// The earliest place where a match may have begun that is not decided.
    live: Live,
}

/// A match that may be under way.
#[derive(Clone, Copy, Debug, Default)]
struct Live {
    /// Where it begins, in the whole text.
    from: usize,
    /// Up to where it was followed, and the state it is in there, with the generation of that.
    reached: Option<(usize, LazyStateID, usize)>,
}

/// Patterns that matched at the same place.
pub(super) struct Matched {
    state: LazyStateID,
    pub(super) end: usize,
}

impl Automaton {
    /// Builds the automaton; patterns must be readable. The first so many are dropped last.
    pub(super) fn new(patterns: &[&Pattern], held: usize) -> Result<Automaton, String> {
        let active = patterns.iter().map(|pattern| Some(pattern.active)).collect();
        let backwards = patterns.iter().map(|_| None).collect();
        let patterns: Vec<String> = patterns.iter().map(|pattern| pattern.regex.clone()).collect();
        let dfa = build(&patterns, Direction::Forwards)?;
        let cache = dfa.create_cache();
        let measured = size(&cache);
        let (epoch, past, fed, built, unmeasured) = (0, 0, 0, 0, 0);
        Ok(Automaton {
            dfa,
            cache,
            backwards,
            patterns,
            active,
            held,
            epoch,
            past,
            fed,
            built,
            measured,
            unmeasured,
        })
    }

    /// The patterns that were dropped: with them the automaton took too much work.
    pub(super) fn dropped(&self) -> impl Iterator<Item = usize> {
        (0..self.active.len()).filter(|at| self.active[*at].is_none())
    }

    pub(super) fn start(&mut self) -> Position {
        let state = start_state(&self.dfa, &mut self.cache, None);
        let generation = self.generation();
        Position {
            state,
            generation,
            epoch: self.epoch,
            own: None,
            tail: Vec::new(),
            checkpoint: 0,
            gone: 0,
            gone_lines: 0,
            before: None,
            live: Live::default(),
        }
    }

    /// Below which offset no match can begin that is still to be told. Each place where one might begin is followed
    /// until it dies, so that over a whole text the work is that of the matches that were possible.
    pub(super) fn settled(&mut self, at: &mut Position) -> usize {
        let now = at.gone + at.tail.len();
        let certain = at.gone + at.checkpoint;
        if at.own.is_some() {
            // Long without a checkpoint, and its states are its own.
            return certain;
        }
        if !self.has_forgotten(at) && start_state(&self.dfa, &mut self.cache, at.last()) == at.state {
            at.live = Live { from: now, reached: None };
            return now;
        }
        if at.live.from < certain {
            at.live = Live { from: certain, reached: None };
        }
        let mut left = FOLLOWED;
        while at.live.from < now && !self.is_live(at, &mut left) {
            at.live = Live { from: at.live.from + 1, reached: None };
        }
        at.live.from
    }

    /// Whether a match that begins at the place that is followed may still come, as far as it was followed.
    fn is_live(&mut self, at: &mut Position, left: &mut usize) -> bool {
        let from = at.live.from - at.gone;
        let known = at.live.reached.filter(|(.., generation)| *generation == self.generation());
        let (mut reached, mut state) = match known {
            Some((reached, state, _)) => (reached - at.gone, state),
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
            self.measure();
            *left = left.saturating_sub(end - reached);
            if state.is_dead() {
                return false;
            }
            reached = end;
        }
        at.live.reached = Some((at.gone + reached, state, self.generation()));
        true
    }

    /// Goes on over bytes up to where some patterns are known to have matched; `rest` is what is left.
    pub(super) fn feed(&mut self, at: &mut Position, rest: &mut &[u8]) -> Option<Matched> {
        if self.has_forgotten(at) {
            self.recover(at);
        }
        while !rest.is_empty() {
            // Text is let go of at places that the stream alone decides, not its chunks.
            let to_mark = CHECKPOINT - at.end() % CHECKPOINT;
            if to_mark == CHECKPOINT {
                self.let_go(at);
            }
            if self.is_exhausted() {
                self.lighten();
                self.recover(at);
            }
            let slice = &rest[..to_mark.min(rest.len()).min(PIECE)];
            let owned = at.own.as_deref().map(size);
            let cache = at.own.as_deref_mut().unwrap_or(&mut self.cache);
            let mut state = at.state;
            let matched_at = slice.iter().position(|&byte| {
                state = next(&self.dfa, cache, state, byte);
                state.is_match()
            });
            self.built += owned.map_or(0, |before| size(cache).saturating_sub(before));
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
                // An automaton learns of a match one byte late.
                return Some(Matched { state, end: at.end() - 1 });
            }
        }
        None
    }

    /// The end of a stream: what only that could decide.
    pub(super) fn finish(&mut self, at: &mut Position) -> Option<Matched> {
        if self.has_forgotten(at) {
            self.recover(at);
        }
        let cache = at.own.as_deref_mut().unwrap_or(&mut self.cache);
        let state = self.dfa.next_eoi_state(cache, at.state).expect("the cache is emptied, not given up");
        state.is_match().then(|| Matched { state, end: at.end() })
    }

    /// The patterns that matched, one after the other.
    pub(super) fn pattern(&self, at: &Position, matched: &Matched, nth: usize) -> Option<usize> {
        let cache = at.own.as_deref().unwrap_or(&self.cache);
        let is_one = nth < self.dfa.match_len(cache, matched.state);
        is_one.then(|| self.dfa.match_pattern(cache, matched.state, nth).as_usize())
    }

    /// Where a match that ends at `end` starts: as far left as it can, and as far as text is kept.
    pub(super) fn locate<'t>(&mut self, at: &'t Position, pattern: usize, end: usize) -> Spot<'t> {
        let slot = &mut self.backwards[pattern];
        if slot.is_none() {
            let dfa = build(&self.patterns[pattern..=pattern], Direction::Backwards)
                .expect("built forwards already");
            let cache = dfa.create_cache();
            *slot = Some(Box::new((dfa, cache)));
        }
        let (dfa, cache) = slot.as_deref_mut().expect("just built");
        let end = end - at.gone;
        let from = at.checkpoint.min(end);
        let input = Input::new(&at.tail).range(from..end).anchored(Anchored::Yes);
        let start = dfa.try_search_rev(cache, &input).ok().flatten().map_or(from, |half| half.offset());
        let shown = start.saturating_sub(AROUND);
        Spot {
            start: at.gone + start,
            end: at.gone + end,
            line: at.gone_lines + memchr::memchr_iter(b'\n', &at.tail[..start]).count() + 1,
            text: &at.tail[start..end],
            around: &at.tail[shown..(end + AROUND).min(at.tail.len())],
            lead: start - shown,
        }
    }

    /// How often the shared cache was emptied.
    fn generation(&self) -> usize {
        self.past + self.cache.clear_count()
    }

    /// Whether the cache was emptied since a stream's state was found.
    fn has_forgotten(&self, at: &Position) -> bool {
        at.epoch != self.epoch || (at.generation != self.generation() && at.own.is_none())
    }

    /// Finds a state again that the shared cache has forgotten.
    #[cold]
    fn recover(&mut self, at: &mut Position) {
        while !self.goes_over(at) {
            self.lighten();
        }
    }

    /// Goes over a stream's text again, unless that takes too much work.
    fn goes_over(&mut self, at: &mut Position) -> bool {
        self.measure();
        at.own.take_if(|_| at.epoch != self.epoch);
        at.epoch = self.epoch;
        if at.tail.len() - at.checkpoint > REPEATED {
            at.own = Some(Box::new(self.dfa.create_cache()));
        }
        let cache = at.own.as_deref_mut().unwrap_or(&mut self.cache);
        let (before, since) = at.tail.split_at(at.checkpoint);
        at.state = start_state(&self.dfa, cache, before.last().copied().or(at.before));
        let is_over = since.chunks(PIECE).all(|piece| {
            let before = size(cache);
            at.state = piece.iter().fold(at.state, |state, &byte| next(&self.dfa, cache, state, byte));
            self.built += size(cache).saturating_sub(before);
            self.built <= allowed(self.fed)
        });
        self.measured = size(&self.cache);
        at.generation = self.generation();
        is_over
    }

    /// Adds what was built in the shared cache since somebody last looked.
    fn measure(&mut self) {
        let size = size(&self.cache);
        self.built += size.saturating_sub(self.measured);
        (self.measured, self.unmeasured) = (size, 0);
    }

    fn is_exhausted(&self) -> bool {
        self.built > allowed(self.fed)
    }

    /// Drops the patterns of which a text can be in most at once, until what is left is a quarter of it: a few heavy
    /// ones must not disarm the many light ones.
    #[cold]
    fn lighten(&mut self) {
        let mut left: usize = self.active.iter().flatten().sum();
        let goal = left / 4;
        let mut heaviest: Vec<usize> = (0..self.active.len()).collect();
        heaviest.sort_by_key(|at| (*at < self.held, std::cmp::Reverse(self.active[*at])));
        let mut has_dropped = false;
        for at in heaviest {
            if left <= goal || (at < self.held && has_dropped) {
                break;
            }
            has_dropped |= self.active[at].is_some();
            left -= self.active[at].take().unwrap_or(0);
            NEVER.clone_into(&mut self.patterns[at]);
        }
        self.past = self.generation() + 1;
        self.epoch += 1;
        self.dfa = build(&self.patterns, Direction::Forwards).expect("built with more already");
        self.cache = self.dfa.create_cache();
        self.measure();
        (self.fed, self.built) = (0, 0);
    }

    /// Lets go of text that no match can need any more.
    fn let_go(&mut self, at: &mut Position) {
        if at.own.is_none() {
            let start = start_state(&self.dfa, &mut self.cache, at.tail.last().copied());
            if self.has_forgotten(at) {
                self.recover(at);
            } else if start == at.state {
                at.checkpoint = at.tail.len();
                at.forget(at.tail.len().saturating_sub(AROUND));
            }
        }
        if at.tail.len() > RETAINED {
            // What is forgotten now could not be gone over again.
            at.own.get_or_insert_with(|| Box::new(self.cache.clone()));
            at.forget(at.tail.len() - RETAINED / 2);
        }
    }
}

impl Position {
    /// How many bytes went by.
    pub(super) fn end(&self) -> usize {
        self.gone + self.tail.len()
    }

    fn last(&self) -> Option<u8> {
        self.tail.last().copied().or(self.before)
    }

    fn forget(&mut self, count: usize) {
        self.gone += count;
        self.gone_lines += memchr::memchr_iter(b'\n', &self.tail[..count]).count();
        self.before = self.tail[..count].last().copied().or(self.before);
        self.checkpoint = self.checkpoint.saturating_sub(count);
        self.tail.drain(..count);
    }
}

/// How large states may be that are built for so many bytes.
fn allowed(fed: usize) -> usize {
    BUILT + fed * BUILT_A_BYTE
}
