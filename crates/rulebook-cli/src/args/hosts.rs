//! What is asked of the hosts' own wiring.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args as ClapArgs, ValueHint};

use crate::surface::HOSTS;

// One event of a host.
#[derive(Debug, ClapArgs)]
pub(crate) struct Hook {
    /// Which agent's
    #[arg(value_name = "HOST", value_parser = hosts())]
    pub(crate) host: String,

    /// Deliver the host's own formats too, which it reads itself
    #[arg(long)]
    pub(crate) all: bool,
}

/// The hosts by name, and by what else they are called.
fn hosts() -> impl TypedValueParser<Value = String> {
    const CALLED: &[(&str, &str)] = &[
        ("claude", "claude-code"),
        ("copilot", "copilot-cli"),
        ("gemini", "gemini-cli"),
        ("qwen", "qwen-code"),
    ];
    let names = HOSTS.iter().map(|host| {
        let called = CALLED.iter().filter(|(name, _)| *name == host.name).map(|(_, called)| called);
        PossibleValue::new(host.name).aliases(called)
    });
    PossibleValuesParser::new(names).map(|given| {
        let called = CALLED.iter().find(|(_, called)| *called == given);
        called.map_or(given, |(name, _)| (*name).to_owned())
    })
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Install {
    /// Which agent
    #[arg(value_name = "HOST", value_parser = hosts())]
    pub(crate) host: Option<String>,

    #[command(flatten)]
    pub(crate) wiring: Wiring,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Uninstall {
    /// Which agent
    #[arg(value_name = "HOST", value_parser = hosts())]
    pub(crate) host: String,

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
