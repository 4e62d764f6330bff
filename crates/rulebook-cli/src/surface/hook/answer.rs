//! Asking: what the ledger and the event know is put to the rules; what is new is claimed, then said.

use std::collections::HashMap;
use std::path::PathBuf;

use anyhow::Context as _;
use rulebook::agent::{Agent, Nested};
use rulebook::diagnostic::{Code, Diagnostic};
use rulebook::evaluate::{Evaluation, State, Verdict};
use rulebook::evidence::{Input, ToolCall};
use rulebook::format::PlaceKind;
use rulebook::rule::Rule;
use rulebook::session::{Blocks, Cap, Delivery, EVENT_VERSION, Event, Session, because, blocks};
use rulebook::source::{Origin, Scope};
use rulebook_workspace::ledger::Kept;
use rulebook_workspace::{Asked, Homes, Reach, Workspace, find_root};

use super::event::{HookEvent, HookReply, Moment};
use super::memory::Memory;
use super::{Caller, Host, Touch};
use crate::alert::{alert_line, alerts};
use crate::args::Args;

/// What is to be said to the host.
pub(super) fn answer(workspace: &Workspace, host: &Host, event: &HookEvent, caller: Caller) -> HookReply {
    let (memory, mut history) = Memory::of(workspace, host, event);
    let touched = event.tool.as_ref().map(|call| {
        let seen = workspace.gather(&Input { tools: vec![call.clone()], ..Input::default() }).0;
        seen.paths.into_iter().map(|seen| seen.path).collect()
    });
    let touched = touched.unwrap_or_default();
    let asking = Asking { host, event, workspace, memory: &memory, caller, touched };
    let answer = asking.answer(&mut history);
    caller.leave(history);
    answer
}

/// The workspace around the host's folder.
pub(super) fn open(args: &Args, event: &HookEvent) -> anyhow::Result<Workspace> {
    let folder = match &event.folder {
        Some(folder) => PathBuf::from(folder),
        None => std::env::current_dir().context("the current folder cannot be found")?,
    };
    let roots = if args.root.is_empty() { vec![find_root(&folder).to_owned()] } else { args.root.clone() };
    Ok(Workspace::open_with(&roots, Homes::from_environment(), &args.set.join("\n"))?)
}

/// One event on its way to an answer.
pub(super) struct Asking<'a> {
    pub(super) host: &'a Host,
    pub(super) event: &'a HookEvent,
    pub(super) workspace: &'a Workspace,
    memory: &'a Memory,
    caller: Caller,
    /// The files the tool call is about.
    pub(super) touched: Vec<String>,
}

