//! `explain`: shows which rules each agent has for a path and why, and why the others are not there.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::anyhow;
use rulebook::agent::Agent;
use rulebook::compare::Difference;
use rulebook::diagnostic::Diagnostic;
use rulebook::evaluate::{Audience, InactiveReason, evaluate};
use rulebook::evidence::{Evidence, Input, PathLocation};
use rulebook::explain::{Inactive, Target, explain, explain_for, explain_within};
use rulebook::matrix::CellState;
use rulebook::render::render;
use rulebook_workspace::{AgentSearch, Loaded, Reach, Sources, UsedAgent, Views, Wanted, Workspace};
use serde_json::{Value, json};

use super::grid::{Grid, GridTarget, would_add};
use super::sections::{show, show_agent, title};
use super::used::{agents, in_files, install_hint, show_agents, show_surface};
use super::{reach, sessions};
use crate::args::{Args, Explain, Viewpoint};
use crate::input::{open_workspace, read_evidence};
use crate::out::{self, BOLD, DIM, PLAIN, Table, VERSION, YELLOW, paint, plural};

pub(super) fn run(args: &Args, options: &Explain) -> anyhow::Result<()> {
    let workspace = open_workspace(args)?;
    if let Some(id) = &options.session {
        return sessions::explain(args, &workspace, id);
    }
    if let Some(id) = &options.rule {
        return reach::run(args, &workspace, id);
    }
    let (input, diagnostics) = read_evidence(args, &options.evidence, &options.paths)?;
    let mut answer = answer(&workspace, &input, options.view.point())?;
    answer.add_diagnostics(diagnostics);
    if args.json { out::print_json(&answer.json()) } else { out::print(&answer.text()) }
}

/// The rules for each path, and the diagnostics.
pub(super) struct Explanation {
    view: Viewpoint,
    agents: Vec<UsedAgent>,
    /// The title of a target without a path.
    without_path: &'static str,
    /// Each with the number of tokens of its rules.
    pub(super) targets: Vec<(Target, usize)>,
    /// The table of each target.
    grids: Vec<Grid>,
    /// What wiring an agent would add.
    hints: Vec<String>,
    pub(super) differences: Vec<Differing>,
    diagnostics: Vec<Diagnostic>,
}

/// A rule that its own agent reads differently than the author meant.
pub(super) struct Differing {
    pub(super) id: String,
    pub(super) source: String,
    agent: &'static Agent,
    difference: Difference,
}

impl Differing {
    /// Describes what the author meant and what the agent does.
    pub(super) fn description(&self) -> String {
        let Differing { agent, difference, .. } = self;
        let why = difference.why.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
        format!("meant to be {}, but {} {}{why}", difference.meant, agent.title, difference.does)
    }
}

/// A question: the root and the path as shown, and the paths of its evidence.
struct Question {
    shown: Option<(usize, String)>,
    arguments: Vec<String>,
    /// The folder whose files are meant.
    folder: Option<(usize, String)>,
}

/// Explains each path by itself, or the evidence as a whole if there are no paths.
pub(super) fn answer(workspace: &Workspace, input: &Input, view: Viewpoint) -> anyhow::Result<Explanation> {
    let questions = questions(workspace, input)?;
    let (all, evidence_diagnostics) = workspace.evidence(input);
    // The tree is walked for folders only.
    let tree = questions.iter().any(|question| question.folder.is_some());
    let tree = tree.then(|| workspace.tree(Wanted::All, &|_| ()));
    let reach = tree.as_ref().map_or(Reach::Above(&all.paths), Reach::Walked);
    let sources = workspace.sources(reach);
    let used = agents(workspace, view, AgentSearch::WorkspaceAndHome);
    let views = sources.views(used.clone());
    let mut answer = Explanation {
        view,
        agents: used,
        without_path: match *input == Input::default() {
            true => "no path: what is loaded at the start",
            false => "the given evidence",
        },
        targets: Vec::new(),
        grids: Vec::new(),
        hints: Vec::new(),
        differences: differences(&sources, &views, view),
        diagnostics: match view {
            Viewpoint::As(_) => in_files(&views.meant.diagnostics, &views.agents[0].native),
            _ => views.meant.diagnostics.clone(),
        },
    };
    for question in questions {
        let input = Input { arguments: question.arguments, ..input.clone() };
        let mut evidence = workspace.evidence_for(&views.meant.book, &input);
        if let (Some((root, folder)), Some(tree)) = (&question.folder, &tree) {
            evidence.paths = tree.below(*root, folder);
        }
        answer.add_target(workspace, &views, &evidence, question.shown);
    }
    answer.add_diagnostics(evidence_diagnostics);
    Ok(answer)
}

