//! `paths`: some evidence path matches a pattern and no exclusion.

use std::ops::Range;

use super::{Answer, Condition, Facts, Ground, Kind, Splits, Tell, Test, Truth};
use crate::diagnostic::Code;
use crate::frontmatter::{Node, Value, unquoted};
use crate::glob::{self, Dialect, PatternList};

pub(super) const KIND: Kind = Kind {
    key: "paths",
    holds: "some evidence path matches a pattern and no `!pattern`",
    build: |node, ground, tell| Some(Condition::new("paths", Paths::read(node, ground, tell)?)),
};

/// Patterns for paths, some of which may exclude.
#[derive(Debug)]
pub struct Paths {
    list: PatternList,
    /// The same as another dialect reads them: where the two part, nobody knows.
    rival: Option<(PatternList, [&'static str; 2])>,
    /// The nested folder they are relative to.
    base: Option<(usize, String)>,
}

impl Paths {
    /// Reads a string (a comma list) or a list of strings; nothing where no pattern is left.
    pub fn read(node: &Node, ground: &Ground, tell: &mut Tell<'_>) -> Option<Paths> {
        let is_list = matches!(node.value, Value::List(_));
        let is_split = match ground.splits {
            Splits::Nothing => false,
            Splits::Texts => !is_list,
            Splits::Items => true,
        };
        let flat = (ground.splits == Splits::Items).then(|| flattened(node));
        let texts = super::texts(flat.as_ref().unwrap_or(node), tell);
        let pieces = texts.iter().flat_map(|(text, span)| {
            let pieces = if is_split {
                glob::split_list(text).into_iter().map(|(_, piece)| piece).collect()
            } else {
                vec![text.trim()]
            };
            pieces.into_iter().map(unquoted).filter(|piece| !piece.is_empty()).map(move |piece| (piece, span))
        });
        let (patterns, spans): (Vec<&str>, Vec<&Range<usize>>) = pieces.unzip();
        let rival = ground.rival.map(|rival| {
            let names = [ground.dialect.name(), rival.name()];
            (PatternList::new(patterns.iter().copied(), rival, |_, _| {}), names)
        });
        let list = PatternList::new(patterns, ground.dialect, |at, error| {
            tell(Code::BadGlob, spans[at].clone(), format!("the glob matches nothing: {error}"));
        });
        (!spans.is_empty()).then(|| Paths { list, rival, base: ground.base.clone() })
    }

    /// Patterns for nothing at all.
    pub fn none(dialect: Dialect) -> Paths {
        Paths { list: PatternList::new([], dialect, |_, _| {}), rival: None, base: None }
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
        let select =
            |list: &PatternList| list.select(&view.below, |glob| view.matches(glob), |at| view.path(at));
        let selection = select(&self.list);
        if let Some((rival, names)) = &self.rival
            && select(rival).paths != selection.paths
        {
            let [one, other] = names;
            let detail = format!(
                "{} matches as {one} reads it or as {other} does, not both, and the agent documents neither",
                list(self.patterns())
            );
            return Answer { truth: Truth::Unknown, ..Answer::no(detail) };
        }
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

/// A list with what lists inside it hold.
fn flattened(node: &Node) -> Node {
    fn gather(node: &Node, items: &mut Vec<Node>) {
        match &node.value {
            Value::List(inner) => inner.iter().for_each(|item| gather(item, items)),
            _ => items.push(node.clone()),
        }
    }
    if !matches!(node.value, Value::List(_)) {
        return node.clone();
    }
    let mut items = Vec::new();
    gather(node, &mut items);
    Node { value: Value::List(items), span: node.span.clone() }
}

/// The first few of some patterns, quoted.
fn list<'p>(patterns: impl Iterator<Item = &'p str>) -> String {
    let all: Vec<String> = patterns.map(|pattern| format!("`{pattern}`")).collect();
    match all.len() {
        0..=4 => all.join(", "),
        many => format!("{} and {} more", all[..3].join(", "), many - 3),
    }
}
