//! `always-overridden` and `duplicate-id`: rules that share an id.

use std::collections::{BTreeMap, HashMap};

use crate::diagnostic::{Code, Diagnostic};
use crate::evaluate::overrides;
use crate::glob::Dialect;
use crate::resolve::Identity;
use crate::rule::{Activation, Rule, Step};
use crate::source::{Scope, enclosing_folders};

/// Reports each rule at most once: which rule always overrides it, or which one does when both apply.
pub(super) fn lint(rules: &[&Rule], identity: Identity, diagnostics: &mut Vec<Diagnostic>) {
    let mut by_id: HashMap<&str, Vec<&Rule>> = HashMap::new();
    for rule in rules {
        by_id.entry(&rule.id).or_default().push(rule);
    }
    for rules in by_id.into_values().filter(|rules| rules.len() > 1) {
        lint_one_id(&rules, identity, diagnostics);
    }
}

fn lint_one_id(rules: &[&Rule], identity: Identity, diagnostics: &mut Vec<Diagnostic>) {
    let mut earlier: BTreeMap<Kin, Earlier<'_>> = BTreeMap::new();
    for &rule in rules {
        let key = alike_key(rule);
        let rivals: Vec<&Earlier<'_>> =
            earlier.values().filter(|earlier| overrides(earlier.first, rule, identity)).collect();
        let covering = first(rivals.iter().filter_map(|earlier| earlier.covers(key.as_ref())));
        let meeting = || first(rivals.iter().filter_map(|earlier| earlier.shared.meets(rule)));
        // Equal texts are reported by `duplicate-body`.
        if let Some(winner) = covering.or_else(meeting).filter(|winner| winner.body != rule.body) {
            diagnostics.extend(match covering {
                Some(_) if rule.activation == Activation::Never => None,
                // A user's rule that yields to the workspace's works as intended.
                Some(winner) if rule.origin.scope != winner.origin.scope => None,
                Some(_) => Some(report_always(rule, winner)),
                None => Some(report_shared(rule, winner)),
            });
        }
        earlier.entry(kin(rule)).or_insert_with(|| Earlier::new(rule)).add(rule, key);
    }
}

fn first<'r>(rules: impl Iterator<Item = &'r Rule>) -> Option<&'r Rule> {
    rules.min_by(|a, b| a.rank().cmp(&b.rank()))
}

/// Rules of one kin override the same rules.
type Kin = (usize, bool, Option<usize>, Scope);

fn kin(rule: &Rule) -> Kin {
    (rule.origin.format.order, rule.is_located(), rule.own_root(), rule.origin.scope)
}

/// The earlier rules of one id and kin.
struct Earlier<'r> {
    first: &'r Rule,
    unconditional: Option<&'r Rule>,
    alike: HashMap<Alike<'r>, &'r Rule>,
    shared: Shared<'r>,
}

