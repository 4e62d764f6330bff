//! The guard in hooks: a call that changes what governs the agent is refused, or the user is asked.

use rulebook::condition::Truth;
use rulebook::guard::{GuardMode, Threat};
use rulebook::session::{Event, Moment, Reply, SessionStore as _};
use rulebook_workspace::Workspace;
use rulebook_workspace::ledger::Keeper;

use super::event::{HookEvent, Host};

/// The name under which the guard is recorded.
const GUARD: &str = "guard";
const WHAT: &str = "agents do not change what governs them";

/// Adds what the guard says to a reply.
pub(super) fn apply(
    workspace: &Workspace,
    host: &Host,
    event: &HookEvent,
    reply: &mut Reply,
    keeper: &mut Keeper,
) {
    let Some(mode) = workspace.guard() else { return };
    let mut lines = Vec::new();
    let changed = workspace.guard_changes();
    if !changed.is_empty() {
        lines.push(format!("Rulebook's guard: changed since the last event: {}", changed.join(", ")));
    }
    let call = event.tool.as_ref().filter(|call| call.pending && event.moment == Moment::Before);
    let threats = call.map(|call| workspace.governed().threats(call)).unwrap_or_default();
    let (certain, possible): (Vec<Threat>, Vec<Threat>) =
        threats.into_iter().partition(|one| one.truth == Truth::Yes);
    let named = |threats: &[Threat]| {
        threats.iter().map(|one| format!("`{}`", one.what)).collect::<Vec<_>>().join(", ")
    };
    if !certain.is_empty() {
        let asks = mode == GuardMode::Ask && host.profile.asks;
        let text = format!(
            "Rulebook's guard is on: this call changes what governs you: {}. The user can change it, or run `rulebook guard off`.",
            named(&certain)
        );
        *(if asks { &mut reply.ask } else { &mut reply.refusal }) = Some(text);
        let action = if asks { "ask" } else { "refuse" };
        keeper.record(vec![sequence(action, &named(&certain))], Vec::new());
    } else if !possible.is_empty() {
        lines.push(format!("Rulebook's guard cannot know what this changes: {}", named(&possible)));
    }
    if !lines.is_empty() {
        let lines = lines.join("\n");
        reply.notice = Some(reply.notice.take().map(|notice| format!("{notice}\n{lines}")).unwrap_or(lines));
    }
}

fn sequence(action: &str, call: &str) -> Event {
    Event::Sequence {
        rule: GUARD.to_owned(),
        path: GUARD.to_owned(),
        nth: 0,
        action: action.to_owned(),
        call: call.to_owned(),
        what: WHAT.to_owned(),
    }
}
