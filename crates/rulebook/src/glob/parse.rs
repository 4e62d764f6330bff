//! Reads a pattern as its dialect does: the text to match, the effect of a `!`, and the plan for matching.

use std::borrow::Cow;

use super::error::GlobError;
use super::gitignore::{self, Reach, Reader};
use super::plain::{Plain, Rules};
use super::plan::Plan;
use super::regex::{self, Fault, Literals, Program};
use super::{Dialect, fold, globset, minimatch, picomatch, vscode};

/// The effect of a leading `!`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Negation {
    None,
    /// A path matches if the rest of the pattern does not.
    Inverts,
    /// A path that the rest matches is excluded from the matches of earlier patterns.
    Excludes,
}

pub(super) struct Parsed<'p> {
    pub(super) text: Cow<'p, str>,
    /// Where the text continues after its `!`.
    pub(super) body: usize,
    pub(super) negation: Negation,
    pub(super) plan: Plan,
}

/// Reads a pattern that is neither empty nor too long.
pub(super) fn parse(pattern: &str, dialect: Dialect) -> Result<Parsed<'_>, GlobError> {
    let fixed = |plan| Ok(Parsed { text: pattern.into(), body: 0, negation: Negation::None, plan });
    let text: Cow<'_, str> = match dialect {
        Dialect::Picomatch => pattern.into(),
        Dialect::Amp => at_any_depth(pattern),
        Dialect::Minimatch | Dialect::Claude | Dialect::Gitignore if pattern.starts_with('#') => {
            return fixed(Plan::Never);
        }
        Dialect::Minimatch | Dialect::Claude | Dialect::Gitignore => pattern.into(),
        Dialect::CopilotCli => copilot(pattern),
        Dialect::VsCode if matches!(pattern, "*" | "**" | "**/*") => return fixed(Plan::Always),
        Dialect::VsCode => match vscode::relative(pattern) {
            Some(text) => fold::fold(&text).into_owned().into(),
            None => return fixed(Plan::Never),
        },
    };
    let (body, negation) = negation(&text, dialect);
    let rules = match dialect {
        Dialect::Picomatch | Dialect::Amp => Some(Rules::PICOMATCH),
        Dialect::Minimatch => Some(Rules::MINIMATCH),
        Dialect::CopilotCli if negation == Negation::Inverts => None,
        Dialect::CopilotCli => Some(Rules::COPILOT),
        Dialect::VsCode => Some(Rules::VSCODE),
        Dialect::Claude | Dialect::Gitignore => None,
    };
    if let Some(plain) = rules.and_then(|rules| Plain::read(&text, body, rules)) {
        return Ok(Parsed { text, body, negation, plan: Plan::Plain(plain) });
    }
    let compiled = compile(&text, dialect)?;
    Ok(Parsed { text, ..compiled })
}

/// Removes what Copilot's command line removes: `./`, and pairs of `!`.
fn copilot(pattern: &str) -> Cow<'_, str> {
    let rest = pattern.trim_start_matches('!');
    let is_negated = (pattern.len() - rest.len()) % 2 == 1;
    let rest = rest.strip_prefix("./").filter(|rest| !rest.starts_with('!')).unwrap_or(rest);
    if is_negated { format!("!{rest}").into() } else { rest.into() }
}

/// Amp matches at any depth unless the pattern says where to start.
fn at_any_depth(pattern: &str) -> Cow<'_, str> {
    let is_negated = pattern.starts_with('!') && !pattern.starts_with("!(");
    let (negation, rest) = pattern.split_at(usize::from(is_negated));
    let is_placed = ["./", "../", "/", "**/"].iter().any(|start| rest.starts_with(start));
    if is_placed { pattern.into() } else { format!("{negation}**/{rest}").into() }
}

