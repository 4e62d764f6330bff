//! Bystanders: agents that are used here, but that this export is not for. Some read the same files.

use std::cell::OnceCell;
use std::collections::HashMap;

use rulebook::agent::{AGENTS, Agent};
use rulebook::export::{Allow, Loss, Meant, Target, compare_readings, reread};
use rulebook::rule::Rule;

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
    let others = others.filter(|other| options.to.iter().all(|target| target.name != other.name));
    let others: Vec<Bystander> = others.map(|target| Bystander { target, native: OnceCell::new() }).collect();
    // By the file of the rule and of the copy, which several targets may share.
    let mut spoiled: HashMap<(&str, String), &'static str> = HashMap::new();
    for one in pending.iter_mut() {
        for other in &others {
            if !other.is_wider(one, sources) {
                continue;
            }
            let (other, title) = (other.target, other.target.title());
            match &one.draft {
                Ok(copy) if options.allow < Allow::Wider && other.holder == one.target.holder => {
                    spoiled.insert((&one.rule().origin.path, copy.path.clone()), title);
                }
                _ => one.notes.push(format!(
                    "{title}, used here, also reads the copy, and applies it to more files than the rule does"
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

/// An agent that is used here, but that this export is not for.
struct Bystander {
    target: &'static Target,
    /// What it reads here already, by file. Most exports need it for no rule.
    native: OnceCell<HashMap<String, Rule>>,
}

impl Bystander {
    /// Whether it would apply a new copy to more than was meant, and does not apply the rule so already.
    fn is_wider(&self, one: &Pending<'_>, sources: &Sources<'_>) -> bool {
        let is_new = one.read_from.is_none() && !one.target.is_block();
        let Some(copy) = one.draft.as_ref().ok().filter(|_| is_new) else { return false };
        let meant = &one.original.meant;
        let read = reread(meant, self.target, &copy.path, &copy.text);
        let Some(read) = read.filter(|read| read.proof.is_wider()) else { return false };
        let native = || {
            let native = self.target.agent().map(|agent| sources.native(agent));
            let rules = native.iter().flat_map(|native| native.book.rules());
            rules.map(|(rule, _)| (rule.origin.path.clone(), rule.clone())).collect()
        };
        let own = self.native.get_or_init(native).get(&meant.rule.origin.path);
        !own.map(|own| compare_readings(meant, own))
            .is_some_and(|own| own.is_wider() && own.is_as_close_as(&read.proof))
    }
}
