//! The rules that a session did not receive.

use rulebook::agent::{Agent, Wiring};
use rulebook::evaluate::State;
use rulebook::evidence::Input;
use rulebook::matrix::{Handling, evaluate_for, handling};
use rulebook::session::Session;
use rulebook_workspace::Workspace;

use super::event::Host;

/// What a session did not receive.
#[derive(Debug, Default)]
pub(crate) struct Missing {
    /// Id, source and reason of each rule, by precedence.
    pub(crate) rules: Vec<(String, String, String)>,
    /// How many paths of the evidence are beyond the limit.
    pub(crate) cut: usize,
}

/// Returns what a session did not receive. A rule that it received is not listed, even if it no longer applies.
pub(crate) fn not_delivered(workspace: &Workspace, host: &str, session: &Session) -> Missing {
    let Some(host) = Host::named(host) else { return Missing::default() };
    let (name, agent) = (host.profile.name, Agent::named(host.agent));
    let prepared =
        workspace.prepare(&session.input(Input { agent: Some(name.to_owned()), ..Input::default() }));
    let view = agent.map(|agent| prepared.view(agent, &[Wiring::Hook]));
    let native = view.as_ref().map(|view| view.reading(&prepared.evidence));
    let subject = view.as_ref().zip(native.as_ref()).map(|(view, native)| view.subject(native));
    let mut missing = Vec::new();
    let verdicts = evaluate_for(&prepared.book, &prepared.evidence, subject.as_ref()).verdicts;
    for verdict in verdicts.into_iter().filter(|verdict| !session.has_rule(verdict.rule)) {
        let why = match &verdict.state {
            State::Stack => match subject.as_ref().map(|subject| handling(&verdict, subject)) {
                Some(Handling::Native | Handling::NativeAlways | Handling::Unknown) => {
                    format!("left to {name}, which reads the file itself")
                }
                Some(Handling::NotAdded(why)) => why,
                _ => "applies now; delivered with the next event".to_owned(),
            },
            State::Offered => "offered: the agent may read it".to_owned(),
            State::Stream => "watches the model's output".to_owned(),
            State::Inactive(why) => why.detail.clone(),
            State::Overridden { winner, .. } => format!("overridden by {}", winner.origin.display),
            State::Disabled(off) => format!("disabled by {}", off.by),
        };
        missing.push((verdict.rule.id.clone(), verdict.rule.origin.display.clone(), why));
    }
    Missing { rules: missing, cut: prepared.evidence.cut }
}
