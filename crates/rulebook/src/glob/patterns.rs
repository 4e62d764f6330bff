//! Several patterns of one dialect, asked together.

use std::borrow::Cow;

use super::gitignore::{self, Reach};
use super::{Dialect, Glob, GlobError, MAX_ALTERNATIVES, MAX_STEPS, MAX_TOGETHER, Plan, fold, reading};

/// Patterns of one dialect in the order they are written, and how they work together.
#[derive(Clone, Debug)]
pub struct PatternList {
    dialect: Dialect,
    patterns: Vec<Pattern>,
}

#[derive(Clone, Debug)]
struct Pattern {
    /// The pattern as written, where the glob has not that.
    written: Option<Box<str>>,
    /// Nothing where it is refused: it matches nothing.
    glob: Option<Glob>,
    /// What it matches is left out.
    excludes: bool,
    /// The pattern for a path by itself, where the folders above it are asked before.
    entry: Option<Box<Plan>>,
}

/// How the patterns of a list work together.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Together {
    /// Each speaks for itself: one that matches is enough.
    Each,
    /// Some pattern matches and no `!pattern`; if all exclude, none of them matches.
    Excluding,
    /// The last pattern that matches decides, for every folder above a path before the path itself.
    Ordered,
}

/// What a list says about a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Whether the list matches.
    pub matches: bool,
    /// The position of the pattern that decided, for or against; nothing where none had a say.
    pub by: Option<usize>,
}

/// The paths a list matches, and by which of its patterns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// The paths as numbered by who asked, ascending.
    pub paths: Vec<usize>,
    /// The positions of the patterns that brought some of them in, ascending.
    pub patterns: Vec<usize>,
}

impl PatternList {
    /// Reads patterns. One that passes a limit is refused: told with its position, it matches nothing.
    pub fn new<'p>(
        patterns: impl IntoIterator<Item = &'p str>,
        dialect: Dialect,
        mut refused: impl FnMut(usize, GlobError),
    ) -> PatternList {
        let (mut alternatives, mut steps) = (0, 0);
        let read = patterns.into_iter().enumerate().map(|(at, written)| {
            let glob = within_budget(written, dialect, &mut alternatives);
            let glob = glob.and_then(|()| read_within(bare(written, dialect), dialect, &mut steps));
            let glob = glob.inspect_err(|error| refused(at, *error)).ok();
            let has_it = glob.as_ref().is_some_and(|glob| glob.pattern() == written);
            let own = (!has_it).then(|| written.into());
            Pattern { written: own, glob, excludes: excludes(written, dialect), entry: None }
        });
        let mut list = PatternList { dialect, patterns: read.collect() };
        if list.asks_folders() {
            list.patterns.iter_mut().for_each(|pattern| pattern.entry = pattern.entry(dialect));
        }
        list
    }

    /// The patterns as written.
    pub fn patterns(&self) -> impl Iterator<Item = &str> {
        self.patterns.iter().map(Pattern::written)
    }

    /// The globs that bring paths in, with their positions.
    pub(crate) fn including(&self) -> impl Iterator<Item = (usize, &Glob)> {
        self.globs(false)
    }

    fn globs(&self, excludes: bool) -> impl Iterator<Item = (usize, &Glob)> {
        let patterns =
            self.patterns.iter().enumerate().filter(move |(_, pattern)| pattern.excludes == excludes);
        patterns.filter_map(|(at, pattern)| Some((at, pattern.glob.as_ref()?)))
    }

    /// The glob at a position, unless it is refused.
    pub(crate) fn glob(&self, at: usize) -> Option<&Glob> {
        self.patterns.get(at)?.glob.as_ref()
    }

    /// The same patterns as the gates of stream rules mean them: one without a slash that brings paths in is found at any
    /// depth, and parentheses around one thing are part of a name.
    pub(crate) fn into_gate(mut self) -> PatternList {
        let dialect = self.dialect;
        for pattern in &mut self.patterns {
            let Some(read) = &pattern.glob else { continue };
            let written = pattern.written();
            let mut text = with_literal_groups(bare(written, dialect), dialect);
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

    /// Whether the list matches a path, and which pattern says so.
    pub fn decide(&self, path: &str) -> Decision {
        if self.asks_folders() {
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

    /// Selects from paths that go by numbers: `all` of them, those a glob `hits`, and each one's `path`.
    pub fn select<'p, H: AsRef<[usize]>>(
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
        if self.asks_folders() {
            for (at, decision) in hits_of(false).into_iter().map(|at| (at, self.decide_in_order(path(at)))) {
                if decision.matches {
                    selection.paths.push(at);
                    selection.patterns.extend(decision.by);
                }
            }
        } else {
            let left_out = hits_of(true);
            let is_left = |at: &&usize| left_out.binary_search(at).is_err();
            for (at, glob) in self.globs(false) {
                let before = selection.paths.len();
                match left_out.is_empty() {
                    true => selection.paths.extend_from_slice(hits(glob).as_ref()),
                    false => selection.paths.extend(hits(glob).as_ref().iter().filter(is_left)),
                }
                if selection.paths.len() > before {
                    selection.patterns.push(at);
                }
            }
            if self.only_excludes() {
                selection.paths.extend(all.iter().filter(is_left));
                if !selection.paths.is_empty() {
                    selection.patterns.extend(0..self.patterns.len());
                }
            }
        }
        Selection { paths: merged(selection.paths), patterns: merged(selection.patterns) }
    }

    fn only_excludes(&self) -> bool {
        let excludes_all = self.patterns.iter().all(|pattern| pattern.excludes);
        self.dialect.together() == Together::Excluding && !self.patterns.is_empty() && excludes_all
    }

    /// Whether some line takes back what others say, so that each folder must be asked in turn.
    fn asks_folders(&self) -> bool {
        self.dialect.together() == Together::Ordered && self.patterns.iter().any(|pattern| pattern.excludes)
    }

    fn decide_in_order(&self, path: &str) -> Decision {
        let path = if self.dialect.folds() { fold::fold(path) } else { path.into() };
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
        let own = self.written.as_deref();
        own.or_else(|| self.glob.as_ref().map(Glob::pattern)).unwrap_or_default()
    }

    fn is_match(&self, path: &str) -> bool {
        self.glob.as_ref().is_some_and(|glob| glob.is_match(path))
    }

    fn entry(&self, dialect: Dialect) -> Option<Box<Plan>> {
        let glob = self.glob.as_ref()?;
        reading::ignoring(&glob.text()[glob.body..], dialect, Reach::Entry).ok().map(Box::new)
    }

    /// Whether a folded path matches by itself.
    fn is_entry(&self, path: &str) -> bool {
        matches!(self.entry.as_deref(), Some(Plan::Program(compiled)) if compiled.1.are_met(path) && compiled.0.is_match(path))
    }
}

impl Dialect {
    fn together(self) -> Together {
        match self {
            Dialect::Picomatch | Dialect::Amp => Together::Excluding,
            Dialect::Claude | Dialect::Gitignore => Together::Ordered,
            Dialect::Minimatch | Dialect::VsCode | Dialect::CopilotCli => Together::Each,
        }
    }
}

/// Numbers in order, each once. They are several ascending lists, which the stable sort merges.
fn merged(mut numbers: Vec<usize>) -> Vec<usize> {
    numbers.sort();
    numbers.dedup();
    numbers
}

fn excludes(written: &str, dialect: Dialect) -> bool {
    match dialect.together() {
        Together::Each => false,
        Together::Excluding => written.starts_with('!') && !written.starts_with("!("),
        Together::Ordered => written.starts_with('!'),
    }
}

/// The pattern to be matched: a list that excludes turns answers around by itself.
fn bare(written: &str, dialect: Dialect) -> &str {
    let is_turned = dialect.together() == Together::Excluding && excludes(written, dialect);
    &written[usize::from(is_turned)..]
}

/// Escapes parentheses around one thing, which nobody needs as a pattern: `app/(shop)/page.tsx` is a file's name. The
/// other dialects read them so.
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
        if let Some((inner, behind)) = inner {
            out.push_str(&format!("\\({inner}\\)"));
            rest = behind;
        } else {
            out.push('(');
        }
    }
    Cow::Owned(out + rest)
}

