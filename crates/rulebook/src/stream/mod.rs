//! Stream rules: triggers that watch the model's own output.
//!
//! The loop of an agent passes deltas to the monitor, and the policy decides about hits: interrupt the answer and retry with
//! the rule, remind after the turn, or do nothing.
//!
//! ```
//! use rulebook::evidence::Roots;
//! use rulebook::format::FormatId;
//! use rulebook::parse::{Entry, parse};
//! use rulebook::rule::Rule;
//! use rulebook::source::Source;
//! use rulebook::stream::policy::{self, Action, TriggerMatch, StreamModes, Policy, OutputSource};
//! use rulebook::stream::{StreamKind, Monitor};
//!
//! let text = "---\ncondition: '\\bnew\\s+Map\\b'\n---\nUse a plain object.";
//! let source = Source::text(FormatId::Rulebook, ".rulebook/rules/no-map.md", text);
//! let Entry::Rule(rule) = parse(source).entry else { panic!() };
//!
//! let rules = [*rule];
//! let named = |name: &str| rules.iter().find(|rule| rule.name == name).expect("a hit belongs to a rule");
//! let modes = |name: &str| named(name).stream.as_ref().map(|own| own.modes.over(StreamModes::default())).unwrap_or_default();
//!
//! // The answer of the model in deltas: it follows the rule once it has read it.
//! let answers = |context: &[String]| if context.is_empty() { vec!["m = new M", "ap"] } else { vec!["m = ", "{}"] };
//! let mut context: Vec<String> = Vec::new();
//! let mut monitor = Monitor::new(rules.iter().filter_map(Rule::stream_rule), Roots::default());
//! let mut policy = Policy::default();
//! policy.turn_started();
//! let mut attempt = 0;
//! let answer = 'retry: loop {
//!     // Every block of every answer is a separate stream.
//!     attempt += 1;
//!     let (stream, mut text) = (format!("answer {attempt}, block 0"), String::new());
//!     for delta in answers(&context).into_iter().map(Some).chain([None]) {
//!         let hits = match delta {
//!             Some(delta) => monitor.feed(&stream, &StreamKind::Text, delta.as_bytes()),
//!             // Only the end makes it certain that `new Map` is not `new Mapper`.
//!             None => monitor.finish(&stream),
//!         };
//!         text.extend(delta);
//!         let found = |rule: &String| TriggerMatch { rule: rule.clone(), source: OutputSource::Text, modes: modes(rule), is_mandatory: false, call: None };
//!         let matches: Vec<TriggerMatch> = hits.iter().map(|hit| found(&hit.rule)).collect();
//!         let Action::Interrupt { claim, rules, .. } = policy.decide(&matches) else { continue };
//!         // Stop the model, discard its answer, and retry with the rules in the context.
//!         monitor.forget(&stream);
//!         for rule in rules.iter().map(|name| named(name)) {
//!             let of_rule = hits.iter().filter(|hit| hit.rule == rule.name);
//!             let place = |line: usize| format!("text line {line}");
//!             let matched: Vec<policy::MatchedText> =
//!                 of_rule.map(|hit| policy::MatchedText { text: hit.text.clone(), place: place(hit.line) }).collect();
//!             context.push(policy::injection(&rule.name, &rule.origin.display, &rule.body, &matched));
//!         }
//!         policy.delivered(claim);
//!         continue 'retry;
//!     }
//!     break text;
//! };
//! policy.turn_ended();
//! // Rules that did not interrupt, because of their mode or the limit per turn, are delivered now.
//! if let Some((claim, reminders)) = policy.reminders() {
//!     let rules = reminders.iter().map(|reminder| named(&reminder.rule));
//!     context.extend(rules.map(|rule| policy::reminder(&rule.name, &rule.origin.display, &rule.body, &[])));
//!     policy.delivered(claim);
//! }
//! assert_eq!(answer, "m = {}");
//! assert!(context[0].starts_with("<system-interrupt reason=\"rule_violation\" rule=\"no-map\""));
//! ```

pub mod arguments;
mod automaton;
mod call;
mod changes;
mod characters;
mod conditions;
mod fallback;
mod file;
mod gates;
mod hit;
mod monitor;
mod notebook;
mod patch;
pub mod pattern;
pub mod policy;
pub mod scope;
mod shell;
mod text_kind;
mod texts;
mod tools;
pub mod trigger;
mod watch;
mod written;

pub use hit::{Hit, HitScope};
pub use monitor::{Monitor, StreamKind};

#[cfg(test)]
mod tests;
