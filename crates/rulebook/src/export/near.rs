//! Paths on which a rule and its copy may differ: what their patterns match, and what they almost match.

use std::collections::BTreeSet;

use crate::fix::{OTHERS, near};
use crate::glob::expand_braces;

/// How many patterns are probed, after their braces are expanded.
const MAX_PATTERNS: usize = 60;

/// How many alternatives of one pattern are probed.
const MAX_ALTERNATIVES: usize = 8;

/// Returns paths below a folder that the patterns match or almost match, sorted.
pub(super) fn paths<'g>(globs: impl Iterator<Item = &'g str>, folder: &str) -> Vec<String> {
    let globs: BTreeSet<&str> = globs.collect();
    let expand = |glob: &str| {
        let bare = glob.strip_prefix('!').unwrap_or(glob);
        let mut all = expand_braces(bare).unwrap_or_else(|| vec![bare.to_owned()]);
        all.truncate(MAX_ALTERNATIVES);
        all
    };
    let mut inner: BTreeSet<String> = OTHERS.iter().map(|&path| path.to_owned()).collect();
    for glob in globs.into_iter().flat_map(expand).take(MAX_PATTERNS) {
        let near: Vec<String> = near(&glob).into_iter().filter(|path| !is_below_file(path)).collect();
        inner.extend(near.first().map(|path| hidden(path)));
        inner.extend(near.first().map(|path| path.to_uppercase()));
        inner.extend(near);
    }
    match folder {
        "" => inner.into_iter().collect(),
        folder => inner.iter().map(|path| format!("{folder}/{path}")).chain(inner.iter().cloned()).collect(),
    }
}

/// Whether a folder of the path looks like a file: such a path is no file of any tree. A tree with such a folder is compared
/// file by file.
fn is_below_file(path: &str) -> bool {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let is_file = |part: &str| part.rsplit_once('.').is_some_and(|(stem, _)| !stem.is_empty());
    folder.split('/').any(is_file)
}

/// The path with its name hidden.
fn hidden(path: &str) -> String {
    match path.rsplit_once('/') {
        Some((folder, name)) => format!("{folder}/.{name}"),
        None => format!(".{path}"),
    }
}
