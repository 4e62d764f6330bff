//! A turn: what the agent writes and calls until it has answered the prompt.
//!
//! On a match the turn is cancelled. When the agent has stopped, it is prompted again with the rule, and the client gets the
//! answer of that prompt as the answer of its own.

use rulebook::evidence::ToolCall;
use rulebook::session::{Interrupt, Step, Watch};
use serde_json::{Value, json};

use super::call::Call;
use super::calls::Calls;
use super::link::Link;
use super::message::{Message, Prose, Side, cancel, not_permitted, prompt, refused};

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The agent accepted the prompt.
    Answered,
    /// The agent rejected the prompt, or the program ends.
    Failed,
}

/// The prompt of the client, and what has happened since.
pub(super) struct Exchange<'s> {
    link: &'s mut Link,
    /// The id of the client's prompt.
    asked: &'s Value,
    /// The id of the prompt that the agent works on.
    running: Value,
    /// The text of the next prompt, while the agent stops.
    stopping: Option<String>,
    /// Whether the user cancelled the turn.
    is_cancelled: bool,
    calls: Calls,
}

impl<'s> Exchange<'s> {
    pub(super) fn new(link: &'s mut Link, asked: &'s Value) -> Exchange<'s> {
        Exchange {
            link,
            asked,
            running: asked.clone(),
            stopping: None,
            is_cancelled: false,
            calls: Calls::default(),
        }
    }

    /// Handles messages until the client's prompt is answered; returns the tool calls too.
    pub(super) fn run(mut self, watch: &mut Watch<'_>) -> (Outcome, Vec<ToolCall>) {
        let outcome = self.handle(watch);
        (outcome, self.calls.all().map(Call::evidence).collect())
    }

    fn handle(&mut self, watch: &mut Watch<'_>) -> Outcome {
        loop {
            let Some((side, message)) = self.link.next() else { return Outcome::Failed };
            match (side, message.method()) {
                (Side::Client, method) => {
                    self.is_cancelled |= method == Some("session/cancel");
                    self.link.pass(side, &message);
                }
                (Side::Agent, None) if message.id() == Some(&self.running) => {
                    if let Some(outcome) = self.answered(watch, message) {
                        return outcome;
                    }
                }
                (Side::Agent, Some("session/update")) => self.update(watch, &message),
                (Side::Agent, Some("session/request_permission")) => self.permission(watch, &message),
                (Side::Agent, Some("fs/write_text_file")) => self.write(watch, &message),
                (Side::Agent, Some("terminal/create")) => self.execute(watch, &message),
                (Side::Agent, _) => self.link.pass(side, &message),
            }
        }
    }

    /// The agent's prompt ended: the turn too, or the agent is prompted again.
    fn answered(&mut self, watch: &mut Watch<'_>, message: Message) -> Option<Outcome> {
        let is_accepted = message.json["error"].is_null();
        let mut again = self.stopping.take();
        if again.is_none() && is_accepted {
            let step = watch.end();
            self.show(&step);
            again = step.retry.map(|interrupt| self.interrupted(&interrupt));
        }
        match again.filter(|_| is_accepted && !self.is_cancelled) {
            Some(text) => {
                self.running = self.link.relay.own_id();
                self.link.relay.expect(&self.running, &self.link.id);
                self.link.relay.send_agent(&prompt(&self.running, &self.link.id, &text));
                None
            }
            None => {
                let mut answer = message.json;
                answer["id"] = self.asked.clone();
                self.link.relay.send_client(&answer);
                Some(if is_accepted { Outcome::Answered } else { Outcome::Failed })
            }
        }
    }

    fn update(&mut self, watch: &mut Watch<'_>, message: &Message) {
        let update = &message.params()["update"];
        if let Some((prose, text)) = Prose::of(update) {
            if self.stopping.is_some() {
                return;
            }
            let step = match prose {
                Prose::Answer => watch.text(text),
                Prose::Thought => watch.thinking(text),
            };
            let is_whole = match prose {
                Prose::Answer => step.show == text && step.thinking.is_empty(),
                Prose::Thought => step.thinking == text && step.show.is_empty(),
            };
            if is_whole && step.retry.is_none() && step.notice.is_none() {
                self.link.pass(Side::Agent, message);
            } else {
                self.follow(step);
            }
        } else if let Some(id) = update["toolCallId"].as_str() {
            self.calls.about(id, message.raw.len()).update(update);
            if self.is_clean(watch, id) || self.calls.of(id).is_shown {
                self.calls.of(id).is_shown = true;
                self.link.pass(Side::Agent, message);
            }
        } else {
            self.link.pass(Side::Agent, message);
        }
    }

    /// Watches what a call is about to do. Returns whether it may go on.
    fn is_clean(&mut self, watch: &mut Watch<'_>, id: &str) -> bool {
        let call = self.calls.of(id);
        let name = call.name().to_owned();
        let Some((version, arguments)) = call.watchable() else { return self.stopping.is_none() };
        let is_clean = self.watch_call(watch, &format!("{id} {version}"), &name, &arguments);
        self.calls.of(id).is_held = !is_clean;
        is_clean
    }

    fn watch_call(&mut self, watch: &mut Watch<'_>, id: &str, name: &str, arguments: &str) -> bool {
        if self.stopping.is_none() {
            let step = watch.whole_tool(id, name, arguments);
            self.follow(step);
        }
        self.stopping.is_none()
    }

    fn permission(&mut self, watch: &mut Watch<'_>, message: &Message) {
        let call = &message.params()["toolCall"];
        let id = call["toolCallId"].as_str().unwrap_or_default();
        let known = self.calls.about(id, message.raw.len());
        known.update(call);
        known.propose();
        match message.id() {
            Some(request) if !self.is_clean(watch, id) => {
                self.link.relay.send_agent(&not_permitted(request));
            }
            _ => {
                self.calls.of(id).is_shown = true;
                self.link.pass(Side::Agent, message);
            }
        }
    }

    /// A file is written through the editor. If the call has shown the change, that was watched; the whole file may contain
    /// what was there before.
    fn write(&mut self, watch: &mut Watch<'_>, message: &Message) {
        let params = message.params();
        let path = params["path"].as_str().unwrap_or_default();
        let is_shown = self.calls.all().any(|call| call.shows(path));
        let arguments = json!({ "path": path, "content": params["content"] }).to_string();
        let is_clean = if is_shown {
            self.stopping.is_none()
        } else {
            self.watch_call(watch, &request_id(message), "write", &arguments)
        };
        self.pass_or_refuse(message, is_clean);
    }

    /// A command is run through the editor.
    fn execute(&mut self, watch: &mut Watch<'_>, message: &Message) {
        let params = message.params();
        let words =
            std::iter::once(&params["command"]).chain(params["args"].as_array().into_iter().flatten());
        let command = words.filter_map(Value::as_str).collect::<Vec<_>>().join(" ");
        let arguments = json!({ "command": command }).to_string();
        let is_clean = self.watch_call(watch, &request_id(message), "bash", &arguments);
        self.pass_or_refuse(message, is_clean);
    }

    fn pass_or_refuse(&mut self, message: &Message, is_clean: bool) {
        match message.id() {
            Some(id) if !is_clean => self.link.relay.send_agent(&refused(id)),
            _ => self.link.pass(Side::Agent, message),
        }
    }

    /// Shows what may be shown, and stops the agent if it must.
    fn follow(&mut self, step: Step) {
        self.show(&step);
        if let Some(interrupt) = step.retry {
            self.stopping = Some(self.interrupted(&interrupt));
            self.link.relay.send_agent(&cancel(&self.link.id));
        }
    }

    fn show(&self, step: &Step) {
        for (prose, text) in [(Prose::Thought, &step.thinking), (Prose::Answer, &step.show)] {
            if !text.is_empty() {
                self.link.relay.send_client(&prose.chunk(&self.link.id, text));
            }
        }
        if let Some(notice) = &step.notice {
            self.link.inform(notice);
        }
    }

    /// Informs the user of an interrupt, and returns its text.
    fn interrupted(&self, interrupt: &Interrupt) -> String {
        let rules = interrupt.rules().join(", ");
        self.link.inform(&format!("the output violates {rules}: the agent is stopped and asked again"));
        interrupt.text().to_owned()
    }
}

/// A name for the stream of a request.
fn request_id(message: &Message) -> String {
    format!("request {}", message.id().unwrap_or(&Value::Null))
}
