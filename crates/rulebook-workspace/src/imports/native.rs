//! Imports as an agent follows them: each imported file becomes a rule of its own, for the same folder.

use std::collections::{HashSet, VecDeque};
use std::path::PathBuf;

use rulebook::diagnostic::{Code, Diagnostic};
use rulebook::format::FormatId;
use rulebook::parse::{Entry, Parsed, imports, imports_in_gemini};
use rulebook::rule::{Activation, ImportedRule, Rule};
use rulebook::source::Source;

use super::target::{MAX_IMPORTS, MAX_NAMES, Reports, imported, may_import, real_path, rule_of, target};
use crate::discover::Search;
use crate::load::Loader;

/// A rule with imports, and the files that led to it.
struct Importer {
    at: usize,
    chain: Vec<PathBuf>,
}

/// Adds the files that the rules import, and reports imports that cannot be followed.
pub(crate) fn follow_native(
    parsed: &mut Vec<Parsed>,
    search: &Search<'_>,
    loader: &Loader<'_>,
) -> Vec<Diagnostic> {
    let real_path = |rule: &Rule| real_path(rule, search);
    let mut diagnostics = Vec::new();
    let importers = parsed.iter().enumerate().filter(|(_, parsed)| rule_of(parsed).is_some_and(may_import));
    // First those that always apply: what they import does so, too.
    let (always, others): (Vec<_>, Vec<_>) =
        importers.partition(|(_, parsed)| rule_of(parsed).is_some_and(Rule::is_on_here));
    let mut queue: VecDeque<Importer> = always
        .into_iter()
        .chain(others)
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
        // What a rule for some files imports applies where the rule does.
        let (is_always, mut links) = (rule.is_on_here(), Vec::new());
        let mut reports = Reports::new(rule);
        let mut names = HashSet::new();
        let is_gemini = matches!(rule.origin.format.id, FormatId::Gemini | FormatId::Qwen);
        let find = if is_gemini { imports_in_gemini } else { imports };
        for import in find(&rule.body).into_iter().filter(|import| names.insert(import.path.clone())) {
            let path = &import.path;
            let depth = rule.origin.format.imports;
            let mut report = |code, message: String, help| reports.add(&import, code, message, help);
            names_looked_up += 1;
            if names_looked_up > MAX_NAMES {
                let message =
                    format!("`@{path}` and later imports are not read: the limit is {MAX_NAMES} names");
                report(Code::ImportTooDeep, message, None);
                is_full = true;
                break;
            }
            let Some(real) = target(rule, &import, search, &mut report) else { continue };
            if importer.chain.contains(&real) {
                report(
                    Code::ImportCyclic,
                    format!("`@{path}` is an import cycle: that file imports this one"),
                    None,
                );
            } else if importer.chain.len() > depth {
                let agent = rule.origin.format.agent;
                let message = format!("`@{path}` is not read: {agent} follows imports {depth} levels deep");
                report(Code::ImportTooDeep, message, None);
            } else if parsed.len() + added.len() - known >= MAX_IMPORTS {
                let message =
                    format!("`@{path}` and later imports are not read: the limit is {MAX_IMPORTS} files");
                report(Code::ImportTooDeep, message, None);
                // Reported once: there may be thousands.
                is_full = true;
                break;
            } else {
                let origin = imported(rule, &real, search);
                links.push(ImportedRule { path: origin.path.clone(), display: origin.display.clone() });
                if seen.insert((real.clone(), rule.origin.folder.clone())) {
                    added.push((origin, real));
                }
            }
        }
        diagnostics.extend(reports.finish());
        if let Entry::Rule(rule) = &mut parsed[importer.at].entry
            && !is_always
        {
            rule.imports = links;
        }
        for (origin, real) in added {
            let (text, reported) = loader.admit(&origin, search.text_at(&real));
            let mut imported = loader.parse(Source { origin, text });
            imported.diagnostics.extend(reported);
            if let Entry::Rule(rule) = &mut imported.entry
                && !is_always
            {
                rule.activation = Activation::Never;
            }
            let chain = importer.chain.iter().cloned().chain([real]).collect();
            queue.push_back(Importer { at: parsed.len(), chain });
            parsed.push(imported);
        }
        if is_full {
            break;
        }
    }
    drop_imported(parsed, known, search);
    diagnostics
}

/// Removes the files of nested folders that a file above imports: the agent has read them before it gets there.
fn drop_imported(parsed: &mut Vec<Parsed>, known: usize, search: &Search<'_>) {
    let imported: Vec<(PathBuf, usize, String)> = parsed[known..]
        .iter()
        .filter_map(rule_of)
        .map(|rule| (real_path(rule, search), rule.origin.root, rule.origin.folder.clone()))
        .collect();
    let is_above = |above: &str, folder: &str| {
        above != folder
            && folder.strip_prefix(above).is_some_and(|rest| above.is_empty() || rest.starts_with('/'))
    };
    let mut at = 0;
    parsed.retain(|parsed| {
        at += 1;
        let Some(rule) = rule_of(parsed).filter(|rule| at <= known && rule.is_located()) else { return true };
        let real = real_path(rule, search);
        !imported.iter().any(|(path, root, folder)| {
            *path == real && *root == rule.origin.root && is_above(folder, &rule.origin.folder)
        })
    });
}
