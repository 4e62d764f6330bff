//! The agents that `--to` names.

use anyhow::anyhow;
use rulebook::agent::{Agent, NamedAgent, Purpose};
use rulebook::export::{TARGETS, Target};
use rulebook_workspace::hosts::Host;

use crate::out;

/// The targets of names, each once.
pub(in crate::surface) fn targets(names: &[String]) -> anyhow::Result<Vec<&'static Target>> {
    let mut found: Vec<&'static Target> = Vec::new();
    for name in names.iter().flat_map(|names| names.split(',')).map(str::trim).filter(|name| !name.is_empty())
    {
        let Some(target) = Target::named(name) else {
            if let Ok(NamedAgent { agent, .. }) = Agent::find(name, Purpose::View) {
                return Err(without_form(agent));
            }
            let known = TARGETS.iter().map(|target| target.name);
            let help = out::suggestion(
                name,
                known.clone(),
                &format!("use one of {}", known.collect::<Vec<_>>().join(", ")),
            );
            return Err(anyhow!(help).context(format!("cannot export to `{}`", out::clean(name))));
        };
        if !found.iter().any(|other| other.name == target.name) {
            found.push(target);
        }
    }
    Ok(found)
}

/// Returns the error for an agent that has no files to which rules can be copied.
fn without_form(agent: &Agent) -> anyhow::Error {
    let help = match Host::of(agent) {
        Some(host) => format!("`rulebook install {}` wires it to Rulebook", host.name),
        None => "`rulebook export --help` explains `--to`".to_owned(),
    };
    anyhow!(help).context(format!("rules cannot be copied for {} (`{}`)", agent.title, agent.name))
}
