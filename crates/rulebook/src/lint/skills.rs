//! `skill-collision` and `skill-budget`: skills that an agent reads together.

use std::collections::BTreeMap;

use super::copy::says_the_same;
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
    let mut collisions: BTreeMap<(&str, &str), Collision<'_>> = BTreeMap::new();
    for agent in agents {
        let mut first: BTreeMap<&str, &Rule> = BTreeMap::new();
        for rule in skills.iter().filter(|rule| reads(agent, rule)) {
            let other = *first.entry(&rule.id).or_insert(rule);
            if !is_copy(rule, other) {
                let paths = (rule.origin.display.as_str(), other.origin.display.as_str());
                let collision = collisions.entry(paths).or_insert_with(|| Collision {
                    rule,
                    other,
                    agents: Vec::new(),
                    is_for_others: false,
                });
                collision.agents.push(agent.title);
                collision.is_for_others |=
                    AGENTS.iter().any(|agent| reads(agent, rule) != reads(agent, other));
            }
        }
    }
    // A tool that writes the skills of several agents writes them alike, but not equally.
    let mut versions: BTreeMap<_, Vec<Collision<'_>>> = BTreeMap::new();
    for collision in collisions.into_values() {
        match collision.is_version() {
            true => versions.entry(collision.folders()).or_default().push(collision),
            false => diagnostics.push(collision.report()),
        }
    }
    diagnostics.extend(versions.into_values().filter_map(|versions| report_versions(&versions)));
    if let Some(claude) = agents.iter().find(|agent| agent.owns == Some(FormatId::Claude)) {
        diagnostics.extend(over_budget(claude, &skills));
    }
}

/// Two different skills of one name.
struct Collision<'r> {
    rule: &'r Rule,
    other: &'r Rule,
    /// The agents that read both.
    agents: Vec<&'static str>,
    /// Whether other agents read only one of the two.
    is_for_others: bool,
}

impl<'r> Collision<'r> {
    /// Whether they are one skill in two versions: each is for other agents, and both are described alike.
    fn is_version(&self) -> bool {
        let [one, other] =
            [self.rule, self.other].map(|rule| rule.description.as_deref().unwrap_or_default());
        let is_alike = one == other || says_the_same(one, other) || says_the_same(other, one);
        self.is_for_others && is_alike
    }

    /// The folders that hold them, as shown to people, and the agents.
    fn folders(&self) -> (&'r str, &'r str, Vec<&'static str>) {
        (folder(self.rule), folder(self.other), self.agents.clone())
    }

    fn report(&self) -> Diagnostic {
        let Collision { rule, other, agents, is_for_others } = self;
        let message = format!(
            "is another skill of the same name as `{}` for {}",
            other.origin.display,
            agents.join(", ")
        );
        let found = Diagnostic::whole(Code::SkillCollision, &rule.origin.display, message);
        match is_for_others {
            // Renaming or removing one would take it from an agent.
            true => found.severity(Severity::Note).help(EQUAL),
            false => found,
        }
    }
}

const EQUAL: &str = "other agents read only one of the two: make the texts equal, or link one to the other";

/// Reports the skills of two folders that are different versions of each other.
fn report_versions(versions: &[Collision<'_>]) -> Option<Diagnostic> {
    let [first, others @ ..] = versions else { return None };
    if others.is_empty() {
        return Some(first.report());
    }
    let (own, other, agents) = first.folders();
    let message = format!(
        "{} skills differ from those of the same names in `{other}` for {}",
        versions.len(),
        agents.join(", ")
    );
    let compare = |one: &Collision<'_>| format!("compare with `{}`", one.other.origin.display);
    let all = versions.iter().map(|one| (one.rule.origin.display.clone(), compare(one)));
    let help =
        "other agents read only one of each two: make the texts equal, or link one folder to the other";
    let found = Diagnostic::whole(Code::SkillCollision, own, message).severity(Severity::Note).help(help);
    Some(found.others(all))
}

/// Returns the folder that holds the folder of a skill.
fn folder(skill: &Rule) -> &str {
    let own = skill.origin.display.rsplit_once('/').map_or("", |(own, _)| own);
    own.rsplit_once('/').map_or("", |(folder, _)| folder)
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
