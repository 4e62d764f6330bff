//! Selecting: which rules are exported.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use rulebook::agent::{AGENTS, Agent};
use rulebook::diagnostic::nearest;
use rulebook::export::Target;
use rulebook::format::{FormatId, PlaceKind};
use rulebook::resolve::Rulebook;
use rulebook::rule::{Activation, Rule};
use rulebook::source::Scope;

/// A format that rules can be exported from.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Candidate {
    /// Its name.
    pub format: &'static str,
    /// How many rules it has here.
    pub rules: usize,
}

impl Candidate {
    /// Returns the formats of the workspace that have rules to export, by name.
    pub fn of(book: &Rulebook) -> Vec<Candidate> {
        Candidate::of_rules(&exportable(book, &|rule| !rule.copy_of.is_empty() && !rule.is_located()))
    }

    fn of_rules(rules: &[&Rule]) -> Vec<Candidate> {
        let mut formats: BTreeMap<&'static str, usize> = BTreeMap::new();
        rules.iter().for_each(|rule| *formats.entry(rule.origin.format.name()).or_default() += 1);
        formats.into_iter().map(|(format, rules)| Candidate { format, rules }).collect()
    }
}

/// Why no rules were selected.
#[derive(Debug)]
#[non_exhaustive]
pub enum SelectError {
    /// Nothing was named.
    Missing(Vec<Candidate>),
    /// There are no rules of what was named.
    Empty,
    /// No rule has that format, file, key or id.
    Unknown {
        /// The name.
        name: String,
        /// A similar one.
        nearest: Option<String>,
    },
}

/// Why nothing was planned.
#[derive(Debug)]
pub enum PlanError {
    /// The rules to export are not known.
    Select(SelectError),
    /// No copy or list that is kept in step has this source.
    NotCopied(String),
    /// A file cannot be read.
    Read(io::Error),
}

impl From<io::Error> for PlanError {
    fn from(error: io::Error) -> PlanError {
        PlanError::Read(error)
    }
}

impl std::fmt::Display for SelectError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SelectError::Missing(_) => f.write_str("`--from` is missing"),
            SelectError::Empty => f.write_str("no rules found to copy"),
            SelectError::Unknown { name, .. } => {
                write!(f, "no format or rule named `{name}`")
            }
        }
    }
}

impl SelectError {
    /// Returns what to do.
    pub fn help(&self) -> String {
        match self {
            SelectError::Missing(found) if found.is_empty() => {
                "there are no rules in this workspace".to_owned()
            }
            SelectError::Missing(found) => {
                let count = |candidate: &Candidate| {
                    let s = if candidate.rules == 1 { "" } else { "s" };
                    format!("`--from {}` ({} rule{s})", candidate.format, candidate.rules)
                };
                let all: Vec<String> = found.iter().map(count).collect();
                format!("add {}, or set `from` under `[export]` in `rulebook.toml`", all.join(" or "))
            }
            SelectError::Empty => "`rulebook status` lists the rules of this workspace".to_owned(),
            SelectError::Unknown { nearest: Some(near), .. } => format!("did you mean `{near}`?"),
            SelectError::Unknown { .. } => {
                "`rulebook status` lists the rules; name one by its file, key or id".to_owned()
            }
        }
    }
}

impl std::error::Error for SelectError {}

/// Whether a rule of the workspace can be exported at all.
fn is_exportable(rule: &Rule, is_copy: &dyn Fn(&Rule) -> bool) -> bool {
    let is_file = !matches!(rule.origin.place.shape, PlaceKind::Imported);
    rule.origin.scope == Scope::Workspace
        && is_file
        && rule.origin.format.id != FormatId::Skill
        && rule.enabled
        && !rule.body.is_empty()
        && rule.activation != Activation::Never
        && !is_copy(rule)
}

