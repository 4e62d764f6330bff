//! Glob dialects: parsed once, matched in linear time.
//!
//! Paths are relative to the root, with `/` between segments, none of which is empty, `.` or `..`;
//! a directory may end in `/`.

mod braces;
mod dialect;
mod error;
mod fold;
mod gitignore;
mod index;
mod list;
mod minimatch;
mod patterns;
mod picomatch;
mod plain;
mod reading;
mod regex;
mod set;
mod traits;
mod vscode;

pub use dialect::Dialect;
pub use error::{GlobError, MAX_ALTERNATIVES, MAX_DEPTH, MAX_LEN, MAX_STEPS, MAX_TOGETHER};
pub use index::PathIndex;
pub use list::split_list;
pub use patterns::{Decision, PatternList, Selection};
pub use set::PatternSet;

use std::borrow::Cow;
use std::sync::OnceLock;

use plain::{Last, Plain};
use reading::{Reading, Turn};
use regex::{Lazy, Needs, Program};
use traits::Traits;

/// A pattern ready to be matched.
#[derive(Clone, Debug)]
pub struct Glob {
    pattern: Box<str>,
    dialect: Dialect,
    /// What is matched, where it is not the pattern as written.
    text: Option<Box<str>>,
    /// Where the text starts after the `!` that turn it around; 0 when none do.
    body: usize,
    turn: Turn,
    plan: Plan,
    /// The whole expression of a plain pattern, for the paths it cannot decide.
    exact: OnceLock<Box<Plan>>,
    /// See [`Glob::entries`].
    entries: OnceLock<Option<Box<[Glob]>>>,
}

#[derive(Clone, Debug)]
enum Plan {
    Plain(Plain),
    Program(Box<(Program, Needs)>),
    /// Not a valid expression: the pattern matches only itself, if its dialect says so.
    Never,
    Always,
}

impl Glob {
    /// Reads `pattern`; fails only when it passes a limit.
    pub fn new(pattern: &str, dialect: Dialect) -> Result<Glob, GlobError> {
        if pattern.is_empty() {
            return Err(GlobError::Empty);
        }
        if pattern.len() > MAX_LEN {
            return Err(GlobError::TooLong { len: pattern.len() });
        }
        let Reading { text, body, turn, plan } = reading::read(pattern, dialect)?;
        let text = (text != pattern).then(|| text.into());
        Ok(Glob { pattern: pattern.into(), dialect, text, body, turn, plan, ..Glob::blank(dialect) })
    }

    /// Matches nothing.
    fn blank(dialect: Dialect) -> Glob {
        Glob {
            pattern: "".into(),
            dialect,
            text: None,
            body: 0,
            turn: Turn::No,
            plan: Plan::Never,
            exact: OnceLock::new(),
            entries: OnceLock::new(),
        }
    }

    /// Where a match stands for all that is below it: globs of which one matches the path, or a folder above it, by itself.
    /// They know how their matches end, which the whole does not.
    fn entries(&self) -> Option<&[Glob]> {
        /// With more, asking the whole is no slower.
        const MAX_ENTRIES: usize = 32;
        if !self.dialect.reaches_below() || self.turn != Turn::No || matches!(self.plan, Plan::Never) {
            return None;
        }
        let read = || {
            let plans = reading::entries(self.text(), self.dialect, MAX_ENTRIES)?;
            Some(plans.into_iter().map(|plan| Glob { plan, ..Glob::blank(self.dialect) }).collect())
        };
        self.entries.get_or_init(read).as_deref()
    }

    /// The pattern as written.
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// How many steps it takes, spelled out.
    fn steps(&self) -> usize {
        match &self.plan {
            Plan::Program(compiled) => compiled.0.steps(),
            _ => 0,
        }
    }