/// Reads a pattern, if its list has room for it. Only alternatives take room: the steps of other patterns are as many as
/// their signs, about. One that brings alternatives to a list that is full is not even read.
fn read_within(written: &str, dialect: Dialect, steps: &mut usize) -> Result<Glob, GlobError> {
    if !written.contains(['{', '(']) {
        return Glob::new(written, dialect);
    }
    if *steps > MAX_TOGETHER {
        return Err(GlobError::TooLargeTogether);
    }
    let read = Glob::new(written, dialect);
    // To find one too large takes as many steps.
    *steps += read.as_ref().map_or(MAX_STEPS, Glob::steps);
    let glob = read?;
    if *steps > MAX_TOGETHER { Err(GlobError::TooLargeTogether) } else { Ok(glob) }
}

/// Claude Code expands the braces of one rule's patterns out of one budget.
fn within_budget(written: &str, dialect: Dialect, alternatives: &mut usize) -> Result<(), GlobError> {
    if dialect != Dialect::Claude || !written.contains('{') {
        return Ok(());
    }
    let count = gitignore::count(written)?;
    if *alternatives + count > MAX_ALTERNATIVES {
        return Err(GlobError::TooManyAlternatives);
    }
    *alternatives += count;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of so many patterns of one kind are read, and how many are not because of those before them.
    fn read(dialect: Dialect, count: usize, pattern: impl Fn(usize) -> String) -> (usize, usize) {
        let patterns: Vec<String> = (0..count).map(pattern).collect();
        let (mut refused, mut crowded_out) = (0, 0);
        PatternList::new(patterns.iter().map(String::as_str), dialect, |_, error| {
            refused += 1;
            crowded_out += usize::from(error == GlobError::TooLargeTogether);
        });
        (count - refused, crowded_out)
    }

    #[test]
    fn a_list_spells_out_to_a_bounded_number_of_steps() {
        let braces =
            |at: usize| format!("{{a,b}}{{c,d}}{{e,f}}{{g,h}}{{i,j}}{{k,l}}{{m,n}}{{o,p}}{{q,{at}}}/**/*.ts");
        for dialect in [Dialect::Picomatch, Dialect::Minimatch, Dialect::VsCode] {
            let (taken, crowded_out) = read(dialect, 2_000, braces);
            assert!(taken < 600 && crowded_out > 1_300, "{dialect:?} {taken} {crowded_out}");
        }
    }

    #[test]
    fn long_lists_that_people_write_fit() {
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