/// Returns the rules that names stand for and that cannot be copied for any agent, with the reason. `gone` is the source of a copy
/// that is gone.
pub(super) fn not_copied<'b>(
    book: &'b Rulebook,
    from: &[String],
    is_copy: &dyn Fn(&Rule) -> bool,
    gone: &dyn Fn(&Rule) -> Option<String>,
) -> Vec<(&'b Rule, String)> {
    let is_file = |rule: &&Rule| {
        !matches!(rule.origin.place.shape, PlaceKind::Imported)
            && rule.origin.scope == Scope::Workspace
            && rule.origin.format.id != FormatId::Skill
            && is_selected(rule, from)
    };
    let why = |rule: &Rule| {
        if is_copy(rule) {
            const REMEDY: &str = "to make it a rule, rename it and remove the line that says so";
            return gone(rule).map(|source| format!("it is a copy of `{source}`, which is gone; {REMEDY}"));
        }
        let reasons = [
            (!rule.enabled, "it is switched off"),
            (rule.body.is_empty() && rule.imports.is_empty(), "it has no text"),
            (!rule.body.is_empty() && rule.activation == Activation::Never, "nothing activates it"),
        ];
        reasons.into_iter().find(|(holds, _)| *holds).map(|(_, why)| why.to_owned())
    };
    let rules = book.rules().map(|(rule, _)| rule).filter(is_file);
    rules.filter_map(|rule| Some((rule, why(rule)?))).collect()
}

/// Returns the agent of the only name, if it has no format of its own, and the format of the files that it reads.
pub(super) fn reader(from: &[String]) -> Option<(&'static Agent, FormatId)> {
    let [name] = from else { return None };
    let agent = AGENTS.iter().find(|agent| agent.name == name.to_lowercase())?;
    let target = Target::named(agent.name).filter(|_| FormatId::named(agent.name).is_none())?;
    Some((agent, target.reads(&target.path("", "a"))?.format.id))
}

/// Returns the format that a name stands for.
fn format_of(from: &[String], name: &str) -> Option<FormatId> {
    reader(from).map(|(_, format)| format).or_else(|| FormatId::named(&name.to_lowercase()))
}

/// Whether these names stand for a rule: by its format, file, key or id.
fn is_selected(rule: &Rule, from: &[String]) -> bool {
    from.iter().any(|name| match format_of(from, name) {
        Some(format) => rule.origin.format.id == format,
        None => rule.is_called(name),
    })
}

fn exportable<'b>(book: &'b Rulebook, is_copy: &dyn Fn(&Rule) -> bool) -> Vec<&'b Rule> {
    book.rules().map(|(rule, _)| rule).filter(|rule| is_exportable(rule, is_copy)).collect()
}

/// Selects the rules that names stand for, in the order of the book.
pub(super) fn select<'b>(
    book: &'b Rulebook,
    from: &[String],
    is_copy: &dyn Fn(&Rule) -> bool,
) -> Result<Vec<&'b Rule>, SelectError> {
    let exportable = exportable(book, is_copy);
    if from.is_empty() {
        return Err(SelectError::Missing(Candidate::of_rules(&exportable)));
    }
    for name in from {
        if format_of(from, name).is_none() && !book.rules().any(|(rule, _)| rule.is_called(name)) {
            let formats = FormatId::NAMES.iter().map(|(format, _)| *format);
            let known = formats.chain(exportable.iter().map(|rule| rule.id.as_str()));
            let nearest = nearest(name, known).map(str::to_owned);
            return Err(SelectError::Unknown { name: name.clone(), nearest });
        }
    }
    let mut wanted: BTreeSet<&str> = BTreeSet::new();
    let all = || book.rules().map(|(rule, _)| rule);
    let mut open: Vec<&Rule> = all().filter(|rule| is_selected(rule, from)).collect();
    // What a rule imports belongs to it, even if its file contains nothing else.
    while let Some(rule) = open.pop() {
        if wanted.insert(&rule.origin.path) && !rule.imports.is_empty() {
            let is_import =
                |other: &&Rule| rule.imports.iter().any(|import| import.path == other.origin.path);
            open.extend(all().filter(is_import));
        }
    }
    Ok(exportable.into_iter().filter(|rule| wanted.contains(rule.origin.path.as_str())).collect())
}
