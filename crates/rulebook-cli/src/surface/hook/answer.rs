//! Asking: what the ledger and the event know is put to the rules; what is new is claimed, then said.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use anyhow::Context as _;
use rulebook::agent::{Agent, Nested};
use rulebook::blocks::{Blocks, Cap, because, blocks};
use rulebook::diagnostic::{Code, Diagnostic};
use rulebook::evaluate::{Evaluation, State, Verdict};
use rulebook::evidence::{Input, ToolCall};
use rulebook::format::Shape;
use rulebook::rule::Rule;
use rulebook::source::{Origin, Scope};
use rulebook::stream::policy::{self, Source};
use rulebook::stream::{Hit, Kind, Monitor};
use rulebook_workspace::ledger::{Delivery, Fact, History, VERSION};
use rulebook_workspace::{Asked, Homes, Reach, Workspace, find_root};

use super::event::{Answer, Event, Moment};
use super::memory::Memory;
use super::{Caller, Host, Touch};
use crate::args::Args;
use crate::surface::{alert_line, alerts};

/// What is to be said to the host.
pub(super) fn answer(workspace: &Workspace, host: &Host, event: &Event, caller: Caller) -> Answer {
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
pub(super) fn open(args: &Args, event: &Event) -> anyhow::Result<Workspace> {
    let folder = match &event.folder {
        Some(folder) => PathBuf::from(folder),
        None => std::env::current_dir().context("the current folder cannot be found")?,
    };
    let roots = if args.root.is_empty() { vec![find_root(&folder).to_owned()] } else { args.root.clone() };
    Ok(Workspace::open_with(&roots, Homes::from_environment(), &args.set.join("\n"))?)
}

/// One event on its way to an answer.
struct Asking<'a> {
    host: &'a Host,
    event: &'a Event,
    workspace: &'a Workspace,
    memory: &'a Memory,
    caller: Caller,
    /// The files the tool call is about.
    touched: Vec<String>,
}

