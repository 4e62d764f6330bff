//! Sessions of agents that use the library, kept in ledgers.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use std::fs;
use std::path::Path;

use rulebook::evidence::{Input, ToolCall};
use rulebook_workspace::{Homes, Workspace};
use serde_json::json;

/// A workspace with rules, and a home.
fn workspace(folder: &Path) -> Workspace {
    for (path, text) in [
        (".rulebook/rules/style.md", "---\nalwaysApply: true\n---\nTwo spaces.\n"),
        (".rulebook/rules/no-map.md", "---\ncondition: new Map\n---\nUse an object.\n"),
        (".claude/rules/sql.md", "---\npaths: ['db/**']\n---\nNever select everything.\n"),
        ("db/schema.sql", "\n"),
    ] {
        let path = folder.join("repo").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let homes =
        Homes { home: Some(folder.to_owned()), state: Some(folder.join("state")), ..Homes::default() };
    Workspace::open_with(&[folder.join("repo")], homes, "").unwrap()
}

fn read_schema() -> Input {
    Input::message("look").tools([ToolCall::new("read_file", json!({ "path": "db/schema.sql" }))])
}

#[test]
fn a_session_is_resumed_and_delivers_once() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = workspace(folder.path());
    let mut session = workspace.session("my-agent", "s").unwrap();
    let turn = session.turn(read_schema());
    assert_eq!(turn.notice().unwrap().line(), "📋 Conditional rules applied: sql");
    assert!(turn.added().contains("Two spaces.") && turn.added().contains("Never select everything."));
    drop(turn);
    session.turn(read_schema()).sent();
    let mut resumed = workspace.session("my-agent", "s").unwrap();
    let turn = resumed.turn(Input::message("go on"));
    assert_eq!(turn.added(), "");
    assert!(turn.system().contains("Never select everything."), "calls of the last turns are evidence");
    drop(turn);
    for (id, sub_agent) in [("other", None), ("s", Some("explore"))] {
        let session = match sub_agent {
            Some(name) => workspace.sub_agent_session("my-agent", id, name),
            None => workspace.session("my-agent", id),
        };
        assert!(session.unwrap().turn(Input::message("x")).added().contains("Two spaces."), "{id}");
    }
    // A session that is open learns what another process did.
    resumed.compacted();
    assert!(session.turn(Input::message("x")).added().contains("Two spaces."));
}

#[test]
fn what_fired_is_known_after_a_resume() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = workspace(folder.path());
    let says_map = |id: &str| {
        let mut session = workspace.session("my-agent", id).unwrap();
        let mut turn = session.turn(Input::message("go"));
        let mut watch = turn.watch();
        let is_interrupted = watch.text("new Map()").retry.is_some();
        assert!(watch.end().retry.is_none());
        turn.sent();
        is_interrupted
    };
    assert_eq!([says_map("s"), says_map("s"), says_map("t")], [true, false, true]);
}

#[test]
fn an_agent_that_reads_a_file_itself_gets_it_in_the_system_prompt_only() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = workspace(folder.path());
    let mut session = workspace.session("claude", "s").unwrap();
    let turn = session.turn(read_schema());
    assert!(turn.added().contains("Two spaces.") && !turn.added().contains("Never select everything."));
    assert!(turn.system().contains("Never select everything."));
}

#[test]
fn a_session_that_cannot_be_kept_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let mut workspace = workspace(folder.path());
    fs::write(folder.path().join("state"), "a file").unwrap();
    // Windows reports it when the session is written.
    assert!(cfg!(windows) || workspace.session("my-agent", "s").is_err());
    workspace.homes.state = None;
    let error = workspace.session("my-agent", "s").unwrap_err().to_string();
    assert_eq!(error, "no folder for sessions: set HOME or XDG_STATE_HOME");
}
