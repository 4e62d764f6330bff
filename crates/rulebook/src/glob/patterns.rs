//! A list of patterns in one dialect, matched together.

use std::borrow::Cow;

use super::error::{GlobError, MAX_ALTERNATIVES, MAX_LIST_STEPS, MAX_STEPS};
use super::gitignore::{self, Reach, Reader};
use super::plan::Plan;
use super::{Dialect, Glob, fold, parse};

/// Patterns in one dialect, in the order they are written.
#[derive(Clone, Debug)]
pub struct PatternList {
    dialect: Dialect,
    combination: Combination,
    patterns: Vec<Pattern>,
}

#[derive(Clone, Debug)]
struct Pattern {
    /// The pattern as written, if the glob does not have it.
    written: Option<Box<str>>,
    /// `None` if the pattern was rejected: it matches nothing.
    glob: Option<Glob>,
    /// The paths it matches are excluded.
    excludes: bool,
    /// Matches a path by itself, if the folders above it are matched first.
    entry: Option<Box<Plan>>,
}

/// How the patterns of a list combine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Combination {
    /// One matching pattern is enough.
    Any,
    /// A pattern matches and no `!pattern` does. If all patterns exclude, every other path matches.
    Excluding,
    /// The last matching pattern decides: first for every folder above a path, then for the path itself.
    Ordered,
}

/// What `!pattern` does in a list of patterns that is no `.gitignore`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exclusions {
    /// What users of the dialect expect.
    OfDialect,
    /// It excludes what other patterns match.
    Excluded,
    /// The agent tries one pattern after the other: it matches every other path.
    OneByOne,
    /// It is not documented, and neither are groups and escaped characters.
    Undocumented,
}

impl Exclusions {
    /// Whether it is not documented what a pattern matches.
    pub(crate) fn leave_open(self, pattern: &str) -> bool {
        self == Exclusions::Undocumented && pattern.contains(['!', '(', '\\'])
    }
}

/// The result of matching a list against a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Whether the list matches.
    pub matches: bool,
    /// The position of the pattern that decided, for or against; `None` if no pattern applies to the path.
    pub by: Option<usize>,
}

/// The paths that a list matches, and the patterns that matched them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Selection {
    /// The numbers of the paths, ascending.
    pub(crate) paths: Vec<usize>,
    /// The positions of the patterns that match any of them, ascending.
    pub(crate) patterns: Vec<usize>,
}

