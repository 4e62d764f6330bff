//! The two pipes, and which requests are on their way.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use super::message::{Message, Side};
use crate::args::Args;
use crate::lock::lock;
use crate::out;

/// What the sessions share.
pub(super) struct Relay {
    pub(super) args: Args,
    /// The name by which the agent is known.
    pub(super) agent: String,
    to_client: Mutex<Box<dyn Write + Send>>,
    /// `None` after the client closed its side.
    to_agent: Mutex<Option<Box<dyn Write + Send>>>,
    /// The requests of sessions that the agent has not answered, by id.
    requests: Mutex<BTreeMap<String, String>>,
    /// How many prompts Rulebook has sent itself.
    own: AtomicU64,
}

impl Relay {
    pub(super) fn new(
        args: Args,
        agent: String,
        to_client: Box<dyn Write + Send>,
        to_agent: Box<dyn Write + Send>,
    ) -> Relay {
        Relay {
            args,
            agent,
            to_client: Mutex::new(to_client),
            to_agent: Mutex::new(Some(to_agent)),
            requests: Mutex::default(),
            own: AtomicU64::new(0),
        }
    }

    /// Sends a message on to the other side, with its own bytes.
    pub(super) fn pass(&self, from: Side, message: &Message) {
        match from {
            Side::Client => self.write_agent(&message.raw),
            Side::Agent => self.write_client(&message.raw),
        }
    }

    pub(super) fn send_client(&self, message: &Value) {
        self.write_client(message.to_string().as_bytes());
    }

    pub(super) fn send_agent(&self, message: &Value) {
        self.write_agent(message.to_string().as_bytes());
    }

    // A side that went away ends the program through its other pipe.
    fn write_client(&self, line: &[u8]) {
        let _ = write_line(&mut *lock(&self.to_client), line);
    }

    fn write_agent(&self, line: &[u8]) {
        if let Some(agent) = &mut *lock(&self.to_agent) {
            let _ = write_line(agent, line);
        }
    }

    /// The client closed its side.
    pub(super) fn close_agent(&self) {
        *lock(&self.to_agent) = None;
    }

    /// A request is sent: its answer belongs to the session.
    pub(super) fn expect(&self, id: &Value, session: &str) {
        lock(&self.requests).insert(id.to_string(), session.to_owned());
    }

    /// Returns the session of a request that is answered.
    pub(super) fn answered(&self, id: &Value) -> Option<String> {
        lock(&self.requests).remove(&id.to_string())
    }

    /// An id for a prompt of Rulebook. Clients count, or use random ids.
    pub(super) fn own_id(&self) -> Value {
        json!(format!("rulebook-{}", self.own.fetch_add(1, Ordering::Relaxed)))
    }
}

fn write_line(to: &mut impl Write, line: &[u8]) -> std::io::Result<()> {
    to.write_all(line)?;
    to.write_all(b"\n")?;
    to.flush()
}

/// Reports a problem where editors show what their agents report.
pub(super) fn report(problem: &str) {
    out::print_aside(&format!("rulebook: {}\n", out::clean(problem)));
}
