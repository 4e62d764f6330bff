//! The patterns of a `paths` condition.

use std::ops::Range;

use super::facts::{Facts, View};
use super::truth::Truth;
use super::value::{PatternBase, Report, Splits, texts};
use crate::diagnostic::{Code, shown};
use crate::frontmatter::{Node, Value, unquoted};
use crate::glob::{Dialect, Glob, GlobError, PatternList, Selection, split_list, split_outside_braces};

/// Patterns for paths, including exclusions.
#[derive(Debug)]
pub struct Paths {
    pub(super) list: PatternList,
    /// The same patterns in the other possible dialect, and the names of both. If they disagree, the result is unknown.
    pub(super) rival: Option<(PatternList, [&'static str; 2])>,
    /// Whether it is not documented what they match.
    pub(super) is_open: bool,
    /// For each pattern, the byte range in the file that contains it, perhaps with others.
    pub(crate) spans: Vec<Range<usize>>,
    /// The nested folder that the patterns are relative to.
    pub(crate) base: Option<(usize, String)>,
}

impl Paths {
    /// Reads a text or a list of texts; `None` if no pattern is left.
    pub(crate) fn read(node: &Node, base: &PatternBase, report: &mut Report<'_>) -> Option<Paths> {
        let is_list = matches!(node.value, Value::List(_));
        let is_split = match base.splits {
            Splits::Nothing => false,
            Splits::Texts => !is_list,
            Splits::Items => true,
        };
        let flat = (base.splits == Splits::Items).then(|| flattened(node));
        let texts = texts(flat.as_ref().unwrap_or(node), report);
        let mut patterns: Vec<&str> = Vec::with_capacity(texts.len());
        let mut spans: Vec<Range<usize>> = Vec::with_capacity(texts.len());
        for (text, span) in texts {
            let split = match base.splits {
                _ if !is_split => Vec::new(),
                Splits::Items if base.is_exact => split_outside_braces(text),
                _ => split(text, base.splits_whitespace),
            };
            let whole = [if base.is_exact { text } else { text.trim() }];
            let pieces = if is_split { &split[..] } else { &whole };
            if let Some(message) = list_problem(text, pieces).filter(|_| base.splits_whitespace) {
                report(Code::PatternList, span.clone(), message);
            }
            for piece in pieces {
                let piece = if base.is_exact { piece } else { unquoted(piece) };
                if !piece.is_empty() || is_list && base.is_exact {
                    patterns.push(piece);
                    spans.push(span.clone());
                }
            }
        }
        let rival = base.rival.map(|rival| {
            let names = [base.dialect.name(), rival.name()];
            (PatternList::new(patterns.iter().copied(), rival, |_, _| {}), names)
        });
        let mut is_full = false;
        let rejected = |at: usize, error| {
            // The limit of the list is reported once.
            if error == GlobError::ListTooLarge && std::mem::replace(&mut is_full, true) {
                return;
            }
            if error == GlobError::Empty {
                return;
            }
            report(Code::BadGlob, spans[at].clone(), format!("the glob matches nothing: {error}"));
        };
        let is_open = patterns.iter().any(|pattern| base.exclusions.leave_open(pattern));
        let list = PatternList::excluding(patterns, base.dialect, base.exclusions, rejected);
        (!spans.is_empty()).then(|| Paths { list, rival, is_open, spans, base: base.base.clone() })
    }

    /// Reads the glob of a scope, with the meaning that it has in the `globs` of the rule.
    pub(crate) fn watched(text: &str, span: Range<usize>, base: &PatternBase) -> Result<Paths, GlobError> {
        let mut error = None;
        let list = PatternList::new([text], base.dialect, |_, rejected| error = Some(rejected));
        let rival = base.rival.map(|rival| {
            let names = [base.dialect.name(), rival.name()];
            (PatternList::new([text], rival, |_, _| {}), names)
        });
        let paths = Paths { list, rival, is_open: false, spans: vec![span], base: base.base.clone() };
        error.map_or_else(|| Ok(paths.into_gate()), Err)
    }

    /// Patterns that match nothing.
    pub fn none(dialect: Dialect) -> Paths {
        let list = PatternList::new([], dialect, |_, _| {});
        Paths { list, rival: None, is_open: false, spans: Vec::new(), base: None }
    }

    /// The patterns as written.
    pub fn patterns(&self) -> impl Iterator<Item = &str> {
        self.list.patterns()
    }

    /// Matches a pattern as if it were written as `correct` returns it.
    pub(crate) fn corrected(self, correct: impl Fn(&str) -> Option<String>) -> Paths {
        let rival = self.rival.map(|(rival, names)| (rival.corrected(&correct), names));
        Paths { list: self.list.corrected(correct), rival, ..self }
    }

    /// Converts to the semantics of stream rules.
    pub(crate) fn into_gate(self) -> Paths {
        let rival = self.rival.map(|(rival, names)| (rival.into_gate(), names));
        Paths { list: self.list.into_gate(), rival, ..self }
    }

    /// Whether they match a path relative to its root. Without a known root, any root counts.
    pub(crate) fn is_match(&self, root: Option<usize>, path: &str) -> bool {
        let path = match &self.base {
            Some((nested, _)) if root.is_some_and(|root| root != *nested) => None,
            Some((_, folder)) => path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/')),
            None => Some(path),
        };
        let matches = |list: &PatternList| path.is_some_and(|path| list.decide(path).matches);
        !self.is_open && matches(&self.list) && self.rival.as_ref().is_none_or(|(rival, _)| matches(rival))
    }

    /// Whether they match each of these paths, in every possible dialect or in some.
    pub(crate) fn truths(&self, root: usize, paths: &[String]) -> Vec<Truth> {
        let relative = |path: &'_ String| match &self.base {
            Some((nested, _)) if *nested != root => None,
            Some((_, folder)) => {
                path.strip_prefix(folder.as_str())?.strip_prefix('/').map(|rest| path.len() - rest.len())
            }
            None => Some(0),
        };
        let below: Vec<(usize, &str)> = (paths.iter().enumerate())
            .filter_map(|(at, path)| Some((at, &path[relative(path)?..])))
            .collect();
        let inner: Vec<&str> = below.iter().map(|(_, path)| *path).collect();
        let mut truths = vec![Truth::No; paths.len()];
        if self.is_open {
            below.iter().for_each(|(at, _)| truths[*at] = Truth::Unknown);
            return truths;
        }
        let own = self.list.matches_each(&inner);
        let other = self.rival.as_ref().map(|(rival, _)| rival.matches_each(&inner));
        for (number, (at, _)) in below.iter().enumerate() {
            truths[*at] = match other.as_ref().map_or(own[number], |other| other[number]) {
                other if other != own[number] => Truth::Unknown,
                true => Truth::Yes,
                false => Truth::No,
            };
        }
        truths
    }

    /// A text that is the same for patterns that match the same paths.
    pub(crate) fn key(&self) -> String {
        let rival = self.rival.as_ref().map(|(rival, _)| rival.key()).unwrap_or_default();
        format!("{} {:?} {}\n{rival}", self.is_open, self.base, self.list.key())
    }

    /// The same patterns in lower case.
    pub(crate) fn lowercase(&self) -> Paths {
        let base = self.base.as_ref().map(|(root, folder)| (*root, folder.to_lowercase()));
        let list = self.list.lowercase();
        Paths { list, rival: None, is_open: self.is_open, spans: Vec::new(), base }
    }

    /// Positions of the evidence paths for which it is not documented whether they match, ascending.
    pub(crate) fn doubtful(&self, facts: &Facts<'_>) -> Vec<usize> {
        let view = facts.view(self.base.as_ref());
        if self.is_open {
            return view.below.clone();
        }
        let Some((rival, _)) = &self.rival else { return Vec::new() };
        let (own, other) = (select(&self.list, view).paths, select(rival, view).paths);
        let only = |a: &[usize], b: &[usize]| -> Vec<usize> {
            a.iter().filter(|at| b.binary_search(at).is_err()).copied().collect()
        };
        let mut all = [only(&own, &other), only(&other, &own)].concat();
        all.sort_unstable();
        all
    }

    /// The positions of the including patterns.
    pub(crate) fn including(&self) -> impl Iterator<Item = usize> {
        self.list.including().map(|(at, _)| at)
    }

    /// The pattern at a position in each of the possible dialects.
    pub(crate) fn globs(&self, at: usize) -> impl Iterator<Item = &Glob> {
        let rival = self.rival.as_ref().map(|(rival, _)| rival);
        [Some(&self.list), rival].into_iter().flatten().filter_map(move |list| list.glob(at))
    }

    /// Positions of the evidence paths that the pattern at a position matches by itself, and of those for which it is not
    /// documented, ascending.
    pub(crate) fn matching(&self, at: usize, facts: &Facts<'_>) -> (Vec<usize>, Vec<usize>) {
        let view = facts.view(self.base.as_ref());
        let matches = |list: &PatternList| list.glob(at).map(|glob| view.matches(glob).to_vec());
        let own = matches(&self.list).unwrap_or_default();
        if self.is_open {
            return (Vec::new(), view.below.clone());
        }
        let Some((rival, _)) = &self.rival else { return (own, Vec::new()) };
        let other = matches(rival).unwrap_or_default();
        let (both, mut doubtful): (Vec<usize>, Vec<usize>) =
            own.iter().partition(|at| other.binary_search(at).is_ok());
        doubtful.extend(other.into_iter().filter(|at| own.binary_search(at).is_err()));
        doubtful.sort_unstable();
        (both, doubtful)
    }

    /// Positions of the evidence paths that match in all possible dialects, ascending.
    pub(crate) fn find(&self, facts: &Facts<'_>) -> Vec<usize> {
        if self.is_open {
            return Vec::new();
        }
        let view = facts.view(self.base.as_ref());
        let mut found = select(&self.list, view).paths;
        if let Some((rival, _)) = &self.rival {
            let agreed = select(rival, view).paths;
            found.retain(|at| agreed.binary_search(at).is_ok());
        }
        found
    }
}

pub(super) fn select(list: &PatternList, view: &View<'_>) -> Selection {
    list.select(&view.below, |glob| view.matches(glob), |at| view.path(at))
}

/// Splits a text at commas and, if requested, at white space between complete patterns.
fn split(text: &str, at_whitespace: bool) -> Vec<&str> {
    let commas = split_list(text).into_iter().map(|(_, piece)| piece);
    let is_word_list = |piece: &str| {
        at_whitespace && piece.contains(char::is_whitespace) && piece.split_whitespace().all(is_complete)
    };
    commas
        .flat_map(|piece| if is_word_list(piece) { piece.split_whitespace().collect() } else { vec![piece] })
        .collect()
}

/// Whether a word is a complete pattern or file name. `docs/User` is not: its name may continue after a space.
fn is_complete(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    let has_extension = name.rsplit_once('.').is_some_and(|(_, end)| end.starts_with(char::is_alphabetic));
    let is_closed = |pair: &str| word.matches(&pair[..1]).count() == word.matches(&pair[1..]).count();
    (name.contains('*') || has_extension)
        && !word.contains(';')
        && ["{}", "[]", "()"].into_iter().all(is_closed)
}

/// The problem of a list that is not written as a list.
fn list_problem(text: &str, pieces: &[&str]) -> Option<String> {
    if !text.contains(|c: char| c == ',' || c.is_whitespace()) {
        return None;
    }
    let commas = split_list(text).len();
    match pieces.len() {
        0..=1 if commas > 1 => {
            Some(format!("`{}` is read as a single pattern, including its commas", shown(text)))
        }
        many if many > commas.max(1) => {
            Some("patterns are separated by white space; Rulebook reads each one separately".to_owned())
        }
        _ => None,
    }
}

/// Flattens nested lists.
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

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn white_space_separates_complete_patterns() {
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
