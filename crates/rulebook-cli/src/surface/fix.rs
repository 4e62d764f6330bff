//! `check --fix`: mends what can be mended without changing what any agent does.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::Context as _;
use rulebook::diagnostic::Fix;
use rulebook_workspace::{Loaded, rewrite};

/// A file that was mended.
pub(super) struct Mended {
    pub(super) path: String,
    /// The changed lines, `-` before and `+` after.
    pub(super) diff: String,
}

/// Applies every fix, file by file; a file that changed in the meantime is left alone.
pub(super) fn mend(loaded: &Loaded) -> anyhow::Result<Vec<Mended>> {
    let mut by_file: BTreeMap<&str, (&str, Vec<&Fix>)> = BTreeMap::new();
    for (rule, _) in loaded.book.rules() {
        let display = rule.origin.display.as_str();
        let fixes: Vec<&Fix> =
            loaded.diagnostics.iter().filter(|d| d.path == display).filter_map(|d| d.fix.as_ref()).collect();
        if !fixes.is_empty() {
            by_file.insert(&rule.origin.path, (display, fixes));
        }
    }
    let mut mended = Vec::new();
    for (path, (display, mut fixes)) in by_file {
        let before =
            fs::read_to_string(path).with_context(|| format!("`{display}` could not be read again"))?;
        fixes.sort_by_key(|fix| std::cmp::Reverse(fix.start));
        let mut after = before.clone();
        for fix in fixes.iter().filter(|fix| before.get(fix.start..fix.end).is_some()) {
            after.replace_range(fix.start..fix.end, &fix.replacement);
        }
        rewrite(Path::new(path), &after).with_context(|| format!("`{display}` could not be written"))?;
        mended.push(Mended { path: display.to_owned(), diff: diff(&before, &after) });
    }
    Ok(mended)
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
