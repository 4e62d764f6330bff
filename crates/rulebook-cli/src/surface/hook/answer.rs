//! Answering an event: what the host reports goes to the session, which says what is due.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use rulebook::agent::{Agent, Wiring};
use rulebook::diagnostic::Diagnostic;
use rulebook::evaluate::Verdict;
use rulebook::evidence::{Input, PathLocation};
use rulebook::matrix::{Subject, evaluate_for, handlings};
use rulebook::session::{
    Delivery, Event, Moment, Reply, Report, SessionStore as _, Situation, carried, is_retry,
};
use rulebook_workspace::ledger::Keeper;
use rulebook_workspace::{Workspace, find_root};

use super::event::{HookEvent, Host};
use super::{guard, own_tool};
use crate::alert::{alert_line, alerts};
use crate::args::Args;
use crate::input::open_roots;
use crate::out;

/// The program that asks.
#[derive(Clone, Copy)]
pub(crate) enum Caller {
    /// A process that ends with its answer; with `all`, the host's own formats are delivered too.
    Process { all: bool },
    /// A server that continues.
    #[cfg_attr(not(feature = "mcp"), allow(dead_code, reason = "no other server answers hooks"))]
    Server,
    /// A program that the answer is returned to, and that owns the terminal.
    Library,
}

impl Caller {
    /// Drops a value, unless the process ends anyway: freeing every piece would take a good part of a hook's time.
    pub(super) fn leave<T>(self, done: T) {
        match self {
            Caller::Process { .. } => std::mem::forget(done),
            Caller::Server | Caller::Library => drop(done),
        }
    }
}

/// Opens the workspace of the roots that the event names, or the one around the host's folder.
pub(super) fn open(args: &Args, event: &HookEvent, named: &[&str]) -> anyhow::Result<Workspace> {
    let mut roots = args.root.clone();
    if roots.is_empty() {
        // A folder that was removed must not keep the rules of the others away.
        let folders = named.iter().map(Path::new).filter(|folder| named.len() == 1 || folder.is_dir());
        roots.extend(folders.map(|folder| find_root(folder).to_owned()));
    }
    if roots.is_empty() {
        let folder = match &event.folder {
            Some(folder) => PathBuf::from(folder),
            None => std::env::current_dir().context("cannot find the current folder")?,
        };
        roots.push(find_root(&folder).to_owned());
    }
    open_roots(args, &roots)
}

/// Takes the version of a host from its transcript, if the settings do not name one: versions read different files.
pub(super) fn learn_version(workspace: &mut Workspace, host: &Host, event: &HookEvent) {
    if let (Some(agent), Some(transcript)) = (Agent::named(host.agent), &event.transcript)
        && !matches!(event.moment, Moment::Compact | Moment::Load)
    {
        workspace.learn_version(agent, Path::new(transcript));
    }
}

/// The answer to an event, and what counts as delivered with it.
pub(super) struct Answer {
    pub(super) reply: Reply,
    delivered: Vec<Delivery>,
    keeper: Keeper,
}

impl Answer {
    /// Takes back what was delivered: the answer did not reach the host.
    pub(super) fn take_back(&mut self) {
        if !self.delivered.is_empty() {
            self.keeper.record(vec![Event::undelivered(&self.delivered)], Vec::new());
        }
    }
}

/// Answers an event.
pub(super) fn answer(workspace: &Workspace, host: &Host, event: &HookEvent, caller: Caller) -> Answer {
    let mut keeper = workspace.keeper(host.profile.name, &event.session, event.agent.as_deref());
    let (mut reply, delivered) = match event.tool.as_ref().filter(|call| own_tool::name_of(call).is_some()) {
        Some(call) => {
            if event.moment == Moment::After {
                own_tool::record(workspace, event, call, &mut keeper);
            }
            (Reply::default(), Vec::new())
        }
        None => reply(workspace, host, event, caller, &mut keeper),
    };
    guard::apply(workspace, host, event, &mut reply, &mut keeper);
    if let Some(why) = keeper.lost().filter(|_| !matches!(caller, Caller::Library)) {
        out::print_aside(&format!(
            "rulebook: {}; rules are delivered without regard to what the session received\n",
            out::clean(why)
        ));
    }
    Answer { reply, delivered, keeper }
}

