//! Totals: what an agent takes of all its files together, and which of them are beyond it.

use std::collections::{HashMap, HashSet};

use super::Agent;
use crate::diagnostic::{Code, Diagnostic};
use crate::format::PlaceKind;
use crate::rule::Rule;
use crate::source::{Scope, enclosing_folders};

/// What an agent takes of the files of a workspace together.
#[derive(Debug)]
pub struct Total {
    /// How much.
    pub limit: usize,
    /// Of what.
    pub unit: Unit,
    /// Whether a file counts.
    pub counts: fn(&Rule) -> bool,
    /// What becomes of more.
    pub beyond: Beyond,
}

/// What a total is counted in.
#[derive(Clone, Copy, Debug)]
pub enum Unit {
    /// As they are on disk.
    Bytes,
    /// Code points.
    Characters,
}

/// What becomes of more than an agent takes.
#[derive(Clone, Copy, Debug)]
pub enum Beyond {
    /// From the outermost file on, what comes last is cut.
    Cut,
    /// Files are left out, in an order of the agent's own.
    LeftOut(&'static str),
}

impl Unit {
    /// The word shown to people.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Bytes => "bytes",
            Unit::Characters => "characters",
        }
    }

    fn count(self, text: &str) -> usize {
        match self {
            Unit::Bytes => text.len(),
            Unit::Characters => text.chars().count(),
        }
    }
}

const HELP: &str = "shorten them, or move what only some of the work needs to where only that is told it";

/// Files called AGENTS.md, or read instead of one.
pub(super) fn is_agents_md(rule: &Rule) -> bool {
    matches!(rule.origin.place.shape, PlaceKind::Located { id: "agents", .. })
}

/// Tells each file that is beyond what an agent takes of it and of those in the folders above it together.
pub fn report_totals(agents: impl IntoIterator<Item = &'static Agent>, rules: &[&Rule]) -> Vec<Diagnostic> {
    let totals = agents.into_iter().filter_map(|agent| Some((agent, agent.total.as_ref()?)));
    totals.flat_map(|(agent, total)| report_total(agent, total, rules)).collect()
}

fn report_total(agent: &Agent, total: &Total, rules: &[&Rule]) -> Vec<Diagnostic> {
    let is_counted = |rule: &&Rule| rule.origin.scope == Scope::Workspace && (total.counts)(rule);
    let mut outer_first: Vec<&Rule> = rules.iter().copied().filter(is_counted).collect();
    outer_first.sort_by_key(|rule| rule.stand.depth);
    // Of two files of one id, the agent takes the first.
    let mut taken: HashSet<&str> = HashSet::new();
    let mut sums: HashMap<(usize, &str), usize> = HashMap::new();
    let mut told = Vec::new();
    for rule in outer_first.into_iter().filter(|rule| taken.insert(&rule.id)) {
        let root = rule.origin.root;
        let above: usize =
            enclosing_folders(&rule.origin.folder).filter_map(|folder| sums.get(&(root, folder))).sum();
        let own = total.unit.count(&rule.body);
        let (limit, unit, title) = (total.limit, total.unit.name(), agent.title);
        let takes = format!("{title} takes {limit} {unit} of such files together");
        let message = match total.beyond {
            Beyond::Cut if above >= limit => {
                Some(format!("{takes}, which those before it fill: it is not read"))
            }
            Beyond::Cut if above + own > limit => {
                Some(format!("{takes}: the last {} of this one are cut", above + own - limit))
            }
            Beyond::LeftOut(first) if above <= limit && above + own > limit => {
                Some(format!("{takes}, and with this one there are {}: {first}", above + own))
            }
            _ => None,
        };
        let tell = |message| Diagnostic::whole(Code::OverLimit, &rule.origin.display, message).help(HELP);
        told.extend(message.map(tell));
        *sums.entry((root, &rule.origin.folder)).or_default() += own;
    }
    told
}
