//! Recognises the entries of Rulebook in the files of hosts.

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::yaml::section;
use crate::hosts::Syntax;

/// The name of our server in a host's list of MCP servers.
pub const SERVER: &str = "rulebook";

/// The path of our plugin, relative to the file that lists it.
pub const PLUGIN: &str = "./.rulebook/opencode.js";

/// The keys under which hosts list MCP servers.
const LISTS: [&str; 4] = ["mcpServers", "mcp", "servers", "context_servers"];

/// The end of every hook command: the agent continues if the program is missing or fails.
///
/// `sh` and PowerShell run it as a second command. `cmd` passes it to the program as arguments, which `rulebook hook`
/// ignores; the space before the semicolon keeps them apart from the host's name.
pub const CONTINUE: &str = " ; exit 0";

/// What precedes [`CONTINUE`] for a host that shows standard error to the user. `$null` is PowerShell's; for `sh` the host sets it.
pub const SILENCE: &str = " 2>$null";

/// Whether a command line runs our hook for a host and nothing else, with any options, with or without [`CONTINUE`].
pub fn is_hook_command(line: &str, host: &str) -> bool {
    hook_of(line).is_some_and(|(program, name)| name == host && is_our_program(program))
}

/// Returns the program of a command line that does nothing but run a hook, and the host it is for.
pub fn hook_of(line: &str) -> Option<(&str, &str)> {
    let line = without_end(line).trim_start_matches("& ").trim_start();
    let line = line.strip_prefix("exec ").unwrap_or(line);
    let (program, rest) = match line.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"')?,
        None => line.split_at(line.find(char::is_whitespace)?),
    };
    let mut words = rest.split_whitespace();
    let is_hook = words.next() == Some("hook");
    let host = words.next().filter(|_| is_hook)?;
    let is_option = |word: &str| word.starts_with('-') && !word.contains([';', '&', '|', '<', '>', '`', '$']);
    words.all(is_option).then_some((program, host))
}

/// Whether a program is called Rulebook.
pub fn is_our_program(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
    let name = name.strip_suffix(".exe").unwrap_or(name);
    name == SERVER || name.strip_prefix(SERVER).is_some_and(|rest| rest.starts_with(['-', '_', '.']))
}

/// Returns a command line without [`SILENCE`] and [`CONTINUE`].
pub fn without_end(line: &str) -> &str {
    let line = line.trim();
    let line = line.strip_suffix(CONTINUE).unwrap_or(line);
    line.strip_suffix(SILENCE).unwrap_or(line).trim_end()
}

/// Whether `rulebook install` wrote the whole file.
pub fn is_written_for(text: &str, host: &str) -> bool {
    let mark = format!("Written by `rulebook install {host}`");
    text.lines().take(2).any(|line| line.contains(&mark))
}

/// Whether a host's JSON runs our hook.
pub(crate) fn runs_hook(text: &str, is_ours: &dyn Fn(&str) -> bool) -> bool {
    fn has_command(value: &Value<'_>, is_ours: &dyn Fn(&str) -> bool) -> bool {
        match value {
            Value::StringLit(text) => is_ours(&text.value),
            Value::Array(list) => list.elements.iter().any(|value| has_command(value, is_ours)),
            Value::Object(object) => {
                let is = |key: &str, wanted: &str| {
                    object.get_string(key).is_some_and(|found| found.value == wanted)
                };
                // A hook of Claude Code that calls a tool of our server.
                is("server", SERVER) && is("tool", "hook")
                    || object.properties.iter().any(|prop| has_command(&prop.value, is_ours))
            }
            _ => false,
        }
    }
    with_document(text, |document| {
        document.get("hooks").is_some_and(|hooks| has_command(&hooks.value, is_ours))
    })
}

/// Whether a host's JSON lists our plugin.
pub(crate) fn lists_plugin(text: &str) -> bool {
    with_document(text, |document| {
        let mut listed = document.get_array("plugin").into_iter().flat_map(|list| &list.elements);
        listed.any(|value| value.as_string_lit().is_some_and(|path| path.value == PLUGIN))
    })
}

/// Whether a host's file lists our MCP server and does not switch it off.
pub(crate) fn lists_server(text: &str, syntax: Syntax) -> bool {
    match syntax {
        Syntax::Toml => {
            let document: Option<toml::Table> = text.parse().ok();
            let list = document.as_ref().and_then(|document| document.get("mcp_servers")?.as_table());
            list.is_some_and(|list| list.contains_key(SERVER))
        }
        Syntax::Yaml => lists_in_yaml(text),
        _ => lists_in_json(text),
    }
}

