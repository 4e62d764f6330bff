//! The order of delivery: precedence, with the rules that are always on first; for an agent's own rules, its own order.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::verdict::{Evaluation, State, Verdict};
use crate::agent::Arrival;
use crate::rule::{Activation, Rule};
use crate::source::Origin;

/// Returns a rule's place in the order of delivery.
///
/// Rules that are always on come first, so that a prompt cache keeps its prefix. Of files found by location, the general
/// one comes before the specific one.
pub(crate) fn delivery_rank(rule: &Rule) -> impl Ord + '_ {
    (rule.activation != Activation::Always, rule.reading_rank())
}

impl<'r> Evaluation<'r> {
    /// Returns the rules that are offered, in the order of delivery; those that a budget cut are among them.
    pub fn offers(&self) -> Vec<&Verdict<'r>> {
        let is_offered = |verdict: &&Verdict<'_>| matches!(verdict.state, State::Offered);
        let mut offers: Vec<&Verdict<'r>> = self.verdicts.iter().filter(is_offered).collect();
        offers.sort_by_cached_key(|offer| delivery_rank(offer.rule));
        offers
    }
}

/// Returns the positions of an agent's rules in the order of its context.
///
/// That is the order of its book. An imported file follows the file that imports it, and rules for paths come last if the
/// agent adds them later.
pub(super) fn native_order(verdicts: &[Verdict<'_>], arrival: Arrival) -> Vec<usize> {
    let mut order = with_imports(verdicts);
    let is_late = |at: usize| !verdicts[at].because.is_empty();
    let depth = |at: usize| verdicts[at].rule.origin.depth();
    match arrival {
        Arrival::AtStart => {}
        Arrival::Later => order.sort_by_key(|at| is_late(*at)),
        Arrival::NestedFirst => order.sort_by_key(|at| (is_late(*at), depth(*at) == 0)),
        Arrival::NestedLast => {
            order.sort_by_key(|at| (is_late(*at), depth(*at) > 0, Reverse(depth(*at))));
        }
    }
    order
}

fn with_imports(verdicts: &[Verdict<'_>]) -> Vec<usize> {
    let origin = |at: &usize| &verdicts[*at].rule.origin;
    let (imported, own): (Vec<usize>, Vec<usize>) =
        (0..verdicts.len()).partition(|at| origin(at).imported_by.is_some());
    if imported.is_empty() {
        return own;
    }
    let sources: HashMap<(&str, &str), usize> = imported
        .iter()
        .chain(&own)
        .map(|at| ((origin(at).display.as_str(), origin(at).folder.as_str()), *at))
        .collect();
    let mut imports: Vec<Vec<usize>> = vec![Vec::new(); verdicts.len()];
    let mut pending = own;
    for at in imported {
        let Origin { imported_by, folder, .. } = origin(&at);
        let importer = imported_by.as_deref().and_then(|importer| sources.get(&(importer, folder.as_str())));
        imports[importer.copied().unwrap_or(at)].push(at);
    }
    pending.reverse();
    let mut order = Vec::with_capacity(verdicts.len());
    while let Some(at) = pending.pop() {
        order.push(at);
        pending.extend(imports[at].drain(..).rev());
    }
    order.extend(imports.into_iter().flatten());
    order
}
