//! A set of globs, indexed for matching many paths.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::hash::{Identity, hash, mix};
use super::matcher::Matcher;
use super::plain::{Last, extensions};
use super::plan::Plan;
use super::traits::{Traits, has_line_break, has_special_characters};
use super::{Glob, fold};

/// Globs keyed by what their matches must contain, so that a path is matched against only a few of them.
///
/// Keeps nothing of the paths.
#[derive(Default)]
pub struct PatternSet<'g> {
    globs: Vec<Member<'g>>,
    exact: Keys,
    /// The same for globs that ignore case.
    folded: Keys,
    /// Globs without a key.
    rest: Vec<usize>,
    /// Globs that are matched against every folder.
    loose: Vec<usize>,
    /// The traits for which any of the globs needs its full expression.
    special: Traits,
    /// Globs to match against the current path.
    candidates: Vec<usize>,
}

struct Member<'g> {
    glob: &'g Glob,
    /// Created on first use.
    matcher: Option<Matcher<'g>>,
}

/// Globs by the hash of a key. A collision only costs an unsuccessful match.
#[derive(Default)]
struct Keys {
    globs: HashMap<u64, Vec<usize>, BuildHasherDefault<Identity>>,
    /// A Bloom filter of the keys; most lookups end here.
    present: Vec<u64>,
    /// For each kind, the numbers of leading segments that occur in keys, as bits.
    depths: [u64; 3],
    /// Whether there are keys of kind `Segment` and of kind `Inside`.
    has_segments: [bool; 2],
    has_paths: bool,
}

/// What a key contains of a path in addition to its first segments.
#[derive(Clone, Copy)]
enum Kind {
    Nothing,
    Name,
    Extension,
    /// Any one segment, instead of the first ones.
    Segment,
    /// As `Segment`, with an extension.
    Inside,
    /// The whole path.
    Path,
}

/// Keys contain at most this many leading segments.
const MAX_DEPTH: usize = 16;
const PRESENT_BITS: usize = 1 << 15;

impl<'g> PatternSet<'g> {
    /// Indexes `globs`; results are positions in their order.
    pub fn new(globs: &'g [Glob]) -> PatternSet<'g> {
        let members = globs.iter().map(|glob| Member { glob, matcher: None });
        let mut set = PatternSet { globs: members.collect(), ..PatternSet::default() };
        for (at, glob) in globs.iter().enumerate() {
            set.special = set.special.union(glob.dialect().special_traits());
            let keys = if glob.dialect().ignores_case() { &mut set.folded } else { &mut set.exact };
            if let Some(text) = glob.own_text().filter(|text| has_special_characters(text)) {
                keys.add(Kind::Path, 0, 0, text, at);
            }
            if glob.dialect().matches_folders_loosely() {
                set.loose.push(at);
            }
            let is_keyed = !glob.is_negated() && keys.add_glob(glob, at);
            if !is_keyed && !matches!(glob.plan, Plan::Never) {
                set.rest.push(at);
            }
        }
        set
    }

    /// Replaces `found` with the positions of the globs that match `path`, ascending.
    ///
    /// The result is the same as calling [`Glob::is_match`] on each.
    pub fn matches(&mut self, path: &str, found: &mut Vec<usize>) {
        found.clear();
        if path.is_empty() {
            return;
        }
        let traits = match self.special {
            Traits::LINE_BREAK if !has_line_break(path) => Traits::default(),
            _ => Traits::of(path),
        };
        self.candidates.clear();
        self.candidates.extend_from_slice(&self.rest);
        if traits.intersects(Traits::FOLDER) {
            self.candidates.extend_from_slice(&self.loose);
        }
        self.exact.look_up(path, &mut self.candidates);
        if !self.folded.globs.is_empty() {
            self.folded.look_up(&fold::fold(path), &mut self.candidates);
        }
        let globs = &mut self.globs;
        found.extend(self.candidates.iter().filter(|&&at| globs[at].is_match(path, traits)));
        found.sort_unstable();
        found.dedup();
    }
}

impl Member<'_> {
    fn is_match(&mut self, path: &str, traits: Traits) -> bool {
        let glob = self.glob;
        match &glob.plan {
            Plan::Program(_) => {
                let matcher = self.matcher.get_or_insert_with(|| Matcher::new(glob, usize::MAX, traits));
                glob.is_match_with(path, |path| matcher.is_match(path))
            }
            Plan::Plain(plain) if !glob.dialect().special_traits().intersects(traits) => {
                glob.is_match_with(path, |path| plain.is_match(glob.text(), path))
            }
            _ => glob.is_match(path),
        }
    }
}