fn lists_in_yaml(text: &str) -> bool {
    let Some(section) = section(text, "extensions") else { return false };
    let mut own = section.entries.iter().filter(|(name, _)| name == SERVER);
    own.any(|(_, at)| !text[at.clone()].lines().any(|line| line.trim() == "enabled: false"))
}

fn lists_in_json(text: &str) -> bool {
    let is_off = |server: &Object<'_>| {
        server.get_boolean("enabled").is_some_and(|enabled| !enabled.value)
            || server.get_boolean("disabled").is_some_and(|disabled| disabled.value)
    };
    with_document(text, |document| {
        let mut lists = LISTS.iter().filter_map(|list| document.get_object(list));
        lists.any(|list| list.get_object(SERVER).is_some_and(|server| !is_off(server)))
    })
}

/// Tests the object in a JSON file with comments; `false` if the file has no object.
fn with_document(text: &str, test: impl FnOnce(&Object<'_>) -> bool) -> bool {
    let text = text.trim_start_matches('\u{feff}');
    let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default());
    match parsed.ok().and_then(|parsed| parsed.value) {
        Some(Value::Object(document)) => test(&document),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_recognised_by_its_program_and_its_host() {
        #[track_caller]
        fn check(line: &str, expected: bool) {
            assert_eq!(is_hook_command(line, "claude"), expected, "{line}");
        }
        check("rulebook hook claude", true);
        check(" rulebook hook claude ", true);
        check("rulebook hook claude ; exit 0", true);
        check("rulebook hook codex ; exit 0", false);
        check("\"/opt/my tools/rulebook.exe\" hook claude", true);
        check("rulebook hook codex", false);
        check("other hook claude", false);
        check("rulebook prompt", false);
        check("/x/rulebook hook claude --all", true);
        check("C:\\bin\\rulebook.exe hook claude", true);
        check("rulebook-1.2 hook claude", true);
        check("echo rulebook hook claude", false);
        check("cd sub && rulebook hook claude", false);
        check("rulebook hook claude && notify", false);
        check("rulebook hook claude ; exit 0 # mine", false);
        check("rulebook hook claude --all;rm x", false);
        check("myrulebook hook claude", false);
        check("/opt/rulebook/other hook claude", false);
    }

    #[test]
    fn hooks_and_servers_are_found_in_the_files_of_hosts() {
        let hooks =
            r#"{ "hooks": { "PreToolUse": [{ "hooks": [{ "command": "rulebook hook claude" }] }] } }"#;
        let runs = |text: &str, host: &str| runs_hook(text, &|line| is_hook_command(line, host));
        assert!(runs(hooks, "claude"));
        assert!(!runs(hooks, "qwen"));
        assert!(!runs("{ // \"rulebook hook claude\"\n \"hooks\": {} }", "claude"));
        assert!(!runs("not JSON", "claude"));
        let tool = r#"{ "hooks": { "A": [{ "hooks": [{ "server": "rulebook", "tool": "hook" }] }] } }"#;
        assert!(runs(tool, "claude"));
        assert!(lists_server(
            r#"{ "mcpServers": { "rulebook": { "command": "rulebook" }, } }"#,
            Syntax::Json
        ));
        assert!(!lists_server(r#"{ "mcp": { "rulebook": { "enabled": false } } }"#, Syntax::Json));
        assert!(!lists_server(r#"{ "mcpServers": { "other": {} } }"#, Syntax::Json));
        assert!(lists_server("[mcp_servers.rulebook]\ncommand = \"rulebook\"\n", Syntax::Toml));
        assert!(!lists_server("[mcp_servers.other]\n", Syntax::Toml));
        assert!(lists_server("extensions:\n  rulebook:\n    cmd: rulebook\n", Syntax::Yaml));
        assert!(!lists_server("extensions:\n  rulebook:\n    enabled: false\n", Syntax::Yaml));
        assert!(!lists_server("extensions:\n  other:\n    rulebook: 1\n", Syntax::Yaml));
    }

    #[test]
    fn a_file_of_our_own_is_recognised_by_its_mark_or_by_what_it_runs() {
        assert!(is_written_for("#!/bin/sh\n# Written by `rulebook install cline`; …\nexec rb\n", "cline"));
        assert!(is_hook_command("exec rulebook hook cline", "cline"));
        assert!(!is_written_for("#!/bin/sh\necho\n", "cline"));
    }
}
