//! Where an agent's own outcome for a file is not what its author meant.

use super::Agent;
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::format::{Bare, Entry, Parsed};
use crate::rule::{Activation, Rule};

/// What an agent does with a file instead of what was meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// What was meant: "on for `src/**`".
    pub meant: String,
    /// What the agent does: "always on".
    pub does: String,
    /// Why, in a few words; nothing where the outcome says it.
    pub why: Option<String>,
    /// Where in the file that comes from; line and column, 0 for the file as a whole.
    pub place: (usize, usize),
}

impl Difference {
    /// As a diagnostic of the rule's file.
    pub fn diagnostic(&self, agent: &Agent, rule: &Rule) -> Diagnostic {
        let why = self.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
        let message = format!("meant to be {}, but {} has it {}{why}", self.meant, agent.title, self.does);
        let mut told = Diagnostic::whole(Code::AgentDiffers, &rule.origin.display, message);
        (told.line, told.column) = self.place;
        told
    }
}

/// Compares a rule as meant with what the agent makes of the same file; nothing where both are one.
pub fn differ(meant: &Rule, own: Option<&Parsed>) -> Option<Difference> {
    let meant_way = way(meant);
    let Some(own) = own else {
        let does = "not read at all".to_owned();
        return Some(Difference { meant: meant_way, does, why: None, place: (0, 0) });
    };
    let told = own.diagnostics.iter().find(|told| told.severity != Severity::Note);
    let rule = match &own.entry {
        Entry::Rule(rule) => rule,
        Entry::Rejected(_) => {
            let why = told.map(|told| told.message.clone());
            return Some(Difference {
                meant: meant_way,
                does: "dropped".to_owned(),
                why,
                place: place(told),
            });
        }
    };
    let does = way(rule);
    if does == meant_way {
        return None;
    }
    let glued = rule.globs.iter().find(|glob| meant.globs.len() > rule.globs.len() && glob.contains(','));
    let why = match glued {
        Some(glob) => Some(format!("it takes `{glob}` as one pattern")),
        None => told.map(|told| told.message.clone()),
    };
    Some(Difference { meant: meant_way, does, why, place: place(told) })
}

fn place(told: Option<&Diagnostic>) -> (usize, usize) {
    told.map_or((0, 0), |told| (told.line, told.column))
}

/// How a rule comes on, in words that are equal where the ways are.
fn way(rule: &Rule) -> String {
    let conditions: Vec<String> = rule
        .conditions
        .iter()
        .map(|condition| match condition.key {
            "paths" => {
                let globs: Vec<String> = rule.globs.iter().map(|glob| format!("`{glob}`")).collect();
                format!("for {}", globs.join(", "))
            }
            key => format!("by `{key}`"),
        })
        .collect();
    match rule.activation {
        Activation::Always => "always on".to_owned(),
        Activation::When if conditions.is_empty() => "always on in its folder".to_owned(),
        Activation::When => format!("on {}", conditions.join(" and ")),
        Activation::OnRequest => "offered to the model".to_owned(),
        Activation::Manual => "on by name only".to_owned(),
        Activation::Stream => "watching the model's output".to_owned(),
        Activation::Never if rule.origin.format.bare == Bare::Undocumented => {
            "in a way it does not document".to_owned()
        }
        Activation::Never => "never on".to_owned(),
    }
}
