//! What a ledger says, read as far as it is written.

use std::collections::HashMap;

use rulebook::evidence::ToolCall;
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
}

impl Delivery {
    /// The delivery of a text that is no rule.
    pub fn of_text(name: &str, text: &str) -> Delivery {
        let (rule, source) = (name.to_owned(), name.to_owned());
        let (because, hash) = (String::new(), hash(text));
        Delivery { rule, source, hash, because, offered: false, missed: None, passing: false }
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
        }
    }
}

/// The facts of a session so far.
#[derive(Clone, Debug, Default)]
pub struct History {
    facts: Vec<Fact>,
    /// Where the ledger was read up to.
    end: u64,
    /// The last line has no end: its writer was killed, or is at it.
    is_torn: bool,
    /// Lines that could not be read.
    unreadable: usize,
    /// Texts that are still in the context, by source: the hash, and whether it is passing.
    given: HashMap<String, (String, bool)>,
}

impl History {
    /// Every fact, oldest first.
    pub fn facts(&self) -> &[Fact] {
        &self.facts
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
        self.given.get(&delivery.source).is_some_and(|(hash, _)| *hash == delivery.hash)
    }

    /// Whether a call was refused because of a rule before.
    pub fn has_refused(&self, rule: &str, call: &str) -> bool {
        let is_it =
            |fact: &Fact| matches!(fact, Fact::Refused { rule: r, call: c } if r == rule && c == call);
        self.facts.iter().any(is_it)
    }

    pub(super) fn end(&self) -> u64 {
        self.end
    }

    pub(super) fn is_torn(&self) -> bool {
        self.is_torn
    }

    /// Takes in the bytes of the ledger from `from` on.
    pub(super) fn read_on(&mut self, from: u64, bytes: &[u8]) {
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        self.is_torn = whole < bytes.len();
        self.end = from + whole as u64;
        for line in bytes[..whole].split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            match serde_json::from_slice(line) {
                Ok(fact) => self.add(fact),
                Err(_) => self.unreadable += 1,
            }
        }
    }

    /// Takes in what this process wrote, `len` bytes behind all that was read.
    pub(super) fn append(&mut self, facts: Vec<Fact>, len: u64) {
        if !self.is_torn {
            self.end += len;
            facts.into_iter().for_each(|fact| self.add(fact));
        }
        // Behind a torn line the next reading takes in both.
    }

    fn add(&mut self, fact: Fact) {
        match &fact {
            Fact::Delivered(delivery) => {
                let given = (delivery.hash.clone(), delivery.passing);
                self.given.insert(delivery.source.clone(), given);
            }
            Fact::Compacted => self.given.clear(),
            Fact::Resumed => self.given.retain(|_, (_, is_passing)| !*is_passing),
            _ => {}
        }
        self.facts.push(fact);
    }
}

/// A short name for a text, the same on every machine (FNV-1a, 64 bits).
pub(super) fn hash(text: &str) -> String {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", text.bytes().fold(0xcbf2_9ce4_8422_2325, mix))
}
