//! What an import refers to, and the reports about imports that cannot be followed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rulebook::diagnostic::{Code, Diagnostic, MAX_PLACES};
use rulebook::format::IMPORTED;
use rulebook::parse::{Entry, Import, Parsed};
use rulebook::rule::Rule;
use rulebook::source::{Origin, Scope};

use crate::discover::Search;
use crate::homes::posix;
use crate::storage::plain;

/// The most files that all imports together may add.
pub(super) const MAX_IMPORTS: usize = 256;

/// The most names that are looked up on disk, for all rules together.
pub(super) const MAX_NAMES: usize = 50_000;

/// What to do about an import that starts with `/`.
const ABSOLUTE: &str = "a path that starts with `/` is absolute: write it relative to the importing file; put it in backticks if it is not an import";

/// The canonical path of a rule's file.
pub(super) fn real_path(rule: &Rule, search: &Search<'_>) -> PathBuf {
    let path = Path::new(&rule.origin.path);
    search.disk.real(path).unwrap_or_else(|_| path.to_owned())
}

pub(super) fn rule_of(parsed: &Parsed) -> Option<&Rule> {
    match &parsed.entry {
        Entry::Rule(rule) => Some(rule),
        Entry::Rejected(_) => None,
    }
}

/// Files found by location import others if their agent follows imports; files of rule folders mostly do not.
pub(super) fn may_import(rule: &Rule) -> bool {
    rule.origin.follows_imports() && rule.body.contains('@')
}

/// The canonical path of an imported file, if it may be read.
pub(super) fn target(
    rule: &Rule,
    import: &Import,
    search: &Search<'_>,
    report: &mut impl FnMut(Code, String, Option<String>),
) -> Option<PathBuf> {
    let path = &import.path;
    let written = search.homes.expand(path);
    let folder = Path::new(&rule.origin.path).parent()?;
    // Agents resolve `..` in the text of a path: `none/../a.md` names a file even if there is no folder `none`.
    let found = plain(&folder.join(&written)).and_then(|path| search.disk.real(&path).ok());
    let Some(real) = found.filter(|real| search.disk.files.is_file(real)) else {
        if import.is_surely_a_file() {
            let inner = written.strip_prefix("/").unwrap_or(&written);
            let from_root = plain(&Path::new(&search.roots.roots[rule.origin.root].path).join(inner));
            let from_root = from_root.filter(|path| search.disk.files.is_file(path));
            let (why, help) = match from_root.and_then(|target| relative(folder, &target)) {
                Some(relative) => (": imports are relative to the importing file", Some(relative)),
                None => ("", None),
            };
            let help = help.map(|path| format!("write `@{path}`"));
            report(Code::ImportMissing, format!("`@{path}` does not exist{why}"), help);
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
            None,
        );
        return None;
    }
    Some(real)
}

/// Returns the path that leads from a folder to a file.
fn relative(folder: &Path, target: &Path) -> Option<String> {
    let (folder, target): (Vec<_>, Vec<_>) = (folder.components().collect(), target.components().collect());
    let common = folder.iter().zip(&target).take_while(|(one, other)| one == other).count();
    let up = "../".repeat(folder.len() - common);
    let down: Option<Vec<&str>> = target[common..].iter().map(|part| part.as_os_str().to_str()).collect();
    Some(format!("{up}{}", down?.join("/")))
}

pub(super) fn imported(rule: &Rule, real: &Path, search: &Search<'_>) -> Origin {
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
pub(super) struct Reports<'r> {
    rule: &'r Rule,
    counts: BTreeMap<Code, usize>,
    diagnostics: Vec<Diagnostic>,
}

impl<'r> Reports<'r> {
    pub(super) fn new(rule: &'r Rule) -> Reports<'r> {
        Reports { rule, counts: BTreeMap::new(), diagnostics: Vec::new() }
    }

    pub(super) fn add(&mut self, import: &Import, code: Code, message: String, help: Option<String>) {
        let Reports { rule, counts, diagnostics } = self;
        let count = counts.entry(code).or_default();
        *count += 1;
        // Locating one reads the text up to it, so this is not done for thousands. One more is as short as its number.
        if *count <= MAX_PLACES + 1 {
            let mut found =
                Diagnostic::at(code, &rule.origin.display, &rule.body, import.span.clone(), message);
            found.line += rule.body_line - 1;
            if code == Code::ImportMissing && import.is_absolute() {
                ABSOLUTE.clone_into(&mut found.help);
            }
            found.help = help.unwrap_or(found.help);
            diagnostics.push(found);
        }
    }

    pub(super) fn finish(mut self) -> Vec<Diagnostic> {
        for (code, count) in self.counts.into_iter().filter(|(_, count)| *count > MAX_PLACES + 1) {
            if let Some(at) = self.diagnostics.iter().rposition(|found| found.code == code) {
                self.diagnostics.remove(at);
            }
            if let Some(last) = self.diagnostics.iter_mut().rfind(|found| found.code == code) {
                last.message.push_str(&format!("; {} more below", count - MAX_PLACES));
            }
        }
        self.diagnostics
    }
}
