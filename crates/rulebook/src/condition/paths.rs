//! `paths`: some evidence path matches a pattern and no exclusion.

use std::ops::Range;

use super::facts::View;
use super::{
    Condition, ConditionKind, ConditionResult, Facts, PathExpression, PatternBase, Splits, Tell, Test, Truth,
};
use crate::diagnostic::{Code, shown};
use crate::frontmatter::{Node, Value, unquoted};
use crate::glob::{self, Dialect, Glob, GlobError, PatternList, Selection};

pub(super) const KIND: ConditionKind = ConditionKind {
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
    /// Beside the patterns: where each stands, in bytes of the file; perhaps among others.
    pub(crate) spans: Vec<Range<usize>>,
    /// The nested folder they are relative to.
    pub(crate) base: Option<(usize, String)>,
}

impl Paths {
    /// Reads a string (a comma list) or a list of strings; nothing where no pattern is left.
    pub fn read(node: &Node, ground: &PatternBase, tell: &mut Tell<'_>) -> Option<Paths> {
        let is_list = matches!(node.value, Value::List(_));
        let is_split = match ground.splits {
            Splits::Nothing => false,
            Splits::Texts => !is_list,
            Splits::Items => true,
        };
        let flat = (ground.splits == Splits::Items).then(|| flattened(node));
        let texts = super::texts(flat.as_ref().unwrap_or(node), tell);
        let mut patterns: Vec<&str> = Vec::with_capacity(texts.len());
        let mut spans: Vec<Range<usize>> = Vec::with_capacity(texts.len());
        for (text, span) in texts {
            let split = if is_split { split(text, ground.words) } else { Vec::new() };
            let pieces = if is_split { &split[..] } else { &[text.trim()] };
            if let Some(message) = report_list(text, pieces).filter(|_| ground.words) {
                tell(Code::PatternList, span.clone(), message);
            }
            for piece in pieces.iter().map(|piece| unquoted(piece)).filter(|piece| !piece.is_empty()) {
                patterns.push(piece);
                spans.push(span.clone());
            }
        }
        let rival = ground.rival.map(|rival| {
            let names = [ground.dialect.name(), rival.name()];
            (PatternList::new(patterns.iter().copied(), rival, |_, _| {}), names)
        });
        let mut is_full = false;
        let list = PatternList::new(patterns, ground.dialect, |at, error| {
            // A full list is told once, where it is.
            if error == GlobError::TooLargeTogether && std::mem::replace(&mut is_full, true) {
                return;
            }
            tell(Code::BadGlob, spans[at].clone(), format!("the glob matches nothing: {error}"));
        });
        (!spans.is_empty()).then(|| Paths { list, rival, spans, base: ground.base.clone() })
    }

    /// Patterns for nothing at all.
    pub fn none(dialect: Dialect) -> Paths {
        Paths { list: PatternList::new([], dialect, |_, _| {}), rival: None, spans: Vec::new(), base: None }
    }

    /// The patterns as written.
    pub fn patterns(&self) -> impl Iterator<Item = &str> {
        self.list.patterns()
    }

    /// The same as the gates of stream rules mean them.
    pub(crate) fn into_gate(self) -> Paths {
        let rival = self.rival.map(|(rival, names)| (rival.into_gate(), names));
        Paths { list: self.list.into_gate(), rival, ..self }
    }

    /// Whether they are for a path, relative to its root; one whose root nobody knows may lie in any.
    pub(crate) fn take(&self, root: Option<usize>, path: &str) -> bool {
        let path = match &self.base {
            Some((own, _)) if root.is_some_and(|root| root != *own) => None,
            Some((_, folder)) => path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/')),
            None => Some(path),
        };
        let takes = |list: &PatternList| path.is_some_and(|path| list.decide(path).matches);
        takes(&self.list) && self.rival.as_ref().is_none_or(|(rival, _)| takes(rival))
    }

    /// The positions of the patterns that bring paths in.
    pub(crate) fn including(&self) -> impl Iterator<Item = usize> {
        self.list.including().map(|(at, _)| at)
    }

    /// The pattern at a position, as every dialect it may be written in reads it.
    pub(crate) fn globs(&self, at: usize) -> impl Iterator<Item = &Glob> {
        let rival = self.rival.as_ref().map(|(rival, _)| rival);
        [Some(&self.list), rival].into_iter().flatten().filter_map(move |list| list.glob(at))
    }

