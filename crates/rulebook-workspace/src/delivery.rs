//! Problems of delivery: rules that do not reach the agents used here, and folders that an agent always loads.

use std::collections::{BTreeMap, HashSet};

use rulebook::agent::{Agent, Wiring};
use rulebook::diagnostic::{Code, Diagnostic};
use rulebook::evidence::Input;
use rulebook::format::{FormatId, PlaceKind};
use rulebook::matrix::{AgentColumn, CellState, Matrix, RuleRow};
use rulebook::render::{estimate_tokens, grouped};
use rulebook::rule::{Activation, Rule};
use rulebook::source::Scope;

use crate::agents::AgentSearch;
use crate::hosts::Host;
use crate::sources::{Loaded, Sources};
use crate::unread::{NotRead, ignoring};

impl Sources<'_> {
    /// Adds the problems of delivery to the agents used in this workspace, except for files in `unread`.
    pub(crate) fn with_delivery(&self, loaded: Loaded, unread: &NotRead) -> Loaded {
        let workspace = self.workspace();
        let views = self.views_with(loaded, workspace.agents_used(AgentSearch::Workspace));
        let evidence = workspace.evidence_for(&views.meant.book, &Input::default());
        let matrix = views.matrix(&evidence);
        let reported = views.meant.diagnostics.iter().filter(|found| is_about_reading(found.code));
        let files = unread.files.iter().map(String::as_str);
        let reported: HashSet<&str> = reported.map(|found| found.path.as_str()).chain(files).collect();
        let mut found = missing(&matrix);
        found.extend(not_read(&matrix, &reported, &unread.linked));
        found.extend(always_loaded(&matrix));
        found.extend(read_twice(&matrix, &views.meant.diagnostics));
        found.extend(too_long(&matrix));
        let mut meant = views.meant;
        meant.diagnostics.extend(found);
        meant
    }
}

fn is_about_reading(code: Code) -> bool {
    matches!(code, Code::NotRead | Code::AgentNever | Code::NearName)
}

/// Reports mandatory rules that apply and do not reach an agent.
fn missing(matrix: &Matrix<'_>) -> Vec<Diagnostic> {
    let mut all = Vec::new();
    for (at, row) in matrix.rows.iter().enumerate() {
        let applies = matrix.meant.stack().any(|verdict| {
            let rule = verdict.rule;
            rule.is_mandatory && rule.origin.path == row.origin.path && rule.id == row.id
        });
        let lacks = |column: &&AgentColumn<'_>| {
            applies && !matches!(column.cells[at].state, CellState::Native | CellState::Added)
        };
        for column in matrix.columns.iter().filter(lacks) {
            let title = column.agent.title;
            let message = format!("this mandatory rule does not reach {title}");
            let found = Diagnostic::whole(Code::MandatoryMissing, &row.origin.display, message);
            let found = found.of_agent(column.agent.name);
            let install = install([column]);
            all.push(
                found.help(
                    install.unwrap_or_else(|| format!("use an agent that can be wired; {title} cannot")),
                ),
            );
        }
    }
    all
}

