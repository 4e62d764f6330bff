//! Baselines: problems an old repository has and nobody is to be told again.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use crate::input::read_file;
use crate::out::VERSION;
use anyhow::{Context as _, anyhow};
use rulebook::diagnostic::{Code, Diagnostic};
use serde::{Deserialize, Serialize};

/// The largest baseline that is read.
const MAX_BASELINE: u64 = 64 << 20;

/// Recorded problems.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Baseline {
    version: u32,
    /// Sorted, so that two branches that change it can be merged.
    problems: Vec<Recorded>,
}

/// A problem as often as it occurs. Where in its file it stands is not recorded: lines move.
#[derive(Deserialize, Serialize)]
struct Recorded {
    #[serde(flatten)]
    problem: Problem,
    count: usize,
}

/// What makes two diagnostics the same problem.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
pub(super) struct Problem {
    path: String,
    code: String,
    message: String,
}

impl Baseline {
    /// The problems of a workspace's own files; what lies in somebody's home is theirs.
    pub(super) fn of(diagnostics: &[Diagnostic]) -> Baseline {
        let mut counts: BTreeMap<Problem, usize> = BTreeMap::new();
        for told in diagnostics.iter().filter(|told| !told.path.starts_with(['~', '/'])) {
            *counts.entry(Problem::of(told)).or_default() += 1;
        }
        let problems = counts.into_iter().map(|(problem, count)| Recorded { problem, count }).collect();
        Baseline { version: VERSION, problems }
    }

    pub(super) fn read(file: &Path) -> anyhow::Result<Baseline> {
        let shown = file.display();
        let bytes = read_file(file, MAX_BASELINE).map_err(|error| {
            anyhow!("add `--write-baseline` to record the problems there are")
                .context(format!("the baseline {shown} cannot be read: {error}"))
        })?;
        let baseline: Baseline = serde_json::from_slice(&bytes).map_err(|error| {
            anyhow!("write it anew with `--write-baseline`")
                .context(format!("{shown} is no baseline: {error}"))
        })?;
        if baseline.version != VERSION {
            let version = baseline.version;
            return Err(anyhow!("write it anew with `--write-baseline`")
                .context(format!("{shown} is a baseline of version {version}, not {VERSION}")));
        }
        Ok(baseline)
    }

    pub(super) fn write(&self, file: &Path) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(self)?;
        rulebook_workspace::rewrite(file, &format!("{text}\n"))
            .context("name a file in a folder you may write to with `--baseline`")
    }

    /// Takes out what is recorded, and says how much that was. What is recorded and does not occur is told.
    pub(super) fn hold_back(self, diagnostics: &mut Vec<Diagnostic>, file: &Path) -> usize {
        let mut left: BTreeMap<Problem, usize> = BTreeMap::new();
        for Recorded { problem, count } in self.problems {
            let all = left.entry(problem).or_default();
            *all = all.saturating_add(count);
        }
        let before = diagnostics.len();
        diagnostics.retain(|told| match left.get_mut(&Problem::of(told)) {
            Some(count) if *count > 0 => {
                *count -= 1;
                false
            }
            _ => true,
        });
        let held_back = before - diagnostics.len();
        let stale = left.into_iter().filter(|(_, count)| *count > 0).map(|(problem, _)| {
            let Problem { path, code, message } = problem;
            let message = format!("`{code}` of `{path}` no longer occurs: {message}");
            Diagnostic::whole(Code::StaleBaseline, file.display().to_string(), message)
        });
        diagnostics.extend(stale);
        diagnostics.sort();
        held_back
    }
}

impl Problem {
    pub(super) fn of(told: &Diagnostic) -> Problem {
        let code = told.code.row().name.to_owned();
        Problem { path: told.path.clone(), code, message: without_numbers(&told.message) }
    }
}

/// A message without what changes when lines move or files grow: numbers outside the user's own words.
fn without_numbers(message: &str) -> String {
    let mut is_quoted = false;
    let mut text = String::new();
    for c in message.chars() {
        is_quoted ^= c == '`';
        match c {
            '0'..='9' if !is_quoted => text.extend((!text.ends_with('#')).then_some('#')),
            _ => text.push(c),
        }
    }
    text
}

/// A number for each problem that stays the same when lines move: of what it is and which of its like.
pub(super) fn fingerprints(diagnostics: &[Diagnostic]) -> Vec<String> {
    let mut seen: HashMap<Problem, usize> = HashMap::new();
    let number = |told: &Diagnostic| {
        let problem = Problem::of(told);
        let nth = seen.entry(problem.clone()).or_default();
        *nth += 1;
        format!("{:016x}", hash(&[&problem.path, &problem.code, &problem.message, &nth.to_string()]))
    };
    diagnostics.iter().map(number).collect()
}

/// FNV-1a, which is the same everywhere and for ever.
fn hash(parts: &[&str]) -> u64 {
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(path: &str, line: usize, message: &str) -> Diagnostic {
        Diagnostic { line, ..Diagnostic::whole(Code::BadGlob, path, message) }
    }

    #[test]
    fn numbers_are_left_out_but_in_the_users_own_words() {
        assert_eq!(without_numbers("line 12 has `v12` and 3 more"), "line # has `v12` and # more");
        assert_eq!(without_numbers("no number"), "no number");
    }

    #[test]
    fn a_problem_is_the_same_wherever_its_line_went() {
        let before = [told("a", 1, "x"), told("a", 2, "x"), told("b", 3, "x")];
        let after = [told("a", 7, "x"), told("a", 9, "x"), told("b", 1, "x")];
        assert_eq!(fingerprints(&before), fingerprints(&after));
        let mut all = fingerprints(&before);
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 3);
    }

    #[test]
    fn what_is_recorded_is_held_back_as_often_as_it_was() {
        let mut now = vec![told("a", 1, "x"), told("a", 5, "x"), told("~/b", 1, "y"), told("c", 1, "z")];
        let recorded = Baseline::of(&[told("a", 3, "x"), told("~/b", 1, "y"), told("gone", 1, "w")]);
        assert_eq!(recorded.hold_back(&mut now, Path::new("base.json")), 1);
        let left: Vec<(&str, &str)> = now.iter().map(|d| (d.path.as_str(), d.message.as_str())).collect();
        let stale = ("base.json", "`bad-glob` of `gone` no longer occurs: w");
        assert_eq!(left, [("a", "x"), stale, ("c", "z"), ("~/b", "y")]);
    }
}
