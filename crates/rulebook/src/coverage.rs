//! Coverage: the rules against the files of a tree, each file by itself.
//!
//! A file that is all the evidence there is: which rules does it bring on? Only what a rule asks of paths is asked
//! here; its other conditions are left out, and named.

mod hint;
mod report;
mod tally;

pub use hint::Hints;
pub use report::{
    AlwaysRow, Cost, Dead, Folder, InFolder, MAX_ROWS, Most, Other, Overlap, Reached, Report, Unreached,
};
pub use tally::{Listing, Tally};

use std::collections::HashMap;

use crate::agent::Conflicts;
use crate::condition::{Facts, MatchMode, PathExpression, Paths};
use crate::evaluate::{State, at_best, settle};
use crate::evidence::{Evidence, Seen};
use crate::render::estimate_tokens;
use crate::resolve::{Off, Rulebook};
use crate::rule::Rule;

/// The rules of a book, prepared to be asked about many files.
#[derive(Debug)]
pub struct Coverage<'r> {
    /// All of them, in the order of precedence.
    rules: Vec<Covered<'r>>,
    /// Those that a file could match.
    patterns: Vec<Wanting<'r>>,
    folders: Vec<(usize, &'r str)>,
    conflicts: Conflicts,
}

/// A rule and what files are to it.
#[derive(Debug)]
struct Covered<'r> {
    rule: &'r Rule,
    off: Option<&'r Off>,
    role: Role,
    shape: PathExpression<'r>,
    /// Files that a stream rule watches, where it does not watch all. It takes part beside them all the same.
    gate: Option<PathExpression<'r>>,
    /// The conditions it has beside paths.
    further: Vec<&'static str>,
    /// What its text costs where it applies.
    tokens: usize,
    /// Whether it depends on the file whether it takes part.
    is_bound: bool,
    /// Whether a file that it is for brings it on, whatever its other conditions say.
    is_sure: bool,
    /// Whether another rule may override it, or be overridden by it.
    has_rival: bool,
}

/// What files are to a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Some bring it on.
    Files,
    /// It is on whatever the file.
    Always,
    /// It is not brought on, but keeps others of its id out: it is offered, or a nested `enabled: false`.
    Shadow,
    /// Nothing.
    Other,
}

/// A pattern that should match some file.
#[derive(Debug)]
struct Wanting<'r> {
    rule: usize,
    paths: &'r Paths,
    /// Position among them.
    at: usize,
}

impl<'r> Wanting<'r> {
    fn written(&self) -> &'r str {
        self.paths.patterns().nth(self.at).unwrap_or_default()
    }
}

impl<'r> Coverage<'r> {
    /// Prepares the rules.
    pub fn new(book: &'r Rulebook) -> Coverage<'r> {
        let mut rules: Vec<Covered<'r>> = book.rules().map(|(rule, off)| Covered::new(rule, off)).collect();
        find_rivals(&mut rules);
        let mut patterns = Vec::new();
        for (at, covered) in rules.iter().enumerate().filter(|(_, covered)| covered.role == Role::Files) {
            let mut add = |shape: &PathExpression<'r>| {
                if let PathExpression::Paths(paths) = shape {
                    patterns.extend(paths.including().map(|pattern| Wanting {
                        rule: at,
                        paths,
                        at: pattern,
                    }));
                }
            };
            covered.shape.visit(&mut add);
            covered.gate.iter().for_each(|gate| gate.visit(&mut add));
        }
        let mut folders: Vec<_> = book.rules().filter_map(|(rule, _)| rule.origin.nest()).collect();
        folders.sort_unstable();
        folders.dedup();
        Coverage { rules, patterns, folders, conflicts: book.conflicts() }
    }

    /// For each of these rules of the book, by position, the files that bring it on; positions again.
    pub fn reached(&self, rules: &[usize], files: &[Seen]) -> Vec<Vec<usize>> {
        let evidence = Evidence { paths: files.to_vec(), ..Evidence::default() };
        let facts = self.facts(&evidence);
        let is_on = |covered: &Covered<'_>| matches!(covered.role, Role::Files | Role::Always);
        let reached =
            |covered: &Covered<'_>| is_on(covered).then(|| covered.let_through(covered.part(&facts), &facts));
        rules.iter().map(|rule| reached(&self.rules[*rule]).unwrap_or_default()).collect()
    }

    /// The conditions a rule of the book has beside paths.
    pub fn further(&self, rule: usize) -> &[&'static str] {
        &self.rules[rule].further
    }

    fn facts<'e>(&self, evidence: &'e Evidence) -> Facts<'e> {
        Facts::new(evidence, self.folders.iter().copied())
    }

    /// The rules a file brings on and those that are on anyway, by position: which another keeps out?
    fn kept_out(&self, reached: &[usize]) -> Vec<usize> {
        let is_in = |(at, covered): &(usize, &Covered<'r>)| {
            covered.has_rival && (!covered.is_bound || reached.binary_search(at).is_ok())
        };
        let (at, rules): (Vec<usize>, Vec<_>) = (self.rules.iter().enumerate().filter(is_in))
            .map(|(at, covered)| (at, (covered.rule, covered.off)))
            .unzip();
        let verdicts = settle(rules, self.conflicts);
        let is_out = |(at, state): &(usize, State<'_>)| {
            let Covered { role, gate, .. } = &self.rules[*at];
            !matches!(state, State::Stack | State::Stream) && *role != Role::Shadow && gate.is_none()
        };
        at.into_iter()
            .zip(verdicts.into_iter().map(|verdict| verdict.state))
            .filter(is_out)
            .map(|(at, _)| at)
            .collect()
    }
}

