//! Comparing: where an agent treats a file differently from what its author meant.

mod words;

use std::collections::HashMap;

use serde::{Serialize, Serializer};

use crate::agent::{Agent, Nested};
use crate::diagnostic::{Code, Diagnostic, Severity, any_of};
use crate::format::keys::PATHS;
use crate::format::{Base, Depth, Format, FormatId, PlaceKind, StatedActivation};
use crate::glob::Exclusions;
use crate::parse::{Entry, Parsed, means_everything};
use crate::rule::{Activation, Basis, Rule};
use crate::source::Origin;
pub(crate) use words::describe;
use words::{conditions_of, described, excluded, patterns, should};

/// What an agent does with a file instead of what was meant.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// What was meant: "on for `src/**`".
    pub meant: String,
    /// What the agent does.
    pub does: Outcome,
    /// Why, in a few words, unless the outcome says it.
    pub why: Option<String>,
    /// What the agent should do, as a part of a sentence: "apply to `src/**`".
    should: String,
    /// The first problem found when the file was read as the agent reads it.
    cause: Option<Diagnostic>,
}

/// What an agent does with a rule file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// It does not read the file.
    Unread,
    /// It rejects the file.
    Rejects,
    /// It reads the whole file as a header.
    OnlyHeader,
    /// It removes comments, and the file has nothing else.
    OnlyComments,
    /// It always applies the rule.
    Always,
    /// It never applies the rule.
    Never,
    /// It never applies the rule because its list of paths is empty.
    NoPaths,
    /// It only offers the rule to the model.
    Offers,
    /// It does not document what it does.
    Undocumented,
    /// It activates the rule in this way.
    Has(String),
}

impl Outcome {
    fn of(rule: &Rule) -> Outcome {
        let has_paths = || rule.conditions.iter().any(|condition| condition.key == "paths");
        match rule.activation {
            Activation::Always => Outcome::Always,
            Activation::OnRequest => Outcome::Offers,
            Activation::Never if rule.is_undocumented() => Outcome::Undocumented,
            Activation::Never => Outcome::Never,
            Activation::When if rule.globs.is_empty() && has_paths() => Outcome::NoPaths,
            Activation::When | Activation::Manual | Activation::Stream => Outcome::Has(describe(rule)),
        }
    }

    fn code(&self) -> Code {
        match self {
            Outcome::Always => Code::AgentAlways,
            Outcome::Offers | Outcome::Undocumented | Outcome::Has(_) => Code::AgentDiffers,
            _ => Code::AgentNever,
        }
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Outcome::Unread => f.write_str("does not read the file"),
            Outcome::Rejects => f.write_str("rejects the file"),
            Outcome::OnlyHeader => f.write_str("reads the whole file as a header, so no text is left"),
            Outcome::OnlyComments => f.write_str("removes HTML comments, so no text is left"),
            Outcome::Always => f.write_str("always applies it"),
            Outcome::Never => f.write_str("never applies it"),
            Outcome::NoPaths => f.write_str("never applies it: its list of paths is empty"),
            Outcome::Offers => f.write_str("only offers it to the model"),
            Outcome::Undocumented => f.write_str("does not document what it does with the file"),
            Outcome::Has(activation) => match activation.strip_prefix("on ") {
                Some(when) => write!(f, "applies it {when}"),
                None => write!(f, "has it {activation}"),
            },
        }
    }
}

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Difference {
    /// Returns the code of its diagnostic.
    pub fn code(&self) -> Code {
        self.does.code()
    }

    /// Reports the difference as a problem of the rule's file.
    #[must_use]
    pub fn diagnostic(&self, agent: &Agent, rule: &Rule) -> Diagnostic {
        let is_nested = self.is_nested(rule);
        let message = self.sentence(agent, rule);
        let found = Diagnostic::whole(self.code(), &rule.origin.display, message).of_agent(agent.name);
        match &self.cause {
            Some(cause) => Diagnostic {
                line: cause.line,
                column: cause.column,
                excerpt: cause.excerpt.clone(),
                fix: cause.fix.clone(),
                help: stated_as(rule)
                    .filter(|_| self.does == Outcome::Undocumented)
                    .map_or_else(|| cause.help.clone(), |stated| format!("write `{stated}`")),
                ..found
            },
            // The agent may be started there.
            None if is_nested => found.severity(Severity::Note).help(self.remedy(agent, rule)),
            None => found.help(self.remedy(agent, rule)),
        }
    }

    /// Whether the agent does not document what it does with a header that means something.
    pub fn is_unstated(&self, rule: &Rule) -> bool {
        self.does == Outcome::Undocumented && stated_as(rule).is_some()
    }

    /// Says what was meant and what the agent does.
    pub fn sentence(&self, agent: &Agent, rule: &Rule) -> String {
        let (title, does, should) = (agent.title, &self.does, &self.should);
        match &self.why {
            _ if self.is_nested(rule) => {
                format!("{title} reads this file only if it is started in `{}`", rule.origin.folder)
            }
            // Nobody means that: the header does not say when the rule applies.
            Some(why) if rule.activation == Activation::Never => format!("{why}; {title} {does}"),
            Some(why) => format!("this rule should {should}, but {title} {does}: {why}"),
            None => format!("this rule should {should}, but {title} {does}"),
        }
    }

    /// Whether the agent does not read the file because of the folder it is in.
    pub fn is_nested(&self, rule: &Rule) -> bool {
        self.does == Outcome::Unread && !rule.origin.folder.is_empty()
    }

    /// Returns what to do if no problem of the header explains the difference.
    fn remedy(&self, agent: &Agent, rule: &Rule) -> String {
        let title = agent.title;
        let view = || format!("run `rulebook explain --as {}` to see what {title} applies", agent.name);
        let knows_always = || rule.origin.format.known_keys().contains(&"alwaysApply");
        match self.does {
            Outcome::Unread if self.is_nested(rule) => {
                format!("start {title} there, or move the rule to the folder where you start it")
            }
            Outcome::Unread if let Some(others) = instead_of(agent, &rule.origin) => {
                format!("{title} reads it only without {others}: move its text there, or remove it")
            }
            Outcome::Unread => match readable_files(agent, &rule.origin) {
                Some(files) => format!("move or rename it: {title} reads {files}"),
                None => view(),
            },
            Outcome::NoPaths => "add a pattern, or remove the key".to_owned(),
            Outcome::Undocumented if let Some(stated) = stated_as(rule) => format!("write `{stated}`"),
            Outcome::Has(_) if matches_one_by_one(agent, rule) => {
                format!(
                    "list what to include: {title} tries each pattern by itself, so `!` includes every other file"
                )
            }
            Outcome::Offers if knows_always() => "add `alwaysApply: true` to apply it always".to_owned(),
            _ => view(),
        }
    }
}

