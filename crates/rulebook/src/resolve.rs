//! Resolving: rules in their order, with what is switched off.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::agent::{Agent, Conflicts, Order};
use crate::condition::Needs;
use crate::diagnostic::nearest;
use crate::id::rule_name;
use crate::parse::{Entry, Rejected};
use crate::rule::{Rank, Rule, Step};

/// Every rule there is, in the order of precedence.
#[derive(Clone, Debug, Default)]
pub struct Rulebook {
    #[allow(clippy::vec_box, reason = "rules are large: sorting moves the boxes only")]
    rules: Vec<Box<Rule>>,
    /// Beside `rules`: who switched it off.
    off: Vec<Option<Off>>,
    rejected: Vec<Rejected>,
    conflicts: Conflicts,
}

/// What people switched off, outside the rule files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Switches {
    /// Everything is off, and this is why.
    pub all: Option<Off>,
    /// Single rules by id; the first that names a rule is told.
    pub ids: Vec<(String, Off)>,
}

/// Who switched a rule off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Off {
    /// `toggle`, `rules.disabled_ids`, `rules.enabled`, `enabled: false`.
    pub by: String,
    /// The file that says so, where there is one.
    pub file: Option<String>,
}

/// Orders rules and applies the switches.
pub fn resolve(entries: impl IntoIterator<Item = Entry>, switches: &Switches) -> Rulebook {
    let mut book = Rulebook::of(entries);
    book.rules.sort_by(|a, b| (a.rank(), &a.origin.path).cmp(&(b.rank(), &b.origin.path)));
    book.switch(switches);
    book
}

/// Orders rules as an agent itself does, which knows no switches.
pub fn resolve_as(entries: impl IntoIterator<Item = Entry>, agent: &Agent) -> Rulebook {
    let mut book = Rulebook { conflicts: agent.conflicts, ..Rulebook::of(entries) };
    match agent.order {
        Order::WorkspaceFirst => book.rules.sort_by(|a, b| a.rank().cmp(&b.rank())),
        // From what is far to what is near: the user's, the root's, the folder's.
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
        let mut tombs: BTreeMap<&str, &Rule> = BTreeMap::new();
        for rule in &self.rules {
            let switched = switches.ids.iter().find(|(id, _)| *id == rule.id).map(|(_, off)| off.clone());
            let off = switches
                .all
                .clone()
                .or(switched)
                .or_else(|| tombs.get(rule.id.as_str()).map(|tomb| tomb.tombstone()))
                .filter(|_| !rule.is_mandatory)
                .or_else(|| (!rule.enabled).then(|| Off { by: "enabled: false".to_owned(), file: None }));
            // One in a nested folder speaks for its folder only; that depends on the evidence.
            if !rule.enabled && rule.origin.folder.is_empty() {
                tombs.entry(&rule.id).or_insert(rule);
            }
            self.off.push(off);
        }
    }
}

impl Rule {
    /// How a rule with `enabled: false` switches others off.
    pub(crate) fn tombstone(&self) -> Off {
        Off { by: "enabled: false".to_owned(), file: Some(self.origin.display.clone()) }
    }
}

impl Rulebook {
    /// The rules in order, each with who switched it off.
    pub fn rules(&self) -> impl ExactSizeIterator<Item = (&Rule, Option<&Off>)> {
        self.rules.iter().map(Box::as_ref).zip(self.off.iter().map(Option::as_ref))
    }

    /// What becomes of rules of one id.
    pub fn conflicts(&self) -> Conflicts {
        self.conflicts
    }

    /// Files that are no rules, by path.
    pub fn rejected(&self) -> &[Rejected] {
        &self.rejected
    }

    /// Facts that some rule asks for and somebody has to look up.
    pub fn needs(&self) -> Needs {
        self.rules()
            .filter(|(_, off)| off.is_none())
            .flat_map(|(rule, _)| &rule.conditions)
            .map(|c| c.needs())
            .fold(Needs::default(), Needs::or)
    }

    /// The rules that are switched on and share a rule's id or its text, in order, each with the step that decides
    /// between the two where both apply.
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

    /// Every id a rule or a rejected file has, sorted.
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

    /// The rule `rule://name` stands for: the highest of that name that is not switched off.
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

/// There is no such rule; there are these, nearest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownRule {
    /// What was asked for.
    pub name: String,
    /// What there is.
    pub known: Vec<String>,
}
