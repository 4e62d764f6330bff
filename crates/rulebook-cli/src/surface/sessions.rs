//! `sessions` and `explain --session`: which sessions there are, and what one has seen and got.

use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::SystemTime;

use anyhow::anyhow;
use rulebook::diagnostic::{Code, Diagnostic, nearest};
use rulebook_workspace::Workspace;
use rulebook_workspace::ledger::{Fact, History, Session, sessions};
use serde_json::{Value, json};

use super::hook;
use crate::args::Args;
use crate::input::open_workspace;
use crate::out::{self, BOLD, DIM, GREEN, PLAIN, RED, Table, VERSION, YELLOW, paint, plural};

/// A session with what its ledger says.
pub(super) struct Told {
    pub(super) host: String,
    pub(super) session: String,
    pub(super) agent: Option<String>,
    pub(super) root: String,
    pub(super) at: SystemTime,
    pub(super) history: History,
}

impl Told {
    /// What the ledger of a session says; nothing where its beginning is not written yet.
    pub(super) fn of(found: &Session, history: History) -> Option<Told> {
        let Some(Fact::Began { host, session, agent, root, .. }) = Session::began(&history).cloned() else {
            return None;
        };
        Some(Told { host, session, agent, root, at: found.at, history })
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let workspace = open_workspace(args)?;
    let (all, diagnostics) = all(&workspace);
    if args.json {
        let listed: Vec<Value> = all.iter().map(summary).collect();
        out::print_json(&json!({ "version": VERSION, "sessions": listed, "diagnostics": diagnostics }))?;
        return Ok(ExitCode::SUCCESS);
    }
    tell(&diagnostics);
    if all.is_empty() {
        out::print(
            "no sessions yet\n  help: `rulebook install` wires an agent's hooks; each of its sessions is listed here\n",
        )?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::default();
    table.row(
        ["session", "host", "agent", "turns", "rules given", "workspace", "last event"]
            .map(|title| (DIM, title)),
    );
    for told in &all {
        table.row([
            (BOLD, &told.session),
            (PLAIN, &told.host),
            (PLAIN, told.agent.as_deref().unwrap_or("–")),
            (PLAIN, &told.history.turn().to_string()),
            (PLAIN, &given(&told.history).to_string()),
            (PLAIN, &workspace.homes.shown(told.root.as_ref())),
            (DIM, &age(told.at)),
        ]);
    }
    let mut text = String::new();
    table.write(&mut text, 0, &table.widths());
    out::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// `explain --session`: turn by turn what was seen and given, then what was not and why.
pub(super) fn explain(args: &Args, workspace: &Workspace, wanted: &str) -> anyhow::Result<ExitCode> {
    let (mut all, diagnostics) = all(workspace);
    let known: Vec<String> = all.iter().map(|told| told.session.clone()).collect();
    if wanted.is_empty() {
        all.retain(|told| told.root == workspace.roots.roots[0].path);
        let last = all.first().map(|told| (told.host.clone(), told.session.clone()));
        all.retain(|told| last.as_ref() == Some(&(told.host.clone(), told.session.clone())));
    } else {
        all.retain(|told| told.session == wanted);
    }
    if !args.json {
        tell(&diagnostics);
    }
    if all.is_empty() {
        let help = match nearest(wanted, known.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`rulebook sessions` lists those there are".to_owned(),
        };
        let which = if wanted.is_empty() { "of this workspace".to_owned() } else { format!("`{wanted}`") };
        return Err(anyhow!(help).context(format!("there is no session {which}")));
    }
    if args.json {
        let told: Vec<Value> = all.iter().map(|told| whole(told, workspace)).collect();
        out::print_json(&json!({ "version": VERSION, "sessions": told, "diagnostics": diagnostics }))?;
    } else {
        let mut text = String::new();
        all.iter().for_each(|told| show(&mut text, told, workspace));
        out::print(&text)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Every session, the last written first; and the ledgers that are none.
fn all(workspace: &Workspace) -> (Vec<Told>, Vec<Diagnostic>) {
    let (mut all, mut diagnostics) = (Vec::new(), Vec::new());
    let found = workspace.homes.state.iter().flat_map(|state| sessions(&state.join("rulebook")));
    for found in found {
        let (fault, help) = match found.ledger.read() {
            Ok(history) => {
                let fault = found.ledger.left_alone(&history);
                all.extend(Told::of(&found, history));
                (fault, "use that Rulebook, or remove the file")
            }
            Err(error) => (Some(error.to_string()), "remove it"),
        };
        let file = workspace.homes.shown(found.ledger.file());
        diagnostics.extend(fault.map(|told| Diagnostic::whole(Code::BadState, file, told).help(help)));
    }
    (all, diagnostics)
}

fn tell(diagnostics: &[Diagnostic]) {
    let mut text = String::new();
    diagnostics.iter().for_each(|told| out::write_diagnostic(&mut text, told));
    out::print_aside(&text);
}

pub(super) fn given(history: &History) -> usize {
    history.facts().iter().filter(|fact| matches!(fact, Fact::Delivered(_))).count()
}

pub(super) fn age(at: SystemTime) -> String {
    let seconds = SystemTime::now().duration_since(at).map_or(0, |age| age.as_secs());
    match seconds {
        0..60 => "now".to_owned(),
        60..3600 => format!("{} min ago", seconds / 60),
        3600..86_400 => format!("{} h ago", seconds / 3600),
        _ => format!("{} days ago", seconds / 86_400),
    }
}

pub(super) fn summary(told: &Told) -> Value {
    let seconds = told.at.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    json!({
        "session": told.session, "host": told.host, "agent": told.agent, "root": told.root,
        "turns": told.history.turn(), "given": given(&told.history), "lastEvent": seconds,
    })
}

pub(super) fn whole(told: &Told, workspace: &Workspace) -> Value {
    let mut value = summary(told);
    value["facts"] = json!(told.history.facts());
    value["unreadable"] = json!(told.history.unreadable());
    let not_given = hook::not_given(workspace, &told.host, &told.history);
    let listed = not_given.iter().map(|(id, source, why)| json!({ "id": id, "source": source, "why": why }));
    value["notGiven"] = listed.collect();
    value
}

fn show(text: &mut String, told: &Told, workspace: &Workspace) {
    let agent = told.agent.as_ref().map(|agent| format!(", agent {agent}")).unwrap_or_default();
    let _ = writeln!(
        text,
        "{}{}\n",
        paint(BOLD, format!("session {} of {}{agent}", out::clean(&told.session), told.host)),
        paint(
            DIM,
            format!(
                ": {}, {} given",
                plural(usize::try_from(told.history.turn()).unwrap_or(0), "turn"),
                plural(given(&told.history), "rule")
            )
        ),
    );
    let mut turn = 0;
    for fact in told.history.facts() {
        turn += u64::from(matches!(fact, Fact::Spoke { .. }));
        let is_inner =
            !matches!(fact, Fact::Began { .. } | Fact::Spoke { .. } | Fact::Compacted | Fact::Resumed);
        let _ = writeln!(text, "{}{}", if is_inner { "  " } else { "" }, line(fact, turn));
    }
    if told.history.unreadable() > 0 {
        let _ =
            writeln!(text, "{} of the ledger could not be read", plural(told.history.unreadable(), "line"));
    }
    let not_given = hook::not_given(workspace, &told.host, &told.history);
    if !not_given.is_empty() {
        let _ = writeln!(text, "\nnot given");
        let mut table = Table::default();
        for (id, source, why) in &not_given {
            table.row([(DIM, id), (DIM, source), (DIM, why)]);
        }
        table.write(text, 2, &table.widths());
    }
    text.push('\n');
}

/// A fact for people, on one line.
pub(super) fn line(fact: &Fact, turn: u64) -> String {
    match fact {
        Fact::Began { .. } => paint(DIM, "the session began"),
        Fact::Spoke { message } => {
            let line = message.lines().next().unwrap_or_default();
            format!("{} {}", paint(BOLD, format!("turn {turn}")), out::clean(line))
        }
        Fact::Tool { name, paths, pending, .. } => {
            let when = if *pending { "before" } else { "after" };
            format!("{when} {} {}", out::clean(name), out::clean(&paths.join(", ")))
        }
        Fact::Delivered(delivery) if delivery.because.is_empty() => {
            format!("{} the rules that may be asked for", paint(GREEN, "listed"))
        }
        Fact::Delivered(delivery) => {
            let how = if delivery.offered { "listed (too large)" } else { "gave" };
            let (rule, source) = (out::clean(&delivery.rule), out::clean(&delivery.source));
            let missed = delivery.missed.as_ref().map(|why| format!("; {}", out::clean(why)));
            let because = format!("{}{}", out::clean(&delivery.because), missed.unwrap_or_default());
            format!("{} {rule} {source} {}", paint(GREEN, how), paint(DIM, because))
        }
        Fact::Compacted => paint(DIM, "the context was compacted"),
        Fact::Resumed => paint(DIM, "the session was resumed"),
        Fact::Refused { rule, call } => {
            format!("{} {} once, by {}", paint(YELLOW, "refused"), out::clean(call), out::clean(rule))
        }
        Fact::Interrupted { rule, source, text, file, action, .. } => {
            let file = file.as_ref().map(|file| format!(" for {}", out::clean(file))).unwrap_or_default();
            let what = format!("{} in {}{file}: {}", out::clean(rule), out::clean(source), out::clean(text));
            format!("{} {what}", paint(YELLOW, interrupted(action)))
        }
        Fact::Failed { what } => format!("{} {}", paint(RED, "failed:"), out::clean(what)),
    }
}

/// What came of a match in the stream, for people.
pub(super) fn interrupted(action: &str) -> &'static str {
    match action {
        "remind" => "reminded",
        "released" => "let pass",
        _ => "interrupted",
    }
}
