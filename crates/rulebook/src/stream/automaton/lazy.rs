//! Builds the lazy DFA and steps through it.

use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::util::start::Config as StartConfig;
use regex_automata::util::syntax;
use regex_automata::{Anchored, MatchKind, nfa::thompson};

/// The maximum size of the cache in bytes.
const MAX_CACHE: usize = 8 << 20;

pub(super) const NO_QUIT: &str = "word boundaries are ASCII, so no byte makes it quit";

#[derive(Clone, Copy)]
pub(super) enum Direction {
    Forwards,
    Backwards,
}

pub(super) fn build(patterns: &[String], direction: Direction) -> Option<DFA> {
    let reverse = matches!(direction, Direction::Backwards);
    let config = DFA::config()
        .match_kind(MatchKind::All)
        .cache_capacity(MAX_CACHE)
        .skip_cache_capacity_check(true)
        // Clearing the cache costs time; giving up would lose matches.
        .minimum_cache_clear_count(None);
    DFA::builder()
        .configure(config)
        .syntax(syntax::Config::new().utf8(false).crlf(true).nest_limit(200))
        .thompson(thompson::Config::new().utf8(false).reverse(reverse).nfa_size_limit(Some(64 << 20)))
        .build_many(patterns)
        .ok()
}

/// The size of all states ever built.
pub(super) fn size(cache: &Cache) -> usize {
    cache.clear_count() * MAX_CACHE + cache.memory_usage()
}

pub(super) fn start_state(dfa: &DFA, cache: &mut Cache, before: Option<u8>) -> LazyStateID {
    let config = StartConfig::new().anchored(Anchored::No).look_behind(before);
    dfa.start_state(cache, &config).expect(NO_QUIT)
}

pub(super) fn next(dfa: &DFA, cache: &mut Cache, state: LazyStateID, byte: u8) -> LazyStateID {
    dfa.next_state(cache, state, byte).expect("the cache is cleared, and never gives up")
}
