//! `always-overridden` and `duplicate-id`: rules that share an id.

use std::collections::HashMap;

use super::Told;
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::format::PlaceKind;
use crate::glob::Dialect;
use crate::rule::{Activation, Rule};
use crate::source::{Scope, enclosing_folders};

/// Tells each rule at most once: who always takes its place, or else who does when both come on.
pub(super) fn lint(rules: &[&Rule], told: &mut Told) {
    let mut by_id: HashMap<&str, Vec<&Rule>> = HashMap::new();
    for rule in rules {
        by_id.entry(&rule.id).or_default().push(rule);
    }
    for rules in by_id.into_values().filter(|rules| rules.len() > 1) {
        lint_one_id(&rules, told);
    }
}

fn lint_one_id(rules: &[&Rule], told: &mut Told) {
    let mut unconditional: Option<&Rule> = None;
    let mut alike: HashMap<Alike<'_>, &Rule> = HashMap::new();
    let mut shared = Shared::default();
    for &rule in rules {
        let key = alike_key(rule);
        let covering = unconditional.or_else(|| key.as_ref().and_then(|key| alike.get(key)).copied());
        let winner = covering.or_else(|| shared.meets(rule));
        // The same text is told as such.
        if let Some(winner) = winner.filter(|winner| winner.body != rule.body) {
            told.extend(match covering {
                Some(_) if rule.activation == Activation::Never => None,
                Some(_) => Some(report_always(rule, winner)),
                None => Some(report_shared(rule, winner)),
            });
        }
        unconditional = unconditional.or_else(|| is_unconditional(rule).then_some(rule));
        if let Some(key) = key {
            alike.entry(key).or_insert(rule);
        }
        shared.add(rule);
    }
}

fn report_always(rule: &Rule, winner: &Rule) -> Diagnostic {
    let step = winner.rank().decided_by(&rule.rank()).name();
    let other = &winner.origin.display;
    let message =
        format!("is never seen here: `{other}` has the id `{}` too and always wins, by {step}", rule.id);
    let found = Diagnostic::whole(Code::AlwaysOverridden, &rule.origin.display, message);
    // The id is where the file lies: there is no other to give it.
    let is_located = |rule: &Rule| matches!(rule.origin.place.shape, PlaceKind::Located { .. });
    if is_located(rule) && is_located(winner) {
        let help =
            format!("nothing to do if `{other}` is to be read instead of it; else move its text there");
        return found.severity(Severity::Note).help(help);
    }
    // That one's own rule gives way to the workspace's is how scopes are meant.
    if rule.origin.scope == winner.origin.scope { found } else { found.severity(Severity::Note) }
}

fn report_shared(rule: &Rule, winner: &Rule) -> Diagnostic {
    let step = winner.rank().decided_by(&rule.rank()).name();
    let other = &winner.origin.display;
    let message = format!("has the id `{}`, as `{other}`, which wins by {step} when both come on", rule.id);
    Diagnostic::whole(Code::DuplicateId, &rule.origin.display, message)
}

/// Whether a rule is in the stack, offered or watching whatever the evidence, so that no other of its id ever is.
fn is_unconditional(rule: &Rule) -> bool {
    let comes_on = matches!(rule.activation, Activation::Always | Activation::Stream | Activation::OnRequest);
    comes_on && rule.conditions.is_empty() && rule.origin.folder.is_empty()
}

/// Rules with the same key come on together: the same patterns, read alike, on the same ground, and nothing else.
type Alike<'r> = (&'static str, bool, &'r str, (usize, &'r str), Dialect, &'r [String]);

fn alike_key(rule: &Rule) -> Option<Alike<'_>> {
    let by_paths = rule.conditions.iter().all(|condition| condition.key == "paths");
    let comes_on = matches!(rule.activation, Activation::When | Activation::Stream);
    let patterns = if rule.conditions.is_empty() { &[] } else { rule.globs.as_slice() };
    (by_paths && comes_on).then(|| {
        let dialect = rule.origin.format.dialect;
        (rule.activation.name(), rule.is_offered, rule.name.as_str(), ground(rule), dialect, patterns)
    })
}

/// The folder a nested rule is for; rules at a root are for every root.
fn ground(rule: &Rule) -> (usize, &str) {
    let folder = rule.origin.folder.as_str();
    (if folder.is_empty() { 0 } else { rule.origin.root }, folder)
}

/// The folder a rule is for and those around it, its own first.
pub(super) fn folders(rule: &Rule) -> impl Iterator<Item = (usize, &str)> {
    let (root, folder) = ground(rule);
    enclosing_folders(folder).map(move |folder| (if folder.is_empty() { 0 } else { root }, folder))
}

/// Rules of one id that may come on together, found without comparing each with each.
///
/// Two rules are told apart by their scope, their folder, and what their patterns start with: `apps/web/**` and
/// `apps/api/**` are for different work.
#[derive(Default)]
struct Shared<'r> {
    /// By the literal start of a pattern: the first rule that has it.
    starts: HashMap<(Side<'r>, &'r str), &'r Rule>,
    /// By everything above such a start: the first rule that starts below.
    above: HashMap<(Side<'r>, &'r str), &'r Rule>,
}

/// Rules on different sides are meant to override each other.
type Side<'r> = (Scope, (usize, &'r str));

impl<'r> Shared<'r> {
    /// The highest rule that may come on together with this one.
    fn meets(&self, rule: &'r Rule) -> Option<&'r Rule> {
        let side = (rule.origin.scope, ground(rule));
        let starts = starts(rule)?;
        let hits = starts.into_iter().flat_map(|start| {
            let around = enclosing_folders(start).filter_map(move |folder| self.starts.get(&(side, folder)));
            around.chain(self.above.get(&(side, start)))
        });
        hits.copied().min_by(|a, b| a.rank().cmp(&b.rank()))
    }

    fn add(&mut self, rule: &'r Rule) {
        let side = (rule.origin.scope, ground(rule));
        for start in starts(rule).into_iter().flatten() {
            self.starts.entry((side, start)).or_insert(rule);
            for folder in enclosing_folders(start) {
                self.above.entry((side, folder)).or_insert(rule);
            }
        }
    }
}

/// What each pattern of a rule starts with, whole segments only. Nothing for a rule with other conditions, about which
/// nothing can be said, and for one that only its name brings on.
fn starts(rule: &Rule) -> Option<Vec<&str>> {
    let by_paths = rule.conditions.iter().all(|condition| condition.key == "paths");
    if !by_paths || matches!(rule.activation, Activation::Manual | Activation::Never) {
        return None;
    }
    let includes = rule.globs.iter().filter(|glob| !rule.conditions.is_empty() && !glob.starts_with('!'));
    let starts: Vec<&str> = includes.map(|glob| literal_start(glob)).collect();
    Some(if starts.is_empty() { vec![""] } else { starts })
}

/// How many segments are looked at.
const MAX_SEGMENTS: usize = 16;

/// The folders every match lies in, as far as their names have no sign of the pattern in them.
fn literal_start(glob: &str) -> &str {
    let glob = glob.trim_start_matches("./").trim_start_matches('/');
    let signs = glob.find(['*', '?', '[', ']', '{', '}', '(', ')', '!', '+', '@', '|', '\\']);
    // The last segment is left out: without a slash it may, in some dialects, stand in any folder.
    let whole = glob[..signs.unwrap_or(glob.len())].rfind('/').map_or("", |at| &glob[..at]);
    whole.match_indices('/').nth(MAX_SEGMENTS - 1).map_or(whole, |(at, _)| &whole[..at])
}
