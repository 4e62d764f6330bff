//! `status`: what is here, every rule with its state, and what the always-on ones cost.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::process::ExitCode;

use rulebook::agent::Nested;
use rulebook::diagnostic::Diagnostic;
use rulebook::evaluate::{State, Verdict, evaluate};
use rulebook::evidence::Input;
use rulebook::format::FormatId;
use rulebook::glob::split_list;
use rulebook::render::estimate_tokens;
use rulebook::rule::{Activation, Basis};
use rulebook::source::Scope;
use rulebook_workspace::{Loaded, Reach, Workspace};
use serde::Serialize;
use serde_json::json;

use crate::args::{Args, View};
use crate::input::open_workspace;
use crate::out::{self, BOLD, DIM, GREEN, PLAIN, RED, Table, VERSION, YELLOW, paint, plural};

/// One rule, as listed.
#[derive(Serialize)]
pub(super) struct Row {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) source: String,
    pub(super) format: FormatId,
    pub(super) scope: Scope,
    pub(super) priority: Option<u8>,
    pub(super) activation: Option<Activation>,
    pub(super) basis: Option<Basis>,
    pub(super) state: &'static str,
    pub(super) detail: String,
    pub(super) description: Option<String>,
    pub(super) globs: Vec<String>,
    pub(super) tags: Vec<String>,
    pub(super) tokens: usize,
    /// What switched it off.
    #[serde(skip)]
    pub(super) off: Option<String>,
}