impl Keys {
    /// Adds a glob. Returns false if it has no key.
    fn add_glob(&mut self, glob: &Glob, at: usize) -> bool {
        let root = glob.root();
        let depth = if root.is_empty() { 0 } else { root.split('/').count().min(MAX_DEPTH) };
        let start = root.split('/').take(depth).fold(0, |chain, segment| mix(chain, hash(segment)));
        let segment = glob.segment().filter(|_| depth == 0).map(hash);
        let (plain, extended) = match segment {
            Some(_) => (Kind::Segment, Kind::Inside),
            None => (Kind::Nothing, Kind::Extension),
        };
        let first = segment.unwrap_or(start);
        match glob.last() {
            Last::Name(name) => self.add(Kind::Name, depth, start, name, at),
            Last::Extension(extension) => self.add(extended, depth, first, extension, at),
            Last::Extensions(list) => {
                extensions(list).for_each(|extension| self.add(extended, depth, first, extension, at));
            }
            Last::Unknown if depth > 0 || segment.is_some() => self.add(plain, depth, first, "", at),
            Last::Unknown => return false,
        }
        true
    }

    fn add(&mut self, kind: Kind, depth: usize, start: u64, value: &str, at: usize) {
        match kind {
            Kind::Nothing | Kind::Name | Kind::Extension => self.depths[kind as usize] |= 1 << depth,
            Kind::Segment => self.has_segments[0] = true,
            Kind::Inside => self.has_segments[1] = true,
            Kind::Path => self.has_paths = true,
        }
        let key = key(kind, start, hash_or_zero(value));
        self.globs.entry(key).or_default().push(at);
        self.present.resize(PRESENT_BITS / 64, 0);
        let bit = key as usize % PRESENT_BITS;
        self.present[bit / 64] |= 1 << (bit % 64);
    }

    /// Adds the globs that may match `path`.
    fn look_up(&self, path: &str, found: &mut Vec<usize>) {
        if self.globs.is_empty() {
            return;
        }
        let bare = path.strip_suffix('/').unwrap_or(path);
        let name = bare.rsplit('/').next().unwrap_or(bare);
        let extension = name.rsplit_once('.').map_or(0, |(_, extension)| hash_or_zero(extension));
        let values = [0, hash(name), extension];
        let mut take = |kind, start, value| {
            let key = key(kind, start, value);
            let bit = key as usize % PRESENT_BITS;
            if self.present[bit / 64] >> (bit % 64) & 1 == 1
                && let Some(globs) = self.globs.get(&key)
            {
                found.extend_from_slice(globs);
            }
        };
        let mut start = 0;
        let mut segments = bare.split('/');
        for depth in 0.. {
            if depth <= MAX_DEPTH {
                for kind in [Kind::Nothing, Kind::Name, Kind::Extension] {
                    if self.depths[kind as usize] >> depth & 1 == 1 {
                        take(kind, start, values[kind as usize]);
                    }
                }
            } else if self.has_segments == [false; 2] {
                break;
            }
            let Some(segment) = segments.next() else { break };
            let segment = hash(segment);
            start = mix(start, segment);
            if self.has_segments[0] {
                take(Kind::Segment, segment, 0);
            }
            if self.has_segments[1] {
                take(Kind::Inside, segment, extension);
            }
        }
        if self.has_paths {
            take(Kind::Path, 0, hash(path));
        }
    }
}

fn key(kind: Kind, start: u64, value: u64) -> u64 {
    mix(start ^ kind as u64, value)
}

fn hash_or_zero(text: &str) -> u64 {
    if text.is_empty() { 0 } else { hash(text) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::glob::{Dialect, PathIndex};

    #[test]
    fn a_set_and_an_index_agree_with_each_glob() {
        #[track_caller]
        fn check(pattern: &str, dialect: Dialect, path: &str) {
            let globs = [Glob::new(pattern, dialect).unwrap()];
            let is_match = globs[0].is_match(path);
            let mut found = Vec::new();
            PatternSet::new(&globs).matches(path, &mut found);
            assert_eq!(found.contains(&0), is_match, "`{pattern}` and `{path}` in a set");
            // The index uses different lookups for few and for many paths.
            for count in [20, 600] {
                let others: Vec<String> = (0..count).map(|at| format!("other/{at}")).collect();
                let paths = std::iter::once(path).chain(others.iter().map(String::as_str));
                let found = PathIndex::new(paths).matches(&globs[0]);
                assert_eq!(found.contains(&0), is_match, "`{pattern}` and `{path}` among {count}");
            }
        }
        // VS Code's expression requires no slash after a folder's name. This matters if the path ends in a slash.
        check("**/n/**", Dialect::VsCode, "a/no/s/");
        check("n/**", Dialect::VsCode, "no/");
        check("src/**", Dialect::VsCode, "src/");
        // A comment in a `.gitignore` is not a pattern.
        check("#a", Dialect::Claude, "#a");
        check("#a", Dialect::Gitignore, "#a/b");
        check("a[/b]", Dialect::Claude, "a/c");
        check("*[.-:]", Dialect::Claude, ".git/a");
        check("a/ ", Dialect::Claude, "x/a/b");
        check("{a,b}/c", Dialect::Claude, "b/c/d");
    }
}
