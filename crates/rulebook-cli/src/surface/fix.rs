//! `check --fix`: mends what can be mended without changing what any agent does.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rulebook::diagnostic::Fix;
use rulebook::source::Scope;
use rulebook_workspace::{Loaded, rewrite};

/// A file that was to be mended.
pub(super) struct Mended {
    pub(super) path: String,
    /// The changed lines, `-` before and `+` after.
    pub(super) diff: String,
    /// Why it was not mended after all.
    pub(super) failed: Option<String>,
}

/// Applies every fix, file by file; one that cannot be written does not keep the others.
pub(super) fn mend(loaded: &Loaded) -> Vec<Mended> {
    let mut by_file: BTreeMap<&str, (&str, Vec<&Fix>)> = BTreeMap::new();
    for (rule, _) in loaded.book.rules().filter(|(rule, _)| rule.origin.scope == Scope::Workspace) {
        let display = rule.origin.display.as_str();
        let fixes: Vec<&Fix> =
            loaded.diagnostics.iter().filter(|d| d.path == display).filter_map(|d| d.fix.as_ref()).collect();
        if !fixes.is_empty() {
            by_file.insert(&rule.origin.path, (display, fixes));
        }
    }
    by_file.into_iter().map(|(path, (display, fixes))| mend_file(Path::new(path), display, fixes)).collect()
}

fn mend_file(path: &Path, display: &str, fixes: Vec<&Fix>) -> Mended {
    let (diff, failed) = match apply(path, fixes) {
        Ok(diff) => (diff, None),
        Err(error) => (String::new(), Some(error.to_string())),
    };
    Mended { path: display.to_owned(), diff, failed }
}

fn apply(path: &Path, mut fixes: Vec<&Fix>) -> std::io::Result<String> {
    let before = fs::read_to_string(path)?;
    fixes.sort_by_key(|fix| std::cmp::Reverse(fix.start));
    let mut after = before.clone();
    for fix in fixes.iter().filter(|fix| before.get(fix.start..fix.end).is_some()) {
        after.replace_range(fix.start..fix.end, &fix.replacement);
    }
    rewrite(path, &after)?;
    Ok(diff(&before, &after))
}

/// The lines that differ: fixes change single lines, so that the common start and end are all that is shared.
fn diff(before: &str, after: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let start = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let end = old[start..].iter().rev().zip(new[start..].iter().rev()).take_while(|(a, b)| a == b).count();
    let removed = old[start..old.len() - end].iter().map(|line| format!("  - {line}\n"));
    let added = new[start..new.len() - end].iter().map(|line| format!("  + {line}\n"));
    removed.chain(added).collect()
}
