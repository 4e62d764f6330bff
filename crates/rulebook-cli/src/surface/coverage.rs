//! `coverage`: compares the rules with every file in the tree.

use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anstyle::Style;
use rulebook::coverage::{
    AlwaysRow, Cost, CoverageReport, Dead, Folder, Listing, Most, Other, OtherReason, OtherWord, Overlap,
    Reached, StreamRow, Unreached,
};
use rulebook::evidence::Input;
use rulebook::matrix::{AgentColumn, Matrix};
use rulebook::rule::Activation;
use rulebook_workspace::{AgentCoverage, AgentSearch, Reach, UsedAgent, Viewpoint, Wanted};
use serde_json::json;

use super::grid::{Grid, InTree};
use super::load::Load;
use super::reach::depends_on;
use super::used::show_viewpoint;
use crate::alert::print_alerts;
use crate::args::{Args, Coverage};
use crate::input::open_workspace;
use crate::out::{self, BOLD, CYAN, DIM, PLAIN, Table, VERSION, YELLOW, paint, plural};

/// How many folders are shown; `--json` lists more.
const ROWS: usize = 10;

pub(super) fn run(args: &Args, options: &Coverage) -> anyhow::Result<()> {
    let workspace = open_workspace(args)?;
    let progress = Progress::new();
    let tree = workspace.tree(Wanted::Files, &|files| progress.show(files));
    let sources = workspace.sources(Reach::Walked(&tree));
    let point = options.view.point();
    // The answer is the same for everyone: the home is not searched for agents.
    let views = sources.views(workspace.agents_for(point, AgentSearch::Workspace));
    let meant = &views.meant.book;
    let listing = if options.files { Listing::All } else { Listing::Sample };
    let of_agent = |view| workspace.coverage_for(view, meant, &tree, listing);
    let is_table = matches!(point, Viewpoint::Used);
    let agents: Vec<AgentCoverage> = match options.files && is_table {
        true => Vec::new(),
        false => views.agents.iter().map(of_agent).collect(),
    };
    let report = match agents.first().filter(|_| !is_table) {
        Some(agent) => agent.report.clone(),
        None => workspace.coverage(meant, &tree, listing),
    };
    progress.clear();
    let diagnostics = match point {
        Viewpoint::As(named) => views.agents[0].native.reported(named.agent, &views.meant.diagnostics),
        _ => views.meant.diagnostics.clone(),
    };
    let matrix = views.matrix(&workspace.evidence_for(meant, &Input::default()));
    if args.json {
        let mut answer = json!({ "version": VERSION, "for": point.for_name(), "as": point.as_name() });
        let report = serde_json::to_value(&report)?;
        if let (Some(answer), serde_json::Value::Object(report)) = (answer.as_object_mut(), report) {
            answer.extend(report);
            let agents: serde_json::Map<String, serde_json::Value> = matrix
                .columns
                .iter()
                .zip(&agents)
                .map(|(column, agent)| as_json(&matrix, column, agent))
                .collect();
            answer.insert("agents".to_owned(), agents.into());
            answer.insert("diagnostics".to_owned(), json!(diagnostics));
        }
        out::print_json(&answer)?;
    } else if options.files {
        let lines: String = report.unreached.paths.iter().map(|path| out::clean(path) + "\n").collect();
        out::print(&lines)?;
    } else {
        let mut text = String::new();
        let used: Vec<UsedAgent> = views.agents.iter().map(|view| view.used.clone()).collect();
        show_viewpoint(&mut text, point, &used);
        let _ = writeln!(text, "{}", paint(BOLD, plural(report.files, "file")));
        if is_table && !agents.is_empty() && !matrix.rows.is_empty() {
            Grid::of_tree(&matrix, &agents).write(&mut text);
            let agents_names: Vec<&str> = used.iter().map(|used| used.agent.name).collect();
            let name = agents_names.first().copied().unwrap_or_default();
            let _ = writeln!(
                text,
                "\n{}{}",
                paint(BOLD, "for any agent, as the headers say"),
                paint(DIM, format!("; for one agent: `rulebook coverage --for {name}`"))
            );
        }
        show(&mut text, &report);
        out::print(&text)?;
        print_alerts(&diagnostics);
    }
    Ok(())
}

