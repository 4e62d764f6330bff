//! `hook`: one event of a host on standard input, the host's answer on standard output.
//!
//! Decode, ask the session, encode. A failure never stops the agent: the answer is empty, and one line goes to standard
//! error.

mod answer;
mod claude;
mod cline;
mod codex;
mod copilot;
mod cursor;
mod event;
mod gemini;
mod hosts;
mod missing;
mod opencode;
mod pi;
mod qwen;

use rulebook::evidence::json;
use rulebook::session::Reply;
use rulebook_workspace::Workspace;
use serde_json::Value;

use crate::args::{Args, Hook};
use crate::input::read_file;
use crate::out;

pub(crate) use answer::Caller;
pub(crate) use event::Host;
pub(super) use missing::not_delivered;

/// The largest event that is read.
const MAX_EVENT: u64 = 64 << 20;

pub(super) fn run(args: &Args, options: &Hook) -> anyhow::Result<()> {
    let name = options.host.name;
    let Some(host) = Host::named(name) else {
        eprintln!("rulebook: `{name}` runs no hooks; the agent continues without rules");
        return Ok(());
    };
    let caller = Caller::Process { all: options.all };
    let event = read_file("-".as_ref(), MAX_EVENT).map_err(anyhow::Error::from);
    match event.and_then(|bytes| reply(args, host, &bytes, caller)) {
        Ok(Some(answer)) => out::print_json(&answer)?,
        Ok(None) => {}
        // The host may take anything on standard output for an answer, and a failing status for a refusal.
        Err(error) => eprintln!("rulebook: {error:#}; the agent continues without rules"),
    }
    Ok(())
}

/// The host's answer to an event; nothing if it needs none.
pub(crate) fn reply(args: &Args, host: &Host, bytes: &[u8], caller: Caller) -> anyhow::Result<Option<Value>> {
    let name = host.profile.name;
    // Copilot also runs Claude Code's hooks, but takes in little of what they say.
    if name == "claude" && std::env::var_os("COPILOT_CLI").is_some() {
        return Ok(None);
    }
    let value =
        json::read(bytes).map_err(|error| anyhow::anyhow!("the event of {name} is not JSON: {error}"))?;
    let Some(event) = (host.decode)(&value) else { return Ok(None) };
    let workspace = answer::open(args, &event, &event::roots(&value))?;
    let answer = respond(&workspace, host, &event, caller);
    caller.leave((workspace, event, value));
    Ok(answer)
}

/// The answer to an event of Claude Code that did not come over standard input.
#[cfg(feature = "mcp")]
pub(super) fn claude(workspace: &Workspace, value: &Value) -> Option<Value> {
    respond(workspace, &claude::HOST, &(claude::HOST.decode)(value)?, Caller::Server)
}

fn respond(workspace: &Workspace, host: &Host, event: &event::HookEvent, caller: Caller) -> Option<Value> {
    let reply = answer::answer(workspace, host, event, caller);
    (reply != Reply::default()).then(|| (host.encode)(event, &reply))
}
