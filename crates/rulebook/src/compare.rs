//! Where an agent's own outcome for a file is not what its author meant.

use std::collections::HashMap;

use crate::agent::{Agent, Nested};
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::format::keys::PATHS;
use crate::format::{Bare, Depth, Place, PlaceKind};
use crate::parse::{Entry, Parsed, parse};
use crate::rule::{Activation, Rule};
use crate::source::{Origin, Source};

const NOT_READ: &str = "does not read it";

/// What an agent does with a file instead of what was meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Which of the codes for differences it is.
    pub code: Code,
    /// What was meant: "on for `src/**`".
    pub meant: String,
    /// What the agent does: "has it always on".
    pub does: String,
    /// Why, in a few words; nothing where the outcome says it.
    pub why: Option<String>,
    /// What reading the file the agent's way told first.
    told: Option<Diagnostic>,
}

impl Difference {
    /// As a diagnostic of the rule's file.
    pub fn diagnostic(&self, agent: &Agent, rule: &Rule) -> Diagnostic {
        let why = self.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
        let message = format!("meant to be {}; {} {}{why}", self.meant, agent.title, self.does);
        let look = format!("`rulebook explain --as {}` shows its view", agent.name);
        let told = Diagnostic::whole(self.code, &rule.origin.display, message);
        match &self.told {
            Some(cause) => Diagnostic {
                line: cause.line,
                column: cause.column,
                excerpt: cause.excerpt.clone(),
                fix: cause.fix.clone(),
                help: format!("{}; {look}", cause.help),
                ..told
            },
            None => {
                let reads = reads(agent, rule).filter(|_| self.does == NOT_READ);
                told.help(match reads {
                    Some(reads) => format!("{} reads {reads}; {look}", agent.title),
                    None => look,
                })
            }
        }
    }
}

/// Which files the agent reads in the folder the rule lies in.
fn reads(agent: &Agent, rule: &Rule) -> Option<String> {
    let own = agent.formats.iter().filter(|format| format.id == rule.origin.format.id);
    own.flat_map(|format| format.workspace).find_map(|place| {
        let PlaceKind::Folder { extensions, depth, .. } = place.shape else { return None };
        let endings: Vec<String> = extensions.iter().map(|ending| format!("`*.{ending}`")).collect();
        let place_in = if depth == Depth::Flat { "right in" } else { "in" };
        let is_at_root = agent.nested == Nested::Read || rule.origin.folder.is_empty();
        let root = if is_at_root { "" } else { " of the folder it is opened in" };
        let is_here = rule.origin.display.contains(place.path) && !endings.is_empty();
        is_here.then(|| format!("{} {place_in} `{}`{root}", endings.join(", "), place.path))
    })
}

/// Compares a rule as meant with what the agent makes of the same file; nothing where both are one.
pub fn compare(meant: &Rule, own: Option<&Parsed>) -> Option<Difference> {
    let rule = match own.map(|own| &own.entry) {
        Some(Entry::Rule(rule)) => Some(rule),
        Some(Entry::Rejected(_)) | None => None,
    };
    let is_swallowed = rule.is_some_and(|rule| rule.body.is_empty() && !meant.body.is_empty());
    if !is_swallowed && rule.is_some_and(|rule| way(rule) == way(meant)) {
        return None;
    }
    // What is said of the paths comes first: they are what was meant to decide. A dead key has another cause.
    let told = own.and_then(|own| {
        let told = own.diagnostics.iter().filter(|told| told.severity != Severity::Note);
        told.min_by_key(|told| (told.code == Code::DeadKey, !is_about_paths(told))).cloned()
    });
    let (code, does) = match (own, rule) {
        (None, _) => (Code::AgentNever, NOT_READ.to_owned()),
        (_, None) => (Code::AgentNever, "drops it".to_owned()),
        _ if is_swallowed => (Code::AgentNever, "has no text of it: all is header to it".to_owned()),
        (_, Some(rule)) => outcome(rule),
    };
    let is_glued = told.as_ref().is_some_and(|told| told.code == Code::PatternList);
    let (code, does) = if is_glued { (Code::AgentNever, "never has it on".to_owned()) } else { (code, does) };
    let why = told.as_ref().map(|told| told.message.clone());
    Some(Difference { code, meant: way(meant), does, why, told })
}

