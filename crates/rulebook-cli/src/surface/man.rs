//! `man`: the manual page of the program, or of one command.

use anyhow::anyhow;
use clap::{Command, CommandFactory as _};
use serde_json::json;

use crate::args::Args;
use crate::out::{self, VERSION};

/// Prints the page of the command that these words name.
pub(super) fn run(args: &Args, words: &[String]) -> anyhow::Result<()> {
    let mut command = Args::command();
    command.build();
    for (at, word) in words.iter().enumerate() {
        let found = command.find_subcommand(word).cloned();
        command = found.ok_or_else(|| {
            let known: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
            let above = ["rulebook"].into_iter().chain(words[..at].iter().map(String::as_str));
            let above = above.collect::<Vec<_>>().join(" ");
            let help = match known.is_empty() {
                true => format!("`rulebook man {}` prints the page", words[..at].join(" ")),
                false => out::suggestion(
                    word,
                    known.iter().copied(),
                    &format!("`{above} --help` lists the commands"),
                ),
            };
            anyhow!(help).context(format!("`{above}` has no command `{}`", out::clean(word)))
        })?;
    }
    // Pages of commands are printed by `rulebook man COMMAND`: none is installed that `rulebook-COMMAND(1)` could name.
    let names: Vec<(String, String)> = command
        .get_subcommands()
        .filter_map(|command| Some((command.get_display_name()?, command.get_bin_name()?)))
        .map(|(page, usage)| (format!("{}(1)", page.replace('-', "\\-")), usage.to_owned()))
        .collect();
    let synopsis = command.render_usage().to_string();
    let synopsis = synopsis.trim_start_matches("Usage: ").replace('-', "\\-");
    let mut page = Vec::new();
    let source = format!("rulebook {}", env!("CARGO_PKG_VERSION"));
    clap_mangen::Man::new(command).source(source).render(&mut page)?;
    let page = String::from_utf8(page)?;
    let page = with_synopsis(&page, &synopsis);
    let page = names.iter().fold(page, |page, (name, usage)| page.replace(name, usage));
    match args.json {
        true => out::print_json(&json!({ "version": VERSION, "page": page })),
        false => out::print_raw(page.as_bytes()),
    }
}

/// Replaces the line that lists every option by the usage that `--help` shows.
fn with_synopsis(page: &str, synopsis: &str) -> String {
    let Some((before, rest)) = page.split_once(".SH SYNOPSIS\n") else { return page.to_owned() };
    let after = rest.split_once("\n.SH ").map_or("", |(_, after)| after);
    let lines: Vec<String> = synopsis.lines().map(|line| format!("\\fB{}\\fR", line.trim())).collect();
    format!("{before}.SH SYNOPSIS\n{}\n.SH {after}", lines.join("\n.br\n"))
}
