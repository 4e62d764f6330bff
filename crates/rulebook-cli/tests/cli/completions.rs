//! Completions, asked for by the real shells. Bash must be there; fish and zsh are used where they are installed.

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

/// Compares what bash offers for the last word of a line, which is given in the words of bash.
#[track_caller]
fn check_bash(sandbox: &Sandbox, line: &str, want: &[&str]) {
    let typed = line.replace(" :", ":").replace(": ", ":").replace(" = ", "=");
    let script = format!(
        r#"eval "$(rulebook completions bash)"; COMP_WORDS=({line}); COMP_CWORD=$((${{#COMP_WORDS[@]}}-1)); COMP_TYPE=9
           COMP_LINE='{typed}'
           _rulebook rulebook "${{COMP_WORDS[$COMP_CWORD]}}" ""; printf '%s\n' "${{COMPREPLY[@]}}""#
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
    check_bash(&sandbox, "rulebook read rule : //li", &["//lint", "//lint@cursor"]);
    check_bash(&sandbox, "rulebook read rule : //lint@", &["//lint@cursor"]);
    check_bash(&sandbox, "rulebook read rule :", &["//lint", "//lint@cursor"]);
    check_bash(&sandbox, "rulebook explain --rule rule : //lint --fo", &["--for"]);
    sandbox.write("repo/.rulebook/rules/web.md", "---\nid: team:web\n---\nA.");
    check_bash(&sandbox, "rulebook disable team :", &["web", "web@rulebook"]);
    check_bash(&sandbox, "rulebook disable team : we", &["web", "web@rulebook"]);
    check_bash(&sandbox, "rulebook disable team : web@", &["web@rulebook"]);
    check_bash(&sandbox, "rulebook unp", &["unpin"]);
    check_bash(&sandbox, "rulebook explain s", &["src/"]);
    check_bash(&sandbox, "rulebook export --to curs", &["cursor", "cursor-cli"]);
    check_bash(&sandbox, "rulebook export --to cursor,clin", &["cursor,cline", "cursor,cline-cli"]);
    check_bash(&sandbox, "rulebook import ruler --to curs", &["cursor", "cursor-cli"]);
    check_bash(&sandbox, "rulebook man uni", &["uninstall"]);
    check_bash(&sandbox, "rulebook prompt --agent cod", &["codebuddy", "codex", "cody"]);
    check_bash(&sandbox, "rulebook status --as = code", &["codebuddy", "codex"]);
    check_bash(&sandbox, "rulebook explain --session = se", &["session-1"]);
    check_bash(&sandbox, "rulebook explain --rule = rule : //lint@", &["//lint@cursor"]);
    check_bash(&sandbox, "rulebook --root = sr", &["src/"]);
    check_bash(&sandbox, "rulebook --root = src explain --as = code", &["codebuddy", "codex"]);
    check_bash(&sandbox, "rulebook explain src/", &["src/a.ts"]);
}

#[test]
fn a_name_that_a_repository_chose_is_never_a_command() {
    let sandbox = sandbox();
    sandbox.write("repo/.rulebook/rules/x$(pwd);*.md", "A.");
    sandbox.write("repo/docs/a b.md", "");
    check_bash(&sandbox, "rulebook disable x", &[r"x\$\(pwd\)\;\*", r"x\$\(pwd\)\;\*@rulebook"]);
    check_bash(&sandbox, "rulebook explain docs/", &[r"docs/a\ b.md"]);
    let script = r#"eval "$(rulebook completions bash)"; COMP_WORDS=(rulebook disable x); COMP_CWORD=2; COMP_TYPE=9
                    _rulebook rulebook x ''; eval "echo ${COMPREPLY[0]}"; ls; echo $-"#;
    let text = run(&sandbox, "/bin/bash", script);
    assert_eq!(text, "x$(pwd);*\ndocs\nsrc\nhBc\n");
}

/// What zsh writes on the line of a terminal after the Tab key.
#[test]
fn zsh_completes_what_the_workspace_has() {
    if !std::fs::exists("/usr/bin/zsh").unwrap() {
        return;
    }
    let sandbox = sandbox();
    sandbox.write("repo/.rulebook/rules/odd;name.md", "A.");
    let script = r#"zmodload zsh/zpty; zpty shell zsh -f -i
        zpty -w shell "PS1=; autoload -U compinit; compinit -u -D; source <(rulebook completions zsh); echo rea''dy"
        zpty -r shell line '*ready*'
        zpty -w -n shell "rulebook $1"$'\t'
        zpty -r shell line "*$2*" && echo found"#;
    for (typed, line) in [
        ("explain --rule lint@", "lint@cursor"),
        ("read rule://li", "rule://lint"),
        ("install cod", "codex"),
        ("remote sync a", "acme"),
        ("watch s", "session-1"),
        ("disable od", r"odd\\;name"),
    ] {
        let mut command: Command = sandbox.program("/usr/bin/timeout");
        command.args(["60", "/usr/bin/zsh", "-f", "-c", script, "zsh", typed, line]);
        command.env("PATH", path_with_binary()).env("TERM", "dumb");
        assert_eq!(stdout(&command.output().unwrap()), "found\n", "{typed}");
    }
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
    assert_eq!(offered("rulebook read rule://lint@"), "rule://lint@cursor\t.cursor/rules/lint.mdc\n");
    assert_eq!(offered("rulebook explain s"), "src/\n");
}
