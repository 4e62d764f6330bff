//! A program that remembers the sets it has seen, for asking about many paths.

use std::collections::HashMap;

use super::program::Program;
use super::run::{Here, Outcome, Place, Shape};

/// Steps already taken, so that an ASCII path costs one look-up a character.
pub(in super::super) struct Lazy<'g> {
    program: &'g Program,
    states: Vec<State>,
    known: HashMap<(Box<[bool]>, Shape), u16>,
    /// For each state and character the next state: first within the path, then at its start.
    next: Vec<u16>,
    /// For each byte one that takes the same steps, or `UNTOLD`.
    alike: [u8; 128],
    /// Bytes that no instruction names, by what they are to the classes.
    unnamed: Vec<(u64, u8)>,
}

struct State {
    live: Box<[bool]>,
    shape: Shape,
    outcome: Outcome,
}

const UNKNOWN: u16 = u16::MAX;
const UNTOLD: u8 = u8::MAX;
const ROW: usize = 256;
/// Past this many, a path is run without remembering more.
const MAX_STATES: usize = 1000;

impl<'g> Lazy<'g> {
    /// `None` for the programs whose steps look further back than one character.
    pub(in super::super) fn new(program: &'g Program) -> Option<Lazy<'g>> {
        if program.looks_back {
            return None;
        }
        let mut lazy = Lazy {
            program,
            states: Vec::new(),
            known: HashMap::new(),
            next: Vec::new(),
            alike: [UNTOLD; 128],
            unnamed: Vec::new(),
        };
        let later = vec![false; program.code.len()];
        let here = Here::new(None, Shape::End, Place { is_start: false, before: None });
        lazy.state(&here, &later);
        Some(lazy)
    }

    pub(in super::super) fn is_match(&mut self, path: &str) -> bool {
        if path.is_empty() || !path.is_ascii() {
            return self.program.is_match(path);
        }
        let mut state = 0;
        for (at, byte) in path.bytes().enumerate().rev() {
            match self.states[state].outcome {
                Outcome::Open => {}
                Outcome::Found => return true,
                Outcome::Dead => return false,
            }
            let is_start = at == 0;
            let byte = self.alike(byte);
            let cell = state * ROW + usize::from(byte) + if is_start { ROW / 2 } else { 0 };
            if self.next[cell] == UNKNOWN {
                if self.states.len() == MAX_STATES {
                    return self.program.is_match(path);
                }
                let from = &self.states[state];
                let here = Here::new(Some(byte.into()), from.shape, Place { is_start, before: None });
                let later = from.live.clone();
                self.next[cell] = self.state(&here, &later);
            }
            state = self.next[cell].into();
        }
        self.states[state].live[self.program.start]
    }

    fn alike(&mut self, byte: u8) -> u8 {
        let known = self.alike[usize::from(byte)];
        if known != UNTOLD {
            return known;
        }
        let alike = match self.program.traits_of(byte) {
            None => byte,
            Some(traits) => match self.unnamed.iter().find(|row| row.0 == traits) {
                Some(row) => row.1,
                None => {
                    self.unnamed.push((traits, byte));
                    byte
                }
            },
        };
        self.alike[usize::from(byte)] = alike;
        alike
    }

    fn state(&mut self, here: &Here, later: &[bool]) -> u16 {
        let mut live = vec![false; later.len()].into_boxed_slice();
        self.program.step(here, later, &mut live);
        let fresh = u16::try_from(self.states.len()).unwrap_or(UNKNOWN);
        let found = *self.known.entry((live.clone(), here.shape)).or_insert(fresh);
        if found == fresh {
            let outcome = self.program.outcome(&live);
            self.states.push(State { live, shape: here.shape, outcome });
            self.next.resize(self.next.len() + ROW, UNKNOWN);
        }
        found
    }
}
