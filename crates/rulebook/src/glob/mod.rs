//! Glob dialects: each pattern is parsed once and matched in linear time.
//!
//! Paths are relative to the root and use `/` as the separator. No segment is empty, `.` or `..`;
//! a directory may end in `/`.

mod braces;
mod dialect;
mod each;
mod error;
mod fold;
mod gitignore;
mod globset;
mod hash;
mod index;
mod list;
mod matcher;
mod minimatch;
mod parse;
mod patterns;
mod picomatch;
mod plain;
mod plan;
mod regex;
mod set;
mod traits;
mod vscode;

pub use dialect::Dialect;
pub use error::GlobError;
pub use index::PathIndex;
pub use list::split_list;
pub(crate) use list::split_outside_braces;
pub(crate) use patterns::Selection;
pub use patterns::{Decision, Exclusions, PatternList};
pub use set::PatternSet;

use std::borrow::Cow;
use std::sync::OnceLock;

use error::MAX_LEN;
use parse::{Negation, Parsed};
use plain::{Last, Plain};
use plan::Plan;
use traits::Traits;

/// Expands the braces of a pattern; `None` if there are too many alternatives.
pub(crate) fn expand_braces(pattern: &str) -> Option<Vec<String>> {
    braces::expand(pattern).ok()
}

/// A pattern ready to match paths.
#[derive(Clone, Debug)]
pub struct Glob {
    pattern: Box<str>,
    dialect: Dialect,
    /// The text to match, if it differs from the pattern as written.
    text: Option<Box<str>>,
    /// Where the text starts after the `!` characters that negate it; 0 without any.
    body: usize,
    negation: Negation,
    plan: Plan,
    /// The full expression of a plain pattern, for the paths that the plain form cannot decide.
    exact: OnceLock<Box<Plan>>,
    /// See [`Glob::entries`].
    entries: OnceLock<Option<Box<[Glob]>>>,
}

impl Glob {
    /// Reads `pattern`. Fails only if the pattern exceeds a limit.
    pub fn new(pattern: &str, dialect: Dialect) -> Result<Glob, GlobError> {
        if pattern.is_empty() {
            return Err(GlobError::Empty);
        }
        if pattern.len() > MAX_LEN {
            return Err(GlobError::TooLong { len: pattern.len() });
        }
        let Parsed { text, body, negation, plan } = parse::parse(pattern, dialect)?;
        let text = (text != pattern).then(|| text.into());
        Ok(Glob { pattern: pattern.into(), text, body, negation, ..Glob::from_plan(plan, dialect) })
    }

    fn from_plan(plan: Plan, dialect: Dialect) -> Glob {
        Glob {
            pattern: "".into(),
            dialect,
            text: None,
            body: 0,
            negation: Negation::None,
            plan,
            exact: OnceLock::new(),
            entries: OnceLock::new(),
        }
    }

    /// In dialects where a matching folder covers everything below it: globs such that a path matches this glob if one of
    /// them matches the path or a folder above it. Unlike the whole glob, they know how their matches end.
    fn entries(&self) -> Option<&[Glob]> {
        /// With more entries, matching the whole glob is as fast.
        const MAX_ENTRIES: usize = 32;
        if !self.dialect.covers_folders()
            || self.negation != Negation::None
            || matches!(self.plan, Plan::Never)
        {
            return None;
        }
        let read = || {
            let plans = parse::entries(self.text(), self.dialect, MAX_ENTRIES)?;
            Some(plans.into_iter().map(|plan| Glob::from_plan(plan, self.dialect)).collect())
        };
        self.entries.get_or_init(read).as_deref()
    }

    /// The pattern as written.
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// The number of instructions it compiles to.
    fn steps(&self) -> usize {
        match &self.plan {
            Plan::Program(compiled) => compiled.0.steps(),
            _ => 0,
        }
    }