/// Reports rules at a root that their own agent, or every agent used here, does not read. Nested rules may be for an agent
/// that is started there, and formats without an agent are for all of them.
fn not_read(matrix: &Matrix<'_>, reported: &HashSet<&str>, linked: &HashSet<String>) -> Vec<Diagnostic> {
    // A link to a file, or a copy, brings its text to the agent.
    let texts = |column: &AgentColumn<'_>| -> HashSet<&str> {
        let read = matrix.rows.iter().zip(&column.cells).filter(|(_, cell)| cell.state != CellState::Unread);
        read.filter_map(|(row, _)| row.rule).map(|rule| &*rule.body).collect()
    };
    let texts: Vec<HashSet<&str>> = matrix.columns.iter().map(texts).collect();
    let is_wanted = |rule: &&Rule| {
        let origin = &rule.origin;
        let is_for_one = Agent::owner_of(origin.format.id).is_some() || ignoring(origin.format.id).is_some();
        let is_for_all = origin.format.id == FormatId::AgentsMd || !is_for_one;
        // A file that a rule links to is read when it is needed.
        let is_linked = linked.contains(origin.display.as_str());
        let is_reported = reported.contains(origin.display.as_str()) || is_linked;
        let is_at_root = origin.scope == Scope::Workspace && origin.folder.is_empty();
        is_at_root && !rule.body.is_empty() && !is_for_all && !is_reported
    };
    let mut all = Vec::new();
    for (at, row) in matrix.rows.iter().enumerate() {
        let Some(rule) = row.rule.filter(is_wanted).filter(|_| !matrix.columns.is_empty()) else { continue };
        let is_unread = |(column, texts): &(&AgentColumn<'_>, &HashSet<&str>)| {
            column.cells[at].state == CellState::Unread && !texts.contains(&*rule.body)
        };
        let ignoring = ignoring(row.origin.format.id);
        let is_owner = |column: &AgentColumn<'_>| {
            let id = row.origin.format.id;
            column.agent.owns == Some(id)
                || ignoring.is_some_and(|(agent, _)| agent.name == column.agent.name)
        };
        let owner = matrix.columns.iter().zip(&texts).find(|(column, _)| is_owner(column)).filter(is_unread);
        let report = |message: String| Diagnostic::whole(Code::NotRead, &row.origin.display, message);
        if let Some((owner, _)) = owner {
            let why = &owner.cells[at].because;
            let why = if why.is_empty() { String::new() } else { format!(": it {why}") };
            let found = report(format!("{} does not read this file{why}", owner.agent.title));
            all.push(match ignoring {
                Some((_, ignored)) => found.help(ignored.remedy),
                None => found,
            });
        } else if matrix.columns.iter().zip(&texts).all(|pair| is_unread(&pair)) {
            // Wiring an agent does not help if nothing may be added to it.
            let takers = matrix.columns.iter().filter(|column| column.cells[at].if_wired.is_some());
            let help = install(takers);
            let help =
                help.unwrap_or_else(|| "add its agent to `agents.used`, or remove the file".to_owned());
            all.push(report("no agent used here reads this file".to_owned()).help(help));
        }
    }
    all
}

/// Reports rule folders whose many files their agent loads in every session, because none of them is for some files only.
fn always_loaded(matrix: &Matrix<'_>) -> Vec<Diagnostic> {
    /// Fewer rules or tokens are not worth a line.
    const MIN_RULES: usize = 10;
    const MIN_TOKENS: usize = 5_000;
    #[derive(Default)]
    struct Folder {
        rules: usize,
        tokens: usize,
        has_scoped: bool,
    }
    let mut all = Vec::new();
    for column in &matrix.columns {
        let Some(format) = column.agent.owns.map(FormatId::row) else { continue };
        let key = format.paths_key;
        if format.agent_ignores.contains(&key) || format.inert.contains(&key) {
            continue;
        }
        let has_header = format.tier.is_some();
        let has_modes =
            || format.workspace.iter().any(|place| matches!(place.shape, PlaceKind::Modes { .. }));
        let mut folders: BTreeMap<&str, Folder> = BTreeMap::new();
        for (row, cell) in matrix.rows.iter().zip(&column.cells) {
            let Some(rule) = cell.rule.filter(|rule| rule.origin.format.id == format.id) else { continue };
            let folder = folders.entry(rule.origin.place.path).or_default();
            let is_scoped = rule.activation == Activation::When;
            folder.has_scoped |= is_scoped;
            if cell.state == CellState::Native && !is_scoped {
                folder.rules += 1;
                folder.tokens += row.rule.map_or(0, |rule| estimate_tokens(&rule.body));
            }
        }
        let is_heavy =
            |folder: &Folder| folder.rules >= MIN_RULES && folder.tokens >= MIN_TOKENS && !folder.has_scoped;
        for (path, Folder { rules, tokens, .. }) in folders.into_iter().filter(|(_, folder)| is_heavy(folder))
        {
            let why = if has_header { format!(": none of them has `{key}`") } else { String::new() };
            let message = format!(
                "{} loads {rules} rules (about {} tokens) in every session{why}",
                column.agent.title,
                grouped(tokens)
            );
            let help = match has_header {
                true => format!("add `{key}` to the rules that concern some files only"),
                false if has_modes() => {
                    format!("shorten them, or move the rules of a mode to `{path}-MODE/`")
                }
                false => "shorten them, or merge rules that say the same".to_owned(),
            };
            all.push(
                Diagnostic::whole(Code::AlwaysLoaded, path, message).help(help).of_agent(column.agent.name),
            );
        }
    }
    all
}

