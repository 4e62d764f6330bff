//! The changes as text, and as Markdown for a pull request.

use std::cmp::Ordering;
use std::fmt::Write as _;

use rulebook::change::{Change, ChangeKind, Sighting};
use rulebook::coverage::Extent;

use super::changes::AgentChanges;
use crate::out::{BOLD, CYAN, DIM, GREEN, PLAIN, RED, Table, YELLOW, clean, counted, grouped, paint};

/// Each kind of change: its symbol, its colour and its meaning.
const KINDS: [(ChangeKind, &str, anstyle::Style, &str); 8] = [
    (ChangeKind::Appears, "+", GREEN, "added"),
    (ChangeKind::Vanishes, "-", RED, "removed"),
    (ChangeKind::Widens, ">", YELLOW, "applies to more"),
    (ChangeKind::Narrows, "<", YELLOW, "applies to less"),
    (ChangeKind::Moves, "*", YELLOW, "different files"),
    (ChangeKind::Doubt, "?", YELLOW, "may apply to other files: not documented"),
    (ChangeKind::Conditions, "=", YELLOW, "other conditions, same files"),
    (ChangeKind::Text, "~", CYAN, "text changed"),
];

/// Shows the changes per agent. Agents with the same changes are shown together.
pub(super) fn text(base: &str, head: &str, agents: &[AgentChanges<'_>]) -> String {
    let mut text = format!("{} → {}\n", paint(BOLD, clean(base)), paint(BOLD, clean(head)));
    if agents.iter().all(|agent| agent.changes.is_empty()) {
        let whom = match agents {
            [AgentChanges { agent: Some(agent), .. }] => agent.title,
            _ => "any agent",
        };
        let _ = writeln!(text, "no change for {whom}");
        return text;
    }
    for group in groups(agents) {
        let names: Vec<&str> = group.iter().map(|agent| agent.name()).collect();
        let _ = writeln!(text, "\n{}   {}", paint(BOLD, names.join(", ")), always(group[0].always));
        if group[0].changes.is_empty() {
            text.push_str("  no change\n");
        }
        let rows = group[0].changes.iter().map(|change| {
            let (_, symbol, style, _) = KINDS[change.kind as usize];
            [(style, symbol.to_owned()), (PLAIN, clean(change.source())), (DIM, what(change))]
        });
        let table: Table = rows.collect();
        table.write(&mut text, 2, &table.widths());
    }
    let is_used =
        |kind: ChangeKind| agents.iter().flat_map(|agent| &agent.changes).any(|change| change.kind == kind);
    let used = KINDS.iter().filter(|(kind, ..)| is_used(*kind));
    let legend: Vec<String> = used.map(|(_, symbol, _, meaning)| format!("{symbol} {meaning}")).collect();
    let _ = writeln!(text, "\n{}", legend.join("   "));
    text
}

/// Shows the changes as Markdown. Names of files come from the change, so they are written as code.
pub(super) fn markdown(agents: &[AgentChanges<'_>]) -> String {
    let mut text = "### What this change does to the rules of each agent\n".to_owned();
    for group in groups(agents) {
        let title = |agent: &&AgentChanges<'_>| agent.agent.map_or("Any agent", |agent| agent.title);
        let names: Vec<&str> = group.iter().map(title).collect();
        let _ = writeln!(text, "\n**{}**: {}", names.join(", "), always(group[0].always));
        if group[0].changes.is_empty() {
            continue;
        }
        text.push_str("\n| change | rule | effect |\n|---|---|---|\n");
        for change in &group[0].changes {
            let (.., meaning) = KINDS[change.kind as usize];
            let _ = writeln!(text, "| {meaning} | {} | {} |", code(change.source()), what(change));
        }
    }
    text
}

/// Writes a name as inline code that nothing in it can end, also within a table.
fn code(name: &str) -> String {
    format!("`{}`", clean(name).replace('`', "'").replace('|', "¦"))
}

/// Groups agents for which the same happens.
fn groups<'c, 'r>(agents: &'c [AgentChanges<'r>]) -> Vec<Vec<&'c AgentChanges<'r>>> {
    let happens = |agent: &AgentChanges<'_>| -> Vec<(ChangeKind, String, String)> {
        let one = |change: &Change<'_>| (change.kind, change.source().to_owned(), what(change));
        agent.changes.iter().map(one).collect()
    };
    let mut groups: Vec<Vec<&AgentChanges<'_>>> = Vec::new();
    for agent in agents {
        let is_same = |group: &&mut Vec<&AgentChanges<'_>>| {
            group[0].always == agent.always && happens(group[0]) == happens(agent)
        };
        match groups.iter_mut().find(is_same) {
            Some(group) => group.push(agent),
            None => groups.push(vec![agent]),
        }
    }
    groups
}

