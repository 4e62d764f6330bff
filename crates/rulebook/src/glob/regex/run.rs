//! Runs a program over a path, from its last unit to its first.

use super::is_line_break;
use super::node::Assertion;
use super::program::{Inst, Part, Program, Take};

impl Program {
    /// Whether the expression is found in `path`.
    ///
    /// Takes time in proportion to the program times the path; nested loops count as often as they
    /// are nested.
    pub(in super::super) fn is_match(&self, path: &str) -> bool {
        let units: Vec<u16> = path.encode_utf16().collect();
        let Some(main) = self.parts.last() else { return false };
        let mut run = Run {
            program: self,
            units: &units,
            live: vec![false; self.code.len()],
            later: vec![false; self.code.len()],
        };
        for at in (0..=units.len()).rev() {
            std::mem::swap(&mut run.live, &mut run.later);
            for part in &self.parts {
                run.settle(*part, at);
            }
            if !self.is_anchored && run.live[main.start] {
                return true;
            }
            // The last instruction, which accepts, is always live.
            if self.is_anchored && !run.live[main.start..main.end - 1].contains(&true) {
                return false;
            }
        }
        run.live[main.start]
    }
}

struct Run<'r> {
    program: &'r Program,
    units: &'r [u16],
    /// From which instructions the rest of the path, from here on, can be matched.
    live: Vec<bool>,
    /// The same, one unit further on.
    later: Vec<bool>,
}

impl Run<'_> {
    fn settle(&mut self, part: Part, at: usize) {
        if !part.has_loops {
            self.pass(part, at);
            return;
        }
        // A loop learns at its head what its end needs to know, so it takes another pass.
        self.live[part.start..part.end].fill(false);
        while self.pass(part, at) {}
    }

    /// Whether any instruction came to live or ceased to.
    fn pass(&mut self, part: Part, at: usize) -> bool {
        let mut changed = false;
        for i in (part.start..part.end).rev() {
            let live = match self.program.code[i] {
                Inst::Accept => true,
                Inst::One(take) => self.later[i + 1] && self.takes(take, at),
                Inst::Many(take) => self.live[i + 1] || (self.later[i] && self.takes(take, at)),
                Inst::Assert(assertion) => self.live[i + 1] && self.holds(assertion, at),
                Inst::Look { start, negated } => self.live[i + 1] && self.live[start] != negated,
                Inst::Split(to) => self.live[i + 1] || self.live[to],
                Inst::Jump(to) => self.live[to],
            };
            changed |= self.live[i] != live;
            self.live[i] = live;
        }
        changed
    }

    fn takes(&self, take: Take, at: usize) -> bool {
        let Some(&unit) = self.units.get(at) else { return false };
        match take {
            Take::Unit(wanted) => unit == wanted,
            Take::Any => !is_line_break(unit),
            Take::Stride => !is_line_break(unit) && self.has_no_dots_beyond(at),
            Take::Class(class) => self.program.classes[class].contains(unit),
        }
    }

    fn holds(&self, assertion: Assertion, at: usize) -> bool {
        match assertion {
            Assertion::Start => at == 0,
            Assertion::End => at == self.units.len(),
            Assertion::WordEdge { negated } => {
                let before = at.checked_sub(1).is_some_and(|at| self.is_word(at));
                (before != self.is_word(at)) != negated
            }
            Assertion::Something => self.units.get(at).is_some_and(|&unit| !is_line_break(unit)),
            Assertion::NoDots => !self.starts_dots(at),
            Assertion::NoDotsBeyond => self.has_no_dots_beyond(at),
            Assertion::NoLoneDot => {
                !self.ends_segment(at) && !(self.is(at, b'.') && self.ends_segment(at + 1))
            }
        }
    }

    fn has_no_dots_beyond(&self, at: usize) -> bool {
        !(at == 0 && self.starts_dots(at)) && !(self.is(at, b'/') && self.starts_dots(at + 1))
    }

    fn starts_dots(&self, at: usize) -> bool {
        self.is(at, b'.')
            && (self.ends_segment(at + 1) || (self.is(at + 1, b'.') && self.ends_segment(at + 2)))
    }

    fn ends_segment(&self, at: usize) -> bool {
        at == self.units.len() || self.is(at, b'/')
    }

    fn is(&self, at: usize, byte: u8) -> bool {
        self.units.get(at) == Some(&byte.into())
    }

    fn is_word(&self, at: usize) -> bool {
        let unit = self.units.get(at).and_then(|&unit| u8::try_from(unit).ok());
        unit.is_some_and(|c| c.is_ascii_alphanumeric() || c == b'_')
    }
}
