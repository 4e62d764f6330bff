//! `status`: shows what each agent loads, the most important problems, and every rule for every agent.

use std::collections::HashMap;
use std::fmt::Write as _;

use rulebook::agent::Agent;
use rulebook::diagnostic::{Code, Diagnostic, Severity};
use rulebook::evidence::Input;
use rulebook::format::FormatId;
use rulebook::matrix::{CellState, Matrix};
use rulebook::rule::Activation;
use rulebook_workspace::{AgentSearch, Reach, SeenFile, UsedAgent, Viewpoint, Views, Wanted, Workspace};
use serde_json::json;

use super::grid::{Grid, GridTarget};
use super::load::Load;
use super::problems::{Problem, most_important, problems};
use super::rows::{Row, STATES, all_rows, rows, state_words};
use super::sections::{file_list, header_words, show_agent};
use super::used::{IfWired, install_hints, lost_hosts, show_agents, show_for, show_lost, show_surface};
use crate::args::{Args, View};
use crate::input::open_workspace;
use crate::out::{self, BOLD, CYAN, DIM, PLAIN, RED, Table, VERSION, grouped, paint, plural};

pub(super) fn run(args: &Args, view: &View) -> anyhow::Result<()> {
    let workspace = open_workspace(args)?;
    let point = view.point();
    let tree = workspace.tree(Wanted::All, &|_| ());
    let sources = workspace.sources(Reach::Walked(&tree));
    let used = workspace.agents_for(point, AgentSearch::WorkspaceAndHome);
    // The diagnostics are those of `check`, which does not look at the home.
    let views = sources.views_with(sources.checked(&tree), used);
    let seen = if args.json { sources.not_read(&views.meant.book, &tree).seen } else { Vec::new() };
    let status = Status { seen, ..Status::new(&workspace, &views, point) };
    if args.json { out::print_json(&status.json()) } else { out::print(&status.text()) }
}

/// What is here, for each agent.
struct Status<'s> {
    workspace: &'s Workspace,
    views: &'s Views,
    point: Viewpoint,
    matrix: Matrix<'s>,
    rows: Vec<Row>,
    problems: Vec<Problem>,
    /// The hosts whose hooks no longer run Rulebook.
    lost: Vec<&'static str>,
    /// Those of `check` that concern whom the answer is for.
    diagnostics: Vec<Diagnostic>,
    /// Text beside rules that is not a rule.
    seen: Vec<SeenFile>,
}