    /// Positions of the evidence paths that, each by itself, they are for; ascending.
    pub(crate) fn find(&self, facts: &Facts<'_>) -> Vec<usize> {
        let view = facts.view(self.base.as_ref());
        let mut found = select(&self.list, view).paths;
        if let Some((rival, _)) = &self.rival {
            let agreed = select(rival, view).paths;
            found.retain(|at| agreed.binary_search(at).is_ok());
        }
        found
    }
}

fn select(list: &PatternList, view: &View<'_>) -> Selection {
    list.select(&view.below, |glob| view.matches(glob), |at| view.path(at))
}

impl Test for Paths {
    fn ask(&self, facts: &Facts<'_>) -> ConditionResult {
        if facts.evidence.paths.is_empty() {
            return ConditionResult::unknown("path");
        }
        let view = facts.view(self.base.as_ref());
        let selection = select(&self.list, view);
        if let Some((rival, names)) = &self.rival
            && select(rival, view).paths != selection.paths
        {
            let [one, other] = names;
            let detail = format!(
                "{} matches as {one} reads it or as {other} does, not both, and the agent documents neither",
                list(self.patterns())
            );
            return ConditionResult { truth: Truth::Unknown, ..ConditionResult::no(detail) };
        }
        if self.patterns().next().is_none() {
            return ConditionResult::no("its list of paths is empty".to_owned());
        }
        if selection.paths.is_empty() {
            return ConditionResult::no("no evidence path matches ".to_owned() + &list(self.patterns()));
        }
        let mut matched: Vec<String> = Vec::new();
        let patterns: Vec<&str> = self.patterns().collect();
        for pattern in selection.patterns.into_iter().map(|at| patterns[at]) {
            if !matched.iter().any(|known| known == pattern) {
                matched.push(pattern.to_owned());
            }
        }
        ConditionResult { truth: Truth::Yes, matched, seen: selection.paths, detail: String::new() }
    }

    fn shape(&self) -> Option<PathExpression<'_>> {
        Some(PathExpression::Paths(self))
    }
}

/// The patterns of a text: parted by commas and, at will, by white space where every word is a pattern by itself.
fn split(text: &str, words: bool) -> Vec<&str> {
    let commas = glob::split_list(text).into_iter().map(|(_, piece)| piece);
    let parts =
        |piece: &str| words && piece.contains(char::is_whitespace) && piece.split_whitespace().all(is_whole);
    commas
        .flat_map(|piece| if parts(piece) { piece.split_whitespace().collect() } else { vec![piece] })
        .collect()
}

/// Whether a word ends as a pattern or a file name does, so that none of it is behind a space: not `docs/User`.
fn is_whole(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    let has_extension = name.rsplit_once('.').is_some_and(|(_, end)| end.starts_with(char::is_alphabetic));
    let is_closed = |pair: &str| word.matches(&pair[..1]).count() == word.matches(&pair[1..]).count();
    (name.contains('*') || has_extension)
        && !word.contains(';')
        && ["{}", "[]", "()"].into_iter().all(is_closed)
}

/// What to tell of a list that is not written as lists are.
fn report_list(text: &str, pieces: &[&str]) -> Option<String> {
    if !text.contains(|c: char| c == ',' || c.is_whitespace()) {
        return None;
    }
    let commas = glob::split_list(text).len();
    match pieces.len() {
        0..=1 if commas > 1 => Some(format!("`{}` is one pattern, commas and all", shown(text))),
        many if many > commas.max(1) => {
            Some("white space stands between patterns; each was read by itself".to_owned())
        }
        _ => None,
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
    let all: Vec<&str> = patterns.collect();
    match all.len() {
        0 => String::new(),
        1..=4 => ["`", &all.join("`, `"), "`"].concat(),
        many => format!("`{}` and {} more", all[..3].join("`, `"), many - 3),
    }
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn white_space_parts_what_are_patterns_on_either_side() {
        #[track_caller]
        fn check(text: &str, patterns: &[&str]) {
            assert_eq!(split(text, true), patterns, "{text:?}");
        }
        check("./a.ts ./b/**/*.tsx", &["./a.ts", "./b/**/*.tsx"]);
        check("src/**\nlib/**", &["src/**", "lib/**"]);
        check("a/** b/**, c.md", &["a/**", "b/**", "c.md"]);
        check("My App/**", &["My App/**"]);
        check("docs/User Guide/*.md", &["docs/User Guide/*.md"]);
        check("**/My Folder/*.ts", &["**/My Folder/*.ts"]);
        check("{a/*.ts, b/*.ts}", &["{a/*.ts, b/*.ts}"]);
        check("[\"a/**\", \"b/**\"]", &["[\"a/**\", \"b/**\"]"]);
        check("", &[]);
    }
}
