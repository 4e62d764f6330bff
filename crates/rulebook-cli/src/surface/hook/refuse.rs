//! Objecting: a tool call held against the rules that watch what the model writes.

use std::borrow::Cow;
use std::collections::BTreeSet;

use rulebook::evaluate::{State, Verdict};
use rulebook::evidence::ToolCall;
use rulebook::rule::Rule;
use rulebook::session::{Event, Session};
use rulebook::stream::policy::{self, OutputSource};
use rulebook::stream::{Hit, Monitor, StreamKind};

use super::answer::{Asking, join};
use super::event::{HookReply, Moment};

impl Asking<'_> {
    /// Runs the stream rules over what is about to be written, or was.
    pub(super) fn watch(
        &self,
        verdicts: &[Verdict<'_>],
        history: &Session,
        facts: &mut Vec<Event>,
        answer: &mut HookReply,
    ) {
        let Some(call) = self.event.tool.as_ref().filter(|call| call.is_write()) else {
            return;
        };
        let Some(input) = &call.input else { return };
        let watching = verdicts.iter().filter(|verdict| matches!(verdict.state, State::Stream));
        let mut rules: Vec<&Rule> = watching.map(|verdict| verdict.rule).collect();
        rules.sort_by_key(|rule| !rule.is_mandatory);
        if rules.is_empty() {
            return;
        }
        // Triggers that do not compile were told when they were read.
        let Ok(mut monitor) =
            Monitor::new(rules.iter().copied().filter_map(Rule::stream_rule), self.workspace.roots.clone())
        else {
            return;
        };
        let wire = input.as_str().map_or_else(|| input.to_string(), str::to_owned);
        let mut hits = monitor.feed("call", &StreamKind::Tool(call.name.clone()), wire.as_bytes());
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

    /// A rule's text, as far as there is room for it beside others.
    fn short<'r>(&self, rule: &'r Rule) -> Cow<'r, str> {
        match rule.body.char_indices().nth(self.host.cap / 6) {
            None => Cow::Borrowed(&rule.body),
            Some((end, _)) => {
                Cow::Owned(format!("{}…\n\n`rulebook read {}` gives the rest.", &rule.body[..end], rule.name))
            }
        }
    }

    /// One text more, while a third of the room lasts; then its rule is named, and then nothing.
    fn add(&self, before: Option<String>, text: &str, name: &str) -> Option<String> {
        let most = self.host.cap / 3;
        let used = before.as_ref().map_or(0, |before| before.chars().count());
        Some(match () {
            () if used == 0 || used + text.chars().count() <= most => join(before, text),
            () if used <= most => {
                let line = format!("It goes against the rule {name} too: `rulebook read {name}`.");
                join(before, &policy::escape_tags(&line))
            }
            () => return before,
        })
    }

    /// A rule against a call: refused once, or said beside it where the host hears it.
    fn object(
        &self,
        rule: &Rule,
        hits: &[&Hit],
        call: &ToolCall,
        history: &Session,
        facts: &mut Vec<Event>,
        answer: &mut HookReply,
    ) {
        let evidence: Vec<policy::MatchedText> = hits
            .iter()
            .map(|hit| policy::MatchedText { text: hit.text.clone(), place: place(hit) })
            .collect();
        let interrupts = self.workspace.settings.modes_of(rule).interrupt.covers(OutputSource::Tool);
        let about = hits.iter().find_map(|hit| hit.file.as_ref()).or(self.touched.first());
        let about = about.unwrap_or(&call.name).clone();
        let (name, path) = (&rule.name, &rule.origin.display);
        let beside = if self.host.hears.contains(&Moment::Before) { Moment::Before } else { Moment::After };
        if interrupts && call.pending && !history.has_refused(&rule.id, &about) {
            let text = policy::injection(name, path, &self.short(rule), &evidence);
            answer.refusal = self.add(answer.refusal.take(), &text, name);
            facts.push(Event::Refused { rule: rule.id.clone(), call: about });
        } else if self.event.moment == beside {
            let text = policy::reminder(name, path, &self.short(rule), &evidence);
            answer.context = self.add(answer.context.take(), &text, name);
            if interrupts {
                answer.notice =
                    Some(format!("the rule {name} was told once and is passed over for {about} now"));
            }
        }
    }
}

fn place(hit: &Hit) -> String {
    let parts = [hit.tool.as_ref().map(|tool| format!("tool {tool}")), hit.field.clone(), hit.file.clone()];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