impl Asking<'_> {
    fn answer(&self, history: &mut Kept) -> HookReply {
        let mut facts = self.facts(&history.session);
        if facts.iter().any(|fact| matches!(fact, Event::Compacted | Event::Resumed)) {
            // What was given before is gone before anything is asked.
            self.memory.record(history, std::mem::take(&mut facts), Vec::new());
        }
        if !self.host.hears.contains(&self.event.moment) && self.event.moment != Moment::Before {
            self.memory.record(history, facts, Vec::new());
            return HookReply::default();
        }
        let asked = self.workspace.ask(&input(self.host, self.event, &history.session));
        let evaluation = asked.evaluate();
        let answer = self.say(&asked, &evaluation, history, facts);
        self.caller.leave(evaluation);
        self.caller.leave(asked);
        answer
    }

    /// What of the verdicts is new and is this one's to say.
    fn say(
        &self,
        asked: &Asked,
        evaluation: &Evaluation<'_>,
        history: &mut Kept,
        mut facts: Vec<Event>,
    ) -> HookReply {
        let mut answer = HookReply::default();
        self.watch(&evaluation.verdicts, &history.session, &mut facts, &mut answer);
        // What was written is spoken of beside the rules.
        let beside = answer.context.take();
        let spoken = beside.as_ref().map_or(0, |text| text.chars().count());
        let cap = Cap::Host(self.host.cap.saturating_sub(spoken));
        let hears = self.host.hears.contains(&self.event.moment);
        let verdicts: Vec<&Verdict<'_>> = evaluation.verdicts.iter().filter(|_| hears).collect();
        let (wanted, missed) = self.wanted(&verdicts, asked, &history.session);
        let offers = self.offers(&verdicts, &history.session);
        let alerts: Vec<Delivery> =
            alerts(&asked.diagnostics).map(alert).filter(|told| !history.session.has(told)).collect();
        let first = blocks(&wanted, &offers, &asked.evidence, cap);
        if first.is_none() && alerts.is_empty() {
            self.memory.record(history, facts, Vec::new());
            return HookReply { context: beside, ..answer };
        }
        let delivered =
            first.as_ref().map(|first| self.deliveries(first, &offers, asked, &missed)).unwrap_or_default();
        let claimed: Vec<Delivery> = delivered.into_iter().chain(alerts).collect();
        let claims = claimed.len();
        let mine = self.memory.record(history, facts, claimed);
        let lost = self.memory.lost();
        // Without memory what stands anyway is given with every prompt, and not with every call beside.
        let is_of_turn = |moment: &Moment| matches!(moment, Moment::Start | Moment::Prompt);
        let is_beside =
            lost.is_some() && !is_of_turn(&self.event.moment) && self.host.hears.iter().any(is_of_turn);
        let lost = lost.map(|why| format!("Rulebook gives its rules with every prompt: {why}"));
        let alerts = mine.iter().filter(|delivery| delivery.rule == ALERT).map(|told| told.because.as_str());
        let told: Vec<&str> = alerts.chain(lost.as_deref()).filter(|_| !is_beside).collect();
        if !told.is_empty() && self.host.shows_notices {
            answer.notice = Some(join(answer.notice.take(), &told.join("\n")));
        } else if !told.is_empty() {
            answer.context = Some(format!("Tell the user, from Rulebook:\n{}", told.join("\n")));
        }
        let blocks = if mine.len() == claims && !is_beside {
            first
        } else {
            // Another process was faster with some of them.
            let is_mine = |source: &str| mine.iter().any(|delivery| delivery.source == source);
            let is_new = |verdict: &&Verdict<'_>| {
                is_mine(&verdict.rule.origin.display) && !(is_beside && verdict.because.is_empty())
            };
            let wanted: Vec<_> = wanted.into_iter().filter(is_new).collect();
            let offers = if is_mine(OFFERS) && !is_beside { offers } else { Vec::new() };
            blocks(&wanted, &offers, &asked.evidence, cap)
        };
        if let Some(blocks) = &blocks {
            answer.notice = answer.notice.or_else(|| notice(blocks));
        }
        for text in blocks.map(|blocks| blocks.text).into_iter().chain(beside) {
            answer.context = Some(join(answer.context.take(), &text));
        }
        answer
    }

    /// What the event tells the ledger.
    fn facts(&self, history: &Session) -> Vec<Event> {
        let mut facts = Vec::new();
        if !history.is_started() {
            facts.push(Event::Started {
                version: EVENT_VERSION,
                host: self.host.name.to_owned(),
                session: self.event.session.clone(),
                agent: self.event.agent.clone(),
                root: self.workspace.roots.roots[0].path.clone(),
            });
        }
        // A session that starts anew behind a compaction may have told of it before.
        let is_known = self.event.moment == Moment::Start && history.is_compacted();
        if self.event.is_compaction && !is_known {
            facts.push(Event::Compacted);
        }
        if self.event.is_resume && !self.host.forgets.is_empty() && history.is_started() {
            facts.push(Event::Resumed);
        }
        if let Some(message) = self.event.message.as_ref().filter(|_| self.event.moment == Moment::Prompt) {
            facts.push(Event::prompt(message));
        }
        if let Some(call) = &self.event.tool {
            facts.push(Event::Tool {
                name: call.name.clone(),
                paths: self.touched.clone(),
                command: call.shell_command(),
                pending: call.pending,
            });
        }
        facts
    }

    /// The rules of the stack that the model has not got, and will not get from the host; with why it will not, for
    /// those that the host reads itself.
    fn wanted<'e, 'r>(
        &self,
        verdicts: &[&'e Verdict<'r>],
        asked: &Asked,
        history: &Session,
    ) -> (Vec<&'e Verdict<'r>>, Missed) {
        let new =
            |verdict: &&Verdict<'_>| matches!(verdict.state, State::Stack) && !history.has_rule(verdict.rule);
        let stack: Vec<&Verdict<'_>> = verdicts.iter().copied().filter(new).collect();
        if matches!(self.caller, Caller::Process { all: true }) {
            return (stack, Missed::new());
        }
        let reads = |verdict: &&&Verdict<'_>| host_reads(self.host, self.workspace, verdict.rule);
        let own: Vec<&Verdict<'_>> = stack.iter().filter(reads).copied().collect();
        let unreadable = self.unreadable_to_host(&own, asked);
        let looks = |call: &ToolCall| !self.host.misses.contains(&Touch::of(call));
        let looked = if own.is_empty() { Vec::new() } else { history.touched(looks) };
        let mut missed = Missed::new();
        for verdict in &own {
            let source = &verdict.rule.origin.display;
            let never = || format!("{} never takes it: see `rulebook check`", self.host.name);
            let why = unreadable.contains(source).then(never);
            missed.extend(
                why.or_else(|| self.host_misses(verdict, asked, &looked)).map(|why| (source.clone(), why)),
            );
        }
        let is_left = |rule: &Rule| own.iter().any(|own| std::ptr::eq(own.rule, rule));
        let is_wanted = |verdict: &&Verdict<'_>| {
            !is_left(verdict.rule) || missed.contains_key(&verdict.rule.origin.display)
        };
        (stack.into_iter().filter(is_wanted).collect(), missed)
    }

    /// Why the host's own rules for paths pass over what this call touches; nothing if they do not, or if the host looked
    /// at their files before.
    fn host_misses(&self, verdict: &Verdict<'_>, asked: &Asked, looked: &[String]) -> Option<String> {
        let touch = Touch::of(self.event.tool.as_ref()?);
        let on_paths = verdict.because.iter().filter(|reason| matches!(reason.condition, "paths" | "folder"));
        let paths: Vec<&String> =
            on_paths.flat_map(|reason| &reason.seen).map(|at| &asked.evidence.paths[*at].path).collect();
        let is_among = |touched: &[String]| touched.iter().any(|path| paths.contains(&path));
        let is_missed = self.host.misses.contains(&touch) && is_among(&self.touched) && !is_among(looked);
        is_missed.then(|| format!("{} looks at no rules for paths when it {}", self.host.name, touch.said()))
    }

    /// The files among these that the host never takes, though it should.
    fn unreadable_to_host(&self, own: &[&Verdict<'_>], asked: &Asked) -> Vec<String> {
        if own.is_empty() {
            return Vec::new();
        }
        let paths: Vec<(usize, &str)> =
            asked.evidence.paths.iter().map(|seen| (seen.root, seen.path.as_str())).collect();
        let differences = self.workspace.differences(&asked.book, Reach::Above(&paths));
        let never = differences
            .into_iter()
            .filter(|(_, agent, found)| agent.name == self.host.agent && found.code == Code::AgentNever);
        never.map(|(rule, ..)| rule.origin.display.clone()).collect()
    }

    /// What is to be claimed for these blocks.
    fn deliveries(
        &self,
        blocks: &Blocks<'_, '_>,
        offers: &[&Rule],
        asked: &Asked,
        missed: &Missed,
    ) -> Vec<Delivery> {
        let passing = self.host.forgets.contains(&self.event.moment);
        let whole = blocks.whole.iter().map(|verdict| delivery(verdict, asked));
        let cut = blocks.cut.iter().map(|verdict| Delivery { offered: true, ..delivery(verdict, asked) });
        let offers = (!offers.is_empty()).then(|| offers_delivery(offers));
        let all = whole.chain(cut).chain(offers);
        all.map(|one| Delivery {
            missed: missed.get(&one.source).cloned(),
            is_lost_on_resume: passing,
            ..one
        })
        .collect()
    }

    /// What the agent may ask for, once a session.
    fn offers<'r>(&self, verdicts: &[&Verdict<'r>], history: &Session) -> Vec<&'r Rule> {
        if !matches!(self.event.moment, Moment::Start | Moment::Prompt) {
            return Vec::new();
        }
        let offered = verdicts.iter().filter(|verdict| matches!(verdict.state, State::Offered));
        let offers: Vec<&Rule> = offered.map(|verdict| verdict.rule).collect();
        if offers.is_empty() || history.has(&offers_delivery(&offers)) { Vec::new() } else { offers }
    }
}

