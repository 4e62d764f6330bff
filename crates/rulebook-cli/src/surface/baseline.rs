//! Baselines: known problems that `check` counts but does not report.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::Path;

use crate::out::VERSION;
use anyhow::{Context as _, anyhow};
use rulebook::diagnostic::{Code, Diagnostic};
use rulebook_workspace::read;
use rulebook_workspace::write::{Kind, Owner, rewrite};
use serde::{Deserialize, Serialize};

/// The largest baseline that is read, in bytes.
const MAX_BASELINE: usize = 64 << 20;

/// A file of known problems.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Baseline {
    version: u32,
    /// Sorted, so that two branches that change it can be merged.
    problems: Vec<Recorded>,
}

/// What baselines of every version have.
#[derive(Deserialize)]
#[serde(rename = "Baseline")]
struct Version {
    #[serde(rename = "version")]
    _version: u32,
    #[serde(rename = "problems")]
    _problems: Vec<serde::de::IgnoredAny>,
}

/// A problem and how often it occurs. Its line is not recorded, because lines move.
#[derive(Deserialize, Serialize)]
struct Recorded {
    #[serde(flatten)]
    problem: Problem,
    count: usize,
}

/// What makes two diagnostics the same problem.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
struct Problem {
    path: String,
    code: String,
    message: String,
}

impl Baseline {
    /// Records the problems in the workspace's own files, not those in the user's home folder.
    pub(super) fn of(diagnostics: &[Diagnostic]) -> Baseline {
        let mut counts: BTreeMap<Problem, usize> = BTreeMap::new();
        for diagnostic in diagnostics.iter().filter(|diagnostic| !diagnostic.path.starts_with(['~', '/'])) {
            *counts.entry(Problem::of(diagnostic)).or_default() += 1;
        }
        let problems = counts.into_iter().map(|(problem, count)| Recorded { problem, count }).collect();
        Baseline { version: VERSION, problems }
    }

    pub(super) fn read(file: &Path) -> anyhow::Result<Baseline> {
        let shown = file.display();
        let missing = || io::Error::new(io::ErrorKind::NotFound, "it does not exist");
        let read = read::bytes(file, MAX_BASELINE).and_then(|bytes| bytes.ok_or_else(missing));
        let bytes = read.map_err(|error| {
            anyhow!("add `--write-baseline` to record the current problems")
                .context(format!("cannot read the baseline {shown}: {error}"))
        })?;
        let baseline: Baseline = serde_json::from_slice(&bytes).map_err(|error| {
            anyhow!("recreate it with `--write-baseline`")
                .context(format!("{shown} is not a baseline: {error}"))
        })?;
        if baseline.version != VERSION {
            let version = baseline.version;
            return Err(anyhow!("recreate it with `--write-baseline`")
                .context(format!("{shown} has baseline version {version}, expected {VERSION}")));
        }
        Ok(baseline)
    }

    /// Replaces a baseline, or creates it. Any other file is left alone: it may be one that programs run.
    pub(super) fn write(&self, file: &Path, owner: Owner<'_>) -> anyhow::Result<()> {
        let refused = |why: String| {
            let shown = file.display();
            anyhow!("name another file with `--baseline`").context(format!("cannot write `{shown}`: {why}"))
        };
        owner.check(file).map_err(|error| refused(error.to_string()))?;
        let old = read::bytes(file, MAX_BASELINE).map_err(|error| refused(error.to_string()))?;
        let is_baseline = |old: &[u8]| old.is_empty() || serde_json::from_slice::<Version>(old).is_ok();
        if old.is_some_and(|old| !is_baseline(&old)) {
            return Err(refused("it exists and is not a baseline".to_owned()));
        }
        let text = serde_json::to_string_pretty(self)?;
        rewrite(file, &format!("{text}\n"), Kind::Text, owner)
            .context("name a writable file with `--baseline`")
    }

