//! Glob dialects: parsed once, matched in linear time.
//!
//! Paths are relative to the root, with `/` between segments, none of which is empty, `.` or `..`;
//! a directory may end in `/`.

mod error;
mod index;
mod list;
mod picomatch;
mod plain;
mod regex;

pub use error::{GlobError, MAX_ALTERNATIVES, MAX_DEPTH, MAX_LEN, MAX_STEPS};
pub use index::PathIndex;
pub use list::split_list;

use plain::{Last, Plain};
use regex::{Fault, Needs, Program};

/// Whose glob rules a pattern follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// npm's picomatch 4 with `dot: true`.
    Picomatch,
}

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
        let Dialect::Picomatch = dialect;
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
            Plan::Program(compiled) => compiled.0.is_match(path),
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

    fn last(&self) -> Last<'_> {
        match &self.plan {
            Plan::Itself => Last::Unknown,
            Plan::Program(compiled) => {
                let suffix = &compiled.1.suffix;
                match suffix.rsplit_once(['/', '.']) {
                    None => Last::Unknown,
                    Some((rest, end)) if suffix.as_bytes()[rest.len()] == b'.' => Last::Extension(end),
                    Some((_, name)) => Last::Name(name),
                }
            }
            Plan::Plain(plain) => plain.last(&self.pattern),
        }
    }
}

fn has_line_break(path: &str) -> bool {
    let has_candidate = path.bytes().any(|c| matches!(c, b'\n' | b'\r' | 0xe2));
    has_candidate && path.contains(['\n', '\r', '\u{2028}', '\u{2029}'])
}
