//! Who brings a rule to an agent: the agent itself, Rulebook, or nobody.

use super::reason::Cause;
use super::subject::Subject;
use crate::agent::{AddPolicy, Agent, Nested};
use crate::evaluate::{InactiveReason, State, Verdict};
use crate::rule::Rule;
use crate::source::{Origin, enclosing_folders};

/// Who brings a rule that applies, or is offered, to an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Handling {
    /// The agent has it in context by itself, for this evidence.
    Native,
    /// The agent has it in context by itself, whatever the evidence.
    NativeAlways,
    /// The agent does not read the file: Rulebook adds it.
    Unread,
    /// The agent reads the file but does not apply the rule, for this reason: Rulebook adds it.
    NotApplied(String),
    /// It is not documented what the agent does, so nothing is added.
    Unknown,
    /// Nothing is added, for this reason.
    NotAdded(Cause),
}

impl Handling {
    /// Whether Rulebook adds the rule, or lists it.
    pub fn is_by_rulebook(&self) -> bool {
        matches!(self, Handling::Unread | Handling::NotApplied(_))
    }
}

/// Decides who brings a rule to an agent that applies or is offered, as its author meant it.
///
/// Hooks, the matrix and every other surface use this one decision.
#[must_use]
pub fn handling(verdict: &Verdict<'_>, subject: &Subject<'_, '_>) -> Handling {
    let Subject { agent, native, .. } = *subject;
    let rule = verdict.rule;
    let path = rule.origin.path.as_str();
    let own = native.verdict(path);
    let because = match own.map(|own| &own.state) {
        Some(State::Stack) if own.is_some_and(|own| own.because.is_empty()) => return Handling::NativeAlways,
        Some(State::Stack | State::Stream) => return Handling::Native,
        Some(State::Offered) if matches!(verdict.state, State::Offered) => return Handling::Native,
        None if is_read_at_start(rule, subject) => return Handling::Native,
        Some(State::Inactive(why)) if why.reason == InactiveReason::Undocumented => return Handling::Unknown,
        Some(State::Overridden { winner, .. }) => {
            let why = format!("{} uses {} instead", agent.title, winner.origin.display);
            return Handling::NotAdded(Cause::Other(why));
        }
        Some(State::Inactive(why)) => Some(why.detail.clone()),
        Some(State::Offered) => Some("only offered to the model".to_owned()),
        Some(State::Disabled(off)) => Some(format!("off by `{}`", off.by)),
        None if native.rejects(path) => Some("rejected".to_owned()),
        None if is_undocumented(agent, rule) => return Handling::Unknown,
        None => None,
    };
    if let Some(own) = native.same_text(rule) {
        return Handling::NotAdded(Cause::same_text(own));
    }
    if let Some(why) = not_added(rule, subject).filter(|_| !rule.is_mandatory) {
        return Handling::NotAdded(Cause::Other(why));
    }
    because.map_or(Handling::Unread, Handling::NotApplied)
}

/// Decides who brings each of some rules to an agent. Without an agent, Rulebook brings all of them.
#[must_use]
pub fn handlings(subject: Option<&Subject<'_, '_>>, verdicts: &[&Verdict<'_>]) -> Vec<Handling> {
    let one = |verdict: &&Verdict<'_>| subject.map_or(Handling::Unread, |subject| handling(verdict, subject));
    verdicts.iter().map(one).collect()
}

/// Whether the agent read a file above the folder where it was started.
fn is_read_at_start(rule: &Rule, subject: &Subject<'_, '_>) -> bool {
    let Origin { root, folder, format, place, .. } = &rule.origin;
    let is_above = |(started_root, started): (usize, &str)| {
        let is_below = enclosing_folders(started).any(|above| above == folder);
        started_root == *root && is_below && !folder.is_empty()
    };
    let own = subject.agent.formats.iter().filter(|own| own.id == format.id);
    rule.is_located()
        && subject.started_in.is_some_and(is_above)
        && own.flat_map(|own| own.workspace).any(|own| own.path == place.path)
}

/// Whether it is not documented that the agent reads a file of one of its formats in a folder below the root.
pub(super) fn is_undocumented(agent: &Agent, rule: &Rule) -> bool {
    let is_own = || agent.formats.iter().any(|format| format.id == rule.origin.format.id);
    agent.nested_at(rule.origin.place) == Nested::Undocumented && !rule.origin.folder.is_empty() && is_own()
}

/// Whether the settings of an agent, or the name of the file, keep a rule from ever being added.
pub(super) fn is_left_out(rule: &Rule, subject: &Subject<'_, '_>) -> bool {
    !rule.is_mandatory && not_added(rule, subject).is_some()
}

/// Returns why the settings of an agent, or the name of the file, keep a rule from being added.
fn not_added(rule: &Rule, subject: &Subject<'_, '_>) -> Option<String> {
    let Subject { agent, native, .. } = *subject;
    let by_setting = || format!("`agents.{}.add` leaves it out", agent.name);
    match subject.add {
        AddPolicy::All => None,
        AddPolicy::Nothing => Some(by_setting()),
        AddPolicy::Formats(formats) => (!formats.contains(&rule.origin.format.id)).then(by_setting),
        AddPolicy::Usual => {
            let other = named_after(rule).filter(|other| !std::ptr::eq(*other, agent))?;
            let own = native.general_file(agent, &rule.origin)?;
            Some(format!("belongs to {}; {} reads {} instead", other.title, agent.title, own.origin.display))
        }
    }
}

/// Returns the agent that a file is named after: `GEMINI.md`, `.github/copilot-instructions.md`.
fn named_after(rule: &Rule) -> Option<&'static Agent> {
    let name = rule.origin.path.rsplit('/').next()?;
    let stem = name.strip_suffix(".md")?;
    let (first, rest) = stem.split_at(stem.find(['.', '-']).unwrap_or(stem.len()));
    let is_whole = ["", ".local", "-instructions"].iter().any(|whole| rest.eq_ignore_ascii_case(whole));
    // Most files are named after nothing, and the owner is looked up in a long table.
    let owner = is_whole.then(|| Agent::owner_of(rule.origin.format.id)).flatten()?;
    let names = [Some(owner.name), owner.product().map(|product| product.name)];
    names.into_iter().flatten().any(|name| name.eq_ignore_ascii_case(first)).then_some(owner)
}
