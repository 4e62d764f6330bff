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
pub(crate) mod guard;
mod missing;
mod opencode;
mod own_tool;
mod pi;
mod qwen;
mod table;

use std::ffi::OsString;

use rulebook::evidence::json;
use rulebook::session::Reply;
use rulebook_workspace::{Workspace, hosts};
use serde_json::Value;

use crate::args::{Args, Hook};
use crate::input::read_file;
use crate::out;

use answer::Answer;
pub(crate) use answer::Caller;
pub(crate) use event::{Host, has_failed_text};
pub(super) use missing::{Missing, MissingRule, NativeFile, not_delivered};

/// The largest event that is read.
const MAX_EVENT: usize = 64 << 20;

pub(super) fn run(args: &Args, options: &Hook) -> anyhow::Result<()> {
    let name = options.host.name;
    let Some(host) = Host::named(name) else {
        eprintln!("rulebook: `{name}` runs no hooks; the agent continues without rules");
        return Ok(());
    };
    let caller = Caller::Process { all: options.all };
    let event = read_file("-".as_ref(), MAX_EVENT).map_err(anyhow::Error::from);
    let event = event.and_then(|bytes| read(host, &bytes));
    let silence = silence(host, event.as_ref().ok());
    let answer = event.and_then(|event| respond(args, host, event, caller));
    match answer {
        Ok(Some((value, mut answer))) => {
            let written = match out::is_closed() {
                true => Err(anyhow::anyhow!("standard output is closed")),
                false => out::print_json(&value),
            };
            if let Err(error) = written {
                answer.take_back();
                report(&error.context("cannot write the answer"));
            }
            caller.leave(answer);
        }
        Ok(None) => print_silence(silence),
        Err(error) => {
            print_silence(silence);
            report(&error);
        }
    }
    Ok(())
}

/// The answer that says nothing, for a host that needs one.
fn silence(host: &Host, event: Option<&Value>) -> Option<Value> {
    let row = hosts::Host::named(host.profile.name);
    let needs_answer = row.is_some_and(|row| row.needs_answer) || event.is_some_and(cursor::sent);
    needs_answer.then(|| cursor::silence(event.and_then(|event| event.get("hook_event_name")?.as_str())))
}

/// Prints the answer that says nothing, if the host that one of these arguments names needs one.
pub(crate) fn say_nothing(args: &[OsString]) {
    let host = args.iter().find_map(|arg| Host::named(arg.to_str()?));
    print_silence(host.and_then(|host| silence(host, None)));
}

fn print_silence(silence: Option<Value>) {
    // If standard output is closed, the host does not wait for an answer.
    let _ = silence.map(|value| out::print_json(&value));
}

/// Whether the hooks of an agent ask the user about calls.
#[cfg(feature = "proxy")]
pub(crate) fn asks(agent: &str) -> bool {
    table::HOSTS.iter().any(|host| host.agent == agent && host.profile.asks)
}

/// Reports an error on standard error. The host may take anything on standard output for an answer, and a failing status for
/// a refusal.
fn report(error: &anyhow::Error) {
    let error = out::clean(&format!("{error:#}"));
    out::print_aside(&format!("rulebook: {error}; the agent continues without rules\n"));
}

/// The host's answer to an event; nothing if it needs none.
pub(crate) fn reply(
    args: &Args,
    host: &'static Host,
    bytes: &[u8],
    caller: Caller,
) -> anyhow::Result<Option<Value>> {
    let event = read(host, bytes)?;
    let silence = silence(host, Some(&event));
    Ok(respond(args, host, event, caller)?.map(|(value, _)| value).or(silence))
}

fn read(host: &Host, bytes: &[u8]) -> anyhow::Result<Value> {
    json::read(bytes)
        .map_err(|error| anyhow::anyhow!("the event from `{}` is not valid JSON: {error}", host.profile.name))
}

fn respond(
    args: &Args,
    host: &'static Host,
    value: Value,
    caller: Caller,
) -> anyhow::Result<Option<(Value, Answer)>> {
    // Copilot and Cursor also run Claude Code's hooks, but take in little of what they say, and have hooks of their own.
    let is_of_another = || std::env::var_os("COPILOT_CLI").is_some() || cursor::sent(&value);
    if host.profile.name == "claude" && is_of_another() {
        return Ok(None);
    }
    let host = host.sender(&value);
    let Some(mut event) = (host.decode)(&value) else { return Ok(None) };
    own_tool::read_answer(&mut event, &value);
    let mut workspace = answer::open(args, &event, &event::roots(&value))?;
    answer::learn_version(&mut workspace, host, &event);
    let input = event.tool.as_ref().and_then(|call| call.input.as_ref());
    workspace.learn_links(input.into_iter().flat_map(event::texts));
    let answer = encoded(&workspace, host, &event, caller);
    caller.leave((workspace, event, value));
    Ok(answer)
}

/// The answer to an event of Claude Code that did not come over standard input.
#[cfg(feature = "mcp")]
pub(super) fn claude(workspace: &Workspace, value: &Value) -> Option<Value> {
    let event = (claude::HOST.decode)(value)?;
    encoded(workspace, &claude::HOST, &event, Caller::Server).map(|(value, _)| value)
}

fn encoded(
    workspace: &Workspace,
    host: &Host,
    event: &event::HookEvent,
    caller: Caller,
) -> Option<(Value, Answer)> {
    let answer = answer::answer(workspace, host, event, caller);
    if answer.reply == Reply::default() {
        caller.leave(answer);
        return None;
    }
    Some(((host.encode)(event, &answer.reply), answer))
}