impl<'s> Status<'s> {
    fn new(workspace: &'s Workspace, views: &'s Views, point: Viewpoint) -> Status<'s> {
        let evidence = workspace.evidence_for(&views.meant.book, &Input::default());
        let matrix = views.matrix(&evidence);
        let mut rows = match point {
            Viewpoint::As(_) => rows(workspace, &views.agents[0].native),
            _ => all_rows(workspace, &views.meant, &matrix),
        };
        let mut by_source: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, row) in matrix.rows.iter().enumerate() {
            by_source.entry(&row.origin.display).or_default().push(at);
        }
        for row in &mut rows {
            let of_file = by_source.get(row.source.as_str()).map_or(&[][..], Vec::as_slice);
            let same_id = of_file.iter().copied().find(|at| matrix.rows[*at].id == row.id);
            let at =
                same_id.or_else(|| of_file.first().copied().filter(|_| matches!(point, Viewpoint::As(_))));
            if let Some(meant) = at.map(|at| &matrix.rows[at]).filter(|_| same_id.is_none()) {
                // The agent's reading of a file may have another id than the one that commands know.
                (row.id, row.key) = (meant.id.to_owned(), meant.key());
            }
            let cells = matrix.columns.iter().filter_map(|column| Some((column, column.cells.get(at?)?)));
            row.agents = cells.map(|(column, cell)| (column.agent.name, cell.state)).collect();
        }
        let diagnostics = match point {
            Viewpoint::As(named) => views.agents[0].native.reported(named.agent, &views.meant.diagnostics),
            _ => {
                let all = views.meant.diagnostics.iter();
                all.filter(|found| concerns(workspace, point, &matrix, found)).cloned().collect()
            }
        };
        let problems = problems(&matrix, &diagnostics);
        let lost = lost_hosts(workspace);
        Status { workspace, views, point, matrix, rows, diagnostics, problems, lost, seen: Vec::new() }
    }

    fn json(&self) -> serde_json::Value {
        let rows = &self.rows;
        let mut counts = serde_json::Map::from_iter([("total".to_owned(), rows.len().into())]);
        for (state, name, _) in STATES {
            counts.insert(name.to_owned(), rows.iter().filter(|row| row.state == state).count().into());
        }
        let roots: Vec<&str> = self.workspace.roots.roots.iter().map(|root| root.path.as_str()).collect();
        let always: Vec<&Row> = rows.iter().filter(|row| row.is_always_on()).collect();
        let tokens: usize = always.iter().map(|row| row.tokens).sum();
        let agents: serde_json::Map<String, serde_json::Value> = self
            .views
            .agents
            .iter()
            .zip(&self.matrix.columns)
            .map(|(view, column)| {
                let load = Load::of(column);
                let agent = json!({
                    "wired": column.wired, "origin": view.used.origin, "alwaysTokens": load.tokens,
                    "always": load.always, "forSomeFiles": load.some_files, "onRequest": load.on_request,
                });
                (column.agent.name.to_owned(), agent)
            })
            .collect();
        let (unread, undocumented) = self.unread();
        let as_agent = match self.point {
            Viewpoint::As(named) => Some(named.agent.name),
            _ => None,
        };
        json!({
            "version": VERSION,
            "as": as_agent,
            "roots": roots,
            "agents": agents,
            "noLongerWired": self.lost,
            "rules": rows,
            "unread": unread,
            "undocumented": undocumented,
            "seen": self.seen,
            "counts": counts,
            "always": { "rules": always.len(), "tokens": tokens, "estimated": true },
            "problems": self.problems,
            "diagnostics": self.diagnostics,
        })
    }

    /// Returns the files that the agent does not read, and those for which that is not documented.
    fn unread(&self) -> (Vec<&str>, Vec<&str>) {
        let (Viewpoint::As(_), Some(column)) = (self.point, self.matrix.columns.first()) else {
            return Default::default();
        };
        let of = |state: CellState| {
            let rows = self.matrix.rows.iter().zip(&column.cells);
            let rows = rows.filter(|(_, cell)| cell.state == state);
            rows.map(|(row, _)| row.origin.display.as_str()).collect()
        };
        (of(CellState::Unread), of(CellState::Unknown))
    }

    fn text(&self) -> String {
        let mut text = String::new();
        show_surface(&mut text, self.point);
        let always: Vec<&Row> = self.rows.iter().filter(|row| row.is_always_on()).collect();
        let cost = (always.len(), always.iter().map(|row| row.tokens).sum());
        match self.point {
            Viewpoint::As(named) => {
                show_agent(&mut text, named.agent);
                let none = format!("no rule files that {} reads", named.agent.title);
                text.push_str(&show(self.workspace, &self.rows, &none, cost, &self.diagnostics));
                let (unread, undocumented) = self.unread();
                let title = named.agent.title;
                for (what, files) in [
                    (format!("{title} does not read"), unread),
                    (format!("not documented whether {title} reads"), undocumented),
                ] {
                    if !files.is_empty() {
                        let _ = writeln!(text, "\n{}", paint(DIM, format!("{what}: {}", file_list(&files))));
                    }
                }
            }
            Viewpoint::Any => {
                text.push_str(&show(self.workspace, &self.rows, NO_RULES, cost, &self.diagnostics));
            }
            _ => self.show_agents(&mut text),
        }
        text
    }

    /// Writes what each agent loads, the most important problems, and the table.
    fn show_agents(&self, text: &mut String) {
        let used: Vec<UsedAgent> = self.views.agents.iter().map(|view| view.used.clone()).collect();
        if matches!(self.point, Viewpoint::Used) {
            show_agents(text, &used);
            show_lost(text, &self.lost);
        }
        if let Viewpoint::For(named) = self.point {
            show_for(text, named.agent, &used);
        }
        if self.matrix.rows.is_empty() {
            // Files beside the rules may be why there are none.
            let _ = writeln!(text, "{NO_RULES}");
            self.show_problems(text);
            self.show_count(text);
            return;
        }
        let mut table = Table::default();
        table.row([(DIM, ""), (DIM, "always loaded"), (DIM, "conditional"), (DIM, "offered")]);
        let of_agents = self.matrix.columns.iter().map(|column| (column.agent.name, Load::of(column)));
        let of_any = self.matrix.columns.is_empty().then(|| ("any", Load::meant(&self.matrix.meant)));
        for (name, load) in of_agents.chain(of_any) {
            let count = |count: usize| if count == 0 { "–".to_owned() } else { count.to_string() };
            let always = format!(
                "{:>3} {}, {} {}",
                load.always,
                if load.always == 1 { "rule" } else { "rules" },
                grouped(load.tokens),
                if load.tokens == 1 { "token" } else { "tokens" }
            );
            let cells = [always, count(load.some_files), count(load.on_request)];
            table.row([(BOLD, name), (PLAIN, &cells[0]), (PLAIN, &cells[1]), (PLAIN, &cells[2])]);
        }
        table.write(text, 0, &table.widths());
        self.show_problems(text);
        text.push('\n');
        Grid::new(&self.matrix, GridTarget::Start).write(text);
        let if_wired = self.matrix.columns.iter().map(|column| IfWired::of(column, &self.matrix.rows));
        for hint in install_hints(used.iter().zip(if_wired), None) {
            let _ = writeln!(text, "{}", paint(DIM, hint));
        }
        self.show_count(text);
    }

    fn show_problems(&self, text: &mut String) {
        /// The others are left to `check`.
        const MOST: usize = 3;
        let shown = most_important(&self.problems, MOST);
        for (at, problem) in shown.iter().enumerate() {
            if at == 0 {
                let _ = writeln!(text, "\n{}", paint(BOLD, "most important problems"));
            }
            let _ = writeln!(text, "{}  {}", paint(BOLD, at + 1), out::clean(&problem.effect));
            let _ = writeln!(text, "   {}: {}", paint(CYAN, "fix"), out::clean(&problem.command));
        }
        let is_left = |problem: &&Problem| {
            problem.severity == Severity::Error && !shown.iter().any(|shown| std::ptr::eq(*shown, *problem))
        };
        let errors: usize = self.problems.iter().filter(is_left).map(|problem| problem.count).sum();
        if errors > 0 {
            let more = paint(RED.bold(), plural(errors, "more error"));
            let _ = writeln!(text, "{more}; run `rulebook check`");
        }
    }

    fn show_count(&self, text: &mut String) {
        if let Some(count) = out::count(&self.diagnostics) {
            let _ = writeln!(text, "{count}; run `rulebook check`");
        }
    }
}