impl PatternList {
    /// Reads patterns. A pattern that exceeds a limit is passed to `rejected` with its position and matches nothing.
    pub fn new<'p>(
        patterns: impl IntoIterator<Item = &'p str>,
        dialect: Dialect,
        rejected: impl FnMut(usize, GlobError),
    ) -> PatternList {
        PatternList::read(patterns, dialect, dialect.combination(), rejected)
    }

    /// As [`PatternList::new`] for an agent that is known to treat `!pattern` in this way.
    pub(crate) fn excluding<'p>(
        patterns: impl IntoIterator<Item = &'p str>,
        dialect: Dialect,
        exclusions: Exclusions,
        rejected: impl FnMut(usize, GlobError),
    ) -> PatternList {
        let combination = match (exclusions, dialect.combination()) {
            (_, Combination::Ordered) => Combination::Ordered,
            (Exclusions::OneByOne, _) => Combination::Any,
            (Exclusions::Excluded, _) => Combination::Excluding,
            (Exclusions::OfDialect | Exclusions::Undocumented, own) => own,
        };
        PatternList::read(patterns, dialect, combination, rejected)
    }

    fn read<'p>(
        patterns: impl IntoIterator<Item = &'p str>,
        dialect: Dialect,
        combination: Combination,
        mut rejected: impl FnMut(usize, GlobError),
    ) -> PatternList {
        let (mut alternatives, mut steps) = (0, 0);
        let read = patterns.into_iter().enumerate().map(|(at, written)| {
            let glob = check_alternatives(written, dialect, &mut alternatives);
            let glob =
                glob.and_then(|()| read_within(without_exclusion(written, combination), dialect, &mut steps));
            let glob = glob.inspect_err(|error| rejected(at, *error)).ok();
            let has_it = glob.as_ref().is_some_and(|glob| glob.pattern() == written);
            let own_text = (!has_it).then(|| written.into());
            Pattern { written: own_text, glob, excludes: excludes(written, combination), entry: None }
        });
        let mut list = PatternList { dialect, combination, patterns: read.collect() };
        if list.matches_folders_first() {
            list.patterns.iter_mut().for_each(|pattern| pattern.entry = pattern.entry(dialect));
        }
        list
    }

    /// The patterns as written.
    pub fn patterns(&self) -> impl Iterator<Item = &str> {
        self.patterns.iter().map(Pattern::written)
    }

    /// A text that is the same for lists that match the same paths.
    pub(crate) fn key(&self) -> String {
        let patterns = self.patterns.iter().map(|pattern| {
            let sign = if pattern.excludes { "!" } else { "" };
            [sign, pattern.glob.as_ref().map_or("", Glob::pattern)].concat()
        });
        let patterns = patterns.collect::<Vec<_>>().join("\0");
        format!("{:?} {:?} {patterns}", self.dialect, self.combination)
    }

    /// The globs that include paths, with their positions.
    pub(crate) fn including(&self) -> impl Iterator<Item = (usize, &Glob)> {
        self.globs(false)
    }

    pub(super) fn globs(&self, excludes: bool) -> impl Iterator<Item = (usize, &Glob)> {
        let patterns =
            self.patterns.iter().enumerate().filter(move |(_, pattern)| pattern.excludes == excludes);
        patterns.filter_map(|(at, pattern)| Some((at, pattern.glob.as_ref()?)))
    }

    /// The glob at a position, unless it was rejected.
    pub(crate) fn glob(&self, at: usize) -> Option<&Glob> {
        self.patterns.get(at)?.glob.as_ref()
    }

    /// Matches a pattern as if it were written as `correct` returns it. The pattern as written stays the same.
    pub(crate) fn corrected(mut self, correct: impl Fn(&str) -> Option<String>) -> PatternList {
        for pattern in &mut self.patterns {
            if let Some(text) = correct(pattern.written()) {
                let glob = Glob::new(without_exclusion(&text, self.combination), self.dialect).ok();
                *pattern = Pattern { written: Some(pattern.written().into()), glob, ..pattern.clone() };
            }
        }
        self
    }

    /// The same patterns in lower case.
    pub(crate) fn lowercase(&self) -> PatternList {
        let lower = |pattern: &Pattern| {
            let text =
                pattern.glob.as_ref().map_or_else(|| pattern.written(), |glob| glob.pattern()).to_lowercase();
            let glob = pattern.glob.as_ref().and_then(|_| Glob::new(&text, self.dialect).ok());
            Pattern { written: Some(text.into()), glob, ..pattern.clone() }
        };
        PatternList { patterns: self.patterns.iter().map(lower).collect(), ..self.clone() }
    }

    /// Converts to the semantics of stream rules: an including pattern without a slash matches at any depth, and parentheses
    /// around a single word are part of a name.
    pub(crate) fn into_gate(mut self) -> PatternList {
        let (dialect, combination) = (self.dialect, self.combination);
        for pattern in &mut self.patterns {
            let Some(read) = &pattern.glob else { continue };
            let written = pattern.written();
            let mut text = with_literal_groups(without_exclusion(written, combination), dialect);
            if !pattern.excludes && !read.is_negated() && !text.contains('/') {
                text.to_mut().insert_str(0, "**/");
            }
            if let Cow::Owned(text) = text {
                let written = written.into();
                pattern.glob = Glob::new(&text, dialect).ok();
                pattern.written = Some(written);
            }
        }
        self
    }

    /// Whether the list matches a path, and which pattern decides.
    pub fn decide(&self, path: &str) -> Decision {
        if self.matches_folders_first() {
            return self.decide_in_order(path);
        }
        let first = |excludes: bool| {
            let hits = |pattern: &Pattern| pattern.excludes == excludes && pattern.is_match(path);
            self.patterns.iter().position(hits)
        };
        if let Some(by) = first(true) {
            return Decision { matches: false, by: Some(by) };
        }
        let by = first(false);
        Decision { matches: by.is_some() || (self.only_excludes() && !path.is_empty()), by }
    }

    /// Selects from numbered paths: `all` numbers, those that a glob matches (`hits`), and the `path` of a number.
    pub(crate) fn select<'p, H: AsRef<[usize]>>(
        &self,
        all: &[usize],
        hits: impl Fn(&Glob) -> H,
        path: impl Fn(usize) -> &'p str,
    ) -> Selection {
        let hits_of = |excludes: bool| {
            let mut all: Vec<usize> = Vec::new();
            self.globs(excludes).for_each(|(_, glob)| all.extend_from_slice(hits(glob).as_ref()));
            merged(all)
        };
        let mut selection = Selection::default();
        if self.matches_folders_first() {
            for (at, decision) in hits_of(false).into_iter().map(|at| (at, self.decide_in_order(path(at)))) {
                if decision.matches {
                    selection.paths.push(at);
                    selection.patterns.extend(decision.by);
                }
            }
        } else {
            let excluded = hits_of(true);
            let is_included = |at: &&usize| excluded.binary_search(at).is_err();
            for (at, glob) in self.globs(false) {
                let before = selection.paths.len();
                match excluded.is_empty() {
                    true => selection.paths.extend_from_slice(hits(glob).as_ref()),
                    false => selection.paths.extend(hits(glob).as_ref().iter().filter(is_included)),
                }
                if selection.paths.len() > before {
                    selection.patterns.push(at);
                }
            }
            if self.only_excludes() {
                selection.paths.extend(all.iter().filter(is_included));
                if !selection.paths.is_empty() {
                    selection.patterns.extend(0..self.patterns.len());
                }
            }
        }
        Selection { paths: merged(selection.paths), patterns: merged(selection.patterns) }
    }

    pub(super) fn only_excludes(&self) -> bool {
        let excludes_all = self.patterns.iter().all(|pattern| pattern.excludes);
        self.combination == Combination::Excluding && !self.patterns.is_empty() && excludes_all
    }

    /// Whether a line excludes what other lines match, so that each folder above a path must be matched first.
    pub(super) fn matches_folders_first(&self) -> bool {
        self.combination == Combination::Ordered && self.patterns.iter().any(|pattern| pattern.excludes)
    }

    fn decide_in_order(&self, path: &str) -> Decision {
        let path = if self.dialect.ignores_case() { fold::fold(path) } else { path.into() };
        let folders = path.match_indices('/').map(|(at, _)| at + 1).filter(|&end| end < path.len());
        let mut by = None;
        for end in folders.chain([path.len()]) {
            by = self.patterns.iter().rposition(|pattern| pattern.is_entry(&path[..end]));
            if by.is_some_and(|by| !self.patterns[by].excludes) {
                return Decision { matches: true, by };
            }
        }
        Decision { matches: false, by }
    }
}

