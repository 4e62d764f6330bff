//! `hook`: one event of a host on standard input, the host's answer on standard output.
//!
//! Decode, ask, encode. Whatever fails here never stops the agent: the answer is empty, one line goes to standard error
//! and, where there is a ledger, into it.

mod answer;
mod claude;
mod cline;
mod codex;
mod copilot;
mod cursor;
mod event;
mod gemini;
mod memory;
mod missing;
mod opencode;
mod qwen;
mod refuse;

use std::process::ExitCode;

use rulebook::evidence::{ToolCall, json};
use rulebook_workspace::Workspace;
use serde_json::Value;

use crate::args::{Args, Hook};
use crate::input::read_file;
use crate::out;
use event::{HookEvent, HookReply, Moment};

pub(super) use missing::not_delivered;

/// A host: how its events are read, what it takes, and how it is answered.
pub(crate) struct Host {
    /// What it is called.
    pub(crate) name: &'static str,
    /// The agent whose files it reads itself; see `rulebook formats`.
    agent: &'static str,
    /// How many characters of context it takes at once.
    cap: usize,
    /// At which moments context reaches the model.
    hears: &'static [Moment],
    /// Whether it shows the user what it is told for them; else the model is asked to.
    shows_notices: bool,
    /// Which ways of touching a file its own rules for paths miss.
    misses: &'static [Touch],
    /// At which moments what it is told is gone when the session is resumed.
    forgets: &'static [Moment],
    decode: fn(&Value) -> Option<HookEvent>,
    encode: fn(&HookEvent, &HookReply) -> Value,
}

/// Who asks.
#[derive(Clone, Copy)]
pub(crate) enum Caller {
    /// A process that ends with its answer; with `all`, the host's own formats are delivered too.
    Process { all: bool },
    /// A server that goes on.
    Server,
}

impl Caller {
    /// Is done with something. To give its memory back piece by piece would be a good part of a hook's time.
    fn leave<T>(self, done: T) {
        match self {
            Caller::Process { .. } => std::mem::forget(done),
            Caller::Server => drop(done),
        }
    }
}

/// How a tool call touches a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Touch {
    Read,
    Write,
    Shell,
}

impl Touch {
    fn of(call: &ToolCall) -> Touch {
        match () {
            () if call.shell_command().is_some() => Touch::Shell,
            () if call.is_write() => Touch::Write,
            () => Touch::Read,
        }
    }

    /// What the host was doing when it missed a rule.
    fn said(self) -> &'static str {
        match self {
            Touch::Read => "reads",
            Touch::Write => "writes",
            Touch::Shell => "runs commands",
        }
    }
}

/// Every host, sorted by name.
pub(crate) static HOSTS: &[Host] = &[
    claude::HOST,
    cline::HOST,
    codex::HOST,
    copilot::HOST,
    cursor::HOST,
    gemini::HOST,
    opencode::HOST,
    qwen::HOST,
];

/// The largest event that is read.
const MAX_EVENT: u64 = 64 << 20;

pub(super) fn run(args: &Args, options: &Hook) -> anyhow::Result<ExitCode> {
    let Some(host) = HOSTS.iter().find(|host| host.name == options.host.name()) else {
        unreachable!("a test compares the tables")
    };
    let caller = Caller::Process { all: options.all };
    match read_event().and_then(|bytes| reply(args, host, &bytes, caller)) {
        Ok(Some(answer)) => out::print_json(&answer)?,
        Ok(None) => {}
        // The host may take anything on standard output for an answer, and a failing status for a refusal.
        Err(error) => eprintln!("rulebook: {error:#}; the agent goes on without rules"),
    }
    Ok(ExitCode::SUCCESS)
}

fn read_event() -> anyhow::Result<Vec<u8>> {
    Ok(read_file("-".as_ref(), MAX_EVENT)?)
}

/// The host's answer to an event; nothing where there is nothing to say.
pub(crate) fn reply(args: &Args, host: &Host, bytes: &[u8], caller: Caller) -> anyhow::Result<Option<Value>> {
    // Copilot runs Claude Code's hooks beside its own, and takes in little of what they say.
    if host.name == "claude" && std::env::var_os("COPILOT_CLI").is_some() {
        return Ok(None);
    }
    let value = json::read(bytes)
        .map_err(|error| anyhow::anyhow!("the event of {} is not JSON: {error}", host.name))?;
    let Some(event) = (host.decode)(&value) else { return Ok(None) };
    let workspace = answer::open(args, &event)?;
    let answer = respond(&workspace, host, &event, caller);
    caller.leave((workspace, event, value));
    Ok(answer)
}

/// The answer to an event of Claude Code that did not come over standard input.
#[cfg(feature = "mcp")]
pub(super) fn claude(workspace: &Workspace, value: &Value) -> Option<Value> {
    respond(workspace, &claude::HOST, &(claude::HOST.decode)(value)?, Caller::Server)
}

fn respond(workspace: &Workspace, host: &Host, event: &HookEvent, caller: Caller) -> Option<Value> {
    let answer = answer::answer(workspace, host, event, caller);
    (!answer.is_empty()).then(|| (host.encode)(event, &answer))
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum as _;

    use super::*;
    use crate::host::HostId;
    use crate::surface::install;

    #[test]
    fn every_host_can_be_wired_and_is_an_agent_that_is_known() {
        let ids = HostId::value_variants();
        let names: Vec<&str> = ids.iter().map(|id| id.name()).collect();
        assert!(names.is_sorted());
        assert_eq!(names, HOSTS.iter().map(|host| host.name).collect::<Vec<_>>());
        assert_eq!(ids, install::HOSTS.iter().map(|host| host.id).collect::<Vec<_>>());
        for host in HOSTS {
            assert!(rulebook::agent::Agent::named(host.agent).is_some(), "{}", host.agent);
        }
    }
}
