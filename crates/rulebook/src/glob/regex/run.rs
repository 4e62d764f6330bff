//! Runs a program over a path, from its last unit to its first.

use super::class::{DOT, SLASH, is_line_break, is_word};
use super::node::Assertion;
use super::program::{Inst, Part, Program, Take};

impl Program {
    /// Whether the expression matches in `path`.
    ///
    /// Takes time proportional to the size of the program times the length of the path.
    pub(in super::super) fn is_match(&self, path: &str) -> bool {
        let units: Vec<u16> = path.encode_utf16().collect();
        let mut live = vec![false; self.code.len()];
        let mut later = live.clone();
        let mut rest = SegmentRest::End;
        for at in (0..=units.len()).rev() {
            std::mem::swap(&mut live, &mut later);
            let preceding = Preceding { is_start: at == 0, unit: at.checked_sub(1).map(|at| units[at]) };
            let position = Position::new(units.get(at).copied(), rest, preceding);
            rest = position.rest;
            self.step(&position, &later, &mut live);
            match self.outcome(&live) {
                Outcome::Undecided => {}
                Outcome::Match => return true,
                Outcome::NoMatch => return false,
            }
        }
        live[self.start]
    }

    /// Computes the instructions from which the rest of the path matches, given those one unit later.
    pub(super) fn step(&self, position: &Position, later: &[bool], live: &mut [bool]) {
        for part in &self.parts {
            self.evaluate_backward(*part, position, later, live);
            self.follow_loops(*part, position, live);
        }
    }

    /// What is certain before the start of the path is reached.
    pub(super) fn outcome(&self, live: &[bool]) -> Outcome {
        // The last instruction, which accepts, is always live.
        let end = live.len() - 1;
        match self.is_anchored {
            true if !live[self.start..end].contains(&true) => Outcome::NoMatch,
            false if live[self.start] => Outcome::Match,
            _ => Outcome::Undecided,
        }
    }

    /// Visits every instruction once, last to first; treats backward jumps as not live.
    fn evaluate_backward(&self, part: Part, position: &Position, later: &[bool], live: &mut [bool]) {
        let mut next = false;
        for i in (part.start..part.end).rev() {
            next = match self.code[i] {
                Inst::Accept => true,
                Inst::One(take) => later[i + 1] && self.takes(take, position),
                Inst::Or(take, to) => next || (later[to] && self.takes(take, position)),
                Inst::Assert(assertion) => next && position.holds(assertion),
                Inst::LookAhead { start, negated } => next && live[start] != negated,
                Inst::Split(to) => next || live[to],
                Inst::Jump(to) => to > i && live[to],
            };
            live[i] = next;
        }
    }

    /// Makes backward jumps to live instructions live, and everything that leads to them. Visits each instruction at most once.
    fn follow_loops(&self, part: Part, position: &Position, live: &mut [bool]) {
        let mut fresh = Vec::new();
        let from = self.loops.partition_point(|&jump| jump < part.start);
        for &jump in self.loops[from..].iter().take_while(|&&jump| jump < part.end) {
            if matches!(self.code[jump], Inst::Jump(head) if live[head]) {
                mark_live(jump, live, &mut fresh);
            }
        }
        while let Some(at) = fresh.pop() {
            let from = self.sources.partition_point(|source| source.0 < at);
            for &(_, source) in self.sources[from..].iter().take_while(|source| source.0 == at) {
                mark_live(source, live, &mut fresh);
            }
            let previous_leads_here = match self.code[part.start..at].last() {
                Some(Inst::Or(..) | Inst::Split(_)) => true,
                Some(Inst::Assert(assertion)) => position.holds(*assertion),
                Some(Inst::LookAhead { start, negated }) => live[*start] != *negated,
                Some(Inst::Accept | Inst::One(_) | Inst::Jump(_)) | None => false,
            };
            if previous_leads_here {
                mark_live(at - 1, live, &mut fresh);
            }
        }
    }

    fn takes(&self, take: Take, position: &Position) -> bool {
        let Some(unit) = position.unit else { return false };
        match take {
            Take::Unit(wanted) => unit == wanted,
            Take::Any => !is_line_break(unit),
            Take::GlobstarUnit => !is_line_break(unit) && position.has_no_dots_beyond(),
            Take::Class(class) => self.classes[class].contains(unit),
        }
    }
}

fn mark_live(at: usize, live: &mut [bool], fresh: &mut Vec<usize>) {
    if !std::mem::replace(&mut live[at], true) {
        fresh.push(at);
    }
}

/// The result, as far as it is known while reading the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Undecided,
    Match,
    NoMatch,
}

/// The rest of the segment after a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum SegmentRest {
    /// Empty: the segment ends here.
    End,
    /// One dot.
    Dot,
    /// Two dots.
    Dots,
    Other,
}

impl SegmentRest {
    fn before(self, unit: u16) -> SegmentRest {
        match (unit, self) {
            (SLASH, _) => SegmentRest::End,
            (DOT, SegmentRest::End) => SegmentRest::Dot,
            (DOT, SegmentRest::Dot) => SegmentRest::Dots,
            _ => SegmentRest::Other,
        }
    }

    fn is_dots(self) -> bool {
        matches!(self, SegmentRest::Dot | SegmentRest::Dots)
    }
}

/// A position in a path.
pub(super) struct Position {
    /// The next unit; `None` at the end.
    unit: Option<u16>,
    preceding: Preceding,
    pub(super) rest: SegmentRest,
    /// The rest one unit later.
    next: SegmentRest,
}

/// What is before a position.
pub(super) struct Preceding {
    pub(super) is_start: bool,
    pub(super) unit: Option<u16>,
}

impl Position {
    pub(super) fn new(unit: Option<u16>, next: SegmentRest, preceding: Preceding) -> Position {
        Position { unit, preceding, rest: unit.map_or(SegmentRest::End, |unit| next.before(unit)), next }
    }

    fn holds(&self, assertion: Assertion) -> bool {
        match assertion {
            Assertion::Start => self.preceding.is_start,
            Assertion::End => self.unit.is_none(),
            Assertion::WordEdge { negated } => {
                (self.preceding.unit.is_some_and(is_word) != self.unit.is_some_and(is_word)) != negated
            }
            Assertion::Something => self.unit.is_some_and(|unit| !is_line_break(unit)),
            Assertion::NoDots => !self.rest.is_dots(),
            Assertion::NoDotsBeyond => self.has_no_dots_beyond(),
            Assertion::NoLoneDot => !matches!(self.rest, SegmentRest::End | SegmentRest::Dot),
            Assertion::Inside => self.preceding.unit.is_some_and(|unit| unit != SLASH),
        }
    }

    fn has_no_dots_beyond(&self) -> bool {
        let begins_dots = self.preceding.is_start && self.rest.is_dots();
        let leads_to_dots = self.unit == Some(SLASH) && self.next.is_dots();
        !begins_dots && !leads_to_dots
    }
}
