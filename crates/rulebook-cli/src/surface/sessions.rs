//! `sessions` and `explain --session`: the list of sessions, and what one of them saw and received.

use std::fmt::Write as _;

use anyhow::anyhow;
use rulebook::diagnostic::Diagnostic;
use rulebook::rule::id_of;
use rulebook::session::{Event, HostFacts, RequirementState};
use rulebook_workspace::Workspace;
use serde_json::{Value, json};

use super::hook::{self, Missing, MissingRule, NativeFile};
use super::sections::in_table;
use super::session_log::{self, Listed, SessionLog, given};
use crate::args::Args;
use crate::input::open_workspace;
use crate::out::{self, BOLD, DIM, GREEN, PLAIN, RED, Table, VERSION, YELLOW, paint, plural};

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let workspace = open_workspace(args)?;
    let (all, diagnostics) = session_log::all(&workspace);
    if args.json {
        let listed: Vec<Value> = all.iter().map(Listed::summary).collect();
        return out::print_json(
            &json!({ "version": VERSION, "sessions": listed, "diagnostics": diagnostics }),
        );
    }
    print_faults(&diagnostics);
    if all.is_empty() {
        return out::print(
            "no sessions yet\n  help: `rulebook install` wires an agent's hooks; each of its sessions is listed here\n",
        );
    }
    let mut table = Table::default();
    table.row(
        ["session", "agent", "sub-agent", "turns", "delivered", "workspace", "last event"]
            .map(|title| (DIM, title)),
    );
    for session in &all {
        table.row([
            (BOLD, &session.session),
            (PLAIN, &session.host),
            (PLAIN, session.agent.as_deref().unwrap_or("–")),
            (PLAIN, &session.turns.to_string()),
            (PLAIN, &session.given.to_string()),
            (PLAIN, &workspace.homes.shown(session.root.as_ref())),
            (DIM, &out::age(session.at)),
        ]);
    }
    let mut text = String::new();
    table.write(&mut text, 0, &table.widths());
    out::print(&text)
}

/// `explain --session`: turn by turn what was seen and delivered, then what was not and why.
pub(super) fn explain(args: &Args, workspace: &Workspace, wanted: &str) -> anyhow::Result<()> {
    let (all, diagnostics) = session_log::find(workspace, Some(wanted).filter(|wanted| !wanted.is_empty()));
    if all.is_empty() {
        let (known, diagnostics) = session_log::all(workspace);
        if !args.json {
            print_faults(&diagnostics);
        }
        let known = known.iter().map(|session| session.session.as_str());
        let none = match known.len() {
            0 => "Rulebook records the sessions of wired agents; `rulebook install` shows how to wire one",
            _ => "`rulebook sessions` lists the sessions",
        };
        let help = out::suggestion(wanted, known, none);
        let which =
            if wanted.is_empty() { "in this workspace".to_owned() } else { format!("named `{wanted}`") };
        return Err(anyhow!(help).context(format!("no session {which}")));
    }
    if !args.json {
        print_faults(&diagnostics);
    }
    if args.json {
        let whole = |session: &SessionLog| {
            whole(session, session.other_workspace(args, workspace).as_ref().unwrap_or(workspace))
        };
        let all: Vec<Value> = all.iter().map(whole).collect();
        return out::print_json(&json!({ "version": VERSION, "sessions": all, "diagnostics": diagnostics }));
    }
    let mut text = String::new();
    for session in &all {
        show(&mut text, session, session.other_workspace(args, workspace).as_ref().unwrap_or(workspace));
    }
    out::print(&text)
}

fn print_faults(diagnostics: &[Diagnostic]) {
    let mut text = String::new();
    diagnostics.iter().for_each(|fault| out::write_diagnostic(&mut text, fault));
    out::print_aside(&text);
}

pub(super) fn whole(session: &SessionLog, workspace: &Workspace) -> Value {
    let mut value = Listed::of(session).summary();
    value["facts"] = out::shown_json(&session.log.events()).unwrap_or_default();
    value["unreadable"] = json!(session.log.unreadable());
    let state = session.log.session();
    let Missing { rules, cut, native, requirements, milestones } =
        hook::not_delivered(workspace, &session.host, &session.session, &state);
    value["notGiven"] = json!(rules);
    value["native"] = json!(native);
    value["requirements"] = json!(requirements);
    value["milestones"] = json!(milestones);
    value["pathsCut"] = json!(cut);
    let HostFacts { mode, provider, model, .. } = state.facts();
    (value["mode"], value["provider"], value["model"]) = (json!(mode), json!(provider), json!(model));
    value["pinned"] = state.pinned().collect();
    value
}

