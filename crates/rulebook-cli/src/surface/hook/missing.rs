//! The rules that a session did not receive, and the files that the host loaded by itself.

use rulebook::agent::{Agent, Wiring};
use rulebook::evaluate::{State, Verdict};
use rulebook::evidence::Input;
use rulebook::explain::watching;
use rulebook::matrix::{Handling, evaluate_for, handling};
use rulebook::render::OVER_BUDGET;
use rulebook::rule::Rule;
use rulebook::session::{HostProfile, Milestone, RequirementStatus, Session};
use rulebook_workspace::Workspace;
use rulebook_workspace::ledger::PROXY;
use serde::Serialize;

use super::event::Host;

/// What a session did not receive from Rulebook.
#[derive(Default)]
pub(crate) struct Missing {
    /// Rules that were not delivered, by precedence.
    pub(crate) rules: Vec<MissingRule>,
    /// How many paths of the evidence are beyond the limit.
    pub(crate) cut: usize,
    /// The host's own files, predicted and as it reported them; empty if it reports none.
    pub(crate) native: Vec<NativeFile>,
    /// The requirements of the rules that apply.
    pub(crate) requirements: Vec<RequirementStatus>,
    /// The calls of this session that made them due, or met them.
    pub(crate) milestones: Vec<Milestone>,
}

/// A rule that was not delivered.
#[derive(Serialize)]
pub(crate) struct MissingRule {
    pub(crate) id: String,
    pub(crate) source: String,
    pub(crate) why: String,
}

/// A file that the host reads by itself.
#[derive(Serialize)]
pub(crate) struct NativeFile {
    pub(crate) source: String,
    /// Whether the host should have loaded it.
    pub(crate) predicted: bool,
    /// Whether it reported that it did.
    pub(crate) loaded: bool,
}

/// Returns what a session of this name did not receive, and how far requirements came in it and its sub-agents. A rule that
/// it received is not listed, even if it no longer applies.
pub(crate) fn not_delivered(workspace: &Workspace, host: &str, name: &str, session: &Session) -> Missing {
    let mut missing = Missing::default();
    let family = workspace.family(host, name, None);
    let shared = family.as_ref().unwrap_or(session);
    let Some(host) = Host::named(host) else {
        (missing.requirements, missing.milestones) = requirements(workspace, host, session, shared);
        return missing;
    };
    let (name, agent) = (host.profile.name, Agent::named(host.agent));
    let prepared =
        workspace.prepare(&session.input(Input { agent: Some(name.to_owned()), ..Input::default() }));
    let view = agent.map(|agent| prepared.view(agent, &[Wiring::Hook]));
    let native = view.as_ref().map(|view| view.reading(&prepared.evidence));
    let subject = view.as_ref().zip(native.as_ref()).map(|(view, native)| view.subject(native));
    missing.cut = prepared.evidence.cut;
    let reports_loads = session.loaded().next().is_some();
    let budget = workspace.settings.budget;
    let verdicts = evaluate_for(&prepared.book, &prepared.evidence, subject.as_ref(), budget).verdicts;
    missing.requirements = shared.requirements(applying(&verdicts), &host.profile, &workspace.roots);
    missing.milestones = session.milestones(applying(&verdicts), &workspace.roots);
    // The host may load a file too that it missed before, when the rule was delivered.
    let is_native = |verdict: &Verdict<'_>| {
        let handled = subject.as_ref().map(|subject| handling(verdict, subject));
        matches!(handled, Some(Handling::Native | Handling::NativeAlways))
    };
    let (delivered, verdicts): (Vec<_>, Vec<_>) =
        verdicts.into_iter().partition(|verdict| session.has_rule(verdict.rule));
    let also_native: Vec<&str> = delivered
        .iter()
        .filter(|verdict| matches!(verdict.state, State::Stack) && is_native(verdict))
        .map(|verdict| verdict.rule.origin.display.as_str())
        .collect();
    for verdict in verdicts {
        let rule = verdict.rule;
        let why = match &verdict.state {
            State::Stack => match subject.as_ref().map(|subject| handling(&verdict, subject)) {
                Some(handled @ (Handling::Native | Handling::NativeAlways | Handling::Unknown)) => {
                    if reports_loads && !matches!(handled, Handling::Unknown) {
                        let (source, loaded) = (rule.origin.display.clone(), session.has_loaded(rule));
                        missing.native.push(NativeFile { source, predicted: true, loaded });
                    }
                    format!("{name} reads the file by itself")
                }
                Some(Handling::NotAdded(why)) => why.to_string(),
                _ => "applies now; delivered with the next event".to_owned(),
            },
            State::Offered if verdict.is_cut => format!("{OVER_BUDGET}: only offered by name"),
            State::Offered => "offered; not requested so far".to_owned(),
            State::Stream => watching(rule).summary(),
            State::Inactive(why) => why.detail.clone(),
            State::Overridden { winner, .. } => format!("overridden by {}", winner.origin.display),
            State::Disabled(off) => format!("disabled by {}", off.by),
        };
        let (id, source) = (rule.id.clone(), rule.origin.display.clone());
        missing.rules.push(MissingRule { id, source, why });
    }
    for source in session.loaded() {
        if !missing.native.iter().any(|file| file.source == source) {
            let predicted = also_native.contains(&source);
            missing.native.push(NativeFile { source: source.to_owned(), predicted, loaded: true });
        }
    }
    missing
}

/// The requirements in a session of a host without hooks, and what made them due or met them.
fn requirements(
    workspace: &Workspace,
    host: &str,
    session: &Session,
    shared: &Session,
) -> (Vec<RequirementStatus>, Vec<Milestone>) {
    let profile = HostProfile { stops: host == PROXY, ..HostProfile::plain(host) };
    let prepared = workspace.prepare(&session.input(Input::default()));
    let verdicts = prepared.evaluate().verdicts;
    (
        shared.requirements(applying(&verdicts), &profile, &workspace.roots),
        session.milestones(applying(&verdicts), &workspace.roots),
    )
}

/// The rules that apply, among these verdicts.
fn applying<'v, 'r>(verdicts: &'v [Verdict<'r>]) -> impl Iterator<Item = &'r Rule> + 'v {
    let applies = |state: &State<'_>| matches!(state, State::Stack | State::Offered | State::Stream);
    verdicts.iter().filter(move |verdict| applies(&verdict.state)).map(|verdict| verdict.rule)
}
