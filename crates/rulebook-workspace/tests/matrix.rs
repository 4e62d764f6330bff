//! Every rule for every agent: what each one reads by itself, and what Rulebook adds.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use std::fs;

use rulebook::agent::{Agent, Purpose};
use rulebook::evidence::Input;
use rulebook::matrix::{Cell, CellState};
use rulebook_workspace::{AgentSearch, Homes, Reach, Workspace};

/// Checks the matrix of some agents for `src/a.ts`: one line per rule, one cell per agent.
#[track_caller]
fn check(files: &[(&str, &str)], agents: &str, expected: &str) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let homes = Homes { home: Some(folder.path().join("home")), ..Homes::default() };
    let workspace = Workspace::open_with(&[&root], homes, "").unwrap();
    let input = Input { arguments: vec!["src/a.ts".to_owned()], ..Input::default() };
    let (evidence, _) = workspace.evidence(&input);
    let used = agents.split(' ').map(|name| {
        let agent = Agent::find(name, Purpose::View).unwrap().agent;
        workspace.agent(agent, AgentSearch::Workspace)
    });
    let views = workspace.sources(Reach::Above(&evidence.paths)).views(used.collect());
    let matrix = views.matrix(&evidence);
    let line = |(at, row): (usize, &rulebook::matrix::RuleRow<'_>)| {
        let cells: Vec<String> = matrix.columns.iter().map(|column| shown(&column.cells[at])).collect();
        format!("{}: {}\n", row.origin.display, cells.join(" | "))
    };
    let lines: String = matrix.rows.iter().enumerate().map(line).collect();
    assert_eq!(lines.trim(), expected.trim());
}

fn shown(cell: &Cell<'_>) -> String {
    let by = cell.by.map(|by| format!(" by {by}")).unwrap_or_default();
    let why = if cell.because.is_empty() { String::new() } else { format!(" ({})", cell.because) };
    let would = if cell.if_wired.is_some() { "*" } else { "" };
    format!("{}{would}{by}{why}", CellState::name(cell.state))
}

const HOOKS: (&str, &str) = (
    ".claude/settings.json",
    r#"{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"rulebook hook claude"}]}]}}"#,
);
const SERVER: (&str, &str) =
    (".mcp.json", r#"{"mcpServers":{"rulebook":{"command":"rulebook","args":["mcp"]}}}"#);
const CURSOR: [(&str, &str); 4] = [
    (".cursor/rules/ts.mdc", "---\nglobs: src/**\n---\nTypes."),
    (".cursor/rules/db.mdc", "---\nglobs: db/**\n---\nTables."),
    (".cursor/rules/ask.mdc", "---\ndescription: On request\n---\nAsk."),
    (".cursor/rules/plain.md", "---\nalwaysApply: true\n---\nPlain."),
];

#[test]
fn an_unwired_agent_has_what_it_reads_by_itself() {
    check(
        &[CURSOR.as_slice(), &[("AGENTS.md", "For all.")]].concat(),
        "claude cursor",
        "
.cursor/rules/plain.md: unread* | unread* (reads `*.mdc` in `.cursor/rules`)
AGENTS.md: native (always; since 2.1.277) | native (always)
.cursor/rules/ask.mdc: unread* | offered by agent
.cursor/rules/db.mdc: unread* | inactive (no evidence path matches `db/**`)
.cursor/rules/ts.mdc: unread* | native (paths src/**)
",
    );
}

#[test]
fn a_hook_adds_what_the_agent_lacks_and_mcp_alone_offers_it() {
    check(
        &[CURSOR.as_slice(), &[HOOKS, ("CLAUDE.md", "See @AGENTS.md."), ("AGENTS.md", "For all.")]].concat(),
        "claude",
        "
.cursor/rules/plain.md: added (always)
CLAUDE.md: native (always)
AGENTS.md: native (imported by CLAUDE.md)
.cursor/rules/ask.mdc: offered by rulebook
.cursor/rules/db.mdc: inactive (no evidence path matches `db/**`)
.cursor/rules/ts.mdc: added (paths src/**)
",
    );
    check(&[CURSOR[0], SERVER], "claude", ".cursor/rules/ts.mdc: offered by rulebook (paths src/**)");
}

#[test]
fn a_file_named_after_another_agent_is_added_only_where_there_is_no_own_file() {
    check(
        &[HOOKS, ("GEMINI.md", "For Gemini."), ("CLAUDE.md", "For Claude.")],
        "claude gemini",
        "
CLAUDE.md: native (always) | unread (belongs to Claude Code; Gemini CLI reads GEMINI.md instead)
GEMINI.md: unread (belongs to Gemini CLI; Claude Code reads CLAUDE.md instead) | native (always)
",
    );
    check(&[HOOKS, ("GEMINI.md", "For Gemini.")], "claude", "GEMINI.md: added (always)");
    check(
        &[HOOKS, ("GEMINI.md", "G."), ("CLAUDE.md", "C."), ("rulebook.toml", "agents.claude.add = 'all'")],
        "claude",
        "CLAUDE.md: native (always)\nGEMINI.md: added (always)",
    );
    check(
        &[
            HOOKS,
            ("GEMINI.md", "G."),
            (".cursorrules", "C."),
            ("rulebook.toml", "agents.claude.add = ['cursor']"),
        ],
        "claude",
        ".cursorrules: added (always)\nGEMINI.md: unread (`agents.claude.add` leaves it out)",
    );
}

#[test]
fn what_the_agent_loads_is_native_even_if_it_is_disabled_or_overridden_here() {
    check(
        &[(".claude/rules/a.md", "A."), ("rulebook.toml", "rules.disabled_ids = ['a']")],
        "claude",
        ".claude/rules/a.md: native (always; disabled by `rules.disabled_ids` in rulebook.toml, but the agent reads it)",
    );
    check(
        &[HOOKS, (".claude/rules/a.md", "Same."), (".clinerules/b.md", "Same.")],
        "claude cline",
        "
.clinerules/b.md: overridden (by .claude/rules/a.md (duplicate)) | native (always)
.claude/rules/a.md: native (always) | unread (same text as `.clinerules/b.md`)
",
    );
}