impl Pattern {
    fn written(&self) -> &str {
        let own_text = self.written.as_deref();
        own_text.or_else(|| self.glob.as_ref().map(Glob::pattern)).unwrap_or_default()
    }

    fn is_match(&self, path: &str) -> bool {
        self.glob.as_ref().is_some_and(|glob| glob.is_match(path))
    }

    fn entry(&self, dialect: Dialect) -> Option<Box<Plan>> {
        let glob = self.glob.as_ref()?;
        parse::gitignore_plan(&glob.text()[glob.body..], dialect, Reach::Entry).ok().map(Box::new)
    }

    /// Whether a folded path matches by itself.
    fn is_entry(&self, path: &str) -> bool {
        matches!(self.entry.as_deref(), Some(Plan::Program(compiled)) if compiled.1.are_in(path) && compiled.0.is_match(path))
    }
}

impl Dialect {
    fn combination(self) -> Combination {
        match self {
            Dialect::Picomatch | Dialect::Amp => Combination::Excluding,
            Dialect::Claude | Dialect::Gitignore => Combination::Ordered,
            Dialect::Minimatch | Dialect::VsCode | Dialect::CopilotCli => Combination::Any,
        }
    }
}

/// Sorts and deduplicates. The input is several ascending runs, which the stable sort merges.
fn merged(mut numbers: Vec<usize>) -> Vec<usize> {
    numbers.sort();
    numbers.dedup();
    numbers
}

fn excludes(written: &str, combination: Combination) -> bool {
    match combination {
        Combination::Any => false,
        Combination::Excluding => written.starts_with('!') && !written.starts_with("!("),
        Combination::Ordered => written.starts_with('!'),
    }
}

