//! Changes: what another version of the rules does to what an agent has in context.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::agent::{Agent, Conflicts};
use crate::compare::describe;
use crate::coverage::{Coverage, Extent, FileSet};
use crate::evaluate::{State, Verdict};
use crate::evidence::Seen;
use crate::matrix::{DoneBy, Handling, Subject, handling};
use crate::render::estimate_tokens;
use crate::resolve::{Off, Policy, Rulebook};
use crate::rule::{Activation, Rule};
use crate::words::words;

/// A rule that reaches an agent, and where.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Sighting<'r> {
    /// The rule, as it reaches the agent.
    pub rule: &'r Rule,
    /// Where it applies.
    pub extent: Extent,
    /// The files to which it may apply too: that is not documented.
    pub doubtful: FileSet,
    /// Who brings it to the agent.
    pub by: DoneBy,
    /// The estimated tokens of its text.
    pub tokens: usize,
}

/// The files of a tree.
#[derive(Clone, Copy, Debug)]
pub struct Files<'f> {
    /// All of them.
    pub seen: &'f [Seen],
    /// How many roots they are in.
    pub roots: usize,
}

words! {
    /// What becomes of a rule for an agent.
    ChangeKind {
        /// It reaches the agent now.
        Appears = "appears",
        /// It no longer reaches the agent.
        Vanishes = "vanishes",
        /// It applies in more cases.
        Widens = "widens",
        /// It applies in fewer cases.
        Narrows = "narrows",
        /// It applies in other cases.
        Moves = "moves",
        /// It may apply to other files: that is not documented.
        Doubt = "undocumented",
        /// It waits for other conditions that hold for the same files.
        Conditions = "conditions",
        /// Its text is different.
        Text = "text",
    }
}

/// One rule that changes for an agent.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Change<'r> {
    /// What becomes of it.
    pub kind: ChangeKind,
    /// As it reached the agent before.
    pub before: Option<Sighting<'r>>,
    /// As it reaches the agent now.
    pub after: Option<Sighting<'r>>,
}

/// Returns the rules that reach an agent: those it reads by itself, then those that Rulebook adds.
///
/// Without an agent, all rules as they are meant. `native` is what the agent reads by itself.
#[must_use]
pub fn sightings<'r>(
    meant: &'r Rulebook,
    agent: Option<(&'r Rulebook, &Subject<'_, 'r>)>,
    files: Files<'_>,
) -> Vec<Sighting<'r>> {
    let Some((native, subject)) = agent else {
        let coverage = Coverage::of_roots(meant, files.roots);
        return settled(seen(meant, files, DoneBy::Rulebook), meant, &coverage, files);
    };
    let reached = Reached::new(meant, native, subject, files);
    let (own, added): (Vec<Sighting<'r>>, Vec<Sighting<'r>>) =
        reached.sightings.iter().cloned().partition(|seen| seen.by == DoneBy::Agent);
    // The agent settles its own rules whatever Rulebook adds to them.
    let own = settled(own.into_iter(), native, &Coverage::of_roots(native, files.roots), files);
    let added = settled(added.into_iter(), &reached.book, &reached.coverage(files.roots), files);
    let mut all = [own, added].concat();
    all.sort_by(|a, b| a.rule.origin.path.cmp(&b.rule.origin.path));
    all
}

/// Leaves out the files for which another rule overrides one. A rule that waits for conditions stays if it applies to none.
fn settled<'r>(
    sightings: impl Iterator<Item = Sighting<'r>>,
    book: &Rulebook,
    coverage: &Coverage<'_>,
    files: Files<'_>,
) -> Vec<Sighting<'r>> {
    let lost = coverage.lost(files.seen);
    let lost: HashMap<&str, &Vec<usize>> =
        book.rules().map(|(rule, _)| rule.origin.path.as_str()).zip(&lost).collect();
    let left = |sighting: Sighting<'r>| {
        let lost = lost.get(sighting.rule.origin.path.as_str());
        let lost = lost.map_or(&[][..], |lost| lost.as_slice());
        let extent = sighting.extent.without(lost, files.seen.len());
        let waits = sighting.rule.activation == Activation::When;
        (extent != Extent::Nowhere || waits).then_some(Sighting { extent, ..sighting })
    };
    sightings.filter_map(left).collect()
}

