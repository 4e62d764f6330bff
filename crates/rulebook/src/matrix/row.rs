//! The rows of the matrix: every rule that is meant, and every file that only an agent reads.

use std::cmp::Ordering;

use foldhash::HashSet;

use super::native::NativeReading;
use crate::evaluate::{Evaluation, State, Verdict, delivery_rank};
use crate::evidence::Seen;
use crate::parse::Rejected;
use crate::resolve::Rulebook;
use crate::rule::Rule;
use crate::source::Origin;

/// A rule, or a file that is rejected.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RuleRow<'r> {
    /// The rule's id.
    pub id: &'r str,
    /// Where it comes from.
    pub origin: &'r Origin,
    /// The rule; `None` if the file is rejected.
    pub rule: Option<&'r Rule>,
    /// The file, if it is rejected.
    pub rejected: Option<&'r Rejected>,
    /// Whether it is a stream rule that watches no calls for the files in question.
    pub is_for_other_files: bool,
    /// The position of its verdict, if it is a rule as meant.
    pub(super) verdict: Option<usize>,
}

impl RuleRow<'_> {
    /// Returns the id and the format.
    pub fn key(&self) -> String {
        self.rule.map_or_else(|| format!("{}@{}", self.id, self.origin.format.id), Rule::key)
    }
}

/// Returns the rules in the order of delivery, then those that are overridden, disabled and rejected.
pub(super) fn rows<'v, 'r: 'v>(
    book: &'r Rulebook,
    meant: &Evaluation<'r>,
    natives: impl Iterator<Item = &'v NativeReading<'r>>,
    files: &[Seen],
) -> Vec<RuleRow<'r>> {
    let rejected = book.rejected().iter().map(|rejected| RuleRow {
        id: &rejected.id,
        origin: &rejected.origin,
        rule: None,
        rejected: Some(rejected),
        is_for_other_files: false,
        verdict: None,
    });
    let rejected: Vec<RuleRow<'r>> = rejected.collect();
    let mut rows: Vec<RuleRow<'r>> = meant
        .verdicts
        .iter()
        .enumerate()
        .map(|(at, verdict)| RuleRow {
            is_for_other_files: verdict.is_for_other_files(files),
            ..row(verdict.rule, Some(at))
        })
        .collect();
    let mut known: HashSet<&str> = rows.iter().chain(&rejected).map(|row| row.origin.path.as_str()).collect();
    for native in natives {
        let new = native.verdicts().iter().filter(|verdict| known.insert(verdict.rule.origin.path.as_str()));
        let row = |verdict: &Verdict<'r>| RuleRow {
            is_for_other_files: verdict.is_for_other_files(files),
            ..row(verdict.rule, None)
        };
        rows.extend(new.map(row));
    }
    let bucket = |row: &RuleRow<'r>| row.verdict.map_or(0, |at| bucket(&meant.verdicts[at]));
    let order = |a: &RuleRow<'r>, b: &RuleRow<'r>| -> Ordering {
        bucket(a).cmp(&bucket(b)).then_with(|| match (a.rule, b.rule) {
            (Some(a), Some(b)) => delivery_rank(a).cmp(&delivery_rank(b)),
            _ => Ordering::Equal,
        })
    };
    rows.sort_by(order);
    rows.extend(rejected);
    rows
}

fn row(rule: &Rule, verdict: Option<usize>) -> RuleRow<'_> {
    RuleRow {
        id: &rule.id,
        origin: &rule.origin,
        rule: Some(rule),
        rejected: None,
        is_for_other_files: false,
        verdict,
    }
}

fn bucket(verdict: &Verdict<'_>) -> u8 {
    match verdict.state {
        State::Overridden { .. } => 1,
        State::Disabled(_) => 2,
        _ => 0,
    }
}