/// Returns one question per path.
fn questions(workspace: &Workspace, input: &Input) -> anyhow::Result<Vec<Question>> {
    let on_disk = |root: usize, path: &str| Path::new(&workspace.roots.roots[root].path).join(path);
    let exists = |root: usize, path: &str| on_disk(root, path).exists();
    let mut questions = Vec::new();
    for path in &input.arguments {
        questions.push(match workspace.roots.locate(path, &exists) {
            PathLocation::Outside => {
                let roots: Vec<&str> = workspace.roots.roots.iter().map(|root| root.path.as_str()).collect();
                return Err(anyhow!("name a path inside the root, or add its folder with `--root`")
                    .context(format!("`{path}` is outside the root `{}`", roots.join("`, `"))));
            }
            PathLocation::Root(root) => Question {
                shown: Some((root, ".".to_owned())),
                arguments: Vec::new(),
                folder: Some((root, String::new())),
            },
            PathLocation::Inside { root, path: shown } if on_disk(root, &shown).is_dir() => Question {
                shown: Some((root, format!("{shown}/"))),
                arguments: Vec::new(),
                folder: Some((root, shown)),
            },
            PathLocation::Inside { root, path: shown } => {
                Question { shown: Some((root, shown)), arguments: vec![path.clone()], folder: None }
            }
        });
    }
    if questions.is_empty() {
        questions.push(Question { shown: None, arguments: Vec::new(), folder: None });
    }
    Ok(questions)
}

/// Returns what the agents treat differently than it is meant; for any agent, what the owners of the files do.
fn differences(sources: &Sources<'_>, views: &Views, view: Viewpoint) -> Vec<Differing> {
    let differing = |rule: &rulebook::rule::Rule, agent, difference| Differing {
        id: rule.id.clone(),
        source: rule.origin.display.clone(),
        agent,
        difference,
    };
    if views.agents.is_empty() {
        let found = sources.differences(&views.meant.book).into_iter();
        return found.map(|(rule, agent, difference)| differing(rule, agent, difference)).collect();
    }
    if matches!(view, Viewpoint::As(_)) {
        return Vec::new();
    }
    let found = views.differences().into_iter();
    found.map(|(rule, agent, difference)| differing(rule, agent, difference.clone())).collect()
}

impl Explanation {
    fn add_target(
        &mut self,
        workspace: &Workspace,
        views: &Views,
        evidence: &Evidence,
        shown: Option<(usize, String)>,
    ) {
        let matrix = views.matrix(evidence);
        let (root, shown) = shown.unzip();
        let roots = &workspace.roots;
        let (mut target, tokens) = match (self.view, matrix.columns.first()) {
            (Viewpoint::For(_), Some(column)) => {
                (explain_for(shown, &matrix, column, evidence, roots), column.tokens)
            }
            (Viewpoint::As(_), Some(column)) => {
                let Loaded { book, .. } = &views.agents[0].native;
                let evaluation = evaluate(book, evidence, Audience::any());
                let mut target = explain(shown, book, &evaluation, evidence, roots);
                target.add_agents(&matrix);
                let cells = matrix.rows.iter().zip(&column.cells);
                for (row, cell) in cells.filter(|(_, cell)| cell.state == CellState::Unread) {
                    // Why Rulebook adds nothing is no part of what the agent does by itself.
                    let detail = if cell.would_add { cell.because.as_str() } else { "" };
                    let reason = InactiveReason::Unread;
                    target.inactive.push(Inactive::new(row.id, row.key(), row.origin, reason, detail));
                }
                (target, column.tokens)
            }
            _ => {
                let rendered = render(&matrix.meant, workspace.settings.budget);
                let (book, cut) = (&views.meant.book, &rendered.omitted);
                let mut target = explain_within(shown, book, &matrix.meant, cut, evidence, roots);
                target.add_agents(&matrix);
                (target, rendered.tokens)
            }
        };
        target.root =
            root.filter(|_| roots.roots.len() > 1).map(|root: usize| roots.roots[root].name.clone());
        let about = if evidence.paths.is_empty() { GridTarget::Start } else { GridTarget::Paths };
        self.grids.push(Grid::new(&matrix, about));
        let hint = |(used, column): (&UsedAgent, &rulebook::matrix::AgentColumn<'_>)| {
            install_hint(used, would_add(&column.cells))
        };
        if !matches!(self.view, Viewpoint::As(_)) {
            let hints: Vec<String> = self.agents.iter().zip(&matrix.columns).filter_map(hint).collect();
            self.hints.extend(hints);
            self.hints.dedup();
        }
        self.targets.push((target, tokens));
    }
}

impl Explanation {
    fn add_diagnostics(&mut self, diagnostics: Vec<Diagnostic>) {
        self.diagnostics.extend(diagnostics);
        self.diagnostics.sort();
        self.diagnostics.dedup();
    }

