//! Parses the command line, and prints `--help` with the commands in groups.

use std::ffi::OsString;
use std::fmt::Write as _;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, FromArgMatches as _, Parser as _};

use rulebook_workspace::hosts;

use super::Args;
use crate::out;

/// The commands as `--help` groups them.
const GROUPS: &[(&str, &[&str])] = &[
    ("Inspect", &["status", "explain", "prompt", "read", "coverage", "diff", "sessions", "watch"]),
    ("Fix", &["check", "test", "stream"]),
    ("Change", &["enable", "disable", "pin", "unpin", "export", "import"]),
    ("Wire up", &["install", "uninstall", "hook"]),
    ("Protect", &["trust", "guard", "remote"]),
    ("Servers", &["ui", "lsp", "mcp", "proxy", "acp"]),
    ("Other", &["formats", "completions", "man", "help"]),
];

/// Parses the command line; prints help or an error and exits where there is nothing to run. `answer_hook` answers the host
/// whose hook has arguments that cannot be parsed.
pub(crate) fn parse(args: impl IntoIterator<Item = OsString>, answer_hook: fn(&[OsString])) -> Args {
    let given: Vec<OsString> = args.into_iter().collect();
    let args = hoisted(given.iter().cloned());
    match Args::try_parse_from(&args) {
        Ok(args) => args,
        // Only now is help built: a hook starts on every tool call.
        Err(error) if error.kind() == ErrorKind::DisplayHelp => {
            let matches = with_groups(Args::command()).get_matches_from(args);
            Args::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
        }
        // A host takes a failing status of a hook for a refusal.
        Err(error) if error.use_stderr() && is_hook(&given) => {
            let text = error.render().to_string();
            let message = match error.kind() {
                ErrorKind::MissingRequiredArgument => {
                    "`rulebook hook` needs the name of an agent, such as `rulebook hook claude`"
                }
                _ => text
                    .lines()
                    .next()
                    .unwrap_or_default()
                    .trim_start_matches("error: ")
                    .trim_end_matches(':'),
            };
            out::print_aside(&format!("rulebook: {message}; the agent continues without rules\n"));
            answer_hook(&args);
            std::process::exit(0);
        }
        Err(error) if error.use_stderr() && asks_for_json(&args) => {
            let text = error.render().to_string();
            let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
            let message = lines.next().unwrap_or_default().trim_start_matches("error: ");
            let help = lines.filter(|line| !line.starts_with("For more information"));
            let help: Vec<&str> =
                help.map(|line| line.trim_start_matches("help: ").trim_start_matches("tip: ")).collect();
            out::print_error_json(message, &help.join("; "));
            std::process::exit(error.exit_code());
        }
        Err(error) => error.exit(),
    }
}

/// Whether the command is `hook`. Before it, flags may be unknown or lack a value: then what seems to be the command is none,
/// and `hook` counts with the name of a host after it.
fn is_hook(args: &[OsString]) -> bool {
    let words: Vec<_> = args.iter().skip(1).map(|arg| arg.to_string_lossy()).collect();
    let mut rest = words.iter();
    let command = loop {
        match rest.next().map(AsRef::as_ref) {
            Some("--root" | "--set") => drop(rest.next()),
            Some(flag) if flag.starts_with('-') => {}
            command => break command,
        }
    };
    let is_host = |name: &str| hosts::HOSTS.iter().any(|host| host.name == name);
    let is_command = |name: &str| Args::command().get_subcommands().any(|known| known.get_name() == name);
    command == Some("hook")
        || words.windows(2).any(|pair| pair[0] == "hook" && is_host(&pair[1]))
            && !command.is_some_and(is_command)
}

/// Whether the arguments contain `--json`.
fn asks_for_json(args: &[OsString]) -> bool {
    args.iter().take_while(|arg| *arg != "--").any(|arg| arg == "--json")
}