impl<'r> Covered<'r> {
    fn new(rule: &'r Rule, off: Option<&'r Off>) -> Covered<'r> {
        let shape = PathExpression::Joined(
            rule.combine,
            rule.conditions.iter().map(|c| c.path_expression()).collect(),
        );
        let gate =
            rule.stream.as_ref().and_then(|trigger| Some(PathExpression::Paths(trigger.gate.as_ref()?)));
        let mut further = Vec::new();
        let mut is_bound = rule.origin.nest().is_some();
        shape.visit(&mut |shape| match shape {
            PathExpression::Other(key) if !further.contains(key) => further.push(*key),
            PathExpression::Paths(_) | PathExpression::Never => is_bound = true,
            _ => {}
        });
        // A nested `enabled: false` speaks for its folder, whatever its conditions.
        let is_tomb = !rule.enabled && rule.origin.nest().is_some();
        let is_sure = is_tomb || shape.suffices();
        let state = at_best(rule).filter(|_| off.is_none());
        let role = match &state {
            Some(State::Stack | State::Stream) if is_bound || gate.is_some() => Role::Files,
            Some(State::Stack | State::Stream) if is_sure => Role::Always,
            Some(State::Offered) if is_sure => Role::Shadow,
            None if is_tomb => Role::Shadow,
            _ => Role::Other,
        };
        let tokens = if matches!(state, Some(State::Stack)) { estimate_tokens(&rule.body) } else { 0 };
        Covered { rule, off, role, shape, gate, further, tokens, is_bound, is_sure, has_rival: false }
    }

    /// Those of the files where it takes part that its gate lets through.
    fn let_through(&self, files: Vec<usize>, facts: &Facts<'_>) -> Vec<usize> {
        match self.gate.as_ref().and_then(|gate| gate.met(facts)) {
            Some(open) => both(files, &open),
            None => files,
        }
    }

    /// The files, by position, where it takes part.
    fn part(&self, facts: &Facts<'_>) -> Vec<usize> {
        let met = self.shape.met(facts).filter(|_| self.rule.enabled);
        let below = self.rule.origin.nest().map(|(root, folder)| facts.below(root, folder));
        match (met, below) {
            (Some(met), Some(below)) => both(met, below),
            (Some(met), None) => met,
            (None, Some(below)) => below.to_vec(),
            (None, None) => (0..facts.evidence.paths.len()).collect(),
        }
    }
}

/// Marks the rules that share their id or their text with another. One that other conditions may keep off stays out of
/// it: nobody knows whether it applies.
fn find_rivals(rules: &mut [Covered<'_>]) {
    let is_in = |covered: &Covered<'_>| covered.role != Role::Other && covered.is_sure;
    let mut ids: HashMap<&str, usize> = HashMap::new();
    let mut bodies: HashMap<&str, usize> = HashMap::new();
    for covered in rules.iter().filter(|covered| is_in(covered)) {
        *ids.entry(&covered.rule.id).or_default() += 1;
        *bodies.entry(&covered.rule.body).or_default() += 1;
    }
    for covered in rules.iter_mut().filter(|covered| is_in(covered)) {
        covered.has_rival = ids[covered.rule.id.as_str()] > 1 || bodies[covered.rule.body.as_str()] > 1;
    }
}

impl<'c> PathExpression<'c> {
    /// Visits it and everything it is made of.
    fn visit(&self, visitor: &mut impl FnMut(&PathExpression<'c>)) {
        visitor(self);
        match self {
            PathExpression::Not(inner) => inner.visit(visitor),
            PathExpression::Joined(_, parts) => parts.iter().for_each(|part| part.visit(visitor)),
            PathExpression::Paths(_) | PathExpression::Other(_) | PathExpression::Never => {}
        }
    }

    /// Whether the paths that meet it suffice, whatever else it asks.
    fn suffices(&self) -> bool {
        match self {
            PathExpression::Paths(_) | PathExpression::Never => true,
            PathExpression::Other(_) => false,
            PathExpression::Not(inner) => {
                let mut asks_else = false;
                inner.visit(&mut |shape| asks_else |= matches!(shape, PathExpression::Other(_)));
                !asks_else
            }
            PathExpression::Joined(MatchMode::All, parts) => parts.iter().all(PathExpression::suffices),
            PathExpression::Joined(MatchMode::Any, parts) => {
                let mut about_paths =
                    parts.iter().filter(|part| !matches!(part, PathExpression::Other(_))).peekable();
                (about_paths.peek().is_some() || parts.is_empty())
                    && about_paths.all(PathExpression::suffices)
            }
        }
    }

    /// Positions of the paths that meet it, each by itself, ascending; nothing where it asks for no path.
    fn met(&self, facts: &Facts<'_>) -> Option<Vec<usize>> {
        match self {
            PathExpression::Paths(paths) => Some(paths.find(facts)),
            PathExpression::Other(_) => None,
            PathExpression::Never => Some(Vec::new()),
            PathExpression::Not(inner) => {
                let met = inner.met(facts)?;
                let all = 0..facts.evidence.paths.len();
                Some(all.filter(|at| met.binary_search(at).is_err()).collect())
            }
            PathExpression::Joined(how, parts) => {
                let join = match how {
                    MatchMode::All => |a, b: Vec<usize>| both(a, &b),
                    MatchMode::Any => either,
                };
                parts.iter().filter_map(|part| part.met(facts)).reduce(join)
            }
        }
    }
}

fn both(mut a: Vec<usize>, b: &[usize]) -> Vec<usize> {
    a.retain(|at| b.binary_search(at).is_ok());
    a
}

fn either(mut a: Vec<usize>, b: Vec<usize>) -> Vec<usize> {
    a.extend(b);
    a.sort_unstable();
    a.dedup();
    a
}