/// The rules that reach an agent by themselves or through Rulebook, before those that are added override each other.
#[derive(Debug)]
pub struct Reached<'r> {
    sightings: Vec<Sighting<'r>>,
    /// The same rules as a book.
    pub book: Rulebook,
    agent: &'static Agent,
    is_hooked: bool,
    /// Whether the agent's own rules do not override each other.
    keeps_all: bool,
}

impl<'r> Reached<'r> {
    /// Collects the rules for the files of a tree. `native` is what the agent reads by itself.
    #[must_use]
    pub fn new(
        meant: &'r Rulebook,
        native: &'r Rulebook,
        subject: &Subject<'_, 'r>,
        files: Files<'_>,
    ) -> Reached<'r> {
        let mut found: BTreeMap<&str, Sighting<'r>> = BTreeMap::new();
        for sighting in seen(native, files, DoneBy::Agent) {
            let path = sighting.rule.origin.path.as_str();
            // A file may be read twice, such as by an import: the wider reading counts.
            if found.get(path).is_none_or(|known| !known.extent.includes(&sighting.extent)) {
                found.insert(path, sighting);
            }
        }
        for sighting in seen(meant, files, DoneBy::Rulebook).filter(|_| subject.is_hooked()) {
            let path = sighting.rule.origin.path.as_str();
            let is_wider = found.get(path).is_none_or(|known| !known.extent.includes(&sighting.extent));
            if is_wider && is_added(sighting.rule, subject) {
                found.insert(path, sighting);
            }
        }
        let sightings: Vec<Sighting<'r>> = found.into_values().collect();
        let added = sightings.iter().filter(|seen| seen.by == DoneBy::Rulebook).map(|seen| seen.rule);
        let book = native.with(added);
        let keeps_all = !matches!(native.policy(), Policy::Native(Conflicts::FirstWins, _));
        Reached { sightings, book, agent: subject.agent, is_hooked: subject.is_hooked(), keeps_all }
    }

    /// Prepares the rules for many files. The agent's own rules override each other as they do without Rulebook.
    #[must_use]
    pub fn coverage(&self, roots: usize) -> Coverage<'_> {
        if !self.is_hooked {
            return Coverage::of_roots(&self.book, roots);
        }
        // An agent that sorts out its own rules by id does so with those that are added, too.
        let keeps_all = self.keeps_all;
        let own = self.sightings.iter().filter(|seen| keeps_all && seen.by == DoneBy::Agent);
        let own = own.map(|seen| seen.rule.origin.path.clone()).collect();
        Coverage::of_hooked(&self.book, roots, self.agent, own)
    }

    /// The files, as shown, whose rules Rulebook adds.
    #[must_use]
    pub fn added(&self) -> HashSet<String> {
        let added = self.sightings.iter().filter(|seen| seen.by == DoneBy::Rulebook);
        added.map(|seen| seen.rule.origin.display.clone()).collect()
    }
}

/// Returns every rule that is on, in the order of the book, and where it applies.
fn seen<'r>(book: &'r Rulebook, files: Files<'_>, by: DoneBy) -> impl Iterator<Item = Sighting<'r>> {
    let coverage = Coverage::of_roots(book, files.roots);
    let extents = coverage.extents(files.seen).into_iter().zip(coverage.doubts(files.seen));
    let is_on = |(rule, off): (&Rule, Option<&Off>)| off.is_none() && !rule.body.is_empty();
    let all = book.rules().zip(extents).filter(move |(rule, _)| is_on(*rule));
    all.map(move |((rule, _), (extent, doubtful))| {
        let tokens = if rule.stream.is_some() { 0 } else { estimate_tokens(&rule.body) };
        Sighting { rule, extent, doubtful, by, tokens }
    })
}

