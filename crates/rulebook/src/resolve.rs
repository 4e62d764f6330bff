//! Resolving: orders the rules and applies the switches.

mod lookup;

use std::cmp::Reverse;

use foldhash::{HashMap, HashSet, HashSetExt as _};

use crate::agent::{Agent, Arrival, Conflicts, Order};
use crate::condition::Needs;
use crate::diagnostic::nearest;
use crate::format::FormatId;
use crate::id::rule_name;
use crate::parse::{Entry, Rejected};
use crate::rule::{Rank, Rule};
use crate::source::Scope;
use crate::words::words;
use lookup::lookup;

/// All rules, in the order of precedence.
#[derive(Clone, Debug, Default)]
pub struct Rulebook {
    #[allow(clippy::vec_box, reason = "rules are large: sorting moves the boxes only")]
    rules: Vec<Box<Rule>>,
    /// For each of `rules`: what switched it off.
    off: Vec<Option<Off>>,
    rejected: Vec<Rejected>,
    policy: Policy,
}

/// Which rules of one id override each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Policy {
    /// Rules as their authors meant them.
    Meant(Identity),
    /// Rules as one agent reads them.
    Native(Conflicts, Arrival),
}

impl Default for Policy {
    fn default() -> Policy {
        Policy::Meant(Identity::Format)
    }
}

words! {
    /// What identifies a rule: whether a same id overrides rules of other formats too.
    Identity {
        /// Each format has its own names.
        Format = "format",
        /// A name is one rule, in all formats.
        Name = "name",
    }
}

/// What people switched off, outside the rule files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Switches {
    /// Switches everything off.
    pub all: Option<Off>,
    /// Switches off rules by file, key or id; the first entry for a rule counts.
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
        /// The user's own toggle for every workspace.
        UserToggle = "toggle --user",
        /// A list of ids in the settings.
        DisabledIds = "rules.disabled_ids",
        /// The setting for all rules.
        Enabled = "rules.enabled",
        /// The header of the rule, or of one of the same id and higher rank.
        Header = "enabled: false",
        /// The header of the rule, with Cline's key.
        Disabled = "disabled: true",
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
    let mut book =
        Rulebook { policy: Policy::Native(agent.conflicts, agent.arrival), ..Rulebook::of(entries) };
    match agent.order {
        // An agent that uses one file of each name takes the nearest.
        Order::WorkspaceFirst if agent.conflicts == Conflicts::FirstWins => {
            book.rules.sort_by(|a, b| a.rank().cmp(&b.rank()));
        }
        Order::WorkspaceFirst => book.rules.sort_by(|a, b| a.reading_rank().cmp(&b.reading_rank())),
        Order::ByFormat => {
            fn key(rule: &Rule) -> impl Ord + '_ {
                let Rank { scope, format, place, path, .. } = rule.rank();
                let is_later = (scope == Scope::User) != rule.origin.format.user_first;
                (format, is_later, scope, place, path)
            }
            book.rules.sort_by(|a, b| key(a).cmp(&key(b)));
        }
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
        let mut named: Vec<Option<&Off>> = vec![None; self.rules.len()];
        let names: Vec<&str> = switches.ids.iter().map(|(name, _)| name.as_str()).collect();
        for (found, (_, off)) in lookup(&self.rules, &names).into_iter().zip(&switches.ids) {
            found.into_iter().for_each(|at| named[at] = named[at].or(Some(off)));
        }
        let mut switched_off: HashMap<(&str, FormatId), Vec<&Rule>> = HashMap::default();
        for (rule, named) in self.rules.iter().zip(named) {
            let key = (rule.id.as_str(), rule.origin.format.id);
            let same_key = switched_off.get(&key).into_iter().flatten();
            let by_header = same_key.copied().find(|other| !other.is_of_other_root(rule));
            let off = switches
                .all
                .clone()
                .or(named.cloned())
                .or_else(|| by_header.map(|other| other.switched_off_here()))
                .filter(|_| !rule.is_mandatory)
                .or_else(|| (!rule.enabled).then_some(Off { by: rule.off_by(), file: None }));
            // A nested one counts for its folder only, which depends on the evidence.
            if !rule.enabled && rule.origin.folder.is_empty() && by_header.is_none() {
                switched_off.entry(key).or_default().push(rule);
            }
            self.off.push(off);
        }
        self.set_aliases();
    }

    /// Gives a name of its own to each rule whose name reads another rule.
    fn set_aliases(&mut self) {
        let mut ids: HashSet<&str> = HashSet::with_capacity(self.rules.len());
        let mut keys: HashSet<(&str, FormatId)> = HashSet::with_capacity(self.rules.len());
        let mut aliases: Vec<(usize, Box<str>)> = Vec::new();
        for (at, rule) in self.rules.iter().enumerate().filter(|(at, _)| self.off[*at].is_none()) {
            // An id that looks like a key is read as one.
            let has_own_id = ids.insert(&rule.id) && FormatId::split_key(&rule.id).is_none();
            let has_own_key = keys.insert((&rule.id, rule.origin.format.id));
            if !has_own_id {
                let alias = if has_own_key { rule.key() } else { rule.origin.display.clone() };
                aliases.push((at, alias.into()));
            }
        }
        for (at, alias) in aliases {
            self.rules[at].alias = Some(alias);
        }
    }
}

