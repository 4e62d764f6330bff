//! What a ledger says, read as far as it is written.

use std::borrow::Cow;
use std::collections::HashMap;

use rulebook::blocks::ALWAYS;
use rulebook::evidence::ToolCall;
use rulebook::render::estimate_tokens;
use rulebook::rule::Rule;
use serde::{Deserialize, Serialize};

use super::Fact;

/// A rule given to the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    /// Its id.
    pub rule: String,
    /// Its file, as shown.
    pub source: String,
    /// Of its text: a rule that changed is given again.
    pub hash: String,
    /// Why it came on, in a few words.
    pub because: String,
    /// Whether it was too large and only its name and description were given.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub offered: bool,
    /// Why a host that reads the file itself did not give it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missed: Option<String>,
    /// Whether the host forgets it when the session is resumed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub passing: bool,
    /// What it cost, estimated.
    #[serde(default)]
    pub tokens: usize,
}

impl Delivery {
    /// The delivery of a text that is no rule.
    pub fn of_text(name: &str, text: &str) -> Delivery {
        Delivery {
            rule: name.to_owned(),
            source: name.to_owned(),
            hash: hash(text),
            because: String::new(),
            offered: false,
            missed: None,
            passing: false,
            tokens: estimate_tokens(text),
        }
    }

    /// The delivery of a rule.
    pub fn of(rule: &Rule, because: String) -> Delivery {
        Delivery {
            rule: rule.id.clone(),
            source: rule.origin.display.clone(),
            hash: hash(&rule.body),
            because,
            offered: false,
            missed: None,
            passing: false,
            tokens: estimate_tokens(&rule.body),
        }
    }

    /// Whether conditions brought the rule on.
    pub fn is_conditional(&self) -> bool {
        !matches!(self.because.as_str(), "" | ALWAYS)
    }
}

/// The facts of a session so far.
#[derive(Clone, Debug, Default)]
pub struct History {
    facts: Vec<Fact>,
    /// Beside the facts: when each was written, in seconds since 1970; 0 where nobody said.
    times: Vec<u64>,
    /// Where the ledger was read up to.
    end: u64,
    /// The last line has no end: its writer was killed, or is at it.
    is_torn: bool,
    /// Lines that could not be read.
    unreadable: usize,
    /// Texts that are still in the context, by source.
    given: HashMap<String, Given>,
    /// Deliveries are no facts here.
    is_brief: bool,
    /// The version of a ledger that is too new to be read.
    newer: Option<u64>,
}

/// A text in the context.
#[derive(Clone, Copy, Debug)]
struct Given {
    /// The number its hash is.
    digest: Option<u64>,
    is_passing: bool,
}

impl Given {
    fn is(&self, digest: u64) -> bool {
        self.digest == Some(digest)
    }
}

impl History {
    pub(super) fn without_deliveries() -> History {
        History { is_brief: true, ..History::default() }
    }

    /// Every fact, oldest first.
    pub fn facts(&self) -> &[Fact] {
        &self.facts
    }

    /// Takes the facts out, each with when it was written. Where the ledger was read up to is kept, so that following
    /// it goes on behind them.
    pub fn take(&mut self) -> Vec<(u64, Fact)> {
        self.given.clear();
        std::mem::take(&mut self.times).into_iter().zip(std::mem::take(&mut self.facts)).collect()
    }

    /// When each fact was written, in seconds since 1970; 0 where nobody said.
    pub fn times(&self) -> &[u64] {
        &self.times
    }

    /// How many lines could not be read.
    pub fn unreadable(&self) -> usize {
        self.unreadable
    }

    /// Whether nothing is known of the session yet.
    pub fn is_empty(&self) -> bool {
        self.facts.is_empty()
    }

    /// How often the user spoke.
    pub fn turn(&self) -> u64 {
        self.facts.iter().filter(|fact| matches!(fact, Fact::Spoke { .. })).count() as u64
    }

    /// What the user said last.
    pub fn message(&self) -> Option<&str> {
        self.facts.iter().rev().find_map(|fact| match fact {
            Fact::Spoke { message } => Some(message.as_str()),
            _ => None,
        })
    }

    /// Whether the context was compacted, and nothing but rules came since.
    pub fn is_compacted(&self) -> bool {
        let last = self.facts.iter().rev().find(|fact| !matches!(fact, Fact::Delivered(_)));
        matches!(last, Some(Fact::Compacted))
    }

    /// The tool calls, oldest first, each with its turn.
    pub fn tools(&self) -> Vec<ToolCall> {
        let mut turn = 0;
        let mut calls = Vec::new();
        for fact in &self.facts {
            match fact {
                Fact::Spoke { .. } => turn += 1,
                Fact::Tool { name, paths, command, pending } => calls.push(ToolCall {
                    name: name.clone(),
                    paths: paths.clone(),
                    command: command.clone(),
                    input: None,
                    turn: Some(turn),
                    pending: *pending,
                }),
                _ => {}
            }
        }
        calls
    }

    /// The files of calls that ran since the context was last compacted, for those calls that `counts` says yes to.
    pub fn touched(&self, counts: impl Fn(&ToolCall) -> bool) -> Vec<String> {
        let ended = self.facts.iter().rposition(|fact| matches!(fact, Fact::Compacted));
        let before = self.facts[..ended.unwrap_or(0)].iter();
        let before = before.filter(|fact| matches!(fact, Fact::Tool { .. })).count();
        let ran = self.tools().into_iter().skip(before).filter(|call| !call.pending && counts(call));
        ran.flat_map(|call| call.paths).collect()
    }

    /// Whether the rule's text was given and is still in the context.
    pub fn has(&self, delivery: &Delivery) -> bool {
        let given = self.given.get(&delivery.source);
        given.zip(number(&delivery.hash)).is_some_and(|(given, digest)| given.is(digest))
    }