    /// Whose rules it follows.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    fn text(&self) -> &str {
        self.text.as_deref().unwrap_or(&self.pattern)
    }

    /// Whether `path` matches, with a leading `!` turning the answer around.
    ///
    /// In a `.gitignore` a line with `!` only takes back what others say: alone it matches nothing.
    pub fn is_match(&self, path: &str) -> bool {
        self.answer(path, |path| self.fits_folded(path))
    }

    /// The answer for a path, given whether it fits once folded.
    fn answer(&self, path: &str, fits: impl FnOnce(&str) -> bool) -> bool {
        if path.is_empty() {
            return false;
        }
        if self.itself() == Some(path) {
            return true;
        }
        match self.turn {
            Turn::No => fits(&self.folded(path)),
            Turn::Around if self.itself().is_some() => {
                !matches!(self.plan, Plan::Never) && !traits::has_line_break(path) && !fits(path)
            }
            Turn::Around => !fits(path),
            Turn::Back => false,
        }
    }

    /// Whether an odd number of `!` (but not `!(`) turns the whole pattern around.
    pub fn is_negated(&self) -> bool {
        self.turn != Turn::No
    }

    /// Whether the pattern without its leading `!` matches; for callers that exclude by it.
    pub fn matches_ignoring_negation(&self, path: &str) -> bool {
        let is_itself = || self.itself().is_some_and(|text| path == &text[self.body..]);
        !path.is_empty() && (is_itself() || self.fits_folded(&self.folded(path)))
    }

    /// Whether it matches every path, but for those with line breaks.
    pub fn is_universal(&self) -> bool {
        let is_plain = match &self.plan {
            Plan::Plain(plain) => plain.is_universal() && !self.dialect.minds().touch(Traits::HIDDEN),
            Plan::Always => true,
            _ => match self.dialect {
                Dialect::Picomatch => matches!(&*self.pattern, "**/**" | "**/**/**"),
                Dialect::Claude | Dialect::Gitignore => matches!(&*self.pattern, "*" | "**" | "**/*"),
                _ => false,
            },
        };
        is_plain && self.turn == Turn::No
    }

    /// In picomatch every pattern matches itself, whatever it says.
    fn itself(&self) -> Option<&str> {
        matches!(self.dialect, Dialect::Picomatch | Dialect::Amp).then(|| self.text())
    }

    fn folded<'p>(&self, path: &'p str) -> Cow<'p, str> {
        if self.dialect.folds() { fold::fold(path) } else { Cow::Borrowed(path) }
    }

    fn fits_folded(&self, path: &str) -> bool {
        match &self.plan {
            Plan::Never => false,
            Plan::Always => true,
            Plan::Program(compiled) => compiled.1.are_met(path) && compiled.0.is_match(path),
            Plan::Plain(_) if path.ends_with('/') && self.dialect.minds().touch(Traits::FOLDER) => {
                self.fits_exactly(path)
            }
            Plan::Plain(plain) => {
                plain.is_match(self.text(), path)
                    && (!self.dialect.minds().touch(Traits::of(path)) || self.fits_exactly(path))
            }
        }
    }

    /// Asks the expression itself.
    fn fits_exactly(&self, path: &str) -> bool {
        let exact = self.exact.get_or_init(|| {
            Box::new(
                reading::compile(self.text(), self.dialect).map_or(Plan::Never, |compiled| compiled.plan),
            )
        });
        matches!(&**exact, Plan::Program(compiled) if compiled.0.is_match(path))
    }

    /// The whole segments that every match but the pattern itself starts with.
    fn root(&self) -> &str {
        match &self.plan {
            Plan::Never | Plan::Always => "",
            Plan::Program(compiled) => compiled.1.prefix.rsplit_once('/').map_or("", |(root, _)| root),
            Plan::Plain(plain) => plain.root(self.text()),
        }
    }

    /// How the last segment of every match but the pattern itself looks.
    fn last(&self) -> Last<'_> {
        match &self.plan {
            Plan::Never | Plan::Always => Last::Unknown,
            Plan::Program(compiled) => compiled.1.last(),
            Plan::Plain(plain) => plain.last(self.text()),
        }
    }

    /// What stands before the first dot in the last segment of every match but the pattern itself.
    fn stem(&self) -> Option<&str> {
        match &self.plan {
            Plan::Plain(plain) => plain.stem(self.text()),
            _ => None,
        }
    }

    /// Whether the extension is all it asks for.
    fn is_any_with_extension(&self) -> bool {
        match &self.plan {
            Plan::Plain(plain) => plain.is_any_with_extension(self.text()),
            _ => false,
        }
    }

    /// Whether names with an extension differ to it in nothing else, their folder being the same.
    pub(crate) fn asks_extension_only(&self) -> bool {
        match &self.plan {
            Plan::Plain(plain) => self.turn == Turn::No && plain.asks_extension_only(self.text()),
            _ => false,
        }
    }

    /// A segment that every match but the pattern itself has.
    fn segment(&self) -> Option<&str> {
        match &self.plan {
            Plan::Plain(plain) => plain.segment(self.text()),
            _ => None,
        }
    }
}

impl Needs {
    fn are_met(&self, path: &str) -> bool {
        path.starts_with(&*self.prefix) && path.trim_end_matches('/').ends_with(&*self.suffix)
    }

    fn last(&self) -> Last<'_> {
        match self.suffix.rfind(['/', '.']) {
            None => Last::Unknown,
            Some(at) if self.suffix[at..].starts_with('.') => Last::Extension(&self.suffix[at + 1..]),
            Some(at) => Last::Name(&self.suffix[at + 1..]),
        }
    }
}

