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

use super::watch::{AROUND, Spot};

/// How much text a stream keeps at most. A match that started before it is shown from where it starts.
pub(super) const RETAINED: usize = 64 << 10;

/// Where checkpoints are looked for: at every so many bytes of a stream.
const CHECKPOINT: usize = 4 << 10;

/// The largest cache, in bytes.
const CACHE: usize = 8 << 20;

const NO_QUIT: &str = "no byte makes it quit: word boundaries are ASCII";

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
        Position {
            state,
            generation,
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
        let is_current = at.generation == self.cache.clear_count();
        if is_current && start_state(&self.dfa, &mut self.cache, at.last()) == at.state {
            at.live = Live { from: now, reached: None };
            return now;
        }
        if at.live.from < certain {
            at.live = Live { from: certain, reached: None };
        }
        while at.live.from < now && !self.is_live(at, now) {
            at.live = Live { from: at.live.from + 1, reached: None };
        }
        at.live.from
    }

    /// Whether a match that begins at the place that is followed may still come.
    fn is_live(&mut self, at: &mut Position, now: usize) -> bool {
        let from = at.live.from - at.gone;
        let known = at.live.reached.filter(|(.., generation)| *generation == self.cache.clear_count());
        let (reached, mut state) = match known {
            Some((reached, state, _)) => (reached - at.gone, state),
            None => {
                let before = if from == 0 { at.before } else { Some(at.tail[from - 1]) };
                let config = StartConfig::new().anchored(Anchored::Yes).look_behind(before);
                (from, self.dfa.start_state(&mut self.cache, &config).expect(NO_QUIT))
            }
        };
        for &byte in &at.tail[reached..] {
            state = next(&self.dfa, &mut self.cache, state, byte);
            if state.is_dead() {
                return false;
            }
        }
        at.live.reached = Some((now, state, self.cache.clear_count()));
        true
    }

    /// Goes on over some bytes, and tells which patterns are known to have matched, and where their matches end.
    pub(super) fn feed(
        &mut self,
        at: &mut Position,
        bytes: &[u8],
        found: &mut impl FnMut(&mut Automaton, &Position, usize, usize),
    ) {
        self.recover(at);
        let mut rest = bytes;
        while !rest.is_empty() {
            // Text is let go of at places that the stream alone decides, not its chunks.
            let to_mark = CHECKPOINT - (at.gone + at.tail.len()) % CHECKPOINT;
            let (slice, more) = rest.split_at(to_mark.min(rest.len()));
            self.run(at, slice, found);
            rest = more;
            if slice.len() == to_mark {
                self.let_go(at);
            }
        }
        at.generation = self.cache.clear_count();
    }

    fn run(
        &mut self,
        at: &mut Position,
        bytes: &[u8],
        found: &mut impl FnMut(&mut Automaton, &Position, usize, usize),
    ) {
        let mut own = at.own.take();
        let mut state = at.state;
        let mut kept = 0;
        loop {
            let cache = own.as_deref_mut().unwrap_or(&mut self.cache);
            let dfa = &self.dfa;
            let matched_at = bytes[kept..].iter().position(|&byte| {
                state = next(dfa, cache, state, byte);
                state.is_match()
            });
            let Some(matched_at) = matched_at else { break };
            // An automaton learns of a match one byte late.
            let patterns: Vec<usize> = matched(dfa, cache, state).collect();
            at.tail.extend_from_slice(&bytes[kept..=kept + matched_at]);
            kept += matched_at + 1;
            let end = at.gone + at.tail.len() - 1;
            for pattern in patterns {
                found(self, at, pattern, end);
            }
        }
        at.tail.extend_from_slice(&bytes[kept..]);
        at.state = state;
        at.own = own;
    }

    /// The end of a stream: what only that could decide.
    pub(super) fn finish(
        &mut self,
        at: &mut Position,
        found: &mut impl FnMut(&mut Automaton, &Position, usize, usize),
    ) {
        self.recover(at);
        let mut own = at.own.take();
        let cache = own.as_deref_mut().unwrap_or(&mut self.cache);
        let state = self.dfa.next_eoi_state(cache, at.state).expect("the cache is emptied, not given up");
        let patterns: Vec<usize> =
            if state.is_match() { matched(&self.dfa, cache, state).collect() } else { Vec::new() };
        let end = at.gone + at.tail.len();
        for pattern in patterns {
            found(self, at, pattern, end);
        }
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

    /// Finds a state again that the shared cache has forgotten.
    fn recover(&mut self, at: &mut Position) {
        if at.own.is_none() && at.generation != self.cache.clear_count() {
            at.state = self.rerun(at, None);
            at.generation = self.cache.clear_count();
        }
    }

    fn rerun(&mut self, at: &Position, own: Option<&mut Cache>) -> LazyStateID {
        let cache = own.unwrap_or(&mut self.cache);
        let before = if at.checkpoint == 0 { at.before } else { Some(at.tail[at.checkpoint - 1]) };
        let start = start_state(&self.dfa, cache, before);
        at.tail[at.checkpoint..].iter().fold(start, |state, &byte| next(&self.dfa, cache, state, byte))
    }

    /// Lets go of text that no match can need any more.
    fn let_go(&mut self, at: &mut Position) {
        let last = at.tail.last().copied();
        let mut own = at.own.take();
        let cache = own.as_deref_mut().unwrap_or(&mut self.cache);
        let cleared = cache.clear_count();
        let is_checkpoint = start_state(&self.dfa, cache, last) == at.state;
        let is_stale = cache.clear_count() != cleared;
        if is_stale {
            at.state = self.rerun(at, own.as_deref_mut());
        } else if is_checkpoint {
            at.checkpoint = at.tail.len();
            at.forget(at.tail.len().saturating_sub(AROUND));
        }
        if at.tail.len() > RETAINED {
            if own.is_none() {
                let mut cache = Box::new(self.dfa.create_cache());
                at.state = self.rerun(at, Some(&mut cache));
                own = Some(cache);
            }
            at.forget(at.tail.len() - RETAINED / 2);
        }
        at.own = own;
    }
}

impl Position {
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
        .syntax(syntax::Config::new().utf8(false).crlf(true).nest_limit(200))
        .thompson(thompson::Config::new().utf8(false).reverse(reverse).nfa_size_limit(Some(64 << 20)))
        .build_many(patterns)
        .map_err(|error| error.to_string())
}

fn start_state(dfa: &DFA, cache: &mut Cache, before: Option<u8>) -> LazyStateID {
    let config = StartConfig::new().anchored(Anchored::No).look_behind(before);
    dfa.start_state(cache, &config).expect(NO_QUIT)
}

fn next(dfa: &DFA, cache: &mut Cache, state: LazyStateID, byte: u8) -> LazyStateID {
    dfa.next_state(cache, state, byte).expect("the cache is emptied, not given up")
}

fn matched<'a>(dfa: &'a DFA, cache: &'a Cache, state: LazyStateID) -> impl Iterator<Item = usize> + 'a {
    (0..dfa.match_len(cache, state)).map(move |at| dfa.match_pattern(cache, state, at).as_usize())
}
