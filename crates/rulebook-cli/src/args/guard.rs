//! The arguments of `guard`: what the guard does.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum GuardTask {
    /// Ask the user before such a change, and refuse where the agent cannot ask
    On {
        /// Refuse without asking
        #[arg(long)]
        refuse: bool,
    },
    /// Allow such changes
    Off,
    /// Show whether the guard is on, and what changed since the last event
    Status,
}