impl<'r> Earlier<'r> {
    fn new(first: &'r Rule) -> Earlier<'r> {
        Earlier { first, unconditional: None, alike: HashMap::new(), shared: Shared::default() }
    }

    /// Returns the rule that applies whenever one with this key does.
    fn covers(&self, key: Option<&Alike<'r>>) -> Option<&'r Rule> {
        self.unconditional.or_else(|| key.and_then(|key| self.alike.get(key)).copied())
    }

    fn add(&mut self, rule: &'r Rule, key: Option<Alike<'r>>) {
        self.unconditional = self.unconditional.or_else(|| is_unconditional(rule).then_some(rule));
        if let Some(key) = key {
            self.alike.entry(key).or_insert(rule);
        }
        self.shared.add(rule);
    }
}

fn report_always(rule: &Rule, winner: &Rule) -> Diagnostic {
    let other = &winner.origin.display;
    let message = format!(
        "Rulebook never adds this rule: `{other}` has the same id `{}` and {}",
        rule.id,
        precedence(winner, rule)
    );
    Diagnostic::whole(Code::AlwaysOverridden, &rule.origin.display, message)
}

/// Describes why one rule is used instead of another of the same id.
fn precedence(winner: &Rule, loser: &Rule) -> String {
    match winner.rank().decided_by(&loser.rank()) {
        Step::Priority => format!("a higher priority ({} instead of {})", winner.priority, loser.priority),
        Step::Scope => {
            format!("a scope that comes first (`{}`, not `{}`)", winner.origin.scope, loser.origin.scope)
        }
        Step::Format => {
            format!(
                "a format that comes first (`{}`, not `{}`)",
                winner.origin.format.id, loser.origin.format.id
            )
        }
        Step::Folder => "a nearer folder".to_owned(),
        _ => "a path that sorts first".to_owned(),
    }
}

fn report_shared(rule: &Rule, winner: &Rule) -> Diagnostic {
    let other = &winner.origin.display;
    let message = format!(
        "where both apply, Rulebook uses `{other}` instead of this rule: it has the same id `{}` and {}",
        rule.id,
        precedence(winner, rule)
    );
    Diagnostic::whole(Code::DuplicateId, &rule.origin.display, message)
}

/// Whether a rule applies, is offered or watches regardless of the evidence, so that no other of its id ever does.
fn is_unconditional(rule: &Rule) -> bool {
    let can_apply =
        matches!(rule.activation, Activation::Always | Activation::Stream | Activation::OnRequest);
    can_apply && rule.conditions.is_empty() && rule.origin.folder.is_empty()
}

/// Rules with equal keys apply together: they have the same patterns, dialect and folder, and no other conditions.
type Alike<'r> = (Activation, bool, &'r str, (usize, &'r str), Dialect, &'r [String]);

fn alike_key(rule: &Rule) -> Option<Alike<'_>> {
    let by_paths = rule.conditions.iter().all(|condition| condition.key == "paths");
    let has_conditions = matches!(rule.activation, Activation::When | Activation::Stream);
    let patterns = if rule.conditions.is_empty() { &[] } else { rule.globs.as_slice() };
    (by_paths && has_conditions).then(|| {
        let dialect = rule.origin.format.dialect;
        (rule.activation, rule.is_offered, rule.name.as_str(), folder_of(rule), dialect, patterns)
    })
}

/// Returns the root and folder of a nested rule; rules at a root apply to every root.
fn folder_of(rule: &Rule) -> (usize, &str) {
    let folder = rule.origin.folder.as_str();
    (if folder.is_empty() { 0 } else { rule.origin.root }, folder)
}

/// Returns the folder of a rule and those above it, its own first.
pub(super) fn folders(rule: &Rule) -> impl Iterator<Item = (usize, &str)> {
    let (root, folder) = folder_of(rule);
    enclosing_folders(folder).map(move |folder| (if folder.is_empty() { 0 } else { root }, folder))
}

/// Rules of one id that may apply together, found without comparing every pair.
///
/// Scope, folder and the literal start of their patterns keep rules apart: `apps/web/**` and `apps/api/**` never
/// apply together.
#[derive(Default)]
struct Shared<'r> {
    /// The first rule by the literal start of a pattern.
    starts: HashMap<(Side<'r>, &'r str), &'r Rule>,
    /// The first rule below a folder, for every folder above a literal start.
    above: HashMap<(Side<'r>, &'r str), &'r Rule>,
}

/// Rules of different scopes or folders are meant to override each other.
type Side<'r> = (Scope, (usize, &'r str));

impl<'r> Shared<'r> {
    /// Returns the highest rule that may apply together with this one.
    fn meets(&self, rule: &'r Rule) -> Option<&'r Rule> {
        let side = (rule.origin.scope, folder_of(rule));
        let starts = starts(rule)?;
        let hits = starts.into_iter().flat_map(|start| {
            let around = enclosing_folders(start).filter_map(move |folder| self.starts.get(&(side, folder)));
            around.chain(self.above.get(&(side, start)))
        });
        hits.copied().min_by(|a, b| a.rank().cmp(&b.rank()))
    }

    fn add(&mut self, rule: &'r Rule) {
        let side = (rule.origin.scope, folder_of(rule));
        for start in starts(rule).into_iter().flatten() {
            self.starts.entry((side, start)).or_insert(rule);
            for folder in enclosing_folders(start) {
                self.above.entry((side, folder)).or_insert(rule);
            }
        }
    }
}

/// Returns the literal start of each pattern of a rule, in whole segments. Rules with other conditions, which cannot be
/// compared, and manual rules have none.
fn starts(rule: &Rule) -> Option<Vec<&str>> {
    let by_paths = rule.conditions.iter().all(|condition| condition.key == "paths");
    if !by_paths || matches!(rule.activation, Activation::Manual | Activation::Never) {
        return None;
    }
    let includes = rule.globs.iter().filter(|glob| !rule.conditions.is_empty() && !glob.starts_with('!'));
    let starts: Vec<&str> = includes.map(|glob| literal_start(glob)).collect();
    Some(if starts.is_empty() { vec![""] } else { starts })
}

/// How many segments of a pattern are compared.
const MAX_SEGMENTS: usize = 16;

/// Returns the folders that contain every match: the segments of the glob before its first special character.
fn literal_start(glob: &str) -> &str {
    let glob = glob.trim_start_matches("./").trim_start_matches('/');
    let special = glob.find(['*', '?', '[', ']', '{', '}', '(', ')', '!', '+', '@', '|', '\\']);
    // Without the last segment: a glob without a slash matches in any folder in some dialects.
    let whole = glob[..special.unwrap_or(glob.len())].rfind('/').map_or("", |at| &glob[..at]);
    whole.match_indices('/').nth(MAX_SEGMENTS - 1).map_or(whole, |(at, _)| &whole[..at])
}
