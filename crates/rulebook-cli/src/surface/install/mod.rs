//! `install` and `uninstall`: wire a host to Rulebook by editing the host's own configuration files.

mod aider_reads;
mod cline_rules;
mod destination;
mod fault;
mod file;
mod hosts;
mod json;
mod offer;
mod on_path;
mod plan;
mod print;
mod program;
mod show;
mod toml;
mod yaml;

#[cfg(test)]
pub(crate) use hosts::HOSTS;

use anyhow::{Context as _, anyhow};
use rulebook::agent::Wiring as Connection;
use rulebook_workspace::hosts::HostFile;
use rulebook_workspace::write::lock_folder;

use crate::args::{Args, Install, Uninstall, Wiring};
use crate::out;
use cline_rules::Moves;
use destination::Destination;
use hosts::Host;
use plan::{Task, plan, shared_with};
use program::Program;
use show::Outcome;

pub(super) fn install(args: &Args, install: &Install) -> anyhow::Result<()> {
    let destination = Destination::find(args, &install.wiring)?;
    match install.host.map(Host::of) {
        Some(host) => run(args, host, &install.wiring, &destination, Task::Install),
        None => offer::run(args, &destination, &install.wiring.command),
    }
}

pub(super) fn uninstall(args: &Args, uninstall: &Uninstall) -> anyhow::Result<()> {
    let destination = Destination::find(args, &uninstall.wiring)?;
    run(args, Host::of(uninstall.host), &uninstall.wiring, &destination, Task::Uninstall)
}

fn run(
    args: &Args,
    host: &Host,
    wiring: &Wiring,
    destination: &Destination,
    task: Task,
) -> anyhow::Result<()> {
    let program = Program::new(&wiring.command, host.name)
        .map_err(|fault| anyhow!("name the program's file with `--command`").context(fault))?;
    if wiring.personal && host.row().personal.is_empty() {
        let error = anyhow!(
            "`rulebook {} {} --user` edits your own files for every workspace",
            task.name(),
            host.name
        );
        return Err(error.context(format!("{} has no personal file in a workspace", host.title)));
    }
    let only_hooks = wiring.no_mcp || wiring.personal;
    let wanted = |file: &&HostFile| {
        (!only_hooks || file.wiring == Connection::Hook) && destination.path_of(host, file).is_some()
    };
    let mut files: Vec<&HostFile> = host.row().files.iter().filter(wanted).collect();
    let is_aider = host.name == "aider";
    if files.is_empty() && !is_aider {
        return Err(nothing_to_edit(host, wiring, task));
    }
    let mut kept = Vec::new();
    if task == Task::Uninstall {
        // In reverse order of installing: otherwise a file that holds two parts would not come back byte for byte.
        files.reverse();
        files.retain(|file| {
            let other = shared_with(host, file, destination, &wiring.command);
            let path = destination.path_of(host, file);
            kept.extend(other.zip(path).map(|(other, path)| (path.shown, other)));
            other.is_none()
        });
    }
    let former = host.row().former.iter().map(|file| (file, Task::Uninstall));
    let files: Vec<(&HostFile, Task)> = files.into_iter().map(|file| (file, task)).chain(former).collect();
    // Others may edit the same files: they wait until these are written.
    let lock = lock_folder(&destination.base);
    let mut changes = plan(&files, &program, host, destination)?;
    if is_aider {
        changes.extend(aider_reads::changes(args, destination, task)?);
    }
    let is_cline = host.name == "cline" && destination.is_shared();
    if wiring.move_rules && !is_cline {
        return Err(anyhow!("omit `--move-rules`")
            .context("`--move-rules` works only with `install cline`, without `--user`"));
    }
    let mut hints: Vec<String> = Vec::new();
    let mut renamed = Vec::new();
    if is_cline {
        let moves = match task {
            Task::Uninstall => cline_rules::out_of_folder(destination)?,
            Task::Install if wiring.move_rules => cline_rules::into_folder(args, destination)?,
            Task::Install => {
                Moves { hints: cline_rules::hint(args).into_iter().collect(), ..Moves::default() }
            }
        };
        changes.extend(moves.changes);
        hints.extend(moves.hints);
        renamed = moves.renamed;
    }
    if task == Task::Install {
        let path = std::env::var_os("PATH").unwrap_or_default();
        hints.extend(on_path::missing(&wiring.command, &path, &|file| file.is_file()));
    }
    if !wiring.dry_run {
        for change in &changes {
            change.write().with_context(|| format!("cannot write `{}`", change.path.shown))?;
        }
        // The team's switches have the same lock.
        drop(lock);
        cline_rules::switch_renamed(args, &renamed).context("cannot move the switches of moved rules")?;
        if task == Task::Uninstall {
            hints.extend(kept_server(&files, host, destination));
        }
    }
    let outcome = Outcome { host, task, destination, is_written: !wiring.dry_run, changes, kept, hints };
    out::print_answer(args.json, &outcome.json(), || outcome.text())
}

/// Says that a server stays because the user changed it.
fn kept_server(files: &[(&HostFile, Task)], host: &Host, destination: &Destination) -> Option<String> {
    let mut servers = files.iter().filter(|(file, _)| file.wiring == Connection::Mcp);
    let path = servers.find_map(|(file, _)| destination.path_of(host, file))?;
    let mut wired = destination.wired(host, &|_, _| false).into_iter();
    let stays = wired.any(|found| found.wiring == Connection::Mcp);
    stays
        .then(|| format!("the server `rulebook` in `{}` stays: it is not as `install` writes it", path.shown))
}

/// Says why no file of the host is edited, and what to do instead.
fn nothing_to_edit(host: &Host, wiring: &Wiring, task: Task) -> anyhow::Error {
    let (title, name, task) = (host.title, host.name, task.name());
    match wiring.no_mcp {
        true => anyhow!("omit `--no-mcp`").context(format!("{title} runs no hooks, only the MCP server")),
        false => anyhow!("`rulebook {task} {name} --user` edits your own file; in a workspace, start it with `rulebook proxy -- {name}`")
            .context(format!("{title} reads no MCP servers from a workspace")),
    }
}
