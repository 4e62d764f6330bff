//! The arguments of the commands that switch, pin, trust and fetch rules.

use clap::Args as ClapArgs;
#[cfg(feature = "remote")]
use clap::Subcommand;

#[derive(Debug, ClapArgs)]
pub(crate) struct Pin {
    /// The rule's id, key (`style@cursor`) or file
    #[arg(value_name = "RULE")]
    pub(crate) id: String,

    /// Only in this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Toggle {
    /// The rule's id, key (`style@cursor`) or file
    #[arg(value_name = "RULE")]
    pub(crate) id: String,

    /// For the whole team: edit `rules.disabled_ids` in `rulebook.toml`
    #[arg(long, conflicts_with = "user")]
    pub(crate) team: bool,

    /// For you, in every workspace
    #[arg(long)]
    pub(crate) user: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Trust {
    /// Show the review without recording trust
    #[arg(long)]
    pub(crate) show: bool,

    /// Remove the recorded trust
    #[arg(long, conflicts_with = "show")]
    pub(crate) forget: bool,
}

#[cfg(feature = "remote")]
#[derive(Debug, Subcommand)]
pub(crate) enum RemoteTask {
    /// Fetch remotes and update their copies; exits with 1 if one cannot be fetched
    Sync {
        /// Only these remotes
        #[arg(value_name = "NAME")]
        names: Vec<String>,
    },
    /// List remotes with the age of their copies and how they are verified
    List,
    /// Show what fetching would change, without changing it
    Diff {
        /// Only these remotes
        #[arg(value_name = "NAME")]
        names: Vec<String>,
    },
}
