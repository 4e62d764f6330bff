//! Surfaces: the ways in and out. Each asks the engine and shows its answer; none decides anything.

mod baseline;
mod check;
mod coverage;
mod explain;
mod fix;
mod follow;
mod formats;
pub(crate) mod hook;
mod install;
mod mcp;
mod prompt;
mod proxy;
mod read;
mod remote;
mod sarif;
mod sessions;
mod status;
mod stream;
mod test;
mod toggle;
mod trust;
mod ui;
mod watch;
mod wire;

pub(crate) use hook::HOSTS;

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, anyhow};
use clap::CommandFactory as _;
use rulebook::diagnostic::{Code, Diagnostic};
use rulebook::evidence::Input;
use rulebook::stream::policy::escape_tags;
use rulebook_workspace::{Homes, Workspace, find_root};

use crate::args::{Args, Command, EvidenceArgs, View};
use crate::out;

/// The version of every JSON shape.
const VERSION: u32 = 1;

/// The most evidence that is read.
const MAX_EVIDENCE: u64 = 64 << 20;

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let status = Command::Status(View::default());
    match args.command.as_ref().unwrap_or(&status) {
        Command::Status(view) => status::run(args, view),
        Command::Formats => formats::run(args),
        Command::Sessions => sessions::run(args),
        Command::Watch(options) => watch::run(args, options),
        Command::Ui(options) => ui::run(args, options),
        Command::Hook(options) => hook::run(args, options),
        Command::Explain(explain) => explain::run(args, explain),
        Command::Prompt(prompt) => prompt::run(args, prompt),
        Command::Read { name } => read::run(args, name),
        Command::Check(check) => check::run(args, check),
        Command::Coverage(coverage) => coverage::run(args, coverage),
        Command::Enable(toggle) => toggle::run(args, toggle, toggle::Switch::On),
        Command::Disable(toggle) => toggle::run(args, toggle, toggle::Switch::Off),
        Command::Stream(file) => stream::run(args, file),
        Command::Test => test::run(args),
        Command::Install(wanted) => install::install(args, wanted),
        Command::Uninstall(wanted) => install::uninstall(args, wanted),
        Command::Mcp => mcp::run(args),
        Command::Trust(trust) => trust::run(args, trust),
        Command::Remote(task) => remote::run(args, task),
        Command::Proxy(options) => proxy::run(args, options),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Args::command(), "rulebook", &mut script);
            out::print_raw(&script)?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Man => {
            let mut page = Vec::new();
            clap_mangen::Man::new(Args::command()).render(&mut page)?;
            out::print_raw(&page)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// What keeps whole sets of rules away, and is told wherever rules are: a workspace that is not trusted, a remote without a
/// copy or with one that is refused.
fn alerts(diagnostics: &[Diagnostic]) -> impl Iterator<Item = &Diagnostic> {
    const CODES: [Code; 3] = [Code::Untrusted, Code::RemoteRefused, Code::RemoteMissing];
    diagnostics.iter().filter(|told| CODES.contains(&told.code))
}

/// An alert in one line.
fn alert_line(told: &Diagnostic) -> String {
    let line = format!("{}: {}; {}", out::clean(&told.path), out::clean(&told.message), told.help);
    // It may be handed to a model, and a folder may be called anything.
    escape_tags(&line).into_owned()
}

/// Tells alerts on standard error, beside an answer that has no place for them.
fn print_alerts(diagnostics: &[Diagnostic]) {
    let lines: String = alerts(diagnostics).map(|told| alert_line(told) + "\n").collect();
    out::print_aside(&lines);
}

/// Opens the workspace the arguments name, or the one around the current folder.
fn open(args: &Args) -> anyhow::Result<Workspace> {
    let here = current_folder()?;
    let roots = if args.root.is_empty() { vec![find_root(&here).to_owned()] } else { args.root.clone() };
    Workspace::open_with(&roots, Homes::from_environment(), &args.set.join("\n")).map_err(|error| {
        anyhow!("name an existing folder with `--root`, or run inside one").context(error.to_string())
    })
}

/// The current folder as the shell names it, so that a path through a link is understood; else as it really is.
fn current_folder() -> anyhow::Result<PathBuf> {
    let real =
        std::env::current_dir().context("the current folder cannot be found: change to one that exists")?;
    let named =
        std::env::var_os("PWD").map(PathBuf::from).filter(|named| named.is_absolute() && *named != real);
    Ok(named.filter(|named| std::fs::canonicalize(named).is_ok_and(|path| path == real)).unwrap_or(real))
}

/// What the flags and the evidence file say. Paths are arguments, relative to the current folder.
fn read_input(flags: &EvidenceArgs, paths: &[String]) -> anyhow::Result<(Input, Vec<Diagnostic>)> {
    let (mut input, told) = match &flags.evidence {
        None => (Input::default(), Vec::new()),
        Some(file) => {
            let shown =
                if file == Path::new("-") { "standard input".to_owned() } else { file.display().to_string() };
            let read = read_input_file(file, MAX_EVIDENCE)
                .and_then(|bytes| String::from_utf8(bytes).map_err(std::io::Error::other));
            let text = read.map_err(|error| {
                anyhow!("name a readable file with `--evidence`, or `-` for standard input")
                    .context(format!("the evidence in {shown} cannot be read: {error}"))
            })?;
            Input::from_json(&text).map_err(|error| {
                anyhow!("write an object such as {{\"message\": \"…\", \"openTabs\": [\"src/a.ts\"]}}")
                    .context(format!("the evidence in {shown} {error}"))
            })?
        }
    };
    let here = current_folder()?;
    input.arguments = paths.iter().map(|path| absolute(&here, path)).collect();
    let set = |to: &mut Option<String>, from: &Option<String>| {
        if from.is_some() {
            to.clone_from(from);
        }
    };
    set(&mut input.message, &flags.message);
    set(&mut input.mode, &flags.mode);
    set(&mut input.provider, &flags.provider);
    set(&mut input.model, &flags.model);
    set(&mut input.agent, &flags.agent);
    set(&mut input.env, &flags.env);
    set(&mut input.branch, &flags.branch);
    set(&mut input.os, &flags.os);
    if !flags.tags.is_empty() {
        input.tags.get_or_insert_with(Vec::new).extend(flags.tags.iter().cloned());
    }
    input.requested.extend(flags.requested.iter().cloned());
    Ok((input, told))
}

/// The text of a file, or of standard input for `-`, up to a limit.
fn read_input_file(file: &Path, limit: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if file == Path::new("-") {
        std::io::stdin().lock().take(limit + 1).read_to_end(&mut bytes)?;
    } else {
        std::fs::File::open(file)?.take(limit + 1).read_to_end(&mut bytes)?;
    }
    if bytes.len() as u64 > limit {
        return Err(std::io::Error::other(format!("it is larger than {limit} bytes")));
    }
    Ok(bytes)
}

fn absolute(here: &Path, path: &str) -> String {
    let is_drive = path.get(1..3).is_some_and(|rest| rest == ":/" || rest == ":\\");
    // A share's name, or a path from the top of a drive, is absolute whatever system this is.
    let is_windows = is_drive || path.starts_with('\\');
    if is_windows || Path::new(path).is_absolute() || path.starts_with("~/") {
        return path.to_owned();
    }
    here.join(path).to_string_lossy().into_owned()
}
