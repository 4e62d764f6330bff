//! The command line.

mod agents;
mod export;
mod guard;
mod help;
mod hosts;
mod rules;
mod servers;

pub(crate) use agents::View;
pub(crate) use export::{Export, Import};
pub(crate) use guard::GuardTask;
pub(crate) use help::parse;
pub(crate) use hosts::{Hook, Install, Uninstall, Wiring};
#[cfg(feature = "remote")]
pub(crate) use rules::RemoteTask;
pub(crate) use rules::{Pin, Toggle, Trust};
#[cfg(feature = "acp")]
pub(crate) use servers::Acp;
#[cfg(feature = "lsp")]
pub(crate) use servers::Lsp;
#[cfg(feature = "proxy")]
pub(crate) use servers::Proxy;
#[cfg(feature = "ui")]
pub(crate) use servers::Ui;
pub(crate) use servers::Watch;

use std::path::PathBuf;

use agents::AsParser;
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum, ValueHint};
use rulebook::agent::Agent;
use rulebook_workspace::Viewpoint;

/// Keeps the options of every command apart from those of one.
const GLOBAL: &str = "Global options";

/// Show which rules each coding agent gets for your current task, and why.
///
/// Rulebook reads the rule files of every coding agent in place, shows which rules each agent gets and why it does not get the
/// others, and delivers what is missing.
#[derive(Debug, Default, Parser)]
#[command(name = "rulebook", version, max_term_width = 100)]
pub(crate) struct Args {
    /// A workspace root; can be given several times [default: the nearest parent folder that contains `.git`, else the current folder]
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = GLOBAL)]
    pub(crate) root: Vec<PathBuf>,

    /// Override a setting, e.g. `--set budget.tokens=4000`; can be given several times
    #[arg(long, global = true, value_name = "KEY=VALUE", help_heading = GLOBAL)]
    pub(crate) set: Vec<String>,

    /// Print JSON
    #[arg(long, global = true, overrides_with = "json", help_heading = GLOBAL)]
    pub(crate) json: bool,

    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

impl Args {
    /// Copies what every command takes, for a server that opens the workspace repeatedly.
    #[cfg(any(feature = "acp", feature = "lsp", feature = "mcp", feature = "proxy", feature = "ui"))]
    pub(crate) fn lasting(&self) -> Args {
        Args { root: self.root.clone(), set: self.set.clone(), json: self.json, command: None }
    }
}