fn reply(
    workspace: &Workspace,
    host: &Host,
    event: &HookEvent,
    caller: Caller,
    keeper: &mut Keeper,
) -> (Reply, Vec<Delivery>) {
    let mut report = report(workspace, host, event);
    let mut events = keeper.session().observe(&report);
    if events.iter().any(|event| matches!(event, Event::Compacted | Event::Resumed)) {
        // What left the context must be gone before anything is decided.
        keeper.record(std::mem::take(&mut events), Vec::new());
    }
    if !report.host.takes_context(report.moment) && !matches!(report.moment, Moment::Before | Moment::Stop) {
        keeper.record(events, Vec::new());
        return (Reply::default(), Vec::new());
    }
    if matches!(report.moment, Moment::Before | Moment::After)
        && let Some(received) =
            workspace.delivered_by_proxy(host.profile.name, &event.session, event.agent.as_deref())
    {
        keeper.session().adopt(&received);
    }
    let mut input = keeper.session().input(report.input.clone());
    workspace.add_editors(&mut input);
    let prepared = workspace.prepare(&input);
    if let Some(message) = event.message.as_deref().filter(|_| event.moment == Moment::Prompt) {
        let is_relayed = workspace.is_relayed(&event.session);
        let carried = carried(message, prepared.book.rules().map(|(rule, _)| rule), is_relayed);
        if !carried.is_empty() {
            // They are delivered in the turn that the message starts, which is recorded with them.
            keeper.record(std::mem::take(&mut events), carried);
            report.input.message = None;
        }
    }
    let agent = Agent::named(event.surface.unwrap_or(host.agent))
        .filter(|_| !matches!(caller, Caller::Process { all: true }));
    let view = agent.map(|agent| prepared.view(agent, &[Wiring::Hook]));
    let started = event.folder.as_deref().and_then(|folder| start(workspace, folder));
    let started = started.as_ref().map(|(root, folder)| (*root, folder.as_str()));
    let mut native = view.as_ref().map(|view| view.reading(&prepared.evidence));
    if agent.is_some_and(|agent| agent.is_for_first_root)
        && let (Some(native), Some((root, _))) = (&mut native, started)
    {
        native.keep_root(root);
    }
    let subject = view.as_ref().zip(native.as_ref()).map(|(view, native)| Subject {
        started_in: started.filter(|(_, folder)| !folder.is_empty()),
        ..view.subject(native)
    });
    let evaluation =
        evaluate_for(&prepared.book, &prepared.evidence, subject.as_ref(), workspace.settings.budget);
    let handling = |verdicts: &[&Verdict<'_>]| handlings(subject.as_ref(), verdicts);
    let has_requirements = prepared.book.rules().any(|(rule, _)| rule.requirements.is_some());
    let family = || workspace.family(host.profile.name, &event.session, event.agent.as_deref());
    let shared = if has_requirements { family() } else { None };
    let watches = prepared.book.rules().any(|(rule, _)| rule.stream.is_some());
    let relayed = || workspace.relayed(host.profile.name, &event.session, event.agent.as_deref());
    let relayed = if watches { relayed() } else { None };
    let syntax = workspace.watching_parser(&prepared.book);
    let situation = Situation {
        shared: shared.as_ref(),
        relayed: relayed.as_ref(),
        syntax: syntax.as_ref(),
        stream: workspace.settings.stream,
        handling: &handling,
        ..Situation::new(&evaluation, &prepared.evidence, &workspace.roots)
    };
    let alerts = alerts(&prepared.diagnostics).map(alert).collect();
    let mut draft = keeper.session().draft(&report, &situation, alerts);
    let own = draft.events();
    let mut delivered: Vec<Delivery> = own.iter().filter_map(Event::delivery).cloned().collect();
    events.extend(own);
    let mine = keeper.record(events, draft.claims());
    let reply = draft.reply(&mine, keeper.lost());
    delivered.extend(mine);
    caller.leave((evaluation, input));
    caller.leave(native);
    caller.leave(view);
    caller.leave(prepared);
    (reply, delivered)
}

/// The root and the folder in it where the host was started; an empty one for the root itself.
fn start(workspace: &Workspace, folder: &str) -> Option<(usize, String)> {
    match workspace.roots.locate(folder, &|_, _| true) {
        PathLocation::Inside { root, path } => Some((root, path)),
        PathLocation::Root(root) => Some((root, String::new())),
        PathLocation::Outside => None,
    }
}

/// A file as the sources of rules are displayed.
fn displayed(workspace: &Workspace, file: &str) -> String {
    match workspace.roots.locate(file, &|_, _| true) {
        PathLocation::Inside { root, path } if workspace.roots.roots.len() > 1 => {
            format!("{}/{path}", workspace.roots.roots[root].name)
        }
        PathLocation::Inside { path, .. } => path,
        PathLocation::Root(_) | PathLocation::Outside => workspace.homes.shown(Path::new(file)),
    }
}

/// An event as a report to the session.
fn report<'h>(workspace: &Workspace, host: &Host, event: &HookEvent) -> Report<'h> {
    Report {
        host: host.profile,
        moment: event.moment,
        input: Input {
            message: event
                .message
                .clone()
                .filter(|message| event.moment == Moment::Prompt && !is_retry(message)),
            tools: event.tool.iter().cloned().collect(),
            mode: event.mode.clone(),
            provider: event.provider.clone(),
            model: event.model.clone(),
            mentions: event.mentions.clone(),
            agent: Some(host.profile.name.to_owned()),
            ..Input::default()
        },
        paths: event.tool.iter().map(|call| workspace.touched(call)).collect(),
        loaded: event.loaded.clone().map(|(file, reason)| (displayed(workspace, &file), reason)),
        is_compaction: event.is_compaction,
        is_resume: event.is_resume,
        folder: event.folder.clone(),
    }
}

/// An alert once per session: by its code and path, because its counts may change.
fn alert(diagnostic: &Diagnostic) -> Delivery {
    let source = format!("{} {}", diagnostic.code.row().name, diagnostic.path);
    Delivery::alert(source, alert_line(diagnostic))
}
