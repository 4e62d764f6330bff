//! Paths on which readings of a file may differ: what its patterns match, and what they almost match.

use std::collections::BTreeSet;

use super::shape::{BARE, NAME, Shape, split_exclusion};
use crate::evidence::Seen;
use crate::parse::{Entry, Parsed};

/// How many patterns are probed.
const MAX_PATTERNS: usize = 50;

/// How many paths are looked at that one pattern matches and another one excludes.
const MAX_CONTESTED: usize = 300;

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
    let globs: Vec<&str> = globs.into_iter().take(MAX_PATTERNS).collect();
    globs.iter().for_each(|glob| inner.extend(near(glob).into_iter().chain(varied(glob))));
    inner.extend(contested(&globs));
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
    let shape = Shape::of(glob);
    let mut near = neighbours(&shape.path());
    if glob.contains('[') {
        near.extend(neighbours(&shape.path_as(NAME)));
        near.extend(neighbours(&shape.path_as(BARE)).into_iter().next());
    }
    near
}

/// Returns paths that the pattern matches or almost matches because one of its wildcards, classes or groups stands for something
/// else, or because it matches a folder.
pub(crate) fn varied(glob: &str) -> Vec<String> {
    let shape = Shape::of(glob);
    let variations = shape.variations();
    let folders = shape.folders().into_iter().chain(variations.iter().flat_map(Shape::folders));
    variations.iter().map(Shape::path).chain(folders).filter(|path| !path.is_empty()).collect()
}

/// Returns paths that one of the patterns matches and another one excludes, as some reader may see them.
pub(crate) fn contested(globs: &[&str]) -> BTreeSet<String> {
    let (exclusions, included): (Vec<&str>, Vec<&str>) =
        globs.iter().take(MAX_PATTERNS).partition(|glob| split_exclusion(glob).0);
    let included: Vec<Shape> = included.into_iter().map(Shape::of).collect();
    let included: Vec<Shape> = included.iter().flat_map(|shape| [shape.clone(), shape.inside()]).collect();
    let views = |glob: &str| {
        let shape = Shape::of(glob);
        let whole = [shape.clone(), shape.inside(), shape.anywhere(), shape.anywhere().inside()];
        let below = [shape.below("zz"), shape.below("zz").inside()];
        let varied = shape.variations();
        whole.into_iter().chain(below).chain(varied).collect::<Vec<Shape>>()
    };
    let excluded: Vec<Vec<Shape>> = exclusions.into_iter().map(views).collect();
    let most = excluded.iter().map(Vec::len).max().unwrap_or_default();
    let mut paths = BTreeSet::new();
    // What most readers see first: there may be too many.
    let views = (0..most).flat_map(|at| excluded.iter().filter_map(move |views| views.get(at)));
    for path in views.flat_map(|view| included.iter().filter_map(|shape| shape.shared(view))) {
        paths.insert(path);
        if paths.len() == MAX_CONTESTED {
            break;
        }
    }
    paths
}

/// Returns a path, and those that a reader with other rules may take for it.
fn neighbours(path: &str) -> Vec<String> {
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
