//! The guard: a call that changes what governs the agent is refused, or the user is asked.

use rulebook::condition::Truth;
use rulebook::evidence::ToolCall;
use rulebook::guard::{Governed, GuardMode, Threat};
use rulebook::session::{Event, Moment, Reply, SessionStore as _};
use rulebook_workspace::Workspace;
use rulebook_workspace::ledger::Keeper;

use super::event::{HookEvent, Host};

/// The name under which the guard is recorded.
pub(crate) const GUARD: &str = "guard";
const WHAT: &str = "agents do not change what governs them";

/// What the guard has against a call.
pub(crate) enum Objection {
    /// It changes what governs the agent: what, and what the model is told.
    Certain { what: String, text: String },
    /// It may change that: a line for the user.
    Possible { line: String },
}

/// Checks a call that is about to run.
pub(crate) fn check(governed: &Governed, call: &ToolCall) -> Option<Objection> {
    let (certain, possible): (Vec<Threat>, Vec<Threat>) =
        governed.threats(call).into_iter().partition(|one| one.truth == Truth::Yes);
    let named = |threats: &[Threat]| {
        threats.iter().map(|one| format!("`{}`", one.what)).collect::<Vec<_>>().join(", ")
    };
    match (certain.as_slice(), possible.as_slice()) {
        ([], []) => None,
        ([], possible) => Some(Objection::Possible {
            line: format!("Rulebook's guard cannot know what this changes: {}", named(possible)),
        }),
        (certain, _) => Some(Objection::Certain {
            what: named(certain),
            text: format!(
                "Rulebook's guard is on: this call changes what governs you: {}. The user can change it, or run `rulebook guard off`.",
                named(certain)
            ),
        }),
    }
}

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
    let changed = workspace.take_guard_changes();
    if !changed.is_empty() {
        lines.push(format!("Rulebook's guard: changed since the last event: {}", changed.join(", ")));
    }
    let call = event.tool.as_ref().filter(|call| call.pending && event.moment == Moment::Before);
    match call.and_then(|call| check(&workspace.governed(), call)) {
        Some(Objection::Certain { what, text }) => {
            let asks = mode == GuardMode::Ask && host.profile.asks;
            *(if asks { &mut reply.ask } else { &mut reply.refusal }) = Some(text);
            keeper.record(vec![recorded(if asks { "ask" } else { "refuse" }, &what)], Vec::new());
        }
        Some(Objection::Possible { line }) => lines.push(line),
        None => {}
    }
    if !lines.is_empty() {
        let lines = lines.join("\n");
        reply.notice = Some(reply.notice.take().map(|notice| format!("{notice}\n{lines}")).unwrap_or(lines));
    }
}

/// What is recorded of a call that the guard stopped.
pub(crate) fn recorded(action: &str, call: &str) -> Event {
    Event::Sequence {
        rule: GUARD.to_owned(),
        path: GUARD.to_owned(),
        nth: 0,
        action: action.to_owned(),
        call: call.to_owned(),
        what: WHAT.to_owned(),
    }
}
