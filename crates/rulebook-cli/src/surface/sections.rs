//! The rules of one target as text, by what becomes of them.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use anstyle::Style;
use rulebook::agent::Agent;
use rulebook::evaluate::InactiveReason;
use rulebook::explain::{AgentRule, Because, Inactive, Target};
use rulebook::format::Confidence;
use rulebook::matrix::CellState;
use rulebook::resolve::OffBy;
use rulebook_workspace::Viewpoint;

use crate::out::{self, BOLD, CYAN, DIM, GREEN, PLAIN, RED, Table, YELLOW, paint, plural};

/// Prints whose view this is, and when that agent applies rules for paths.
pub(super) fn show_agent(text: &mut String, agent: &Agent) {
    let fires = if agent.path_rules.is_empty() {
        String::new()
    } else {
        format!("; rules for paths: {}", agent.path_rules)
    };
    let _ = writeln!(text, "{}{}", paint(BOLD, format!("as {}", agent.title)), paint(DIM, fires));
    let format = agent.known_by();
    if format.confidence != Confidence::High {
        let basis = format!("based on {} (confidence: {})", format.knowledge, format.confidence.name());
        let _ = writeln!(text, "{}", paint(DIM, basis));
    }
    text.push('\n');
}

/// Writes the rules of a target, by what becomes of them. For an agent, each rule that applies says who brings it.
pub(super) fn show(text: &mut String, title: &str, target: &Target, tokens: usize, view: Viewpoint) {
    let agent = match view {
        Viewpoint::For(named) | Viewpoint::As(named) => target.agents.get(named.agent.name),
        Viewpoint::Used | Viewpoint::Any => None,
    };
    let offers = match view {
        Viewpoint::As(_) => "offered: the agent lists them to the model",
        _ => "offered: the agent can read them as rule://ID",
    };
    let _ = writeln!(
        text,
        "{}  {}",
        paint(BOLD, title),
        paint(
            DIM,
            format!("{}, about {} (estimated)", plural(target.stack.len(), "rule"), plural(tokens, "token"))
        ),
    );
    let row = |style, id: &str, source: &str, why| {
        [(style, id.to_owned()), (PLAIN, source.to_owned()), (PLAIN, why)]
    };
    let dim = |row: [(Style, String); 3]| row.map(|(_, cell)| (DIM, cell));
    let applied = target.stack.iter().map(|rule| {
        let why = because(&rule.because);
        let own = agent.and_then(|agent| agent.rules.iter().find(|own| own.source == rule.source));
        let by = own.filter(|_| matches!(view, Viewpoint::For(_))).and_then(brought);
        let why: Vec<String> = by.into_iter().chain([why]).chain(own.and_then(since)).collect();
        let why = why.join("; ");
        let why = if rule.basis.is_doubtful() { format!("{why} ({})", rule.basis) } else { why };
        row(GREEN.bold(), &rule.id, &rule.source, why)
    });
    let watching = target.stream.iter().map(|rule| row(BOLD, &rule.id, &rule.source, rule.summary()));
    let offered = target
        .offered
        .iter()
        .map(|rule| row(BOLD, &rule.id, &rule.source, rule.description.clone().unwrap_or_default()));
    let overridden = target.overridden.iter().map(|rule| {
        let winner = if rule.winner.id == rule.id {
            rule.winner.source.clone()
        } else {
            format!("{} ({})", rule.winner.id, rule.winner.source)
        };
        let why = format!("by {winner}, decided by {}", rule.decided_by.name());
        row(YELLOW, &rule.id, &rule.source, why)
    });
    let (unread, inactive): (Vec<&Inactive>, Vec<&Inactive>) =
        target.inactive.iter().partition(|rule| rule.reason == InactiveReason::Unread);
    let has_detail = |rule: &&Inactive| !rule.detail.is_empty();
    let dimmed = |rule: &Inactive| dim(row(DIM, &rule.id, &rule.source, in_table(&rule.detail)));
    let disabled = target
        .disabled
        .iter()
        .map(|rule| row(YELLOW, &rule.id, &rule.source, off_words(rule.by, rule.file.as_deref())));
    let rejected = target.rejected.iter().map(|rule| {
        let codes: Vec<&str> = rule.diagnostics.iter().map(|code| code.row().name).collect();
        row(RED, &rule.id, &rule.source, codes.join(", "))
    });
    let mut sections: Vec<(&str, Table)> = vec![
        ("applies, in this order", applied.collect()),
        ("watches the stream", watching.collect()),
        (offers, offered.collect()),
        ("overridden", overridden.collect()),
        ("does not apply", inactive.into_iter().map(dimmed).collect()),
        ("not read by the agent", unread.iter().copied().filter(has_detail).map(dimmed).collect()),
        ("disabled", disabled.collect()),
        ("rejected", rejected.collect()),
    ];
    sections.retain(|(_, table)| !table.is_empty());
    let widths = sections
        .iter()
        .map(|(_, table)| table.widths())
        .reduce(|a, b| a.iter().zip(&b).map(|(a, b)| *a.max(b)).collect());
    for (title, table) in &sections {
        let _ = writeln!(text, "\n  {}", paint(CYAN, title));
        table.write(text, 4, widths.as_deref().unwrap_or_default());
    }
    let others: Vec<&str> =
        unread.iter().filter(|rule| !has_detail(rule)).map(|rule| rule.source.as_str()).collect();
    if !others.is_empty() {
        let heading = if unread.iter().any(has_detail) { "also not read" } else { "not read" };
        let _ = writeln!(text, "\n  {}", paint(DIM, format!("{heading}: {}", file_list(&others))));
    }
    if sections.is_empty() && others.is_empty() {
        text.push_str("\n  no rule files found; `rulebook status` searches the whole tree\n");
    }
    text.push('\n');
}

