//! The arguments of `export`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueHint};
use rulebook::export::{Allow, LossPolicy};

#[derive(Clone, Debug, ClapArgs)]
pub(crate) struct Export {
    /// The agents to write for, separated by commas [default: `export.to` of the settings]
    #[arg(long, value_name = "AGENT", value_delimiter = ',')]
    pub(crate) to: Vec<String>,

    /// The rules to copy: formats, files, keys or ids; or one agent, for the rules as that agent reads them [default: `export.from` of the settings]
    #[arg(long, value_name = "FORMAT|RULE", value_delimiter = ',')]
    pub(crate) from: Vec<String>,

    /// Write below this folder instead of the root
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) dir: Option<PathBuf>,

    /// Show what would be written and the proof of each copy, and write nothing
    #[arg(long, conflicts_with = "check")]
    pub(crate) dry_run: bool,

    /// Write nothing, and exit with 1 if anything differs
    #[arg(long)]
    pub(crate) check: bool,

    /// Also delete copies whose rule no longer exists; without --from and --to, also those that `[export]` no longer names
    #[arg(long)]
    pub(crate) sync: bool,

    /// Remove all exported copies and all imported rules
    #[arg(long, conflicts_with_all = ["sync", "to", "from", "adopt", "keep", "allow", "loss"])]
    pub(crate) remove: bool,

    /// Apply the edits made in a copy to its rule
    #[arg(long, value_name = "COPY", conflicts_with_all = ["keep", "dry_run", "check"])]
    pub(crate) adopt: Option<String>,

    /// Overwrite the edited copies of this rule, or an edited list of rules
    #[arg(long, value_name = "SOURCE")]
    pub(crate) keep: Option<String>,

    /// Also write copies that match more than the original: `unseen` if no file in the tree is affected, `wider` always
    #[arg(long, value_name = "WHAT", value_parser = allowed)]
    pub(crate) allow: Option<Allow>,

    /// What happens to rules that an agent cannot express: `leave-out`, `index` or `deliver` [default: `deliver` where Rulebook
    /// is wired, else `leave-out`]
    #[arg(long, value_name = "WHAT", value_parser = loss_policy)]
    pub(crate) loss: Option<LossPolicy>,

    /// Show every rule
    #[arg(long = "all")]
    pub(crate) files: bool,
}

#[derive(Debug, ClapArgs)]
#[command(mut_arg("to", |to| to.help("The agents to write for, separated by commas [default: `rulebook`, that is `.rulebook/rules`]")))]
#[command(mut_arg("from", |from| {
    from.value_name("RULE").help("Copy only these rules of the tool: files, keys or ids [default: all]")
}))]
pub(crate) struct Import {
    /// The tool whose rules are read: `rulesync` or `ruler`
    #[arg(value_name = "TOOL")]
    pub(crate) tool: String,

    #[command(flatten)]
    pub(crate) export: Export,
}

/// Reads the option for copies that apply to more.
fn allowed(word: &str) -> Result<Allow, String> {
    Allow::named(word).ok_or_else(|| "use `unseen` or `wider`".to_owned())
}

/// The words of the option for losses.
fn loss_policy(word: &str) -> Result<LossPolicy, String> {
    let words: Vec<&str> = LossPolicy::NAMES.iter().map(|(name, _)| *name).collect();
    LossPolicy::named(word).ok_or_else(|| format!("use one of {}", words.join(", ")))
}
