//! Following imports: each file a rule pulls in with `@path` becomes a rule of its own, for the same folder.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

use rulebook::diagnostic::{Code, Diagnostic, MAX_PLACES};
use rulebook::format::IMPORTED;
use rulebook::parse::{Entry, Import, Parsed, imports, parse};
use rulebook::rule::Rule;
use rulebook::source::{Scope, Source};

use crate::discover::Search;
use crate::homes::posix;
use crate::load::{FIRST_READ, read_text};
use crate::trust::Gate;

/// The most files all imports together may pull in.
const MAX_IMPORTS: usize = 256;

/// The most names that are looked for on disk, of all rules together.
const MAX_NAMES: usize = 50_000;

/// A rule whose imports are followed, and the files that led to it.
struct Importer {
    at: usize,
    chain: Vec<PathBuf>,
}

/// Adds what the rules import; tells of imports that cannot be followed.
pub(crate) fn follow(parsed: &mut Vec<Parsed>, search: &Search<'_>, gate: &Gate) -> Vec<Diagnostic> {
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
    let (known, mut looked_for) = (parsed.len(), 0);
    while let Some(importer) = queue.pop_front() {
        let Some(rule) = rule_of(&parsed[importer.at]) else { continue };
        let (mut added, mut is_full) = (Vec::new(), false);
        let mut telling = Telling { rule, counts: BTreeMap::new(), told: Vec::new() };
        let mut names = HashSet::new();
        for import in imports(&rule.body).into_iter().filter(|import| names.insert(import.path.clone())) {
            let path = &import.path;
            let mut tell = |code, message: String| telling.tell(&import, code, message);
            looked_for += 1;
            if looked_for > MAX_NAMES {
                tell(
                    Code::ImportTooDeep,
                    format!(
                        "`@{path}` and what follows are not read: {MAX_NAMES} names are looked for already"
                    ),
                );
                is_full = true;
                break;
            }
            let Some(real) = target(rule, &import, search, &mut tell) else { continue };
            if importer.chain.contains(&real) {
                tell(Code::ImportCyclic, format!("`@{path}` leads back to a file that imports this one"));
            } else if importer.chain.len() > rule.origin.format.imports {
                let agent = rule.origin.format.agent;
                let depth = rule.origin.format.imports;
                tell(
                    Code::ImportTooDeep,
                    format!("`@{path}` is not read: {agent} follows {depth} imports deep"),
                );
            } else if parsed.len() + added.len() - known >= MAX_IMPORTS {
                tell(
                    Code::ImportTooDeep,
                    format!(
                        "`@{path}` and what follows are not read: {MAX_IMPORTS} files are imported already"
                    ),
                );
                // Once is enough: there may be thousands.
                is_full = true;
                break;
            } else if seen.insert((real.clone(), rule.origin.folder.clone())) {
                added.push((imported(rule, &real, search), real));
            }
        }
        diagnostics.extend(telling.end());
        for (Source { origin, text }, real) in added {
            let chain = importer.chain.iter().cloned().chain([real]).collect();
            queue.push_back(Importer { at: parsed.len(), chain });
            let (text, told) = match text {
                Ok(text) => gate.admit(&origin, text),
                Err(refused) => (Err(refused), None),
            };
            let mut imported = parse(Source { origin, text });
            imported.diagnostics.extend(told);
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

fn real_path(rule: &Rule) -> PathBuf {
    fs::canonicalize(&rule.origin.path).unwrap_or_else(|_| PathBuf::from(&rule.origin.path))
}

/// The real file an import leads to, if it may be read.
fn target(
    rule: &Rule,
    import: &Import,
    search: &Search<'_>,
    tell: &mut impl FnMut(Code, String),
) -> Option<PathBuf> {
    let path = &import.path;
    let written = search.homes.expand(path);
    let folder = Path::new(&rule.origin.path).parent()?;
    let Some(real) = fs::canonicalize(folder.join(written)).ok().filter(|real| real.is_file()) else {
        if import.is_surely_a_file() {
            tell(Code::ImportMissing, format!("`@{path}` names no file"));
        }
        return None;
    };
    let within = match (rule.origin.scope, &search.homes.home) {
        (Scope::User, Some(home)) => home.as_path(),
        _ => Path::new(&search.roots.roots[rule.origin.root].path),
    };
    if !search.allows(&real, within) {
        tell(Code::ImportOutside, format!("`@{path}` leads to `{}`", search.homes.shown(&real)));
        return None;
    }
    Some(real)
}

fn imported(rule: &Rule, real: &Path, search: &Search<'_>) -> Source {
    let display = search.shown(rule.origin.root, real);
    let mut origin = rule.origin.clone();
    origin.place = &IMPORTED;
    display.trim_start_matches("~/").clone_into(&mut origin.inner);
    origin.display = display;
    origin.path = posix(real);
    Source { origin, text: read_text(real, &mut vec![0; FIRST_READ]) }
}

/// What is told of the imports of one rule: of each kind the first few, and how many more there are.
struct Telling<'r> {
    rule: &'r Rule,
    counts: BTreeMap<Code, usize>,
    told: Vec<Diagnostic>,
}

impl Telling<'_> {
    fn tell(&mut self, import: &Import, code: Code, message: String) {
        let Telling { rule, counts, told } = self;
        let count = counts.entry(code).or_default();
        *count += 1;
        // A place is counted from the start of the text: not for thousands of them.
        if *count <= MAX_PLACES {
            let at = Diagnostic::at(code, &rule.origin.display, &rule.body, import.span.clone(), message);
            told.push(Diagnostic { line: at.line + rule.body_line - 1, ..at });
        }
    }

    fn end(mut self) -> Vec<Diagnostic> {
        for (code, count) in self.counts.into_iter().filter(|(_, count)| *count > MAX_PLACES) {
            if let Some(last) = self.told.iter_mut().rfind(|told| told.code == code) {
                last.message.push_str(&format!("; {} more below", count - MAX_PLACES));
            }
        }
        self.told
    }
}
