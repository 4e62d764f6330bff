//! Reads a pattern as its dialect does: what is matched, what a `!` does, and how it is asked.

use std::borrow::Cow;

use super::error::GlobError;
use super::gitignore::{self, Reach, Reader};
use super::minimatch::{self, Options};
use super::plain::{Plain, Rules};
use super::regex::{self, Fault, Needs, Program};
use super::{Dialect, Plan, fold, picomatch, vscode};

/// What a leading `!` does to the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    No,
    /// What the rest does not match, matches.
    Around,
    /// What the rest matches is taken back from the patterns before it.
    Back,
}

/// A pattern as its dialect reads it.
pub(super) struct Reading<'p> {
    pub(super) text: Cow<'p, str>,
    /// Where the text goes on after its `!`.
    pub(super) body: usize,
    pub(super) turn: Turn,
    pub(super) plan: Plan,
}

/// Reads a pattern that is neither empty nor too long.
pub(super) fn read(pattern: &str, dialect: Dialect) -> Result<Reading<'_>, GlobError> {
    let fixed = |plan| Ok(Reading { text: pattern.into(), body: 0, turn: Turn::No, plan });
    let text: Cow<'_, str> = match dialect {
        Dialect::Picomatch => pattern.into(),
        Dialect::Amp => at_any_depth(pattern),
        Dialect::Minimatch | Dialect::Claude | Dialect::Gitignore if pattern.starts_with('#') => {
            return fixed(Plan::Never);
        }
        Dialect::Minimatch | Dialect::Claude | Dialect::Gitignore => pattern.into(),
        Dialect::CopilotCli => match copilot(pattern) {
            Ok(text) => text.into(),
            Err(plan) => return fixed(plan),
        },
        Dialect::VsCode if matches!(pattern, "*" | "**" | "**/*") => return fixed(Plan::Always),
        Dialect::VsCode => match vscode::relative(pattern) {
            Some(text) => fold::fold(&text).into_owned().into(),
            None => return fixed(Plan::Never),
        },
    };
    let (body, turn) = turned(&text, dialect);
    let rules = match dialect {
        Dialect::Picomatch | Dialect::Amp => Some(Rules::PICOMATCH),
        Dialect::Minimatch => Some(Rules::MINIMATCH),
        Dialect::CopilotCli if turn == Turn::Around => None,
        Dialect::CopilotCli => Some(Rules::COPILOT),
        Dialect::VsCode => Some(Rules::VSCODE),
        Dialect::Claude | Dialect::Gitignore => None,
    };
    if let Some(plain) = rules.and_then(|rules| Plain::read(&text, body, rules)) {
        return Ok(Reading { text, body, turn, plan: Plan::Plain(plain) });
    }
    let compiled = compile(&text, dialect)?;
    Ok(Reading { text, ..compiled })
}

/// What Copilot's command line makes of a pattern: it knows no extglobs, no ranges and no empty folder, and braces around
/// one thing stand for it. It asks for the path and for the name alone, and either is enough: so a name is found at any
/// depth, and a `!` with a folder behind it leaves nothing out.
fn copilot(pattern: &str) -> Result<String, Plan> {
    const EXTGLOBS: [&str; 5] = ["@(", "+(", "*(", "?(", "!("];
    let (sign, rest) = pattern.split_at(usize::from(pattern.starts_with('!')));
    if rest.contains("//") || EXTGLOBS.iter().any(|sign| rest.contains(sign)) {
        return Err(Plan::Never);
    }
    if !sign.is_empty() && rest.trim_start_matches("**/").contains('/') {
        return Err(Plan::Always);
    }
    let mut text = format!("{sign}{}", rest.strip_prefix("./").unwrap_or(rest));
    let mut at = 0;
    while let Some(open) = text[at..].find('{').map(|open| at + open) {
        at = open + 1;
        let inner = text[at..].find(['{', '}', ',']).map(|end| at + end);
        if let Some(end) = inner.filter(|end| *end > at && text[*end..].starts_with('}')) {
            text.replace_range(end..=end, "");
            text.replace_range(open..at, "");
            at = open;
        }
    }
    Ok(text)
}

