//! What a rule requires of paths, compared with many files.

use crate::condition::{Facts, MatchMode, PathExpression};

impl<'c> PathExpression<'c> {
    /// Visits the expression and all its parts.
    pub(crate) fn visit(&self, visitor: &mut impl FnMut(&PathExpression<'c>)) {
        visitor(self);
        match self {
            PathExpression::Not(inner) => inner.visit(visitor),
            PathExpression::Joined(_, parts) => parts.iter().for_each(|part| part.visit(visitor)),
            PathExpression::Paths(_)
            | PathExpression::Below(..)
            | PathExpression::Other(_)
            | PathExpression::Never => {}
        }
    }

    /// Whether it depends on paths.
    pub(super) fn is_bound(&self) -> bool {
        let mut is_bound = false;
        self.visit(&mut |shape| {
            is_bound |=
                matches!(shape, PathExpression::Paths(_) | PathExpression::Below(..) | PathExpression::Never);
        });
        is_bound
    }

    /// Whether matching paths are enough, regardless of other conditions.
    pub(super) fn suffices(&self) -> bool {
        match self {
            PathExpression::Paths(_) | PathExpression::Below(..) | PathExpression::Never => true,
            PathExpression::Other(_) => false,
            PathExpression::Not(inner) => {
                let mut has_others = false;
                inner.visit(&mut |shape| has_others |= matches!(shape, PathExpression::Other(_)));
                !has_others
            }
            PathExpression::Joined(MatchMode::All, parts) => parts.iter().all(PathExpression::suffices),
            PathExpression::Joined(MatchMode::Any, parts) => {
                let mut on_paths =
                    parts.iter().filter(|part| !matches!(part, PathExpression::Other(_))).peekable();
                (on_paths.peek().is_some() || parts.is_empty()) && on_paths.all(PathExpression::suffices)
            }
        }
    }

    /// Returns the positions of the paths that match, ascending; `None` if it does not depend on paths.
    pub(super) fn met(&self, facts: &Facts<'_>) -> Option<Vec<usize>> {
        match self {
            PathExpression::Paths(paths) => Some(paths.find(facts)),
            PathExpression::Below(root, "") => {
                let files = facts.evidence.paths.iter().enumerate();
                Some(files.filter(|(_, seen)| seen.root == *root).map(|(at, _)| at).collect())
            }
            PathExpression::Below(root, folder) => Some(facts.below(*root, folder).to_vec()),
            PathExpression::Other(_) => None,
            PathExpression::Never => Some(Vec::new()),
            PathExpression::Not(inner) => {
                let met = inner.met(facts)?;
                let all = 0..facts.evidence.paths.len();
                Some(all.filter(|at| met.binary_search(at).is_err()).collect())
            }
            PathExpression::Joined(how, parts) => {
                let join = match how {
                    MatchMode::All => |a, b: Vec<usize>| both(a, &b),
                    MatchMode::Any => either,
                };
                parts.iter().filter_map(|part| part.met(facts)).reduce(join)
            }
        }
    }
}

pub(super) fn both(mut a: Vec<usize>, b: &[usize]) -> Vec<usize> {
    a.retain(|at| b.binary_search(at).is_ok());
    a
}

fn either(mut a: Vec<usize>, b: Vec<usize>) -> Vec<usize> {
    a.extend(b);
    a.sort_unstable();
    a.dedup();
    a
}
