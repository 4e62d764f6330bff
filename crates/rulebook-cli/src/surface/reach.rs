//! `explain --rule`: shows which files in the tree a rule applies to.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rulebook::rule::Rule;
use rulebook_workspace::{Reach, RuleFiles, Wanted, Workspace};
use serde_json::json;

use super::nodes;
use super::sections::off_words;
use crate::args::Args;
use crate::out::{self, BOLD, DIM, VERSION, paint, plural};

pub(super) fn run(args: &Args, workspace: &Workspace, id: &str) -> anyhow::Result<()> {
    let tree = workspace.tree(Wanted::All, &|_| ());
    let loaded = workspace.load(Reach::Walked(&tree));
    let name = rulebook::id::rule_name(id);
    let called: Vec<&Rule> = loaded.book.lookup(&name).into_iter().map(|(rule, _)| rule).collect();
    let is_called = |rule: &Rule| called.iter().any(|called| std::ptr::eq(*called, rule));
    let called = loaded.book.rules().enumerate().filter(|(_, (rule, _))| is_called(rule));
    let (rules, offs): (Vec<usize>, Vec<_>) = called.map(|(at, (_, off))| (at, off)).unzip();
    if rules.is_empty() {
        return Err(super::toggle::unknown(&name, &loaded.book));
    }
    let reached = workspace.reached_by(&rules, &loaded.book, &tree);
    let tree = tree.files();
    let mut rows = Vec::new();
    for (reached, off) in reached.iter().zip(offs) {
        let nodes = nodes::in_files(workspace, reached.rule, &reached.files);
        let activation = match off {
            Some(off) => format!("disabled {}", off_words(off.by, off.file.as_deref())),
            None => reached.rule.activation.name().to_owned(),
        };
        rows.push((reached, activation, nodes));
    }
    if args.json {
        let rules: Vec<_> = rows
            .iter()
            .map(|(RuleFiles { rule, further, files, .. }, activation, nodes)| {
                let nodes = files.iter().zip(nodes).filter_map(|(file, node)| Some((file, node.as_ref()?)));
                let nodes: BTreeMap<&String, &String> = nodes.collect();
                json!({
                    "id": rule.id, "key": rule.key(), "source": rule.origin.display, "activation": activation, "globs": rule.globs,
                    "further": further, "files": files, "nodes": nodes,
                })
            })
            .collect();
        let answer =
            json!({ "version": VERSION, "rules": rules, "tree": tree, "diagnostics": loaded.diagnostics });
        return out::print_json(&answer);
    }
    let mut text = String::new();
    for (RuleFiles { rule, further, files, .. }, activation, nodes) in rows {
        // Without a condition on paths, the files were not counted.
        let asks_paths = rule.conditions.iter().any(|condition| !further.contains(&condition.key));
        let is_counted = asks_paths || further.is_empty() || !files.is_empty();
        let mut count = match is_counted {
            true => format!("{activation}; {} of {}", files.len(), plural(tree, "file")),
            false => format!("{activation}; any file"),
        };
        if !further.is_empty() {
            let _ = write!(count, ", if {} also holds", further.join(", "));
        }
        let (id, source) = (out::clean(&rule.id), out::clean(&rule.origin.display));
        let _ = writeln!(text, "{}  {source}  {}", paint(BOLD, id), paint(DIM, count));
        for (file, node) in files.iter().zip(nodes) {
            let node = node.map(|node| format!("  {}", paint(DIM, out::clean(&node)))).unwrap_or_default();
            let _ = writeln!(text, "  {}{node}", out::clean(file));
        }
    }
    out::print(&text)
}
