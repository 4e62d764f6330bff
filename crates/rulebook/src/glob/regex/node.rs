//! The expression as a tree, and the literals it cannot match without.

use super::class::Class;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) enum Node {
    One(Step),
    Assert(Assertion),
    Look {
        body: Box<Node>,
        negated: bool,
    },
    Sequence(Vec<Node>),
    Either(Vec<Node>),
    Repeat {
        body: Box<Node>,
        min: u32,
        max: Option<u32>,
    },
    /// Any run within a segment that `body` does not match.
    Not(Box<Node>),
}

/// Something that takes one code unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) enum Step {
    Unit(u16),
    /// Anything but a line break.
    Any,
    /// As `Any`, where no `.` or `..` segment begins.
    Stride,
    Class(Class),
}

/// Something that holds at a position and takes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Assertion {
    Start,
    End,
    WordEdge {
        negated: bool,
    },
    /// One more unit that is no line break.
    Something,
    /// No `.` or `..` segment starts here.
    NoDots,
    /// Nor after the slash here.
    NoDotsBeyond,
    /// No segment end here or after one dot.
    NoLoneDot,
    /// The unit before belongs to the same segment.
    Inside,
}

/// Literals at both ends of every match; trailing slashes are left out of account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Needs {
    pub(in super::super) prefix: String,
    pub(in super::super) suffix: String,
}

impl Node {
    /// How many nodes it is made of: compiling takes as many steps, or more.
    pub(in super::super) fn count(&self) -> usize {
        let inside = match self {
            Node::One(_) | Node::Assert(_) => 0,
            Node::Look { body, .. } | Node::Repeat { body, .. } | Node::Not(body) => body.count(),
            Node::Sequence(nodes) | Node::Either(nodes) => nodes.iter().map(Node::count).sum(),
        };
        inside + 1
    }

    /// Whether every match starts at the start and ends at the end.
    pub(super) fn is_anchored(&self) -> bool {
        let Node::Sequence(nodes) = self else { return false };
        nodes.first() == Some(&Node::Assert(Assertion::Start))
            && nodes.last() == Some(&Node::Assert(Assertion::End))
    }

    /// Whether it can match without taking anything.
    pub(in super::super) fn is_nullable(&self) -> bool {
        match self {
            Node::One(_) => false,
            Node::Assert(_) | Node::Look { .. } => true,
            Node::Sequence(nodes) => nodes.iter().all(Node::is_nullable),
            Node::Either(nodes) => nodes.iter().any(Node::is_nullable),
            Node::Repeat { body, min, .. } => *min == 0 || body.is_nullable(),
            Node::Not(body) => !body.is_nullable(),
        }
    }

    pub(super) fn needs(&self) -> Needs {
        if !self.is_anchored() {
            return Needs::default();
        }
        let mut prefix = Vec::new();
        self.lead(&mut prefix);
        let mut suffix = Vec::new();
        self.trail(&mut suffix);
        suffix.reverse();
        Needs { prefix: decode_start(&prefix), suffix: decode_end(&suffix) }
    }

    /// Collects literals from the start; false at the first thing that is none.
    fn lead(&self, units: &mut Vec<u16>) -> bool {
        match self {
            Node::One(Step::Unit(unit)) => {
                units.push(*unit);
                true
            }
            Node::Assert(_) | Node::Look { .. } => true,
            Node::Sequence(nodes) => nodes.iter().all(|node| node.lead(units)),
            _ => false,
        }
    }

    fn trail(&self, units: &mut Vec<u16>) -> bool {
        const SLASH: u16 = b'/' as u16;
        match self {
            Node::One(Step::Unit(SLASH)) if units.is_empty() => true,
            Node::One(Step::Unit(unit)) => {
                units.push(*unit);
                true
            }
            Node::Assert(_) | Node::Look { .. } => true,
            Node::Sequence(nodes) => nodes.iter().rev().all(|node| node.trail(units)),
            Node::Repeat { body, .. } => units.is_empty() && **body == Node::One(Step::Unit(SLASH)),
            _ => false,
        }
    }
}

fn decode_start(units: &[u16]) -> String {
    char::decode_utf16(units.iter().copied()).map_while(Result::ok).collect()
}

fn decode_end(units: &[u16]) -> String {
    let decoded: Vec<_> = char::decode_utf16(units.iter().copied()).collect();
    let bad = decoded.iter().rposition(Result::is_err).map_or(0, |at| at + 1);
    decoded.into_iter().skip(bad).filter_map(Result::ok).collect()
}
