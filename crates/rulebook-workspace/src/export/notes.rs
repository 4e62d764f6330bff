//! Notes: what people should know about a copy besides how it compares with its rule.

use std::collections::BTreeMap;
use std::path::Path;

use rulebook::agent::Agent;
use rulebook::export::{Draft, Form, Kind, Line, Target, compare_readings};
use rulebook::rule::Rule;

use super::pending::{Original, compare};
use crate::sources::Sources;
use crate::tree::Tree;

/// Returns what people should know about a copy that is written below a folder.
pub(super) fn notes_on(original: &Original<'_>, target: &Target, copy: &Draft, base: &Path) -> Vec<String> {
    let rule = original.meant.rule;
    let notes = [
        without_description(rule, target, copy),
        without_keys(rule),
        read_twice(original, copy),
        new_folder(target, copy, base),
    ];
    notes.into_iter().flatten().collect()
}

/// What people should know if a copy lacks the description of its rule: some agents offer what has one to the model.
fn without_description(rule: &Rule, target: &Target, copy: &Draft) -> Option<String> {
    let form = Kind::of(rule).map(|kind| target.form(kind));
    let has_one = matches!(form, Some(Form::Header(lines)) if lines.contains(&Line::Description));
    let is_lost = has_one && rule.description.is_some() && copy.rule.description.is_none();
    is_lost.then(|| {
        let title = target.title();
        format!("the copy has no description: {title} would also offer it to the model where no file matches")
    })
}

/// What people should know about keys of a rule that no other agent has.
fn without_keys(rule: &Rule) -> Option<String> {
    let usual = rule.origin.format.default_priority(rule.origin.place);
    let has_priority = rule.origin.format.priority.is_some() && rule.priority != usual;
    let keys = [("`priority`", has_priority), ("`repeat`", rule.repeat.is_some())];
    let lost: Vec<&str> = keys.iter().filter(|(_, is_lost)| *is_lost).map(|(key, _)| *key).collect();
    (!lost.is_empty()).then(|| format!("the copy does not have the rule's {}", lost.join(" and ")))
}

/// What people should know if the agent of a rule reads the copy too.
fn read_twice(original: &Original<'_>, copy: &Draft) -> Option<String> {
    let rule = original.meant.rule;
    let agent = Agent::owner_of(rule.origin.format.id)?;
    let title = agent.title;
    let is_import = rule.imports.iter().any(|import| import.path.ends_with(&format!("/{}", copy.path)));
    if is_import {
        return Some(format!(
            "`{}` imports the file of the copy, so {title} gets the rule twice",
            original.path
        ));
    }
    let reads = Target::named(agent.name).is_some_and(|own| own.reads(&copy.path).is_some());
    reads.then(|| format!("{title} also reads the copy, so it gets the rule twice"))
}

/// What people should know if a copy in the file of a folder makes this folder.
fn new_folder(target: &Target, copy: &Draft, base: &Path) -> Option<String> {
    let (folder, _) = copy.path.rsplit_once('/').filter(|_| target.is_block())?;
    let is_new = !base.join(folder).exists();
    is_new.then(|| format!("the copy makes the folder `{folder}`, which does not exist"))
}

/// Notes for each rule on which files of the tree its own agent does not document what it does.
pub(super) fn doubts(originals: &[Original<'_>], sources: &Sources<'_>, tree: &Tree) -> Vec<Option<String>> {
    let owner = |one: &Original<'_>| {
        let rule = one.meant.rule;
        Agent::owner_of(rule.origin.format.id).filter(|_| Kind::of(rule) == Some(Kind::Paths))
    };
    let mut natives = BTreeMap::new();
    for agent in originals.iter().filter_map(owner) {
        natives.entry(agent.name).or_insert_with(|| sources.native(agent));
    }
    let read: BTreeMap<(&str, &str), &Rule> = natives
        .iter()
        .flat_map(|(agent, native)| native.book.rules().map(move |(rule, _)| (agent, rule)))
        .map(|(agent, rule)| ((*agent, rule.origin.path.as_str()), rule))
        .collect();
    let own = |one: &Original<'_>| {
        let agent = owner(one)?;
        let own = *read.get(&(agent.name, one.meant.rule.origin.path.as_str()))?;
        (compare_readings(&one.meant, own).near.unknown.count > 0).then_some((agent, own))
    };
    let found: Vec<Option<(&Agent, &Rule)>> = originals.iter().map(own).collect();
    let pairs = originals.iter().zip(&found).filter_map(|(one, own)| Some([one.meant.rule, own.as_ref()?.1]));
    let mut tallies = compare(pairs.collect(), tree).into_iter();
    let mut note = |own: &Option<(&Agent, &Rule)>| {
        let (agent, _) = own.as_ref()?;
        let unknown = tallies.next()?.unknown;
        let path = unknown.example?;
        let more = if unknown.count > 1 { format!(" and {} more", unknown.count - 1) } else { String::new() };
        Some(format!("{} does not document whether it applies the rule to `{path}`{more}", agent.title))
    };
    found.iter().map(&mut note).collect()
}
