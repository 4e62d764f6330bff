//! `check`: reports problems in rule files and settings, and how to fix them.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::anyhow;
use rulebook::diagnostic::{Code, Diagnostic, Severity};
use rulebook::evidence::Roots;
use rulebook::lint::{Group, Summary, group};
use rulebook_workspace::write::Owner;
use rulebook_workspace::{AgentSearch, Loaded, Reach, Wanted, Workspace};
use serde_json::json;

use super::baseline::Baseline;
use super::checkout::{Checkouts, Location};
use super::fix::{self, FixMode};
use super::sarif;
use super::used::{agents_json, show_agents};
use crate::args::{Args, Check, Format};
use crate::input::open_workspace;
use crate::out::{self, BOLD, CYAN, DIM, GREEN, PLAIN, RED, Table, VERSION, YELLOW, paint, plural};

/// The problems found and the files fixed.
struct Report {
    fixed: Vec<fix::Fixed>,
    /// What `--fix` leaves.
    not_fixed: Vec<fix::NotFixed>,
    /// Sorted by path and line.
    diagnostics: Vec<Diagnostic>,
    /// How many problems the baseline suppresses.
    suppressed: usize,
    /// Includes suppressed problems.
    summary: Summary,
}

pub(super) fn run(args: &Args, options: &Check) -> anyhow::Result<ExitCode> {
    let one = match options.format {
        Format::Sarif => "omit `--json`: SARIF is JSON already",
        Format::Github => "omit one of them",
        Format::Text | Format::Json => "",
    };
    if args.json && !one.is_empty() {
        return Err(anyhow!(one).context("`--json` and this `--format` are two output formats"));
    }
    let workspace = open_workspace(args)?;
    let report = report(&workspace, options)?;
    let agents = workspace.agents_used(AgentSearch::Workspace);
    match if args.json { Format::Json } else { options.format } {
        Format::Text => {
            let mut text = String::new();
            show_agents(&mut text, &agents);
            out::print(&(text + &show(&report, options)))?;
        }
        Format::Json => out::print_json(&json!({
            "version": VERSION,
            "agents": agents_json(&agents),
            "files": report.summary.files,
            "fixed": report.fixed,
            "notFixed": report.not_fixed,
            "diagnostics": report.diagnostics,
            "heldBack": report.suppressed,
            "summary": report.summary,
        }))?,
        Format::Sarif => out::print_json(&sarif::report(&workspace.roots, &report.diagnostics))?,
        Format::Github => out::print_raw(github(&workspace.roots, &report.diagnostics).as_bytes())?,
    }
    let worst = if options.strict { Severity::Warning } else { Severity::Error };
    let failed = report.diagnostics.iter().any(|diagnostic| diagnostic.severity <= worst)
        || options.dry_run && !report.fixed.is_empty();
    Ok(ExitCode::from(u8::from(failed)))
}

fn report(workspace: &Workspace, options: &Check) -> anyhow::Result<Report> {
    let tree = workspace.tree(Wanted::All, &|_| ());
    let mut sources = workspace.sources(Reach::Walked(&tree));
    let mut loaded = sources.checked(&tree);
    let mut fixed = Vec::new();
    if options.fix {
        let mode = if options.dry_run { FixMode::DryRun } else { FixMode::Write };
        fixed = fix::fix(&sources, &tree, &loaded.diagnostics, mode);
        if fixed.iter().any(|fixed| fixed.is_written) {
            sources = workspace.sources(Reach::Walked(&tree));
            loaded = sources.checked(&tree);
        }
    }
    let refused = fix::retain_fixable(&sources, &tree, &mut loaded.diagnostics);
    let not_fixed = if options.fix { fix::not_fixed(&loaded.diagnostics, &refused) } else { Vec::new() };
    let Loaded { book, mut diagnostics, .. } = loaded;
    let summary = Summary::of(&book, &diagnostics);
    let mut suppressed = 0;
    if let Some(file) = &options.baseline {
        if options.write_baseline {
            let roots = workspace.roots.roots.iter().map(|root| Path::new(&root.path));
            Baseline::of(&diagnostics).write(file, Owner::of(file, roots))?;
        }
        suppressed = Baseline::read(file)?.suppress(&mut diagnostics, file);
    }
    Ok(Report { fixed, not_fixed, diagnostics, suppressed, summary })
}

