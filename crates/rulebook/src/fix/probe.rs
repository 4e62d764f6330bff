//! Paths on which readings of a file may differ: what its patterns match, and what they almost match.

use std::collections::BTreeSet;

use crate::evidence::Seen;
use crate::parse::{Entry, Parsed};

/// How many patterns are probed.
const MAX_PATTERNS: usize = 50;

/// Paths that patterns for something else do not match.
pub(crate) const OTHERS: &[&str] = &["zz", "zz/zz/zz.zz", ".zz/zz.zz", "zz.ts"];

/// Returns paths that the patterns of the readings match or almost match.
pub(super) fn paths<'p>(readings: impl Iterator<Item = &'p Parsed>) -> Vec<Seen> {
    let mut roots: BTreeSet<(usize, &str)> = BTreeSet::new();
    let mut globs: BTreeSet<&str> = BTreeSet::new();
    for parsed in readings {
        let origin = parsed.entry.origin();
        roots.insert((origin.root, origin.folder.as_str()));
        if let Entry::Rule(rule) = &parsed.entry {
            globs.extend(rule.globs.iter().map(String::as_str));
        }
    }
    let mut inner: BTreeSet<String> = OTHERS.iter().map(|&path| path.to_owned()).collect();
    globs.into_iter().take(MAX_PATTERNS).for_each(|glob| inner.extend(near(glob)));
    let mut paths = BTreeSet::new();
    for (root, folder) in roots {
        for path in &inner {
            paths.insert((root, path.clone()));
            if !folder.is_empty() {
                paths.insert((root, format!("{folder}/{path}")));
            }
        }
    }
    paths.into_iter().map(|(root, path)| Seen { path, root, sources: Vec::new() }).collect()
}

/// Returns a path that the pattern probably matches, and its neighbours.
pub(crate) fn near(glob: &str) -> Vec<String> {
    let plain = glob.trim_start_matches('!').replace('\\', "/");
    let mut path = String::new();
    let mut rest = plain.as_str();
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '*' => {
                rest = rest.trim_start_matches('*');
                path.push('z');
            }
            '?' => path.push('z'),
            // The first alternative stands for all of them.
            '{' | '(' | '[' => {
                let end = rest.find(['}', ')', ']']).map_or(rest.len(), |end| end);
                path.push_str(rest[..end].split([',', '|']).next().unwrap_or_default());
                rest = rest.get(end + 1..).unwrap_or_default();
            }
            c => path.push(c),
        }
    }
    let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | "." | "..")).collect();
    let path = parts.join("/");
    if path.is_empty() {
        return Vec::new();
    }
    let name = parts.last().copied().unwrap_or_default();
    let stem = path.rsplit_once('.').map_or(path.as_str(), |(stem, _)| stem);
    let inner = parts.get(1..).unwrap_or_default().join("/");
    let mut near = vec![
        path.clone(),
        name.to_owned(),
        format!("{stem}.zz"),
        format!("zz/{path}"),
        format!(".zz/{path}"),
        format!("{path}/zz"),
        format!("{path}zz"),
        inner,
    ];
    near.retain(|path| !path.is_empty());
    near
}
