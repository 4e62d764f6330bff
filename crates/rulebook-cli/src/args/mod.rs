//! The command line.

mod hosts;
mod servers;

pub(crate) use hosts::{Hook, Install, Uninstall, Wiring};
pub(crate) use servers::{Proxy, Ui, Watch};

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum, ValueHint};
use rulebook::agent::{AGENTS, Agent};

/// Which rules apply to the work at hand, and why.
///
/// Reads the rule files of every coding agent where they lie, decides which apply, and tells why the others do not.
#[derive(Debug, Parser)]
#[command(name = "rulebook", version, max_term_width = 100)]
pub(crate) struct Args {
    /// A workspace root; may be given several times. Default: the nearest folder above with `.git`
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) root: Vec<PathBuf>,

    /// Override a setting, e.g. `--set budget.tokens=4000`; may be given several times
    #[arg(long, global = true, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,

    /// Print JSON
    #[arg(long, global = true, overrides_with = "json")]
    pub(crate) json: bool,

    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

impl Args {
    /// The same for every command, for a surface that opens the workspace again and again.
    pub(crate) fn lasting(&self) -> Args {
        Args { root: self.root.clone(), set: self.set.clone(), json: self.json, command: None }
    }
}

// Of a command that is not asked for, nothing but its name is made: a hook starts with every tool call. What is made later
// counts for more, so the structs of arguments have no doc comment: it would be shown in place of the command's.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    /// What is here: every rule, its activation and its state (the default)
    Status(View),
    /// Which rules apply to a path, in order, and why every other rule does not
    Explain(Explain),
    /// The text that goes into the prompt for this evidence
    Prompt(Prompt),
    /// One rule's text
    Read {
        /// `rule://NAME`, or the name alone
        #[arg(value_name = "RULE")]
        name: String,
    },
    /// What is wrong in rule files and settings, and what to write instead
    Check(Check),
    /// The rules against every file of the tree: what each reaches, globs that match nothing, files without rules
    Coverage(Coverage),
    /// Let a rule's conditions decide again
    Enable(Toggle),
    /// Switch a rule off, whatever its conditions say
    Disable(Toggle),
    /// Run a text, or a recorded answer of a model, through the stream rules
    Stream(StreamFile),
    /// Check the `examples` rules carry: paths they must and must not match, texts they must and must not fire on
    Test,
    /// One event of an agent's hook on standard input, its answer on standard output
    Hook(Hook),
    /// The sessions of agents whose hooks are wired
    Sessions,
    /// Rules from elsewhere: fetch them, list what is kept of them, show what would change
    #[command(subcommand)]
    Remote(RemoteTask),
    /// Show what this workspace's files would do and what changed in them, and record that you trust them
    Trust(Trust),
    /// Follow the sessions of agents live, a line for everything they see and are told
    Watch(Watch),
    /// A page in your browser: the rules, what applies to a path and why, the sessions live
    Ui(Ui),
    /// Serve agents over the Model Context Protocol, on standard input and output
    Mcp,
    /// Serve between an agent and its model: rules go into its requests, and stream rules watch the answers
    Proxy(Proxy),
    /// The formats that are read, and the agents whose own view `--as` shows
    Formats,
    /// Wire an agent to Rulebook: its hooks and its MCP server, in its own files; without a name, who is used here
    Install(Install),
    /// Take the wiring out again, and leave everything else as it is
    Uninstall(Uninstall),
    /// Print a completion script for a shell
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Man,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Trust {
    /// Show, and record nothing
    #[arg(long)]
    pub(crate) show: bool,

    /// Forget that the workspace was trusted
    #[arg(long, conflicts_with = "show")]
    pub(crate) forget: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RemoteTask {
    /// Fetch them, and keep what is new; exits with 1 if one could not be fetched
    Sync {
        /// Only these
        #[arg(value_name = "NAME")]
        names: Vec<String>,
    },
    /// What is kept of them, how old it is, and how it is checked
    List,
    /// What fetching would change; nothing is kept
    Diff {
        /// Only these
        #[arg(value_name = "NAME")]
        names: Vec<String>,
    },
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Explain {
    /// Files or folders, relative to the current folder; they need not exist
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<String>,

    /// Which files of the tree a rule reaches
    #[arg(long, value_name = "ID", conflicts_with = "paths")]
    pub(crate) rule: Option<String>,

    #[command(flatten)]
    pub(crate) view: View,

    /// What an agent's session has seen and got, turn by turn; without ID the last one here
    #[arg(long, value_name = "ID", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["paths", "rule", "as"])]
    pub(crate) session: Option<String>,

    #[command(flatten)]
    pub(crate) evidence: EvidenceArgs,
}

// Whose view is shown.
#[derive(Debug, Default, ClapArgs)]
pub(crate) struct View {
    /// Show what this agent itself does: its files, its globs, its way of failing
    #[arg(id = "as", long, value_name = "AGENT", value_parser = agents())]
    agent: Option<String>,
}

impl View {
    /// The agent whose view it is.
    pub(crate) fn agent(&self) -> Option<&'static Agent> {
        self.agent.as_deref().and_then(Agent::named)
    }
}

fn agents() -> PossibleValuesParser {
    AGENTS.iter().map(|agent| agent.name).collect::<Vec<_>>().into()
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Coverage {
    /// List every file that no rule is for, and nothing else
    #[arg(long)]
    pub(crate) files: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Prompt {
    /// A path in evidence, relative to the current folder; may be given several times
    #[arg(long = "path", value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<String>,

    /// The notice alone, in this form: what the user is told when conditional rules came on
    #[arg(long, value_enum, value_name = "FORM")]
    pub(crate) notice: Option<NoticeForm>,

    /// At most this many tokens (estimated): whole rules are cut, lowest rank first
    #[arg(long, value_name = "TOKENS")]
    pub(crate) budget: Option<usize>,

    #[command(flatten)]
    pub(crate) evidence: EvidenceArgs,
}

/// How a notice is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum NoticeForm {
    /// One line
    Text,
    /// A fragment for a web view, which opens to the conditions that held
    Html,
    /// Data; `null` where no conditional rule came on
    Json,
}

// What is known about the request.
#[derive(Debug, Default, ClapArgs)]
#[command(next_help_heading = "Evidence")]
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

    /// Who serves the model
    #[arg(long, value_name = "NAME")]
    pub(crate) provider: Option<String>,

    /// The model's name
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,

    /// The agent's name
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,

    /// The environment's name
    #[arg(long, value_name = "NAME")]
    pub(crate) env: Option<String>,

    /// The git branch; default: the one checked out
    #[arg(long, value_name = "NAME")]
    pub(crate) branch: Option<String>,

    /// The operating system; default: this one
    #[arg(long, value_name = "NAME")]
    pub(crate) os: Option<String>,

    /// A tag the workspace carries; may be given several times
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<String>,

    /// A rule asked for by name; may be given several times
    #[arg(long = "request", value_name = "RULE")]
    pub(crate) requested: Vec<String>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Check {
    /// How to print
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,

    /// Mend what can be mended safely, and show what changed
    #[arg(long)]
    pub(crate) fix: bool,

    /// With `--fix`: show what would change and write nothing; exits with 1 if anything would
    #[arg(long, requires = "fix")]
    pub(crate) dry_run: bool,

    /// Exit with 1 on warnings too
    #[arg(long)]
    pub(crate) strict: bool,

    /// Hold back the problems recorded in this file; they are counted and not shown
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) baseline: Option<PathBuf>,

    /// Record the workspace's problems in the baseline first
    #[arg(long, requires = "baseline")]
    pub(crate) write_baseline: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Text,
    /// For programs
    Json,
    /// For code scanning
    Sarif,
    /// For annotations in a GitHub workflow
    Github,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct StreamFile {
    /// A text, or recorded server-sent events (Anthropic, OpenAI Chat, OpenAI Responses, Gemini); `-` for standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    /// Run it again in other chunks, down to single bytes, and fail on any difference
    #[arg(long)]
    pub(crate) prove: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Toggle {
    /// The rule's id, as `rulebook status` shows it
    pub(crate) id: String,

    /// For everyone: writes `rules.disabled_ids` in `rulebook.toml`
    #[arg(long)]
    pub(crate) team: bool,
}

/// The command line with `--root` and `--set` in front of the command: they add up wherever they stand, and the
/// parser would let those behind the command replace those before it.
pub(crate) fn hoisted(args: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut args = args.into_iter();
    let mut front: Vec<OsString> = args.next().into_iter().collect();
    let mut rest = Vec::new();
    while let Some(arg) = args.next() {
        let text = arg.to_string_lossy();
        match text.as_ref() {
            "--" => {
                rest.push(arg);
                break;
            }
            "--root" | "--set" => front.extend([Some(arg), args.next()].into_iter().flatten()),
            _ if text.starts_with("--root=") || text.starts_with("--set=") => front.push(arg),
            _ => rest.push(arg),
        }
    }
    front.extend(rest);
    front.extend(args);
    front
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::Args;

    #[test]
    fn a_command_says_of_itself_what_the_list_says() {
        let (listed, mut built) = (Args::command(), Args::command());
        built.build();
        for command in listed.get_subcommands() {
            let name = command.get_name();
            let found = built.find_subcommand(name).and_then(clap::Command::get_about);
            assert!(found.is_some(), "{name}");
            assert_eq!(found, command.get_about(), "{name}");
        }
    }
}
