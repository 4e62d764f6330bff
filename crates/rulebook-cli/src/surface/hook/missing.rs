//! The rules that a session did not receive.

use rulebook::agent::Agent;
use rulebook::evaluate::State;
use rulebook::evidence::Input;
use rulebook::session::{Native, Session};
use rulebook_workspace::Workspace;

use super::event::Host;

/// Id, source and reason of each rule that a session did not receive, by precedence.
pub(crate) fn not_delivered(
    workspace: &Workspace,
    host: &str,
    session: &Session,
) -> Vec<(String, String, String)> {
    let Some(host) = Host::named(host) else { return Vec::new() };
    let (name, agent) = (host.profile.name, Agent::named(host.agent));
    let prepared =
        workspace.prepare(&session.input(Input { agent: Some(name.to_owned()), ..Input::default() }));
    let mut missing = Vec::new();
    for verdict in prepared.evaluate().verdicts {
        let reads = || agent.is_some_and(|agent| workspace.native_state(agent, verdict.rule) == Native::Read);
        let why = match &verdict.state {
            State::Stack if session.has_rule(verdict.rule) => continue,
            State::Stack if reads() => format!("left to {name}, which reads the file itself"),
            State::Stack => "applies now; delivered with the next event".to_owned(),
            State::Offered => "offered: the agent may read it".to_owned(),
            State::Stream => "watches the model's output".to_owned(),
            State::Inactive(why) => why.detail.clone(),
            State::Overridden { winner, .. } => format!("overridden by {}", winner.origin.display),
            State::Disabled(off) => format!("disabled by {}", off.by),
        };
        missing.push((verdict.rule.id.clone(), verdict.rule.origin.display.clone(), why));
    }
    missing
}
