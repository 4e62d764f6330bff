//! `coverage`: compares the rules with every file in the tree.

use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anstyle::Style;
use rulebook::coverage::{
    AlwaysRow, Cost, CoverageReport, Dead, Folder, Listing, Most, Other, Overlap, Reached, Unreached,
};
use rulebook::rule::Activation;
use rulebook_workspace::{AgentSearch, Reach, UsedAgent, Viewpoint, Wanted};
use serde::Serialize;
use serde_json::json;

use super::used::show_surface;
use crate::alert::print_alerts;
use crate::args::{Args, Coverage};
use crate::input::open_workspace;
use crate::out::{self, BOLD, CYAN, DIM, PLAIN, Table, VERSION, YELLOW, grouped, paint, plural};

/// How many folders are shown; `--json` lists more.
const ROWS: usize = 10;

pub(super) fn run(args: &Args, options: &Coverage) -> anyhow::Result<()> {
    let workspace = open_workspace(args)?;
    let progress = Progress::new();
    let tree = workspace.tree(Wanted::Files, &|files| progress.show(files));
    let sources = workspace.sources(Reach::Walked(&tree));
    let point = options.view.point();
    // The answer is the same for everyone: the home is not searched for agents.
    let used = workspace.agents_for(point, AgentSearch::Workspace);
    let by_itself = |used: &UsedAgent| used.wired.is_empty();
    let loaded = match (point, used.as_slice()) {
        (Viewpoint::As(_), [one]) => sources.native(one.agent),
        (Viewpoint::For(_), [one]) if by_itself(one) => sources.native(one.agent),
        _ => sources.meant(),
    };
    let listing = if options.files { Listing::All } else { Listing::Sample };
    let report = workspace.coverage(&loaded.book, &tree, listing);
    let of_agent = |used: &UsedAgent| {
        let native = sources.native(used.agent);
        AgentCoverage::of(used.agent.name, &workspace.coverage(&native.book, &tree, Listing::Sample))
    };
    let is_table = matches!(point, Viewpoint::Used) && !options.files;
    let agents: Vec<AgentCoverage> = used.iter().filter(|_| is_table).map(of_agent).collect();
    progress.clear();
    if args.json {
        let mut answer = json!({ "version": VERSION });
        let report = serde_json::to_value(&report)?;
        if let (Some(answer), serde_json::Value::Object(report)) = (answer.as_object_mut(), report) {
            answer.extend(report);
            let agents: serde_json::Map<String, serde_json::Value> =
                agents.iter().map(|agent| (agent.name.to_owned(), json!(agent))).collect();
            answer.insert("agents".to_owned(), agents.into());
            answer.insert("diagnostics".to_owned(), json!(loaded.diagnostics));
        }
        out::print_json(&answer)?;
    } else if options.files {
        let lines: String = report.unreached.paths.iter().map(|path| out::clean(path) + "\n").collect();
        out::print(&lines)?;
    } else {
        let mut text = String::new();
        show_surface(&mut text, point);
        text.push_str(&show(&report));
        show_by_agent(&mut text, &agents);
        out::print(&text)?;
        print_alerts(&loaded.diagnostics);
    }
    Ok(())
}

/// What one agent reaches by itself.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AgentCoverage {
    #[serde(skip)]
    name: &'static str,
    always: usize,
    always_tokens: usize,
    path_rules: usize,
    dead: usize,
    /// Files without path-specific rules.
    unreached: usize,
}

impl AgentCoverage {
    fn of(name: &'static str, report: &CoverageReport) -> AgentCoverage {
        AgentCoverage {
            name,
            always: report.always.len(),
            always_tokens: report.always.iter().map(|rule| rule.tokens).sum(),
            path_rules: report.rules.len(),
            dead: report.dead.len(),
            unreached: report.unreached.files,
        }
    }
}

fn show_by_agent(text: &mut String, agents: &[AgentCoverage]) {
    let head = ["agent", "always on", "rules for paths", "dead globs", "files without path-specific rules"];
    let head = (!agents.is_empty()).then(|| head.map(|head| (DIM, head.to_owned())));
    let row = |agent: &AgentCoverage| {
        let always = format!("{}, {} tokens", agent.always, grouped(agent.always_tokens));
        [
            bold(agent.name),
            plain(&always),
            plain(&agent.path_rules.to_string()),
            plain(&agent.dead.to_string()),
            plain(&grouped(agent.unreached)),
        ]
    };
    section(text, "by agent: what it reads by itself", head.into_iter().chain(agents.iter().map(row)));
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

fn show(report: &CoverageReport) -> String {
    let mut text = format!("{}\n", paint(BOLD, plural(report.files, "file")));
    if report.rules.is_empty() && report.always.is_empty() && report.others.is_empty() {
        text.push_str("\nno rules found\n  help: `rulebook status` shows where to add them\n");
        return text;
    }
    section(&mut text, "rules for paths", report.rules.iter().map(|rule| rule_row(rule, report.files)));
    section(&mut text, "always on", report.always.iter().map(always_row));
    section(&mut text, "rules that do not depend on a file", report.others.iter().map(other_row));
    let dead = |dead: &Dead| [bold(&dead.id), plain(&dead.source), (YELLOW, dead.pattern.clone())];
    section(&mut text, "globs that match no file", report.dead.iter().map(dead));
    show_unreached(&mut text, &report.unreached);
    let overlap = |row: &Overlap| [plain(&plural(row.rules, "rule")), plain(&plural(row.files, "file"))];
    section(&mut text, "rules per file", report.overlap.iter().map(overlap));
    let most = |file: &Most| [plain(&file.path), plain(&plural(file.rules, "rule"))];
    section(&mut text, "files with the most rules", report.most.iter().map(most));
    show_cost(&mut text, report);
    text
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
    let mut remarks = vec![format!("{:.1} %", rule.share * 100.0)];
    remarks.extend(overridden(rule.overridden));
    if !rule.further.is_empty() {
        remarks.push(format!("if {} also holds", rule.further.join(", ")));
    }
    if rule.activation == Activation::Stream {
        remarks.push("watches the stream".to_owned());
    }
    [bold(&rule.id), plain(&rule.source), count, plain(&remarks.join("; "))]
}

fn always_row(rule: &AlwaysRow) -> [Cell; 3] {
    let mut remarks = vec![match rule.activation {
        Activation::Stream => "watches the stream".to_owned(),
        _ => format!("~{} tokens", rule.tokens),
    }];
    remarks.extend(overridden(rule.overridden));
    [bold(&rule.id), plain(&rule.source), plain(&remarks.join("; "))]
}

fn overridden(files: usize) -> Option<String> {
    (files > 0).then(|| format!("overridden for {}", plural(files, "file")))
}

fn other_row(rule: &Other) -> [Cell; 3] {
    let because = match rule.because {
        "conditions" => format!("waits for {}", rule.further.join(", ")),
        other => other.to_owned(),
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
