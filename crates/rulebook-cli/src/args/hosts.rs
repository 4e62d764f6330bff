//! Arguments of the commands that connect hosts.

use clap::{Args as ClapArgs, ValueHint};
use rulebook_workspace::hosts::Host;

use super::agents::{HookParser, HostParser};

#[derive(Debug, ClapArgs)]
pub(crate) struct Hook {
    /// The agent that sends the event
    #[arg(value_name = "AGENT", value_parser = HookParser)]
    pub(crate) host: &'static Host,

    /// Also deliver rules that the agent reads by itself
    #[arg(long)]
    pub(crate) all: bool,

    // `cmd` passes the end of the command line, `; exit 0`, to the program.
    #[arg(hide = true)]
    _rest: Vec<String>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Install {
    /// The agent to wire; without it, the agents used here are listed
    #[arg(value_name = "AGENT", value_parser = HostParser)]
    pub(crate) host: Option<&'static Host>,

    #[command(flatten)]
    pub(crate) wiring: Wiring,
}

#[derive(Debug, ClapArgs)]
#[command(mut_arg("user", |user| user.help("Edit the files in your home folder, which `install --user` edits")))]
#[command(mut_arg("personal", |personal| personal.help("Remove only the hooks in your own file in this workspace")))]
#[command(mut_arg("no_mcp", |no_mcp| no_mcp.help("Remove only the hooks, and keep the MCP server")))]
#[command(mut_arg("move_rules", |move_rules| {
    move_rules.help("Cline: move rules back from `.clinerules/conditional`, which `uninstall` does in any case")
}))]
#[command(mut_arg("command", |command| command.help("The program that was given to `install`")))]
pub(crate) struct Uninstall {
    /// The agent to unwire
    #[arg(value_name = "AGENT", value_parser = HostParser)]
    pub(crate) host: &'static Host,

    #[command(flatten)]
    pub(crate) wiring: Wiring,
}

// Which of a host's files are edited, and what is written into them.
#[derive(Debug, ClapArgs)]
pub(crate) struct Wiring {
    /// Edit the files in your home folder, which apply to every workspace
    #[arg(long)]
    pub(crate) user: bool,

    /// Add only the hooks, in your own file in this workspace, which is not shared with colleagues
    #[arg(long, conflicts_with = "user")]
    pub(crate) personal: bool,

    /// Show the changes without writing them
    #[arg(long = "dry-run", alias = "print")]
    pub(crate) dry_run: bool,

    /// Add only the hooks, not the MCP server
    #[arg(long)]
    pub(crate) no_mcp: bool,

    /// Cline: move rules with conditions to `.clinerules/conditional`, where Cline CLI does not load them whole
    #[arg(long)]
    pub(crate) move_rules: bool,

    /// The program that the agent runs
    #[arg(long, value_name = "PATH", value_hint = ValueHint::CommandName, default_value = "rulebook")]
    pub(crate) command: String,
}
