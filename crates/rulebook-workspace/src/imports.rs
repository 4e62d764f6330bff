//! Imports: each file that a rule includes with `@path` becomes a rule of its own, for the same folder.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};

use rulebook::diagnostic::{Code, Diagnostic, MAX_PLACES};
use rulebook::format::IMPORTED;
use rulebook::parse::{Entry, Import, Parsed, imports};
use rulebook::rule::Rule;
use rulebook::source::{Origin, Scope, Source};

use crate::discover::Search;
use crate::homes::posix;
use crate::load::Loader;

/// The most files that all imports together may add.
const MAX_IMPORTS: usize = 256;

/// The most names that are looked up on disk, for all rules together.
const MAX_NAMES: usize = 50_000;

/// A rule with imports, and the files that led to it.
struct Importer {
    at: usize,
    chain: Vec<PathBuf>,
}

/// Adds the files that the rules import, and reports imports that cannot be followed.
pub(crate) fn follow(parsed: &mut Vec<Parsed>, search: &Search<'_>, loader: &Loader<'_>) -> Vec<Diagnostic> {
    let real_path = |rule: &Rule| {
        let path = Path::new(&rule.origin.path);
        search.disk.real(path).unwrap_or_else(|_| path.to_owned())
    };
    let mut diagnostics = Vec::new();
    let importers = parsed.iter().enumerate().filter(|(_, parsed)| rule_of(parsed).is_some_and(may_import));
    let mut queue: VecDeque<Importer> = importers
        .map(|(at, parsed)| Importer { at, chain: rule_of(parsed).map(real_path).into_iter().collect() })
        .collect();
    let mut seen: HashSet<(PathBuf, String)> = HashSet::new();
    if !queue.is_empty() {
        let always = parsed.iter().filter_map(rule_of).filter(|rule| rule.is_on_here());
        seen.extend(always.map(|rule| (real_path(rule), rule.origin.folder.clone())));
    }
    let (known, mut names_looked_up) = (parsed.len(), 0);
    while let Some(importer) = queue.pop_front() {
        let Some(rule) = rule_of(&parsed[importer.at]) else { continue };
        let (mut added, mut is_full) = (Vec::new(), false);
        let mut reports = Reports { rule, counts: BTreeMap::new(), diagnostics: Vec::new() };
        let mut names = HashSet::new();
        for import in imports(&rule.body).into_iter().filter(|import| names.insert(import.path.clone())) {
            let path = &import.path;
            let depth = rule.origin.format.imports;
            let mut report = |code, message: String| reports.add(&import, code, message);
            names_looked_up += 1;
            if names_looked_up > MAX_NAMES {
                let message =
                    format!("`@{path}` and later imports are not read: the limit is {MAX_NAMES} names");
                report(Code::ImportTooDeep, message);
                is_full = true;
                break;
            }
            let Some(real) = target(rule, &import, search, &mut report) else { continue };
            if importer.chain.contains(&real) {
                report(
                    Code::ImportCyclic,
                    format!("`@{path}` is an import cycle: that file imports this one"),
                );
            } else if importer.chain.len() > depth {
                let agent = rule.origin.format.agent;
                let message = format!("`@{path}` is not read: {agent} follows imports {depth} levels deep");
                report(Code::ImportTooDeep, message);
            } else if parsed.len() + added.len() - known >= MAX_IMPORTS {
                let message =
                    format!("`@{path}` and later imports are not read: the limit is {MAX_IMPORTS} files");
                report(Code::ImportTooDeep, message);
                // Reported once: there may be thousands.
                is_full = true;
                break;
            } else if seen.insert((real.clone(), rule.origin.folder.clone())) {
                added.push((imported(rule, &real, search), real));
            }
        }
        diagnostics.extend(reports.finish());
        for (origin, real) in added {
            let (text, reported) =
                loader.gate.admit(&origin, search.disk.text(&real, search.disk.node(&real)));
            let mut imported = loader.parse(Source { origin, text });
            imported.diagnostics.extend(reported);
            let chain = importer.chain.iter().cloned().chain([real]).collect();
            queue.push_back(Importer { at: parsed.len(), chain });
            parsed.push(imported);
        }
        if is_full {
            break;
        }
    }
    diagnostics
}

fn rule_of(parsed: &Parsed) -> Option<&Rule> {
    match &parsed.entry {
        Entry::Rule(rule) => Some(rule),
        Entry::Rejected(_) => None,
    }
}

/// Only files found by location import others; most do not.
fn may_import(rule: &Rule) -> bool {
    rule.origin.format.imports > 0 && rule.origin.place.is_raw() && rule.body.contains('@')
}

/// The canonical path of an imported file, if it may be read.
fn target(
    rule: &Rule,
    import: &Import,
    search: &Search<'_>,
    report: &mut impl FnMut(Code, String),
) -> Option<PathBuf> {
    let path = &import.path;
    let written = search.homes.expand(path);
    let folder = Path::new(&rule.origin.path).parent()?;
    let Some(real) = search.disk.real(&folder.join(written)).ok().filter(|real| real.is_file()) else {
        if import.is_surely_a_file() {
            report(Code::ImportMissing, format!("`@{path}` does not exist"));
        }
        return None;
    };
    let within = match (rule.origin.scope, &search.homes.home) {
        (Scope::User, Some(home)) => home.as_path(),
        _ => Path::new(&search.roots.roots[rule.origin.root].path),
    };
    if !search.allows(&real, within) {
        report(
            Code::ImportOutside,
            format!("`@{path}` is `{}`, outside the root", search.homes.shown(&real)),
        );
        return None;
    }
    Some(real)
}

fn imported(rule: &Rule, real: &Path, search: &Search<'_>) -> Origin {
    let display = search.shown(rule.origin.root, real);
    let mut origin = rule.origin.clone();
    origin.place = &IMPORTED;
    origin.imported_by = Some(rule.origin.display.clone());
    display.trim_start_matches("~/").clone_into(&mut origin.inner);
    origin.display = display;
    origin.path = posix(real);
    origin
}

/// The diagnostics of one rule's imports: the first few of each code, and the number of the others.
struct Reports<'r> {
    rule: &'r Rule,
    counts: BTreeMap<Code, usize>,
    diagnostics: Vec<Diagnostic>,
}

impl Reports<'_> {
    fn add(&mut self, import: &Import, code: Code, message: String) {
        let Reports { rule, counts, diagnostics } = self;
        let count = counts.entry(code).or_default();
        *count += 1;
        // Locating one reads the text up to it, so this is not done for thousands.
        if *count <= MAX_PLACES {
            let mut found =
                Diagnostic::at(code, &rule.origin.display, &rule.body, import.span.clone(), message);
            found.line += rule.body_line - 1;
            diagnostics.push(found);
        }
    }

    fn finish(mut self) -> Vec<Diagnostic> {
        for (code, count) in self.counts.into_iter().filter(|(_, count)| *count > MAX_PLACES) {
            if let Some(last) = self.diagnostics.iter_mut().rfind(|found| found.code == code) {
                last.message.push_str(&format!("; {} more below", count - MAX_PLACES));
            }
        }
        self.diagnostics
    }
}
