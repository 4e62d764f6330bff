//! `install` and `uninstall`: the wiring between a host and Rulebook, written into the host's own files.

mod diff;
mod file;
mod hosts;
mod json;
mod print;
mod program;
mod toml;

pub(crate) use hosts::HOSTS;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, anyhow};
use rulebook_workspace::Homes;
use serde_json::{Value as Json, json};

use super::VERSION;
use crate::args::{Args, Install, Uninstall, Wiring};
use crate::out::{self, BOLD, DIM, GREEN, PLAIN, RED, Table, paint, plural};
use file::Change;
use hosts::{Host, Kind, Role, Wire};
use program::Program;

/// Why a file cannot be edited, and where.
#[derive(Debug)]
struct Fault {
    at: usize,
    message: String,
}

impl Fault {
    fn new(at: usize, message: impl Into<String>) -> Fault {
        Fault { at, message: message.into() }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Task {
    Install,
    Uninstall,
}

/// Where files are written: nothing outside the base is.
struct Place {
    is_user: bool,
    base: PathBuf,
}

impl Place {
    fn find(args: &Args, is_user: bool) -> anyhow::Result<Place> {
        let base = if is_user {
            Homes::from_environment()
                .home
                .context("there is no home folder: set HOME, or leave out `--user`")?
        } else {
            PathBuf::from(&super::open(args)?.roots.roots[0].path)
        };
        Ok(Place { is_user, base })
    }

    fn path(&self, wire: &Wire) -> PathBuf {
        let path = self.base.join(if self.is_user { wire.user } else { wire.workspace });
        let other = path.with_extension("jsonc");
        if matches!(wire.kind, Kind::Jsonc(_)) && other.exists() { other } else { path }
    }

    fn shown(&self, path: &Path) -> String {
        let below = path.strip_prefix(&self.base).unwrap_or(path).to_string_lossy().replace('\\', "/");
        if self.is_user { format!("~/{below}") } else { below }
    }
}

pub(super) fn install(args: &Args, install: &Install) -> anyhow::Result<ExitCode> {
    let place = Place::find(args, install.wiring.user)?;
    match install.host.as_deref().and_then(Host::named) {
        Some(host) => run(args, host, &install.wiring, &place, Task::Install),
        None => offer(args, &place),
    }
}

pub(super) fn uninstall(args: &Args, uninstall: &Uninstall) -> anyhow::Result<ExitCode> {
    let place = Place::find(args, uninstall.wiring.user)?;
    let host = Host::named(&uninstall.host).context("clap knows the hosts")?;
    run(args, host, &uninstall.wiring, &place, Task::Uninstall)
}

fn run(args: &Args, host: &Host, wiring: &Wiring, place: &Place, task: Task) -> anyhow::Result<ExitCode> {
    let program = Program::new(&wiring.command, host.name)
        .map_err(|fault| anyhow!("name the program's file with `--command`").context(fault))?;
    let mut wires: Vec<&Wire> =
        host.wires.iter().filter(|wire| !wiring.no_mcp || wire.role == Role::Hooks).collect();
    let mut notes = Vec::new();
    if task == Task::Uninstall {
        // What was written last goes first: only so the file comes back as it was.
        wires.reverse();
        wires.retain(|wire| match shared_with(host, wire, place) {
            Some(other) => {
                let file = place.shown(&place.path(wire));
                notes.push(format!("`{file}` keeps its server: {} is wired here too", other.title));
                false
            }
            None => true,
        });
    }
    let changes = plan(&wires, &program, host, place, task)?;
    if task == Task::Install && !changes.is_empty() && !host.note.is_empty() {
        notes.push(host.note.to_owned());
    }
    if !wiring.print {
        for change in &changes {
            change
                .write(&place.base)
                .with_context(|| format!("`{}` could not be written", place.shown(&change.path)))?;
        }
    }
    if args.json {
        out::print_json(&report(host, &changes, &notes, wiring, place, task))?;
    } else {
        out::print(&show(host, &changes, &notes, wiring, place, task))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What is to be done, file by file; nothing is written, and nothing will be if any file cannot be edited.
fn plan(
    wires: &[&Wire],
    program: &Program,
    host: &Host,
    place: &Place,
    task: Task,
) -> anyhow::Result<Vec<Change>> {
    let mut changes: Vec<Change> = Vec::new();
    for wire in wires {
        let path = place.path(wire);
        let at = match changes.iter().position(|change| change.path == path) {
            Some(at) => at,
            None => {
                let read = Change::read(path.clone(), &place.base).map_err(|error| {
                    anyhow!("nothing was written; mend or move the file and run it again")
                        .context(format!("`{}` cannot be edited: {error}", place.shown(&path)))
                })?;
                changes.push(read);
                changes.len() - 1
            }
        };
        let change = &mut changes[at];
        change.is_script = matches!(wire.kind, Kind::Script);
        change.after = edit(change.after.as_deref(), wire, program, host, task).map_err(|fault| {
            let text = change.after.as_deref().unwrap_or_default().trim_start_matches('\u{feff}');
            anyhow!("nothing was written; mend the file and run it again").context(format!(
                "{}:{}: {}",
                place.shown(&path),
                position(text, fault.at),
                fault.message
            ))
        })?;
    }
    changes.retain(|change| change.before != change.after);
    Ok(changes)
}

/// A file's text with our part, or without it.
fn edit(
    text: Option<&str>,
    wire: &Wire,
    program: &Program,
    host: &Host,
    task: Task,
) -> Result<Option<String>, Fault> {
    let (mark, body) = match text.and_then(|text| text.strip_prefix('\u{feff}')) {
        Some(body) => ("\u{feff}", Some(body)),
        None => ("", text),
    };
    let edited = match (&wire.kind, task, body) {
        (_, Task::Uninstall, None) => None,
        (Kind::Json(patch) | Kind::Jsonc(patch), Task::Install, None) => Some(json::create(&patch(program))),
        (Kind::Json(patch) | Kind::Jsonc(patch), Task::Install, Some(body)) => {
            Some(json::add(body, &patch(program), program)?)
        }
        (Kind::Json(patch) | Kind::Jsonc(patch), Task::Uninstall, Some(body)) => {
            json::remove(body, &patch(program), program)?
        }
        (Kind::Toml, Task::Install, None) => Some(toml::create(program)),
        (Kind::Toml, Task::Install, Some(body)) => Some(toml::add(body, program)?),
        (Kind::Toml, Task::Uninstall, Some(body)) => toml::remove(body)?,
        (Kind::Module(_) | Kind::Script, Task::Uninstall, Some(body)) => {
            (!is_ours(body, host)).then(|| body.to_owned())
        }
        (Kind::Module(_) | Kind::Script, Task::Install, Some(body)) if !is_ours(body, host) => {
            let line = &program.line;
            return Err(Fault::new(
                0,
                format!("this file is not ours; call `{line}` in it, or move it away"),
            ));
        }
        (Kind::Module(text), Task::Install, _) => Some(text(program)),
        (Kind::Script, Task::Install, _) => Some(format!(
            "#!/bin/sh\n# Written by `rulebook install {0}`; `rulebook uninstall {0}` removes it.\nexec {1}\n",
            host.name, program.line
        )),
    };
    Ok(edited.map(|edited| format!("{mark}{edited}")))
}

/// Whether a file of our own is what stands there.
fn is_ours(text: &str, host: &Host) -> bool {
    text.lines().take(2).any(|line| line.contains(&format!("Written by `rulebook install {}`", host.name)))
}

/// Whether the host's hooks run ours.
fn is_wired(host: &Host, place: &Place) -> bool {
    let Ok(program) = Program::new("rulebook", host.name) else { return false };
    host.wires.iter().filter(|wire| wire.role == Role::Hooks).any(|wire| {
        let Ok(Change { before: Some(text), .. }) = Change::read(place.path(wire), &place.base) else {
            return false;
        };
        edit(Some(&text), wire, &program, host, Task::Uninstall).is_ok_and(|left| left != Some(text))
    })
}

/// Another host that is wired here and reads its server from the same file.
fn shared_with(host: &Host, wire: &Wire, place: &Place) -> Option<&'static Host> {
    let path = place.path(wire);
    let reads_it = |other: &Wire| other.role == Role::Server && place.path(other) == path;
    let others = HOSTS.iter().filter(|other| wire.role == Role::Server && other.name != host.name);
    others.into_iter().find(|other| other.wires.iter().any(reads_it) && is_wired(other, place))
}

/// `line:column` of a place.
fn position(text: &str, at: usize) -> String {
    let before = &text[..text.floor_char_boundary(at)];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!("{line}:{column}")
}

fn change_name(change: &Change) -> &'static str {
    match (&change.before, &change.after) {
        (None, _) => "created",
        (_, None) => "removed",
        _ => "changed",
    }
}

fn diff_of(change: &Change) -> String {
    diff::diff(change.before.as_deref().unwrap_or_default(), change.after.as_deref().unwrap_or_default())
}

fn report(
    host: &Host,
    changes: &[Change],
    notes: &[String],
    wiring: &Wiring,
    place: &Place,
    task: Task,
) -> Json {
    let files: Vec<Json> = changes
        .iter()
        .map(|change| {
            json!({ "path": place.shown(&change.path), "change": change_name(change), "diff": diff_of(change) })
        })
        .collect();
    json!({
        "version": VERSION,
        "host": host.name,
        "task": if task == Task::Install { "install" } else { "uninstall" },
        "scope": if place.is_user { "user" } else { "workspace" },
        "written": !wiring.print && !changes.is_empty(),
        "files": files,
        "notes": notes,
    })
}

fn show(
    host: &Host,
    changes: &[Change],
    notes: &[String],
    wiring: &Wiring,
    place: &Place,
    task: Task,
) -> String {
    let mut text = String::new();
    for change in changes {
        let state = match change_name(change) {
            "changed" => String::new(),
            other => paint(DIM, format!("  {other}")),
        };
        let _ = writeln!(text, "{}{state}", paint(BOLD, out::clean(&place.shown(&change.path))));
        for line in diff_of(change).lines() {
            let style = if line.starts_with("  +") { GREEN } else { RED };
            let _ = writeln!(text, "{}", paint(style, line));
        }
    }
    let count = plural(changes.len(), "file");
    let done = match (task, changes.is_empty(), wiring.print) {
        (Task::Install, true, _) => "nothing to do: it is wired already".to_owned(),
        (Task::Uninstall, true, _) => "nothing to do: it is not wired".to_owned(),
        (_, false, true) => format!("{count} would change; leave out `--print` to do it"),
        (Task::Install, false, false) => format!("wired, {count} changed"),
        (Task::Uninstall, false, false) => format!("no longer wired, {count} changed"),
    };
    let _ = writeln!(text, "{}: {done}", paint(BOLD, host.title));
    for note in notes {
        let _ = writeln!(text, "  {}: {}", paint(DIM, "note"), out::clean(note));
    }
    text
}

/// The agents that are used here, each with the command that wires it.
fn offer(args: &Args, place: &Place) -> anyhow::Result<ExitCode> {
    let home = Homes::from_environment().home;
    let mut rows = Vec::new();
    for host in HOSTS {
        let mut found = Vec::new();
        if !place.is_user {
            let here = host.signs.iter().filter(|sign| place.base.join(sign).exists());
            found.extend(here.map(|sign| (*sign).to_owned()));
        }
        let at_home = |sign: &&&str| home.as_ref().is_some_and(|home| home.join(sign).exists());
        found.extend(host.home_signs.iter().filter(at_home).map(|sign| format!("~/{sign}")));
        if !found.is_empty() {
            rows.push((host, found, is_wired(host, place)));
        }
    }
    let flag = if place.is_user { " --user" } else { "" };
    let command = |host: &Host| format!("rulebook install {}{flag}", host.name);
    if args.json {
        let hosts: Vec<Json> = rows
            .iter()
            .map(|(host, found, wired)| {
                let name = host.name;
                json!({ "name": name, "title": host.title, "found": found, "wired": wired, "command": command(host) })
            })
            .collect();
        let all: Vec<&str> = HOSTS.iter().map(|host| host.name).collect();
        out::print_json(&json!({ "version": VERSION, "hosts": hosts, "all": all }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = String::new();
    let mut table = Table::default();
    for (host, found, wired) in &rows {
        let (style, what) = if *wired { (DIM, "wired".to_owned()) } else { (BOLD, command(host)) };
        table.row([(PLAIN, host.title), (style, &what), (DIM, &found.join(", "))]);
    }
    if table.is_empty() {
        text.push_str("no agent was found here\n");
    } else {
        text.push_str("agents used here\n");
        table.write(&mut text, 2, &table.widths());
    }
    let others: Vec<&str> = HOSTS
        .iter()
        .filter(|host| !rows.iter().any(|(found, ..)| found.name == host.name))
        .map(|host| host.name)
        .collect();
    if !others.is_empty() {
        let _ = writeln!(text, "{}", paint(DIM, format!("also known: {}", others.join(", "))));
    }
    out::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
