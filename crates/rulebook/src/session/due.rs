//! What is due: the rules that apply and that the conversation does not have yet.

use std::cell::OnceCell;
use std::collections::HashMap;

use super::blocks::{because, blocks};
use super::event::{Delivery, Event, HostFacts};
use super::host::{Moment, Report, Touch};
use super::situation::{HandlingView, Situation};
use super::state::Session;
use crate::evaluate::{Evaluation, Verdict};
use crate::evidence::{Evidence, Input, Seen, ToolCall};
use crate::matrix::Handling;
use crate::render::{Notice, offer_line};
use crate::rule::Rule;

/// The rules and offers that a conversation does not have yet.
#[derive(Debug)]
pub struct Due<'e, 'r> {
    rules: Vec<&'e Verdict<'r>>,
    /// Rules that apply, and that the budget leaves no room for.
    over_budget: Vec<&'e Verdict<'r>>,
    offers: Vec<&'r Rule>,
    /// Why a host that reads these files itself does not deliver them, by source.
    missed: HashMap<String, String>,
    evidence: &'e Evidence,
    turn: u64,
    is_lost_on_resume: bool,
}

/// A text for the model.
#[derive(Clone, Debug, Default)]
pub struct Written {
    /// The text.
    pub text: String,
    /// What it delivers.
    pub deliveries: Vec<Delivery>,
    /// The conditional rules in it, for the user.
    pub notice: Option<Notice>,
}

/// The name under which the list of offers is delivered.
pub(super) const OFFERS: &str = "offers";

impl Session {
    /// The events in a report.
    pub fn observe(&self, report: &Report<'_>) -> Vec<Event> {
        let mut events = Vec::new();
        // A session that starts again after a compaction may have reported it before.
        let is_known = report.moment == Moment::Start && self.is_compacted();
        if report.is_compaction && !is_known {
            events.push(Event::Compacted);
        }
        if report.is_resume && self.loses_on_resume() {
            events.push(Event::Resumed);
        }
        let facts = self.facts().updated(&report.input);
        if facts != *self.facts() {
            events.push(Event::Facts(facts));
        }
        let loaded = report.loaded.clone();
        events.extend(loaded.map(|(source, because)| Event::Loaded { source, because }));
        events.extend(report.input.message.as_deref().map(Event::prompt));
        let calls = report.input.tools.iter().zip(&report.paths);
        events.extend(calls.map(|(call, paths)| Event::tool(call, paths.clone())));
        events
    }

    /// Everything known: what a host reports now, and what the session has seen. Of what the session has taken in
    /// already, nothing must be reported again.
    pub fn input(&self, new: Input) -> Input {
        let now = self.turn_number() + u64::from(new.message.is_some());
        let HostFacts { mode, provider, model, open_tabs, visible_editors } = self.facts().updated(&new);
        let mut tools = self.tools();
        tools.extend(new.tools.into_iter().map(|call| ToolCall { turn: Some(now), ..call }));
        let message = new.message.or_else(|| self.message().map(str::to_owned));
        let pinned = self.pinned().map(str::to_owned).collect();
        let turn = Some(now);
        Input { message, tools, turn, mode, provider, model, open_tabs, visible_editors, pinned, ..new }
    }

