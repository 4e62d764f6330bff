//! `pin` and `unpin`: let a rule apply in the running sessions, regardless of its conditions.

use std::time::{Duration, SystemTime};

use anyhow::{Context as _, anyhow};
use rulebook::rule::Rule;
use rulebook::session::{EVENT_VERSION, Event};
use rulebook_workspace::ledger::Ledger;
use rulebook_workspace::{Reach, Workspace};
use serde_json::{Value, json};

use super::sections::off_words;
use super::session_log::{Listed, all, list};
use super::toggle::unknown;
use crate::args::{Args, Pin};
use crate::input::{open_workspace, typed_name};
use crate::out::{self, BOLD, VERSION, paint, plural};

/// Whether a rule is pinned or unpinned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Pin,
    Unpin,
}

/// A session that recorded nothing for this long counts as ended: not every host reports the end.
const ENDED_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

pub(super) fn run(args: &Args, pin: &Pin, change: Change) -> anyhow::Result<()> {
    let workspace = open_workspace(args)?;
    let loaded = workspace.load(Reach::Tree);
    let book = &loaded.book;
    let name = typed_name(&workspace, book, &pin.id);
    let found = book.lookup(&name);
    if found.is_empty() {
        return Err(unknown(&name, book, &loaded.diagnostics));
    }
    let sessions = running(&workspace, pin.session.as_deref())?;
    let rules: Vec<&Rule> = found.iter().map(|(rule, _)| *rule).collect();
    let pinned_before = sessions.iter().filter(|session| has_pinned(session, &rules)).count();
    let changed = apply(&workspace, &sessions, &rules, change)?;
    let off = found.iter().find_map(|(_, off)| *off).filter(|_| change == Change::Pin);
    let keys: Vec<String> = rules.iter().map(|rule| rule.key()).collect();
    let sources: Vec<&str> = rules.iter().map(|rule| rule.origin.display.as_str()).collect();
    if args.json {
        let sessions: Vec<Value> = sessions
            .iter()
            .map(
                |session| json!({ "session": session.session, "host": session.host, "agent": session.agent }),
            )
            .collect();
        return out::print_json(&json!({
            "version": VERSION, "id": rules[0].id, "keys": keys, "sources": sources,
            "pinned": change == Change::Pin, "changed": !changed.is_empty(), "sessions": sessions, "by": off.map(|off| off.by),
            "diagnostics": workspace.diagnostics,
        }));
    }
    let what = match change {
        Change::Pin if pinned_before == changed.len() => {
            let again = if off.is_none() { "; it is delivered again" } else { "" };
            format!("was already pinned in {}{again}", plural(pinned_before, "session"))
        }
        _ => outcome(change, changed.len()),
    };
    let mut text = format!("{} {what}\n", paint(BOLD, out::clean(&name)));
    sources.iter().for_each(|source| text.push_str(&format!("  {}\n", out::clean(source))));
    for Listed { session, host, .. } in changed {
        text.push_str(&format!("session {} of {host}\n", out::clean(session)));
    }
    if let Some(off) = off {
        let by = off_words(&name, off.by, off.file.as_deref());
        text.push_str(&format!("it is disabled, {by}\n"));
    }
    out::print(&text)
}

/// Pins rules in sessions, which delivers them again where they were pinned, or unpins them where they are. Returns the
/// sessions that changed.
pub(super) fn apply<'s>(
    workspace: &Workspace,
    sessions: &'s [Listed],
    rules: &[&Rule],
    change: Change,
) -> anyhow::Result<Vec<&'s Listed>> {
    let changes = |session: &&Listed| change == Change::Pin || has_pinned(session, rules);
    let changed: Vec<&Listed> = sessions.iter().filter(changes).collect();
    for session in &changed {
        append(workspace, session, rules, change)?;
    }
    Ok(changed)
}

/// Whether one of these rules is pinned in a session.
fn has_pinned(session: &Listed, rules: &[&Rule]) -> bool {
    rules.iter().any(|rule| session.pinned.contains(&rule.key()))
}

/// Describes what happened to a rule in this many sessions.
pub(super) fn outcome(change: Change, sessions: usize) -> String {
    let count = plural(sessions, "session");
    match (change, sessions) {
        (Change::Pin, _) => format!("is pinned in {count}"),
        (Change::Unpin, 0) => "was not pinned".to_owned(),
        (Change::Unpin, _) => format!("is no longer pinned in {count}"),
    }
}

/// Returns the running sessions of the workspace, or the one of this name.
pub(super) fn running(workspace: &Workspace, wanted: Option<&str>) -> anyhow::Result<Vec<Listed>> {
    let is_here = |session: &Listed| workspace.roots.roots.iter().any(|root| root.path == session.root);
    let (mut sessions, _) =
        list(workspace, |found| wanted.map_or_else(|| is_running(found.at), |wanted| found.is_of(wanted)));
    sessions.retain(|session| wanted.map_or_else(|| is_here(session), |wanted| session.session == wanted));
    if !sessions.is_empty() {
        return Ok(sessions);
    }
    let hint = "`rulebook sessions` lists the sessions; `rulebook install` wires an agent";
    Err(match wanted {
        Some(wanted) => {
            let (known, _) = all(workspace);
            let help = out::suggestion(wanted, known.iter().map(|session| session.session.as_str()), hint);
            anyhow!(help).context(format!("no session named `{}`", out::clean(wanted)))
        }
        None => anyhow!(hint).context("no session is running in this workspace"),
    })
}

/// Whether a session that recorded its last event at this time may still be running.
pub(super) fn is_running(last: SystemTime) -> bool {
    last.elapsed().is_ok_and(|age| age < ENDED_AFTER)
}

fn append(workspace: &Workspace, session: &Listed, rules: &[&Rule], change: Change) -> anyhow::Result<()> {
    let state = workspace.state_folder().context("no folder for sessions: set HOME or XDG_STATE_HOME")?;
    let Listed { host, session, agent, root, more_roots, .. } = session;
    let ledger = Ledger::of(&state, host, session, agent.as_deref());
    let start = Event::Started {
        version: EVENT_VERSION,
        host: host.clone(),
        session: session.clone(),
        agent: agent.clone(),
        root: root.clone(),
        more_roots: more_roots.clone(),
    };
    let event = |rule: &&Rule| match change {
        Change::Pin => Event::Pinned { rule: rule.key(), source: rule.origin.display.clone() },
        Change::Unpin => Event::Unpinned { rule: rule.key() },
    };
    let events: Vec<Event> = rules.iter().map(event).collect();
    match ledger.append(&start, &events).context("cannot write the session")? {
        Some(fault) => Err(anyhow!(fault)),
        None => Ok(()),
    }
}
