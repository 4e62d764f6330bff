//! The agents that an answer is for.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rulebook::agent::{Agent, Wiring};
use rulebook::matrix::{AgentColumn, CellState, RuleRow};
use rulebook_workspace::hosts::{HOSTS, Host};
use rulebook_workspace::{AgentSearch, UsedAgent, Viewpoint, Workspace};

use serde_json::json;

use super::sections::show_agent;
use super::session_log;
use crate::out::{self, BOLD, DIM, paint, plural};

/// The title of an answer for no particular agent.
pub(super) const AS_MEANT: &str = "rules as their headers say, independent of any agent";

/// Writes whom an answer is for.
pub(super) fn show_viewpoint(text: &mut String, view: Viewpoint, agents: &[UsedAgent]) {
    show_surface(text, view);
    match view {
        Viewpoint::Used => show_agents(text, agents),
        Viewpoint::Any => {
            let _ = writeln!(text, "{}\n", paint(BOLD, AS_MEANT));
        }
        Viewpoint::For(named) => show_for(text, named.agent, agents),
        Viewpoint::As(named) => show_agent(text, named.agent),
    }
}

/// Writes whom the answer is for, and how that agent is wired.
pub(super) fn show_for(text: &mut String, agent: &Agent, used: &[UsedAgent]) {
    let wired: Vec<&str> =
        used.iter().flat_map(|used| used.wired.iter()).map(|wiring| wiring.name()).collect();
    let wired =
        if wired.is_empty() { "not wired".to_owned() } else { format!("wired: {}", wired.join(", ")) };
    let _ = writeln!(
        text,
        "{}{}\n",
        paint(BOLD, format!("for {}", agent.title)),
        paint(DIM, format!(" ({wired})"))
    );
}

/// Writes which agents the answer is for, and where the list comes from.
pub(super) fn show_agents(text: &mut String, agents: &[UsedAgent]) {
    // Agents that one settings file names share its name.
    let mut origins: Vec<(&str, Vec<&str>)> = Vec::new();
    for used in agents {
        match origins.iter_mut().find(|(origin, _)| *origin == used.origin) {
            Some((_, names)) => names.push(used.agent.name),
            None => origins.push((&used.origin, vec![used.agent.name])),
        }
    }
    if let [(origin, names)] = origins.as_slice()
        && names.len() > 1
    {
        let _ = writeln!(text, "agents ({}): {}\n", out::clean(origin), names.join(", "));
        return;
    }
    let names: Vec<String> =
        agents.iter().map(|used| format!("{} ({})", used.agent.name, out::clean(&used.origin))).collect();
    let _ = match names.as_slice() {
        [] => writeln!(
            text,
            "agents: none found {}\n",
            paint(DIM, "(name yours in rulebook.toml: `[agents] used = [\"claude\"]`)")
        ),
        names => writeln!(text, "agents: {}\n", names.join(", ")),
    };
}

/// Returns the agents that an answer is for, by name, as JSON.
pub(super) fn agents_json(agents: &[UsedAgent]) -> serde_json::Value {
    let one = |used: &UsedAgent| {
        (used.agent.name.to_owned(), json!({ "wired": used.wired, "origin": used.origin }))
    };
    agents.iter().map(one).collect::<serde_json::Map<_, _>>().into()
}

/// Returns the hosts whose hooks ran Rulebook here and no longer do.
pub(super) fn lost_hosts(workspace: &Workspace) -> Vec<&'static str> {
    let is_lost = |host: &&Host| {
        let agent = Agent::named(host.agent);
        let wired = agent.map(|agent| workspace.wiring(agent, AgentSearch::WorkspaceAndHome));
        host.files.first().is_some_and(|file| file.wiring == Wiring::Hook)
            && wired.is_some_and(|wired| !wired.contains(&Wiring::Hook))
            && session_log::of_host(workspace, host.name).next().is_some()
    };
    HOSTS.iter().filter(is_lost).map(|host| host.name).collect()
}

