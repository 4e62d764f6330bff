//! Glob dialects: parsed once, matched in linear time.
//!
//! Paths are relative to the root, with `/` between segments, none of which is empty, `.` or `..`;
//! a directory may end in `/`.

mod dialect;
mod error;
mod index;
mod list;
mod picomatch;
mod plain;
mod regex;

pub use dialect::Dialect;
pub use error::{GlobError, MAX_ALTERNATIVES, MAX_DEPTH, MAX_LEN, MAX_STEPS};
pub use index::PathIndex;
pub use list::split_list;

use plain::{Last, Plain};
use regex::{Fault, Lazy, Needs, Program};

/// A pattern ready to be matched.
#[derive(Clone, Debug)]
pub struct Glob {
    pattern: Box<str>,
    /// Where the pattern starts after the `!` that turn it around; 0 when none do.
    body: usize,
    is_negated: bool,
    plan: Plan,
}

#[derive(Clone, Debug)]
enum Plan {
    Plain(Plain),
    Program(Box<(Program, Needs)>),
    /// Not a valid expression: the pattern matches only itself.
    Itself,
}

impl Glob {
    /// Reads `pattern`; fails only when it passes a limit.
    pub fn new(pattern: &str, dialect: Dialect) -> Result<Glob, GlobError> {
        let _ = dialect;
        if pattern.is_empty() {
            return Err(GlobError::Empty);
        }
        if pattern.len() > MAX_LEN {
            return Err(GlobError::TooLong { len: pattern.len() });
        }
        let body = usize::from(pattern.starts_with('!'));
        match Plain::read(pattern, body) {
            Some(plain) => {
                Ok(Glob { pattern: pattern.into(), body, is_negated: body > 0, plan: Plan::Plain(plain) })
            }
            None => Glob::compile(pattern),
        }
    }

    fn compile(pattern: &str) -> Result<Glob, GlobError> {
        let translation = picomatch::translate(pattern)?;
        let plan = match regex::compile(&format!("^(?:{})$", translation.source)) {
            Ok(compiled) => Plan::Program(Box::new(compiled)),
            Err(Fault::Invalid) => Plan::Itself,
            Err(Fault::Refused(error)) => return Err(error),
        };
        let (body, is_negated) = (translation.body, translation.negated);
        Ok(Glob { pattern: pattern.into(), body, is_negated, plan })
    }

    /// The pattern as written.
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// Whether `path` matches, with a leading `!` turning the answer around.
    pub fn is_match(&self, path: &str) -> bool {
        if path.is_empty() {
            return false;
        }
        if path == &*self.pattern {
            return true;
        }
        match (&self.plan, self.is_negated) {
            (Plan::Itself, _) => false,
            (_, true) => !has_line_break(path) && !self.fits(path),
            (_, false) => self.fits(path),
        }
    }

    /// Whether an odd number of `!` (but not `!(`) turns the whole pattern around.
    pub fn is_negated(&self) -> bool {
        self.is_negated
    }

    /// Whether the pattern without its leading `!` matches; for callers that exclude by it.
    pub fn matches_ignoring_negation(&self, path: &str) -> bool {
        !path.is_empty() && (path == &self.pattern[self.body..] || self.fits(path))
    }

    /// Whether it matches every path, but for those with line breaks.
    pub fn is_universal(&self) -> bool {
        match &self.plan {
            Plan::Plain(plain) => !self.is_negated && plain.is_universal(),
            _ => matches!(&*self.pattern, "**/**" | "**/**/**"),
        }
    }

    fn fits(&self, path: &str) -> bool {
        match &self.plan {
            Plan::Itself => false,
            Plan::Program(compiled) => compiled.1.are_met(path) && compiled.0.is_match(path),
            Plan::Plain(plain) => {
                plain.is_match(&self.pattern, path) && (!has_line_break(path) || self.fits_exactly(path))
            }
        }
    }

    /// Asks the expression itself: `*` takes line breaks, `**` does not.
    fn fits_exactly(&self, path: &str) -> bool {
        match Glob::compile(&self.pattern) {
            Ok(Glob { plan: Plan::Program(compiled), .. }) => compiled.0.is_match(path),
            _ => false,
        }
    }

    /// The literal that every match but the pattern itself starts with.
    fn prefix(&self) -> &str {
        match &self.plan {
            Plan::Itself => &self.pattern,
            Plan::Program(compiled) => &compiled.1.prefix,
            Plan::Plain(plain) => plain.prefix(&self.pattern),
        }
    }

    /// How the last segment of every match but the pattern itself looks.
    fn last(&self) -> Last<'_> {
        match &self.plan {
            Plan::Itself => Last::Unknown,
            Plan::Program(compiled) => compiled.1.last(),
            Plan::Plain(plain) => plain.last(&self.pattern),
        }
    }

    /// Whether the extension is all it asks for.
    fn is_any_with_extension(&self) -> bool {
        match &self.plan {
            Plan::Plain(plain) => plain.is_any_with_extension(&self.pattern),
            _ => false,
        }
    }

    /// A segment that every match but the pattern itself has.
    fn segment(&self) -> Option<&str> {
        match &self.plan {
            Plan::Plain(plain) => plain.segment(&self.pattern),
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
    /// No path has a line break.
    Plain(&'g Plain, &'g str),
    Lazy(Box<Lazy<'g>>, &'g Needs),
}

impl<'g> Asked<'g> {
    fn new(glob: &'g Glob, paths: usize, has_line_breaks: bool) -> Asked<'g> {
        // Below this, remembering steps costs more than taking them.
        const WORTH_REMEMBERING: usize = 4;
        match &glob.plan {
            Plan::Plain(plain) if !has_line_breaks => Asked::Plain(plain, &glob.pattern),
            Plan::Program(compiled) if paths >= WORTH_REMEMBERING => {
                let lazy = Lazy::new(&compiled.0).map(Box::new);
                lazy.map_or(Asked::Once(glob), |lazy| Asked::Lazy(lazy, &compiled.1))
            }
            _ => Asked::Once(glob),
        }
    }

    /// Whether `path` matches, but for a leading `!` and for being the pattern itself.
    fn fits(&mut self, path: &str) -> bool {
        match self {
            Asked::Once(glob) => glob.fits(path),
            Asked::Plain(plain, pattern) => plain.is_match(pattern, path),
            Asked::Lazy(lazy, needs) => needs.are_met(path) && lazy.is_match(path),
        }
    }
}

fn has_line_break(path: &str) -> bool {
    let has_candidate = path.bytes().any(|c| matches!(c, b'\n' | b'\r' | 0xe2));
    has_candidate && path.contains(['\n', '\r', '\u{2028}', '\u{2029}'])
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