    pub(super) fn json(&self) -> Value {
        let targets: Vec<&Target> = self.targets.iter().map(|(target, _)| target).collect();
        let differences: Vec<_> = self.differences.iter().map(difference_json).collect();
        let (for_agent, as_agent) = match self.view {
            Viewpoint::Used | Viewpoint::Any => (Some("any"), None),
            Viewpoint::For(named) => (Some(named.agent.name), None),
            Viewpoint::As(named) => (None, Some(named.agent)),
        };
        json!({
            "version": VERSION, "for": for_agent, "as": as_agent.map(|agent| agent.name),
            "notSearched": as_agent.and_then(not_searched), "targets": targets,
            "differences": differences, "diagnostics": self.diagnostics,
        })
    }

    /// Formats the answer for people, with colours.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        show_surface(&mut text, self.view);
        let is_table = matches!(self.view, Viewpoint::Used);
        match self.view {
            Viewpoint::Used => show_agents(&mut text, &self.agents),
            Viewpoint::Any => {}
            Viewpoint::For(named) => show_for(&mut text, named.agent, &self.agents),
            Viewpoint::As(named) => {
                show_agent(&mut text, named.agent);
                if let Some(not_searched) = not_searched(named.agent) {
                    text.pop();
                    let _ = writeln!(text, "{}\n", paint(DIM, not_searched));
                }
            }
        }
        for ((target, tokens), grid) in self.targets.iter().zip(&self.grids) {
            let title = title(target, self.without_path);
            if is_table {
                show_table(&mut text, &title, grid);
            } else {
                show(&mut text, &title, target, *tokens, self.view);
            }
        }
        show_differences(&mut text, &self.differences);
        for hint in &self.hints {
            let _ = writeln!(text, "{}", paint(DIM, hint));
        }
        show_count(&mut text, &self.diagnostics);
        text
    }
}

/// Writes the table of a target.
fn show_table(text: &mut String, title: &str, grid: &Grid) {
    let _ = writeln!(text, "{}", paint(BOLD, title));
    if grid.is_empty() {
        text.push_str("\n  no rule files found; `rulebook status` searches the whole tree\n\n");
        return;
    }
    grid.write(text);
    text.push('\n');
}

/// Writes whom the answer is for, and how that agent is wired.
fn show_for(text: &mut String, agent: &Agent, used: &[UsedAgent]) {
    let wired: Vec<&str> =
        used.iter().flat_map(|used| used.wired.iter()).map(|wiring| wiring.name()).collect();
    let wired =
        if wired.is_empty() { "not wired".to_owned() } else { format!("wired by {}", wired.join(", ")) };
    let _ = writeln!(
        text,
        "{}{}\n",
        paint(BOLD, format!("for {}", agent.title)),
        paint(DIM, format!("; {wired}"))
    );
}

/// Returns a note on files of other folders that an agent applies everywhere: only a walk of the tree could find them.
fn not_searched(agent: &Agent) -> Option<String> {
    let places = agent.formats.iter().filter(|format| !format.scoped).flat_map(|format| format.workspace);
    let names: Vec<&str> = places.map(|place| place.path).collect();
    (!names.is_empty()).then(|| {
        format!(
            "{} in other folders applies too and is not searched here: `rulebook status --as {}` lists it",
            names.join(", "),
            agent.name
        )
    })
}

fn difference_json(Differing { id, source, agent, difference }: &Differing) -> Value {
    json!({
        "id": id, "source": source, "agent": agent.name, "meant": difference.meant,
        "does": difference.does, "why": difference.why,
    })
}

/// Writes what agents treat differently than it is meant; files of one folder with one cause are one line.
fn show_differences(text: &mut String, differences: &[Differing]) {
    if differences.is_empty() {
        return;
    }
    let _ = writeln!(text, "  {}", paint(DIM, "differs from what the author meant"));
    let mut groups: BTreeMap<(&str, &str, String), Vec<&Differing>> = BTreeMap::new();
    for differing in differences {
        let folder = differing.source.rsplit_once('/').map_or("", |(folder, _)| folder);
        let Difference { does, why, .. } = &differing.difference;
        let cause = format!("{does}{}", why.as_ref().map(|why| format!(" ({why})")).unwrap_or_default());
        groups.entry((differing.agent.title, folder, cause)).or_default().push(differing);
    }
    let mut table = Table::default();
    for ((agent, folder, cause), group) in groups {
        match group.as_slice() {
            group if group.len() > 3 => {
                let source = format!("{folder}/ ({})", plural(group.len(), "file"));
                table.row([(YELLOW, &source), (PLAIN, &format!("{agent} {cause}"))]);
            }
            group => {
                for differing in group {
                    table.row([(YELLOW, &differing.source), (PLAIN, &differing.description())]);
                }
            }
        }
    }
    table.write(text, 4, &table.widths());
    text.push('\n');
}

fn show_count(text: &mut String, diagnostics: &[Diagnostic]) {
    if let Some(count) = out::count(diagnostics) {
        let _ = writeln!(text, "{count}: run `rulebook check` for details");
    }
}
