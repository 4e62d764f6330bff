//! `…_filters`: regular expressions over the files in evidence, as Cody's rules have them.

use super::regexes::{Pattern, Room};
use super::{Condition, ConditionResult, Facts, Needs, PatternBase, Tell, Test, Truth, texts};
use crate::diagnostic::Code;
use crate::frontmatter::{Field, Value};

/// The keys of the four families, by which they are known here too.
pub(crate) const FILTERS: &[(&str, &str)] = &[
    ("language_filters", "language_filters"),
    ("path_filters", "path_filters"),
    ("repo_filters", "repo_filters"),
    ("text_content_filters", "text_content_filters"),
];

/// Reads the families a header has; nothing where none filters anything.
pub(crate) fn read<'f>(
    families: impl Iterator<Item = (&'static str, &'f Field)>,
    ground: &PatternBase,
    tell: &mut Tell<'_>,
) -> Option<Condition> {
    let mut filters = Filters { base: ground.base.clone(), ..Filters::default() };
    let mut room = Room::default();
    for (key, field) in families {
        let Some(family) = Family::read(key, field, &mut room, tell) else { continue };
        match key {
            "path_filters" => filters.path = family,
            "text_content_filters" => filters.text = family,
            _ => filters.unknown.push(key),
        }
    }
    let is_empty = filters.path.is_empty() && filters.text.is_empty() && filters.unknown.is_empty();
    (!is_empty).then(|| Condition::new("filters", filters))
}

/// One file must pass every family.
#[derive(Debug, Default)]
struct Filters {
    path: Family,
    text: Family,
    /// Families about what no evidence tells.
    unknown: Vec<&'static str>,
    /// The nested folder whose files they are for.
    base: Option<(usize, String)>,
}

/// What must be found, any of it, and what must not.
#[derive(Debug, Default)]
struct Family {
    include: Vec<Pattern>,
    exclude: Vec<Pattern>,
}

impl Family {
    fn read(key: &str, field: &Field, room: &mut Room, tell: &mut Tell<'_>) -> Option<Family> {
        let Value::Map(sides) = &field.node.value else {
            let message = format!(
                "`{key}` must be a map of `include` and `exclude`, found {}",
                field.node.value.kind()
            );
            tell(Code::WrongType, field.node.span.clone(), message);
            return None;
        };
        let mut family = Family::default();
        for side in sides {
            let list = match side.key.as_str() {
                "include" => &mut family.include,
                "exclude" => &mut family.exclude,
                _ => {
                    let message = format!("`{key}` has `include` and `exclude`, found `{}`", side.key);
                    tell(Code::UnknownKey, side.key_span.clone(), message);
                    continue;
                }
            };
            for (text, span) in texts(&side.node, tell) {
                match Pattern::read(text, room) {
                    Ok(regex) => list.push(regex),
                    Err(error) => {
                        tell(Code::BadRegex, span.clone(), format!("`{text}` is left out: {error}"));
                    }
                }
            }
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
    fn ask(&self, facts: &Facts<'_>) -> ConditionResult {
        let evidence = facts.evidence;
        if evidence.paths.is_empty() {
            return ConditionResult::unknown("path");
        }
        let text_of = |at: usize| evidence.contents.iter().find(|(of, _)| *of == at).map(|(_, text)| text);
        let passes = |at: &usize| {
            self.path.pass(&evidence.paths[*at].path)
                && (self.text.is_empty() || text_of(*at).is_some_and(|text| self.text.pass(text)))
        };
        let seen: Vec<usize> = facts.view(self.base.as_ref()).below.iter().copied().filter(passes).collect();
        if seen.is_empty() {
            return ConditionResult::no("no file in evidence passes its filters");
        }
        if let Some(key) = self.unknown.first() {
            let detail = format!("what `{key}` asks for is not known");
            return ConditionResult { truth: Truth::Unknown, ..ConditionResult::no(detail) };
        }
        let includes = self.path.include.iter().chain(&self.text.include);
        let matched = includes.map(|regex| regex.as_str().to_owned()).collect();
        ConditionResult { truth: Truth::Yes, matched, seen, detail: String::new() }
    }

    fn needs(&self) -> Needs {
        Needs { content: !self.text.is_empty(), ..Needs::default() }
    }
}
