//! Paths prepared for many globs.

use std::collections::HashMap;

use super::Glob;
use super::plain::Last;

/// Paths sorted and bucketed, so that a glob looks only at those it could match.
#[derive(Clone, Debug)]
pub struct PathIndex<'p> {
    paths: Vec<&'p str>,
    /// Positions in the order of the paths' bytes.
    sorted: Vec<usize>,
    by_extension: HashMap<&'p str, Vec<usize>>,
    by_name: HashMap<&'p str, Vec<usize>>,
}

impl<'p> PathIndex<'p> {
    /// Prepares `paths`; answers are positions in their order.
    pub fn new(paths: impl IntoIterator<Item = &'p str>) -> PathIndex<'p> {
        let paths: Vec<&str> = paths.into_iter().collect();
        let mut sorted: Vec<usize> = (0..paths.len()).collect();
        sorted.sort_by_key(|&at| paths[at]);
        let mut by_extension: HashMap<&str, Vec<usize>> = HashMap::new();
        let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, path) in paths.iter().enumerate() {
            let name = name_of(path);
            by_name.entry(name).or_default().push(at);
            if let Some((_, extension)) = name.rsplit_once('.') {
                by_extension.entry(extension).or_default().push(at);
            }
        }
        PathIndex { paths, sorted, by_extension, by_name }
    }

    /// Positions of the paths the glob matches, ascending.
    pub fn matches(&self, glob: &Glob) -> Vec<usize> {
        if glob.is_negated() {
            return (0..self.paths.len()).filter(|&at| glob.is_match(self.paths[at])).collect();
        }
        let mut found: Vec<usize> = Vec::new();
        let mut take = |positions: &[usize]| {
            found.extend(positions.iter().filter(|&&at| glob.is_match(self.paths[at])));
        };
        let under = self.starting_with(glob.prefix());
        match glob.last() {
            Last::Name(name) => take(smaller(bucket(&self.by_name, name), under)),
            Last::Extension(list) if !list.contains(',') => {
                take(smaller(bucket(&self.by_extension, list), under));
            }
            Last::Extension(list) => {
                let buckets = list.split(',').map(|extension| bucket(&self.by_extension, extension));
                if buckets.clone().map(<[usize]>::len).sum::<usize>() < under.len() {
                    buckets.for_each(take);
                } else {
                    take(under);
                }
            }
            Last::Unknown => take(under),
        }
        // Every pattern matches itself, whatever it asks of other paths.
        found.extend(self.equal_to(glob.pattern()));
        if !found.is_sorted() {
            found.sort_unstable();
        }
        found.dedup();
        found
    }

    fn starting_with(&self, prefix: &str) -> &[usize] {
        if prefix.is_empty() {
            return &self.sorted;
        }
        let start = self.sorted.partition_point(|&at| self.paths[at] < prefix);
        let len = self.sorted[start..].partition_point(|&at| self.paths[at].starts_with(prefix));
        &self.sorted[start..start + len]
    }

    fn equal_to(&self, path: &str) -> &[usize] {
        let under = self.starting_with(path);
        let len = under.partition_point(|&at| self.paths[at] == path);
        if path.is_empty() { &[] } else { &under[..len] }
    }
}

/// The last segment; a trailing slash belongs to none.
fn name_of(path: &str) -> &str {
    let path = path.strip_suffix('/').unwrap_or(path);
    path.rsplit('/').next().unwrap_or(path)
}

fn bucket<'i>(buckets: &'i HashMap<&str, Vec<usize>>, key: &str) -> &'i [usize] {
    buckets.get(key).map_or(&[], Vec::as_slice)
}

fn smaller<'i>(a: &'i [usize], b: &'i [usize]) -> &'i [usize] {
    if a.len() <= b.len() { a } else { b }
}
