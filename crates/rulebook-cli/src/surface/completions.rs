//! `completions`: scripts for shells, and the candidates that the scripts ask for.

use std::ffi::OsString;

use anyhow::anyhow;
use clap::{Command, CommandFactory as _};
use clap_complete::Shell;
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use clap_complete::env::{CompleteEnv, Shells};
use rulebook::agent::Agent;
use rulebook::export::TARGETS;
use rulebook_workspace::Reach;
use serde_json::json;

use super::session_log;
use crate::args::Args;
use crate::input::{current_folder, open_workspace};
use crate::out::{self, VERSION};

/// The variable with which a script asks for candidates.
const VARIABLE: &str = "RULEBOOK_COMPLETE";

/// What bash needs beside its script. A key, `id@format`, is one word. Bash inserts candidates as they are and expands
/// patterns in them, and a repository chooses the names of its rules and files: they are quoted. Bash splits words at `:` and `=`: the
/// parts of an address or an id, `rule`, `:` and `//NAME`, and those of an option, `--as`, `=` and `AGENT`, are one word, of which it
/// replaces what follows the last `:` or `=`.
const QUOTED: &str = r#"
COMP_WORDBREAKS=${COMP_WORDBREAKS//@/}
_rulebook() {
    local at noglob= start= scheme= current=$2
    for ((at = 2; at <= COMP_CWORD; at++)); do
        start=${COMP_WORDS[at-1]}${COMP_WORDS[at]}
        [[ $start == --*[!=]= || $start == *[!:]: && " ${COMP_LINE-}" == *" $start"* ]] || continue
        ((COMP_CWORD > at + 1)) || { scheme=$start && current=$start${COMP_WORDS[at+1]-}; }
        COMP_CWORD=$((COMP_CWORD > at ? COMP_CWORD - 2 : COMP_CWORD - 1))
        COMP_WORDS=("${COMP_WORDS[@]:0:at-1}" "$start${COMP_WORDS[at+1]-}" "${COMP_WORDS[@]:at+2}")
        ((at--))
    done
    [[ $- == *f* ]] || noglob=+f
    set -f
    _clap_complete_rulebook "$1" "$current" "$3"
    for at in "${!COMPREPLY[@]}"; do
        COMPREPLY[at]=${COMPREPLY[at]#"$scheme"}
        [[ ${COMPREPLY[at]} == *[!A-Za-z0-9_./@:=+,%-]* ]] && COMPREPLY[at]=$(printf %q "${COMPREPLY[at]}")
    done
    [[ -z $noglob ]] || set +f
}
if [[ "${BASH_VERSINFO[0]}" -eq 4 && "${BASH_VERSINFO[1]}" -ge 4 || "${BASH_VERSINFO[0]}" -gt 4 ]]; then
    complete -o nospace -o bashdefault -o nosort -F _rulebook rulebook
else
    complete -o nospace -o bashdefault -F _rulebook rulebook
fi
"#;

/// What completes an argument that names something of the workspace.
type Candidates = fn() -> Vec<CompletionCandidate>;

/// Command, argument, and its candidates. Agents and hosts are completed by their own lists.
const ARGUMENTS: &[(&[&str], &str, Candidates)] = &[
    (&["read"], "name", rules),
    (&["enable"], "id", rules),
    (&["disable"], "id", rules),
    (&["pin"], "id", rules),
    (&["unpin"], "id", rules),
    (&["explain"], "rule", rules),
    (&["explain"], "requested", rules),
    (&["prompt"], "requested", rules),
    (&["explain"], "session", session_ids),
    (&["pin"], "session", session_ids),
    (&["unpin"], "session", session_ids),
    (&["watch"], "session", session_ids),
    (&["prompt"], "agent", agents),
    (&["explain"], "agent", agents),
    (&["export"], "to", targets),
    (&["import"], "to", targets),
    (&["man"], "command", commands),
    #[cfg(feature = "remote")]
    (&["remote", "sync"], "names", remotes),
    #[cfg(feature = "remote")]
    (&["remote", "diff"], "names", remotes),
];

/// Prints the script of a shell.
pub(super) fn run(args: &Args, shell: Shell) -> anyhow::Result<()> {
    let name = shell.to_string();
    let shells = Shells::builtins();
    let completer = shells.completer(&name).ok_or_else(|| anyhow!("no script for {name}"))?;
    let mut script = Vec::new();
    completer.write_registration(VARIABLE, "rulebook", "rulebook", "rulebook", &mut script)?;
    if shell == Shell::Bash {
        script.extend_from_slice(QUOTED.as_bytes());
    }
    match args.json {
        true => {
            let script = String::from_utf8(script)?;
            out::print_json(&json!({ "version": VERSION, "shell": name, "script": script }))
        }
        false => out::print_raw(&script),
    }
}

/// Answers a script that asks for candidates; returns whether one asked.
pub(crate) fn answer(args: &[OsString]) -> bool {
    if std::env::var_os(VARIABLE).is_none() {
        return false;
    }
    let folder = current_folder().ok();
    let done = CompleteEnv::with_factory(command).var(VARIABLE).try_complete(args, folder.as_deref());
    done.unwrap_or_else(|error| error.exit())
}

/// The command line with the candidates of the workspace.
fn command() -> Command {
    // The arguments of a command exist only after it is built.
    let mut command = Args::command();
    command.build();
    for (path, argument, candidates) in ARGUMENTS {
        command = with_candidates(command, path, argument, *candidates);
    }
    command
}

fn with_candidates(command: Command, path: &[&str], argument: &str, candidates: Candidates) -> Command {
    match path.split_first() {
        None => command.mut_arg(argument, |arg| arg.add(ArgValueCandidates::new(candidates))),
        Some((name, rest)) => {
            let name = (*name).to_owned();
            command.mut_subcommand(name, |command| with_candidates(command, rest, argument, candidates))
        }
    }
}

/// The ids of the rules, and the keys of those that share an id.
fn rules() -> Vec<CompletionCandidate> {
    let Ok(workspace) = open_workspace(&Args::default()) else { return Vec::new() };
    let book = workspace.load(Reach::Tree).book;
    let mut found: Vec<(String, String)> = Vec::new();
    for (rule, _) in book.rules() {
        for name in [rule.id.clone(), rule.key()] {
            if !found.iter().any(|(known, _)| *known == name) {
                found.push((name, rule.origin.display.clone()));
            }
        }
    }
    let quoted = std::env::var_os(VARIABLE).is_none_or(|shell| shell != "powershell");
    found.retain(|(name, _)| quoted || is_plain(name));
    // Hidden candidates are offered if no other one fits: to somebody who typed `rule:`.
    let address =
        |name: &str| CompletionCandidate::new(format!("rule://{}", name.replace('%', "%25"))).hide(true);
    let candidates = |(name, source): (String, String)| {
        let both = [address(&name), CompletionCandidate::new(name)];
        both.map(|candidate| candidate.help(Some(source.clone().into())))
    };
    found.into_iter().flat_map(candidates).collect()
}

/// Returns whether a name means itself in every shell. PowerShell inserts candidates without quotes.
fn is_plain(name: &str) -> bool {
    name.chars().all(|c| c.is_alphanumeric() || "-_./@:".contains(c))
}

/// The names that conditions on the agent match.
fn agents() -> Vec<CompletionCandidate> {
    Agent::names().map(CompletionCandidate::new).collect()
}

/// The agents that rules can be exported to.
fn targets() -> Vec<CompletionCandidate> {
    TARGETS.iter().map(|target| CompletionCandidate::new(target.name)).collect()
}

/// The commands that have a manual page.
fn commands() -> Vec<CompletionCandidate> {
    let command = Args::command();
    let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
    let candidate =
        |command: &Command| CompletionCandidate::new(command.get_name()).help(command.get_about().cloned());
    shown.map(candidate).collect()
}

fn session_ids() -> Vec<CompletionCandidate> {
    let Ok(workspace) = open_workspace(&Args::default()) else { return Vec::new() };
    let (all, _) = session_log::all(&workspace);
    let candidate = |session: session_log::Listed| {
        CompletionCandidate::new(session.session).help(Some(session.host.into()))
    };
    all.into_iter().map(candidate).collect()
}

#[cfg(feature = "remote")]
fn remotes() -> Vec<CompletionCandidate> {
    let Ok(workspace) = open_workspace(&Args::default()) else { return Vec::new() };
    let remotes = workspace.settings.remotes.into_iter();
    remotes.map(|remote| CompletionCandidate::new(remote.name).help(Some(remote.url.into()))).collect()
}