pub(super) fn run(args: &Args, view: &View) -> anyhow::Result<ExitCode> {
    let workspace = open_workspace(args)?;
    let agent = view.agent();
    let mut loaded = workspace.load(Reach::Tree);
    let (mut unread, mut undocumented) = (Vec::new(), Vec::new());
    if let Some(agent) = agent {
        let all = rows(&workspace, &loaded);
        loaded = workspace.load_as(agent, Reach::Tree);
        let read: HashSet<String> = rows(&workspace, &loaded).into_iter().map(|row| row.source).collect();
        let is_own = |row: &Row| agent.formats.iter().any(|format| format.id == row.format);
        let is_unsaid = |row: &Row| agent.nested == Nested::Undocumented && is_own(row);
        let (unsaid, sure): (Vec<Row>, Vec<Row>) =
            all.into_iter().filter(|row| !read.contains(&row.source)).partition(is_unsaid);
        let sources = |rows: Vec<Row>| rows.into_iter().map(|row| row.source).collect();
        (unread, undocumented) = (sources(sure), sources(unsaid));
    }
    let rows = rows(&workspace, &loaded);
    let always: Vec<&Row> = rows
        .iter()
        .filter(|row| row.state == "stack" && row.activation == Some(Activation::Always))
        .collect();
    let tokens: usize = always.iter().map(|row| row.tokens).sum();
    if args.json {
        let count = |state: &str| rows.iter().filter(|row| row.state == state).count();
        let roots: Vec<&str> = workspace.roots.roots.iter().map(|root| root.path.as_str()).collect();
        out::print_json(&json!({
            "version": VERSION,
            "as": agent.map(|agent| agent.name),
            "roots": roots,
            "rules": rows,
            "unread": unread,
            "undocumented": undocumented,
            "counts": {
                "total": rows.len(), "stack": count("stack"), "offered": count("offered"), "stream": count("stream"),
                "inactive": count("inactive"), "overridden": count("overridden"), "disabled": count("disabled"),
                "rejected": count("rejected"),
            },
            "always": { "rules": always.len(), "tokens": tokens, "estimated": true },
            "diagnostics": loaded.diagnostics,
        }))?;
    } else {
        let mut text = String::new();
        if let Some(agent) = agent {
            super::explain::show_agent(&mut text, agent);
        }
        let none = match agent {
            Some(_) => "no rule file here that it reads",
            None => NO_RULES,
        };
        text.push_str(&show(&workspace, &rows, none, (always.len(), tokens), &loaded.diagnostics));
        for (what, files) in [
            ("not read by it", &unread),
            ("below the root, where nobody says whether it reads", &undocumented),
        ] {
            if !files.is_empty() {
                let _ = writeln!(text, "\n{}", paint(DIM, format!("{what}: {}", files.join(", "))));
            }
        }
        out::print(&text)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Every rule file found, in the order of precedence; then the rejected ones.
pub(super) fn rows(workspace: &Workspace, loaded: &Loaded) -> Vec<Row> {
    let (mut evidence, _) = workspace.gather(&Input::default());
    workspace.look_up(&loaded.book, &mut evidence);
    let evaluation = evaluate(&loaded.book, &evidence);
    let rejected = loaded.book.rejected().iter().map(|rejected| Row {
        id: rejected.id.clone(),
        name: rejected.id.clone(),
        source: rejected.origin.display.clone(),
        format: rejected.origin.format.id,
        scope: rejected.origin.scope,
        priority: None,
        activation: None,
        basis: None,
        state: "rejected",
        detail: rejected.codes.iter().map(|code| code.row().name).collect::<Vec<_>>().join(", "),
        description: None,
        globs: Vec::new(),
        tags: Vec::new(),
        tokens: 0,
        off: None,
    });
    evaluation.verdicts.iter().map(row).chain(rejected).collect()
}

fn row(verdict: &Verdict<'_>) -> Row {
    let rule = verdict.rule;
    let (state, detail) = match &verdict.state {
        State::Stack => ("stack", String::new()),
        State::Offered => ("offered", rule.description.clone().unwrap_or_default()),
        State::Stream => ("stream", "watches the model's output".to_owned()),
        State::Inactive(why) => ("inactive", why.detail.clone()),
        State::Overridden { winner, by } => {
            ("overridden", format!("by {} ({})", winner.origin.display, by.name()))
        }
        State::Disabled(off) => ("disabled", super::explain::off_words(&off.by, off.file.as_deref())),
    };
    Row {
        id: rule.id.clone(),
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
        off: if let State::Disabled(off) = &verdict.state { Some(off.by.clone()) } else { None },
    }
}

const NO_RULES: &str = "no rule files here yet\n  help: put one into .rulebook/rules/, .clinerules/, .cursor/rules/ or any other agent's folder";

/// `none` is said where there are no rules; then how many are always on, and their tokens.
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
        table.row([(DIM, "id"), (DIM, "source"), (DIM, "comes on"), (DIM, "tokens"), (DIM, "state now")]);
        for row in rows {
            let comes_on = match (row.activation, row.basis) {
                (Some(activation), Some(basis)) if basis.is_doubtful() => {
                    format!("{activation} ({basis})")
                }
                (Some(activation), _) => activation.to_string(),
                _ => "–".to_owned(),
            };
            let (style, state) = state_words(row);
            table.row([
                (BOLD, &row.id),
                (PLAIN, &row.source),
                (PLAIN, &comes_on),
                (DIM, &format!("~{}", row.tokens)),
                (style, &state),
            ]);
        }
        text.push('\n');
        table.write(&mut text, 2, &table.widths());
        let formats: std::collections::BTreeSet<FormatId> = rows.iter().map(|row| row.format).collect();
        let _ = writeln!(
            text,
            "\n{} in {}; {} always on, about {} of every prompt (an estimate)",
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
        text.push_str("  `rulebook check` shows each with its line and what to write instead\n");
    }
    text
}

pub(super) fn state_words(row: &Row) -> (anstyle::Style, String) {
    match row.state {
        "stack" => (GREEN, "on".to_owned()),
        "offered" => (PLAIN, format!("offered: {}", row.detail)),
        "inactive" if row.activation == Some(Activation::When) && !row.globs.is_empty() => {
            // One with a comma in it is one all the same.
            let is_plain = !row.globs.iter().any(|glob| split_list(glob).len() > 1);
            let mark = if is_plain { "" } else { "`" };
            let globs: Vec<String> = row.globs.iter().map(|glob| format!("{mark}{glob}{mark}")).collect();
            (DIM, format!("waits for {}", globs.join(", ")))
        }
        "inactive" => (DIM, row.detail.clone()),
        "rejected" => (RED, format!("rejected: {}", row.detail)),
        "disabled" | "overridden" => (YELLOW, format!("{} {}", row.state, row.detail)),
        _ => (PLAIN, row.detail.clone()),
    }
}
