//! Sessions as scripts: each line is a step of the host or of the model and, after `->`, the effect of the stream rules.

use std::collections::BTreeMap;

use rulebook::evidence::Roots;
use rulebook::rule::Rule;
use rulebook::stream::policy::{
    Action, ClaimId, MatchedText, OutputSource, Policy, StreamModes, TriggerMatch, injection,
};
use rulebook::stream::{Hit, Monitor, StreamKind};

/// Runs the steps, each in the session that its line names, and adds their effects.
pub(crate) fn play(rules: &[&Rule], script: &str) -> String {
    let mut sessions: BTreeMap<&str, Session<'_>> = BTreeMap::new();
    let lines = script.lines().map(|line| {
        let step = line.split(" -> ").next().unwrap();
        let (name, own) = step.split_once(": ").filter(|(name, _)| name.len() == 1).unwrap_or(("", step));
        let session = sessions.entry(name).or_insert_with(|| Session::new(rules));
        match session.step(own) {
            Some(outcome) => format!("{step} -> {outcome}"),
            None => step.to_owned(),
        }
    });
    lines.map(|line| format!("{line}\n")).collect()
}

struct Session<'r> {
    rules: &'r [&'r Rule],
    monitor: Monitor,
    policy: Policy,
    streams: usize,
    claim: Option<ClaimId>,
    injected: String,
}

impl<'r> Session<'r> {
    fn new(rules: &'r [&'r Rule]) -> Session<'r> {
        Session {
            rules,
            monitor: Monitor::new(rules.iter().copied().filter_map(Rule::stream_rule), Roots::default()),
            policy: Policy::default(),
            streams: 0,
            claim: None,
            injected: String::new(),
        }
    }

    fn step(&mut self, step: &str) -> Option<String> {
        let (verb, rest) = step.split_once(' ').unwrap_or((step, ""));
        match verb {
            "start" => self.policy.turn_started(),
            "end" => self.policy.turn_ended(),
            "turns" => (0..rest.parse().unwrap()).for_each(|_| {
                self.policy.turn_started();
                self.policy.turn_ended();
            }),
            "compact" => self.policy.compacted(),
            "delivered" => self.policy.delivered(self.claim.take().unwrap()),
            "released" => self.policy.released(self.claim.take().unwrap()),
            "resume" => {
                self.policy = serde_json::from_str(&serde_json::to_string(&self.policy).unwrap()).unwrap();
            }
            "remind" => return Some(self.remind()),
            "claims" => {
                let open: Vec<String> =
                    self.policy.claims().iter().map(|claim| claim.rules.join(", ")).collect();
                return Some(or_nothing(&open));
            }
            "injected" => return Some(self.injected.replace('\n', "⏎")),
            "text" => return Some(self.watch(OutputSource::Text, &StreamKind::Text, rest)),
            "thinking" => return Some(self.watch(OutputSource::Thinking, &StreamKind::Thinking, rest)),
            tool => return Some(self.watch(OutputSource::Tool, &StreamKind::Tool(tool.to_owned()), rest)),
        }
        None
    }

    /// Watches a new stream. `|` separates its deltas and `⏎` is a line break; the policy decides after each delta, and at the end.
    fn watch(&mut self, source: OutputSource, kind: &StreamKind, text: &str) -> String {
        self.streams += 1;
        let stream = self.streams.to_string();
        let mut outcomes = Vec::new();
        let text = text.replace('⏎', "\n");
        for delta in text.split('|').map(Some).chain([None]) {
            let hits = match delta {
                Some(delta) => self.monitor.feed(&stream, kind, delta.as_bytes()),
                None => self.monitor.finish(&stream),
            };
            let call = (source == OutputSource::Tool).then(|| stream.clone());
            let found = |hit: &Hit| TriggerMatch {
                rule: hit.rule.clone(),
                source,
                modes: self.modes(&hit.rule),
                is_mandatory: false,
                call: call.clone(),
            };
            let matches: Vec<TriggerMatch> = hits.iter().map(found).collect();
            match self.policy.decide(&matches) {
                Action::Nothing => {}
                Action::Interrupt { claim, rules, context } => {
                    self.claim = Some(claim);
                    self.injected = self.inject(&rules, &hits);
                    outcomes.push(format!("stop ({}): {}", context.name(), rules.join(", ")));
                }
                Action::RemindLater { rules, why } => {
                    outcomes.push(format!(
                        "later ({}): {}",
                        format!("{why:?}").to_lowercase(),
                        rules.join(", ")
                    ));
                }
            }
        }
        or_nothing(&outcomes)
    }

    fn remind(&mut self) -> String {
        let Some((claim, reminders)) = self.policy.reminders() else { return or_nothing(&[]) };
        self.claim = Some(claim);
        or_nothing(&reminders.into_iter().map(|reminder| reminder.rule).collect::<Vec<_>>())
    }

    fn inject(&self, rules: &[String], hits: &[Hit]) -> String {
        let rules = rules.iter().map(|name| self.named(name));
        let block = |rule: &Rule| {
            let matched = hits.iter().filter(|hit| hit.rule == rule.name);
            let evidence =
                |hit: &Hit| MatchedText { text: hit.text.clone(), place: format!("line {}", hit.line) };
            injection(
                &rule.name,
                &rule.origin.display,
                &rule.body,
                &matched.map(evidence).collect::<Vec<_>>(),
            )
        };
        rules.map(block).collect()
    }

    fn modes(&self, rule: &str) -> StreamModes {
        self.named(rule).stream.as_ref().unwrap().modes.over(StreamModes::default())
    }

    fn named(&self, name: &str) -> &'r Rule {
        self.rules.iter().find(|rule| rule.name == name).unwrap()
    }
}

fn or_nothing(outcomes: &[String]) -> String {
    if outcomes.is_empty() { "nothing".to_owned() } else { outcomes.join("; ") }
}
