//! Bystanders: agents that are used here, but that this export is not for. Some read the same files.

use std::collections::HashMap;

use rulebook::agent::{AGENTS, Agent};
use rulebook::export::{Allow, Loss, Meant, Target, compare_readings, reread};

use super::ExportOptions;
use super::pending::Pending;
use crate::agents::AgentSearch;
use crate::sources::Sources;

/// Leaves out the copies in the own folder of an agent used here that it would apply to more than meant, and notes other
/// copies that it would apply so.
pub(super) fn spare(pending: &mut [Pending<'_>], sources: &Sources<'_>, options: &ExportOptions) {
    // In another folder, agents do not read the rules of this workspace.
    if options.dir.is_some() {
        return;
    }
    let used = sources.workspace().agents_used(AgentSearch::Workspace);
    let others = used.iter().filter_map(|used| Target::named(used.agent.name));
    let others: Vec<&'static Target> =
        others.filter(|other| options.to.iter().all(|target| target.name != other.name)).collect();
    // By the file of the rule and of the copy, which several targets may share.
    let mut spoiled: HashMap<(&str, String), &'static str> = HashMap::new();
    for one in pending.iter_mut() {
        for other in &others {
            if !is_wider(one, other, sources) {
                continue;
            }
            let title = other.title();
            match &one.draft {
                Ok(copy) if options.allow < Allow::Wider && other.holder == one.target.holder => {
                    spoiled.insert((&one.rule().origin.path, copy.path.clone()), title);
                }
                _ => one.notes.push(format!(
                    "{title}, used here, also reads the copy, and applies it to more than meant"
                )),
            }
        }
    }
    for one in pending.iter_mut().filter(|_| !spoiled.is_empty()) {
        let source = &one.rule().origin.path;
        let title =
            one.draft.as_ref().ok().and_then(|copy| spoiled.get(&(source.as_str(), copy.path.clone())));
        if let Some(title) = title {
            one.draft = Err(Loss::Spoiled { title: (*title).to_owned() });
        }
    }
}

/// What people should know about a rule that another surface of its product reads differently.
pub(super) fn other_reading(meant: &Meant<'_>, path: &str, text: &str) -> Option<String> {
    let origin = &meant.rule.origin;
    let owner = Agent::owner_of(origin.format.id)?;
    let own = Target::named(owner.name)?;
    let is_other = |other: &&&'static Agent| {
        other.name != owner.name
            && other.product().is_some_and(|product| product.surfaces.contains(&owner.name))
    };
    let differs = |other: &&'static Target| {
        let has_dialect = other.reads(path).is_some_and(|read| read.format.dialect != origin.format.dialect);
        has_dialect && reread(meant, other, path, text).is_some_and(|read| !read.proof.is_same())
    };
    let others = AGENTS.iter().filter(|agent| is_other(&agent)).filter_map(|agent| Target::named(agent.name));
    let other = others.filter(|other| other.holder == own.holder).find(differs)?;
    let (title, name) = (other.title(), other.name);
    Some(format!("{title} reads the patterns of this file differently; `--from {name}` copies what it reads"))
}

/// Whether another agent would apply a new copy to more than was meant, and does not apply the rule so already.
fn is_wider(one: &Pending<'_>, other: &'static Target, sources: &Sources<'_>) -> bool {
    let Some(copy) =
        one.draft.as_ref().ok().filter(|copy| one.read_from.is_none() && !copy.rule.is_located())
    else {
        return false;
    };
    let meant = &one.original.meant;
    let Some(read) = reread(meant, other, &copy.path, &copy.text).filter(|read| read.proof.is_wider()) else {
        return false;
    };
    let native = other.agent().map(|agent| sources.native(agent));
    let rules = native.iter().flat_map(|native| native.book.rules()).map(|(rule, _)| rule);
    let own = rules.filter(|rule| rule.origin.path == meant.rule.origin.path);
    !own.map(|own| compare_readings(meant, own)).any(|own| own.is_as_close_as(&read.proof) && own.is_wider())
}
