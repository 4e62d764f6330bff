//! Fixing: changes to a rule file that bring the views of its agents closer to what its author meant.
//!
//! What the author meant is the most lenient reading of the header, and no fix changes it. A fix is accepted if every agent
//! that reads the file keeps its view or gets closer to that reading in every situation. What is written is valid, and
//! whether a fix is accepted depends on the text alone, so a second run changes nothing.

mod probe;
mod reach;

pub(crate) use probe::{OTHERS, near, split_class};
pub(crate) use reach::Level;

use std::cell::LazyCell;
use std::collections::{BTreeMap, HashSet};

use crate::agent::Agent;
use crate::compare::{compare, describe};
use crate::diagnostic::{Code, Diagnostic, Fix};
use crate::evidence::Seen;
use crate::frontmatter::{self, Header, Problem, Tier};
use crate::lint::lint_file;
use crate::parse::{Entry, Parsed, parse, parse_leniently};
use crate::source::{Origin, Source};
use reach::Reach;

/// Everyone who reads one file.
#[derive(Clone, Debug, Default)]
pub struct Readers {
    /// The readings of the rule as its author meant it, usually one.
    pub meant: Vec<Origin>,
    /// The agents that read the file, and how.
    pub agents: Vec<(&'static Agent, Origin)>,
}

/// Why a fix is not applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Refusal {
    /// The header would not be valid afterwards.
    Invalid,
    /// The rule would mean something else.
    Meaning,
    /// The rule would have another text.
    Text,
    /// This agent would apply the rule where it was not meant, or not where it was.
    Agent(&'static str),
    /// The fix does not change the file.
    Nothing,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refusal::Invalid => f.write_str("the header would still not be valid YAML"),
            Refusal::Meaning => f.write_str("it would change what the header says"),
            Refusal::Text => f.write_str("it would change the text of the rule"),
            Refusal::Agent(title) => write!(f, "{title} would differ more from what was meant"),
            Refusal::Nothing => f.write_str("it changes nothing"),
        }
    }
}

/// How many fixes of one file are judged one by one. More are judged together only, because every judgement reads the file
/// as each of its readers does.
const MAX_SINGLE: usize = 20;

/// Applies the safe fixes of a file until none is left. `files` are paths to compare the views on; paths that the patterns
/// of the file almost match are added. Returns `None` if nothing can be fixed.
#[must_use]
pub fn fix(text: &str, readers: &Readers, files: &[Seen]) -> Option<String> {
    let mut fixed = text.to_owned();
    let mut seen = HashSet::from([fixed.clone()]);
    while let Some(next) = step(&fixed, readers, files) {
        // Fixes that undo each other, or too many.
        if !seen.insert(next.clone()) || seen.len() > MAX_SINGLE {
            return None;
        }
        fixed = next;
    }
    (fixed != text && is_valid(&fixed, readers)).then_some(fixed)
}

/// Removes the fixes that are not safe by themselves from the diagnostics of one file. Returns why, one entry per fix.
pub fn retain_safe<'d>(
    text: &str,
    readers: &Readers,
    files: &[Seen],
    diagnostics: impl IntoIterator<Item = &'d mut Diagnostic>,
) -> Vec<(Code, Refusal)> {
    let then = Views::of(text, readers);
    // What is done to a valid header keeps it valid.
    let is_written = LazyCell::new(|| is_valid(text, readers) || fix(text, readers, files).is_some());
    let allows = |after: Option<String>| {
        let after = after.ok_or(Refusal::Nothing)?;
        then.allows(&Views::of(&after, readers), readers, files)?;
        if *is_written { Ok(()) } else { Err(Refusal::Invalid) }
    };
    let mut fixable: Vec<&mut Diagnostic> =
        diagnostics.into_iter().filter(|found| found.fix.is_some()).collect();
    let together = (fixable.len() > MAX_SINGLE).then(|| allows(all_fixed(text, readers)));
    let mut refused = Vec::new();
    for found in &mut fixable {
        let code = found.code;
        found.fix.take_if(|fix| {
            let result = together.unwrap_or_else(|| allows(applied(text, fix)));
            refused.extend(result.err().map(|why| (code, why)));
            result.is_err()
        });
    }
    refused
}

