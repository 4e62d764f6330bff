//! `paths`: some evidence path matches a pattern and no exclusion.

use std::ops::Range;

use super::{Answer, Condition, Facts, Ground, Kind, Shape, Tell, Test, Truth};
use crate::diagnostic::Code;
use crate::frontmatter::{Node, Value, unquoted};
use crate::glob::{self, Dialect, Glob};

pub(super) const KIND: Kind = Kind {
    key: "paths",
    holds: "some evidence path matches a pattern and no `!pattern`",
    build: |node, ground, tell| Some(Condition::new("paths", Paths::read(node, ground, tell)?)),
};

/// Patterns for paths, some of which may exclude.
#[derive(Debug)]
pub struct Paths {
    pub(crate) patterns: Vec<Pattern>,
    /// The nested folder they are relative to.
    pub(crate) base: Option<(usize, String)>,
}

#[derive(Debug)]
pub(crate) struct Pattern {
    pub(crate) written: String,
    /// Where it stands, in bytes of the file; perhaps among others.
    pub(crate) span: Range<usize>,
    /// Without the leading `!` of an exclusion. Nothing where it is beyond the bounds: it matches nothing.
    pub(crate) glob: Option<Glob>,
    pub(crate) excludes: bool,
}

impl Paths {
    /// Reads a string (a comma list) or a list of strings; nothing where no pattern is left.
    pub fn read(node: &Node, ground: &Ground, tell: &mut Tell<'_>) -> Option<Paths> {
        let is_list = matches!(node.value, Value::List(_));
        let mut patterns = Vec::new();
        for (text, span) in super::texts(node, tell) {
            let pieces = if is_list {
                vec![text.trim()]
            } else {
                glob::split_list(&text).into_iter().map(|(_, p)| p).collect()
            };
            for written in pieces.into_iter().map(unquoted).filter(|piece| !piece.is_empty()) {
                let excludes = written.starts_with('!') && !written.starts_with("!(");
                let bare = if excludes { &written[1..] } else { written };
                let glob = Glob::new(bare, ground.dialect)
                    .inspect_err(|error| {
                        tell(Code::BadGlob, span.clone(), format!("the glob matches nothing: {error}"));
                    })
                    .ok();
                patterns.push(Pattern { written: written.to_owned(), span: span.clone(), glob, excludes });
            }
        }
        (!patterns.is_empty()).then(|| Paths { patterns, base: ground.base.clone() })
    }

    /// The patterns as written.
    pub fn patterns(&self) -> impl Iterator<Item = &str> {
        self.patterns.iter().map(|pattern| pattern.written.as_str())
    }

    /// The same, but a pattern without `/` is for files of that name anywhere, as the gates of stream rules are.
    pub(crate) fn or_by_name(mut self, dialect: Dialect) -> Paths {
        for pattern in self.patterns.iter_mut().filter(|pattern| !pattern.excludes) {
            if !pattern.written.contains('/') {
                pattern.glob = Glob::new(&format!("**/{}", pattern.written), dialect).ok();
            }
        }
        self
    }

    /// Positions of the evidence paths they are for, ascending, and the patterns that say so.
    pub(crate) fn find(&self, facts: &Facts<'_>) -> (Vec<usize>, Vec<String>) {
        let view = facts.view(self.base.as_ref());
        let hits =
            |pattern: &Pattern| pattern.glob.as_ref().map(|glob| view.matches(glob)).unwrap_or_default();
        let excluding = || self.patterns.iter().filter(|pattern| pattern.excludes);
        let mut excluded: Vec<usize> = excluding().flat_map(|pattern| hits(pattern).to_vec()).collect();
        excluded.sort_unstable();
        let is_left = |at: &&usize| excluded.binary_search(at).is_err();
        let mut seen: Vec<usize> = Vec::new();
        let mut matched: Vec<String> = Vec::new();
        for pattern in self.patterns.iter().filter(|pattern| !pattern.excludes) {
            let before = seen.len();
            match excluded.is_empty() {
                true => seen.extend_from_slice(&hits(pattern)),
                false => seen.extend(hits(pattern).iter().filter(is_left)),
            }
            if seen.len() > before && !matched.contains(&pattern.written) {
                matched.push(pattern.written.clone());
            }
        }
        if self.patterns.iter().all(|pattern| pattern.excludes) {
            seen.extend(view.below.iter().filter(is_left));
            matched.extend(excluding().filter(|_| !seen.is_empty()).map(|pattern| pattern.written.clone()));
        }
        // Each pattern's are in order: the stable sort merges them.
        seen.sort();
        seen.dedup();
        (seen, matched)
    }
}

impl Test for Paths {
    fn ask(&self, facts: &Facts<'_>) -> Answer {
        if facts.evidence.paths.is_empty() {
            return Answer::unknown("path");
        }
        let (seen, matched) = self.find(facts);
        if seen.is_empty() {
            return Answer::no(format!("no evidence path matches {}", list(self.patterns())));
        }
        Answer { truth: Truth::Yes, matched, seen, detail: String::new() }
    }

    fn shape(&self) -> Option<Shape<'_>> {
        Some(Shape::Paths(self))
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