/// Why the host did not give rules that it reads itself, by their files.
type Missed = HashMap<String, String>;

/// What is known: this event, and what the ledger has of this turn and those before.
pub(super) fn input(host: &Host, event: &HookEvent, history: &Session) -> Input {
    let is_prompt = event.moment == Moment::Prompt;
    let now = history.turn() + u64::from(is_prompt);
    let mut tools = history.tools();
    tools.extend(event.tool.iter().map(|call| ToolCall { turn: Some(now), ..call.clone() }));
    let message = event.message.clone().filter(|_| is_prompt);
    Input {
        message: message.or_else(|| history.message().map(str::to_owned)),
        tools,
        turn: Some(now),
        mode: event.mode.clone(),
        model: event.model.clone(),
        agent: Some(host.name.to_owned()),
        ..Input::default()
    }
}

/// Whether the host reads the file itself.
pub(super) fn host_reads(host: &Host, workspace: &Workspace, rule: &Rule) -> bool {
    let Some(agent) = Agent::named(host.agent) else { return false };
    let Origin { format, place, scope, folder, .. } = &rule.origin;
    // What lies from the root down to where it was started, it may have read.
    let is_deeper = !folder.is_empty() && !matches!(place.shape, PlaceKind::Located { .. });
    if is_deeper && agent.nested == Nested::Unread {
        return false;
    }
    agent.formats.iter().filter(|own| own.id == format.id).any(|own| {
        let places = if *scope == Scope::User { own.user } else { own.workspace };
        workspace.takes(own) && places.iter().any(|own| own.path == place.path)
    })
}