/// A glob about to be asked for many paths, none of them empty.
enum Asked<'g> {
    Once(&'g Glob),
    /// No path has a trait its dialect minds.
    Plain(&'g Plain, &'g str),
    Lazy(Box<Lazy<'g>>, &'g Needs),
}

impl<'g> Asked<'g> {
    /// For so many paths, which have these traits.
    fn new(glob: &'g Glob, paths: usize, traits: Traits) -> Asked<'g> {
        // Below this, remembering steps costs more than taking them.
        const WORTH_REMEMBERING: usize = 4;
        match &glob.plan {
            Plan::Plain(plain) if !glob.dialect.minds().touch(traits) => Asked::Plain(plain, glob.text()),
            Plan::Program(compiled) if paths >= WORTH_REMEMBERING => {
                let lazy = Lazy::new(&compiled.0).map(Box::new);
                lazy.map_or(Asked::Once(glob), |lazy| Asked::Lazy(lazy, &compiled.1))
            }
            _ => Asked::Once(glob),
        }
    }

    /// Whether a folded path matches, but for a leading `!` and for being the pattern itself.
    fn fits(&mut self, path: &str) -> bool {
        match self {
            Asked::Once(glob) => glob.fits_folded(path),
            Asked::Plain(plain, pattern) => plain.is_match(pattern, path),
            Asked::Lazy(lazy, needs) => needs.are_met(path) && lazy.is_match(path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Dialect, Glob};

    fn glob(pattern: &str) -> Glob {
        Glob::new(pattern, Dialect::Picomatch).unwrap()
    }

    #[track_caller]
    fn check(pattern: &str, path: &str, want: bool) {
        assert_eq!(glob(pattern).is_match(path), want, "`{pattern}` and `{path}`");
    }

    #[test]
    fn a_star_stays_in_its_directory() {
        check("*.ts", "a.ts", true);
        check("*.ts", "src/a.ts", false);
        check("src/*.ts", "src/.a.ts", true);
        check("packages/*/src/**", "packages/a/src/b/c", true);
        check("packages/*/src/**", "packages/a/b/src/c", false);
    }

    #[test]
    fn two_stars_span_directories() {
        check("a/**", "a", true);
        check("a/**", "ab", false);
        check("*/**", "a", false);
        check("a/**/b", "a/b", true);
        check("**/a/**/b/*.ts", "x/a/y/b/c/b/d.ts", true);
        check("**", "a\nb", false);
        check("*", "a\nb", true);
    }

    #[test]
    fn braces_hold_two_or_stand_for_themselves() {
        check("*.{ts,tsx}", "a.tsx", true);
        check("*.{ts}", "a.ts", false);
        check("*.{ts}", "a.{ts}", true);
        check("{1..3}", "2", true);
    }

    #[test]
    fn brackets_are_a_class_and_a_name() {
        check("app/[lang]/page.tsx", "app/[lang]/page.tsx", true);
        check("app/[lang]/page.tsx", "app/l/page.tsx", true);
        check("[!a]", "b", false);
        check("[^a]", "b", true);
    }

    #[test]
    fn a_pattern_matches_itself_whatever_it_says() {
        check("a(b", "a(b", true);
        check("a(b", "ab", false);
        check("!a", "!a", true);
        check("!(a)", "!(a)", true);
    }

    #[test]
    fn units_are_those_of_javascript() {
        check("?", "é", true);
        check("?", "😀", false);
        check("??", "😀", true);
    }

    #[test]
    fn negation_turns_the_whole_pattern_around() {
        #[track_caller]
        fn check(pattern: &str, path: &str, negated: bool, matches: bool, ignoring: bool) {
            let glob = glob(pattern);
            let found = (glob.is_negated(), glob.is_match(path), glob.matches_ignoring_negation(path));
            assert_eq!(found, (negated, matches, ignoring), "`{pattern}` and `{path}`");
        }
        check("!src/**", "src/a", true, false, true);
        check("!src/**", "lib/a", true, true, false);
        check("!!src/**", "src/a", false, true, true);
        check("!(src)", "lib", false, true, true);
        check("!a", "", true, false, false);
        check("!a(b", "a(b", true, false, true);
    }

    #[test]
    fn universal_patterns_are_known() {
        for pattern in ["**", "**/*", "**/**", "**/**/**"] {
            assert!(glob(pattern).is_universal(), "{pattern}");
        }
        for pattern in ["*", "*/**", "**/*.ts", "!**", "a/**", "**/a", "**/a*"] {
            assert!(!glob(pattern).is_universal(), "{pattern}");
        }
    }
}
