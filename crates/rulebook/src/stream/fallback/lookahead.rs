//! How far the look-ahead of a pattern extends, and whether the pattern can match at all.

use fancy_regex::{Assertion, AstNode, Expr, LookAround};

use crate::stream::pattern::{NEVER, contains};

/// The assumed length of an unbounded look-ahead in bytes.
const MARGIN: usize = 256;

/// The text after a match that the match depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Lookahead {
    /// The maximum number of bytes.
    pub(super) bytes: usize,
    /// Whether it may extend beyond the end of the line.
    pub(super) leaves_line: bool,
}

impl Lookahead {
    /// It depends on the rest of the whole text.
    pub(super) const END: Lookahead = Lookahead { bytes: usize::MAX, leaves_line: true };
    /// The length is unknown.
    const UNKNOWN: Lookahead = Lookahead { bytes: MARGIN, leaves_line: true };

    /// The look-ahead of an expression, including its anchors.
    pub(super) fn of(expr: &Expr) -> Lookahead {
        match expr {
            Expr::LookAround(ahead, LookAround::LookAhead | LookAround::LookAheadNeg) => {
                Lookahead::over(ahead)
            }
            Expr::Assertion(Assertion::EndText) => Lookahead::END,
            Expr::Assertion(_) => Lookahead { bytes: 4, leaves_line: false },
            _ => children(expr).map(Lookahead::of).fold(Lookahead::default(), Lookahead::or),
        }
    }

    /// As [`Lookahead::of`], for an expression inside a look-ahead.
    fn over(expr: &Expr) -> Lookahead {
        let within = |bytes: usize, leaves_line: bool| Lookahead { bytes: bytes.min(MARGIN), leaves_line };
        match expr {
            Expr::Empty | Expr::LookAround(_, LookAround::LookBehind | LookAround::LookBehindNeg) => {
                within(0, false)
            }
            Expr::Assertion(_) => Lookahead::of(expr),
            Expr::Any { newline, .. } => within(4, *newline),
            // The other case of a letter may have more bytes.
            Expr::Literal { val, casei } => {
                within(val.len() * if *casei { 3 } else { 1 }, val.contains('\n'))
            }
            Expr::Delegate { inner, .. } => within(4, contains(inner, '\n')),
            Expr::Concat(all) => all.iter().map(Lookahead::over).fold(Lookahead::default(), Lookahead::then),
            Expr::Repeat { child, hi, .. } => {
                let once = Lookahead::over(child);
                let bytes = if once == Lookahead::END {
                    usize::MAX
                } else {
                    once.bytes.saturating_mul(*hi).min(MARGIN)
                };
                Lookahead { bytes, ..once }
            }
            Expr::Alt(_)
            | Expr::Group(_)
            | Expr::LookAround(..)
            | Expr::AtomicGroup(_)
            | Expr::AstNode(AstNode::AstGroup { .. }, _) => {
                children(expr).map(Lookahead::over).fold(Lookahead::default(), Lookahead::or)
            }
            _ => Lookahead::UNKNOWN,
        }
    }

    fn or(self, other: Lookahead) -> Lookahead {
        Lookahead { bytes: self.bytes.max(other.bytes), leaves_line: self.leaves_line || other.leaves_line }
    }

    fn then(self, other: Lookahead) -> Lookahead {
        let both = self.or(other);
        if both == Lookahead::END {
            both
        } else {
            Lookahead { bytes: (self.bytes + other.bytes).min(MARGIN), ..both }
        }
    }
}

pub(super) fn children(expr: &Expr) -> Box<dyn Iterator<Item = &Expr> + '_> {
    match expr {
        Expr::AstNode(AstNode::AstGroup { inner, .. }, _) => Box::new(std::iter::once(inner.as_ref())),
        _ => Box::new(expr.children_iter()),
    }
}

/// Whether the expression never matches, such as `(?!)` or one that requires a character of an empty class.
pub(super) fn never_matches(expr: &Expr) -> bool {
    match expr {
        Expr::Delegate { inner, .. } => inner == NEVER,
        Expr::LookAround(child, LookAround::LookAheadNeg | LookAround::LookBehindNeg) => {
            always_matches(child)
        }
        Expr::Alt(all) => all.iter().all(never_matches),
        Expr::Repeat { lo: 0, .. } => false,
        Expr::Conditional { .. } | Expr::Absent(_) | Expr::DefineGroup { .. } => false,
        _ => children(expr).any(never_matches),
    }
}

/// Whether the expression matches the empty text everywhere.
fn always_matches(expr: &Expr) -> bool {
    match expr {
        Expr::Empty | Expr::Repeat { lo: 0, .. } => true,
        Expr::Concat(_) | Expr::Group(_) | Expr::AstNode(AstNode::AstGroup { .. }, _) => {
            children(expr).all(always_matches)
        }
        Expr::Alt(all) => all.iter().any(always_matches),
        _ => false,
    }
}
