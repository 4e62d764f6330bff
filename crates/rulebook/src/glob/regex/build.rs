//! Builds expressions directly, for translators that do not write JavaScript's syntax.

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use super::super::error::{GlobError, MAX_STEPS};
use super::class::{Class, DOT, Range, SLASH, fold_unit};
use super::node::{Assertion, Node, Step};

const SURROGATES: Range = (0xd800, 0xdfff);

impl Node {
    pub(in super::super) fn empty() -> Node {
        Node::Sequence(Vec::new())
    }

    /// Never matches.
    pub(in super::super) fn never() -> Node {
        Node::One(Step::Class(Class::default()))
    }

    pub(in super::super) fn char(c: char) -> Node {
        let units: Vec<Node> =
            c.encode_utf16(&mut [0; 2]).iter().map(|&unit| Node::One(Step::Unit(unit))).collect();
        one_or(units, Node::Sequence)
    }

    /// Any unit of a segment.
    pub(in super::super) fn segment_unit() -> Node {
        Node::One(Step::Class(excluding(&[(SLASH, SLASH)])))
    }

    /// A unit of a segment other than a dot.
    pub(in super::super) fn visible_unit() -> Node {
        Node::One(Step::Class(excluding(&[(SLASH, SLASH), (DOT, DOT)])))
    }

    /// A whole character of a segment, which may be two units.
    pub(in super::super) fn segment_char() -> Node {
        let single = Node::One(Step::Class(excluding(&[(SLASH, SLASH), SURROGATES])));
        let pair = Node::Sequence(vec![units(0xd800, 0xdbff), units(0xdc00, 0xdfff)]);
        Node::Either(vec![single, pair])
    }

    /// One character of a set, except for a slash.
    pub(in super::super) fn one_of(set: &ClassUnicode) -> Node {
        let mut set = set.clone();
        set.difference(&ClassUnicode::new([ClassUnicodeRange::new('/', '/')]));
        let mut single = Vec::new();
        let mut branches = Vec::new();
        for range in set.ranges() {
            let (low, high) = (u32::from(range.start()), u32::from(range.end()));
            if low <= 0xffff {
                single.push((low as u16, high.min(0xffff) as u16));
            }
            if high > 0xffff {
                pairs(low.max(0x1_0000), high, &mut branches);
            }
        }
        branches.push(Node::One(Step::Class(Class::of(single))));
        one_or(branches, Node::Either)
    }

    pub(in super::super) fn any_number(body: Node) -> Node {
        Node::Repeat { body: Box::new(body), min: 0, max: None }
    }

    pub(in super::super) fn optional(body: Node) -> Node {
        Node::Repeat { body: Box::new(body), min: 0, max: Some(1) }
    }

    /// Holds if `body` matches next or, if negated, does not.
    pub(in super::super) fn look_ahead(body: Node, negated: bool) -> Node {
        Node::LookAhead { body: Box::new(body), negated }
    }

    /// Holds inside a segment, after its first unit.
    pub(in super::super) fn inside() -> Node {
        Node::Assert(Assertion::Inside)
    }

    /// The same expression for folded paths.
    pub(super) fn folded(self) -> Node {
        let all = |nodes: Vec<Node>| nodes.into_iter().map(Node::folded).collect();
        match self {
            Node::One(Step::Unit(unit)) => Node::One(Step::Unit(fold_unit(unit))),
            Node::One(Step::Class(class)) => Node::One(Step::Class(class.folded())),
            Node::LookAhead { body, negated } => Node::LookAhead { body: Box::new(body.folded()), negated },
            Node::Sequence(nodes) => Node::Sequence(all(nodes)),
            Node::Either(nodes) => Node::Either(all(nodes)),
            Node::Repeat { body, min, max } => Node::Repeat { body: Box::new(body.folded()), min, max },
            Node::Not(body) => Node::Not(Box::new(body.folded())),
            node @ (Node::One(_) | Node::Assert(_)) => node,
        }
    }

    /// Matches a whole path by any of the alternatives.
    ///
    /// Stops at the first alternative beyond the size limit: building all of them first may take too much memory.
    pub(in super::super) fn whole<E: From<GlobError>>(
        alternatives: impl Iterator<Item = Result<Node, E>>,
    ) -> Result<Node, E> {
        let mut branches = Vec::new();
        let mut steps = 0;
        for alternative in alternatives {
            let alternative = alternative?;
            steps += alternative.count();
            if steps > MAX_STEPS {
                return Err(GlobError::TooLarge.into());
            }
            branches.push(alternative);
        }
        let body = one_or(branches, Node::Either);
        Ok(Node::Sequence(vec![Node::Assert(Assertion::Start), body, Node::Assert(Assertion::End)]))
    }
}

fn units(low: u16, high: u16) -> Node {
    Node::One(Step::Class(Class::of(vec![(low, high)])))
}

fn excluding(ranges: &[Range]) -> Class {
    Class::of(ranges.to_vec()).negated()
}

/// The surrogate pairs of the characters from `low` to `high`, split where the first unit changes.
fn pairs(low: u32, high: u32, branches: &mut Vec<Node>) {
    let first = |c: u32| (0xd800 + ((c - 0x1_0000) >> 10)) as u16;
    let second = |c: u32| (0xdc00 + ((c - 0x1_0000) & 0x3ff)) as u16;
    let mut pair = |a: (u16, u16), b: (u16, u16)| {
        branches.push(Node::Sequence(vec![units(a.0, a.1), units(b.0, b.1)]));
    };
    let (from, to) = (first(low), first(high));
    if from == to {
        return pair((from, from), (second(low), second(high)));
    }
    pair((from, from), (second(low), 0xdfff));
    if to - from > 1 {
        pair((from + 1, to - 1), (0xdc00, 0xdfff));
    }
    pair((to, to), (0xdc00, second(high)));
}

fn one_or(mut nodes: Vec<Node>, join: fn(Vec<Node>) -> Node) -> Node {
    if nodes.len() == 1 { nodes.remove(0) } else { join(nodes) }
}