fn show(text: &mut String, session: &SessionLog, workspace: &Workspace) {
    let agent = session.agent.as_ref().map(|agent| format!(", sub-agent {agent}")).unwrap_or_default();
    let _ = writeln!(
        text,
        "{}{}\n",
        paint(BOLD, format!("session {} of {}{agent}", out::clean(&session.session), session.host)),
        paint(
            DIM,
            format!(
                ": {}, {} delivered",
                plural(usize::try_from(session.log.turn()).unwrap_or(0), "turn"),
                plural(given(&session.log), "rule")
            )
        ),
    );
    let missing = hook::not_delivered(workspace, &session.host, &session.session, &session.log.session());
    let widths = Some(DeliveryWidths::of(session.log.events()));
    let (mut turn, mut call) = (0, 0);
    for event in session.log.events() {
        turn += u64::from(matches!(event, Event::Prompt { .. }));
        let is_inner = !matches!(
            event,
            Event::Started { .. } | Event::Prompt { .. } | Event::Compacted | Event::Resumed
        );
        let _ = writeln!(text, "{}{}", if is_inner { "  " } else { "" }, line(event, turn, widths));
        if matches!(event, Event::Tool { .. }) {
            for one in missing.milestones.iter().filter(|one| one.call == call) {
                let what = paint(DIM, format!("{}: {}", id_of(&one.rule), one.requirement));
                let _ = writeln!(text, "    {} {what}", one.state.name());
            }
            call += 1;
        }
    }
    if session.log.unreadable() > 0 {
        let _ =
            writeln!(text, "{} of the ledger could not be read", plural(session.log.unreadable(), "line"));
    }
    if missing.cut > 0 {
        let _ = writeln!(text, "{} not considered: too many", plural(missing.cut, "path"));
    }
    if !missing.rules.is_empty() {
        let _ = writeln!(text, "\nnot delivered");
        let mut table = Table::default();
        for MissingRule { id, source, why } in &missing.rules {
            table.row([(DIM, id), (DIM, source), (DIM, &in_table(why))]);
        }
        table.write(text, 2, &table.widths());
    }
    if !missing.requirements.is_empty() {
        let _ = writeln!(text, "\nrequirements");
        let mut table = Table::default();
        for one in &missing.requirements {
            let style = match one.state {
                RequirementState::Broken => RED,
                RequirementState::Due => YELLOW,
                RequirementState::Met | RequirementState::Idle | RequirementState::Forbidden => DIM,
            };
            let by = one.by.as_ref().map(|by| format!("; by {by}")).unwrap_or_default();
            let what = format!("{}{by}", one.requirement);
            table.row([(PLAIN, id_of(&one.rule)), (style, one.shown_state()), (DIM, &what)]);
        }
        table.write(text, 2, &table.widths());
    }
    if !missing.native.is_empty() {
        let _ = writeln!(text, "\nread by {} itself", session.host);
        let mut table = Table::default();
        for NativeFile { source, predicted, loaded } in &missing.native {
            let (style, how) = match (predicted, loaded) {
                (true, true) => (DIM, "loaded, as predicted"),
                (true, false) => (YELLOW, "predicted, but not reported as loaded"),
                (false, _) => (YELLOW, "loaded, but not predicted"),
            };
            table.row([(style, source), (style, how)]);
        }
        table.write(text, 2, &table.widths());
    }
    text.push('\n');
}

/// The widths of the columns in which deliveries are listed.
#[derive(Clone, Copy, Default)]
pub(super) struct DeliveryWidths {
    rule: usize,
    source: usize,
}

impl DeliveryWidths {
    fn of(events: &[Event]) -> DeliveryWidths {
        let mut widths = DeliveryWidths::default();
        for event in events {
            if let Event::Delivered(delivery) = event
                && !delivery.is_alert()
                && !delivery.because.is_empty()
            {
                widths.rule = widths.rule.max(out::clean(id_of(&delivery.rule)).chars().count());
                widths.source = widths.source.max(out::clean(&delivery.source).chars().count());
            }
        }
        widths
    }
}

