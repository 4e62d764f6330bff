//! Resolving: orders the rules and applies the switches.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::agent::{Agent, Conflicts, Order};
use crate::condition::Needs;
use crate::diagnostic::nearest;
use crate::id::rule_name;
use crate::parse::{Entry, Rejected};
use crate::rule::{Rank, Rule, Step};
use crate::words::words;

/// All rules, in the order of precedence.
#[derive(Clone, Debug, Default)]
pub struct Rulebook {
    #[allow(clippy::vec_box, reason = "rules are large: sorting moves the boxes only")]
    rules: Vec<Box<Rule>>,
    /// For each of `rules`: what switched it off.
    off: Vec<Option<Off>>,
    rejected: Vec<Rejected>,
    conflicts: Conflicts,
}

/// What people switched off, outside the rule files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Switches {
    /// Switches everything off.
    pub all: Option<Off>,
    /// Switches off rules by id; the first entry for an id counts.
    pub ids: Vec<(String, Off)>,
}

/// What switched a rule off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Off {
    /// The kind of switch.
    pub by: OffBy,
    /// The file with the switch, if there is one.
    pub file: Option<String>,
}

words! {
    /// The kind of switch that turned a rule off.
    OffBy {
        /// The user's own toggle.
        Toggle = "toggle",
        /// A list of ids in the settings.
        DisabledIds = "rules.disabled_ids",
        /// The setting for all rules.
        Enabled = "rules.enabled",
        /// The header of the rule, or of one of the same id and higher rank.
        Header = "enabled: false",
    }
}

/// Orders rules and applies the switches.
#[must_use]
pub fn resolve(entries: impl IntoIterator<Item = Entry>, switches: &Switches) -> Rulebook {
    let mut book = Rulebook::of(entries);
    book.rules.sort_by(|a, b| (a.rank(), &a.origin.path).cmp(&(b.rank(), &b.origin.path)));
    book.switch(switches);
    book
}

/// Orders rules as an agent does by itself, without switches.
#[must_use]
pub fn resolve_as(entries: impl IntoIterator<Item = Entry>, agent: &Agent) -> Rulebook {
    let mut book = Rulebook { conflicts: agent.conflicts, ..Rulebook::of(entries) };
    match agent.order {
        Order::WorkspaceFirst => book.rules.sort_by(|a, b| a.rank().cmp(&b.rank())),
        // From far to near: the user's rules, the root's, then those of folders.
        Order::UserFirst => {
            fn key(rule: &Rule) -> impl Ord + '_ {
                let Rank { scope, format, depth, place, path, .. } = rule.rank();
                (Reverse(scope), Reverse(depth), format, place, path)
            }
            book.rules.sort_by(|a, b| key(a).cmp(&key(b)));
        }
    }
    book.switch(&Switches::default());
    book
}

impl Rulebook {
    fn of(entries: impl IntoIterator<Item = Entry>) -> Rulebook {
        let mut book = Rulebook::default();
        for entry in entries {
            match entry {
                Entry::Rule(rule) => book.rules.push(rule),
                Entry::Rejected(rejected) => book.rejected.push(*rejected),
            }
        }
        book.rejected
            .sort_by(|a, b| (&a.origin.display, &a.origin.path).cmp(&(&b.origin.display, &b.origin.path)));
        book
    }

    fn switch(&mut self, switches: &Switches) {
        let mut switched_off: BTreeMap<&str, &Rule> = BTreeMap::new();
        for rule in &self.rules {
            let by_id = switches.ids.iter().find(|(id, _)| *id == rule.id).map(|(_, off)| off.clone());
            let off = switches
                .all
                .clone()
                .or(by_id)
                .or_else(|| switched_off.get(rule.id.as_str()).map(|other| other.switched_off_here()))
                .filter(|_| !rule.is_mandatory)
                .or_else(|| (!rule.enabled).then_some(Off { by: OffBy::Header, file: None }));
            // A nested one counts for its folder only, which depends on the evidence.
            if !rule.enabled && rule.origin.folder.is_empty() {
                switched_off.entry(&rule.id).or_insert(rule);
            }
            self.off.push(off);
        }
    }
}

impl Rule {
    /// Returns the switch that a rule with `enabled: false` is for others.
    pub(crate) fn switched_off_here(&self) -> Off {
        Off { by: OffBy::Header, file: Some(self.origin.display.clone()) }
    }
}

impl Rulebook {
    /// Returns the rules in order, each with what switched it off.
    pub fn rules(&self) -> impl ExactSizeIterator<Item = (&Rule, Option<&Off>)> {
        self.rules.iter().map(Box::as_ref).zip(self.off.iter().map(Option::as_ref))
    }

    /// Returns what happens to rules of one id.
    pub(crate) fn conflicts(&self) -> Conflicts {
        self.conflicts
    }

    /// Returns the rejected files, sorted by path.
    pub fn rejected(&self) -> &[Rejected] {
        &self.rejected
    }

    /// Returns the facts that some rule needs and that must be looked up.
    pub fn needs(&self) -> Needs {
        self.rules()
            .filter(|(_, off)| off.is_none())
            .flat_map(|(rule, _)| &rule.conditions)
            .map(|c| c.needs())
            .fold(Needs::default(), Needs::or)
    }

    /// Returns the enabled rules that share a rule's id or text, in order, with the step that decides when both apply.
    pub fn rivals<'b>(&'b self, rule: &'b Rule) -> impl Iterator<Item = (&'b Rule, Step)> {
        let is_on =
            |(other, off): &(&Rule, Option<&Off>)| off.is_none() && other.origin.path != rule.origin.path;
        self.rules().filter(is_on).filter_map(|(other, _)| {
            let step = match () {
                () if other.id == rule.id => other.rank().decided_by(&rule.rank()),
                () if !rule.body.is_empty() && other.body == rule.body => Step::Duplicate,
                () => return None,
            };
            Some((other, step))
        })
    }

    /// Returns the ids of all rules and rejected files, sorted.
    pub fn ids(&self) -> Vec<&str> {
        let mut ids: Vec<&str> = self
            .rules
            .iter()
            .map(|rule| rule.id.as_str())
            .chain(self.rejected.iter().map(|r| r.id.as_str()))
            .collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// Returns the rule that `rule://name` refers to: the highest enabled rule of that name.
    pub fn read(&self, name: &str) -> Result<&Rule, UnknownRule> {
        let name = rule_name(name);
        let readable = || self.rules().filter(|(_, off)| off.is_none()).map(|(rule, _)| rule);
        readable()
            .find(|rule| rule.name == name)
            .or_else(|| readable().find(|rule| rule.is_called(&name)))
            .ok_or_else(|| {
                let mut names: Vec<String> = readable().map(|rule| rule.name.clone()).collect();
                names.sort_unstable();
                names.dedup();
                let distance = |other: &String| {
                    (nearest(&name, [other.as_str()]).is_none(), strsim::damerau_levenshtein(&name, other))
                };
                names.sort_by_cached_key(distance);
                UnknownRule { name, known: names }
            })
    }
}

/// No rule has that name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownRule {
    /// The requested name.
    pub name: String,
    /// The names of all rules, most similar first.
    pub known: Vec<String>,
}

impl std::fmt::Display for UnknownRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "no rule is named `{}`", self.name)
    }
}

impl std::error::Error for UnknownRule {}
