//! `explain --rule`: shows which files in the tree a rule applies to.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::anyhow;
use rulebook::diagnostic::Diagnostic;
use rulebook::resolve::Rulebook;
use rulebook::rule::Rule;
use rulebook_workspace::{
    AgentSearch, AgentView, Reach, RuleFiles, Tree, UsedAgent, Viewpoint, Views, Wanted, Workspace,
};
use serde_json::json;

use super::nodes;
use super::sections::off_words;
use super::used::show_viewpoint;
use crate::alert::print_alerts;
use crate::args::Args;
use crate::input::typed_name;
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
    let name = typed_name(workspace, book, id);
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
    let mut rows = Vec::new();
    for (reached, off) in reached.iter().zip(offs) {
        let nodes = nodes::in_files(workspace, reached.rule, &reached.files);
        let activation = match off {
            Some(off) => format!("disabled {}", off_words(&reached.rule.id, off.by, off.file.as_deref())),
            None => reached.rule.activation.name().to_owned(),
        };
        let agents = match view {
            Viewpoint::Used => for_agents(workspace, &views, reached.rule, &tree),
            _ => Vec::new(),
        };
        rows.push((reached, activation, nodes, agents));
    }
    let tree = tree.files();
    if args.json {
        let rules: Vec<_> = rows
            .iter()
            .map(|(RuleFiles { rule, further, files, overridden, .. }, activation, nodes, agents)| {
                let agents: BTreeMap<&str, Option<usize>> = agents.iter().copied().collect();
                let nodes = files.iter().zip(nodes).filter_map(|(file, node)| Some((file, node.as_ref()?)));
                let nodes: BTreeMap<&String, &String> = nodes.collect();
                json!({
                    "id": rule.id, "key": rule.key(), "source": rule.origin.display, "activation": activation, "globs": rule.globs,
                    "further": further, "files": files, "overridden": overridden, "nodes": nodes,
                    "agents": agents,
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
    show_viewpoint(&mut text, view, &used);
    let mut is_collapsed = false;
    for (RuleFiles { rule, further, files, is_for_files, overridden, .. }, activation, nodes, agents) in rows
    {
        let conditions = depends_on(further);
        let count = match (is_for_files, further.as_slice()) {
            (true, []) => format!("{} of {}", files.len(), plural(tree, "file")),
            (true, _) => {
                format!("{} of {}; also depends on {conditions}", files.len(), plural(tree, "file"))
            }
            (false, []) if files.is_empty() && *overridden == 0 || rule.stream.is_some() => {
                "independent of files".to_owned()
            }
            (false, []) => "every file".to_owned(),
            (false, _) => format!("independent of files; depends on {conditions}"),
        };
        let count = match overridden {
            0 => count,
            overridden => format!("{count}; overridden for {}", plural(*overridden, "file")),
        };
        let (id, source) = (out::clean(&rule.id), out::clean(&rule.origin.display));
        // Which files they are says when it applies.
        let count = if activation == "when" { count } else { format!("{activation}; {count}") };
        let count = if agents.is_empty() { count } else { format!("as its header says: {count}") };
        let count = paint(DIM, count);
        let _ = writeln!(text, "{}  {source}  {count}", paint(BOLD, id));
        if !agents.is_empty() {
            let _ = writeln!(text, "  {}", paint(DIM, has(&agents, *is_for_files)));
        }
        if nodes.iter().all(Option::is_none) && *is_for_files && files.len() > MAX_FILES {
            is_collapsed = true;
            for (folder, count) in by_folder(files) {
                let count = paint(DIM, plural(count, "file"));
                let _ = writeln!(text, "  {}  {count}", out::clean(&folder));
            }
            continue;
        }
        for (file, node) in files.iter().zip(nodes).filter(|(_, node)| *is_for_files || node.is_some()) {
            let node = node.map(|node| format!("  {}", paint(DIM, out::clean(&node)))).unwrap_or_default();
            let _ = writeln!(text, "  {}{node}", out::clean(file));
        }
    }
    if is_collapsed {
        let _ = writeln!(text, "{}", paint(DIM, "`--json` lists every file"));
    }
    out::print(&text)?;
    print_alerts(diagnostics);
    Ok(())
}

/// Lists the conditions of a rule other than paths: `mode` and `keywords`.
pub(super) fn depends_on(conditions: &[&str]) -> String {
    let names: Vec<String> = conditions.iter().map(|name| format!("`{name}`")).collect();
    match names.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        names => names.concat(),
    }
}

/// Describes which agents have a rule, and for how many files if it is for some.
fn has(agents: &[(&str, Option<usize>)], is_for_files: bool) -> String {
    let own = |(agent, files): &(&str, Option<usize>)| match files {
        Some(files) if is_for_files => Some(format!("{agent} has it for {}", plural(*files, "file"))),
        Some(_) => Some(format!("{agent} has it")),
        None => None,
    };
    let own: Vec<String> = agents.iter().filter_map(own).collect();
    let others: Vec<&str> =
        agents.iter().filter(|(_, files)| files.is_none()).map(|(agent, _)| *agent).collect();
    let verb = if others.len() == 1 { "does" } else { "do" };
    let others = (!others.is_empty()).then(|| format!("{} {verb} not have it", others.join(", ")));
    own.into_iter().chain(others).collect::<Vec<_>>().join("; ")
}

/// More files of a rule are counted by folder, in at most this many folders.
const MAX_FILES: usize = 24;

/// Counts files by folder, as deep as there are few folders.
fn by_folder(files: &[String]) -> BTreeMap<String, usize> {
    let at_depth = |depth: usize| {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for file in files {
            let folders: Vec<&str> = file.split('/').collect();
            let folders = &folders[..depth.min(folders.len() - 1)];
            let folder = if folders.is_empty() { "./".to_owned() } else { format!("{}/", folders.join("/")) };
            *counts.entry(folder).or_default() += 1;
        }
        counts
    };
    let depths = files.iter().map(|file| file.matches('/').count()).max().unwrap_or(0);
    (0..=depths).rev().map(at_depth).find(|counts| counts.len() <= MAX_FILES).unwrap_or_default()
}

/// Returns for how many files each agent has a rule; `None` if it does not have it.
fn for_agents(
    workspace: &Workspace,
    views: &Views,
    rule: &Rule,
    tree: &Tree,
) -> Vec<(&'static str, Option<usize>)> {
    let files = |view: &AgentView| {
        let reaching = workspace.reaching(view, &views.meant.book, tree);
        let rules = reaching.book.rules().enumerate();
        let same = |other: &Rule| other.origin.path == rule.origin.path && other.id == rule.id;
        let at = rules.filter(|(_, (other, _))| same(other)).map(|(at, _)| at).next()?;
        workspace.reached_for(&[at], &reaching, tree).first().map(|reached| reached.files.len())
    };
    views.agents.iter().map(|view| (view.used.agent.name, files(view))).collect()
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
