//! The automaton: all patterns in one lazy DFA, its state carried from chunk to chunk.
//!
//! One cache is shared by all streams, so that it is warm for each. A cache that is full is emptied, and then the
//! states other streams hold mean nothing: each stream keeps the text since its last checkpoint (a place no match
//! can span) to find its state again. A stream that goes long without one gets a cache of its own.

use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::util::start::Config as StartConfig;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input, MatchKind, nfa::thompson};

/// How much text a stream keeps at most. A match that started before it is shown from where it starts.
pub(super) const RETAINED: usize = 64 << 10;

/// How far apart checkpoints are looked for.
const CHECKPOINT: usize = 4 << 10;

/// The largest cache, in bytes.
const CACHE: usize = 8 << 20;

/// All patterns, and the states met so far.
#[derive(Debug)]
pub(super) struct Automaton {
    dfa: DFA,
    cache: Cache,
    /// For finding where a match starts; built when the first match is found.
    backwards: Vec<Option<Box<(DFA, Cache)>>>,
    patterns: Vec<String>,
}

/// Where a stream stands.
#[derive(Debug)]
pub(super) struct Position {
    state: LazyStateID,
    /// How often the shared cache had been emptied when `state` was found.
    generation: usize,
    own: Option<Box<Cache>>,
    /// The text since the last checkpoint, or as much as is kept of it.
    tail: Vec<u8>,
    /// How many bytes, and how many line breaks, went before `tail`.
    gone: usize,
    gone_lines: usize,
    /// The byte before `tail`.
    before: Option<u8>,
}

/// A match: which pattern, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) pattern: usize,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) line: usize,
}

impl Automaton {
    /// Builds the automaton; patterns must be readable.
    pub(super) fn new(patterns: Vec<String>) -> Result<Automaton, String> {
        let dfa = build(&patterns, Direction::Forwards)?;
        let cache = dfa.create_cache();
        let backwards = patterns.iter().map(|_| None).collect();
        Ok(Automaton { dfa, cache, backwards, patterns })
    }

    pub(super) fn start(&mut self) -> Position {
        let state = start_state(&self.dfa, &mut self.cache, None);
        let generation = self.cache.clear_count();
        Position { state, generation, own: None, tail: Vec::new(), gone: 0, gone_lines: 0, before: None }
    }

    /// Goes on over some bytes, and tells for each byte which patterns are known to have matched before it.
    pub(super) fn feed(
        &mut self,
        at: &mut Position,
        bytes: &[u8],
        mut found: impl FnMut(&mut Automaton, &Position, usize, usize),
    ) {
        self.recover(at);
        let mut own = at.own.take();
        for &byte in bytes {
            let cache = own.as_deref_mut().unwrap_or(&mut self.cache);
            at.state = next(&self.dfa, cache, at.state, byte);
            // An automaton learns of a match one byte late.
            let end = at.gone + at.tail.len();
            at.tail.push(byte);
            if at.state.is_match() {
                let matched: Vec<usize> = matched(&self.dfa, cache, at.state).collect();
                for pattern in matched {
                    found(self, at, pattern, end);
                }
            }
        }
        at.own = own;
        at.generation = self.cache.clear_count();
        self.let_go(at);
    }

    /// The end of a stream: what only that could decide.
    pub(super) fn finish(
        &mut self,
        at: &mut Position,
        mut found: impl FnMut(&mut Automaton, &Position, usize, usize),
    ) {
        self.recover(at);
        let mut own = at.own.take();
        let cache = own.as_deref_mut().unwrap_or(&mut self.cache);
        let state = self.dfa.next_eoi_state(cache, at.state).expect("the cache is emptied, not given up");
        let matched: Vec<usize> =
            if state.is_match() { matched(&self.dfa, cache, state).collect() } else { Vec::new() };
        let end = at.gone + at.tail.len();
        for pattern in matched {
            found(self, at, pattern, end);
        }
        at.generation = self.cache.clear_count();
    }

