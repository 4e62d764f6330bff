//! Fixing: changes to a rule file that bring the views of its agents closer to what its author meant.
//!
//! A fix is accepted only if the result reads back as intended and, for every agent that reads the file and in every
//! situation, the rule either stays as it was or moves towards what was meant. So no agent applies a rule more widely than
//! meant because of a fix, and a second run changes nothing.

mod probe;
mod reach;

use std::collections::{BTreeMap, HashSet};

use crate::agent::Agent;
use crate::compare::{compare, describe};
use crate::diagnostic::{Code, Diagnostic, Fix};
use crate::evidence::Seen;
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

/// Applies the safe fixes of a file until none is left. `files` are paths to compare the views on; paths that the patterns
/// of the file almost match are added. Returns `None` if nothing can be fixed.
#[must_use]
pub fn fix(text: &str, readers: &Readers, files: &[Seen]) -> Option<String> {
    let goal = Goal::of(text, readers, files);
    if let Some(all) = goal.reached_from(text) {
        return Some(all);
    }
    let mut fixed = text.to_owned();
    let mut seen = HashSet::from([fixed.clone()]);
    while let Some(next) = goal.step(&fixed).filter(|next| seen.insert(next.clone())) {
        fixed = next;
    }
    (fixed != text).then_some(fixed)
}

/// Removes the fixes that are not safe by themselves from the diagnostics of one file.
pub fn retain_safe<'d>(
    text: &str,
    readers: &Readers,
    files: &[Seen],
    diagnostics: impl IntoIterator<Item = &'d mut Diagnostic>,
) {
    let goal = Goal::of(text, readers, files);
    let then = Views::of(text, readers);
    for found in diagnostics {
        let code = found.code;
        found.fix.take_if(|fix| goal.apply(text, fix, &then, code).is_none());
    }
}

/// Describes how a change affects the agents, one text per kind of change.
#[must_use]
pub fn changes(before: &str, after: &str, readers: &Readers) -> Vec<String> {
    let state = |parsed: &Parsed| match &parsed.entry {
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
        format!("{}: {then} before, {now} now", agents.join(", "))
    };
    agents.into_iter().map(describe).collect()
}

/// Where the fixes of a file lead: what its author meant.
struct Goal<'r> {
    readers: &'r Readers,
    files: &'r [Seen],
    text: String,
    meant: Option<Parsed>,
    /// Whether some fix on the way changes what the header says.
    corrects: bool,
}

impl<'r> Goal<'r> {
    /// Reads the text with all its fixes, safe or not, in the most lenient way. Fixes of fixes are included.
    fn of(text: &str, readers: &'r Readers, files: &'r [Seen]) -> Goal<'r> {
        let mut seen = HashSet::new();
        let mut text = text.to_owned();
        let mut corrects = false;
        while seen.insert(text.clone()) {
            if let Some((fix, code)) = fixes(&text, readers).first()
                && text.get(fix.start..fix.end).is_some()
            {
                text.replace_range(fix.start..fix.end, &fix.replacement);
                corrects |= is_correction(*code);
            }
        }
        let meant = readers.meant.first().map(|origin| parse_leniently(source(origin, &text)));
        Goal { readers, files, text, meant, corrects }
    }

    /// Applies all fixes at once, if that is safe. Of two that belong together, neither may be safe alone.
    fn reached_from(&self, before: &str) -> Option<String> {
        let is_safe = || {
            let (then, now) = (Views::of(before, self.readers), Views::of(&self.text, self.readers));
            self.allows(&then, &now, self.corrects)
        };
        (self.text != before && fixes(&self.text, self.readers).is_empty() && is_safe())
            .then(|| self.text.clone())
    }

    /// Applies the first fix that is safe.
    fn step(&self, before: &str) -> Option<String> {
        let fixes = fixes(before, self.readers);
        let then = (!fixes.is_empty()).then(|| Views::of(before, self.readers))?;
        fixes.iter().find_map(|(fix, code)| self.apply(before, fix, &then, *code))
    }

    /// Applies a fix, if it is safe.
    fn apply(&self, before: &str, fix: &Fix, then: &Views, code: Code) -> Option<String> {
        let mut after = before.to_owned();
        after.get(fix.start..fix.end)?;
        after.replace_range(fix.start..fix.end, &fix.replacement);
        let is_safe = || self.allows(then, &Views::of(&after, self.readers), is_correction(code));
        (after != before && is_safe()).then_some(after)
    }

    /// Whether a change does what it is for, and nothing else, in every reader's view.
    fn allows(&self, then: &Views, now: &Views, corrects: bool) -> bool {
        let Some(meant) = &self.meant else { return false };
        let mut paths = self.files.to_vec();
        paths.extend(probe::paths(then.all().chain(now.all()).chain([meant])));
        let reach = |parsed: &Parsed| Reach::of(parsed, &paths);
        // A fix may add a line at the end, but changes none.
        let keeps_meaning =
            then.meant.iter().zip(&now.meant).all(|(then, now)| {
                body(now).starts_with(body(then)) && (corrects || reach(then) == reach(now))
            });
        let meant = reach(meant);
        let mut native = then.native.iter().zip(&now.native);
        keeps_meaning && native.all(|(then, now)| reach(now).leads(&reach(then), &meant))
    }
}

/// The fixes of a text, in order.
fn fixes(text: &str, readers: &Readers) -> Vec<(Fix, Code)> {
    let mut fixes: Vec<(Fix, Code)> =
        diagnose(text, readers).into_iter().filter_map(|found| Some((found.fix?, found.code))).collect();
    fixes.sort();
    fixes.dedup();
    fixes
}

/// The problems of a text that depend on nothing but its readers.
fn diagnose(text: &str, readers: &Readers) -> Vec<Diagnostic> {
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

    fn all(&self) -> impl Iterator<Item = &Parsed> {
        self.meant.iter().chain(&self.native)
    }
}

/// Whether the fix of a problem changes what the header says, instead of how it is written.
fn is_correction(code: Code) -> bool {
    matches!(
        code,
        Code::AgentAlways
            | Code::AgentDiffers
            | Code::AgentNever
            | Code::BadValue
            | Code::DoubtfulGlob
            | Code::PatternList
            | Code::UnknownKey
            | Code::WrongType
    )
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
