//! `status`: lists every rule with its state, and what the always-on rules cost.

use std::collections::HashSet;
use std::fmt::Write as _;

use rulebook::agent::Nested;
use rulebook::diagnostic::Diagnostic;
use rulebook::evaluate::{Audience, State, Verdict, evaluate};
use rulebook::evidence::Input;
use rulebook::format::FormatId;
use rulebook::glob::split_list;
use rulebook::render::estimate_tokens;
use rulebook::rule::{Activation, Basis};
use rulebook::source::Scope;
use rulebook_workspace::{Loaded, Reach, Wanted, Workspace};
use serde::Serialize;
use serde_json::json;

use super::explain::{off_words, show_agent};
use crate::args::{Args, View};
use crate::input::open_workspace;
use crate::out::{self, BOLD, DIM, GREEN, PLAIN, RED, Table, VERSION, YELLOW, paint, plural};

/// The state of a rule while no path is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum RuleState {
    Stack,
    Offered,
    Stream,
    Inactive,
    Overridden,
    Disabled,
    Rejected,
}

/// Every state, in the order of the enum, with its name in JSON and its title on the page.
pub(super) const STATES: [(RuleState, &str, &str); 7] = [
    (RuleState::Stack, "stack", "On"),
    (RuleState::Offered, "offered", "Offered"),
    (RuleState::Stream, "stream", "Stream"),
    (RuleState::Inactive, "inactive", "Waiting"),
    (RuleState::Overridden, "overridden", "Overridden"),
    (RuleState::Disabled, "disabled", "Off"),
    (RuleState::Rejected, "rejected", "Rejected"),
];

impl RuleState {
    pub(super) fn name(self) -> &'static str {
        STATES[self as usize].1
    }
}

/// One rule, as listed.
#[derive(Serialize)]
pub(super) struct Row {
    pub(super) id: String,
    pub(super) key: String,
    pub(super) name: String,
    pub(super) source: String,
    pub(super) format: FormatId,
    pub(super) scope: Scope,
    pub(super) priority: Option<u8>,
    pub(super) activation: Option<Activation>,
    pub(super) basis: Option<Basis>,
    pub(super) state: RuleState,
    pub(super) detail: String,
    pub(super) description: Option<String>,
    pub(super) globs: Vec<String>,
    pub(super) tags: Vec<String>,
    pub(super) tokens: usize,
}

pub(super) fn run(args: &Args, view: &View) -> anyhow::Result<()> {
    let workspace = open_workspace(args)?;
    let agent = view.agent();
    let tree = workspace.tree(Wanted::All, &|_| ());
    let sources = workspace.sources(Reach::Walked(&tree));
    let mut loaded = sources.checked(&tree);
    let seen = if args.json { sources.not_read(&loaded.book, &tree).seen } else { Vec::new() };
    let (mut unread, mut undocumented) = (Vec::new(), Vec::new());
    if let Some(agent) = agent {
        let all = rows(&workspace, &loaded);
        loaded = sources.native(agent);
        let read: HashSet<String> = rows(&workspace, &loaded).into_iter().map(|row| row.source).collect();
        let is_own = |row: &Row| agent.formats.iter().any(|format| format.id == row.format);
        let is_undocumented = |row: &Row| agent.nested == Nested::Undocumented && is_own(row);
        let others = all.into_iter().filter(|row| !read.contains(&row.source));
        let (unclear, certain): (Vec<Row>, Vec<Row>) = others.partition(is_undocumented);
        let paths = |rows: Vec<Row>| rows.into_iter().map(|row| row.source).collect();
        (unread, undocumented) = (paths(certain), paths(unclear));
    }
    let rows = rows(&workspace, &loaded);
    let always: Vec<&Row> = rows.iter().filter(|row| row.is_always_on()).collect();
    let tokens: usize = always.iter().map(|row| row.tokens).sum();
    if args.json {
        let mut counts = serde_json::Map::from_iter([("total".to_owned(), rows.len().into())]);
        for (state, name, _) in STATES {
            counts.insert(name.to_owned(), rows.iter().filter(|row| row.state == state).count().into());
        }
        let roots: Vec<&str> = workspace.roots.roots.iter().map(|root| root.path.as_str()).collect();
        out::print_json(&json!({
            "version": VERSION,
            "as": agent.map(|agent| agent.name),
            "roots": roots,
            "rules": rows,
            "unread": unread,
            "undocumented": undocumented,
            "seen": seen,
            "counts": counts,
            "always": { "rules": always.len(), "tokens": tokens, "estimated": true },
            "diagnostics": loaded.diagnostics,
        }))?;
    } else {
        let mut text = String::new();
        if let Some(agent) = agent {
            show_agent(&mut text, agent);
        }
        let none = match agent {
            Some(agent) => format!("no rule files that {} reads", agent.title),
            None => NO_RULES.to_owned(),
        };
        text.push_str(&show(&workspace, &rows, &none, (always.len(), tokens), &loaded.diagnostics));
        let agent = agent.map_or("", |agent| agent.title);
        for (what, files) in [
            (format!("{agent} does not read"), &unread),
            (format!("not documented whether {agent} reads"), &undocumented),
        ] {
            if !files.is_empty() {
                let _ = writeln!(text, "\n{}", paint(DIM, format!("{what}: {}", files.join(", "))));
            }
        }
        out::print(&text)?;
    }
    Ok(())
}

