//! What a session has not got, and why.

use rulebook::evaluate::State;
use rulebook::session::Session;
use rulebook_workspace::Workspace;

use super::HOSTS;
use super::answer::{host_reads, input};
use super::event::{HookEvent, Moment};

/// The rules a session has not got, with why; by precedence.
pub(crate) fn not_delivered(
    workspace: &Workspace,
    host: &str,
    history: &Session,
) -> Vec<(String, String, String)> {
    let Some(host) = HOSTS.iter().find(|known| known.name == host) else { return Vec::new() };
    let event = HookEvent::new(Moment::After, "", String::new());
    let asked = workspace.ask(&input(host, &event, history));
    let mut missing = Vec::new();
    for verdict in asked.evaluate().verdicts {
        let why = match &verdict.state {
            State::Stack if history.has_rule(verdict.rule) => continue,
            State::Stack if host_reads(host, workspace, verdict.rule) => {
                format!("left to {}, which reads the file itself", host.name)
            }
            State::Stack => "applies now; it comes with the next event".to_owned(),
            State::Offered => "offered: the agent may ask for it".to_owned(),
            State::Stream => "watches what the model writes".to_owned(),
            State::Inactive(why) => why.detail.clone(),
            State::Overridden { winner, .. } => format!("overridden by {}", winner.origin.display),
            State::Disabled(off) => format!("switched off by {}", off.by),
        };
        missing.push((verdict.rule.id.clone(), verdict.rule.origin.display.clone(), why));
    }
    missing
}