/// Replaces the list of commands in the help text, which clap prints as one.
fn with_groups(mut command: clap::Command) -> clap::Command {
    command.build();
    let (header, literal) = (*command.get_styles().get_header(), *command.get_styles().get_literal());
    let width = command.get_subcommands().map(|command| command.get_name().len()).max().unwrap_or(0);
    let mut template = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for (title, names) in GROUPS {
        let _ = writeln!(template, "\n{header}{title}:{header:#}");
        for command in names.iter().filter_map(|name| command.find_subcommand(name)) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let name = command.get_name();
            let pad = " ".repeat(width - name.len());
            let _ = writeln!(template, "  {literal}{name}{literal:#}{pad}  {about}");
        }
    }
    let _ = write!(template, "\n{header}Options:{header:#}\n{{options}}");
    command.help_template(template)
}

/// Moves `--root` and `--set` in front of the command: they accumulate, and clap would let those after the command replace
/// those before it.
fn hoisted(args: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut args = args.into_iter();
    let mut front: Vec<OsString> = args.next().into_iter().collect();
    let mut rest = Vec::new();
    while let Some(arg) = args.next() {
        let text = arg.to_string_lossy();
        match text.as_ref() {
            "--" => {
                rest.push(arg);
                break;
            }
            "--root" | "--set" => match args.next() {
                Some(value) => front.extend([arg, value]),
                None => rest.push(arg),
            },
            _ if text.starts_with("--root=") || text.starts_with("--set=") => front.push(arg),
            _ => rest.push(arg),
        }
    }
    // `help --help` is what people type, and clap takes the flag for the name of a command.
    if rest.first().is_some_and(|command| command == "help") {
        rest.retain(|arg| arg != "--help" && arg != "-h");
    }
    front.extend(rest);
    front.extend(args);
    front
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_and_the_list_of_commands_say_the_same() {
        let (listed, mut built) = (Args::command(), Args::command());
        built.build();
        for command in listed.get_subcommands() {
            let name = command.get_name();
            let found = built.find_subcommand(name).and_then(clap::Command::get_about);
            assert!(found.is_some(), "{name}");
            assert_eq!(found, command.get_about(), "{name}");
        }
    }

    #[test]
    fn a_hook_is_recognised_whatever_its_flags_are() {
        #[track_caller]
        fn check(line: &str, expected: bool) {
            let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            assert_eq!(is_hook(&args), expected, "{line}");
        }
        check("rulebook hook claude --root", true);
        check("rulebook hook claude --set", true);
        check("rulebook --newflag x hook claude", true);
        check("rulebook --root hook claude", true);
        check("rulebook --root /x --json hook nohost", true);
        check("rulebook --root hook", false);
        check("rulebook explain hook claude --bad", false);
        check("rulebook --newflag x hook", false);
        check("rulebook", false);
    }

    #[test]
    fn help_of_help_is_help() {
        let hoisted = hoisted(["rulebook", "help", "--help"].map(OsString::from));
        assert_eq!(hoisted, ["rulebook", "help"]);
    }

    #[test]
    fn a_flag_without_a_value_stays_where_it_is() {
        let hoisted = hoisted(["rulebook", "hook", "claude", "--root"].map(OsString::from));
        assert_eq!(hoisted, ["rulebook", "hook", "claude", "--root"]);
    }

    #[test]
    fn every_command_is_in_one_group_and_fits_on_a_line() {
        let help = with_groups(Args::command()).render_help().to_string();
        for command in Args::command().get_subcommands() {
            let name = command.get_name();
            let groups = GROUPS.iter().flat_map(|(_, names)| *names).filter(|other| **other == name).count();
            assert_eq!(groups, 1, "{name}");
            assert!(help.contains(&command.get_about().unwrap().to_string()), "{name}");
        }
        let commands = help.split("Options:").next().unwrap();
        assert!(commands.lines().all(|line| line.chars().count() <= 80), "{commands}");
    }
}