    /// Where a match that ends at `end` starts: as far left as it can.
    pub(super) fn locate(&mut self, at: &Position, pattern: usize, end: usize) -> Found {
        let slot = &mut self.backwards[pattern];
        if slot.is_none() {
            let dfa = build(&self.patterns[pattern..=pattern], Direction::Backwards)
                .expect("built forwards already");
            let cache = dfa.create_cache();
            *slot = Some(Box::new((dfa, cache)));
        }
        let (dfa, cache) = slot.as_deref_mut().expect("just built");
        let input = Input::new(&at.tail).range(..end - at.gone).anchored(Anchored::Yes);
        let start = dfa.try_search_rev(cache, &input).ok().flatten().map_or(0, |half| half.offset());
        let line = at.gone_lines + memchr::memchr_iter(b'\n', &at.tail[..start]).count() + 1;
        Found { pattern, start: at.gone + start, end, line }
    }

    /// Finds a state again that the shared cache has forgotten.
    fn recover(&mut self, at: &mut Position) {
        if at.own.is_none() && at.generation != self.cache.clear_count() {
            at.state = self.rerun(at, None);
            at.generation = self.cache.clear_count();
        }
    }

    fn rerun(&mut self, at: &Position, own: Option<&mut Cache>) -> LazyStateID {
        let cache = own.unwrap_or(&mut self.cache);
        let start = start_state(&self.dfa, cache, at.before);
        at.tail.iter().fold(start, |state, &byte| next(&self.dfa, cache, state, byte))
    }

    /// Lets go of text that no match can need any more.
    fn let_go(&mut self, at: &mut Position) {
        if at.tail.len() < CHECKPOINT {
            return;
        }
        let last = at.tail.last().copied();
        let cache = at.own.as_deref_mut().unwrap_or(&mut self.cache);
        let is_checkpoint = start_state(&self.dfa, cache, last) == at.state;
        at.generation = self.cache.clear_count();
        if is_checkpoint {
            at.forget(at.tail.len());
        } else if at.tail.len() > RETAINED {
            if at.own.is_none() {
                let mut own = Box::new(self.dfa.create_cache());
                at.state = self.rerun(at, Some(&mut own));
                at.own = Some(own);
            }
            at.forget(at.tail.len() - RETAINED / 2);
        }
    }
}

impl Position {
    fn forget(&mut self, count: usize) {
        self.gone += count;
        self.gone_lines += memchr::memchr_iter(b'\n', &self.tail[..count]).count();
        self.before = self.tail[..count].last().copied();
        self.tail.drain(..count);
    }

    /// A stretch of the stream, as far as it is kept.
    pub(super) fn text(&self, start: usize, end: usize) -> &[u8] {
        let clip = |at: usize| at.saturating_sub(self.gone).min(self.tail.len());
        &self.tail[clip(start)..clip(end)]
    }
}

#[derive(Clone, Copy)]
enum Direction {
    Forwards,
    Backwards,
}

fn build(patterns: &[String], direction: Direction) -> Result<DFA, String> {
    let reverse = matches!(direction, Direction::Backwards);
    let config = DFA::config()
        .match_kind(MatchKind::All)
        .cache_capacity(CACHE)
        .skip_cache_capacity_check(true)
        // Emptying the cache costs time, giving up would cost matches.
        .minimum_cache_clear_count(None);
    DFA::builder()
        .configure(config)
        .syntax(syntax::Config::new().utf8(false).nest_limit(200))
        .thompson(thompson::Config::new().utf8(false).reverse(reverse).nfa_size_limit(Some(64 << 20)))
        .build_many(patterns)
        .map_err(|error| error.to_string())
}

fn start_state(dfa: &DFA, cache: &mut Cache, before: Option<u8>) -> LazyStateID {
    let config = StartConfig::new().anchored(Anchored::No).look_behind(before);
    dfa.start_state(cache, &config).expect("no byte makes it quit: word boundaries are ASCII")
}

fn next(dfa: &DFA, cache: &mut Cache, state: LazyStateID, byte: u8) -> LazyStateID {
    dfa.next_state(cache, state, byte).expect("the cache is emptied, not given up")
}

fn matched<'a>(dfa: &'a DFA, cache: &'a Cache, state: LazyStateID) -> impl Iterator<Item = usize> + 'a {
    (0..dfa.match_len(cache, state)).map(move |at| dfa.match_pattern(cache, state, at).as_usize())
}
