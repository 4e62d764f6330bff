//! One rule file: what its header says, what is wrong with it, how it can be repaired, and which files it is for.

use std::collections::HashSet;

use rulebook::fix::{changes, fix};
use rulebook::parse::{Explained, explain_header};
use rulebook_workspace::{JSON_VERSION, Reach, RuleFiles, Wanted, Workspace};
use serde_json::{Value, json};

/// How many files of the tree the views of a rule are compared on, to see whether a repair is safe.
const MAX_SAMPLE: usize = 2_000;

/// Describes one rule file, by the path shown in answers. A file that is not a rule file has empty lists.
pub(crate) fn describe(workspace: &Workspace, path: &str) -> Value {
    let tree = workspace.tree(Wanted::All, &|_| ());
    let sources = workspace.sources(Reach::Walked(&tree));
    let checked = sources.checked(&tree);
    let here = checked.book.rules().enumerate().filter(|(_, (rule, _))| rule.origin.display == path);
    let here: Vec<usize> = here.map(|(at, _)| at).collect();
    let rules = workspace.reached_by(&here, &checked.book, &tree);
    let rules: Vec<Value> = rules.iter().map(rule).collect();
    let file = sources.fixable_files(&HashSet::from([path])).into_iter().next();
    let read = file.as_ref().and_then(|file| {
        let origin = file.readers.meant.first()?;
        Some((&file.readers, origin, workspace.rule_file(origin)?))
    });
    let header: Vec<Value> = read
        .iter()
        .flat_map(|(_, origin, text)| explain_header(origin, text))
        .map(|key| explained(&key))
        .collect();
    let fixed = read.as_ref().and_then(|(readers, _, text)| {
        let fixed = fix(text, readers, &tree.sample(MAX_SAMPLE))?;
        Some(json!({ "text": fixed, "changes": changes(text, &fixed, readers) }))
    });
    let readers = read.iter().flat_map(|(readers, ..)| &readers.agents).map(|(agent, _)| agent.name);
    let diagnostics: Vec<_> = checked.diagnostics.iter().filter(|found| found.path == path).collect();
    json!({
        "version": JSON_VERSION, "path": path, "rules": rules, "header": header, "fixed": fixed,
        "readers": readers.collect::<Vec<_>>(), "diagnostics": diagnostics,
    })
}

fn rule(reached: &RuleFiles<'_>) -> Value {
    let RuleFiles { rule, further, files, .. } = reached;
    json!({
        "id": rule.id, "key": rule.key(), "name": rule.name, "format": rule.origin.format.id,
        "activation": rule.activation, "globs": rule.globs, "further": further, "files": files,
    })
}

fn explained(key: &Explained) -> Value {
    json!({ "key": key.key, "lines": [key.lines.start, key.lines.end - 1], "meaning": key.meaning })
}
