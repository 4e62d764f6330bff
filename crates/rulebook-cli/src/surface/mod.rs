//! Surfaces: the commands. Each asks the engine and shows its answer; none decides anything itself.

#[cfg(feature = "acp")]
mod acp;
mod baseline;
mod check;
mod checkout;
pub(crate) mod completions;
mod coverage;
mod diff;
mod explain;
mod export;
#[cfg(any(feature = "acp", feature = "mcp"))]
mod file_uri;
mod fix;
mod follow;
mod formats;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod grid;
mod guard;
pub(crate) mod hook;
mod install;
#[cfg(any(feature = "acp", feature = "mcp", feature = "proxy", feature = "ui"))]
mod keep_fresh;
mod load;
#[cfg(feature = "lsp")]
mod lsp;
mod man;
#[cfg(feature = "mcp")]
mod mcp;
mod nodes;
mod pin;
mod problems;
mod prompt;
#[cfg(feature = "proxy")]
mod proxy;
mod reach;
mod read;
#[cfg(feature = "remote")]
mod remote;
mod rows;
mod sarif;
mod sections;
mod sessions;
mod status;
mod stream;
mod test;
mod toggle;
mod trust;
#[cfg(feature = "ui")]
mod ui;
mod used;
mod watch;
#[cfg_attr(
    not(feature = "proxy"),
    allow(dead_code, unused_imports, reason = "only the proxy writes, `stream` reads")
)]
mod wire;

use std::process::ExitCode;

use crate::args::{Args, Command, View};

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let status = Command::Status(View::default());
    match args.command.as_ref().unwrap_or(&status) {
        Command::Check(check) => return check::run(args, check),
        Command::Test => return test::run(args),
        Command::Diff(diff) => return diff::run(args, diff),
        Command::Export(export) => return export::run(args, export),
        Command::Import(import) => return export::import(args, import),
        #[cfg(feature = "remote")]
        Command::Remote(task) => return remote::run(args, task),
        #[cfg(feature = "acp")]
        Command::Acp(options) => return acp::run(args, options),
        #[cfg(feature = "proxy")]
        Command::Proxy(options) => return proxy::run(args, options),
        #[cfg(feature = "lsp")]
        Command::Lsp(_) => return lsp::run(args),
        Command::Status(view) => status::run(args, view)?,
        Command::Explain(explain) => explain::run(args, explain)?,
        Command::Prompt(prompt) => prompt::run(args, prompt)?,
        Command::Read { name } => read::run(args, name)?,
        Command::Coverage(coverage) => coverage::run(args, coverage)?,
        Command::Sessions => sessions::run(args)?,
        Command::Watch(options) => watch::run(args, options)?,
        Command::Stream(file) => stream::run(args, file)?,
        Command::Enable(toggle) => toggle::run(args, toggle, toggle::Switch::On)?,
        Command::Disable(toggle) => toggle::run(args, toggle, toggle::Switch::Off)?,
        Command::Pin(pin) => pin::run(args, pin, pin::Change::Pin)?,
        Command::Unpin(pin) => pin::run(args, pin, pin::Change::Unpin)?,
        Command::Install(wanted) => install::install(args, wanted)?,
        Command::Uninstall(wanted) => install::uninstall(args, wanted)?,
        Command::Hook(options) => hook::run(args, options)?,
        Command::Guard(task) => guard::run(args, task)?,
        Command::Trust(trust) => trust::run(args, trust)?,
        #[cfg(feature = "ui")]
        Command::Ui(options) => ui::run(args, options)?,
        #[cfg(feature = "mcp")]
        Command::Mcp => mcp::run(args)?,
        Command::Formats => formats::run(args)?,
        Command::Completions { shell } => completions::run(args, *shell)?,
        Command::Man { command } => man::run(args, command)?,
    }
    Ok(ExitCode::SUCCESS)
}
