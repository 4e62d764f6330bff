//! What is asked of the hosts' own wiring.

use clap::{Args as ClapArgs, ValueHint};

use crate::host::HostId;

// One event of a host.
#[derive(Debug, ClapArgs)]
pub(crate) struct Hook {
    /// Which agent's
    #[arg(value_name = "HOST", value_enum)]
    pub(crate) host: HostId,

    /// Deliver the host's own formats too, which it reads itself
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Install {
    /// Which agent
    #[arg(value_name = "HOST", value_enum)]
    pub(crate) host: Option<HostId>,

    #[command(flatten)]
    pub(crate) wiring: Wiring,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Uninstall {
    /// Which agent
    #[arg(value_name = "HOST", value_enum)]
    pub(crate) host: HostId,

    #[command(flatten)]
    pub(crate) wiring: Wiring,
}

// Which of a host's files are meant, and what they say.
#[derive(Debug, ClapArgs)]
pub(crate) struct Wiring {
    /// The files in your home folder, for every workspace
    #[arg(long)]
    pub(crate) user: bool,

    /// Show what would change and write nothing
    #[arg(long)]
    pub(crate) print: bool,

    /// The hooks alone, not the MCP server
    #[arg(long)]
    pub(crate) no_mcp: bool,

    /// The program the host is to run; default: the one on its `PATH`
    #[arg(long, value_name = "PATH", value_hint = ValueHint::CommandName, default_value = "rulebook")]
    pub(crate) command: String,
}
