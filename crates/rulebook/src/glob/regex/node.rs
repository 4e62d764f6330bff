//! The expression as a tree.

use super::class::Class;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) enum Node {
    One(Step),
    Assert(Assertion),
    LookAhead {
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
    /// Any text within a segment that `body` does not match.
    Not(Box<Node>),
}

/// Matches one code unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) enum Step {
    Unit(u16),
    /// Any unit except for a line break.
    Any,
    /// As `Any`, unless a `.` or `..` segment starts here.
    GlobstarUnit,
    Class(Class),
}

/// Holds at a position without consuming a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Assertion {
    Start,
    End,
    WordEdge {
        negated: bool,
    },
    /// A unit follows, and it is not a line break.
    Something,
    /// No `.` or `..` segment starts here.
    NoDots,
    /// No `.` or `..` segment starts here or after a slash here.
    NoDotsBeyond,
    /// The segment ends neither here nor after one dot.
    NoLoneDot,
    /// The unit before belongs to the same segment.
    Inside,
}

impl Node {
    /// The number of nodes. Compiling takes at least as many steps.
    pub(in super::super) fn count(&self) -> usize {
        let inside = match self {
            Node::One(_) | Node::Assert(_) => 0,
            Node::LookAhead { body, .. } | Node::Repeat { body, .. } | Node::Not(body) => body.count(),
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

    /// Whether it can match the empty text.
    pub(in super::super) fn is_nullable(&self) -> bool {
        match self {
            Node::One(_) => false,
            Node::Assert(_) | Node::LookAhead { .. } => true,
            Node::Sequence(nodes) => nodes.iter().all(Node::is_nullable),
            Node::Either(nodes) => nodes.iter().any(Node::is_nullable),
            Node::Repeat { body, min, .. } => *min == 0 || body.is_nullable(),
            Node::Not(body) => !body.is_nullable(),
        }
    }
}