    /// Whether this rule's text was given and is still in the context.
    pub fn has_rule(&self, rule: &Rule) -> bool {
        self.given.get(&rule.origin.display).is_some_and(|given| given.is(digest(&rule.body)))
    }

    /// Whether a call was refused because of a rule before.
    pub fn has_refused(&self, rule: &str, call: &str) -> bool {
        let is_it =
            |fact: &Fact| matches!(fact, Fact::Refused { rule: r, call: c } if r == rule && c == call);
        self.facts.iter().any(is_it)
    }

    /// The version of a ledger that a newer Rulebook writes, of which nothing is known here.
    pub(super) fn newer(&self) -> Option<u64> {
        self.newer
    }

    pub(super) fn set_version(&mut self, version: Option<u64>) {
        self.newer = version.filter(|version| *version > u64::from(super::VERSION));
    }

    pub(super) fn end(&self) -> u64 {
        self.end
    }

    pub(super) fn is_torn(&self) -> bool {
        self.is_torn
    }

    /// Takes in the bytes of the ledger from `from` on.
    pub(super) fn read_on(&mut self, from: u64, bytes: &[u8]) {
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', bytes) {
            let line = &bytes[start..end];
            start = end + 1;
            let read = std::str::from_utf8(line).ok().and_then(|line| self.read_line(line).ok());
            self.unreadable += usize::from(read.is_none() && !line.is_empty());
        }
        self.is_torn = start < bytes.len();
        self.end = from + start as u64;
    }

    fn read_line(&mut self, line: &str) -> serde_json::Result<()> {
        if self.is_brief && line.starts_with(DELIVERED) {
            let Brief { source, hash, passing } = serde_json::from_str(line)?;
            self.give(source.into_owned(), &hash, passing);
        } else {
            self.add(fact_of(line)?, written_at(line));
        }
        Ok(())
    }

    /// Takes in what this process wrote, `len` bytes behind all that was read.
    pub(super) fn append(&mut self, facts: Vec<Fact>, at: u64, len: u64) {
        if !self.is_torn {
            self.end += len;
            facts.into_iter().for_each(|fact| self.add(fact, at));
        }
        // Behind a torn line the next reading takes in both.
    }

    fn add(&mut self, fact: Fact, at: u64) {
        match &fact {
            Fact::Delivered(delivery) => {
                self.give(delivery.source.clone(), &delivery.hash, delivery.passing);
            }
            Fact::Compacted => self.given.clear(),
            Fact::Resumed => self.given.retain(|_, given| !given.is_passing),
            _ => {}
        }
        if !(self.is_brief && matches!(fact, Fact::Delivered(_))) {
            self.facts.push(fact);
            self.times.push(at);
        }
    }

    fn give(&mut self, source: String, hash: &str, is_passing: bool) {
        self.given.insert(source, Given { digest: number(hash), is_passing });
    }
}

/// What counts of a delivery that was made.
#[derive(Deserialize)]
struct Brief<'l> {
    #[serde(borrow)]
    source: Cow<'l, str>,
    #[serde(borrow)]
    hash: Cow<'l, str>,
    #[serde(default)]
    passing: bool,
}

/// The fact that a line tells. Most are deliveries and calls, which are read as such: of a fact whose kind is yet unknown
/// all parts would be put aside until it is found.
fn fact_of(line: &str) -> serde_json::Result<Fact> {
    if line.starts_with(DELIVERED) {
        return serde_json::from_str(line).map(Fact::Delivered);
    }
    if line.starts_with(TOOL) {
        let Call { name, paths, command, pending } = serde_json::from_str(line)?;
        return Ok(Fact::Tool { name, paths, command, pending });
    }
    serde_json::from_str(line)
}

/// How the line of a delivery begins, and that of a call.
const DELIVERED: &str = r#"{"is":"delivered","#;
const TOOL: &str = r#"{"is":"tool","#;

/// The parts of [`Fact::Tool`].
#[derive(Deserialize)]
struct Call {
    name: String,
    paths: Vec<String>,
    command: Option<String>,
    #[serde(default)]
    pending: bool,
}

/// A fact as a line, with when it is written as its last key.
pub(super) fn line(at: u64, fact: &Fact) -> serde_json::Result<String> {
    let mut line = serde_json::to_string(fact)?;
    line.pop();
    line.push_str(&format!("{AT}{at}}}\n"));
    Ok(line)
}

/// When a line was written. Quotes inside a text are escaped, so the last of these is the key.
fn written_at(line: &str) -> u64 {
    let last = memchr::memrchr(b',', line.as_bytes()).map_or("", |comma| &line[comma..]);
    let number = last.strip_prefix(AT).and_then(|at| at.trim_end().strip_suffix('}'));
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

const AT: &str = ",\"at\":";

/// The number that a hash is.
fn number(hash: &str) -> Option<u64> {
    u64::from_str_radix(hash, 16).ok()
}

/// A short name for a text, the same on every machine.
pub(super) fn hash(text: &str) -> String {
    format!("{:016x}", digest(text))
}

/// The number it is, made eight bytes at a time. What a product pushed to the upper half is brought down again, or the next
/// one would lose it.
fn digest(text: &str) -> u64 {
    let mix = |hash: u64, word: u64| {
        let product = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        product ^ (product >> 32)
    };
    let (words, rest) = text.as_bytes().as_chunks::<8>();
    let words = words.iter().map(|word| u64::from_le_bytes(*word));
    let rest = rest.iter().map(|byte| u64::from(*byte));
    words.chain(rest).fold(text.len() as u64 ^ 0xcbf2_9ce4_8422_2325, mix)
}