/// What a change to a rule's file does to the agent it belongs to, in a few words; nothing where it does nothing.
pub fn change(rule: &Rule, before: &str, after: &str) -> Option<String> {
    let agent = Agent::owner_of(rule.origin.format.id)?;
    let own = agent.formats.iter().filter(|format| format.id == rule.origin.format.id);
    let is_its = |place: &&Place| place.path == rule.origin.place.path;
    let (format, place) =
        own.into_iter().find_map(|format| Some((format, format.workspace.iter().find(is_its)?)))?;
    let [before, after] = [before, after].map(|text| {
        let origin = Origin { format, place, ..rule.origin.clone() };
        match parse(Source { origin, text: Ok(text.to_owned()) }).entry {
            Entry::Rule(rule) => way(&rule),
            Entry::Rejected(_) => "dropped".to_owned(),
        }
    });
    (before != after).then(|| format!("{}: {before} before, {after} now", agent.title))
}

/// Whether a diagnostic stands on the line of a key for paths.
fn is_about_paths(told: &Diagnostic) -> bool {
    let key = told.excerpt.as_ref().and_then(|excerpt| excerpt.line.split(':').next());
    key.is_some_and(|key| PATHS.contains(&key.trim()))
}

/// Adds what agents do instead to what reading the files told. One cause is one diagnostic: what reading told of it goes
/// into the one that says what comes of it.
pub fn report_differences<'r>(
    found: impl IntoIterator<Item = (&'r Rule, &'static Agent, Difference)>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let mut by_path: HashMap<String, Vec<Diagnostic>> = HashMap::new();
    for (rule, agent, difference) in found {
        by_path.entry(rule.origin.display.clone()).or_default().push(difference.diagnostic(agent, rule));
    }
    diagnostics.retain_mut(|told| {
        let outcomes = by_path.get_mut(&told.path).into_iter().flatten();
        let Some(outcome) = outcomes.into_iter().find(|outcome| is_cause(told, outcome)) else { return true };
        if (told.line, told.column) == (outcome.line, outcome.column) {
            let look = outcome.help.rsplit_once("; ").map_or("", |(_, look)| look);
            outcome.help = format!("{}; {look}", told.help);
        }
        outcome.fix = outcome.fix.take().or(told.fix.take());
        false
    });
    diagnostics.extend(by_path.into_values().flatten());
}

/// Whether what reading told is why the agent does something else.
fn is_cause(told: &Diagnostic, outcome: &Diagnostic) -> bool {
    let is_same_place = told.line > 0 && (told.line, told.column) == (outcome.line, outcome.column);
    let is_told_apart = told.fix.is_some() && outcome.fix.is_some();
    (is_same_place || told.code == Code::ForeignKey && outcome.line > 0) && !is_told_apart
}

/// What an agent does with a rule it read, and which code stands for that.
fn outcome(rule: &Rule) -> (Code, String) {
    match rule.activation {
        Activation::Always => (Code::AgentAlways, "has it always on".to_owned()),
        Activation::OnRequest => (Code::AgentDiffers, "only offers it to the model".to_owned()),
        Activation::Never if rule.origin.format.bare == Bare::Undocumented => {
            (Code::AgentDiffers, "does not document what it makes of it".to_owned())
        }
        Activation::Never => (Code::AgentNever, "never has it on".to_owned()),
        Activation::When if rule.globs.is_empty() && rule.conditions.iter().any(|one| one.key == "paths") => {
            (Code::AgentNever, "never has it on: its list of paths is empty".to_owned())
        }
        Activation::When | Activation::Manual | Activation::Stream => {
            (Code::AgentDiffers, format!("has it {}", way(rule)))
        }
    }
}

/// How a rule comes on, in words that are equal where the ways are.
fn way(rule: &Rule) -> String {
    let condition = |key: &str| match key {
        "paths" => {
            let globs: Vec<String> = rule.globs.iter().map(|glob| format!("`{glob}`")).collect();
            format!("for {}", globs.join(", "))
        }
        key => format!("by `{key}`"),
    };
    match rule.activation {
        Activation::Always => "always on".to_owned(),
        Activation::When if rule.conditions.is_empty() => "always on in its folder".to_owned(),
        Activation::When => {
            let conditions: Vec<String> = rule.conditions.iter().map(|found| condition(found.key)).collect();
            format!("on {}", conditions.join(" and "))
        }
        Activation::OnRequest => "offered to the model".to_owned(),
        Activation::Manual => "on by name only".to_owned(),
        Activation::Stream => "watching the model's output".to_owned(),
        Activation::Never => "never on".to_owned(),
    }
}