/// Returns the path that an answer is about; without one, what it is about instead.
pub(super) fn title(target: &Target, without_path: &str) -> String {
    match (&target.path, &target.root) {
        (Some(path), Some(root)) => out::clean(&format!("{root}/{path}")),
        (Some(path), None) => out::clean(path),
        (None, _) => without_path.to_owned(),
    }
}

/// Returns a reason as it is written in a table, whose title names the path.
pub(super) fn in_table(detail: &str) -> String {
    detail.replace("no evidence path matches", "does not match")
}

/// Lists files; many of one folder are counted.
pub(super) fn file_list(files: &[impl AsRef<str>]) -> String {
    /// As many files of a folder are named.
    const NAMED: usize = 3;
    let folder = |file: &str| file.rsplit_once('/').map_or(String::new(), |(folder, _)| folder.to_owned());
    let mut counts: HashMap<String, usize> = HashMap::new();
    files.iter().for_each(|file| *counts.entry(folder(file.as_ref())).or_default() += 1);
    let mut seen = HashSet::new();
    let shown = files.iter().map(AsRef::as_ref).filter_map(|file| {
        let folder = folder(file);
        match counts[&folder] {
            count if count > NAMED && !folder.is_empty() => {
                let text = format!("{folder}/ ({count} files)");
                seen.insert(folder).then_some(text)
            }
            _ => Some(file.to_owned()),
        }
    });
    out::clean(&shown.collect::<Vec<_>>().join(", "))
}

/// Returns the version since which an agent reads a file.
fn since(rule: &AgentRule) -> Option<String> {
    rule.because.split("; ").find(|reason| reason.starts_with("since ")).map(str::to_owned)
}

/// Describes who brings a rule to the agent, and how.
fn brought(rule: &AgentRule) -> Option<String> {
    match rule.state {
        CellState::Native if rule.because.starts_with("imported") => Some(rule.because.clone()),
        CellState::Native => Some("read by the agent".to_owned()),
        CellState::Added => Some("added by Rulebook".to_owned()),
        _ => None,
    }
}

/// Formats the reasons why a rule applies: `paths apps/web/** ← apps/web/a.tsx (argument)`.
pub(super) fn because(reasons: &[Because]) -> String {
    if reasons.is_empty() {
        return "always on".to_owned();
    }
    let mut words = Vec::new();
    for reason in reasons {
        let mut word = format!("{} {}", reason.condition, reason.matched.join(", "));
        if let Some(first) = reason.evidence.first() {
            let sources: Vec<&str> = first.sources.iter().map(|source| source.name()).collect();
            let _ = write!(word, " ← {} ({})", first.path, sources.join(", "));
            if reason.evidence.len() > 1 {
                let _ = write!(word, " and {} more", reason.evidence.len() - 1);
            }
        }
        words.push(word);
    }
    words.join("; ")
}

/// Describes what disabled a rule.
pub(super) fn off_words(by: OffBy, file: Option<&str>) -> String {
    match (by, file) {
        (OffBy::Toggle, _) => "by you; `rulebook enable ID` turns it on again".to_owned(),
        (OffBy::UserToggle, _) => {
            "by you, in every workspace; `rulebook enable ID --user` turns it on again".to_owned()
        }
        (by, Some(file)) => format!("by `{by}` in {file}"),
        (by, None) => format!("by `{by}`"),
    }
}