/// Where the text starts after its leading `!` characters, and their effect.
fn negation(text: &str, dialect: Dialect) -> (usize, Negation) {
    let marks = text.len() - text.trim_start_matches('!').len();
    match dialect {
        // With several `!`, or with an extglob, the translation decides.
        Dialect::Picomatch | Dialect::Amp if marks > 0 => (1, Negation::Inverts),
        Dialect::Minimatch if marks % 2 == 1 => (marks, Negation::Inverts),
        Dialect::Minimatch => (marks, Negation::None),
        Dialect::Claude | Dialect::Gitignore if marks > 0 => (1, Negation::Excludes),
        Dialect::CopilotCli if marks > 0 => (1, Negation::Inverts),
        _ => (0, Negation::None),
    }
}

/// Compiles the full expression of a text.
pub(super) fn compile(text: &str, dialect: Dialect) -> Result<Parsed<'static>, GlobError> {
    let (body, negation) = negation(text, dialect);
    let done = |plan, body, negation| Ok(Parsed { text: Cow::Borrowed(""), body, negation, plan });
    let rest = &text[body..];
    let plan = match dialect {
        Dialect::Picomatch | Dialect::Amp => {
            let translation = picomatch::translate(text)?;
            let plan = plan(regex::compile(&format!("^(?:{})$", translation.source)))?;
            let negation = if translation.negated { Negation::Inverts } else { Negation::None };
            return done(plan, translation.body, negation);
        }
        Dialect::Minimatch => Plan::Program(Box::new(regex::compile_node(&minimatch::translate(rest)?)?)),
        Dialect::CopilotCli => {
            let is_negated = negation == Negation::Inverts;
            let translate = if is_negated { globset::translate_negated } else { globset::translate };
            match translate(rest)? {
                Some(sources) if is_negated && sources.is_empty() => {
                    return done(Plan::Always, body, Negation::None);
                }
                Some(sources) => plan_any(sources.into_iter(), dialect)?,
                None => return done(Plan::Never, body, Negation::None),
            }
        }
        Dialect::VsCode => plan(regex::compile_folded(&format!("^(?:{})$", vscode::translate(rest)?)))?,
        Dialect::Claude | Dialect::Gitignore => gitignore_plan(rest, dialect, Reach::Below)?,
    };
    done(plan, body, negation)
}

/// The plan for a line of a `.gitignore` without its `!`.
pub(super) fn gitignore_plan(line: &str, dialect: Dialect, reach: Reach) -> Result<Plan, GlobError> {
    let lines = gitignore::lines(line, reader(dialect))?;
    plan_any(lines.iter().filter_map(|line| gitignore::translate(line, reader(dialect), reach)), dialect)
}

/// The plan for several expressions, one of which must match.
fn plan_any(sources: impl Iterator<Item = String>, dialect: Dialect) -> Result<Plan, GlobError> {
    let mut sources = sources.peekable();
    if sources.peek().is_none() {
        return Ok(Plan::Never);
    }
    plan(regex::compile_any(sources, dialect.ignores_case()))
}

/// One plan for each line that a pattern without `!` expands to, matching a path by itself. `None` if there are more than
/// `max` lines.
pub(super) fn entries(pattern: &str, dialect: Dialect, max: usize) -> Option<Vec<Plan>> {
    let lines = gitignore::lines(pattern, reader(dialect)).ok().filter(|lines| lines.len() <= max)?;
    lines.iter().map(|line| gitignore_plan(line, dialect, Reach::Entry).ok()).collect()
}

fn reader(dialect: Dialect) -> Reader {
    if dialect == Dialect::Claude { Reader::Claude } else { Reader::Git }
}

fn plan(compiled: Result<(Program, Literals), Fault>) -> Result<Plan, GlobError> {
    match compiled {
        Ok(compiled) => Ok(Plan::Program(Box::new(compiled))),
        Err(Fault::Invalid) => Ok(Plan::Never),
        Err(Fault::Unsupported(error)) => Err(error),
    }
}
