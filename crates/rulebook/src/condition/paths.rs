//! `paths`: some evidence path matches a pattern and no exclusion.

use std::ops::Range;

use super::{Answer, Condition, Facts, Ground, Kind, Tell, Test, Truth};
use crate::diagnostic::Code;
use crate::frontmatter::{Node, Value, unquoted};
use crate::glob::{self, PatternList};

pub(super) const KIND: Kind = Kind {
    key: "paths",
    holds: "some evidence path matches a pattern and no `!pattern`",
    build: |node, ground, tell| Some(Condition::new("paths", Paths::read(node, ground, tell)?)),
};

/// Patterns for paths, some of which may exclude.
#[derive(Debug)]
pub struct Paths {
    list: PatternList,
    /// The nested folder they are relative to.
    base: Option<(usize, String)>,
}

impl Paths {
    /// Reads a string (a comma list) or a list of strings; nothing where no pattern is left.
    pub fn read(node: &Node, ground: &Ground, tell: &mut Tell<'_>) -> Option<Paths> {
        let is_list = matches!(node.value, Value::List(_));
        let texts = super::texts(node, tell);
        let pieces = texts.iter().flat_map(|(text, span)| {
            let pieces = if is_list {
                vec![text.trim()]
            } else {
                glob::split_list(text).into_iter().map(|(_, piece)| piece).collect()
            };
            pieces.into_iter().map(unquoted).filter(|piece| !piece.is_empty()).map(move |piece| (piece, span))
        });
        let (patterns, spans): (Vec<&str>, Vec<&Range<usize>>) = pieces.unzip();
        let list = PatternList::new(patterns, ground.dialect, |at, error| {
            tell(Code::BadGlob, spans[at].clone(), format!("the glob matches nothing: {error}"));
        });
        (!spans.is_empty()).then(|| Paths { list, base: ground.base.clone() })
    }

    /// The patterns as written.
    pub fn patterns(&self) -> impl Iterator<Item = &str> {
        self.list.patterns()
    }
}

impl Test for Paths {
    fn ask(&self, facts: &Facts<'_>) -> Answer {
        if facts.evidence.paths.is_empty() {
            return Answer::unknown("path");
        }
        let view = facts.view(self.base.as_ref());
        let selection = self.list.select(&view.below, |glob| view.matches(glob), |at| view.path(at));
        if selection.paths.is_empty() {
            return Answer::no(format!("no evidence path matches {}", list(self.patterns())));
        }
        let mut matched: Vec<String> = Vec::new();
        let patterns: Vec<&str> = self.patterns().collect();
        for pattern in selection.patterns.into_iter().map(|at| patterns[at]) {
            if !matched.iter().any(|known| known == pattern) {
                matched.push(pattern.to_owned());
            }
        }
        Answer { truth: Truth::Yes, matched, seen: selection.paths, detail: String::new() }
    }
}

/// The first few of some patterns, quoted.
fn list<'p>(patterns: impl Iterator<Item = &'p str>) -> String {
    let all: Vec<String> = patterns.map(|pattern| format!("`{pattern}`")).collect();
    match all.len() {
        0..=4 => all.join(", "),
        many => format!("{} and {} more", all[..3].join(", "), many - 3),
    }
}
