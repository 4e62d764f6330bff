//! Finds the agents that are used here, and offers to wire them.

use std::fmt::Write as _;
use std::process::ExitCode;

use rulebook_workspace::Homes;
use serde_json::{Value as Json, json};

use super::hosts::{HOSTS, Host};
use super::is_wired;
use super::target::{Target, host_spot};
use crate::args::Args;
use crate::out::{self, BOLD, DIM, PLAIN, Table, VERSION, paint};

/// The agents that are used here, each with the command that wires it.
pub(super) fn run(args: &Args, place: &Target, command: &str) -> anyhow::Result<ExitCode> {
    let home = Homes::from_environment().home;
    let mut rows = Vec::new();
    for host in HOSTS {
        let mut found = Vec::new();
        if !place.is_user {
            let here = host.signs.iter().filter(|sign| place.base.join(sign).exists());
            found.extend(here.map(|sign| (*sign).to_owned()));
        }
        let at_home =
            home.iter().flat_map(|home| host.home_signs.iter().map(|sign| host_spot(host, home, sign)));
        found.extend(at_home.filter(|spot| spot.path.exists()).map(|spot| spot.shown));
        if !found.is_empty() {
            rows.push((host, found, is_wired(host, place, command)));
        }
    }
    let flag = if place.is_user { " --user" } else { "" };
    let line = |host: &Host| format!("rulebook install {}{flag}", host.id.name());
    if args.json {
        let hosts: Vec<Json> = rows
            .iter()
            .map(|(host, found, wired)| {
                let name = host.id.name();
                json!({ "name": name, "title": host.title, "found": found, "wired": wired, "command": line(host) })
            })
            .collect();
        let all: Vec<&str> = HOSTS.iter().map(|host| host.id.name()).collect();
        out::print_json(&json!({ "version": VERSION, "hosts": hosts, "all": all }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = String::new();
    let mut table = Table::default();
    for (host, found, wired) in &rows {
        let (style, what) = if *wired { (DIM, "wired".to_owned()) } else { (BOLD, line(host)) };
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
        .filter(|host| !rows.iter().any(|(found, ..)| found.id == host.id))
        .map(|host| host.id.name())
        .collect();
    if !others.is_empty() {
        let _ = writeln!(text, "{}", paint(DIM, format!("also known: {}", others.join(", "))));
    }
    out::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