/// Returns what an agent has for the files of the tree, by its name.
fn as_json(
    matrix: &Matrix<'_>,
    column: &AgentColumn<'_>,
    agent: &AgentCoverage,
) -> (String, serde_json::Value) {
    let report = &agent.report;
    let in_tree = InTree::of(agent);
    let rules = matrix.rows.iter().zip(&column.cells).map(|(row, cell)| {
        let (state, files) = in_tree.state(row, cell);
        let files = files.map_or(0, |files| in_tree.count(files));
        json!({ "id": row.id, "key": row.key(), "source": row.origin.display, "state": state, "files": files })
    });
    let rules: Vec<serde_json::Value> = rules.collect();
    let load = Load::of(column);
    let answer = json!({
        "wired": column.wired,
        "always": load.always,
        "alwaysTokens": load.tokens,
        "pathRules": report.rules.len(),
        "dead": report.dead.len(),
        "unreached": report.unreached.files,
        "rules": rules,
    });
    (column.agent.name.to_owned(), answer)
}

/// A progress line on the terminal that counts files during a long walk.
struct Progress {
    is_shown: bool,
    /// When the next line is due, and how long the last one was.
    next: Mutex<(Instant, usize)>,
}

impl Progress {
    /// Shorter walks show nothing.
    const FIRST: Duration = Duration::from_millis(300);
    const EVERY: Duration = Duration::from_millis(100);

    fn new() -> Progress {
        let is_shown = std::io::stderr().is_terminal();
        Progress { is_shown, next: Mutex::new((Instant::now() + Progress::FIRST, 0)) }
    }

    fn show(&self, files: usize) {
        let now = Instant::now();
        // If another thread is printing, skip this one.
        let Some(mut next) = self.is_shown.then(|| self.next.try_lock().ok()).flatten() else { return };
        if now >= next.0 {
            let line = format!("{files} files");
            *next = (now + Progress::EVERY, line.len().max(next.1));
            let _ = write!(std::io::stderr(), "\r{line}");
        }
    }

    /// Clears the line without escape sequences, which not every terminal supports.
    fn clear(self) {
        let width = self.next.into_inner().map_or(0, |(_, width)| width);
        if width > 0 {
            let _ = write!(std::io::stderr(), "\r{:width$}\r", "");
        }
    }
}

fn show(text: &mut String, report: &CoverageReport) {
    let is_empty = report.rules.is_empty() && report.always.is_empty();
    if is_empty && report.stream.is_empty() && report.others.is_empty() {
        text.push_str("\nno rules found\n  help: `rulebook status` shows where to add them\n");
        return;
    }
    section(text, "path-specific rules", report.rules.iter().map(|rule| rule_row(rule, report.files)));
    section(text, "always on", report.always.iter().map(always_row));
    section(text, "stream rules for all files", report.stream.iter().map(stream_row));
    section(text, "rules independent of files", report.others.iter().map(other_row));
    let dead = |dead: &Dead| [bold(&dead.id), plain(&dead.source), (YELLOW, dead.pattern.clone())];
    section(text, "globs that match no file", report.dead.iter().map(dead));
    show_unreached(text, &report.unreached);
    let overlap = |row: &Overlap| [plain(&plural(row.rules, "rule")), plain(&plural(row.files, "file"))];
    section(text, "rules per file", report.overlap.iter().map(overlap));
    let most = |file: &Most| [plain(&file.path), plain(&plural(file.rules, "rule"))];
    section(text, "files with the most rules", report.most.iter().map(most));
    show_cost(text, report);
}

type Cell = (Style, String);

fn section<const N: usize>(text: &mut String, title: &str, rows: impl Iterator<Item = [Cell; N]>) {
    let table: Table = rows.collect();
    if !table.is_empty() {
        let _ = writeln!(text, "\n  {}", paint(CYAN, title));
        table.write(text, 4, &table.widths());
    }
}