impl Rule {
    /// Returns the switch that a rule with `enabled: false` is for others.
    pub(crate) fn switched_off_here(&self) -> Off {
        Off { by: self.off_by(), file: Some(self.origin.display.clone()) }
    }

    /// Returns the key that switches it off.
    fn off_by(&self) -> OffBy {
        if self.is_disabled { OffBy::Disabled } else { OffBy::Header }
    }
}

impl Rulebook {
    /// Returns the rules in order, each with what switched it off.
    pub fn rules(&self) -> impl ExactSizeIterator<Item = (&Rule, Option<&Off>)> {
        self.rules.iter().map(Box::as_ref).zip(self.off.iter().map(Option::as_ref))
    }

    /// Sets what identifies a rule.
    #[must_use]
    pub fn identified_by(mut self, identity: Identity) -> Rulebook {
        if matches!(self.policy, Policy::Meant(_)) {
            self.policy = Policy::Meant(identity);
        }
        self
    }

    /// Returns what identifies a rule.
    pub(crate) fn identity(&self) -> Identity {
        match self.policy {
            Policy::Meant(identity) => identity,
            Policy::Native(..) => Identity::Name,
        }
    }

    /// Returns which rules of one id override each other.
    /// Returns these rules and some of other formats, which replace those of the same file.
    pub(crate) fn with<'r>(&self, added: impl Iterator<Item = &'r Rule>) -> Rulebook {
        let mut book = self.clone();
        let mut added = added.peekable();
        if added.peek().is_none() {
            return book;
        }
        let own = self.rules.iter().enumerate().map(|(at, rule)| (rule.origin.path.as_str(), at));
        let own: HashMap<&str, usize> = own.collect();
        for rule in added {
            match own.get(rule.origin.path.as_str()) {
                Some(at) => *book.rules[*at] = rule.clone(),
                None => {
                    book.rules.push(Box::new(rule.clone()));
                    book.off.push(None);
                }
            }
        }
        if let Policy::Native(Conflicts::FirstWins, _) = book.policy {
            book.policy = Policy::default();
        }
        book
    }

    pub(crate) fn policy(&self) -> Policy {
        self.policy
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

    /// Finds the rules that a name refers to, in order: those of that file, else of that key, else of that name or id.
    /// Rules that are switched off are among them.
    pub fn lookup(&self, name: &str) -> Vec<(&Rule, Option<&Off>)> {
        let found = lookup(&self.rules, &[&rule_name(name)]).remove(0);
        found.into_iter().map(|at| (self.rules[at].as_ref(), self.off[at].as_ref())).collect()
    }

    /// Returns which of these names refer to no rule and to no rejected file.
    pub fn unknown_names<'n>(&self, names: &[&'n str]) -> Vec<&'n str> {
        let is_rejected = |name: &str| self.rejected.iter().any(|rejected| rejected.is_called(name));
        let found = lookup(&self.rules, names);
        let unknown = names.iter().zip(found).filter(|(name, found)| found.is_empty() && !is_rejected(name));
        unknown.map(|(name, _)| *name).collect()
    }

    /// Returns the rule that `rule://name` refers to: the highest enabled rule of that file, key, name or id.
    pub fn read(&self, name: &str) -> Result<&Rule, UnknownRule> {
        self.read_all(name).map(|(rule, _)| rule)
    }

    /// Returns the rule that `rule://name` refers to, and the others that the name fits.
    pub fn read_all(&self, name: &str) -> Result<(&Rule, Vec<&Rule>), UnknownRule> {
        let mut found = self.lookup(name).into_iter().filter(|(_, off)| off.is_none()).map(|(rule, _)| rule);
        found.next().map(|first| (first, found.collect())).ok_or_else(|| self.unknown(rule_name(name)))
    }

    /// Returns the enabled rule that `@NAME` in a message refers to: by its key, id or file name.
    pub(crate) fn mentioned(&self, name: &str) -> Option<&Rule> {
        let is_file = |rule: &&Rule| rule.origin.path.rsplit('/').next() == Some(name);
        let enabled = || self.rules().filter(|(_, off)| off.is_none()).map(|(rule, _)| rule);
        self.requested(name).or_else(|| enabled().find(is_file))
    }

    /// Returns the rule that a request for this name puts into the stack: an empty one has nothing to deliver, so a lower one
    /// of the same name is taken.
    pub(crate) fn requested(&self, name: &str) -> Option<&Rule> {
        let (first, others) = self.read_all(name).ok()?;
        Some(std::iter::once(first).chain(others).find(|rule| !rule.body.is_empty()).unwrap_or(first))
    }

    /// Returns the error for a name that no enabled rule has.
    fn unknown(&self, name: String) -> UnknownRule {
        let readable = self.rules().filter(|(_, off)| off.is_none()).map(|(rule, _)| rule);
        let mut names: Vec<String> = readable.map(|rule| rule.name.clone()).collect();
        names.sort_unstable();
        names.dedup();
        let distance = |other: &String| {
            (nearest(&name, [other.as_str()]).is_none(), strsim::damerau_levenshtein(&name, other))
        };
        names.sort_by_cached_key(distance);
        UnknownRule { name, known: names }
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
        write!(f, "no rule named `{}`", self.name)
    }
}

impl std::error::Error for UnknownRule {}
