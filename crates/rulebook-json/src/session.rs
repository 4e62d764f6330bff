//! A session: one open turn at a time, whose answer is watched delta by delta.

use std::sync::Arc;

use rulebook::session::{Interrupt, PausedTurn, Step, Watch};
use rulebook_workspace::{AgentSession, JSON_VERSION, Workspace};
use serde_json::{Value, json};

use crate::book::write;
use crate::error::{ErrorCode, JsonError};
use crate::request::read_input;

/// The memory of one conversation. A new turn replaces one that was not sent.
pub struct Session {
    session: AgentSession<Arc<Workspace>>,
    turn: Option<PausedTurn>,
}

impl Session {
    pub(crate) fn new(session: AgentSession<Arc<Workspace>>) -> Session {
        Session { session, turn: None }
    }

    /// Decides one request to the model. The evidence is what is new since the last turn. Answers
    /// `{"version": 1, "system": "…", "added": "…", "notice": {…} | null, "diagnostics": […]}`.
    ///
    /// # Errors
    /// If the evidence is not a JSON object.
    pub fn turn(&mut self, input: &str) -> Result<String, JsonError> {
        let (input, diagnostics) = read_input(if input.trim().is_empty() { "{}" } else { input })?;
        self.drop_turn();
        let turn = self.session.turn(input);
        let answer = json!({
            "version": JSON_VERSION, "system": turn.system(), "added": turn.added(), "notice": turn.notice(),
            "diagnostics": diagnostics,
        });
        self.turn = Some(turn.pause());
        write(&answer)
    }

    /// The request is being made: records what the host reported. The first delta does so too; a host that must not wait for
    /// the disk between deltas calls this before.
    ///
    /// # Errors
    /// If no turn is open.
    pub fn begin(&mut self) -> Result<(), JsonError> {
        let turn = self.turn.take().ok_or_else(no_turn)?;
        let mut turn = self.session.resume(turn);
        let _ = turn.watch();
        self.turn = Some(turn.pause());
        Ok(())
    }

    /// More text of the model's answer. Answers `{"show": "…", "thinking": "…", "retry": {…} | null, "notice": … | null}`.
    ///
    /// # Errors
    /// If no turn is open.
    pub fn text(&mut self, delta: &str) -> Result<String, JsonError> {
        self.step(|watch| watch.text(delta))
    }

    /// More of the model's thinking.
    ///
    /// # Errors
    /// If no turn is open.
    pub fn thinking(&mut self, delta: &str) -> Result<String, JsonError> {
        self.step(|watch| watch.thinking(delta))
    }

    /// More arguments of a tool call, as JSON text.
    ///
    /// # Errors
    /// If no turn is open.
    pub fn tool(&mut self, id: &str, name: &str, delta: &str) -> Result<String, JsonError> {
        self.step(|watch| watch.tool(id, name, delta))
    }

    /// The answer ended. Tool calls may run if this asks for no retry.
    ///
    /// # Errors
    /// If no turn is open.
    pub fn end(&mut self) -> Result<String, JsonError> {
        self.step(|watch| watch.end())
    }

    /// The request was sent: its rules count as delivered, and the turn is closed.
    ///
    /// # Errors
    /// If no turn is open.
    pub fn sent(&mut self) -> Result<(), JsonError> {
        let turn = self.turn.take().ok_or_else(no_turn)?;
        self.session.resume(turn).sent();
        Ok(())
    }

    /// The context was compacted or cleared: everything is due again.
    pub fn compacted(&mut self) {
        self.session.compacted();
    }

    /// Why the session is no longer kept; it continues in memory.
    pub fn lost(&self) -> Option<&str> {
        self.session.lost()
    }

    fn step(&mut self, feed: impl FnOnce(&mut Watch<'_>) -> Step) -> Result<String, JsonError> {
        let turn = self.turn.take().ok_or_else(no_turn)?;
        let mut turn = self.session.resume(turn);
        let Step { show, thinking, retry, notice, .. } = feed(&mut turn.watch());
        self.turn = Some(turn.pause());
        let retry = retry.as_ref().map(interrupt);
        write(&json!({ "show": show, "thinking": thinking, "retry": retry, "notice": notice }))
    }

    /// Ends a turn that was not sent: an interrupt without a retry did not reach the model.
    fn drop_turn(&mut self) {
        if let Some(turn) = self.turn.take() {
            drop(self.session.resume(turn));
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.drop_turn();
    }
}

fn interrupt(interrupt: &Interrupt) -> Value {
    json!({ "text": interrupt.text(), "rules": interrupt.rules(), "output": interrupt.output() })
}

fn no_turn() -> JsonError {
    JsonError::new(ErrorCode::NoTurn, "no turn is open: call `turn` first")
}
