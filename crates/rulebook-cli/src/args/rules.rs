//! The arguments of the commands that switch and pin rules.

use clap::Args as ClapArgs;

#[derive(Debug, ClapArgs)]
pub(crate) struct Pin {
    /// The rule's file, key or id
    #[arg(value_name = "RULE")]
    pub(crate) id: String,

    /// Only in this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Toggle {
    /// The rule's file, key or id
    #[arg(value_name = "RULE")]
    pub(crate) id: String,

    /// For the whole team: edit `rules.disabled_ids` in `rulebook.toml`
    #[arg(long, conflicts_with = "user")]
    pub(crate) team: bool,

    /// For you, in every workspace
    #[arg(long)]
    pub(crate) user: bool,
}