/// Writes which hosts are no longer wired, and how to wire them again.
pub(super) fn show_lost(text: &mut String, lost: &[&str]) {
    for host in lost {
        let _ = writeln!(
            text,
            "{host} had sessions with Rulebook here, but its hooks no longer run it; run `rulebook install {host}`\n"
        );
    }
}

/// Writes which surface a product's name means.
pub(super) fn show_surface(text: &mut String, view: Viewpoint) {
    let (Viewpoint::For(named) | Viewpoint::As(named)) = view else { return };
    if let Some(note) = named.note() {
        let _ = writeln!(text, "{}\n", paint(DIM, note));
    }
}

/// The rules that wiring an agent would bring to it, by path and id, and what would become of them.
#[derive(Clone, Default)]
pub(super) struct IfWired(BTreeMap<(String, String), CellState>);

impl IfWired {
    pub(super) fn of(column: &AgentColumn<'_>, rows: &[RuleRow<'_>]) -> IfWired {
        let mut rules = IfWired::default();
        rules.add(column, rows);
        rules
    }

    /// Adds the rules of another target; a rule that applies to one of them applies.
    pub(super) fn add(&mut self, column: &AgentColumn<'_>, rows: &[RuleRow<'_>]) {
        let here = rows.iter().zip(&column.cells).filter(|(row, _)| !row.is_for_other_files);
        let states = here.filter_map(|(row, cell)| Some((row, cell.if_wired?)));
        states.for_each(|(row, state)| self.add_rule((row.origin.path.clone(), row.id.to_owned()), state));
    }

    /// How many rules.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    fn merge(&mut self, other: IfWired) {
        other.0.into_iter().for_each(|(rule, state)| self.add_rule(rule, state));
    }

    fn add_rule(&mut self, rule: (String, String), state: CellState) {
        self.0.entry(rule).and_modify(|known| *known = state.min(*known)).or_insert(state);
    }
}

/// Returns the commands that wire these agents, and how many rules each would add: all of them, or those for one target.
/// The surfaces of a host are wired by one command.
pub(super) fn install_hints<'u>(
    agents: impl IntoIterator<Item = (&'u UsedAgent, IfWired)>,
    target: Option<&str>,
) -> Vec<String> {
    let mut hosts: Vec<(&Host, IfWired)> = Vec::new();
    for (used, rules) in agents {
        let Some(host) = Host::of(used.agent).filter(|_| used.wired.is_empty()) else { continue };
        match hosts.iter_mut().find(|(known, _)| known.install_command() == host.install_command()) {
            Some((_, known)) => known.merge(rules),
            None => hosts.push((host, rules)),
        }
    }
    hosts.iter().filter_map(|(host, rules)| install_hint(host, rules, target)).collect()
}

fn install_hint(host: &Host, rules: &IfWired, target: Option<&str>) -> Option<String> {
    let count = |state| rules.0.values().filter(|known| **known == state).count();
    let (now, later) =
        if target.is_some() { ("in context", 0) } else { ("always on", count(CellState::Inactive)) };
    let stream = count(CellState::Stream);
    let kinds = [
        (count(CellState::Added), now),
        (later, "conditional"),
        (count(CellState::Offered), "offered"),
        (stream, if stream == 1 { "stream rule" } else { "stream rules" }),
    ];
    let kinds: Vec<(usize, &str)> = kinds.into_iter().filter(|(count, _)| *count > 0).collect();
    let total = kinds.iter().map(|(count, _)| count).sum();
    if total == 0 {
        return None;
    }
    let target = target.map(|target| format!(" {target}")).unwrap_or_default();
    let rules = match kinds.as_slice() {
        [(_, "in context" | "always on")] => format!("{}{target}", plural(total, "rule")),
        [_] if stream == total => format!("{}{target}", plural(stream, "stream rule")),
        [(_, kind)] => format!("{}{target}", plural(total, &format!("{kind} rule"))),
        kinds => {
            let words: Vec<String> = kinds.iter().map(|(count, kind)| format!("{count} {kind}")).collect();
            format!("{}{target}: {}", plural(total, "rule"), words.join(", "))
        }
    };
    Some(format!("`{}` would add {rules}", host.install_command()))
}
