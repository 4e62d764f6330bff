//! Imports as their authors meant them. A rule that another one imports stays a rule of its own, and is delivered once;
//! the text of any other file replaces its import.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use rulebook::diagnostic::{Code, Diagnostic};
use rulebook::parse::{Entry, Import, Parsed, imports};
use rulebook::rule::{ImportedRule, Rule};
use rulebook::source::{MAX_SOURCE, Origin, Source};

use super::target::{MAX_IMPORTS, MAX_NAMES, Reports, imported, may_import, real_path, rule_of, target};
use crate::discover::Search;
use crate::homes::posix;
use crate::load::Loader;

/// How many files deep imports are followed.
const MAX_HOPS: usize = 4;

/// Replaces the imports of all rules, and reports those that cannot be followed. Imported rules that are not within reach
/// are added.
pub(crate) fn resolve_meant(
    parsed: &mut Vec<Parsed>,
    search: &Search<'_>,
    loader: &Loader<'_>,
) -> Vec<Diagnostic> {
    if !parsed.iter().any(|parsed| rule_of(parsed).is_some_and(may_import)) {
        return Vec::new();
    }
    let mut rules = HashMap::new();
    for rule in parsed.iter().filter_map(rule_of) {
        rules.entry(real_path(rule, search)).or_insert_with(|| named(rule));
    }
    let mut resolver =
        Resolver { search, loader, rules, added: Vec::new(), diagnostics: Vec::new(), names: 0, files: 0 };
    let mut at = 0;
    while at < parsed.len() {
        if let Entry::Rule(rule) = &mut parsed[at].entry
            && may_import(rule)
        {
            let mut text = Expansion { chain: vec![real_path(rule, search)], ..Expansion::default() };
            rule.body = resolver.expand(rule, &mut text).trim().into();
            rule.imports = text.imports;
        }
        parsed.append(&mut resolver.added);
        at += 1;
    }
    resolver.diagnostics
}

struct Resolver<'s> {
    search: &'s Search<'s>,
    loader: &'s Loader<'s>,
    /// The rules, by the canonical path of their file.
    rules: HashMap<PathBuf, ImportedRule>,
    /// Imported rules that were not within reach.
    added: Vec<Parsed>,
    diagnostics: Vec<Diagnostic>,
    names: usize,
    files: usize,
}

/// What one rule imports.
#[derive(Default)]
struct Expansion {
    /// The file at hand and those that led to it.
    chain: Vec<PathBuf>,
    /// The files whose text is in the rule.
    inlined: HashSet<PathBuf>,
    imports: Vec<ImportedRule>,
    size: usize,
}

/// What an import is replaced by.
enum Replacement {
    /// Nothing: the file is delivered elsewhere.
    Nothing,
    Text(String),
}

