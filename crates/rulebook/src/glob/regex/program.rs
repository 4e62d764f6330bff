//! The expression as a list of instructions.

use super::class::{Class, is_line_break};
use super::node::Assertion;

/// An expression ready to run.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Program {
    pub(super) code: Vec<Inst>,
    pub(super) classes: Vec<Class>,
    /// The part of a look-ahead precedes the parts that use it; the last part is the whole expression.
    pub(super) parts: Vec<Part>,
    /// The indices of the backward jumps, ascending. All other transitions that take nothing lead forward.
    pub(super) loops: Vec<usize>,
    /// The target and the index of each split and jump; sorted. Empty without backward jumps.
    pub(super) sources: Vec<(usize, usize)>,
    /// Where the last part starts in `code`.
    pub(super) start: usize,
    pub(super) is_anchored: bool,
    /// The ASCII bytes that instructions name.
    pub(super) named: u128,
    /// Whether a step depends on the unit before it.
    pub(super) looks_back: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Unless stated otherwise, execution continues with the next instruction.
#[derive(Clone, Copy, Debug)]
pub(super) enum Inst {
    One(Take),
    /// Continues with the next instruction or, after taking a unit, with this one. Its own index makes a loop.
    Or(Take, usize),
    Assert(Assertion),
    /// Whether the part at `start` matches here.
    LookAhead {
        start: usize,
        negated: bool,
    },
    /// Continues with the next instruction or with this one.
    Split(usize),
    Jump(usize),
    Accept,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Take {
    Unit(u16),
    Any,
    GlobstarUnit,
    Class(usize),
}

impl Program {
    /// The number of instructions.
    pub(in super::super) fn steps(&self) -> usize {
        self.code.len()
    }

    pub(super) fn find_loops(&mut self) {
        let goes_back = |&(at, inst): &(usize, &Inst)| matches!(inst, Inst::Jump(to) if *to < at);
        self.loops = self.code.iter().enumerate().filter(goes_back).map(|(at, _)| at).collect();
        if self.loops.is_empty() {
            return;
        }
        let source = |(at, inst): (usize, &Inst)| match inst {
            Inst::Split(to) | Inst::Jump(to) => Some((*to, at)),
            _ => None,
        };
        self.sources = self.code.iter().enumerate().filter_map(source).collect();
        self.sources.sort_unstable();
    }

    /// The class memberships of a byte, as bits. `None` if an instruction names the byte.
    pub(super) fn memberships(&self, byte: u8) -> Option<u64> {
        if self.named >> byte & 1 == 1 || self.classes.len() > 63 {
            return None;
        }
        let unit = u16::from(byte);
        let members = self.classes.iter().map(|class| class.contains(unit));
        Some(members.fold(is_line_break(unit).into(), |bits, is_member| bits << 1 | u64::from(is_member)))
    }
}

/// The work spent on compiling a pattern.
#[derive(Default)]
pub(super) struct Cost {
    /// Instructions written.
    pub(super) steps: usize,
    /// Instructions visited while building complements.
    pub(super) visited: usize,
}

/// The part being written; its targets are relative to its start.
pub(super) type Draft = Vec<Inst>;