/// An event for people, on one line; deliveries in columns, if their widths are given.
pub(super) fn line(event: &Event, turn: u64, widths: Option<DeliveryWidths>) -> String {
    match event {
        Event::Started { .. } => paint(DIM, "session started"),
        Event::Prompt { message } => {
            let line = message.lines().next().unwrap_or_default();
            format!("{} {}", paint(BOLD, format!("turn {turn}")), out::clean(line))
        }
        Event::Tool { name, paths, command, pending, failed } => {
            let how = match () {
                () if *pending => "started",
                () if *failed => "failed",
                () => "finished",
            };
            let about = command.as_ref().and_then(|command| command.lines().next()).map(str::to_owned);
            let about = about.unwrap_or_else(|| paths.join(", "));
            format!("{} {} {}", out::clean(name), out::clean(&about), paint(DIM, format!("({how})")))
        }
        Event::Delivered(delivery) if delivery.is_alert() => {
            format!("{} {}", paint(YELLOW, "notified the user:"), out::clean(&delivery.because))
        }
        Event::Delivered(delivery) if delivery.because.is_empty() => {
            format!("{} the offered rules", paint(GREEN, "listed"))
        }
        Event::Delivered(delivery) => {
            let how = if delivery.offered { "listed (too large)" } else { "delivered" };
            let (rule, source) = (out::clean(id_of(&delivery.rule)), out::clean(&delivery.source));
            let missed = delivery.missed.as_ref().map(|why| format!("; {}", out::clean(why)));
            let because = format!("{}{}", out::clean(&delivery.because), missed.unwrap_or_default());
            let (how, because) = (paint(GREEN, how), paint(DIM, because));
            match widths {
                Some(DeliveryWidths { rule: first, source: second }) => {
                    format!("{how} {rule:first$}  {source:second$}  {because}")
                }
                None => format!("{how} {rule} ({source}): {because}"),
            }
        }
        Event::Loaded { source, because } => {
            let because = paint(DIM, format!("({})", out::clean(because)));
            format!("{} {} {because}", paint(DIM, "loaded by the agent:"), out::clean(source))
        }
        Event::Undelivered { sources, .. } => {
            let sources = out::clean(&sources.join(", "));
            format!("{} the agent did not read the answer with {sources}", paint(RED, "not delivered:"))
        }
        Event::Facts(facts) => paint(DIM, out::clean(&facts_line(facts))),
        Event::Pinned { rule, source } => {
            let source = paint(DIM, format!("({})", out::clean(source)));
            format!("{} {} {source}", paint(YELLOW, "pinned"), out::clean(id_of(rule)))
        }
        Event::Unpinned { rule } => format!("{} {}", paint(YELLOW, "unpinned"), out::clean(id_of(rule))),
        Event::Compacted => paint(DIM, "context compacted"),
        Event::Resumed => paint(DIM, "session resumed"),
        Event::Refused { rule, call } => {
            let (rule, call) = (out::clean(id_of(rule)), out::clean(call));
            format!("{} `{call}` once: rule `{rule}`", paint(YELLOW, "refused"))
        }
        Event::Interrupted { rule, source, text, file, action, .. } => {
            let file = file.as_ref().map(|file| format!(" for {}", out::clean(file))).unwrap_or_default();
            let (rule, source) = (out::clean(id_of(rule)), out::clean(output_words(source)));
            let (done, more) = interrupted(action);
            let more = more.map(|more| format!("; {more}")).unwrap_or_default();
            let why = paint(DIM, format!("rule `{rule}`{more}"));
            format!("{} `{}` in {source}{file}: {why}", paint(YELLOW, done), out::clean(text))
        }
        Event::Sequence { rule, action, call, what, .. } => {
            let (rule, call, what) = (out::clean(id_of(rule)), out::clean(call), out::clean(what));
            // The guard is no rule.
            let by = if rule == hook::guard::GUARD { rule } else { format!("rule `{rule}`") };
            format!("{} `{call}`: {}", paint(YELLOW, sequence(action)), paint(DIM, format!("{by} ({what})")))
        }
        Event::Failed { what } => format!("{} {}", paint(RED, "failed:"), out::clean(what)),
        _ => String::new(),
    }
}

/// What a host said about the conversation, for people.
fn facts_line(facts: &HostFacts) -> String {
    let HostFacts { mode, provider, model, open_tabs, visible_editors, .. } = facts;
    let named = [("mode", mode), ("provider", provider), ("model", model)];
    let named = named.into_iter().filter_map(|(name, value)| Some(format!("{name} {}", value.as_ref()?)));
    let counted = [(open_tabs, "open tab"), (visible_editors, "visible editor")];
    let counted = counted.into_iter().filter(|(files, _)| !files.is_empty());
    let counted = counted.map(|(files, what)| plural(files.len(), what));
    named.chain(counted).collect::<Vec<_>>().join(", ")
}

/// What a requirement did to a call, for people.
pub(super) fn sequence(action: &str) -> &'static str {
    match action {
        "refuse" => "refused",
        "ask" => "asked the user about",
        _ => "broken by",
    }
}

/// The part of the output that a stream rule matched, for people.
fn output_words(source: &str) -> &str {
    if source == "tool" { "a tool call" } else { source }
}

/// The effect of a stream rule's match, for people, and what more is known of it.
pub(super) fn interrupted(action: &str) -> (&'static str, Option<&'static str>) {
    match action {
        "remind" | "reminded-by-relay" => ("let through", Some("the rule is delivered after the turn")),
        "released" => ("let through", Some("the text was held too long")),
        "refuse" => ("refused", None),
        "let-through" => ("let through", Some("the rule is delivered as a reminder")),
        "known" => ("let through", Some("the rule is in the context already")),
        _ => ("interrupted", None),
    }
}