/// Describes how a change affects the agents, one text per kind of change.
#[must_use]
pub fn changes(before: &str, after: &str, readers: &Readers) -> Vec<String> {
    let state = |parsed: &Parsed| match &parsed.entry {
        Entry::Rule(rule) if rule.is_undocumented() => "not documented".to_owned(),
        Entry::Rule(rule) => describe(rule),
        Entry::Rejected(_) => "rejected".to_owned(),
    };
    let (then, now) = (Views::of(before, readers), Views::of(after, readers));
    let mut agents: BTreeMap<(String, String), Vec<&str>> = BTreeMap::new();
    for ((then, now), (agent, _)) in then.native.iter().zip(&now.native).zip(&readers.agents) {
        let change = (state(then), state(now));
        if change.0 != change.1 {
            agents.entry(change).or_default().push(agent.title);
        }
    }
    let describe = |((then, now), agents): ((String, String), Vec<&str>)| {
        format!("{}: before: {then}; now: {now}", agents.join(", "))
    };
    agents.into_iter().map(describe).collect()
}

/// Applies all fixes together, or else the first one that is safe. Of two that belong together, neither may be safe alone.
fn step(before: &str, readers: &Readers, files: &[Seen]) -> Option<String> {
    let fixes = fixes(before, readers);
    let then = (!fixes.is_empty()).then(|| Views::of(before, readers))?;
    let is_safe = |after: &String| then.allows(&Views::of(after, readers), readers, files).is_ok();
    let together = all_fixed(before, readers).filter(|after| is_valid(after, readers));
    let single = fixes.iter().take(MAX_SINGLE).filter_map(|fix| applied(before, fix));
    together.into_iter().chain(single).find(is_safe)
}

/// Applies every fix, safe or not, and the fixes of the result. Returns `None` if they undo each other.
fn all_fixed(text: &str, readers: &Readers) -> Option<String> {
    let mut seen = HashSet::new();
    let mut fixed = text.to_owned();
    loop {
        let next = applied_together(&fixed, &fixes(&fixed, readers));
        if next == fixed {
            return (fixed != text).then_some(fixed);
        }
        if !seen.insert(std::mem::replace(&mut fixed, next)) {
            return None;
        }
    }
}

/// The text after sorted fixes. Of fixes that overlap, the first one is applied.
fn applied_together(before: &str, fixes: &[Fix]) -> String {
    let (mut after, mut copied) = (String::with_capacity(before.len()), 0);
    for fix in fixes.iter().filter(|fix| before.get(fix.start..fix.end).is_some()) {
        if fix.start >= copied {
            after.push_str(&before[copied..fix.start]);
            after.push_str(&fix.replacement);
            copied = fix.end;
        }
    }
    after + &before[copied..]
}

/// The text after a fix, if that is another text.
fn applied(before: &str, fix: &Fix) -> Option<String> {
    before.get(fix.start..fix.end).filter(|old| *old != fix.replacement)?;
    let mut after = before.to_owned();
    after.replace_range(fix.start..fix.end, &fix.replacement);
    Some(after)
}

/// Whether the header of a text is absent or valid. An agent that writes patterns without quotes reads them, too.
fn is_valid(text: &str, readers: &Readers) -> bool {
    let is_valid = |origin: &Origin| {
        let reach = if origin.format.unquoted { Tier::Quoted } else { Tier::Yaml };
        let reading = frontmatter::read(text, reach);
        let is_invalid = |problem: &Problem| matches!(problem.code, Code::DuplicateKey | Code::UnclosedList);
        // Some YAML parsers reject tabs.
        let has_tab = text[..reading.body_start].contains('\t');
        !matches!(reading.header, Header::Broken) && !has_tab && !reading.problems.iter().any(is_invalid)
    };
    readers.meant.iter().all(is_valid)
}