    /// What is due now: what applies, is not delivered yet, and is neither left to the host nor in the conversation already.
    /// A mandatory rule is delivered even if the conversation seems to have it, and so is a rule that the user requested in
    /// this turn.
    pub fn due<'e, 'r>(&self, report: &Report<'_>, situation: &Situation<'e, 'r>) -> Due<'e, 'r> {
        let Situation { evaluation, evidence, handling, carries, .. } = *situation;
        let mut due = Due {
            rules: Vec::new(),
            over_budget: Vec::new(),
            offers: Vec::new(),
            missed: HashMap::new(),
            turn: self.turn_number() + u64::from(report.input.message.is_some()),
            evidence,
            is_lost_on_resume: report.host.forgets.contains(&report.moment),
        };
        let is_all = report.host.takes_context(report.moment);
        let is_for_call = report.moment == Moment::Before && report.host.call_context;
        if !is_all && !is_for_call {
            return due;
        }
        let is_new = |verdict: &&Verdict<'_>| {
            let rule = verdict.rule;
            if !is_all && !is_about_call(verdict) {
                return false;
            }
            if verdict.is_cut && self.has(&over_budget_delivery(verdict, "")) {
                return false;
            }
            let is_stale = counts_since(verdict, due.turn).is_some_and(|turn| !self.has_since(rule, turn));
            if verdict.is_requested {
                return is_stale;
            }
            match self.has_rule(rule) {
                true => is_stale,
                false => rule.is_mandatory || !carries(rule),
            }
        };
        let cut = evaluation.offers().into_iter().filter(|offer| offer.is_cut);
        let stack: Vec<&Verdict<'_>> = evaluation.stack().chain(cut).filter(is_new).collect();
        let handled = if stack.is_empty() { Vec::new() } else { handling(&stack) };
        let applied = OnceCell::new();
        for (verdict, handled) in stack.into_iter().zip(handled) {
            let why = match handled {
                _ if verdict.is_cut => {
                    due.over_budget.push(verdict);
                    continue;
                }
                Handling::Unread => {
                    due.rules.push(verdict);
                    continue;
                }
                Handling::NotApplied(why) => Some(format!("{} does not apply it: {why}", report.host.name)),
                Handling::Native if self.has_loaded(verdict.rule) => None,
                Handling::Native => self.why_missed(report, verdict, situation, &applied),
                Handling::NativeAlways | Handling::Unknown | Handling::NotAdded(_) => None,
            };
            if let Some(why) = why {
                due.missed.insert(verdict.rule.origin.display.clone(), why);
                due.rules.push(verdict);
            }
        }
        if is_all && self.is_time_for_offers(report) {
            due.offers = offered(evaluation, handling);
            if !due.offers.is_empty() && self.has(&offers_delivery(&due.offers)) {
                due.offers.clear();
            }
        }
        due
    }

    /// Whether offers are listed now: at the start of a session or turn, or later if the host takes no context there.
    fn is_time_for_offers(&self, report: &Report<'_>) -> bool {
        let is_of_turn = |moment: &Moment| matches!(moment, Moment::Start | Moment::Prompt);
        let is_late = || !report.host.takes_context(Moment::Start) && self.turn_number() == 0;
        is_of_turn(&report.moment) || is_late() || !report.host.context_at.iter().any(is_of_turn)
    }

    /// Why the host's own path rules ignore what this call touches; nothing if they do not, or if the host applied them to
    /// one of the files before. `applied` keeps these files.
    fn why_missed(
        &self,
        report: &Report<'_>,
        verdict: &Verdict<'_>,
        situation: &Situation<'_, '_>,
        applied: &OnceCell<Vec<String>>,
    ) -> Option<String> {
        let host = &report.host;
        let touch = Touch::of(report.call()?);
        if !host.misses.contains(&touch) {
            return None;
        }
        let on_paths = verdict.because.iter().filter(|reason| matches!(reason.condition, "paths" | "folder"));
        let address = |at: &usize| {
            let Seen { root, path, .. } = &situation.evidence.paths[*at];
            situation.roots.address(*root, path)
        };
        let paths: Vec<String> = on_paths.flat_map(|reason| &reason.seen).map(address).collect();
        let is_among = |touched: &[String]| touched.iter().any(|path| paths.contains(path));
        let applies = |call: &ToolCall| !host.misses.contains(&Touch::of(call));
        let applied = || applied.get_or_init(|| self.touched(applies));
        let is_missed = is_among(report.touched()) && !is_among(applied());
        is_missed.then(|| format!("{} does not apply path rules when it {}", host.name, touch.verb()))
    }
}

impl<'e, 'r> Due<'e, 'r> {
    /// Takes out what applies regardless of the evidence, and the offers.
    pub fn take_standing(&mut self) -> Due<'e, 'r> {
        let standing = |rules: &mut Vec<&'e Verdict<'r>>| {
            rules.extract_if(.., |verdict| verdict.because.is_empty()).collect()
        };
        Due {
            rules: standing(&mut self.rules),
            over_budget: standing(&mut self.over_budget),
            offers: std::mem::take(&mut self.offers),
            missed: HashMap::new(),
            ..*self
        }
    }