// `defer` builds the arguments of a command only when that command runs: a hook starts on every tool call. A doc comment on
// a struct of arguments would then replace the command's own, so those structs have none.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    /// Show what each agent gets, the problems and every rule (default)
    #[command(visible_alias = "list")]
    Status(View),
    /// Show which rules each agent gets for a path, and why
    Explain(Explain),
    /// Print the text that goes into the prompt
    Prompt(Prompt),
    /// Print the text of one rule
    Read {
        /// The rule's id, key (`style@cursor`) or file; or `rule://NAME`
        #[arg(value_name = "RULE")]
        name: String,
    },
    /// Report problems in rule files and settings, and fix them
    ///
    /// Exits with 1 if there are errors.
    #[command(visible_aliases = ["validate", "doctor"])]
    Check(Check),
    /// Compare the rules with every file in the tree
    ///
    /// Shows how many files each rule applies to, globs that match no file, and files without path-specific rules.
    Coverage(Coverage),
    /// Show how a change to the rules changes what each agent gets
    ///
    /// Compares two revisions, or a revision with the working tree: which rules are added or removed, which apply to more or fewer
    /// files, and what that costs.
    Diff(Diff),
    /// Copy rules into other agents' formats, and check the copies
    ///
    /// Writes each rule in the format of the agent, reads it back as the agent does, and checks that both apply to the same files
    /// of the tree. A copy that would match more files than the original is not written, unless `--allow` permits it.
    Export(Export),
    /// Copy the rules of rulesync or ruler into an agent's format
    ///
    /// Reads the folder of that tool, does not change it, and checks each copy as `export` does.
    Import(Import),
    /// Enable a disabled rule; it applies when its conditions hold
    Enable(Toggle),
    /// Disable a rule, regardless of its conditions
    Disable(Toggle),
    /// Deliver a rule in the running sessions, regardless of conditions
    Pin(Pin),
    /// Remove a pin; the rule applies when its conditions hold
    Unpin(Pin),
    /// Run a text or a recorded model response through the stream rules
    Stream(StreamFile),
    /// Check the `examples` in the headers of rules
    ///
    /// Examples are paths that a rule must or must not match, and texts that must or must not trigger it. Exits with 1 if
    /// one fails.
    Test,
    /// Answer one hook event (agents call this; you do not)
    ///
    /// Reads the event from standard input and writes the answer to standard output.
    Hook(Hook),
    /// List the sessions of wired agents
    Sessions,
    /// Fetch, list and compare remote rules
    #[cfg(feature = "remote")]
    #[command(subcommand)]
    Remote(RemoteTask),
    /// Stop agents from changing rules and settings without asking
    ///
    /// Protects rule files, hook files, settings, trust and the program itself.
    #[command(subcommand)]
    Guard(GuardTask),
    /// Record that you trust the rule files of this workspace
    ///
    /// `--show` lists the files first, without recording anything.
    Trust(Trust),
    /// Follow the sessions of agents live, one line per event
    Watch(Watch),
    /// Show rules, paths and live sessions on a page in your browser
    #[cfg(feature = "ui")]
    Ui(Ui),
    /// Show problems, and the files each rule applies to, in your editor
    ///
    /// A language server, which your editor starts.
    #[cfg(feature = "lsp")]
    Lsp(Lsp),
    /// Serve agents over the Model Context Protocol
    ///
    /// Communicates over standard input and output.
    #[cfg(feature = "mcp")]
    Mcp,
    /// Add rules between an editor and an agent that speak ACP
    ///
    /// Runs the agent, and communicates with the editor in the Agent Client Protocol over standard input and output.
    #[cfg(feature = "acp")]
    Acp(Acp),
    /// Add rules to an agent's model requests and watch the responses
    ///
    /// Runs a server between the agent and its model.
    #[cfg(feature = "proxy")]
    Proxy(Proxy),
    /// List the supported formats, and the agents for `--as`
    Formats,
    /// Wire an agent to Rulebook: add hooks and the MCP server
    ///
    /// Edits the agent's own configuration files. Without an agent, lists the agents that are used here.
    Install(Install),
    /// Remove the wiring, and leave everything else unchanged
    Uninstall(Uninstall),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Man {
        /// The page of this command [default: the program's]
        #[arg(value_name = "COMMAND")]
        command: Vec<String>,
    },
}

