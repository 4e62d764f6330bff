//! The guard: a call that changes what governs the agent is refused, or the user is asked.

use rulebook::condition::Truth;
use rulebook::evidence::ToolCall;
use rulebook::guard::{Governed, GuardMode, RealPath, Threat};
use rulebook::session::{Event, Moment, Reply, SessionStore as _};
use rulebook_workspace::Workspace;
use rulebook_workspace::ledger::Keeper;

use super::event::{HookEvent, Host};

/// The name under which the guard is recorded.
pub(crate) const GUARD: &str = "guard";
const WHAT: &str = "only the user may change rules, hooks and settings";

/// What the guard has against a call.
pub(crate) enum Objection {
    /// It changes these, which govern the agent.
    Certain { what: String },
    /// It may change that: a line for the user.
    Possible { line: String },
}

/// Checks a call that is about to run.
pub(crate) fn check(governed: &Governed, call: &ToolCall, real: RealPath<'_>) -> Option<Objection> {
    let (certain, possible): (Vec<Threat>, Vec<Threat>) =
        governed.threats(call, real).into_iter().partition(|one| one.truth == Truth::Yes);
    let named = |threats: &[Threat]| {
        threats.iter().map(|one| short(shown(governed, &one.what))).collect::<Vec<_>>().join(", ")
    };
    match (certain.as_slice(), possible.as_slice()) {
        ([], []) => None,
        ([], possible) => Some(Objection::Possible {
            line: format!(
                "Rulebook's guard cannot know whether `{}` changes rules, hooks or settings. `rulebook guard status` lists the files that changed.",
                named(possible)
            ),
        }),
        (certain, _) => Some(Objection::Certain { what: named(certain) }),
    }
}

/// Why a call is refused, for the model.
pub(crate) fn refusal(what: &str) -> String {
    format!(
        "Rulebook's guard is on: only the user may change rules, hooks and settings. This call was refused because it would change them: `{what}`."
    )
}

/// What the user decides.
fn question(what: &str) -> String {
    format!(
        "Rulebook's guard asks you because this call would change rules, hooks or settings: `{what}`. Allow it only if you want that."
    )
}

/// A file relative to its root or the home folder, and so the file to which a link leads; a command as it is.
fn shown(governed: &Governed, what: &str) -> String {
    what.split(" -> ").map(|part| shown_file(governed, part)).collect::<Vec<_>>().join(" -> ")
}

/// The beginning of a long text.
fn short(mut text: String) -> String {
    const MAX: usize = 300;
    if text.len() > MAX {
        text.truncate(text.floor_char_boundary(MAX));
        text.push('…');
    }
    text
}

fn shown_file(governed: &Governed, what: &str) -> String {
    let below = governed.roots.iter().find_map(|root| {
        let rest = what.strip_prefix(root.as_str())?.strip_prefix('/')?;
        Some((root, rest))
    });
    match below {
        Some((root, rest)) if governed.home.as_ref() == Some(root) => format!("~/{rest}"),
        Some((_, rest)) => rest.to_owned(),
        None => what.to_owned(),
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
        lines.push(format!(
            "Rulebook's guard: rules, hooks or settings changed since the last event: {}. Review them, for example with `git diff`.",
            changed.join(", ")
        ));
    }
    let real = workspace.real_paths(event.folder.as_deref());
    let call = event.tool.as_ref().filter(|call| call.pending && event.moment == Moment::Before);
    match call.and_then(|call| check(&workspace.governed(), call, &real)) {
        Some(Objection::Certain { what }) => {
            let asks = mode == GuardMode::Ask && host.profile.asks;
            if asks {
                reply.ask = Some(question(&what));
            } else {
                reply.refusal = Some(refusal(&what));
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_shown_by_its_beginning() {
        assert_eq!(short("x".repeat(300)), "x".repeat(300));
        assert_eq!(short("é".repeat(240_000)), format!("{}…", "é".repeat(150)));
    }
}