/// Whether the agent does not exclude what a pattern of a rule excludes.
fn matches_one_by_one(agent: &Agent, rule: &Rule) -> bool {
    let is_alone = |format: &Format| format.exclusions == Exclusions::OneByOne;
    rule.globs.iter().any(|glob| excluded(glob).is_some())
        && readings(agent, rule.origin.format.id).any(is_alone)
}

/// Returns how the agent's own key states what a header means: `trigger: glob`. `None` if it has no such key or word.
fn stated_as(rule: &Rule) -> Option<String> {
    let modes = rule.origin.format.modes.filter(|_| rule.basis == Basis::Explicit)?;
    let meant = match rule.activation {
        Activation::Always => StatedActivation::Always,
        Activation::When => StatedActivation::Glob,
        _ => return None,
    };
    let (word, _) = modes.words.iter().find(|(_, stated)| *stated == meant)?;
    Some(format!("{}: {word}", modes.key))
}

/// Describes which files the agent reads in the folder of a file of its format.
pub(crate) fn readable_files(agent: &Agent, origin: &Origin) -> Option<String> {
    readings(agent, origin.format.id).flat_map(|format| format.workspace).find_map(|place| {
        let PlaceKind::Folder { files, depth, .. } = place.shape else { return None };
        let position = if depth == Depth::Flat { "directly in" } else { "in" };
        let is_read = place.base != Base::Top && agent.nested_at(place) == Nested::Read;
        let is_at_root = is_read || origin.folder.is_empty();
        let root = if is_at_root { "" } else { " of the folder where it is started" };
        let is_here = origin.display.contains(place.path);
        is_here.then(|| format!("`{}` {position} `{}`{root}", files.shown(), place.path))
    })
}

/// Describes what an agent reads instead of a file.
fn instead_of(agent: &Agent, origin: &Origin) -> Option<String> {
    let has_place = |format: &&Format| format.workspace.iter().any(|place| place.path == origin.place.path);
    let format = agent.formats.iter().find(|format| !format.unless.is_empty() && has_place(format))?;
    Some(any_of(format.unless))
}

/// Returns the agent's readings of a format.
fn readings(agent: &Agent, id: FormatId) -> impl Iterator<Item = &'static Format> {
    agent.formats.iter().filter(move |format| format.id == id)
}

