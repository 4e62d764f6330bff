//! `…_filters`: regular expressions over the files in evidence, as in Cody's rules.

use std::cell::Cell;

use super::facts::{Facts, TOO_MUCH};
use super::kind::{Condition, ConditionResult, Needs, Test};
use super::regexes::{Pattern, RegexBudget};
use super::value::{PatternBase, Report};
use crate::diagnostic::Code;
use crate::frontmatter::{Field, Value};

/// The keys of the four families, which Rulebook uses as canonical keys too.
pub(crate) const FILTERS: &[(&str, &str)] = &[
    ("language_filters", "language_filters"),
    ("path_filters", "path_filters"),
    ("repo_filters", "repo_filters"),
    ("text_content_filters", "text_content_filters"),
];

/// Reads the families of a header; `None` if none of them filters anything.
pub(crate) fn read<'f>(
    families: impl Iterator<Item = (&'static str, &'f Field)>,
    base: &PatternBase,
    report: &mut Report<'_>,
) -> Option<Condition> {
    let mut filters = Filters { base: base.base.clone(), ..Filters::default() };
    let mut budget = RegexBudget::default();
    for (key, field) in families {
        let Some(family) = Family::read(key, field, &mut budget, report) else { continue };
        match key {
            "path_filters" => filters.path = family,
            "text_content_filters" => filters.text = family,
            _ => filters.unknown.push(key),
        }
    }
    let is_empty = filters.path.is_empty() && filters.text.is_empty() && filters.unknown.is_empty();
    (!is_empty).then(|| Condition::new("filters", filters))
}

/// A single file must pass every family.
#[derive(Debug, Default)]
struct Filters {
    path: Family,
    text: Family,
    /// Families about facts that the evidence does not contain.
    unknown: Vec<&'static str>,
    /// The nested folder that they apply to.
    base: Option<(usize, String)>,
}

/// One of `include` must match, and none of `exclude`.
#[derive(Debug, Default)]
struct Family {
    include: Vec<Pattern>,
    exclude: Vec<Pattern>,
}

impl Family {
    fn read(key: &str, field: &Field, budget: &mut RegexBudget, report: &mut Report<'_>) -> Option<Family> {
        let Value::Map(sides) = &field.node.value else {
            let message = format!(
                "`{key}` must be a map of `include` and `exclude`, found {}",
                field.node.value.kind()
            );
            report(Code::WrongType, field.node.span.clone(), message);
            return None;
        };
        let mut family = Family::default();
        for side in sides {
            let list = match side.key.as_str() {
                "include" => &mut family.include,
                "exclude" => &mut family.exclude,
                _ => {
                    let message = format!("`{key}` can have `include` and `exclude`, found `{}`", side.key);
                    report(Code::UnknownKey, side.key_span.clone(), message);
                    continue;
                }
            };
            list.extend(Pattern::read_all(&side.node, budget, report));
        }
        Some(family).filter(|family| !family.is_empty())
    }

    fn is_empty(&self) -> bool {
        self.include.is_empty() && self.exclude.is_empty()
    }

    fn pass(&self, text: &str) -> bool {
        let any = |list: &[Pattern]| list.iter().any(|regex| regex.is_match(text));
        (self.include.is_empty() || any(&self.include)) && !any(&self.exclude)
    }
}

impl Test for Filters {
    fn evaluate(&self, facts: &Facts<'_>) -> ConditionResult {
        let evidence = facts.evidence;
        if evidence.paths.is_empty() {
            return ConditionResult::not_known("path");
        }
        let text_of = |at: usize| evidence.contents.iter().find(|(of, _)| *of == at).map(|(_, text)| text);
        let patterns = self.text.include.len() + self.text.exclude.len();
        let is_left_out = Cell::new(false);
        let may_search = |text: &str| {
            let is_allowed = facts.may_inspect(text.len().saturating_mul(patterns));
            is_left_out.set(is_left_out.get() || !is_allowed);
            is_allowed
        };
        let passes = |at: &usize| {
            self.path.pass(&evidence.paths[*at].path)
                && (self.text.is_empty()
                    || text_of(*at).is_some_and(|text| may_search(text) && self.text.pass(text)))
        };
        let seen: Vec<usize> = facts.view(self.base.as_ref()).below.iter().copied().filter(passes).collect();
        if seen.is_empty() && is_left_out.get() {
            return ConditionResult::unknown(TOO_MUCH);
        }
        if seen.is_empty() {
            return ConditionResult::no("no file in evidence passes the filters");
        }
        if let Some(key) = self.unknown.first() {
            return ConditionResult::unknown(format!("the facts for `{key}` are not known"));
        }
        let includes = self.path.include.iter().chain(&self.text.include);
        let matched = includes.map(|regex| regex.as_str().to_owned()).collect();
        ConditionResult { seen, ..ConditionResult::yes(matched) }
    }

    fn needs(&self) -> Needs {
        Needs { content: !self.text.is_empty(), ..Needs::default() }
    }
}
