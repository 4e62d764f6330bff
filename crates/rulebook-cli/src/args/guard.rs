//! The arguments of `guard`: what the guard does.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum GuardTask {
    /// Ask the user before a call changes rules or settings; refuse it where the agent cannot ask
    On {
        /// Refuse without asking
        #[arg(long)]
        refuse: bool,
    },
    /// Allow agents to change rules and settings
    Off,
    /// Show whether the guard is on, and what changed since the last event
    Status,
}