impl Resolver<'_> {
    /// Returns the text of a rule, or of an imported file, with its imports replaced.
    fn expand(&mut self, rule: &Rule, expansion: &mut Expansion) -> String {
        let mut reports = Reports::new(rule);
        let mut writer = Writer { text: &rule.body, out: String::new(), from: 0, below: Vec::new() };
        // Each name is looked up and reported once.
        let mut kept: HashSet<String> = HashSet::new();
        let mut known: HashSet<String> = HashSet::new();
        for import in imports(&rule.body) {
            if kept.contains(&import.path) {
                continue;
            }
            self.names += usize::from(known.insert(import.path.clone()));
            if self.names > MAX_NAMES {
                let message = format!(
                    "`@{}` and later imports are not read: the limit is {MAX_NAMES} names",
                    import.path
                );
                reports.add(&import, Code::ImportTooDeep, message, None);
                break;
            }
            let mut report = |code, message: String, help| reports.add(&import, code, message, help);
            match self.replace(rule, &import, expansion, &mut report) {
                Some(replacement) => writer.replace(&import, replacement),
                None => drop(kept.insert(import.path.clone())),
            }
        }
        self.diagnostics.extend(reports.finish());
        writer.finish()
    }

    /// Returns what an import is replaced by; `None` if it stays in the text.
    fn replace(
        &mut self,
        rule: &Rule,
        import: &Import,
        expansion: &mut Expansion,
        report: &mut impl FnMut(Code, String, Option<String>),
    ) -> Option<Replacement> {
        let path = &import.path;
        let real = target(rule, import, self.search, report)?;
        if expansion.chain.contains(&real) {
            report(
                Code::ImportCyclic,
                format!("`@{path}` is an import cycle: that file imports this one"),
                None,
            );
            return Some(Replacement::Nothing);
        }
        if let Some(imported) = self.rule_at(&real) {
            if !expansion.imports.contains(&imported) {
                expansion.imports.push(imported);
            }
            return Some(Replacement::Nothing);
        }
        if expansion.inlined.contains(&real) {
            return Some(Replacement::Nothing);
        }
        if expansion.chain.len() > MAX_HOPS {
            report(
                Code::ImportTooDeep,
                format!("`@{path}` is not read: imports are followed {MAX_HOPS} levels deep"),
                None,
            );
            return None;
        }
        self.files += 1;
        if self.files > MAX_IMPORTS {
            report(
                Code::ImportTooDeep,
                format!("`@{path}` is not read: the limit is {MAX_IMPORTS} imported files"),
                None,
            );
            return None;
        }
        let parsed = self.read(imported(rule, &real, self.search), &real);
        self.diagnostics.extend(parsed.diagnostics);
        let Entry::Rule(file) = parsed.entry else { return None };
        expansion.size += file.body.len();
        if expansion.size as u64 > MAX_SOURCE {
            report(
                Code::ImportTooDeep,
                format!("`@{path}` is not read: the imports of a rule are limited to 1 MiB"),
                None,
            );
            return None;
        }
        expansion.inlined.insert(real.clone());
        expansion.chain.push(real);
        let text = self.expand(&file, expansion);
        expansion.chain.pop();
        Some(Replacement::Text(text.trim().to_owned()))
    }

    fn read(&self, origin: Origin, real: &Path) -> Parsed {
        let text = self.search.text_at(real);
        let (text, reported) = self.loader.admit(&origin, text);
        let mut parsed = self.loader.parse(Source { origin, text });
        parsed.diagnostics.extend(reported);
        parsed
    }

    /// Returns the rule of a file. Whether a file is a rule does not depend on what is within reach.
    fn rule_at(&mut self, real: &Path) -> Option<ImportedRule> {
        if let Some(known) = self.rules.get(real) {
            return Some(known.clone());
        }
        // Roots are sorted, so that the innermost is the last.
        let mut roots = self.search.roots.roots.iter().enumerate().rev();
        let (root, inside) = roots.find_map(|(at, root)| Some((at, real.strip_prefix(&root.path).ok()?)))?;
        let mut origin = Origin::at(self.search.formats.iter().copied(), &posix(inside))?;
        origin.root = root;
        origin.path = posix(real);
        origin.display = self.search.shown(root, real);
        let parsed = self.read(origin, real);
        let found = rule_of(&parsed).map(named);
        if let Some(found) = &found {
            self.rules.insert(real.to_owned(), found.clone());
        }
        self.added.push(parsed);
        found
    }
}

fn named(rule: &Rule) -> ImportedRule {
    ImportedRule { path: rule.origin.path.clone(), display: rule.origin.display.clone() }
}

/// A text that is written with its imports replaced.
struct Writer<'t> {
    text: &'t str,
    out: String,
    /// How much of the text is written.
    from: usize,
    /// Texts to write below the line at hand.
    below: Vec<String>,
}

impl Writer<'_> {
    /// Replaces an import. On a line of its own, the line is replaced; within a sentence, the path stays, and the text
    /// follows below the line.
    fn replace(&mut self, import: &Import, replacement: Replacement) {
        let (start, end) = (import.span.start, import.span.end);
        let line_start = self.text[..start].rfind('\n').map_or(0, |at| at + 1);
        self.end_line_before(line_start);
        let line_end = self.text[end..].find('\n').map_or(self.text.len(), |at| end + at);
        let marks = |c: char| c.is_whitespace() || matches!(c, '-' | '*' | '+' | '>');
        let is_alone = self.from <= line_start
            && self.text[line_start..start].chars().all(marks)
            && self.text[end..line_end].trim().is_empty();
        if is_alone {
            self.out.push_str(&self.text[self.from..line_start]);
            match replacement {
                Replacement::Nothing => self.from = (line_end + 1).min(self.text.len()),
                Replacement::Text(text) => {
                    self.out.push_str(&text);
                    self.from = line_end;
                }
            }
            return;
        }
        self.out.push_str(&self.text[self.from..start]);
        self.out.push_str(&import.path);
        self.from = end;
        if let Replacement::Text(text) = replacement {
            self.below.push(text);
        }
    }

    /// Writes what belongs below the last line, if that line ends before `at`.
    fn end_line_before(&mut self, at: usize) {
        if self.below.is_empty() || at <= self.from {
            return;
        }
        let line_end = self.text[self.from..].find('\n').map_or(self.text.len(), |at| self.from + at);
        self.out.push_str(&self.text[self.from..line_end]);
        self.from = line_end;
        for text in self.below.drain(..) {
            self.out.push_str("\n\n");
            self.out.push_str(&text);
        }
    }

    fn finish(mut self) -> String {
        self.end_line_before(usize::MAX);
        self.out.push_str(&self.text[self.from..]);
        self.out
    }
}
