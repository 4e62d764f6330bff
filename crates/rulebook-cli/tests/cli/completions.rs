//! Completions, asked for by the real shells. Bash must be there; fish is used where it is installed.

use std::process::Command;

use crate::sandbox::{Sandbox, path_with_binary, remote, stdout};

/// A workspace with a rule, an agent's folder, a session and a remote.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new(&[
        ("repo/.cursor/rules/lint.mdc", "---\nglobs: src/**\n---\nLint."),
        ("repo/src/a.ts", ""),
    ]);
    sandbox.settings(&remote("acme", "/nowhere.json"));
    sandbox.hook("claude", &sandbox.prompt_event("session-1", "hello"));
    sandbox
}

fn run(sandbox: &Sandbox, shell: &str, script: &str) -> String {
    let mut command: Command = sandbox.program(shell);
    command.env("PATH", path_with_binary()).env("TERM", "dumb").args(["-c", script]);
    stdout(&command.output().unwrap())
}

/// Compares what bash offers for the last word of a line.
#[track_caller]
fn check_bash(sandbox: &Sandbox, line: &str, want: &[&str]) {
    let script = format!(
        r#"eval "$(rulebook completions bash)"; COMP_WORDS=({line}); COMP_CWORD=$((${{#COMP_WORDS[@]}}-1)); COMP_TYPE=9
           _clap_complete_rulebook rulebook "${{COMP_WORDS[$COMP_CWORD]}}" ""; printf '%s\n' "${{COMPREPLY[@]}}""#
    );
    assert_eq!(run(sandbox, "/bin/bash", &script).lines().collect::<Vec<_>>(), want, "{line}");
}

#[test]
fn bash_completes_what_the_workspace_has() {
    let sandbox = sandbox();
    check_bash(&sandbox, "rulebook disable li", &["lint", "lint@cursor"]);
    check_bash(&sandbox, "rulebook explain --rule lint@", &["lint@cursor"]);
    check_bash(&sandbox, "rulebook explain --as clin", &["cline", "cline-cli"]);
    check_bash(&sandbox, "rulebook install cod", &["codex"]);
    check_bash(&sandbox, "rulebook remote sync a", &["acme"]);
    check_bash(&sandbox, "rulebook watch s", &["session-1"]);
    check_bash(&sandbox, "rulebook unp", &["unpin"]);
    check_bash(&sandbox, "rulebook explain s", &["src/"]);
    check_bash(&sandbox, "rulebook explain src/", &["src/a.ts"]);
}

#[test]
fn fish_completes_what_the_workspace_has() {
    let Some(fish) =
        ["/usr/bin/fish", "/usr/local/bin/fish"].into_iter().find(|path| std::fs::exists(path).unwrap())
    else {
        return;
    };
    let sandbox = sandbox();
    let offered = |line: &str| {
        run(&sandbox, fish, &format!("rulebook completions fish | source; complete -C '{line}'"))
    };
    assert_eq!(
        offered("rulebook disable li"),
        "lint\t.cursor/rules/lint.mdc\nlint@cursor\t.cursor/rules/lint.mdc\n"
    );
    assert_eq!(offered("rulebook explain s"), "src/\n");
}
