//! How many bytes one step of a search can inspect: a step may run a whole part of a pattern, such as `a*`, over a text.

use std::cell::Cell;

use fancy_regex::{AstNode, Expr};

use crate::stream::pattern::ascii_members;

/// The maximum count of a repetition that is taken as written out.
const MAX_WRITTEN_OUT: usize = 64;

/// The number of states that inspect a byte together in about the time that one does.
const STATES_PER_UNIT: usize = 32;

/// The maximum number of accesses of a search whose work is not computed.
const FEW: usize = 256;

/// The most repetitions that are looked at separately.
const MAX_RUNS: usize = 16;

/// The bytes that one step of a pattern can inspect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reach {
    /// The states of the pattern with its counts expanded.
    states: usize,
    /// The bytes that each repetition that may be long can run over.
    runs: Vec<[bool; 256]>,
    /// Whether what a group matched is compared again.
    has_references: bool,
}

impl Reach {
    pub(super) fn of(expr: &Expr) -> Reach {
        let mut reach = Reach { states: 0, runs: Vec::new(), has_references: false };
        reach.states = reach.add(expr, &mut Vec::new());
        reach
    }

    /// The maximum work of one step in a text.
    pub(super) fn within(&self, text: &str) -> usize {
        let longest = |runs: &[bool; 256]| {
            text.as_bytes().split(|byte| !runs[usize::from(*byte)]).map(<[u8]>::len).max().unwrap_or(0)
        };
        let runs: usize = self.runs.iter().map(longest).sum();
        let bytes = (self.states / 8).saturating_add(runs << usize::from(self.has_references));
        bytes.min(text.len()).max(1).saturating_mul(1 + self.states / STATES_PER_UNIT)
    }

    /// Adds an expression, which is inside of these long repetitions; returns its states.
    fn add(&mut self, expr: &Expr, open: &mut Vec<usize>) -> usize {
        match expr {
            Expr::Repeat { child, hi, .. } => {
                let is_long = *hi > MAX_WRITTEN_OUT;
                if is_long {
                    if self.runs.len() < MAX_RUNS {
                        self.runs.push([false; 256]);
                    }
                    open.push(self.runs.len() - 1);
                }
                let once = self.add(child, open);
                if is_long {
                    open.pop();
                }
                once.saturating_mul(if *hi == usize::MAX { 2 } else { *hi })
            }
            Expr::Literal { val, casei } => {
                let is_case = |byte: u8| {
                    val.bytes().any(|other| other == byte || *casei && other.eq_ignore_ascii_case(&byte))
                };
                self.allow(open, |byte| is_case(byte) || *casei && byte >= 0x80);
                val.len()
            }
            Expr::Delegate { inner, .. } => {
                if !open.is_empty() {
                    let members = ascii_members(inner);
                    self.allow(open, |byte| members.get(usize::from(byte)).copied().unwrap_or(true));
                }
                4
            }
            Expr::Any { newline, .. } => {
                self.allow(open, |byte| *newline || byte != b'\n');
                4
            }
            Expr::Empty | Expr::Assertion(_) => 1,
            Expr::Concat(_)
            | Expr::Alt(_)
            | Expr::Group(_)
            | Expr::LookAround(..)
            | Expr::AtomicGroup(_)
            | Expr::Conditional { .. }
            | Expr::AstNode(AstNode::AstGroup { .. }, _) => {
                let children: Vec<&Expr> = super::lookahead::children(expr).collect();
                children.into_iter().fold(0, |sum, child| sum.saturating_add(self.add(child, open)))
            }
            // A back-reference, or something else of any length.
            _ => {
                self.has_references = true;
                self.allow(open, |_| true);
                4
            }
        }
    }

    /// Adds bytes to the repetitions that are open.
    fn allow(&mut self, open: &[usize], is_allowed: impl Fn(u8) -> bool) {
        for &at in open {
            (0..=u8::MAX).for_each(|byte| self.runs[at][usize::from(byte)] |= is_allowed(byte));
        }
    }
}

/// A text that counts how often a search accesses it.
pub(super) struct Metered<'t> {
    text: &'t str,
    accesses: Cell<usize>,
}

impl Metered<'_> {
    pub(super) fn new(text: &str) -> Metered<'_> {
        Metered { text, accesses: Cell::new(0) }
    }

    /// The work of the search so far. A part that inspects many bytes, and the step to it, access the text four times.
    pub(super) fn work(&self, reach: &Reach) -> usize {
        match self.accesses.get() {
            few @ 0..FEW => few,
            accesses => (accesses / 4).saturating_mul(reach.within(self.text)),
        }
    }

    fn count(&self) {
        self.accesses.set(self.accesses.get() + 1);
    }
}

impl fancy_regex::Input for Metered<'_> {
    type Match<'t>
        = (usize, usize)
    where
        Self: 't;

    fn len(&self) -> usize {
        self.count();
        self.text.len()
    }

    fn as_bytes(&self) -> &[u8] {
        self.count();
        self.text.as_bytes()
    }

    fn is_char_boundary(&self, at: usize) -> bool {
        self.text.is_char_boundary(at)
    }

    fn is_ascii(&self) -> bool {
        self.text.is_ascii()
    }

    fn prev_codepoint_ix(&self, at: usize) -> usize {
        fancy_regex::Input::prev_codepoint_ix(self.text, at)
    }

    fn make_match(&self, start: usize, end: usize) -> (usize, usize) {
        (start, end)
    }

    fn advance_position(&self, at: usize) -> usize {
        fancy_regex::Input::advance_position(self.text, at)
    }
}
