//! Commands: explanations, prompts, switches and pins, as the commands of the same names give them.

use std::path::PathBuf;

use anyhow::Context as _;
use rulebook::diagnostic::CODES;
use rulebook::evidence::Input;
use rulebook::id::rule_name;
use rulebook::render::render;
use rulebook::rule::Rule;
use rulebook_workspace::{Loaded, Viewpoint};
use serde_json::{Value, json};

use super::preview;
use super::protocol::{Command, path_of};
use super::server::{Server, Walk};
use super::snapshot::Snapshot;
use crate::input::open_roots;
use crate::surface::grid::Room;
use crate::surface::toggle::{Switch, Switched, switch_own, unknown};
use crate::surface::{explain, pin};

/// What a command did, for the user.
struct Outcome {
    text: String,
    /// The same in one line.
    notice: String,
    /// Whether the user must know it.
    warns: bool,
}

impl From<String> for Outcome {
    fn from(text: String) -> Outcome {
        Outcome { notice: text.clone(), text, warns: false }
    }
}

/// What a command does with its argument.
type Run = fn(&Server, &Snapshot, &str) -> anyhow::Result<Outcome>;

/// The commands, and whether each one changes the state of rules.
const COMMANDS: &[(&str, Run, bool)] = &[
    ("rulebook.describe", |_, _, code| describe(code).map(Outcome::from), false),
    ("rulebook.disable", |server, snapshot, name| switch(server, snapshot, name, Switch::Off), true),
    ("rulebook.enable", |server, snapshot, name| switch(server, snapshot, name, Switch::On), true),
    ("rulebook.explain", |_, snapshot, uri| explain_file(snapshot, uri).map(Outcome::from), false),
    ("rulebook.pin", |_, snapshot, name| pin_rule(snapshot, name, pin::Change::Pin).map(Outcome::from), true),
    ("rulebook.prompt", |_, snapshot, uri| prompt(snapshot, uri).map(Outcome::from), false),
    (
        "rulebook.unpin",
        |_, snapshot, name| pin_rule(snapshot, name, pin::Change::Unpin).map(Outcome::from),
        true,
    ),
];

pub(super) fn names() -> Vec<&'static str> {
    COMMANDS.iter().map(|(name, ..)| *name).collect()
}

pub(super) fn execute(server: &mut Server, command: &Command) -> anyhow::Result<Value> {
    let found = COMMANDS.iter().find(|(name, ..)| *name == command.command);
    let (_, run, changes) = found.with_context(|| format!("`{}` is not a command", command.command))?;
    let argument = command.arguments.first().and_then(Value::as_str).unwrap_or_default();
    let snapshot = server.snapshot.clone().context("no workspace is open")?;
    let Outcome { text, notice, warns } = run(server, &snapshot, argument)?;
    if *changes {
        server.check_soon(Walk::Not);
    }
    // Rulebook's own extension shows the result itself.
    if !server.client.is_own {
        server.notify("window/showMessage", json!({ "type": 3, "message": text }));
    }
    Ok(json!({ "text": text, "notice": notice, "warns": warns }))
}

fn file(uri: &str) -> anyhow::Result<PathBuf> {
    path_of(uri).context("the argument is not the address of a file")
}

fn explain_file(snapshot: &Snapshot, uri: &str) -> anyhow::Result<String> {
    let input = Input::default().paths([file(uri)?.to_string_lossy()]);
    let answer = explain::answer(&snapshot.workspace, &input, Viewpoint::Used)?;
    Ok(anstream::adapter::strip_str(&answer.text(Room::Unlimited)).to_string())
}

fn prompt(snapshot: &Snapshot, uri: &str) -> anyhow::Result<String> {
    let input = Input::default().paths([file(uri)?.to_string_lossy()]);
    let prepared = snapshot.workspace.prepare(&input);
    Ok(render(&prepared.evaluate_for(Viewpoint::Any, None)).text)
}

fn describe(code: &str) -> anyhow::Result<String> {
    if code == preview::CODE {
        return Ok(format!("{code}: {}", preview::MEANING));
    }
    let row =
        CODES.iter().find(|row| row.name == code).with_context(|| format!("no problem is named `{code}`"))?;
    Ok(format!("{code}: {}\nWhat to do: {}", row.meaning, row.remedy))
}

fn rules_named<'s>(snapshot: &'s Snapshot, name: &str) -> anyhow::Result<Vec<&'s Rule>> {
    let Loaded { book, diagnostics, .. } = &snapshot.views.meant;
    let found: Vec<&Rule> = book.lookup(name).into_iter().map(|(rule, _)| rule).collect();
    if found.is_empty() { Err(unknown(name, book, diagnostics)) } else { Ok(found) }
}

/// Switches a rule for the user, and says the same as the command.
fn switch(server: &Server, snapshot: &Snapshot, name: &str, to: Switch) -> anyhow::Result<Outcome> {
    let name = rule_name(name);
    let Loaded { book, diagnostics, .. } = &snapshot.views.meant;
    let reopen = || open_roots(&server.args, &server.roots());
    let switched = Switched::set(&snapshot.workspace, (book, diagnostics), &name, to, switch_own, reopen)?;
    let text = anstream::adapter::strip_str(switched.text().trim_end()).to_string();
    Ok(Outcome { text, notice: switched.notice(), warns: switched.is_still_applied() })
}

fn pin_rule(snapshot: &Snapshot, name: &str, change: pin::Change) -> anyhow::Result<String> {
    let name = rule_name(name);
    let rules = rules_named(snapshot, &name)?;
    let sessions = pin::running(&snapshot.workspace, None)?;
    let changed = pin::apply(&snapshot.workspace, &sessions, &rules, change)?;
    Ok(format!("{name} {}", pin::outcome(change, changed.len())))
}