fn bold(text: &str) -> Cell {
    (BOLD, text.to_owned())
}

fn plain(text: &str) -> Cell {
    (PLAIN, text.to_owned())
}

fn rule_row(rule: &Reached, files: usize) -> [Cell; 4] {
    let count = format!("{} of {}", rule.files, plural(files, "file"));
    let count = (if rule.files == 0 { YELLOW } else { PLAIN }, count);
    let mut remarks = vec![format!("{:.1} %", 100.0 * rule.files as f64 / files.max(1) as f64)];
    remarks.extend(overridden(rule.overridden));
    if !rule.further.is_empty() {
        remarks.push(format!("also depends on {}", depends_on(&rule.further)));
    }
    if rule.activation == Activation::Stream {
        remarks.push("stream rule".to_owned());
    }
    [bold(&rule.id), plain(&rule.source), count, plain(&remarks.join("; "))]
}

fn always_row(rule: &AlwaysRow) -> [Cell; 3] {
    let mut remarks = vec![format!("~{} tokens", rule.tokens)];
    remarks.extend(overridden(rule.overridden));
    [bold(&rule.id), plain(&rule.source), plain(&remarks.join("; "))]
}

fn stream_row(rule: &StreamRow) -> [Cell; 3] {
    let mut remarks = rule.scope.clone();
    remarks.extend(overridden(rule.overridden));
    [bold(&rule.id), plain(&rule.source), plain(&remarks.join("; "))]
}

fn overridden(files: usize) -> Option<String> {
    (files > 0).then(|| format!("overridden for {}", plural(files, "file")))
}

fn other_row(rule: &Other) -> [Cell; 3] {
    let because = match rule.because {
        OtherReason::Word(OtherWord::Conditions) => format!("depends on {}", depends_on(&rule.further)),
        OtherReason::Word(OtherWord::Empty) => "has no text".to_owned(),
        OtherReason::Activation(Activation::OnRequest) => "offered".to_owned(),
        OtherReason::Activation(Activation::Manual) => "active only when mentioned by name".to_owned(),
        OtherReason::Activation(Activation::Never) => "never active".to_owned(),
        OtherReason::Word(word) => word.to_string(),
        OtherReason::Activation(activation) => activation.to_string(),
    };
    [(DIM, rule.id.clone()), (DIM, rule.source.clone()), (DIM, because)]
}

fn show_unreached(text: &mut String, unreached: &Unreached) {
    let row = |folder: &Folder| {
        let star = if folder.deep { "**" } else { "*" };
        let path = if folder.path == "." { star.to_owned() } else { format!("{}/{star}", folder.path) };
        [plain(&path), plain(&format!("{} of {}", folder.files, folder.of))]
    };
    let title = format!("files without path-specific rules: {}", plural(unreached.files, "file"));
    section(text, &title, unreached.folders.iter().take(ROWS).map(row));
    let more = unreached.folders.len().saturating_sub(ROWS) + unreached.more;
    if more > 0 {
        let _ = writeln!(text, "    and {}; `--files` lists every file", plural(more, "more folder"));
    }
}

fn show_cost(text: &mut String, report: &CoverageReport) {
    let head = ["folder", "files", "average", "maximum"].map(|head| (DIM, head.to_owned()));
    let row = |cost: &Cost| {
        [
            plain(&cost.path),
            plain(&cost.files.to_string()),
            plain(&format!("~{}", cost.mean)),
            plain(&format!("~{}", cost.max)),
        ]
    };
    let head = (!report.cost.is_empty()).then_some(head);
    let rows = head.into_iter().chain(report.cost.iter().take(ROWS).map(row));
    section(text, "tokens of rules in a prompt about one file (estimated)", rows);
    if report.top_folders > ROWS {
        let _ = writeln!(text, "    and {}", plural(report.top_folders - ROWS, "more folder"));
    }
}
