//! A workspace that answers questions.

use std::path::PathBuf;
use std::sync::Arc;

use rulebook::render::{Notice, render};
use rulebook_workspace::{Homes, JSON_VERSION, Reach, RuleText, Wanted, Workspace, find_root};
use serde::Serialize;
use serde_json::json;

use crate::error::{ErrorCode, JsonError};
use crate::file;
use crate::request::{self, OfTexts, Open, Question};
use crate::session::Session;

/// The rules of a workspace. Files are read again for each question, so an answer is never stale.
#[derive(Clone, Debug)]
pub struct Book {
    workspace: Arc<Workspace>,
}

impl Book {
    /// Opens a workspace: `{"roots": ["."], "settings": {"budget": {"tokens": 4000}}, "home": false}`. Every key is
    /// optional.
    ///
    /// # Errors
    /// If a root cannot be opened or a setting cannot be used.
    pub fn open(options: &str) -> Result<Book, JsonError> {
        let Open { roots, settings, home } = request::read(options)?;
        let roots: Vec<PathBuf> = match roots.is_empty() {
            true => {
                let here =
                    std::env::current_dir().map_err(|error| JsonError::new(ErrorCode::CannotOpen, error))?;
                vec![find_root(&here).to_owned()]
            }
            false => roots.into_iter().map(PathBuf::from).collect(),
        };
        let homes = if home.unwrap_or(true) { Homes::from_environment() } else { Homes::default() };
        let workspace = Workspace::open_with(&roots, homes, &settings.to_string())
            .map_err(|error| JsonError::new(ErrorCode::CannotOpen, error))?;
        Book::of(workspace)
    }

    /// A workspace of texts instead of files: `{"texts": [{"path": "AGENTS.md", "text": "…"}], "files": ["src/a.ts"],
    /// "settings": {}}`. Every key is optional.
    ///
    /// Nothing is read from a disk and nothing is written: sessions are kept in memory. `files` are files of the tree whose
    /// text does not matter.
    ///
    /// # Errors
    /// If a path leads out of the workspace or a setting cannot be used.
    pub fn of_texts(options: &str) -> Result<Book, JsonError> {
        let OfTexts { texts, files, settings } = request::read(options)?;
        let files = files.iter().map(|path| (path.as_str(), ""));
        let texts = texts.iter().map(|file| (file.path.as_str(), file.text.as_str()));
        let workspace = Workspace::of_texts(files.chain(texts), &settings.to_string())
            .map_err(|outside| JsonError::new(ErrorCode::OutsideRoot, outside))?;
        Book::of(workspace)
    }

    fn of(workspace: Workspace) -> Result<Book, JsonError> {
        match workspace.diagnostics.iter().find(|found| found.path == "--set") {
            Some(wrong) => {
                let message = format!("cannot use `settings`: {}", wrong.message);
                Err(JsonError::new(ErrorCode::BadRequest, message))
            }
            None => Ok(Book { workspace: Arc::new(workspace) }),
        }
    }

    /// Which rules each agent has, and why: `{"input": {"paths": ["a.ts"]}, "for": "claude"}`. Answers as `explain --json`.
    ///
    /// # Errors
    /// If the request cannot be read, names an unknown agent or a path outside the roots.
    pub fn explain(&self, request: &str) -> Result<String, JsonError> {
        let question: Question = request::read(request)?;
        let (input, diagnostics) = question.input()?;
        let mut explanation = self
            .workspace
            .explain(&input, question.view()?, |_, _| ())
            .map_err(|outside| JsonError::new(ErrorCode::OutsideRoot, outside))?;
        explanation.add_diagnostics(diagnostics);
        write(&explanation.output())
    }

    /// The text for the model: `{"input": {"message": "…"}, "for": "claude", "budget": 4000}`. Answers as `prompt --json`.
    ///
    /// # Errors
    /// If the request cannot be read or names an unknown agent.
    pub fn prompt(&self, request: &str) -> Result<String, JsonError> {
        let question: Question = request::read(request)?;
        let (input, mut diagnostics) = question.input()?;
        let prepared = self.workspace.prepare(&input);
        diagnostics.extend(prepared.diagnostics.iter().cloned());
        let evaluation = prepared.evaluate_for(question.view()?, question.budget);
        let rendered = render(&evaluation);
        let notice = Notice::of(&rendered);
        write(&self.workspace.prompt_output(&prepared, &rendered, notice.as_ref(), &diagnostics))
    }

    /// One rule's text, by `rule://NAME`, key, id or file.
    ///
    /// # Errors
    /// If no rule has that name; the message lists the most similar ones.
    pub fn read(&self, name: &str) -> Result<String, JsonError> {
        let loaded = self.workspace.sources(Reach::Tree).read_out();
        let (rule, others) = loaded.book.read_all(name).map_err(|unknown| {
            let known: Vec<&str> = unknown.known.iter().take(20).map(String::as_str).collect();
            let message =
                format!("no rule named `{name}`; available, most similar first: {}", known.join(", "));
            JsonError::new(ErrorCode::UnknownRule, message)
        })?;
        write(&RuleText::new(rule, &others, &loaded.diagnostics))
    }

    /// One rule file, by its path as shown in answers: its rules with the files they are for, what each key of its header
    /// means, who reads it, what is wrong with it, and its text with the safe fixes of `check --fix`.
    ///
    /// # Errors
    /// Never, at present. A file that is not a rule file has empty lists.
    pub fn file(&self, path: &str) -> Result<String, JsonError> {
        write(&file::describe(&self.workspace, path))
    }

    /// Every problem that `check` reports: `{"version": 1, "diagnostics": […]}`.
    ///
    /// # Errors
    /// Never, at present.
    pub fn diagnostics(&self) -> Result<String, JsonError> {
        let tree = self.workspace.tree(Wanted::All, &|_| ());
        let checked = self.workspace.sources(Reach::Walked(&tree)).checked(&tree);
        write(&json!({ "version": JSON_VERSION, "diagnostics": checked.diagnostics }))
    }

    /// Opens or resumes a session of an agent. The id is the agent's own name for the conversation.
    ///
    /// # Errors
    /// If its ledger cannot be used.
    pub fn session(&self, agent: &str, id: &str) -> Result<Session, JsonError> {
        let session = self.workspace.shared_session(agent, id);
        session.map(Session::new).map_err(|error| JsonError::new(ErrorCode::SessionLost, error))
    }
}

/// Writes an answer. Answers consist of texts, numbers and lists, which JSON can always express.
pub(crate) fn write(answer: &impl Serialize) -> Result<String, JsonError> {
    serde_json::to_string(answer).map_err(|error| JsonError::new(ErrorCode::BadRequest, error))
}