fn show(report: &Report, options: &Check) -> String {
    let mut text = String::new();
    for fixed in &report.fixed {
        let path = out::clean(&fixed.path);
        let done = if fixed.is_written { "fixed" } else { "would fix" };
        let _ = match &fixed.failed {
            None => {
                let change = |change: &String| format!("  {}\n", out::clean(change));
                let changes: String = fixed.changes.iter().map(change).collect();
                writeln!(text, "{} {path}\n{}{changes}", paint(GREEN, done), coloured(&fixed.diff))
            }
            Some(error) => writeln!(text, "{} {path}: {}\n", paint(RED, "not fixed"), out::clean(error)),
        };
    }
    let all = if options.all { usize::MAX } else { MAX_SHOWN };
    group(&report.diagnostics).iter().for_each(|group| write_group(&mut text, group, all));
    let files = plural(report.summary.files, "rule file");
    if report.summary.files == 0 && report.diagnostics.is_empty() {
        text.push_str("no rule files found: nothing was checked\n");
        return text;
    }
    let none = if options.baseline.is_some() { "no new problems" } else { "no problems" };
    let count = out::count(&report.diagnostics).unwrap_or_else(|| paint(GREEN, none));
    let recorded = match &options.baseline {
        Some(file) if options.write_baseline => {
            let what = plural(report.suppressed, "problem");
            let _ = writeln!(text, "recorded {what} in {}", out::clean(&file.display().to_string()));
            String::new()
        }
        Some(file) => {
            format!(" ({} recorded in {})", report.suppressed, out::clean(&file.display().to_string()))
        }
        None => String::new(),
    };
    let unread: BTreeSet<&str> = report.diagnostics.iter().flat_map(Diagnostic::paths).collect();
    let is_unread = report.diagnostics.iter().all(|found| found.code == Code::NotRead);
    let _ = match unread.len() {
        1 if report.summary.files == 0 && is_unread => {
            writeln!(text, "{count}; no agent reads this file{recorded}")
        }
        many if report.summary.files == 0 && is_unread => {
            writeln!(text, "{count}; no agent reads these {many} files{recorded}")
        }
        _ => writeln!(text, "{count} in {files}{recorded}"),
    };
    if options.fix && report.fixed.is_empty() && !report.not_fixed.is_empty() {
        let _ = writeln!(text, "nothing was fixed");
        let mut table = Table::default();
        for kind in &report.not_fixed {
            table.row([(BOLD, kind.code), (PLAIN, &kind.count.to_string()), (PLAIN, &kind.reason)]);
        }
        table.write(&mut text, 2, &table.widths());
    }
    match report.diagnostics.iter().filter(|diagnostic| diagnostic.fix.is_some()).count() {
        0 => {}
        count => {
            let _ = writeln!(text, "`rulebook check --fix` can fix {count} of these");
        }
    }
    write_summary(&mut text, &report.summary);
    text
}

/// How many problems of one kind are shown.
const MAX_SHOWN: usize = 3;

