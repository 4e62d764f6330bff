//! Decides what each of a host's files becomes, before any is written.

use anyhow::anyhow;
use rulebook::agent::Wiring;
use rulebook_workspace::hosts::HostFile;
use rulebook_workspace::wiring::{WiredBy, is_written_for};
use rulebook_workspace::write::Kind;

use super::destination::Destination;
use super::fault::Fault;
use super::file::Change;
use super::hosts::{FileKind, HOSTS, Host};
use super::program::Program;
use super::{json, toml, yaml};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Task {
    Install,
    Uninstall,
}

impl Task {
    pub(super) fn name(self) -> &'static str {
        match self {
            Task::Install => "install",
            Task::Uninstall => "uninstall",
        }
    }
}

/// Plans the changes, file by file; fails if any file cannot be edited.
pub(super) fn plan(
    files: &[(&HostFile, Task)],
    program: &Program,
    host: &Host,
    destination: &Destination,
) -> anyhow::Result<Vec<Change>> {
    let mut changes: Vec<Change> = Vec::new();
    for &(file, task) in files {
        let Some(path) = destination.path_of(host, file) else { continue };
        let at = match changes.iter().position(|change| change.path.path == path.path) {
            Some(at) => at,
            None => {
                let read = Change::read(path.clone()).map_err(|error| {
                    anyhow!("nothing was written; fix or move the file, then run the command again")
                        .context(format!("cannot edit `{}`: {error}", path.shown))
                })?;
                changes.push(read);
                changes.len() - 1
            }
        };
        let change = &mut changes[at];
        if matches!(host.content(file), FileKind::Own(text) if text.starts_with("#!")) {
            change.kind = Kind::Script;
        }
        change.after = edit(change.after.as_deref(), file, program, host, task).map_err(|fault| {
            let text = change.after.as_deref().unwrap_or_default().trim_start_matches('\u{feff}');
            anyhow!("nothing was written; fix the file, then run the command again").context(format!(
                "{}:{}: {}",
                path.shown,
                fault.position(text),
                fault.message
            ))
        })?;
    }
    changes.retain(|change| change.before != change.after);
    Ok(changes)
}

/// Returns a file's text with our part, or without it.
fn edit(
    text: Option<&str>,
    file: &HostFile,
    program: &Program,
    host: &Host,
    task: Task,
) -> Result<Option<String>, Fault> {
    let (mark, body) = match text.and_then(|text| text.strip_prefix('\u{feff}')) {
        Some(body) => ("\u{feff}", Some(body)),
        None => ("", text),
    };
    let edited = match (host.content(file), task, body) {
        (_, Task::Uninstall, None) => None,
        (FileKind::Json(patch), Task::Install, _) => Some(json::add(body, &patch(program), program)?),
        (FileKind::Json(patch), Task::Uninstall, Some(body)) => json::remove(body, &patch(program), program)?,
        (FileKind::Toml, Task::Install, _) => Some(toml::add(body, program)?),
        (FileKind::Toml, Task::Uninstall, Some(body)) => toml::remove(body)?,
        (FileKind::Yaml, Task::Install, _) => Some(yaml::add(body, program)?),
        (FileKind::Yaml, Task::Uninstall, Some(body)) => yaml::remove(body),
        (FileKind::Own(_), Task::Uninstall, Some(body)) => {
            (!is_written_for(body, host.name)).then(|| body.to_owned())
        }
        (FileKind::Own(_), Task::Install, Some(body)) if !is_written_for(body, host.name) => {
            let instead = match file.wiring {
                Wiring::Mcp => format!("add the MCP server `{} mcp` to it", program.path),
                _ => format!("call `{}` from it", program.line),
            };
            let message = format!("`rulebook install` did not write this file; {instead}, or move it away");
            return Err(Fault::new(0, message));
        }
        (FileKind::Own(text), Task::Install, _) => Some(program.fill_in(text)),
    };
    Ok(edited.map(|edited| format!("{mark}{edited}")))
}

/// Returns how the host is wired: by its hooks, its own first, or by its server if it has no hooks.
pub(super) fn main_wiring(host: &Host, destination: &Destination, command: &str) -> Option<WiredBy> {
    let is_hook = |line: &str, host: &str| Program::new(command, host).is_ok_and(|ours| ours.runs(line));
    let found = destination.wired(host, &is_hook);
    let main = host.row().files.first().map_or(Wiring::Hook, |file| file.wiring);
    found.into_iter().filter(|found| found.wiring == main).min_by_key(|found| found.is_shared)
}

/// Returns another wired host that reads its server from the same file.
pub(super) fn shared_with(
    host: &Host,
    file: &HostFile,
    destination: &Destination,
    command: &str,
) -> Option<&'static Host> {
    let path = destination.path_of(host, file)?.path;
    let mut others = HOSTS.iter().filter(|other| file.wiring == Wiring::Mcp && other.name != host.name);
    let reads_it = |other: &Host| {
        let mut servers = other.row().files.iter().filter(|file| file.wiring == Wiring::Mcp);
        servers.any(|file| destination.path_of(other, file).is_some_and(|other| other.path == path))
    };
    let is_wired =
        |other: &Host| main_wiring(other, destination, command).is_some_and(|found| !found.is_shared);
    others.find(|other| reads_it(other) && is_wired(other))
}