    /// The dialect that the pattern is written in.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    fn text(&self) -> &str {
        self.text.as_deref().unwrap_or(&self.pattern)
    }

    /// Whether `path` matches; a leading `!` inverts the result.
    ///
    /// In a `.gitignore`, a line with `!` only excludes paths that other lines match: alone it matches nothing.
    pub fn is_match(&self, path: &str) -> bool {
        self.is_match_with(path, |path| self.matches_folded(path))
    }

    /// As [`Glob::is_match`], where `matches` matches the folded path.
    fn is_match_with(&self, path: &str, matches: impl FnOnce(&str) -> bool) -> bool {
        if path.is_empty() {
            return false;
        }
        if self.own_text() == Some(path) {
            return true;
        }
        match self.negation {
            Negation::None => matches(&self.folded(path)),
            Negation::Inverts if self.own_text().is_some() => {
                !matches!(self.plan, Plan::Never) && !traits::has_line_break(path) && !matches(path)
            }
            Negation::Inverts => !matches(path),
            Negation::Excludes => false,
        }
    }

    /// Whether an odd number of leading `!` (other than `!(`) negates the pattern.
    pub(crate) fn is_negated(&self) -> bool {
        self.negation != Negation::None
    }

    /// Whether the pattern matches without its leading `!`, for callers that exclude by it.
    pub fn matches_ignoring_negation(&self, path: &str) -> bool {
        let is_own_text = || self.own_text().is_some_and(|text| path == &text[self.body..]);
        !path.is_empty() && (is_own_text() || self.matches_folded(&self.folded(path)))
    }

    /// The pattern's text, in dialects where every pattern matches its own text.
    fn own_text(&self) -> Option<&str> {
        matches!(self.dialect, Dialect::Picomatch | Dialect::Amp).then(|| self.text())
    }

    fn folded<'p>(&self, path: &'p str) -> Cow<'p, str> {
        if self.dialect.ignores_case() { fold::fold(path) } else { Cow::Borrowed(path) }
    }

    fn matches_folded(&self, path: &str) -> bool {
        let special = self.dialect.special_traits();
        match &self.plan {
            Plan::Never => false,
            Plan::Always => true,
            Plan::Program(compiled) => compiled.1.are_in(path) && compiled.0.is_match(path),
            Plan::Plain(_) if path.ends_with('/') && special.intersects(Traits::FOLDER) => {
                self.matches_exactly(path)
            }
            Plan::Plain(plain) => {
                plain.is_match(self.text(), path)
                    && (!special.intersects(Traits::of(path)) || self.matches_exactly(path))
            }
        }
    }

    /// Runs the full expression of a plain pattern.
    fn matches_exactly(&self, path: &str) -> bool {
        let compile = || parse::compile(self.text(), self.dialect).map_or(Plan::Never, |parsed| parsed.plan);
        let exact = self.exact.get_or_init(|| Box::new(compile()));
        matches!(&**exact, Plan::Program(compiled) if compiled.0.is_match(path))
    }

    fn plain(&self) -> Option<&Plain> {
        if let Plan::Plain(plain) = &self.plan { Some(plain) } else { None }
    }

    // The next six describe every match except for the pattern's own text.

    /// The whole segments that a match starts with.
    fn root(&self) -> &str {
        match &self.plan {
            Plan::Never | Plan::Always => "",
            Plan::Program(compiled) => compiled.1.prefix.rsplit_once('/').map_or("", |(root, _)| root),
            Plan::Plain(plain) => plain.root(self.text()),
        }
    }

    /// What is known about the last segment.
    fn last(&self) -> Last<'_> {
        match &self.plan {
            Plan::Never | Plan::Always => Last::Unknown,
            Plan::Program(compiled) => compiled.1.last(),
            Plan::Plain(plain) => plain.last(self.text()),
        }
    }

    /// The part of the last segment before its first dot.
    fn stem(&self) -> Option<&str> {
        match &self.plan {
            Plan::Never | Plan::Always => None,
            Plan::Program(compiled) => compiled.1.stem.as_deref(),
            Plan::Plain(plain) => plain.stem(self.text()),
        }
    }

    /// A segment that is somewhere in the path.
    fn segment(&self) -> Option<&str> {
        self.plain()?.segment(self.text())
    }

    /// Whether the extension alone decides.
    fn is_any_with_extension(&self) -> bool {
        self.plain().is_some_and(|plain| plain.is_any_with_extension(self.text()))
    }

    /// Whether folder and extension alone decide.
    pub(crate) fn depends_on_extension_only(&self) -> bool {
        !self.is_negated() && self.plain().is_some_and(|plain| plain.depends_on_extension_only(self.text()))
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
    fn braces_around_a_single_word_are_literal() {
        check("*.{ts,tsx}", "a.tsx", true);
        check("*.{ts}", "a.ts", false);
        check("*.{ts}", "a.{ts}", true);
        check("{1..3}", "2", true);
    }

    #[test]
    fn brackets_match_as_a_class_and_as_literal_text() {
        check("app/[lang]/page.tsx", "app/[lang]/page.tsx", true);
        check("app/[lang]/page.tsx", "app/l/page.tsx", true);
        check("[!a]", "b", false);
        check("[^a]", "b", true);
    }

    #[test]
    fn a_pattern_matches_its_own_text() {
        check("a(b", "a(b", true);
        check("a(b", "ab", false);
        check("!a", "!a", true);
        check("!(a)", "!(a)", true);
    }

    #[test]
    fn a_question_mark_matches_one_utf16_unit() {
        check("?", "é", true);
        check("?", "😀", false);
        check("??", "😀", true);
    }

    #[test]
    fn a_leading_exclamation_mark_inverts_the_result() {
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
}
