//! The report: a tally as data, in the shape that surfaces show.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

use super::tally::Here;
use super::{Coverage, Covered, Role, Tally};
use crate::evaluate::{State, at_best};
use crate::evidence::Roots;
use crate::explain::watching;
use crate::rule::Activation;
use crate::source::{Scope, enclosing_folders};
use crate::words::words;

/// How many folders are listed; the rest is counted.
pub(super) const MAX_ROWS: usize = 100;

/// Which rules apply to which files of a tree.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the field names are the contract, described in the documentation")]
#[non_exhaustive]
pub struct CoverageReport {
    pub files: usize,
    /// Rules that some files activate; most files first.
    pub rules: Vec<Reached>,
    pub always: Vec<AlwaysRow>,
    /// Stream rules that watch the output whatever the files.
    pub stream: Vec<StreamRow>,
    pub others: Vec<Other>,
    pub dead: Vec<Dead>,
    pub unreached: Unreached,
    pub overlap: Vec<Overlap>,
    pub most: Vec<Most>,
    /// By top folder; most expensive first.
    pub cost: Vec<Cost>,
    /// The number of top folders.
    pub top_folders: usize,
    /// The files of every folder, by root and folder; not part of JSON output.
    #[serde(skip)]
    pub by_folder: Vec<InFolder>,
}

/// The files directly in one folder, together.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the field names say it")]
pub struct InFolder {
    pub root: usize,
    pub path: String,
    pub files: usize,
    /// Files without path-specific rules.
    pub unreached: usize,
    pub rules: usize,
    pub tokens: usize,
}

/// A rule that some files activate.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the field names are the contract")]
pub struct Reached {
    pub id: String,
    pub key: String,
    pub source: String,
    pub scope: Scope,
    pub activation: Activation,
    pub globs: Vec<String>,
    /// The folder of a nested rule.
    pub folder: Option<String>,
    pub files: usize,
    /// The share of all files, 0 to 1.
    pub share: f64,
    /// For how many of its files another rule overrides it.
    pub overridden: usize,
    /// Other conditions that must hold too.
    pub further: Vec<&'static str>,
    pub tokens: usize,
}

/// A rule that applies to every file.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the field names are the contract")]
pub struct AlwaysRow {
    pub id: String,
    pub key: String,
    pub source: String,
    pub activation: Activation,
    pub overridden: usize,
    pub tokens: usize,
}

/// A stream rule that is bound to no files.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the field names are the contract")]
pub struct StreamRow {
    pub id: String,
    pub key: String,
    pub source: String,
    /// The parts of the output that it watches.
    pub scope: Vec<String>,
    pub overridden: usize,
}

/// A rule that no file activates.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the field names are the contract")]
pub struct Other {
    pub id: String,
    pub key: String,
    pub source: String,
    pub activation: Activation,
    pub because: OtherReason,
    pub further: Vec<&'static str>,
}

/// Why no file activates a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum OtherReason {
    /// It is disabled, has no text, or has conditions about something else.
    Word(OtherWord),
    /// Files do not activate such rules.
    Activation(Activation),
}

words! {
    /// Why no file activates a rule that files could activate.
    OtherWord {
        /// It is switched off.
        Disabled = "disabled",
        /// It has conditions about something else.
        Conditions = "conditions",
        /// It has no text.
        Empty = "empty",
    }
}

/// A pattern that matches no file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the field names are the contract")]
#[non_exhaustive]
pub struct Dead {
    pub id: String,
    pub key: String,
    pub source: String,
    pub pattern: String,
    /// Its position among the patterns.
    #[serde(skip)]
    pub(super) at: usize,
    /// The position of the rule in the book.
    #[serde(skip)]
    pub rule: usize,
    /// Its byte range in the rule's file, which may contain other patterns too.
    #[serde(skip)]
    pub span: std::ops::Range<usize>,
}