fn always((before, after): (usize, usize)) -> String {
    if before == after {
        return format!("always loaded: {}, unchanged", counted(after, "token"));
    }
    let sign = if after > before { '+' } else { '-' };
    let (by, before, after) = (grouped(before.abs_diff(after)), grouped(before), counted(after, "token"));
    format!("always loaded: {before} → {after} ({sign}{by})")
}

/// Describes a change: where the rule applied and applies, and its tokens.
fn what(change: &Change<'_>) -> String {
    let tokens = match change.tokens() {
        // A stream rule costs nothing until it fires.
        (0, 0) => String::new(),
        (0, after) => counted(after, "token"),
        (before, 0) => counted(before, "token"),
        (before, after) if before == after && change.kind == ChangeKind::Text => {
            format!("another text of {}", counted(after, "token"))
        }
        (before, after) if before == after => String::new(),
        (before, after) => format!("{} → {}", grouped(before), counted(after, "token")),
    };
    let reach = match (&change.before, &change.after) {
        (None, Some(after)) => reach(after),
        (Some(before), None) => format!("was {}", reach(before)),
        (Some(before), Some(after)) if change.kind == ChangeKind::Doubt => doubt(before, after),
        (Some(before), Some(after)) if reach(after) == NO_FILE && reach(before) != NO_FILE => {
            format!("was {}, now applies to {NO_FILE}", reach(before))
        }
        (Some(before), Some(after)) if reach(before) != reach(after) => {
            format!("{} → {}", reach(before), reach(after))
        }
        (Some(_), Some(after)) if change.kind == ChangeKind::Moves => {
            format!("{} (different ones)", reach(after))
        }
        _ => String::new(),
    };
    let conditions = change.conditions().map(|(before, after)| format!("{before} → {after}"));
    let renamed = match (&change.before, &change.after) {
        (Some(before), Some(after)) if before.rule.origin.display != after.rule.origin.display => {
            format!("was {}", code(&before.rule.origin.display))
        }
        _ => String::new(),
    };
    [reach, conditions.unwrap_or_default(), tokens, renamed]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(", ")
}

const NO_FILE: &str = "no file";

fn reach(sighting: &Sighting<'_>) -> String {
    match &sighting.extent {
        Extent::Always => "always".to_owned(),
        Extent::Output => "watches the output".to_owned(),
        Extent::Files(files) if sighting.rule.stream.is_some() => {
            format!("watches the output for {}", counted(files.count(), "file"))
        }
        Extent::Files(files) => counted(files.count(), "file"),
        Extent::Nowhere if sighting.doubtful.count() > 0 => {
            format!("maybe {} (not documented)", counted(sighting.doubtful.count(), "file"))
        }
        Extent::Nowhere => NO_FILE.to_owned(),
        _ => "offered".to_owned(),
    }
}

/// Describes for how many files it is not documented whether a rule applies.
fn doubt(before: &Sighting<'_>, after: &Sighting<'_>) -> String {
    let (was, now) = (before.doubtful.count(), after.doubtful.count());
    let more = match now.cmp(&was) {
        Ordering::Less => "less",
        Ordering::Equal => "other files",
        Ordering::Greater => "more",
    };
    format!("may apply to {more} (not documented): {was} → {}", counted(now, "file"))
}
