//! Paths on which a rule and its copy may differ: what their patterns match, and what they almost match.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::translate::{without_groups, without_hidden};
use crate::fix::{OTHERS, contested, near, split_exclusion, varied};
use crate::glob::expand_braces;

/// How many patterns are probed, after their braces are expanded.
const MAX_PATTERNS: usize = 60;

/// How many alternatives of one pattern are probed.
const MAX_ALTERNATIVES: usize = 8;

/// A pattern without what does not change its probes, so that the patterns of several dialects share them. An exclusion keeps its
/// `!`.
pub(super) fn bare(glob: &str) -> Cow<'_, str> {
    let (is_exclusion, own) = split_exclusion(glob);
    let bare = own.trim_start_matches("./").trim_start_matches('/');
    // What ends in a slash is a folder, which is no file.
    let whole =
        bare.strip_suffix('/').filter(|folder| !folder.is_empty()).map(|folder| format!("{folder}/**"));
    let bare: Cow<'_, str> = whole.map_or(bare.into(), Cow::Owned);
    let bare = match bare.contains(['{', '?', '(']) {
        true => without_groups(&without_hidden(&bare)).into(),
        false => bare,
    };
    if is_exclusion { format!("!{bare}").into() } else { bare }
}

/// Returns paths below a folder that these bare patterns match or almost match, sorted.
pub(super) fn paths(globs: &BTreeSet<Cow<'_, str>>, folder: &str) -> Vec<String> {
    let mut inner: BTreeSet<String> = OTHERS.iter().map(|&path| path.to_owned()).collect();
    let globs: Vec<String> = globs.iter().flat_map(|glob| expanded(glob)).take(MAX_PATTERNS).collect();
    for glob in &globs {
        let near: Vec<String> = near(glob).into_iter().filter(|path| is_file(path)).collect();
        inner.extend(near.first().into_iter().flat_map(|path| hidden(path)));
        inner.extend(near.first().into_iter().flat_map(|path| [path.to_uppercase(), path.to_lowercase()]));
        inner.extend(near);
        inner.extend(varied(glob).into_iter().filter(|path| is_file(path)));
    }
    let globs: Vec<&str> = globs.iter().map(String::as_str).collect();
    for path in contested(&globs).into_iter().filter(|path| is_file(path)) {
        inner.extend(hidden(&path));
        inner.insert(path);
    }
    match folder {
        "" => inner.into_iter().collect(),
        folder => inner.iter().map(|path| format!("{folder}/{path}")).chain(inner.iter().cloned()).collect(),
    }
}

/// The patterns that a pattern stands for: those of its braces. Some readers also split it at its commas.
fn expanded(glob: &str) -> Vec<String> {
    let mut all = expand_braces(glob).unwrap_or_else(|| vec![glob.to_owned()]);
    all.truncate(MAX_ALTERNATIVES);
    let pieces: Vec<String> = all
        .iter()
        .filter(|glob| glob.contains(','))
        .flat_map(|glob| glob.split(','))
        .filter(|piece| !piece.is_empty())
        .take(MAX_ALTERNATIVES)
        .map(str::to_owned)
        .collect();
    all.extend(pieces);
    all
}

/// A path, with what may be hidden in it hidden.
fn hidden(path: &str) -> Vec<String> {
    // The name of a hidden folder looks like an extension.
    let mut all = vec![beside(path, &format!(".{}", name(path))), format!(".{path}"), beside(path, ".zz/zz")];
    // Some dialects need a pattern for each number of hidden folders.
    all.extend(
        [".zz/.", ".zz/.zz/", ".zz/zz/."].map(|folders| beside(path, &[folders, name(path)].concat())),
    );
    all
}

/// Whether a path can be one of a file. A tree with a folder that looks like a file, or with a name that has characters of patterns, is
/// compared file by file.
fn is_file(path: &str) -> bool {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let has_extension = |part: &str| {
        !part.starts_with('[') && part.rsplit_once('.').is_some_and(|(stem, _)| !stem.is_empty())
    };
    !folder.split('/').any(has_extension) && !path.contains(['*', '?', '"']) && !path.ends_with('.')
}

fn name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// The path with another name.
fn beside(path: &str, other: &str) -> String {
    [path.strip_suffix(name(path)).unwrap_or_default(), other].concat()
}