    /// Keeps what `is_kept` says of each source; the offers are one of them.
    pub(super) fn retain(&mut self, is_kept: impl Fn(&str, &Verdict<'_>) -> bool, keeps_offers: bool) {
        for rules in [&mut self.rules, &mut self.over_budget] {
            rules.retain(|verdict| is_kept(&verdict.rule.origin.display, verdict));
        }
        if !keeps_offers {
            self.offers.clear();
        }
    }

    /// Writes the text, as long as the host takes; nothing if nothing is due.
    pub fn write(&self, cap: usize) -> Option<Written> {
        let blocks = blocks(&self.rules, &self.over_budget, &self.offers, self.evidence, cap)?;
        let delivery = |verdict: &&Verdict<'_>| Delivery {
            since: counts_since(verdict, self.turn),
            ..Delivery::of(verdict.rule, because(verdict, self.evidence))
        };
        let whole = blocks.whole.iter().map(delivery);
        let cut = blocks.cut.iter().map(|verdict| Delivery { offered: true, ..delivery(verdict) });
        let over_budget = self
            .over_budget
            .iter()
            .map(|verdict| over_budget_delivery(verdict, &because(verdict, self.evidence)));
        let offers = (!self.offers.is_empty()).then(|| offers_delivery(&self.offers));
        let deliveries = whole.chain(cut).chain(over_budget).chain(offers).map(|delivery| Delivery {
            missed: self.missed.get(&delivery.source).cloned(),
            is_lost_on_resume: self.is_lost_on_resume,
            ..delivery
        });
        Some(Written {
            deliveries: deliveries.collect(),
            notice: Notice::of_rules(&blocks.whole),
            text: blocks.text,
        })
    }
}

/// The turn since which a delivery counts, if earlier ones do not: the user requested the rule in this turn, or it repeats.
fn counts_since(verdict: &Verdict<'_>, turn: u64) -> Option<u64> {
    let repeated = |turns: u64| (turn + 1).saturating_sub(turns);
    verdict.is_requested.then_some(turn).or_else(|| verdict.rule.repeat.map(repeated))
}

/// Whether a rule applies because of the call itself, and not because of its files.
fn is_about_call(verdict: &Verdict<'_>) -> bool {
    verdict.because.iter().any(|reason| matches!(reason.condition, "command" | "tools"))
}

/// Returns the offers that the host does not make by itself.
fn offered<'r>(evaluation: &Evaluation<'r>, handling: &HandlingView<'_>) -> Vec<&'r Rule> {
    let mut offered = evaluation.offers();
    offered.retain(|offer| !offer.is_cut);
    let handled = if offered.is_empty() { Vec::new() } else { handling(&offered) };
    offered
        .into_iter()
        .zip(handled)
        .filter(|(_, handled)| handled.is_by_rulebook())
        .map(|(verdict, _)| verdict.rule)
        .collect()
}

/// The delivery of a rule's name and description only. If its text fits later, it is delivered.
fn over_budget_delivery(verdict: &Verdict<'_>, because: &str) -> Delivery {
    let rule = verdict.rule;
    let line = Delivery::of_text("", &offer_line(rule));
    Delivery { hash: line.hash, tokens: line.tokens, offered: true, ..Delivery::of(rule, because.to_owned()) }
}

fn offers_delivery(offers: &[&Rule]) -> Delivery {
    let lines: Vec<String> = offers.iter().map(|rule| offer_line(rule)).collect();
    offers_delivery_of(&lines)
}

/// The delivery of offers, by their lines.
pub(super) fn offers_delivery_of<L: AsRef<str>>(lines: &[L]) -> Delivery {
    let lines: Vec<&str> = lines.iter().map(AsRef::as_ref).collect();
    Delivery::of_text(OFFERS, &lines.join("\n"))
}