/// Compares a rule as meant with the agent's reading of the same file. Returns `None` if they agree.
#[must_use]
pub fn compare(meant: &Rule, own: Option<&Parsed>) -> Option<Difference> {
    let rule = match own.map(|own| &own.entry) {
        Some(Entry::Rule(rule)) => Some(rule),
        Some(Entry::Rejected(_)) | None => None,
    };
    let is_only_header = rule.is_some_and(|rule| rule.body.is_empty() && !meant.body.is_empty());
    if !is_only_header && rule.is_some_and(|rule| describe(rule) == described(meant, rule)) {
        return None;
    }
    // A pattern for everything and no pattern are the same to people.
    let is_always = |rule: &Rule| rule.activation == Activation::Always;
    let is_for_everything = |rule: &Rule| rule.globs.iter().any(|glob| means_everything(glob));
    if rule.is_some_and(|rule| {
        is_always(rule) && is_for_everything(meant) || is_always(meant) && is_for_everything(rule)
    }) {
        return None;
    }
    // Both wait to be asked for.
    if rule.is_some_and(|rule| rule.activation == Activation::OnRequest)
        && meant.activation == Activation::Manual
        && meant.basis != Basis::Explicit
    {
        return None;
    }
    // Problems of the paths come first, since they were meant to decide. A dead key is a consequence.
    let cause = own.and_then(|own| {
        let is_offered = meant.activation == Activation::OnRequest;
        let is_cause = |problem: &&Diagnostic| {
            decides_activation(problem) && (is_offered || key_of(problem) != Some("description"))
        };
        let problems = own.diagnostics.iter().filter(is_cause);
        problems.min_by_key(|problem| (problem.code == Code::DeadKey, !is_about_paths(problem))).cloned()
    });
    let does = match (own, rule) {
        (None, _) => Outcome::Unread,
        (_, None) => Outcome::Rejects,
        (_, Some(rule)) if is_only_header && rule.origin.format.strips_comments => Outcome::OnlyComments,
        _ if is_only_header => Outcome::OnlyHeader,
        _ if cause.as_ref().is_some_and(|cause| cause.code == Code::PatternList) => Outcome::Never,
        (_, Some(rule)) => Outcome::of(rule),
    };
    let why = cause.as_ref().map(|cause| cause.message.clone());
    let conditions = conditions_of(meant, rule.map(|rule| &**rule));
    let should = should(meant, &conditions, &patterns(meant));
    let meant = rule.map_or_else(|| describe(meant), |rule| described(meant, rule));
    Some(Difference { meant, does, why, should, cause })
}

/// Whether a problem can be why a rule applies otherwise: it is a problem of the header.
fn decides_activation(problem: &Diagnostic) -> bool {
    let is_text = matches!(
        problem.code,
        Code::HiddenComment | Code::HiddenText | Code::OverLimit | Code::Forged | Code::EmptyBody
    );
    problem.severity != Severity::Note && !is_text
}

/// Whether a diagnostic is on the line of a key for paths.
fn is_about_paths(diagnostic: &Diagnostic) -> bool {
    key_of(diagnostic).is_some_and(|key| PATHS.contains(&key))
}

/// Returns the key on the line of a diagnostic.
fn key_of(diagnostic: &Diagnostic) -> Option<&str> {
    diagnostic.excerpt.as_ref().and_then(|excerpt| excerpt.line.split(':').next()).map(str::trim)
}

/// Adds the differences to the diagnostics of the files. One cause gives one diagnostic: the difference replaces the
/// problem that causes it.
pub fn report_differences<'r>(
    found: impl IntoIterator<Item = (&'r Rule, &'static Agent, Difference)>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let mut by_path: HashMap<String, Vec<Diagnostic>> = HashMap::new();
    for (rule, agent, difference) in found {
        let outcome = difference.diagnostic(agent, rule);
        by_path.entry(rule.origin.display.clone()).or_default().push(outcome);
    }
    diagnostics.retain_mut(|cause| {
        let outcomes = by_path.get_mut(&cause.path).into_iter().flatten();
        let Some(outcome) = outcomes.into_iter().find(|outcome| is_cause(cause, outcome)) else {
            return true;
        };
        if outcome.line == 0 {
            (outcome.line, outcome.column) = (cause.line, cause.column);
            outcome.excerpt = cause.excerpt.take();
        }
        if (cause.line, cause.column) == (outcome.line, outcome.column) {
            outcome.help.clone_from(&cause.help);
        }
        outcome.fix = outcome.fix.take().or(cause.fix.take());
        false
    });
    diagnostics.extend(by_path.into_values().flatten());
}

/// Whether a problem of a file is why the agent treats it differently.
fn is_cause(problem: &Diagnostic, outcome: &Diagnostic) -> bool {
    let is_same_place = problem.line > 0 && (problem.line, problem.column) == (outcome.line, outcome.column);
    let has_two_fixes = problem.fix.is_some() && outcome.fix.is_some();
    let is_elsewhere = match problem.code {
        Code::ForeignKey | Code::DeadKey => outcome.line > 0,
        Code::EmptyValue => outcome.line == 0 && outcome.code == Code::AgentNever,
        // The agent itself has no doubt about what it reads.
        Code::PatternList => outcome.line == 0 && outcome.code != Code::AgentAlways,
        _ => false,
    };
    (is_same_place || is_elsewhere) && !has_two_fixes
}