/// Amp looks everywhere unless told where to start.
fn at_any_depth(pattern: &str) -> Cow<'_, str> {
    let (sign, rest) = pattern.split_at(usize::from(pattern.starts_with('!') && !pattern.starts_with("!(")));
    let is_placed = ["./", "../", "/", "**/"].iter().any(|start| rest.starts_with(start));
    if is_placed { pattern.into() } else { format!("{sign}**/{rest}").into() }
}

fn turned(text: &str, dialect: Dialect) -> (usize, Turn) {
    let signs = text.len() - text.trim_start_matches('!').len();
    match dialect {
        // With more than one, or with an extglob, the translation tells.
        Dialect::Picomatch | Dialect::Amp if signs > 0 => (1, Turn::Around),
        Dialect::Minimatch if signs % 2 == 1 => (signs, Turn::Around),
        Dialect::Minimatch => (signs, Turn::No),
        Dialect::Claude | Dialect::Gitignore if signs > 0 => (1, Turn::Back),
        Dialect::CopilotCli if signs > 0 => (1, Turn::Around),
        _ => (0, Turn::No),
    }
}

/// Makes the whole expression of a text.
pub(super) fn compile(text: &str, dialect: Dialect) -> Result<Reading<'static>, GlobError> {
    let (body, turn) = turned(text, dialect);
    let done = |plan, body, turn| Ok(Reading { text: Cow::Borrowed(""), body, turn, plan });
    let rest = &text[body..];
    let plan = match dialect {
        Dialect::Picomatch | Dialect::Amp => {
            let translation = picomatch::translate(text)?;
            let plan = plan(regex::compile(&format!("^(?:{})$", translation.source)))?;
            let turn = if translation.negated { Turn::Around } else { Turn::No };
            return done(plan, translation.body, turn);
        }
        Dialect::Minimatch => node_plan(rest, Options { dot: false, match_base: false })?,
        Dialect::CopilotCli => node_plan(rest, Options { dot: true, match_base: turn == Turn::No })?,
        Dialect::VsCode => plan(regex::compile_folded(&format!("^(?:{})$", vscode::translate(rest)?)))?,
        Dialect::Claude | Dialect::Gitignore => ignoring(rest, dialect, Reach::Below)?,
    };
    done(plan, body, turn)
}

/// The plan for a line of a `.gitignore` without its `!`.
pub(super) fn ignoring(line: &str, dialect: Dialect, reach: Reach) -> Result<Plan, GlobError> {
    let lines = gitignore::lines(line, reader(dialect))?;
    let mut sources =
        lines.iter().filter_map(|line| gitignore::translate(line, reader(dialect), reach)).peekable();
    if sources.peek().is_none() {
        return Ok(Plan::Never);
    }
    plan(regex::compile_any(sources, dialect.folds()))
}

/// The plans for a path by itself: one for each line that a pattern without `!` stands for, where those are few.
pub(super) fn entries(pattern: &str, dialect: Dialect, most: usize) -> Option<Vec<Plan>> {
    let lines = gitignore::lines(pattern, reader(dialect)).ok().filter(|lines| lines.len() <= most)?;
    lines.iter().map(|line| ignoring(line, dialect, Reach::Entry).ok()).collect()
}

fn reader(dialect: Dialect) -> Reader {
    if dialect == Dialect::Claude { Reader::Claude } else { Reader::Git }
}

fn node_plan(text: &str, options: Options) -> Result<Plan, GlobError> {
    let node = minimatch::translate(text, options)?;
    Ok(Plan::Program(Box::new(regex::compile_node(&node)?)))
}

fn plan(compiled: Result<(Program, Needs), Fault>) -> Result<Plan, GlobError> {
    match compiled {
        Ok(compiled) => Ok(Plan::Program(Box::new(compiled))),
        Err(Fault::Invalid) => Ok(Plan::Never),
        Err(Fault::Refused(error)) => Err(error),
    }
}