/// Reads a number of tokens.
fn tokens(word: &str) -> Result<usize, String> {
    word.parse().map_err(|_| "must be a whole number".to_owned())
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Explain {
    /// Files or folders, relative to the current folder; they need not exist. Without a path, shows what is loaded at the start
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<String>,

    /// Another way to name a file or folder, as in `prompt`; can be given several times
    #[arg(long = "path", value_name = "PATH", value_hint = ValueHint::AnyPath, hide = true, conflicts_with_all = ["rule", "session"])]
    pub(crate) more_paths: Vec<String>,

    /// Show which files a rule is meant for, or for which an agent gets it (`--for`, `--as`); name it by id, key (`style@cursor`) or file
    #[arg(long, value_name = "ID", conflicts_with = "paths")]
    pub(crate) rule: Option<String>,

    #[command(flatten)]
    pub(crate) view: View,

    /// Show what an agent's session saw and received, turn by turn [default: the latest session here]
    #[arg(long, value_name = "ID", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["paths", "rule", "as", "for"])]
    pub(crate) session: Option<String>,

    #[command(flatten)]
    pub(crate) evidence: EvidenceArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Coverage {
    /// List only the files without path-specific rules
    #[arg(long)]
    pub(crate) files: bool,

    #[command(flatten)]
    pub(crate) view: View,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Diff {
    /// `BASE..HEAD`, `BASE...HEAD` (since the branches parted), or `BASE`, which is compared with the working tree
    #[arg(value_name = "BASE..HEAD")]
    pub(crate) range: String,

    /// Only for this agent, whether or not it is used here; can be given several times
    #[arg(long = "for", value_name = "AGENT", value_parser = AsParser, hide_possible_values = true)]
    pub(crate) agents: Vec<&'static Agent>,

    /// The output format
    #[arg(long, value_enum, default_value_t = DiffFormat::Text)]
    pub(crate) format: DiffFormat,

    /// Exit with 1 if anything changes
    #[arg(long)]
    pub(crate) exit_code: bool,
}

/// The output format of `diff`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffFormat {
    /// Text for people
    Text,
    /// Markdown for a pull request comment
    Markdown,
    /// JSON for programs
    Json,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Prompt {
    /// A file of the current task, relative to the current folder; can be given several times
    #[arg(long = "path", value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<String>,

    /// Print only the notice to the user about conditional rules, in this form
    #[arg(long, value_enum, value_name = "FORM")]
    pub(crate) notice: Option<NoticeForm>,

    /// The maximum number of tokens (estimated); rules that do not fit are offered by name, the last in order first
    #[arg(long, value_name = "TOKENS", value_parser = tokens)]
    pub(crate) budget: Option<usize>,

    /// Print what Rulebook adds, or would add if wired, for this agent; `any`: rules as their headers say [default: any]
    #[arg(id = "for", long, value_name = "AGENT", value_parser = agents::ForParser, hide_possible_values = true)]
    pub(crate) for_agent: Option<Viewpoint>,

    #[command(flatten)]
    pub(crate) evidence: EvidenceArgs,
}

/// The form of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum NoticeForm {
    /// One line
    Text,
    /// An HTML fragment that expands to the conditions
    Html,
    /// JSON; `null` if no conditional rule applies
    Json,
}

#[derive(Debug, Default, ClapArgs)]
#[command(next_help_heading = "Evidence (facts that conditions test)")]
pub(crate) struct EvidenceArgs {
    /// Evidence as JSON; `-` reads standard input
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) evidence: Option<PathBuf>,

    /// The user's message
    #[arg(long, value_name = "TEXT")]
    pub(crate) message: Option<String>,

    /// The current mode (`act`, `plan`, …)
    #[arg(long, value_name = "MODE")]
    pub(crate) mode: Option<String>,

    /// The provider that serves the model
    #[arg(long, value_name = "NAME")]
    pub(crate) provider: Option<String>,

    /// The model's name
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,

    /// The agent's name, for rules with an `agent` condition
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,

    /// The name of the environment, for rules with an `env` condition
    #[arg(long, value_name = "NAME")]
    pub(crate) env: Option<String>,

    /// The git branch [default: the current branch]
    #[arg(long, value_name = "NAME")]
    pub(crate) branch: Option<String>,

    /// The operating system [default: this one]
    #[arg(long, value_name = "NAME")]
    pub(crate) os: Option<String>,

    /// A tag of the workspace, for rules with a `tags` condition; can be given several times
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<String>,

    /// A rule that the user requests by name; can be given several times
    #[arg(long = "request", value_name = "RULE")]
    pub(crate) requested: Vec<String>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Check {
    /// The output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,

    /// Fix what can be fixed safely, and show the changes
    #[arg(long)]
    pub(crate) fix: bool,

    /// With `--fix`: show the changes without writing them; exits with 1 if there are any
    #[arg(long, requires = "fix")]
    pub(crate) dry_run: bool,

    /// Exit with 1 on warnings as well
    #[arg(long)]
    pub(crate) strict: bool,

    /// Show every problem, instead of three examples of each kind
    #[arg(long, visible_alias = "verbose")]
    pub(crate) all: bool,

    /// Do not list the problems recorded in this file; only count them
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) baseline: Option<PathBuf>,

    /// Write all current problems to the baseline file; needs `--baseline`
    #[arg(long, requires = "baseline")]
    pub(crate) write_baseline: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Text for people
    Text,
    /// JSON for programs
    Json,
    /// SARIF, for code scanning
    Sarif,
    /// Annotations for a GitHub workflow
    Github,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct StreamFile {
    /// A text file, or recorded server-sent events (Anthropic, OpenAI Chat, OpenAI Responses, Gemini); `-` for standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    /// Repeat with other chunk sizes, down to single bytes, and fail on any difference
    #[arg(long)]
    pub(crate) prove: bool,
}