/// Whether Rulebook adds a rule where it applies as meant and the agent does not apply it.
fn is_added(rule: &Rule, subject: &Subject<'_, '_>) -> bool {
    let verdict = Verdict {
        rule,
        state: State::Stack,
        because: Vec::new(),
        is_requested: false,
        is_cut: false,
        other_roots: Vec::new(),
    };
    !matches!(handling(&verdict, subject), Handling::NotAdded(_) | Handling::Unknown)
}

/// Compares what reached an agent with what reaches it now, in the order of the files' names.
#[must_use]
pub fn changes<'r>(before: &[Sighting<'r>], after: &[Sighting<'r>]) -> Vec<Change<'r>> {
    let mut by_source: HashMap<&str, usize> = HashMap::new();
    let mut by_key: HashMap<String, usize> = HashMap::new();
    for (at, sighting) in before.iter().enumerate() {
        by_source.insert(&sighting.rule.origin.display, at);
        by_key.insert(sighting.rule.key(), at);
    }
    // A renamed file is the same rule if its key stays.
    let sources: HashSet<&str> = after.iter().map(|now| now.rule.origin.display.as_str()).collect();
    let is_gone = |at: &usize| !sources.contains(before[*at].rule.origin.display.as_str());
    let mut matched = vec![false; before.len()];
    let mut found = Vec::new();
    for now in after {
        let same = by_source.get(now.rule.origin.display.as_str()).copied();
        let was = same.or_else(|| by_key.get(&now.rule.key()).copied().filter(is_gone));
        if let Some(at) = was {
            matched[at] = true;
        }
        let was = was.map(|at| &before[at]);
        if let Some(kind) = kind(was, now) {
            found.push(Change { kind, before: was.cloned(), after: Some(now.clone()) });
        }
    }
    let gone = before.iter().zip(matched).filter(|(was, matched)| !matched && was.may_apply());
    for (was, _) in gone {
        found.push(Change { kind: ChangeKind::Vanishes, before: Some(was.clone()), after: None });
    }
    found.sort_by(|a, b| (a.kind, a.source()).cmp(&(b.kind, b.source())));
    found
}

fn kind(before: Option<&Sighting<'_>>, after: &Sighting<'_>) -> Option<ChangeKind> {
    let Some(before) = before else { return after.may_apply().then_some(ChangeKind::Appears) };
    let (wider, narrower) = (after.extent.includes(&before.extent), before.extent.includes(&after.extent));
    match (wider, narrower) {
        (true, true) if before.doubtful != after.doubtful => Some(ChangeKind::Doubt),
        (true, true) if before.rule.body != after.rule.body => Some(ChangeKind::Text),
        (true, true) => (describe(before.rule) != describe(after.rule)).then_some(ChangeKind::Conditions),
        (true, false) => Some(ChangeKind::Widens),
        (false, true) => Some(ChangeKind::Narrows),
        (false, false) => Some(ChangeKind::Moves),
    }
}

impl Sighting<'_> {
    /// Whether it applies to something, or may.
    fn may_apply(&self) -> bool {
        self.extent != Extent::Nowhere || !self.doubtful.is_empty()
    }
}

impl Change<'_> {
    /// The file, as shown: where it is now, or where it was.
    pub fn source(&self) -> &str {
        let sighting = self.after.as_ref().or(self.before.as_ref());
        sighting.map_or("", |sighting| &sighting.rule.origin.display)
    }

    /// When it applied and when it applies now, if its conditions changed.
    pub fn conditions(&self) -> Option<(String, String)> {
        let (before, after) = self.before.as_ref().zip(self.after.as_ref())?;
        let conditions = (describe(before.rule), describe(after.rule));
        (self.kind == ChangeKind::Conditions).then_some(conditions)
    }

    /// The estimated tokens of its text, before and now.
    pub fn tokens(&self) -> (usize, usize) {
        let tokens = |sighting: &Option<Sighting<'_>>| sighting.as_ref().map_or(0, |s| s.tokens);
        (tokens(&self.before), tokens(&self.after))
    }
}

/// Returns the estimated tokens of what is always in context.
#[must_use]
pub fn always_tokens(sightings: &[Sighting<'_>]) -> usize {
    sightings.iter().filter(|seen| seen.extent == Extent::Always).map(|seen| seen.tokens).sum()
}
