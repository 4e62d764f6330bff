//! A lazily built automaton, for matching many paths.

use foldhash::HashMap;

use super::program::Program;
use super::run::{Outcome, Position, Preceding, SegmentRest};

/// Remembers transitions, so that an ASCII path costs one lookup per character.
pub(in super::super) struct LazyDfa<'g> {
    program: &'g Program,
    states: Vec<State>,
    /// By the live instructions, 64 in a word: hashing them one by one takes longer than finding them.
    known: HashMap<(Box<[u64]>, SegmentRest), u16>,
    /// The next state for each state and character: first within the path, then at its start.
    next: Vec<u16>,
    /// For each byte, an equivalent byte or `UNCLASSIFIED`.
    representatives: [u8; 128],
    /// The representatives of bytes that no instruction names, by their class memberships.
    unnamed: Vec<(u64, u8)>,
}

struct State {
    live: Box<[bool]>,
    rest: SegmentRest,
    outcome: Outcome,
}

const UNKNOWN: u16 = u16::MAX;
const UNCLASSIFIED: u8 = u8::MAX;
const ROW: usize = 256;
/// With this many states, the program runs without the automaton.
const MAX_STATES: usize = 1000;

impl<'g> LazyDfa<'g> {
    /// `None` if a step of the program depends on the unit before it.
    pub(in super::super) fn new(program: &'g Program) -> Option<LazyDfa<'g>> {
        if program.looks_back {
            return None;
        }
        let mut lazy = LazyDfa {
            program,
            states: Vec::new(),
            known: HashMap::default(),
            next: Vec::new(),
            representatives: [UNCLASSIFIED; 128],
            unnamed: Vec::new(),
        };
        let later = vec![false; program.code.len()];
        let end = Position::new(None, SegmentRest::End, Preceding { is_start: false, unit: None });
        lazy.state(&end, &later);
        Some(lazy)
    }

    pub(in super::super) fn is_match(&mut self, path: &str) -> bool {
        if path.is_empty() || !path.is_ascii() {
            return self.program.is_match(path);
        }
        let mut state = 0;
        for (at, byte) in path.bytes().enumerate().rev() {
            match self.states[state].outcome {
                Outcome::Undecided => {}
                Outcome::Match => return true,
                Outcome::NoMatch => return false,
            }
            let is_start = at == 0;
            let byte = self.representative(byte);
            let cell = state * ROW + usize::from(byte) + if is_start { ROW / 2 } else { 0 };
            if self.next[cell] == UNKNOWN {
                if self.states.len() == MAX_STATES {
                    return self.program.is_match(path);
                }
                let from = &self.states[state];
                let position =
                    Position::new(Some(byte.into()), from.rest, Preceding { is_start, unit: None });
                let later = from.live.clone();
                self.next[cell] = self.state(&position, &later);
            }
            state = self.next[cell].into();
        }
        self.states[state].live[self.program.start]
    }

    fn representative(&mut self, byte: u8) -> u8 {
        let known = self.representatives[usize::from(byte)];
        if known != UNCLASSIFIED {
            return known;
        }
        let representative = match self.program.memberships(byte) {
            None => byte,
            Some(memberships) => match self.unnamed.iter().find(|row| row.0 == memberships) {
                Some(row) => row.1,
                None => {
                    self.unnamed.push((memberships, byte));
                    byte
                }
            },
        };
        self.representatives[usize::from(byte)] = representative;
        representative
    }

    fn state(&mut self, position: &Position, later: &[bool]) -> u16 {
        let mut live = vec![false; later.len()].into_boxed_slice();
        self.program.step(position, later, &mut live);
        let fresh = u16::try_from(self.states.len()).unwrap_or(UNKNOWN);
        let found = *self.known.entry((packed(&live), position.rest)).or_insert(fresh);
        if found == fresh {
            let outcome = self.program.outcome(&live);
            self.states.push(State { live, rest: position.rest, outcome });
            self.next.resize(self.next.len() + ROW, UNKNOWN);
        }
        found
    }
}

fn packed(live: &[bool]) -> Box<[u64]> {
    let word = |part: &[bool]| part.iter().rev().fold(0, |word, is_live| word << 1 | u64::from(*is_live));
    live.chunks(64).map(word).collect()
}