/// Whether a problem concerns the agent that the answer is for.
fn concerns(workspace: &Workspace, point: Viewpoint, matrix: &Matrix<'_>, found: &Diagnostic) -> bool {
    let (Viewpoint::For(named), Some(column)) = (point, matrix.columns.first()) else {
        return true;
    };
    // That files are not trusted is reported for the root.
    if workspace.roots.roots.iter().any(|root| root.path == found.path) {
        return true;
    }
    let row = matrix.rows.iter().position(|row| row.origin.display == found.path);
    // What is not about a rule file concerns everyone.
    let is_used = row.is_none_or(|at| column.cells[at].state != CellState::Unread);
    // A key that is ignored is the business of the agent that ignores it.
    let owner = row.and_then(|at| Agent::owner_of(matrix.rows[at].origin.format.id));
    let owner = owner.filter(|_| found.code == Code::ForeignKey).map(|owner| owner.name);
    let agent = found.agent.or(owner);
    agent.map_or(is_used, |name| name == named.agent.name)
}

/// Describes how a rule becomes active.
fn activation_words(activation: Activation) -> &'static str {
    match activation {
        Activation::When => "conditional",
        Activation::OnRequest => "offered",
        other => other.name(),
    }
}

const NO_RULES: &str = "no rule files found\n  help: add AGENTS.md, CLAUDE.md, .cursor/rules/NAME.mdc, .rulebook/rules/NAME.md or a file of another agent";

/// `none` is printed if there are no rules; `always` and `tokens` are the always-on rules and their size.
fn show(
    workspace: &Workspace,
    rows: &[Row],
    none: &str,
    (always, tokens): (usize, usize),
    diagnostics: &[Diagnostic],
) -> String {
    let mut text = String::new();
    for root in &workspace.roots.roots {
        let _ = writeln!(text, "{}", paint(BOLD, out::clean(&workspace.homes.shown(root.path.as_ref()))));
    }
    if rows.is_empty() {
        let _ = writeln!(text, "\n{none}");
    } else {
        let mut table = Table::default();
        table.row([(DIM, "id"), (DIM, "source"), (DIM, "activation"), (DIM, "tokens"), (DIM, "state")]);
        for row in rows {
            let activation = match (row.activation, row.basis.filter(|basis| basis.is_doubtful())) {
                (Some(activation), Some(basis)) => {
                    format!("{} ({})", activation_words(activation), header_words(basis).unwrap_or_default())
                }
                (Some(activation), None) => activation_words(activation).to_owned(),
                (None, _) => "–".to_owned(),
            };
            let (style, state) = state_words(row);
            table.row([
                (BOLD, &row.id),
                (PLAIN, &row.source),
                (PLAIN, &activation),
                (DIM, &format!("~{}", row.tokens)),
                (style, &state),
            ]);
        }
        text.push('\n');
        table.write(&mut text, 2, &table.widths());
        let formats: std::collections::BTreeSet<FormatId> = rows.iter().map(|row| row.format).collect();
        let _ = writeln!(
            text,
            "\n{} in {}; {} always on, about {} per prompt (estimated)",
            plural(rows.len(), "rule file"),
            plural(formats.len(), "format"),
            always,
            plural(tokens, "token"),
        );
    }
    if let Some(count) = out::count(diagnostics) {
        let _ = writeln!(text, "\n{count}");
        let mut worst: Vec<&Diagnostic> = diagnostics.iter().collect();
        worst.sort_by_key(|diagnostic| diagnostic.severity);
        for diagnostic in worst.iter().take(5) {
            let code = diagnostic.code.row().name;
            let message = out::clean(&diagnostic.message);
            let _ = writeln!(
                text,
                "  {} {message} {}",
                paint(BOLD, out::place(diagnostic)),
                paint(DIM, format!("[{code}]"))
            );
        }
        text.push_str("  run `rulebook check`\n");
    }
    text
}