/// Files without path-specific rules.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the field names are the contract")]
pub struct Unreached {
    pub files: usize,
    /// Most files first. A folder represents everything below it if no file there is reached, otherwise only itself.
    pub folders: Vec<Folder>,
    /// How many more folders there are.
    pub more: usize,
    /// The first few files in order, or all.
    pub paths: Vec<String>,
}

/// A folder with files without path-specific rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the field names are the contract")]
pub struct Folder {
    pub path: String,
    pub files: usize,
    pub of: usize,
    /// Whether it represents everything below it too.
    pub deep: bool,
}

/// How many files have this number of rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the field names are the contract")]
pub struct Overlap {
    pub rules: usize,
    pub files: usize,
}

/// A file with many rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the field names are the contract")]
pub struct Most {
    pub path: String,
    pub rules: usize,
}

/// The tokens that rules add to a prompt about one file, by top folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the field names are the contract")]
pub struct Cost {
    pub path: String,
    pub files: usize,
    pub mean: usize,
    pub max: usize,
}

impl Coverage<'_> {
    /// Converts a tally of all files into the shape that surfaces show.
    pub fn report(&self, tally: &Tally, roots: &Roots) -> CoverageReport {
        let files = tally.files();
        let counted = |role: Role| {
            let rules = self.rules.iter().zip(&tally.rules);
            rules.filter(move |(covered, _)| covered.role == role)
        };
        let mut rules: Vec<Reached> =
            counted(Role::Files).map(|(covered, counts)| reached(covered, *counts, files)).collect();
        rules.sort_by_key(|rule| Reverse(rule.files));
        let always = counted(Role::Always).map(|(Covered { rule, tokens, .. }, (_, overridden))| AlwaysRow {
            id: rule.id.clone(),
            key: rule.key(),
            source: rule.origin.display.clone(),
            activation: rule.activation,
            overridden: *overridden,
            tokens: *tokens,
        });
        let always = always.collect();
        let stream = counted(Role::Output).map(|(Covered { rule, .. }, (_, overridden))| StreamRow {
            id: rule.id.clone(),
            key: rule.key(),
            source: rule.origin.display.clone(),
            scope: watching(rule).scope,
            overridden: *overridden,
        });
        let stream = stream.collect();
        let is_other = |covered: &&Covered<'_>| matches!(covered.role, Role::Shadow | Role::Other);
        let others = self.rules.iter().filter(is_other).map(other).collect();
        let overlap = tally.overlap.iter().enumerate().filter(|(_, files)| **files > 0);
        let mut cost = costs(&tally.folders, roots);
        let top_folders = cost.len();
        cost.truncate(MAX_ROWS);
        CoverageReport {
            files,
            rules,
            always,
            stream,
            others,
            dead: self.dead(tally),
            overlap: overlap.map(|(rules, &files)| Overlap { rules, files }).collect(),
            most: (tally.most.files.iter())
                .map(|(rules, root, path)| Most { path: roots.shown(*root, path), rules: rules.0 })
                .collect(),
            cost,
            top_folders,
            unreached: unreached(tally, roots),
            by_folder: (tally.folders.iter())
                .map(|((root, path), here)| InFolder {
                    root: *root,
                    path: path.clone(),
                    files: here.files,
                    unreached: here.unreached,
                    rules: here.rules,
                    tokens: here.tokens,
                })
                .collect(),
        }
    }

    /// Returns the patterns that matched nothing, sorted by file and position.
    pub fn dead(&self, tally: &Tally) -> Vec<Dead> {
        let unmatched =
            self.patterns.iter().enumerate().zip(&tally.matched).filter(|(_, matched)| !**matched);
        let mut dead: Vec<Dead> = unmatched
            .map(|((at, pattern), _)| {
                let rule = self.rules[pattern.rule].rule;
                Dead {
                    id: rule.id.clone(),
                    key: rule.key(),
                    source: rule.origin.display.clone(),
                    pattern: pattern.written().to_owned(),
                    at,
                    rule: pattern.rule,
                    span: pattern.paths.spans[pattern.at].clone(),
                }
            })
            .collect();
        dead.sort_by(|a, b| (&a.source, a.at).cmp(&(&b.source, b.at)));
        dead
    }
}

