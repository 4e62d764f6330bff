//! `paths`: some evidence path matches a pattern and no exclusion.

use super::{Answer, Condition, Facts, Ground, Kind, Tell, Test, Truth};
use crate::diagnostic::{Code, shown};
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
    patterns: Vec<Pattern>,
    /// The nested folder they are relative to.
    base: Option<(usize, String)>,
}

#[derive(Debug)]
struct Pattern {
    written: String,
    /// Without the leading `!` of an exclusion. Nothing where it is beyond the bounds: it matches nothing.
    glob: Option<Glob>,
    excludes: bool,
}

impl Paths {
    /// Reads a string (a comma list) or a list of strings; nothing where no pattern is left.
    pub fn read(node: &Node, ground: &Ground, tell: &mut Tell<'_>) -> Option<Paths> {
        let is_list = matches!(node.value, Value::List(_));
        // Claude Code splits the entries of a list as well.
        let splits = ground.splits && (!is_list || ground.dialect == Dialect::Claude);
        let mut patterns = Vec::new();
        for (text, span) in super::texts(node, tell) {
            let pieces = if splits { split(&text) } else { vec![text.trim()] };
            if let Some(message) = tell_list(&text, &pieces) {
                tell(Code::PatternList, span.clone(), message);
            }
            for written in pieces.into_iter().map(unquoted).filter(|piece| !piece.is_empty()) {
                let excludes = written.starts_with('!') && !written.starts_with("!(");
                let bare = if excludes { &written[1..] } else { written };
                let glob = Glob::new(bare, ground.dialect)
                    .inspect_err(|error| {
                        tell(Code::BadGlob, span.clone(), format!("the glob matches nothing: {error}"));
                    })
                    .ok();
                patterns.push(Pattern { written: written.to_owned(), glob, excludes });
            }
        }
        (!patterns.is_empty()).then(|| Paths { patterns, base: ground.base.clone() })
    }

    /// The patterns as written.
    pub fn patterns(&self) -> impl Iterator<Item = &str> {
        self.patterns.iter().map(|pattern| pattern.written.as_str())
    }
}

impl Test for Paths {
    fn ask(&self, facts: &Facts<'_>) -> Answer {
        if facts.evidence.paths.is_empty() {
            return Answer::unknown("path");
        }
        let view = facts.view(self.base.as_ref());
        let hits =
            |pattern: &Pattern| pattern.glob.as_ref().map(|glob| view.matches(glob)).unwrap_or_default();
        let excluding = || self.patterns.iter().filter(|pattern| pattern.excludes);
        let excluded: Vec<usize> = excluding().flat_map(|pattern| hits(pattern).to_vec()).collect();
        let mut seen: Vec<usize> = Vec::new();
        let mut matched: Vec<String> = Vec::new();
        for pattern in self.patterns.iter().filter(|pattern| !pattern.excludes) {
            let before = seen.len();
            seen.extend(hits(pattern).iter().filter(|at| !excluded.contains(at)));
            if seen.len() > before && !matched.contains(&pattern.written) {
                matched.push(pattern.written.clone());
            }
        }
        if self.patterns.iter().all(|pattern| pattern.excludes) {
            seen.extend(view.below.iter().filter(|at| !excluded.contains(at)));
            matched.extend(excluding().filter(|_| !seen.is_empty()).map(|pattern| pattern.written.clone()));
        }
        seen.sort_unstable();
        seen.dedup();
        if seen.is_empty() {
            return Answer::no(format!("no evidence path matches {}", list(self.patterns())));
        }
        Answer { truth: Truth::Yes, matched, seen, detail: String::new() }
    }
}

/// The patterns of a text: parted by commas, or by white space where every word is a pattern by itself.
fn split(text: &str) -> Vec<&str> {
    let commas = glob::split_list(text).into_iter().map(|(_, piece)| piece);
    let words = |piece: &str| piece.split_whitespace().all(is_whole);
    commas
        .flat_map(|piece| if words(piece) { piece.split_whitespace().collect() } else { vec![piece] })
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
fn tell_list(text: &str, pieces: &[&str]) -> Option<String> {
    let commas = glob::split_list(text).len();
    match pieces.len() {
        0..=1 if commas > 1 => Some(format!("`{}` is one pattern, commas and all", shown(text))),
        many if many > commas.max(1) => {
            Some("white space stands between patterns; each was read by itself".to_owned())
        }
        _ => None,
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

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn white_space_parts_what_are_patterns_on_either_side() {
        #[track_caller]
        fn check(text: &str, patterns: &[&str]) {
            assert_eq!(split(text), patterns, "{text:?}");
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
