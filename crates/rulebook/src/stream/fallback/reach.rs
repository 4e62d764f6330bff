//! How far behind its end a match looks, and whether there can be one.

use fancy_regex::{Assertion, AstNode, Expr, LookAround};

use super::MARGIN;
use crate::stream::pattern::{NEVER, holds};

/// How much text behind a match has a say in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reach {
    /// In bytes, at most; all there will ever be is [`Reach::END`].
    pub(super) most: usize,
    /// Whether what stands behind the line's end has a say too.
    pub(super) leaves_line: bool,
}

impl Reach {
    /// Nothing is sure before the end of the text.
    pub(super) const END: Reach = Reach { most: usize::MAX, leaves_line: true };
    /// What nobody can say is taken for the margin.
    const FAR: Reach = Reach { most: MARGIN, leaves_line: true };

    /// That of an expression: of the look-ahead and the anchors in it.
    pub(super) fn of(expr: &Expr) -> Reach {
        match expr {
            Expr::LookAround(ahead, LookAround::LookAhead | LookAround::LookAheadNeg) => Reach::over(ahead),
            Expr::Assertion(Assertion::EndText) => Reach::END,
            Expr::Assertion(_) => Reach { most: 4, leaves_line: false },
            _ => children(expr).map(Reach::of).fold(Reach::default(), Reach::or),
        }
    }

    /// Over the text that an expression takes.
    fn over(expr: &Expr) -> Reach {
        let signs = |most: usize, leaves_line: bool| Reach { most: most.min(MARGIN), leaves_line };
        match expr {
            Expr::Empty | Expr::LookAround(_, LookAround::LookBehind | LookAround::LookBehindNeg) => {
                signs(0, false)
            }
            Expr::Assertion(_) => Reach::of(expr),
            Expr::Any { newline, .. } => signs(4, *newline),
            // Another case of a letter may take more bytes.
            Expr::Literal { val, casei } => signs(val.len() * if *casei { 3 } else { 1 }, val.contains('\n')),
            Expr::Delegate { inner, .. } => signs(4, holds(inner, '\n')),
            Expr::Concat(all) => all.iter().map(Reach::over).fold(Reach::default(), Reach::then),
            Expr::Repeat { child, hi, .. } => {
                let once = Reach::over(child);
                let most =
                    if once == Reach::END { usize::MAX } else { once.most.saturating_mul(*hi).min(MARGIN) };
                Reach { most, ..once }
            }
            Expr::Alt(_)
            | Expr::Group(_)
            | Expr::LookAround(..)
            | Expr::AtomicGroup(_)
            | Expr::AstNode(AstNode::AstGroup { .. }, _) => {
                children(expr).map(Reach::over).fold(Reach::default(), Reach::or)
            }
            _ => Reach::FAR,
        }
    }

    fn or(self, other: Reach) -> Reach {
        Reach { most: self.most.max(other.most), leaves_line: self.leaves_line || other.leaves_line }
    }

    fn then(self, other: Reach) -> Reach {
        let both = self.or(other);
        if both == Reach::END { both } else { Reach { most: (self.most + other.most).min(MARGIN), ..both } }
    }
}

fn children(expr: &Expr) -> Box<dyn Iterator<Item = &Expr> + '_> {
    match expr {
        Expr::AstNode(AstNode::AstGroup { inner, .. }, _) => Box::new(std::iter::once(inner.as_ref())),
        _ => Box::new(expr.children_iter()),
    }
}

/// Whether nothing can match: `(?!)`, and what has an empty class where it must have a sign.
pub(super) fn is_never(expr: &Expr) -> bool {
    match expr {
        Expr::Delegate { inner, .. } => inner == NEVER,
        Expr::LookAround(child, LookAround::LookAheadNeg | LookAround::LookBehindNeg) => is_always(child),
        Expr::Alt(all) => all.iter().all(is_never),
        Expr::Repeat { lo: 0, .. } => false,
        Expr::Conditional { .. } | Expr::Absent(_) | Expr::DefineGroup { .. } => false,
        _ => children(expr).any(is_never),
    }
}

/// Whether nothing at all matches, wherever it stands.
fn is_always(expr: &Expr) -> bool {
    match expr {
        Expr::Empty | Expr::Repeat { lo: 0, .. } => true,
        Expr::Concat(_) | Expr::Group(_) | Expr::AstNode(AstNode::AstGroup { .. }, _) => {
            children(expr).all(is_always)
        }
        Expr::Alt(all) => all.iter().any(is_always),
        _ => false,
    }
}
