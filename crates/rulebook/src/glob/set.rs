//! Many globs, asked for one path after the other.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::index::is_odd;
use super::plain::{Last, extensions};
use super::traits::{self, Traits};
use super::{Asked, Glob, Plan, fold};

/// Globs sorted by what their matches cannot be without, so that a path is asked only for a few.
///
/// Keeps nothing of the paths it is asked for.
pub struct PatternSet<'g> {
    globs: Vec<Member<'g>>,
    exact: Keys,
    /// The same for globs that do not look at case.
    folded: Keys,
    /// Globs with nothing to look them up by.
    rest: Vec<usize>,
    /// Those that are asked of every folder.
    loose: Vec<usize>,
    /// What any of the globs minds about a path.
    minds: Traits,
    /// Globs to be asked for the path at hand.
    candidates: Vec<usize>,
}

struct Member<'g> {
    glob: &'g Glob,
    /// Made when it is first needed.
    asked: Option<Asked<'g>>,
}

/// Globs by the hash of what their matches have. Two that hash alike are only asked in vain.
#[derive(Default)]
struct Keys {
    globs: HashMap<u64, Vec<usize>, BuildHasherDefault<AsIs>>,
    /// A bit for each hash there is; most look-ups end here.
    present: Vec<u64>,
    /// For each kind the numbers of leading segments that occur in keys, as bits.
    depths: [u64; 3],
    /// Whether there are keys of a segment alone, and of one with an extension.
    has_segments: [bool; 2],
    has_paths: bool,
}

/// What of a path, beside its first segments, is in a key.
#[derive(Clone, Copy)]
enum Kind {
    Nothing,
    Name,
    Extension,
    /// Some segment anywhere, instead of the first ones.
    Segment,
    /// The same, with an extension.
    Inside,
    /// The whole path.
    Path,
}

/// Leading segments beyond these are left out of keys.
const MAX_DEPTH: usize = 16;
const PRESENT_BITS: usize = 1 << 15;

impl<'g> PatternSet<'g> {
    /// Prepares `globs`; answers are positions in their order.
    pub fn new(globs: &'g [Glob]) -> PatternSet<'g> {
        let mut set = PatternSet {
            globs: globs.iter().map(|glob| Member { glob, asked: None }).collect(),
            exact: Keys::default(),
            folded: Keys::default(),
            rest: Vec::new(),
            loose: Vec::new(),
            minds: Traits::default(),
            candidates: Vec::new(),
        };
        for (at, glob) in globs.iter().enumerate() {
            set.minds = set.minds.and(glob.dialect().minds());
            let keys = if glob.dialect().folds() { &mut set.folded } else { &mut set.exact };
            if let Some(text) = glob.itself().filter(|text| is_odd(text)) {
                keys.add(Kind::Path, 0, 0, text, at);
            }
            if glob.dialect().is_loose() {
                set.loose.push(at);
            }
            let is_keyed = !glob.is_negated() && keys.add_glob(glob, at);
            if !is_keyed && !matches!(glob.plan, Plan::Never) {
                set.rest.push(at);
            }
        }
        set
    }

    /// Puts the positions of the globs that match `path` in `found`, ascending.
    ///
    /// Says the same as asking [`Glob::is_match`] of each.
    pub fn matches(&mut self, path: &str, found: &mut Vec<usize>) {
        found.clear();
        if path.is_empty() {
            return;
        }
        let traits = match self.minds {
            Traits::LINE_BREAK if !traits::has_line_break(path) => Traits::default(),
            _ => Traits::of(path),
        };
        self.candidates.clear();
        self.candidates.extend_from_slice(&self.rest);
        if traits.touch(Traits::FOLDER) {
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
                let asked = self.asked.get_or_insert_with(|| Asked::new(glob, usize::MAX, traits));
                glob.answer(path, |path| asked.fits(path))
            }
            Plan::Plain(plain) if !glob.dialect().minds().touch(traits) => {
                glob.answer(path, |path| plain.is_match(glob.text(), path))
            }
            _ => glob.is_match(path),
        }
    }
}

impl Keys {
    /// Whether there is something to look the glob up by.
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

fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0x9e37_79b9_7f4a_7c15) * u128::from(b ^ 0x2545_f491_4f6c_dd1d);
    (product >> 64) as u64 ^ product as u64
}

fn hash_or_zero(text: &str) -> u64 {
    if text.is_empty() { 0 } else { hash(text) }
}

pub(super) fn hash(text: &str) -> u64 {
    let (words, rest) = text.as_bytes().as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let start = words.iter().fold(text.len() as u64, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    mix(start, u64::from_le_bytes(last))
}

/// The keys are hashes already.
#[derive(Default)]
struct AsIs(u64);

impl Hasher for AsIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, &byte| mix(hash, byte.into()));
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::glob::{Dialect, PathIndex};

    #[test]
    fn a_set_and_an_index_say_what_each_glob_says() {
        #[track_caller]
        fn check(pattern: &str, dialect: Dialect, path: &str) {
            let globs = [Glob::new(pattern, dialect).unwrap()];
            let is_match = globs[0].is_match(path);
            let mut found = Vec::new();
            PatternSet::new(&globs).matches(path, &mut found);
            assert_eq!(found.contains(&0), is_match, "`{pattern}` and `{path}` in a set");
            // With others, so that the index looks paths up; with many, in another way.
            for count in [20, 600] {
                let others: Vec<String> = (0..count).map(|at| format!("other/{at}")).collect();
                let paths = std::iter::once(path).chain(others.iter().map(String::as_str));
                let found = PathIndex::new(paths).matches(&globs[0]);
                assert_eq!(found.contains(&0), is_match, "`{pattern}` and `{path}` among {count}");
            }
        }
        // VS Code's expression asks for no slash behind a folder's name, which shows where a path ends in one.
        check("**/n/**", Dialect::VsCode, "a/no/s/");
        check("n/**", Dialect::VsCode, "no/");
        check("src/**", Dialect::VsCode, "src/");
        // A comment in a `.gitignore` is no pattern.
        check("#a", Dialect::Claude, "#a");
        check("#a", Dialect::Gitignore, "#a/b");
        check("a[/b]", Dialect::Claude, "a/c");
        check("*[.-:]", Dialect::Claude, ".git/a");
        check("a/ ", Dialect::Claude, "x/a/b");
        check("{a,b}/c", Dialect::Claude, "b/c/d");
    }
}