pub(super) fn join(before: Option<String>, text: &str) -> String {
    before.map_or_else(|| text.to_owned(), |before| format!("{before}\n\n{text}"))
}

/// The name under which alerts are told: no rule's, which have no blanks.
const ALERT: &str = "an alert";

/// What the user is told once a session: by its code and place, since the count in it may change with what is looked at.
fn alert(told: &Diagnostic) -> Delivery {
    let source = format!("{} {}", told.code.row().name, told.path);
    Delivery { source, because: alert_line(told), ..Delivery::of_text(ALERT, "") }
}

/// The name under which the list of offers is delivered.
const OFFERS: &str = "offers";

fn offers_delivery(offers: &[&Rule]) -> Delivery {
    let lines: Vec<String> = offers.iter().map(|rule| rulebook::render::offer_line(rule)).collect();
    Delivery::of_text(OFFERS, &lines.join("\n"))
}

fn delivery(verdict: &Verdict<'_>, asked: &Asked) -> Delivery {
    Delivery::of(verdict.rule, because(verdict, &asked.evidence))
}

/// What the user is told when conditional rules came on.
fn notice(blocks: &Blocks<'_, '_>) -> Option<String> {
    let conditional = blocks.whole.iter().filter(|verdict| !verdict.because.is_empty());
    let names: Vec<&str> = conditional.map(|verdict| verdict.rule.name.as_str()).collect();
    (!names.is_empty()).then(|| format!("📋 Conditional rules applied: {}", names.join(", ")))
}
