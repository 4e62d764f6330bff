//! `skill-collision` and `skill-budget`: skills that an agent reads together.

use std::collections::BTreeMap;

use crate::agent::{AGENTS, Agent};
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::evaluate::Lines;
use crate::format::{FormatId, Place};
use crate::rule::Rule;
use crate::source::Scope;

/// The size of all descriptions, in characters, beyond which Claude Code cuts the list of skills.
const MAX_TOTAL: usize = 15_000;

/// Reports different skills of one name that an agent used here reads, and a list of skills that is too long.
pub(super) fn lint(rules: &[&Rule], agents: &[&'static Agent], diagnostics: &mut Vec<Diagnostic>) {
    let skills: Vec<&Rule> = rules.iter().copied().filter(|rule| is_skill(rule)).collect();
    // What agents read alike is reported once.
    let mut collisions: BTreeMap<(&str, &str), (Vec<&str>, bool)> = BTreeMap::new();
    for agent in agents {
        let mut first: BTreeMap<&str, &Rule> = BTreeMap::new();
        for rule in skills.iter().filter(|rule| reads(agent, rule)) {
            let other = *first.entry(&rule.id).or_insert(rule);
            if !is_copy(rule, other) {
                let paths = (rule.origin.display.as_str(), other.origin.display.as_str());
                let (agents, is_for_others) = collisions.entry(paths).or_default();
                agents.push(agent.title);
                *is_for_others = AGENTS.iter().any(|agent| reads(agent, rule) != reads(agent, other));
            }
        }
    }
    diagnostics.extend(collisions.into_iter().map(|((path, other), (agents, is_for_others))| {
        let message = format!("is another skill of the same name as `{other}` for {}", agents.join(", "));
        let found = Diagnostic::whole(Code::SkillCollision, path, message);
        match is_for_others {
            // Renaming or removing one would take it from an agent.
            true => found.severity(Severity::Note).help(
                "other agents read only one of the two: make the texts equal, or link one to the other",
            ),
            false => found,
        }
    }));
    if let Some(claude) = agents.iter().find(|agent| agent.owns == Some(FormatId::Claude)) {
        diagnostics.extend(over_budget(claude, &skills));
    }
}

/// Whether an agent reads a skill, and only if its name is that of its folder.
pub fn requires_skill_name(agent: &Agent, skill: &Rule) -> bool {
    let mut own = agent.formats.iter().filter(|format| format.id == FormatId::Skill);
    own.any(|format| format.needs_folder_name) && reads(agent, skill)
}

fn over_budget(agent: &Agent, skills: &[&Rule]) -> Option<Diagnostic> {
    let read: Vec<&Rule> = skills.iter().copied().filter(|rule| reads(agent, rule)).collect();
    let total: usize = read.iter().map(|rule| size(rule)).sum();
    let longest = read.iter().max_by_key(|rule| size(rule)).filter(|_| total > MAX_TOTAL)?;
    let message = format!(
        "the descriptions of {} skills have {total} characters, and {} lists at most {MAX_TOTAL}; this is the longest one",
        read.len(),
        agent.title
    );
    Some(Diagnostic::whole(Code::SkillBudget, &longest.origin.display, message))
}

/// Whether both have the same text but for some lines: one skill, written for several agents.
fn is_copy(rule: &Rule, other: &Rule) -> bool {
    rule.body == other.body || Lines::of(&rule.body).is_copy_of(&Lines::of(&other.body))
}

fn is_skill(rule: &Rule) -> bool {
    rule.origin.format.id == FormatId::Skill
}

fn size(rule: &Rule) -> usize {
    rule.name.len() + rule.description.as_ref().map_or(0, |description| description.chars().count())
}

/// Whether an agent reads the folder of a skill.
pub fn reads(agent: &Agent, rule: &Rule) -> bool {
    let is_place =
        |place: &Place| (place.base, place.path) == (rule.origin.place.base, rule.origin.place.path);
    agent.formats.iter().filter(|format| format.id == FormatId::Skill).any(|format| match rule.origin.scope {
        Scope::User => format.user.iter().any(is_place),
        _ => format.workspace.iter().any(is_place),
    })
}
