//! Arguments of the commands that connect hosts.

use clap::{Args as ClapArgs, ValueHint};
use rulebook_workspace::hosts::Host;

use super::agents::HostParser;

#[derive(Debug, ClapArgs)]
pub(crate) struct Hook {
    /// The agent that sends the event
    #[arg(value_name = "AGENT", value_parser = HostParser)]
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
pub(crate) struct Uninstall {
    /// The agent to disconnect
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
