//! `install` and `uninstall`: the wiring between a host and Rulebook, written into the host's own files.

pub(super) mod diff;
mod file;
mod hosts;
mod json;
mod offer;
mod print;
mod program;
mod show;
mod target;
mod toml;

pub(crate) use hosts::HOSTS;

use std::process::ExitCode;

use anyhow::{Context as _, anyhow};

use crate::args::{Args, Install, Uninstall, Wiring};
use crate::out;
use file::Change;
use hosts::{FileKind, Host, Role, Wire};
use program::Program;
use show::Outcome;
use target::Target;

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

pub(super) fn install(args: &Args, install: &Install) -> anyhow::Result<ExitCode> {
    let place = Target::find(args, install.wiring.user)?;
    match install.host.map(Host::of) {
        Some(host) => run(args, host, &install.wiring, &place, Task::Install),
        None => offer::run(args, &place, &install.wiring.command),
    }
}

pub(super) fn uninstall(args: &Args, uninstall: &Uninstall) -> anyhow::Result<ExitCode> {
    let place = Target::find(args, uninstall.wiring.user)?;
    run(args, Host::of(uninstall.host), &uninstall.wiring, &place, Task::Uninstall)
}

fn run(args: &Args, host: &Host, wiring: &Wiring, place: &Target, task: Task) -> anyhow::Result<ExitCode> {
    let program = Program::new(&wiring.command, host.id.name())
        .map_err(|fault| anyhow!("name the program's file with `--command`").context(fault))?;
    let mut wires: Vec<&Wire> =
        host.wires.iter().filter(|wire| !wiring.no_mcp || wire.role == Role::Hooks).collect();
    let mut kept = Vec::new();
    if task == Task::Uninstall {
        // What was written last goes first: only so the file comes back as it was.
        wires.reverse();
        wires.retain(|wire| {
            let other = shared_with(host, wire, place, &wiring.command);
            kept.extend(other.map(|other| (place.spot(host, wire).shown, other)));
            other.is_none()
        });
    }
    let changes = plan(&wires, &program, host, place, task)?;
    if !wiring.print {
        for change in &changes {
            change.write().with_context(|| format!("`{}` could not be written", change.spot.shown))?;
        }
    }
    let outcome = Outcome { host, task, place, is_written: !wiring.print, changes, kept };
    if args.json {
        out::print_json(&outcome.json())?;
    } else {
        out::print(&outcome.text())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What is to be done, file by file; nothing is written, and nothing will be if any file cannot be edited.
fn plan(
    wires: &[&Wire],
    program: &Program,
    host: &Host,
    place: &Target,
    task: Task,
) -> anyhow::Result<Vec<Change>> {
    let mut changes: Vec<Change> = Vec::new();
    for wire in wires {
        let spot = place.spot(host, wire);
        let at = match changes.iter().position(|change| change.spot.path == spot.path) {
            Some(at) => at,
            None => {
                let read = Change::read(spot.clone()).map_err(|error| {
                    anyhow!("nothing was written; mend or move the file and run it again")
                        .context(format!("`{}` cannot be edited: {error}", spot.shown))
                })?;
                changes.push(read);
                changes.len() - 1
            }
        };
        let change = &mut changes[at];
        change.is_script = matches!(wire.kind, FileKind::Script);
        change.after = edit(change.after.as_deref(), wire, program, host, task).map_err(|fault| {
            let text = change.after.as_deref().unwrap_or_default().trim_start_matches('\u{feff}');
            anyhow!("nothing was written; mend the file and run it again").context(format!(
                "{}:{}: {}",
                spot.shown,
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
        (FileKind::Json(patch) | FileKind::Jsonc(patch), Task::Install, None) => {
            Some(json::create(&patch(program)))
        }
        (FileKind::Json(patch) | FileKind::Jsonc(patch), Task::Install, Some(body)) => {
            Some(json::add(body, &patch(program), program)?)
        }
        (FileKind::Json(patch) | FileKind::Jsonc(patch), Task::Uninstall, Some(body)) => {
            json::remove(body, &patch(program), program)?
        }
        (FileKind::Toml, Task::Install, None) => Some(toml::create(program)),
        (FileKind::Toml, Task::Install, Some(body)) => Some(toml::add(body, program)?),
        (FileKind::Toml, Task::Uninstall, Some(body)) => toml::remove(body)?,
        (FileKind::Module(_) | FileKind::Script, Task::Uninstall, Some(body)) => {
            (!is_ours(body, host)).then(|| body.to_owned())
        }
        (FileKind::Module(_) | FileKind::Script, Task::Install, Some(body)) if !is_ours(body, host) => {
            let line = &program.line;
            return Err(Fault::new(
                0,
                format!("this file is not ours; call `{line}` in it, or move it away"),
            ));
        }
        (FileKind::Module(text), Task::Install, _) => Some(text(program)),
        (FileKind::Script, Task::Install, _) => Some(format!(
            "#!/bin/sh\n# Written by `rulebook install {0}`; `rulebook uninstall {0}` removes it.\nexec {1}\n",
            host.id.name(),
            program.line
        )),
    };
    Ok(edited.map(|edited| format!("{mark}{edited}")))
}

/// Whether a file of our own is what stands there.
fn is_ours(text: &str, host: &Host) -> bool {
    text.lines()
        .take(2)
        .any(|line| line.contains(&format!("Written by `rulebook install {}`", host.id.name())))
}

/// Whether the host's hooks run ours.
fn is_wired(host: &Host, place: &Target, command: &str) -> bool {
    let Ok(program) = Program::new(command, host.id.name()) else { return false };
    host.wires.iter().filter(|wire| wire.role == Role::Hooks).any(|wire| {
        let Ok(Change { before: Some(text), .. }) = Change::read(place.spot(host, wire)) else {
            return false;
        };
        edit(Some(&text), wire, &program, host, Task::Uninstall).is_ok_and(|left| left != Some(text))
    })
}

/// Another host that is wired here and reads its server from the same file.
fn shared_with(host: &Host, wire: &Wire, place: &Target, command: &str) -> Option<&'static Host> {
    let path = place.spot(host, wire).path;
    let mut others = HOSTS.iter().filter(|other| wire.role == Role::Server && other.id != host.id);
    let reads_it = |other: &Host| {
        let mut servers = other.wires.iter().filter(|wire| wire.role == Role::Server);
        servers.any(|wire| place.spot(other, wire).path == path)
    };
    others.find(|other| reads_it(other) && is_wired(other, place, command))
}

/// `line:column` of a place.
fn position(text: &str, at: usize) -> String {
    let before = &text[..text.floor_char_boundary(at)];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!("{line}:{column}")
}