fn reached(covered: &Covered<'_>, (count, overridden): (usize, usize), files: usize) -> Reached {
    let Covered { rule, further, tokens, .. } = covered;
    let share = count as f64 / files.max(1) as f64;
    Reached {
        id: rule.id.clone(),
        key: rule.key(),
        source: rule.origin.display.clone(),
        scope: rule.origin.scope,
        activation: rule.activation,
        globs: rule.globs.clone(),
        folder: rule.origin.nest().map(|(_, folder)| folder.to_owned()),
        files: count,
        share: (share * 10_000.0).round() / 10_000.0,
        overridden,
        further: further.clone(),
        tokens: *tokens,
    }
}

fn other(covered: &Covered<'_>) -> Other {
    let rule = covered.rule;
    let because = match at_best(rule) {
        _ if covered.off.is_some() => OtherReason::Word(OtherWord::Disabled),
        Some(State::Stack | State::Stream) => OtherReason::Word(OtherWord::Conditions),
        _ if rule.body.is_empty() => OtherReason::Word(OtherWord::Empty),
        _ => OtherReason::Activation(rule.activation),
    };
    Other {
        id: rule.id.clone(),
        key: rule.key(),
        source: rule.origin.display.clone(),
        activation: rule.activation,
        because,
        further: covered.further.clone(),
    }
}

fn costs(folders: &BTreeMap<(usize, String), Here>, roots: &Roots) -> Vec<Cost> {
    let mut tops: BTreeMap<(usize, &str), Here> = BTreeMap::new();
    for ((root, folder), here) in folders {
        tops.entry((*root, folder.split('/').next().unwrap_or_default())).or_default().add(*here);
    }
    let cost = |((root, folder), here): ((usize, &str), Here)| Cost {
        path: roots.shown(root, folder),
        files: here.files,
        mean: here.tokens / here.files.max(1),
        max: here.max,
    };
    let mut costs: Vec<Cost> = tops.into_iter().map(cost).collect();
    costs.sort_by_key(|cost| Reverse((cost.mean, cost.max)));
    costs
}

fn unreached(tally: &Tally, roots: &Roots) -> Unreached {
    let mut deep: BTreeMap<(usize, &str), Here> = BTreeMap::new();
    for ((root, folder), here) in &tally.folders {
        for above in enclosing_folders(folder) {
            deep.entry((*root, above)).or_default().add(*here);
        }
    }
    let is_whole = |root: usize, folder: &str| {
        deep.get(&(root, folder)).is_some_and(|here| here.files == here.unreached)
    };
    let mut folders: Vec<(usize, &str, Folder)> = Vec::new();
    let row = |root, folder, here: &Here, deep| {
        (
            root,
            folder,
            Folder { path: roots.shown(root, folder), files: here.unreached, of: here.files, deep },
        )
    };
    for (&(root, folder), here) in &deep {
        let parent = folder.rsplit_once('/').map_or("", |(parent, _)| parent);
        let is_in_whole = !folder.is_empty() && is_whole(root, parent);
        if is_whole(root, folder) {
            folders.extend((!is_in_whole).then(|| row(root, folder, here, true)));
        } else if let Some(here) = tally.folders.get(&(root, folder.to_owned())) {
            folders.extend((here.unreached > 0).then(|| row(root, folder, here, false)));
        }
    }
    folders.sort_by_key(|(root, folder, row)| (Reverse(row.files), *root, *folder));
    let more = folders.len().saturating_sub(MAX_ROWS);
    let paths = tally.unreached.files.iter().map(|(_, root, path)| roots.shown(*root, path)).collect();
    Unreached {
        files: tally.overlap.first().copied().unwrap_or(0),
        folders: folders.into_iter().take(MAX_ROWS).map(|(_, _, folder)| folder).collect(),
        more,
        paths,
    }
}