    /// Removes recorded problems and returns how many; reports those that no longer occur.
    pub(super) fn suppress(self, diagnostics: &mut Vec<Diagnostic>, file: &Path) -> usize {
        let mut left: BTreeMap<Problem, usize> = BTreeMap::new();
        for Recorded { problem, count } in self.problems {
            let all = left.entry(problem).or_default();
            *all = all.saturating_add(count);
        }
        let before = diagnostics.len();
        diagnostics.retain(|diagnostic| match left.get_mut(&Problem::of(diagnostic)) {
            Some(count) if *count > 0 => {
                *count -= 1;
                false
            }
            _ => true,
        });
        let suppressed = before - diagnostics.len();
        let stale = left.into_iter().filter(|(_, count)| *count > 0).map(|(problem, _)| {
            let Problem { path, code, message } = problem;
            let message = format!("`{code}` in `{path}` no longer occurs: {message}");
            Diagnostic::whole(Code::StaleBaseline, file.display().to_string(), message)
        });
        diagnostics.extend(stale);
        diagnostics.sort();
        suppressed
    }
}

impl Problem {
    fn of(diagnostic: &Diagnostic) -> Problem {
        let code = diagnostic.code.row().name.to_owned();
        Problem { path: diagnostic.path.clone(), code, message: without_numbers(&diagnostic.message) }
    }
}

/// Replaces numbers outside of backticks, because they change when lines move or files grow.
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

/// Returns an identifier for each problem that does not change when lines move.
pub(super) fn fingerprints(diagnostics: &[Diagnostic]) -> Vec<String> {
    let mut seen: HashMap<Problem, usize> = HashMap::new();
    let number = |diagnostic: &Diagnostic| {
        let problem = Problem::of(diagnostic);
        let nth = seen.entry(problem.clone()).or_default();
        *nth += 1;
        format!("{:016x}", hash(&[&problem.path, &problem.code, &problem.message, &nth.to_string()]))
    };
    diagnostics.iter().map(number).collect()
}

/// FNV-1a, which is stable across platforms and versions.
fn hash(parts: &[&str]) -> u64 {
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diagnostic(path: &str, line: usize, message: &str) -> Diagnostic {
        let mut found = Diagnostic::whole(Code::BadGlob, path, message);
        found.line = line;
        found
    }

    #[test]
    fn numbers_are_replaced_except_in_quoted_text() {
        assert_eq!(without_numbers("line 12 has `v12` and 3 more"), "line # has `v12` and # more");
        assert_eq!(without_numbers("no number"), "no number");
    }

    #[test]
    fn a_fingerprint_does_not_depend_on_the_line() {
        let before = [diagnostic("a", 1, "x"), diagnostic("a", 2, "x"), diagnostic("b", 3, "x")];
        let after = [diagnostic("a", 7, "x"), diagnostic("a", 9, "x"), diagnostic("b", 1, "x")];
        assert_eq!(fingerprints(&before), fingerprints(&after));
        let mut all = fingerprints(&before);
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 3);
    }

    #[test]
    fn a_problem_is_suppressed_as_often_as_it_was_recorded() {
        let mut now = vec![
            diagnostic("a", 1, "x"),
            diagnostic("a", 5, "x"),
            diagnostic("~/b", 1, "y"),
            diagnostic("c", 1, "z"),
        ];
        let recorded =
            Baseline::of(&[diagnostic("a", 3, "x"), diagnostic("~/b", 1, "y"), diagnostic("gone", 1, "w")]);
        assert_eq!(recorded.suppress(&mut now, Path::new("base.json")), 1);
        let left: Vec<(&str, &str)> = now.iter().map(|d| (d.path.as_str(), d.message.as_str())).collect();
        let stale = ("base.json", "`bad-glob` in `gone` no longer occurs: w");
        assert_eq!(left, [("a", "x"), stale, ("c", "z"), ("~/b", "y")]);
    }
}