/// The pattern without a `!` that the list itself handles.
fn without_exclusion(written: &str, combination: Combination) -> &str {
    let is_exclusion = combination == Combination::Excluding && excludes(written, combination);
    &written[usize::from(is_exclusion)..]
}

/// Escapes parentheses around a single word, as in the file name `app/(shop)/page.tsx`. As a group they have no effect, and
/// the other dialects already read them literally.
fn with_literal_groups(text: &str, dialect: Dialect) -> Cow<'_, str> {
    if !matches!(dialect, Dialect::Picomatch | Dialect::Amp) || !text.contains('(') {
        return Cow::Borrowed(text);
    }
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once('(') {
        out.push_str(before);
        let is_plain = !before.ends_with(['@', '!', '+', '*', '?', '\\']);
        let inner = after.split_once(')').filter(|(inner, _)| is_plain && !inner.contains(['|', '(']));
        rest = after;
        if let Some((inner, after)) = inner {
            out.push_str(&format!("\\({inner}\\)"));
            rest = after;
        } else {
            out.push('(');
        }
    }
    Cow::Owned(out + rest)
}

/// Reads a pattern within the step limit of its list. Only patterns with alternatives count: the steps of others are
/// proportional to their length. Once the limit is reached, further patterns with alternatives are not read.
fn read_within(written: &str, dialect: Dialect, steps: &mut usize) -> Result<Glob, GlobError> {
    if !written.contains(['{', '(']) {
        return Glob::new(written, dialect);
    }
    if *steps > MAX_LIST_STEPS {
        return Err(GlobError::ListTooLarge);
    }
    let read = Glob::new(written, dialect);
    // Rejecting a pattern as too large takes as many steps.
    *steps += read.as_ref().map_or(MAX_STEPS, Glob::steps);
    let glob = read?;
    if *steps > MAX_LIST_STEPS { Err(GlobError::ListTooLarge) } else { Ok(glob) }
}

/// Checks the limit on alternatives that Claude Code applies to all patterns of a rule together.
fn check_alternatives(written: &str, dialect: Dialect, alternatives: &mut usize) -> Result<(), GlobError> {
    if dialect != Dialect::Claude || !written.contains('{') {
        return Ok(());
    }
    let count = gitignore::lines(written, Reader::Claude)?.len();
    if *alternatives + count > MAX_ALTERNATIVES {
        return Err(GlobError::TooManyAlternatives);
    }
    *alternatives += count;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of `count` patterns are read, and how many are rejected because of the patterns before them.
    fn read(dialect: Dialect, count: usize, pattern: impl Fn(usize) -> String) -> (usize, usize) {
        let patterns: Vec<String> = (0..count).map(pattern).collect();
        let (mut rejected, mut beyond_limit) = (0, 0);
        PatternList::new(patterns.iter().map(String::as_str), dialect, |_, error| {
            rejected += 1;
            beyond_limit += usize::from(error == GlobError::ListTooLarge);
        });
        (count - rejected, beyond_limit)
    }

    #[test]
    fn a_list_compiles_to_a_bounded_number_of_steps() {
        let braces =
            |at: usize| format!("{{a,b}}{{c,d}}{{e,f}}{{g,h}}{{i,j}}{{k,l}}{{m,n}}{{o,p}}{{q,{at}}}/**/*.ts");
        for dialect in [Dialect::Picomatch, Dialect::Minimatch, Dialect::VsCode] {
            let (taken, beyond_limit) = read(dialect, 2_000, braces);
            assert!(taken < 600 && beyond_limit > 1_300, "{dialect:?} {taken} {beyond_limit}");
        }
    }

    #[test]
    fn realistic_long_lists_are_accepted() {
        for dialect in
            [Dialect::Picomatch, Dialect::Minimatch, Dialect::VsCode, Dialect::Claude, Dialect::Gitignore]
        {
            assert_eq!(
                read(dialect, 2_000, |at| format!("packages/p{at}/src/main.ts")),
                (2_000, 0),
                "{dialect:?}"
            );
            assert_eq!(
                read(dialect, 200, |at| format!("packages/p{at}/**/*.{{ts,tsx}}")),
                (200, 0),
                "{dialect:?}"
            );
        }
    }
}