/// Writes the problems of one kind: each by itself if there are few, otherwise the first ones, one per line.
fn write_group(text: &mut String, group: &Group<'_>, most: usize) {
    if group.diagnostics.len() <= most {
        for diagnostic in &group.diagnostics {
            out::write_diagnostic(text, diagnostic);
            let others = diagnostic.others.iter().filter(|_| most == usize::MAX);
            let others: String =
                others.map(|other| format!("          {}\n", out::clean(&other.help))).collect();
            // They continue the help, which an empty line follows.
            text.insert_str(text.trim_end_matches('\n').len() + 1, &others);
        }
        return;
    }
    let label = out::label(group.severity(), group.code());
    let count = group.diagnostics.len();
    let _ =
        writeln!(text, "{label}: {}", paint(BOLD, format!("{count} times: {}", out::clean(&group.shape()))));
    for diagnostic in group.diagnostics.iter().take(most) {
        let place = out::place(diagnostic);
        let _ = match group.message() {
            Some(_) => writeln!(text, " {} {place}", paint(CYAN, "-->")),
            None => {
                writeln!(text, " {} {place}: {}", paint(CYAN, "-->"), out::clean(&diagnostic.message))
            }
        };
    }
    let more = format!("and {} more: `rulebook check --all` shows them", count - most);
    let _ = writeln!(text, "     {}", paint(DIM, more));
    let (help, of_these) = group.help();
    let of_these = if of_these < count { format!(" (for {of_these} of {count})") } else { String::new() };
    let _ =
        writeln!(text, "  {} {}: {}{of_these}\n", paint(CYAN, "="), paint(CYAN, "help"), out::clean(help));
}

fn coloured(diff: &str) -> String {
    let style = |line: &str| if line.starts_with("  -") { RED } else { GREEN };
    diff.lines().map(|line| format!("{}\n", paint(style(line), out::clean(line)))).collect()
}

/// Lists the files that do not work as intended, by the agents for which they do not.
fn write_summary(text: &mut String, summary: &Summary) {
    let is_valid = |file: &&String| !summary.rejected.contains(file);
    let never: Vec<String> = summary.never_seen.iter().filter(is_valid).cloned().collect();
    let any: [(&str, &[String]); 5] = [
        ("rejected: the file is invalid", &summary.rejected),
        ("never active", &never),
        ("always on because the header is invalid", &summary.unreadable_header),
        ("active only when mentioned by name", &summary.only_by_name),
        ("same text as another file", &summary.said_twice),
    ];
    write_files(text, "rules that may need attention, by their headers (agents may differ)", &any);
    for (agent, files) in &summary.not_applied {
        write_files(text, &format!("for {agent}"), &[("never active", files)]);
    }
}

fn write_files(text: &mut String, title: &str, rows: &[(&str, &[String])]) {
    let mut table = Table::default();
    for (what, files) in rows.iter().filter(|(_, files)| !files.is_empty()) {
        table.row([(PLAIN, *what), (YELLOW, &files.len().to_string()), (PLAIN, &first_few(files))]);
    }
    if !table.is_empty() {
        let _ = writeln!(text, "\n{}", paint(BOLD, title));
        table.write(text, 2, &table.widths());
    }
}

/// How many files are listed by name.
const MAX_NAMED: usize = 3;

fn first_few(files: &[String]) -> String {
    let named = files[..files.len().min(MAX_NAMED)].join(", ");
    match files.len().saturating_sub(MAX_NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

/// Formats annotations for a GitHub workflow, the worst first, because GitHub shows only ten.
fn github(roots: &Roots, diagnostics: &[Diagnostic]) -> String {
    let checkouts = Checkouts::of(roots);
    let file = |path: &str| match checkouts.locate(path) {
        Location::Inside(_, path) => path,
        Location::Absolute(_) => path.to_owned(),
    };
    let data = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
    let mut worst: Vec<&Diagnostic> = diagnostics.iter().collect();
    worst.sort_by_key(|diagnostic| diagnostic.severity);
    let mut text = String::new();
    for diagnostic in worst {
        let level = if diagnostic.severity == Severity::Note { "notice" } else { diagnostic.severity.name() };
        let _ = writeln!(
            text,
            "::{level} file={},line={},col={},title={}::{}",
            property(&file(&diagnostic.path)),
            diagnostic.line.max(1),
            diagnostic.column.max(1),
            property(diagnostic.code.row().name),
            data(&out::clean(&format!("{}; {}", diagnostic.message, diagnostic.help))),
        );
    }
    text
}
