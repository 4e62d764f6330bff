//! `install` without a host: lists the agents that are used here, each with the command that wires it.

use std::fmt::Write as _;

use rulebook::agent::Agent;
use rulebook_workspace::{AgentSearch, Homes, hosts};
use serde_json::{Value as Json, json};

use super::destination::Destination;
use super::hosts::{HOSTS, Host};
use super::plan::main_wiring;
use crate::args::Args;
use crate::input::open_workspace;
use crate::out::{self, BOLD, DIM, PLAIN, Table, VERSION, paint};

pub(super) fn run(args: &Args, destination: &Destination, command: &str) -> anyhow::Result<()> {
    let homes = Homes::from_environment();
    let mut rows = Vec::new();
    for host in HOSTS {
        let mut found = Vec::new();
        if !destination.is_user {
            let here = host.row().markers.iter().filter(|marker| destination.base.join(marker).exists());
            found.extend(here.map(|marker| (*marker).to_owned()));
        }
        let at_home =
            host.row().home_markers.iter().filter_map(|marker| host.row().user_path(&homes, marker));
        found.extend(at_home.filter(|marker| marker.path.exists()).map(|marker| marker.shown));
        if !found.is_empty() {
            rows.push((host, found, main_wiring(host, destination, command).is_some()));
        }
    }
    let line = |host: &Host| match destination.is_user {
        true => format!("rulebook install {} --user", host.name),
        false => host.row().install_command(),
    };
    if args.json {
        let hosts: Vec<Json> = rows
            .iter()
            .map(|(host, found, wired)| {
                let name = host.name;
                json!({ "name": name, "title": host.title, "found": found, "wired": wired, "command": line(host) })
            })
            .collect();
        let all: Vec<&str> = HOSTS.iter().map(|host| host.name).collect();
        return out::print_json(&json!({ "version": VERSION, "hosts": hosts, "all": all }));
    }
    let mut text = String::new();
    let mut table = Table::default();
    for (host, found, wired) in &rows {
        let (style, what) = if *wired { (DIM, "wired".to_owned()) } else { (BOLD, line(host)) };
        let others =
            host.row().surfaces.iter().filter_map(|surface| Some(Agent::named(surface.agent)?.title));
        let titles: Vec<&str> = std::iter::once(host.title).chain(others).collect();
        table.row([(PLAIN, &titles.join(", ")), (style, &what), (DIM, &found.join(", "))]);
    }
    if !destination.is_user {
        let used = open_workspace(args)?.agents_used(AgentSearch::Workspace);
        for used in used.iter().filter(|used| hosts::Host::of(used.agent).is_none()) {
            let what = "Rulebook cannot edit its settings: add `rulebook mcp` there yourself, or use `rulebook proxy`";
            table.row([(PLAIN, used.agent.title), (DIM, what), (DIM, &used.origin)]);
        }
    }
    if table.is_empty() {
        text.push_str("no agents found\n  help: run `rulebook install AGENT`\n");
    } else {
        text.push_str("agents found here\n");
        table.write(&mut text, 2, &table.widths());
    }
    let others: Vec<&str> = HOSTS
        .iter()
        .filter(|host| !rows.iter().any(|(found, ..)| found.name == host.name))
        .map(|host| host.name)
        .collect();
    if !others.is_empty() {
        let _ = writeln!(text, "{}", paint(DIM, format!("also supported: {}", others.join(", "))));
    }
    out::print(&text)
}
