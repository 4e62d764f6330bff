//! The order of delivery: precedence, with the rules that are always on first.

use std::cmp::Reverse;

use crate::rule::{Activation, Rank, Rule};

/// Returns a rule's place in the order of delivery.
///
/// Rules that are always on come first, so that a prompt cache keeps its prefix. Of files found by location, the general
/// one comes before the specific one.
pub(crate) fn delivery_rank(rule: &Rule) -> impl Ord + '_ {
    let Rank { priority, scope, format, depth: Reverse(depth), id, place, path } = rule.rank();
    let is_located = rule.is_located();
    let depth = if is_located { depth } else { usize::MAX - depth };
    let is_conditional = rule.activation != Activation::Always;
    (is_conditional, priority, scope, format, is_located, depth, id, place, path)
}
