//! Runs a program over a path, from its last unit to its first.

use super::is_line_break;
use super::node::Assertion;
use super::program::{Inst, Part, Program, Take};

impl Program {
    /// Whether the expression is found in `path`.
    ///
    /// Takes time in proportion to the program times the path.
    pub(in super::super) fn is_match(&self, path: &str) -> bool {
        let units: Vec<u16> = path.encode_utf16().collect();
        let mut live = vec![false; self.code.len()];
        let mut later = live.clone();
        let mut shape = Shape::End;
        for at in (0..=units.len()).rev() {
            std::mem::swap(&mut live, &mut later);
            let here = Here::new(
                units.get(at).copied(),
                shape,
                Place { is_start: at == 0, before: at.checked_sub(1).map(|at| units[at]) },
            );
            shape = here.shape;
            self.step(&here, &later, &mut live);
            match self.outcome(&live) {
                Outcome::Open => {}
                Outcome::Found => return true,
                Outcome::Dead => return false,
            }
        }
        live[self.start]
    }

    /// Finds from which instructions the path can be matched here on, given those one unit later.
    pub(super) fn step(&self, here: &Here, later: &[bool], live: &mut [bool]) {
        for part in &self.parts {
            self.pass(*part, here, later, live);
            self.revive(*part, here, live);
        }
    }

    /// What is already certain before the start is reached.
    pub(super) fn outcome(&self, live: &[bool]) -> Outcome {
        // The last instruction, which accepts, is always live.
        let end = live.len() - 1;
        match self.is_anchored {
            true if !live[self.start..end].contains(&true) => Outcome::Dead,
            false if live[self.start] => Outcome::Found,
            _ => Outcome::Open,
        }
    }

    /// One look at every instruction, the last first; jumps back are taken for dead.
    fn pass(&self, part: Part, here: &Here, later: &[bool], live: &mut [bool]) {
        let mut next = false;
        for i in (part.start..part.end).rev() {
            next = match self.code[i] {
                Inst::Accept => true,
                Inst::One(take) => later[i + 1] && self.takes(take, here),
                Inst::Or(take, to) => next || (later[to] && self.takes(take, here)),
                Inst::Assert(assertion) => next && here.holds(assertion),
                Inst::Look { start, negated } => next && live[start] != negated,
                Inst::Split(to) => next || live[to],
                Inst::Jump(to) => to > i && live[to],
            };
            live[i] = next;
        }
    }

    /// Follows the jumps back to where there is life, and what leads to those: each instruction once.
    fn revive(&self, part: Part, here: &Here, live: &mut [bool]) {
        let mut fresh = Vec::new();
        let from = self.loops.partition_point(|&jump| jump < part.start);
        for &jump in self.loops[from..].iter().take_while(|&&jump| jump < part.end) {
            if matches!(self.code[jump], Inst::Jump(head) if live[head]) {
                wake(jump, live, &mut fresh);
            }
        }
        while let Some(at) = fresh.pop() {
            let from = self.sources.partition_point(|source| source.0 < at);
            for &(_, source) in self.sources[from..].iter().take_while(|source| source.0 == at) {
                wake(source, live, &mut fresh);
            }
            let is_led_to = match self.code[part.start..at].last() {
                Some(Inst::Or(..) | Inst::Split(_)) => true,
                Some(Inst::Assert(assertion)) => here.holds(*assertion),
                Some(Inst::Look { start, negated }) => live[*start] != *negated,
                Some(Inst::Accept | Inst::One(_) | Inst::Jump(_)) | None => false,
            };
            if is_led_to {
                wake(at - 1, live, &mut fresh);
            }
        }
    }

    fn takes(&self, take: Take, here: &Here) -> bool {
        let Some(unit) = here.unit else { return false };
        match take {
            Take::Unit(wanted) => unit == wanted,
            Take::Any => !is_line_break(unit),
            Take::Stride => !is_line_break(unit) && here.has_no_dots_beyond(),
            Take::Class(class) => self.classes[class].contains(unit),
        }
    }
}

fn wake(at: usize, live: &mut [bool], fresh: &mut Vec<usize>) {
    if !std::mem::replace(&mut live[at], true) {
        fresh.push(at);
    }
}

/// What is certain while the path is still being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Open,
    Found,
    Dead,
}

/// How the path goes on from a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Shape {
    /// The segment ends.
    End,
    /// A dot, then the segment ends.
    Dot,
    /// Two dots, then the segment ends.
    Dots,
    Other,
}

impl Shape {
    fn before(self, unit: u16) -> Shape {
        const SLASH: u16 = b'/' as u16;
        const DOT: u16 = b'.' as u16;
        match (unit, self) {
            (SLASH, _) => Shape::End,
            (DOT, Shape::End) => Shape::Dot,
            (DOT, Shape::Dot) => Shape::Dots,
            _ => Shape::Other,
        }
    }

    fn is_dots(self) -> bool {
        matches!(self, Shape::Dot | Shape::Dots)
    }
}

/// A position in a path.
pub(super) struct Here {
    /// The unit that follows; none at the end.
    unit: Option<u16>,
    place: Place,
    pub(super) shape: Shape,
    /// The shape one unit later.
    next: Shape,
}

/// What lies before a position.
pub(super) struct Place {
    pub(super) is_start: bool,
    pub(super) before: Option<u16>,
}

impl Here {
    pub(super) fn new(unit: Option<u16>, next: Shape, place: Place) -> Here {
        Here { unit, place, shape: unit.map_or(Shape::End, |unit| next.before(unit)), next }
    }

    fn holds(&self, assertion: Assertion) -> bool {
        match assertion {
            Assertion::Start => self.place.is_start,
            Assertion::End => self.unit.is_none(),
            Assertion::WordEdge { negated } => (is_word(self.place.before) != is_word(self.unit)) != negated,
            Assertion::Something => self.unit.is_some_and(|unit| !is_line_break(unit)),
            Assertion::NoDots => !self.shape.is_dots(),
            Assertion::NoDotsBeyond => self.has_no_dots_beyond(),
            Assertion::NoLoneDot => !matches!(self.shape, Shape::End | Shape::Dot),
            Assertion::Inside => self.place.before.is_some_and(|unit| unit != u16::from(b'/')),
        }
    }

    fn has_no_dots_beyond(&self) -> bool {
        let begins_dots = self.place.is_start && self.shape.is_dots();
        let leads_to_dots = self.unit == Some(b'/'.into()) && self.next.is_dots();
        !begins_dots && !leads_to_dots
    }
}

fn is_word(unit: Option<u16>) -> bool {
    let byte = unit.and_then(|unit| u8::try_from(unit).ok());
    byte.is_some_and(|c| c.is_ascii_alphanumeric() || c == b'_')
}
