//! `acp`: a program between an editor and an agent that speak the Agent Client Protocol: JSON-RPC, one message per line.
//!
//! Every line passes with its own bytes, unless rules change it. A session has a thread that handles its messages in order:
//! it adds rules to prompts, and watches what the agent writes and calls.

mod call;
mod calls;
#[cfg(feature = "fuzzing")]
pub(super) mod fuzzing;
mod group;
mod lines;
mod link;
mod message;
mod relay;
mod session;
mod turn;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, anyhow};

use crate::args::{Acp, Args};
use crate::input::open_workspace;
use crate::lock::lock;
use lines::{Line, MAX_MESSAGE};
use link::{Link, Mail};
use message::{Message, Side};
use relay::{Relay, report};
use session::Session;

/// How long an agent may run after the editor has closed its side. Some agents never notice.
const GRACE: Duration = Duration::from_secs(10);

/// The most sessions that are open at the same time. Beyond it, the one used longest ago is closed.
const MAX_SESSIONS: usize = 256;

/// The time between two looks whether the agent has ended.
const LOOK: Duration = Duration::from_millis(20);

/// Runs the agent until it ends, and returns its exit code.
pub(super) fn run(args: &Args, options: &Acp) -> anyhow::Result<ExitCode> {
    // Wrong flags are reported now, not with the first prompt.
    open_workspace(args)?;
    let fresh = args.lasting();
    super::keep_fresh::keep_fresh(move || open_workspace(&fresh));
    let (program, rest) = options.command.split_first().context("name an agent after `--`")?;
    group::lead();
    let mut child = start(program, rest)?;
    let (send, lines) = channel();
    read(Side::Client, std::io::stdin(), send.clone());
    read(Side::Agent, child.stdout.take().expect("it is a pipe"), send.clone());
    let to_agent = child.stdin.take().expect("it is a pipe");
    let relay =
        Relay::new(args.lasting(), agent_name(program), Box::new(std::io::stdout()), Box::new(to_agent));
    let mut board = Switchboard::new(relay);
    let child = Arc::new(Mutex::new(child));
    let is_late = Arc::new(AtomicBool::new(false));
    for arrival in lines {
        match arrival {
            (side, Some(line)) => board.dispatch(side, Message::read(line)),
            (Side::Client, None) => {
                board.finish();
                let (child, is_late, send) = (Arc::clone(&child), Arc::clone(&is_late), send.clone());
                thread::spawn(move || {
                    thread::sleep(GRACE);
                    is_late.store(true, Ordering::Relaxed);
                    let _ = lock(&child).kill();
                    // Programs that it started may keep its output open.
                    send.send((Side::Agent, None))
                });
            }
            (Side::Agent, None) => break,
        }
    }
    board.close();
    // The lock is free between two looks: an agent that closed its output may have to be ended.
    let status = loop {
        if let Some(status) = lock(&child).try_wait()? {
            break status;
        }
        thread::sleep(LOOK);
    };
    if is_late.load(Ordering::Relaxed) {
        group::end();
    }
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

fn start(program: &OsStr, rest: &[OsString]) -> anyhow::Result<Child> {
    let mut command = Command::new(program);
    command.args(rest).stdin(Stdio::piped()).stdout(Stdio::piped());
    command.spawn().map_err(|error| {
        anyhow!("name a program on your `PATH` that speaks ACP after `--`, such as `gemini --acp`")
            .context(format!("`{}` cannot be run: {error}", program.to_string_lossy()))
    })
}

/// Returns the name by which an agent is known: `codex` for `codex-acp`.
fn agent_name(program: &OsStr) -> String {
    let name = Path::new(program).file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
    let name = name.strip_suffix("-acp").unwrap_or(&name);
    name.strip_suffix("-agent").unwrap_or(name).to_owned()
}

/// Sends every line of one side. The channel has no limit: two programs that both wait until their output is read must not
/// stop each other.
fn read(side: Side, from: impl Read + Send + 'static, to: Sender<(Side, Option<Vec<u8>>)>) {
    thread::spawn(move || {
        let mut from = BufReader::new(from);
        while let Some(line) = lines::next(&mut from, MAX_MESSAGE) {
            match line {
                Line::Whole(line) => {
                    if to.send((side, Some(line))).is_err() {
                        return;
                    }
                }
                Line::TooLong => {
                    let limit = MAX_MESSAGE >> 20;
                    report(&format!(
                        "a message of the {} is over {limit} MiB and is not passed on",
                        side.name()
                    ));
                }
            }
        }
        let _ = to.send((side, None));
    });
}

/// Gives every message to its session, or to the other side.
struct Switchboard {
    relay: Arc<Relay>,
    /// Requests that open a session, by id, with the folders of the session.
    opening: BTreeMap<String, Vec<PathBuf>>,
    sessions: BTreeMap<String, Running>,
    /// How many messages sessions were sent.
    sent: u64,
}

struct Running {
    to: Sender<Mail>,
    thread: thread::JoinHandle<()>,
    /// The number of its last message.
    used: u64,
}

impl Running {
    /// Waits until it has handled what has arrived.
    fn end(self) {
        drop(self.to);
        let _ = self.thread.join();
    }
}

impl Switchboard {
    fn new(relay: Relay) -> Switchboard {
        Switchboard { relay: Arc::new(relay), opening: BTreeMap::new(), sessions: BTreeMap::new(), sent: 0 }
    }

    fn dispatch(&mut self, side: Side, message: Message) {
        match (side, message.method()) {
            (Side::Client, Some(_)) => self.note_opening(&message),
            (Side::Agent, None) => self.note_opened(&message),
            _ => {}
        }
        match self.session_of(side, &message) {
            Some(session) => {
                // Its answer must not overtake what the agent reports before it.
                if let (Side::Client, Some(id)) = (side, message.id()) {
                    self.relay.expect(id, &session);
                }
                // Outside of its prompts a session adds nothing: the names that an agent makes up need none.
                if side == Side::Client && !self.sessions.contains_key(&session) {
                    self.open(session.clone(), Vec::new(), None);
                }
                self.sent += 1;
                match self.sessions.get_mut(&session) {
                    Some(running) => {
                        running.used = self.sent;
                        let _ = running.to.send(Mail::Message(side, message));
                    }
                    None => self.relay.pass(side, &message),
                }
            }
            None => self.relay.pass(side, &message),
        }
    }

    /// A request may open a session: a new one, whose name its answer has, or an earlier one.
    fn note_opening(&mut self, message: &Message) {
        let folders = message.folders();
        if folders.is_empty() {
            return;
        }
        match (message.session(), message.id()) {
            (Some(session), _) => self.open(session.to_owned(), folders, None),
            (None, Some(id)) => {
                self.opening.insert(id.to_string(), folders);
            }
            (None, None) => {}
        }
    }

    fn note_opened(&mut self, message: &Message) {
        let Some(folders) = message.id().and_then(|id| self.opening.remove(&id.to_string())) else { return };
        let result = &message.json["result"];
        if let Some(session) = result["sessionId"].as_str() {
            let mode = result["modes"]["currentModeId"].as_str().map(str::to_owned);
            self.open(session.to_owned(), folders, mode);
        }
    }

    /// The session that handles a message.
    fn session_of(&self, side: Side, message: &Message) -> Option<String> {
        match (side, message.method()) {
            (_, Some(_)) => message.session().map(str::to_owned),
            (Side::Agent, None) => self.relay.answered(message.id()?),
            (Side::Client, None) => None,
        }
    }

    fn open(&mut self, id: String, folders: Vec<PathBuf>, mode: Option<String>) {
        if self.sessions.len() >= MAX_SESSIONS && !self.sessions.contains_key(&id) {
            let oldest = self.sessions.iter().min_by_key(|(_, running)| running.used);
            if let Some(running) = oldest.map(|(id, _)| id.clone()).and_then(|id| self.sessions.remove(&id)) {
                running.end();
            }
        }
        let (to, inbox) = channel();
        let wanted = BTreeMap::new();
        let link = Link { relay: Arc::clone(&self.relay), id: id.clone(), mode, wanted, inbox };
        let session = Session::new(link, folders);
        match thread::Builder::new().spawn(move || session.run()) {
            Ok(thread) => {
                self.sessions.insert(id, Running { to, thread, used: self.sent });
            }
            Err(error) => {
                self.sessions.remove(&id);
                report(&format!("a session cannot be started: {error}; it continues without rules"));
            }
        }
    }

    /// The client closed its side: the agent's side is closed when the sessions have sent on everything.
    fn finish(&self) {
        let (sync, done) = channel();
        for running in self.sessions.values() {
            let _ = running.to.send(Mail::Sync(sync.clone()));
        }
        drop(sync);
        let _ = done.recv();
        self.relay.close_agent();
    }

    /// Lets every session handle what has arrived.
    fn close(self) {
        self.sessions.into_values().for_each(Running::end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_known_by_their_programs() {
        #[track_caller]
        fn check(program: &str, want: &str) {
            assert_eq!(agent_name(OsStr::new(program)), want);
        }
        check("gemini", "gemini");
        check("/usr/bin/claude-code-acp", "claude-code");
        check("codex-acp.exe", "codex");
        check("Goose", "goose");
    }
}