/// Returns every rule in order of precedence, then the rejected files.
pub(super) fn rows(workspace: &Workspace, loaded: &Loaded) -> Vec<Row> {
    let evidence = workspace.evidence_for(&loaded.book, &Input::default());
    let evaluation = evaluate(&loaded.book, &evidence, Audience::any());
    let rejected = loaded.book.rejected().iter().map(|rejected| Row {
        id: rejected.id.clone(),
        key: rejected.key(),
        name: rejected.id.clone(),
        source: rejected.origin.display.clone(),
        format: rejected.origin.format.id,
        scope: rejected.origin.scope,
        priority: None,
        activation: None,
        basis: None,
        state: RuleState::Rejected,
        detail: rejected.codes.iter().map(|code| code.row().name).collect::<Vec<_>>().join(", "),
        description: None,
        globs: Vec::new(),
        tags: Vec::new(),
        tokens: 0,
    });
    evaluation.verdicts.iter().map(row).chain(rejected).collect()
}

fn row(verdict: &Verdict<'_>) -> Row {
    let rule = verdict.rule;
    let (state, detail) = match &verdict.state {
        State::Stack => (RuleState::Stack, String::new()),
        State::Offered => (RuleState::Offered, rule.description.clone().unwrap_or_default()),
        State::Stream => (RuleState::Stream, "watches the model's output".to_owned()),
        State::Inactive(why) => (RuleState::Inactive, why.detail.clone()),
        State::Overridden { winner, by } => {
            (RuleState::Overridden, format!("by {} ({})", winner.origin.display, by.name()))
        }
        State::Disabled(off) => (RuleState::Disabled, off_words(off.by, off.file.as_deref())),
    };
    Row {
        id: rule.id.clone(),
        key: rule.key(),
        name: rule.name.clone(),
        source: rule.origin.display.clone(),
        format: rule.origin.format.id,
        scope: rule.origin.scope,
        priority: Some(rule.priority),
        activation: Some(rule.activation),
        basis: Some(rule.basis),
        state,
        detail,
        description: rule.description.clone(),
        globs: rule.globs.clone(),
        tags: rule.tags.clone(),
        tokens: estimate_tokens(&rule.body),
    }
}

const NO_RULES: &str = "no rule files found\n  help: add one to .rulebook/rules/, .clinerules/, .cursor/rules/ or another agent's folder";

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
                (Some(activation), Some(basis)) => format!("{activation} ({basis})"),
                (Some(activation), None) => activation.to_string(),
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
        text.push_str("  run `rulebook check` for details\n");
    }
    text
}

impl Row {
    pub(super) fn is_always_on(&self) -> bool {
        self.state == RuleState::Stack && self.activation == Some(Activation::Always)
    }
}

/// Describes the state of a rule in a few words.
pub(super) fn state_words(row: &Row) -> (anstyle::Style, String) {
    match row.state {
        RuleState::Stack => (GREEN, "on".to_owned()),
        RuleState::Offered => (PLAIN, format!("offered: {}", row.detail)),
        RuleState::Inactive if row.activation == Some(Activation::When) && !row.globs.is_empty() => {
            // A glob that contains a comma must not look like two.
            let is_plain = !row.globs.iter().any(|glob| split_list(glob).len() > 1);
            let mark = if is_plain { "" } else { "`" };
            let globs: Vec<String> = row.globs.iter().map(|glob| format!("{mark}{glob}{mark}")).collect();
            (DIM, format!("waits for {}", globs.join(", ")))
        }
        RuleState::Inactive => (DIM, row.detail.clone()),
        RuleState::Rejected => (RED, format!("rejected: {}", row.detail)),
        RuleState::Disabled | RuleState::Overridden => {
            (YELLOW, format!("{} {}", row.state.name(), row.detail))
        }
        RuleState::Stream => (PLAIN, row.detail.clone()),
    }
}
