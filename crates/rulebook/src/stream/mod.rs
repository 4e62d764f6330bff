//! Stream rules: triggers that watch the model's own output.
//!
//! An agent's loop feeds deltas to the monitor and asks the policy what to do about hits: interrupt the answer and
//! retry with the rule in view, remind after the turn, or nothing.
//!
//! ```
//! use rulebook::evidence::Roots;
//! use rulebook::format::{Entry, Format, parse};
//! use rulebook::source::{Origin, Scope, Source as RuleFile};
//! use rulebook::stream::policy::{self, Action, Match, Modes, Policy, Source};
//! use rulebook::stream::{Kind, Monitor};
//!
//! # let format = Format::named("rulebook").unwrap();
//! # let origin = Origin {
//! #     format, place: &format.workspace[0], scope: Scope::Workspace, display: "no-map.md".into(),
//! #     path: String::new(), root: 0, folder: String::new(), inner: "no-map.md".into(),
//! # };
//! let text = Ok("---\ncondition: '\\bnew\\s+Map\\b'\n---\nUse a plain object.".into());
//! let Entry::Rule(rule) = parse(RuleFile { origin, text }).entry else { panic!() };
//!
//! let mut monitor = Monitor::new([rule.as_ref()], Roots::default()).unwrap();
//! let mut policy = Policy::default();
//! policy.turn_started();
//! let mut answers = [vec!["const m = new M", "ap(", ")"], vec!["const m = {}"]].into_iter();
//! let mut context: Vec<String> = Vec::new();
//! let mut attempt = 0;
//! let answer = loop {
//!     let (stream, mut said, mut claim) = (format!("answer {attempt}"), String::new(), None);
//!     for delta in answers.next().unwrap() {
//!         let hits = monitor.feed(&stream, &Kind::Text, delta.as_bytes());
//!         let matches: Vec<Match> = hits
//!             .iter()
//!             .map(|hit| Match { rule: hit.rule.clone(), source: Source::Text, modes: Modes::default(), call: None })
//!             .collect();
//!         if let Action::Interrupt { claim: id, .. } = policy.decide(&matches) {
//!             // Stop the model, and let the retry see the rule.
//!             let found = policy::Evidence { text: hits[0].text.clone(), place: format!("text line {}", hits[0].line) };
//!             context.push(policy::injection(&rule.name, &rule.origin.display, &rule.body, &[found]));
//!             monitor.forget(&stream);
//!             claim = Some(id);
//!             break;
//!         }
//!         said.push_str(delta);
//!     }
//!     match claim {
//!         Some(id) => policy.delivered(id),
//!         None => break said,
//!     }
//!     attempt += 1;
//! };
//! policy.turn_ended();
//! assert_eq!(answer, "const m = {}");
//! assert!(context[0].starts_with("<system-interrupt reason=\"rule_violation\" rule=\"no-map\""));
//! ```

pub mod arguments;
mod automaton;
mod call;
mod characters;
mod fallback;
mod gates;
pub mod monitor;
pub mod patch;
pub mod pattern;
pub mod policy;
pub mod scope;
mod watch;

pub use monitor::{Hit, Kind, Monitor};

#[cfg(test)]
mod tests;
