//! `explain --rule`: shows which files in the tree a rule applies to.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::anyhow;
use rulebook::diagnostic::Diagnostic;
use rulebook::resolve::Rulebook;
use rulebook::rule::Rule;
use rulebook_workspace::{AgentSearch, Reach, RuleFiles, UsedAgent, Viewpoint, Views, Wanted, Workspace};
use serde_json::json;

use super::nodes;
use super::sections::off_words;
use super::used::show_viewpoint;
use crate::alert::print_alerts;
use crate::args::Args;
use crate::out::{self, BOLD, DIM, VERSION, paint, plural};

pub(super) fn run(args: &Args, workspace: &Workspace, id: &str, view: Viewpoint) -> anyhow::Result<()> {
    let tree = workspace.tree(Wanted::All, &|_| ());
    let sources = workspace.sources(Reach::Walked(&tree));
    let views = sources.views(workspace.agents_for(view, AgentSearch::Workspace));
    let agent = views.agents.first();
    let reaching = agent.filter(|_| matches!(view, Viewpoint::For(_)));
    let reaching = reaching.map(|agent| workspace.reaching(agent, &views.meant.book, &tree));
    let (book, diagnostics) = match (&reaching, view, agent) {
        (Some(reaching), ..) => (&reaching.book, &views.meant.diagnostics),
        (None, Viewpoint::As(_), Some(agent)) => (&agent.native.book, &agent.native.diagnostics),
        _ => (&views.meant.book, &views.meant.diagnostics),
    };
    let name = rulebook::id::rule_name(id);
    let called: Vec<&Rule> = book.lookup(&name).into_iter().map(|(rule, _)| rule).collect();
    let is_called = |rule: &Rule| called.iter().any(|called| std::ptr::eq(*called, rule));
    let called = book.rules().enumerate().filter(|(_, (rule, _))| is_called(rule));
    let (rules, offs): (Vec<usize>, Vec<_>) = called.map(|(at, (_, off))| (at, off)).unzip();
    if rules.is_empty() {
        return Err(missing(&name, book, diagnostics, &views, view));
    }
    let reached = match &reaching {
        Some(reaching) => workspace.reached_for(&rules, reaching, &tree),
        None => workspace.reached_by(&rules, book, &tree),
    };
    let tree = tree.files();
    let mut rows = Vec::new();
    for (reached, off) in reached.iter().zip(offs) {
        let nodes = nodes::in_files(workspace, reached.rule, &reached.files);
        let activation = match off {
            Some(off) => format!("disabled {}", off_words(&reached.rule.id, off.by, off.file.as_deref())),
            None => reached.rule.activation.name().to_owned(),
        };
        rows.push((reached, activation, nodes));
    }
    if args.json {
        let rules: Vec<_> = rows
            .iter()
            .map(|(RuleFiles { rule, further, files, overridden, .. }, activation, nodes)| {
                let nodes = files.iter().zip(nodes).filter_map(|(file, node)| Some((file, node.as_ref()?)));
                let nodes: BTreeMap<&String, &String> = nodes.collect();
                json!({
                    "id": rule.id, "key": rule.key(), "source": rule.origin.display, "activation": activation, "globs": rule.globs,
                    "further": further, "files": files, "overridden": overridden, "nodes": nodes,
                })
            })
            .collect();
        let answer = json!({
            "version": VERSION, "for": view.for_name(), "as": view.as_name(), "rules": rules, "tree": tree,
            "diagnostics": diagnostics,
        });
        return out::print_json(&answer);
    }
    let mut text = String::new();
    let used: Vec<UsedAgent> = views.agents.iter().map(|agent| agent.used.clone()).collect();
    let whose = if matches!(view, Viewpoint::Used) { Viewpoint::Any } else { view };
    show_viewpoint(&mut text, whose, &used);
    for (RuleFiles { rule, further, files, is_for_files, overridden, .. }, activation, nodes) in rows {
        let conditions = further.join(", ");
        let matches = if further.len() == 1 { "matches" } else { "match" };
        let count = match (is_for_files, further.as_slice()) {
            (true, []) => format!("{} of {}", files.len(), plural(tree, "file")),
            (true, _) => {
                format!("{} of {}, and only if {conditions} {matches}", files.len(), plural(tree, "file"))
            }
            (false, []) if files.is_empty() && *overridden == 0 || rule.stream.is_some() => {
                "independent of files".to_owned()
            }
            (false, []) => "every file".to_owned(),
            (false, _) => format!("independent of files; needs {conditions}"),
        };
        let count = match overridden {
            0 => count,
            overridden => format!("{count}; overridden for {}", plural(*overridden, "file")),
        };
        let (id, source) = (out::clean(&rule.id), out::clean(&rule.origin.display));
        // Which files they are says when it applies.
        let count = if activation == "when" { count } else { format!("{activation}; {count}") };
        let count = paint(DIM, count);
        let _ = writeln!(text, "{}  {source}  {count}", paint(BOLD, id));
        for (file, node) in files.iter().zip(nodes).filter(|(_, node)| *is_for_files || node.is_some()) {
            let node = node.map(|node| format!("  {}", paint(DIM, out::clean(&node)))).unwrap_or_default();
            let _ = writeln!(text, "  {}{node}", out::clean(file));
        }
    }
    out::print(&text)?;
    print_alerts(diagnostics);
    Ok(())
}

/// Returns the error for a name that no rule of the view has.
fn missing(
    name: &str,
    book: &Rulebook,
    diagnostics: &[Diagnostic],
    views: &Views,
    view: Viewpoint,
) -> anyhow::Error {
    let meant = views.meant.book.lookup(name);
    match (meant.first(), view) {
        (Some((rule, _)), Viewpoint::For(named) | Viewpoint::As(named)) => {
            let help = format!("`rulebook explain --rule {name}` shows the files it was meant for");
            let mut sources: Vec<String> = vec![format!("`{}`", out::clean(&rule.origin.display))];
            sources
                .extend(meant[1..].iter().map(|(rule, _)| format!("`{}`", out::clean(&rule.origin.display))));
            let verb = if matches!(view, Viewpoint::As(_)) { "does not read" } else { "does not get" };
            anyhow!(help).context(format!("{} {verb} {}", named.agent.title, sources.join(" or ")))
        }
        _ => super::toggle::unknown(name, book, diagnostics),
    }
}