/// Reports rule files whose text an agent has in context twice, because it reads another agent's folder too. Only a file that
/// no other agent needs is reported.
fn read_twice(matrix: &Matrix<'_>, known: &[Diagnostic]) -> Vec<Diagnostic> {
    /// Shorter texts, in bytes, cost nothing worth a change.
    const MIN_LENGTH: usize = 200;
    let is_known =
        |path: &str| known.iter().any(|found| found.code == Code::DuplicateBody && found.path == path);
    let mut by_text: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, row) in matrix.rows.iter().enumerate() {
        let is_rule =
            |rule: &&Rule| rule.body.len() >= MIN_LENGTH && Agent::owner_of(rule.origin.format.id).is_some();
        if let Some(rule) = row.rule.filter(is_rule) {
            by_text.entry(&rule.body).or_default().push(at);
        }
    }
    let has = |column: &AgentColumn<'_>, at: usize| column.cells[at].state == CellState::Native;
    let readers_of = |at: usize| -> Vec<&'static Agent> {
        matrix.columns.iter().filter(|column| has(column, at)).map(|column| column.agent).collect()
    };
    let mut all = Vec::new();
    for rows in by_text.into_values().filter(|rows| rows.len() > 1) {
        // The file of the format that comes later has the smaller audience.
        for &at in rows.iter().rev() {
            let format = |at: usize| matrix.rows[at].origin.format.id;
            let needs_no = |other: &&usize| {
                let mut readers = matrix.columns.iter().filter(|column| has(column, at)).peekable();
                let is_read = readers.peek().is_some();
                format(**other) != format(at) && is_read && readers.all(|column| has(column, **other))
            };
            let Some(&other_at) = rows.iter().find(needs_no) else { continue };
            let (path, other) = (&matrix.rows[at].origin.display, &matrix.rows[other_at].origin.display);
            if is_known(path) {
                continue;
            }
            let titles: Vec<&str> = readers_of(at).iter().map(|agent| agent.title).collect();
            let message = format!("has the same text as `{other}`, and {} gets both", titles.join(", "));
            let found = Diagnostic::whole(Code::DuplicateBody, path, message);
            let needed = needing(&readers_of(at), &matrix.rows[at], &matrix.rows[other_at]);
            all.push(found.help(match needed.as_slice() {
                [] => format!("remove it: every agent used here that reads it reads `{other}` too"),
                needed => format!(
                    "remove it, unless somebody uses {}, which does not read `{other}`",
                    needed.join(" or ")
                ),
            }));
            break;
        }
    }
    all
}

/// The other agents of the same products that read one file and not the other.
fn needing(readers: &[&'static Agent], row: &RuleRow<'_>, other: &RuleRow<'_>) -> Vec<&'static str> {
    let reads = |agent: &Agent, row: &RuleRow<'_>| {
        let mut own = agent.formats.iter().filter(|format| format.id == row.origin.format.id);
        own.any(|format| format.workspace.iter().any(|place| place.path == row.origin.place.path))
    };
    let products = readers.iter().filter_map(|agent| agent.product());
    let mut names: Vec<&str> = products.flat_map(|product| product.surfaces).copied().collect();
    names.sort_unstable();
    names.dedup();
    let agents = names.into_iter().filter_map(Agent::named);
    agents.filter(|agent| reads(agent, row) && !reads(agent, other)).map(|agent| agent.title).collect()
}

/// Reports rules that are longer than what the hooks of an agent take at once: the model is only asked to read them.
fn too_long(matrix: &Matrix<'_>) -> Vec<Diagnostic> {
    let mut all = Vec::new();
    for column in matrix.columns.iter().filter(|column| column.wired.contains(&Wiring::Hook)) {
        let Some(limit) = Host::of(column.agent).and_then(|host| host.context_limit) else { continue };
        for (row, cell) in matrix.rows.iter().zip(&column.cells) {
            // A rule that the agent reads by itself is another reading of the file.
            let meant = row.rule.filter(|meant| cell.rule.is_some_and(|rule| std::ptr::eq(rule, *meant)));
            let is_own = matches!(cell.state, CellState::Native | CellState::Unread | CellState::Overridden);
            let Some(rule) = meant.filter(|_| !is_own) else { continue };
            let is_delivered = matches!(rule.activation, Activation::Always | Activation::When);
            let length = rule.body.chars().count();
            if is_delivered && length > limit {
                let message = format!(
                    "the hooks of {} take {limit} characters at once, and this rule has {length}: its text is not delivered, and the model is asked to read it",
                    column.agent.title
                );
                let found = Diagnostic::whole(Code::OverLimit, &row.origin.display, message);
                all.push(found.help("split the rule into shorter ones").of_agent(column.agent.name));
            }
        }
    }
    all
}

/// Returns the command that wires one of these agents.
fn install<'c, 'r: 'c>(columns: impl IntoIterator<Item = &'c AgentColumn<'r>>) -> Option<String> {
    let unwired = columns.into_iter().filter(|column| column.wired.is_empty());
    let host = unwired.filter_map(|column| Host::of(column.agent)).next()?;
    Some(host.install_command())
}