/// The fixes of a text, in order.
fn fixes(text: &str, readers: &Readers) -> Vec<Fix> {
    let mut fixes: Vec<Fix> = diagnose(text, readers).into_iter().filter_map(|found| found.fix).collect();
    fixes.sort();
    fixes.dedup();
    fixes
}

/// The problems of a text that depend on nothing but its readers: those that an editor can show at once.
#[must_use]
pub fn diagnose(text: &str, readers: &Readers) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    for origin in &readers.meant {
        let parsed = parse(source(origin, text));
        if let Entry::Rule(rule) = &parsed.entry {
            diagnostics.extend(lint_file(rule, text));
            let owners = readers.agents.iter().filter(|(agent, _)| agent.owns == Some(origin.format.id));
            for (agent, own) in owners {
                let difference = compare(rule, Some(&parse(source(own, text))));
                diagnostics.extend(difference.map(|difference| difference.diagnostic(agent, rule)));
            }
        }
        diagnostics.extend(parsed.diagnostics);
    }
    diagnostics
}

/// All readings of a text.
struct Views {
    /// As its author meant it.
    meant: Vec<Parsed>,
    /// As each agent reads it.
    native: Vec<Parsed>,
}

impl Views {
    fn of(text: &str, readers: &Readers) -> Views {
        Views {
            meant: readers.meant.iter().map(|origin| parse_leniently(source(origin, text))).collect(),
            native: readers.agents.iter().map(|(_, origin)| parse(source(origin, text))).collect(),
        }
    }

    /// Whether a change keeps what was meant, and brings no agent's view further from it.
    fn allows(&self, now: &Views, readers: &Readers, files: &[Seen]) -> Result<(), Refusal> {
        let mut paths = files.to_vec();
        paths.extend(probe::paths(self.all().chain(now.all())));
        let reach = |parsed: &Parsed| Reach::of(parsed, &paths);
        let mut goals = Vec::new();
        for (then, now) in self.meant.iter().zip(&now.meant) {
            goals.push(reach(then));
            if !keeps_text(body(then), body(now)) {
                return Err(Refusal::Text);
            }
            if goals.last() != Some(&reach(now)) {
                return Err(Refusal::Meaning);
            }
        }
        for ((then, now), (agent, origin)) in self.native.iter().zip(&now.native).zip(&readers.agents) {
            let own = readers.meant.iter().position(|meant| meant.format.id == origin.format.id);
            let own = own.unwrap_or_default();
            let (Some(goal), Some(meant)) = (goals.get(own), readers.meant.get(own)) else {
                return Err(Refusal::Nothing);
            };
            let (then, now) = (reach(then), reach(now));
            let has_dialect = origin.format.dialect != meant.format.dialect;
            if !(now.leads(&then, goal) || has_dialect && now.narrows(&then, goal)) {
                return Err(Refusal::Agent(agent.title));
            }
        }
        Ok(())
    }

    fn all(&self) -> impl Iterator<Item = &Parsed> {
        self.meant.iter().chain(&self.native)
    }
}

/// Whether a fix keeps every line of a text. It may add a line at the end, or remove a last line that only opens a code block.
fn keeps_text(before: &str, after: &str) -> bool {
    let without_fence = || {
        let (rest, last) = before.rsplit_once('\n')?;
        let is_fence = ['`', '~'].iter().any(|mark| last.trim().trim_matches(*mark).is_empty());
        is_fence.then(|| rest.trim_end())
    };
    after.starts_with(before) || without_fence() == Some(after)
}

fn body(parsed: &Parsed) -> &str {
    match &parsed.entry {
        Entry::Rule(rule) => &rule.body,
        Entry::Rejected(_) => "",
    }
}

fn source(origin: &Origin, text: &str) -> Source {
    Source { origin: origin.clone(), text: Ok(text.into()) }
}

#[cfg(test)]
mod tests;