impl Asking<'_> {
    fn answer(&self, history: &mut History) -> Answer {
        let mut facts = self.facts(history);
        if facts.iter().any(|fact| matches!(fact, Fact::Compacted | Fact::Resumed)) {
            // What was given before is gone before anything is asked.
            self.memory.record(history, std::mem::take(&mut facts), Vec::new());
        }
        if !self.host.hears.contains(&self.event.moment) && self.event.moment != Moment::Before {
            self.memory.record(history, facts, Vec::new());
            return Answer::default();
        }
        let asked = self.workspace.ask(&input(self.host, self.event, history));
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
        history: &mut History,
        mut facts: Vec<Fact>,
    ) -> Answer {
        let mut answer = Answer::default();
        self.watch(&evaluation.verdicts, history, &mut facts, &mut answer);
        let hears = self.host.hears.contains(&self.event.moment);
        let verdicts: Vec<&Verdict<'_>> = evaluation.verdicts.iter().filter(|_| hears).collect();
        let (wanted, missed) = self.wanted(&verdicts, asked, history);
        let offers = self.offers(&verdicts, history);
        let alerts: Vec<Delivery> =
            alerts(&asked.diagnostics).map(alert).filter(|told| !history.has(told)).collect();
        let first = blocks(&wanted, &offers, &asked.evidence, Cap::Host(self.host.cap));
        if first.is_none() && alerts.is_empty() {
            self.memory.record(history, facts, Vec::new());
            return answer;
        }
        let delivered =
            first.as_ref().map(|first| self.deliveries(first, &offers, asked, &missed)).unwrap_or_default();
        let claimed: Vec<Delivery> = delivered.into_iter().chain(alerts).collect();
        let claims = claimed.len();
        let mine = self.memory.record(history, facts, claimed);
        let lost = self.memory.lost();
        // Without memory what stands anyway is given with every prompt, and not with every call beside.
        let is_beside = lost.is_some() && !matches!(self.event.moment, Moment::Start | Moment::Prompt);
        let lost = lost.map(|why| format!("Rulebook gives its rules with every prompt: {why}"));
        let alerts = mine.iter().filter(|delivery| delivery.rule == ALERT).map(|told| told.because.as_str());
        let told: Vec<&str> = alerts.chain(lost.as_deref()).filter(|_| !is_beside).collect();
        if !told.is_empty() && self.host.shows_notices {
            answer.notice = Some(told.join("\n"));
        } else if !told.is_empty() {
            let text = format!("Tell the user, from Rulebook:\n{}", told.join("\n"));
            answer.context = Some(join(answer.context.take(), &text));
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
            blocks(&wanted, &offers, &asked.evidence, Cap::Host(self.host.cap))
        };
        if let Some(blocks) = blocks {
            answer.notice = answer.notice.or_else(|| notice(&blocks));
            answer.context = Some(join(answer.context.take(), &blocks.text));
        }
        answer
    }

    /// What the event tells the ledger.
    fn facts(&self, history: &History) -> Vec<Fact> {
        let mut facts = Vec::new();
        if history.is_empty() {
            facts.push(Fact::Began {
                version: VERSION,
                host: self.host.name.to_owned(),
                session: self.event.session.clone(),
                agent: self.event.agent.clone(),
                root: self.workspace.roots.roots[0].path.clone(),
            });
        }
        // A session that starts anew behind a compaction may have told of it before.
        let is_known = self.event.moment == Moment::Start && history.is_compacted();
        if self.event.is_compaction && !is_known {
            facts.push(Fact::Compacted);
        }
        if self.event.is_resume && !self.host.forgets.is_empty() && !history.is_empty() {
            facts.push(Fact::Resumed);
        }
        if let Some(message) = self.event.message.as_ref().filter(|_| self.event.moment == Moment::Prompt) {
            facts.push(Fact::spoke(message));
        }
        if let Some(call) = &self.event.tool {
            facts.push(Fact::Tool {
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
        history: &History,
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
        all.map(|one| Delivery { missed: missed.get(&one.source).cloned(), passing, ..one }).collect()
    }

    /// What the agent may ask for, once a session.
    fn offers<'r>(&self, verdicts: &[&Verdict<'r>], history: &History) -> Vec<&'r Rule> {
        if !matches!(self.event.moment, Moment::Start | Moment::Prompt) {
            return Vec::new();
        }
        let offered = verdicts.iter().filter(|verdict| matches!(verdict.state, State::Offered));
        let offers: Vec<&Rule> = offered.map(|verdict| verdict.rule).collect();
        if offers.is_empty() || history.has(&offers_delivery(&offers)) { Vec::new() } else { offers }
    }

    /// Runs the stream rules over what is about to be written, or was.
    fn watch(&self, verdicts: &[Verdict<'_>], history: &History, facts: &mut Vec<Fact>, answer: &mut Answer) {
        let Some(call) = self.event.tool.as_ref().filter(|call| call.is_write()) else {
            return;
        };
        let Some(input) = &call.input else { return };
        let watching = verdicts.iter().filter(|verdict| matches!(verdict.state, State::Stream));
        let rules: Vec<&Rule> = watching.map(|verdict| verdict.rule).collect();
        if rules.is_empty() {
            return;
        }
        // Triggers that do not compile were told when they were read.
        let Ok(mut monitor) = Monitor::new(rules.iter().copied(), self.workspace.roots.clone()) else {
            return;
        };
        let wire = input.as_str().map_or_else(|| input.to_string(), str::to_owned);
        let mut hits = monitor.feed("call", &Kind::Tool(call.name.clone()), wire.as_bytes());
        hits.extend(monitor.finish("call"));
        let left_out = monitor.left_out().iter().map(|(rule, _)| rule.as_str());
        let unwatched: BTreeSet<&str> = left_out.chain(monitor.gave_up().map(|(rule, _)| rule)).collect();
        if !unwatched.is_empty() {
            let names = unwatched.into_iter().collect::<Vec<_>>().join(", ");
            answer.notice = Some(format!(
                "not all of this call was watched for {names}, which takes too much work; write its condition with smaller counts"
            ));
        }
        for rule in rules {
            let own: Vec<&Hit> = hits.iter().filter(|hit| hit.rule == rule.name).collect();
            if !own.is_empty() {
                self.object(rule, &own, call, history, facts, answer);
            }
        }
    }

    /// A rule against a call: refused once, or said beside it where the host hears it.
    fn object(
        &self,
        rule: &Rule,
        hits: &[&Hit],
        call: &ToolCall,
        history: &History,
        facts: &mut Vec<Fact>,
        answer: &mut Answer,
    ) {
        let evidence: Vec<policy::Evidence> =
            hits.iter().map(|hit| policy::Evidence { text: hit.text.clone(), place: place(hit) }).collect();
        let interrupts = self.workspace.settings.modes_of(rule).interrupt.covers(Source::Tool);
        let about = hits.iter().find_map(|hit| hit.file.as_ref()).or(self.touched.first());
        let about = about.unwrap_or(&call.name).clone();
        let (name, path) = (&rule.name, &rule.origin.display);
        let beside = if self.host.hears.contains(&Moment::Before) { Moment::Before } else { Moment::After };
        if interrupts && call.pending && !history.has_refused(&rule.id, &about) {
            let text = policy::injection(name, path, &rule.body, &evidence);
            answer.refusal = Some(join(answer.refusal.take(), &text));
            facts.push(Fact::Refused { rule: rule.id.clone(), call: about });
        } else if self.event.moment == beside {
            let text = policy::reminder(name, path, &rule.body, &evidence);
            answer.context = Some(join(answer.context.take(), &text));
            if interrupts {
                answer.notice =
                    Some(format!("the rule {name} was told once and is passed over for {about} now"));
            }
        }
    }
}

/// Why the host did not give rules that it reads itself, by their files.
type Missed = HashMap<String, String>;

/// What is known: this event, and what the ledger has of this turn and those before.
pub(super) fn input(host: &Host, event: &Event, history: &History) -> Input {
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
    let is_deeper = !folder.is_empty() && !matches!(place.shape, Shape::Located { .. });
    if is_deeper && agent.nested == Nested::Unread {
        return false;
    }
    agent.formats.iter().filter(|own| own.name == format.name).any(|own| {
        let places = if *scope == Scope::User { own.user } else { own.workspace };
        workspace.takes(own) && places.iter().any(|own| own.path == place.path)
    })
}

fn join(before: Option<String>, text: &str) -> String {
    before.map_or_else(|| text.to_owned(), |before| format!("{before}\n\n{text}"))
}

fn place(hit: &Hit) -> String {
    let parts = [hit.tool.as_ref().map(|tool| format!("tool {tool}")), hit.field.clone(), hit.file.clone()];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The name under which alerts are told.
const ALERT: &str = "alert";

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
