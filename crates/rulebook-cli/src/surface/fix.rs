//! `check --fix`: applies safe fixes, and reports how each changes the behaviour of the agent.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use rulebook::compare::change;
use rulebook::diagnostic::Fix;
use rulebook::rule::Rule;
use rulebook::source::Scope;
use rulebook_workspace::{Loaded, rewrite_all};
use serde::Serialize;

/// A file with fixes.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Fixed {
    pub(super) path: String,
    /// The changed lines, marked `-` before and `+` after.
    pub(super) diff: String,
    /// How the fix changes what the file's own agent does.
    pub(super) change: Option<String>,
    pub(super) is_written: bool,
    /// Why the file could not be fixed.
    pub(super) failed: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FixMode {
    Write,
    DryRun,
}

/// Applies every fix, file by file. A file that cannot be written does not stop the others.
pub(super) fn fix(loaded: &Loaded, mode: FixMode) -> Vec<Fixed> {
    let mut fixes: BTreeMap<&str, Vec<&Fix>> = BTreeMap::new();
    for diagnostic in &loaded.diagnostics {
        fixes.entry(&diagnostic.path).or_default().extend(&diagnostic.fix);
    }
    let rules = loaded.book.rules().filter(|(rule, _)| rule.origin.scope == Scope::Workspace);
    let mut files: BTreeMap<&str, (&Rule, &[&Fix])> = BTreeMap::new();
    for (rule, _) in rules {
        if let Some(fixes) = fixes.get(rule.origin.display.as_str()).filter(|fixes| !fixes.is_empty()) {
            files.insert(&rule.origin.path, (rule, fixes));
        }
    }
    let mut fixed = Vec::new();
    let mut changed = Vec::new();
    for (path, (rule, fixes)) in files {
        let mut one = Fixed {
            path: rule.origin.display.clone(),
            diff: String::new(),
            change: None,
            is_written: false,
            failed: None,
        };
        match fs::read_to_string(path).map(|before| (apply(&before, fixes), before)) {
            Ok(((after, diff), before)) if after != before => {
                one.diff = diff;
                one.change = change(rule, &before, &after);
                changed.push((PathBuf::from(path), after));
            }
            Ok(_) => continue,
            Err(error) => one.failed = Some(error.to_string()),
        }
        fixed.push(one);
    }
    if mode == FixMode::Write {
        let written = fixed.iter_mut().filter(|one| one.failed.is_none());
        for (one, result) in written.zip(rewrite_all(&changed)) {
            one.is_written = result.is_ok();
            one.failed = result.err().map(|error| error.to_string());
        }
    }
    fixed
}

/// Returns the fixed text and the lines that differ. Of overlapping fixes, the first is applied.
fn apply(before: &str, fixes: &[&Fix]) -> (String, String) {
    let mut fixes = fixes.to_vec();
    fixes.sort();
    fixes.retain(|fix| before.get(fix.start..fix.end).is_some());
    fixes.dedup_by(|later, earlier| later.start < earlier.end);
    let (mut after, mut diff) = (String::new(), String::new());
    let mut done = 0;
    for line in fixes.chunk_by(|a, b| !before[a.end..b.start].contains('\n')) {
        let (Some(first), Some(last)) = (line.first(), line.last()) else { continue };
        let start = before[..first.start].rfind('\n').map_or(0, |at| at + 1);
        let end = before[last.end..].find('\n').map_or(before.len(), |at| last.end + at);
        let mut new = String::new();
        let mut at = start;
        for fix in line {
            new.push_str(&before[at..fix.start]);
            new.push_str(&fix.replacement);
            at = fix.end;
        }
        new.push_str(&before[at..end]);
        for (mark, lines) in [('-', &before[start..end]), ('+', new.as_str())] {
            diff.extend(lines.split('\n').map(|line| format!("  {mark} {}\n", line.trim_end_matches('\r'))));
        }
        after.push_str(&before[done..start]);
        after.push_str(&new);
        done = end;
    }
    after.push_str(&before[done..]);
    (after, diff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_changed_line_is_shown_and_the_rest_is_kept() {
        #[track_caller]
        fn check(before: &str, fixes: &[(usize, usize, &str)], after: &str, diff: &str) {
            let fixes: Vec<Fix> = fixes
                .iter()
                .map(|&(start, end, new)| Fix { start, end, replacement: new.to_owned() })
                .collect();
            let fixes: Vec<&Fix> = fixes.iter().collect();
            assert_eq!(apply(before, &fixes), (after.to_owned(), diff.to_owned()));
        }
        check("a\nb\nc\n", &[], "a\nb\nc\n", "");
        check("a\nb\nc\n", &[(4, 5, "C"), (0, 1, "A")], "A\nb\nC\n", "  - a\n  + A\n  - c\n  + C\n");
        check("a b\r\nc", &[(0, 1, "A"), (2, 3, "B")], "A B\r\nc", "  - a b\n  + A B\n");
        check("---x", &[(3, 3, "\n")], "---\nx", "  - ---x\n  + ---\n  + x\n");
        check("abc", &[(0, 2, "X"), (1, 3, "Y"), (9, 12, "Z")], "Xc", "  - abc\n  + Xc\n");
        check("é", &[(1, 2, "X")], "é", "");
    }
}
