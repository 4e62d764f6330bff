use std::fs;

use rulebook::agent::Agent;

use super::*;
use crate::homes::Homes;

/// Checks which agents are used in a workspace with these files; those below `~` are in the home folder.
#[track_caller]
fn check(files: &[(&str, &str)], search: AgentSearch, expected: &str) {
    let folder = tempfile::tempdir().unwrap();
    let (root, home) = (folder.path().join("root"), folder.path().join("home"));
    fs::create_dir_all(&root).unwrap();
    fs::create_dir_all(&home).unwrap();
    for (path, text) in files {
        let path = path.strip_prefix("~/").map_or_else(|| root.join(path), |path| home.join(path));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let homes = Homes { config: Some(home.join(".config")), home: Some(home), ..Homes::default() };
    let workspace = Workspace::open_with(&[root], homes, "").unwrap();
    let shown: Vec<String> = workspace
        .agents_used(search)
        .iter()
        .map(|used| {
            let wired: Vec<&str> = used.wired.iter().map(|wired| wired.name()).collect();
            format!("{} ({}) {}", used.agent.name, used.origin, wired.join("+")).trim_end().to_owned()
        })
        .collect();
    assert_eq!(shown.join(", "), expected);
}

const HOOKS: &str =
    r#"{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"rulebook hook claude"}]}]}}"#;
const SERVER: &str = r#"{"mcpServers":{"rulebook":{"command":"rulebook","args":["mcp"]}}}"#;

#[test]
fn an_agent_is_used_if_it_has_a_place_of_its_own_at_the_root() {
    use AgentSearch::Workspace as Here;
    check(&[(".cursor/rules/a.md", "")], Here, "cursor (.cursor/rules)");
    check(&[(".cursorrules", "")], Here, "cursor (.cursorrules)");
    check(&[(".cursor/settings.json", "")], Here, "cursor (.cursor)");
    check(&[("CLAUDE.md", ""), ("AGENTS.md", "")], Here, "claude (CLAUDE.md)");
    check(&[(".github/instructions/a.md", "")], Here, "copilot-vscode (.github/instructions)");
    check(&[("opencode.json", "{}")], Here, "opencode (opencode.json)");
    check(&[(".cline/rules/a.md", "")], Here, "cline-cli (.cline/rules)");
    check(&[(".clinerules", "")], Here, "cline (.clinerules)");
    check(&[(".roo/rules-code/a.md", "")], Here, "roo (.roo)");
    check(
        &[("AGENTS.md", ""), ("rules.md", ""), ("replit.md", ""), (".github/workflows/a.yml", "")],
        Here,
        "",
    );
    check(&[("packages/web/.cursor/rules/a.mdc", "")], Here, "");
}

#[test]
fn a_wired_agent_is_used_and_the_home_counts_only_where_it_is_searched() {
    use AgentSearch::{Workspace as Here, WorkspaceAndHome as Everywhere};
    check(&[(".claude/settings.json", HOOKS), (".mcp.json", SERVER)], Here, "claude (wired) hook+mcp");
    check(&[(".claude/settings.local.json", HOOKS)], Here, "claude (wired) hook");
    check(&[("~/.claude/settings.json", HOOKS)], Here, "");
    check(&[("~/.claude/settings.json", HOOKS)], Everywhere, "claude (wired) hook");
    check(&[("~/.claude/settings.json", "{}")], Everywhere, "claude (~/.claude)");
    check(&[("~/.kiro/steering/a.md", "")], Everywhere, "kiro (~/.kiro)");
    check(&[("~/.claude/settings.json", "{}"), (".cursorrules", "")], Everywhere, "cursor (.cursorrules)");
    check(&[], Everywhere, "");
}

#[test]
fn hooks_of_claude_code_do_not_wire_copilot_cli() {
    use AgentSearch::Workspace as Here;
    let hooks = (".claude/settings.json", HOOKS);
    let used = ("rulebook.toml", "agents.used = ['copilot-cli']");
    check(&[hooks, used], Here, "copilot-cli (rulebook.toml)");
    check(&[hooks], Here, "claude (wired) hook");
}

#[test]
fn a_server_that_agents_share_shows_the_use_of_the_one_with_hooks() {
    use AgentSearch::Workspace as Here;
    const COPILOT: &str =
        r#"{"version":1,"hooks":{"sessionStart":[{"bash":"rulebook hook copilot ; exit 0"}]}}"#;
    let (hooks, server) = ((".github/hooks/rulebook.json", COPILOT), (".mcp.json", SERVER));
    check(&[server], Here, "claude (wired) mcp");
    check(&[hooks, server], Here, "copilot-cli (wired) hook+mcp");
    check(&[hooks, server, ("CLAUDE.md", "")], Here, "claude (wired) mcp, copilot-cli (wired) hook+mcp");
    // VS Code runs the hooks, and reads its servers elsewhere.
    let instructions = (".github/instructions/a.instructions.md", "");
    check(&[hooks, server, instructions], Here, "copilot-cli (wired) hook+mcp, copilot-vscode (wired) hook");
    check(&[server, instructions], Here, "claude (wired) mcp, copilot-vscode (.github/instructions)");
    let at_home = ("~/.copilot/hooks/rulebook.json", COPILOT);
    let everywhere = AgentSearch::WorkspaceAndHome;
    check(
        &[at_home, instructions],
        everywhere,
        "copilot-cli (wired) hook, copilot-vscode (.github/instructions)",
    );
}

#[test]
fn hooks_of_cline_run_in_its_command_line_but_do_not_show_that_it_is_used() {
    use AgentSearch::Workspace as Here;
    let hooks = (".clinerules/hooks/PreToolUse", "#!/bin/sh\nrulebook hook cline ; exit 0\n");
    let used = ("rulebook.toml", "agents.used = ['cline-cli']");
    check(&[hooks, used], Here, "cline-cli (rulebook.toml) hook");
    check(&[hooks], Here, "cline (wired) hook");
}

#[test]
fn the_setting_decides_and_a_product_stands_for_its_surfaces() {
    use AgentSearch::Workspace as Here;
    let settings = ("rulebook.toml", "agents.used = ['copilot', 'claude']");
    let all = "claude (rulebook.toml), copilot-cli (rulebook.toml), copilot-github (rulebook.toml), copilot-vscode (rulebook.toml)";
    check(&[settings, (".cursor/rules/a.mdc", "")], Here, all);
}

#[test]
fn every_owner_of_a_folder_has_a_marker() {
    let has_folder = |agent: &&Agent| {
        let places = agent.owns.map_or(&[][..], |format| format.row().workspace);
        places.iter().any(|place| place.path.contains('/'))
    };
    for agent in AGENTS.iter().filter(has_folder) {
        assert!(markers(agent).next().is_some(), "{}", agent.name);
    }
}
