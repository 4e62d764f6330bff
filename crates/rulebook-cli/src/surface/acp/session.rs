//! A session: its messages in order, and the rules that its prompts need.

use std::path::PathBuf;

use rulebook::evidence::Input;
use rulebook::render::{Notice, held};
use rulebook_workspace::ledger::ACP;
use rulebook_workspace::{Workspace, find_root};

use super::link::Link;
use super::message::{Message, Side};
use super::relay::report;
use super::turn::{Exchange, Outcome};
use crate::alert::{alert_line, alerts};
use crate::args::Args;
use crate::input::open_workspace;

/// The name under which sessions are listed.
const HOST: &str = ACP;

/// One conversation of the editor with the agent.
pub(super) struct Session {
    link: Link,
    /// The folders that the editor names; empty if it names none.
    folders: Vec<PathBuf>,
    /// The alerts that the user has seen.
    alerted: Vec<String>,
}

impl Session {
    pub(super) fn new(link: Link, folders: Vec<PathBuf>) -> Session {
        Session { link, folders, alerted: Vec::new() }
    }

    /// Handles messages until the program ends.
    pub(super) fn run(mut self) {
        while let Some((side, message)) = self.link.next() {
            if side == Side::Client && message.method() == Some("session/prompt") {
                self.prompt(&message);
            } else {
                self.link.pass(side, &message);
            }
        }
    }

    /// Adds rules to a prompt, and watches the answer.
    fn prompt(&mut self, message: &Message) {
        let input = message.prompt();
        // A command of the agent takes everything after it as its argument.
        let is_command = input.message.as_deref().is_some_and(|text| text.starts_with('/'));
        let workspace = match self.workspace() {
            Ok(workspace) if !is_command => workspace,
            Ok(_) => return self.link.pass(Side::Client, message),
            Err(error) => {
                report(&format!("{error}; the agent continues without rules"));
                return self.link.pass(Side::Client, message);
            }
        };
        self.alert(&workspace);
        let mut session = match workspace.relayed_session(HOST, &self.link.relay.agent, &self.link.id) {
            Ok(session) => session,
            Err(error) => {
                report(&format!("{error}; the agent continues without rules"));
                return self.link.pass(Side::Client, message);
            }
        };
        let input = Input { mode: self.link.mode.clone(), ..input };
        let mut turn = session.turn(input);
        let (added, notice) = (turn.added(), turn.notice().map(shown));
        let Some(id) = message.id() else { return self.link.pass(Side::Client, message) };
        // Before the agent gets the prompt: its hooks look for the record of this session.
        let mut watch = turn.watch();
        if added.is_empty() {
            self.link.pass(Side::Client, message);
        } else {
            self.link.relay.send_agent(&message.with_block(&added));
        }
        if let Some(notice) = notice {
            self.link.inform(&notice);
        }
        let (outcome, calls) = Exchange::new(&mut self.link, id).run(&mut watch);
        match outcome {
            Outcome::Answered => turn.sent(),
            Outcome::Failed => drop(turn),
        }
        session.called(&calls);
    }

    /// Opens the workspace. Rules, settings and toggles change while an editor runs.
    fn workspace(&self) -> anyhow::Result<Workspace> {
        let args = &self.link.relay.args;
        if !args.root.is_empty() || self.folders.is_empty() {
            return open_workspace(args);
        }
        let mut root: Vec<PathBuf> = Vec::new();
        for folder in self.folders.iter().map(|folder| find_root(folder).to_owned()) {
            if !root.contains(&folder) {
                root.push(folder);
            }
        }
        open_workspace(&Args { root, ..args.lasting() })
    }

    /// Informs the user of what keeps rules away, once.
    fn alert(&mut self, workspace: &Workspace) {
        let prepared = workspace.prepare(&Input::default());
        let lines: Vec<String> = alerts(&prepared.diagnostics).map(alert_line).collect();
        for line in lines {
            if !self.alerted.contains(&line) {
                self.link.inform(&line);
                self.alerted.push(line);
            }
        }
    }
}

/// The notice with what matched, one line per rule.
fn shown(notice: &Notice) -> String {
    let mut text = notice.line();
    for rule in &notice.rules {
        for (condition, matched) in &rule.matched_conditions {
            text.push_str(&format!("\n- {}: {}", rule.name, held(condition, matched)));
        }
    }
    text
}
