//! A set of paths, indexed for matching many globs.

use std::cell::OnceCell;

use foldhash::HashMap;

use super::hash::hash;
use super::matcher::Matcher;
use super::plain::{Last, extensions};
use super::traits::{Traits, has_special_characters};
use super::{Glob, fold};

/// Paths in buckets, so that a glob is matched only against those that it could match.
#[derive(Clone, Debug)]
pub struct PathIndex<'p> {
    written: Index<&'p str>,
    /// The same paths with case folded, for globs that ignore case. Its positions are ranks in `written`.
    folded: OnceCell<Index<String>>,
}

impl<'p> PathIndex<'p> {
    /// Indexes `paths`; results are positions in their order.
    pub fn new(paths: impl IntoIterator<Item = &'p str>) -> PathIndex<'p> {
        PathIndex { written: Index::new(paths.into_iter()), folded: OnceCell::new() }
    }

    /// Positions of the paths that the glob matches, ascending.
    ///
    /// Returns the same as calling [`Glob::is_match`] for each path, but examines only few of them.
    pub fn matches(&self, glob: &Glob) -> Vec<usize> {
        let written = &self.written;
        // Buckets are case-sensitive.
        if glob.dialect().ignores_case() && written.traits.intersects(Traits::CASED) {
            let fold = |path: &&str| fold::fold(path).into_owned();
            let folded = self.folded.get_or_init(|| Index::new(written.paths.iter().map(fold)));
            return written.in_order(folded.matches(glob));
        }
        written.matches(glob)
    }
}

/// A case-sensitive index.
///
/// Internally, a path is identified by its rank: its position among the non-empty paths. Nothing matches an empty path.
#[derive(Clone, Debug, Default)]
struct Index<S> {
    paths: Vec<S>,
    /// The original position of each path.
    positions: Vec<usize>,
    all: Vec<usize>,
    by_extension: HashMap<String, Vec<usize>>,
    /// By the last segment, by its part before the first dot, and by every segment. Built on first use.
    by_name: OnceCell<Buckets>,
    by_stem: OnceCell<Buckets>,
    by_segment: OnceCell<Buckets>,
    by_folder: OnceCell<Folders>,
    /// The folders themselves, for globs that match everything below a folder.
    folders: OnceCell<Box<Index<String>>>,
    /// Paths that may be equal to a pattern's text without matching it otherwise, sorted.
    special: Vec<usize>,
    /// The traits of all paths together.
    traits: Traits,
}

impl<S: AsRef<str> + Default> Index<S> {
    fn new(paths: impl Iterator<Item = S>) -> Index<S> {
        let given = paths.enumerate().filter(|(_, path)| !path.as_ref().is_empty());
        let (positions, paths): (Vec<usize>, Vec<S>) = given.unzip();
        let mut by_extension: HashMap<String, Vec<usize>> = HashMap::default();
        let mut special: Vec<usize> = Vec::new();
        let mut traits = Traits::default();
        for (rank, path) in paths.iter().map(AsRef::as_ref).enumerate() {
            traits = traits.union(Traits::of(path));
            if has_special_characters(path) {
                special.push(rank);
            }
            let Some((_, extension)) = name(path).rsplit_once('.') else { continue };
            match by_extension.get_mut(extension) {
                Some(ranks) => ranks.push(rank),
                None => drop(by_extension.insert(extension.to_owned(), vec![rank])),
            }
        }
        special.sort_by_key(|rank| paths[*rank].as_ref());
        Index {
            positions,
            all: (0..paths.len()).collect(),
            paths,
            by_extension,
            special,
            traits,
            ..Index::default()
        }
    }

    fn path(&self, rank: usize) -> &str {
        self.paths[rank].as_ref()
    }

    fn matches(&self, glob: &Glob) -> Vec<usize> {
        if glob.is_negated() {
            let mut matcher = Matcher::new(glob, self.all.len(), self.traits);
            let is_match = |rank: &usize| glob.is_match_with(self.path(*rank), |path| matcher.is_match(path));
            return self.in_order(self.all.iter().copied().filter(is_match).collect());
        }
        // For fewer paths, parsing the pattern again takes longer. Empty segments are folders that the index does not keep.
        const MANY: usize = 512;
        let by_folder = self.paths.len() >= MANY && !self.traits.intersects(Traits::EMPTY_SEGMENT);
        let entries = if by_folder { glob.entries() } else { None };
        match entries {
            Some(entries) => self.in_order(entries.iter().flat_map(|entry| self.below_any(entry)).collect()),
            None => self.in_order(self.found(glob)),
        }
    }

    /// Ranks of the paths that match by themselves or through a folder above them.
    fn below_any(&self, entry: &Glob) -> Vec<usize> {
        let mut found = self.found(entry);
        let folders = self.folders.get_or_init(|| Box::new(Index::new(self.by_folder().all().into_iter())));
        let mut matching: Vec<&str> =
            folders.found(entry).into_iter().map(|rank| folders.path(rank)).collect();
        matching.sort_unstable();
        // Paths below a matching folder are found already.
        matching.dedup_by(|below, above| below.starts_with(*above));
        matching.into_iter().for_each(|folder| found.extend(self.below(bare(folder))));
        found
    }

    /// Ranks of the paths that a glob without `!` matches, in any order and possibly repeated.
    fn found(&self, glob: &Glob) -> Vec<usize> {
        let candidates = self.candidates(glob);
        let mut matcher = Matcher::new(glob, candidates.len(self), self.traits);
        let mut found = Vec::new();
        let special = glob.dialect().special_traits().union(Traits::LINE_BREAK).union(Traits::FOLDER);
        let all_match = !special.intersects(self.traits) && glob.is_any_with_extension();
        let mut take = |ranks: &[usize]| match all_match {
            true => found.extend(ranks),
            false => found.extend(ranks.iter().filter(|&&rank| matcher.is_match(self.path(rank)))),
        };
        match candidates {
            Candidates::These(ranks) => take(ranks),
            Candidates::Below(ranks, folder) => {
                let named = self.by_name().of(name(folder)).iter();
                let itself: Vec<usize> = named.copied().filter(|at| bare(self.path(*at)) == folder).collect();
                take(&itself);
                take(ranks);
            }
            Candidates::Extensions(list) => extensions(list).for_each(|end| take(self.with_extension(end))),
        }
        // A pattern may match its own text, regardless of its other matches.
        found.extend(glob.own_text().map_or(&[][..], |text| self.equal_to(text)));
        found
    }

    /// The smallest known set of paths that contains every match except for the pattern's own text.
    fn candidates<'a>(&'a self, glob: &'a Glob) -> Candidates<'a> {
        /// With so few candidates, searching for a smaller set takes longer than matching them.
        const FEW: usize = 8;
        if glob.dialect().matches_folders_loosely() && self.traits.intersects(Traits::FOLDER) {
            return Candidates::These(&self.all);
        }
        let mut best = match glob.last() {
            Last::Unknown => Candidates::These(match glob.stem() {
                Some(stem) => self.by_stem().of(stem),
                None => &self.all,
            }),
            Last::Name(name) => Candidates::These(self.by_name().of(name)),
            Last::Extension(extension) => Candidates::These(self.with_extension(extension)),
            Last::Extensions(list) => Candidates::Extensions(list),
        };
        let mut fewest = best.len(self);
        if fewest > FEW
            && let Some(segment) = glob.segment()
        {
            let ranks = self.by_segment().of(segment);
            if ranks.len() < fewest {
                fewest = ranks.len();
                best = Candidates::These(ranks);
            }
        }
        if fewest > FEW && !glob.root().is_empty() {
            let ranks = self.below(glob.root());
            if ranks.len() < fewest {
                best = Candidates::Below(ranks, glob.root());
            }
        }
        best
    }

    fn by_name(&self) -> &Buckets {
        self.by_name.get_or_init(|| Buckets::new(self.keyed(|path| [name(path)])))
    }

    fn by_stem(&self) -> &Buckets {
        let stem = |path| name(path).split('.').next().unwrap_or_default();
        self.by_stem.get_or_init(|| Buckets::new(self.keyed(|path| [stem(path)])))
    }

    fn by_segment(&self) -> &Buckets {
        self.by_segment.get_or_init(|| Buckets::new(self.keyed(|path| bare(path).split('/'))))
    }

    /// The rank of every path with the hash of each of its keys.
    fn keyed<'s, K: IntoIterator<Item = &'s str>>(
        &'s self,
        keys: impl Fn(&'s str) -> K,
    ) -> Vec<(u64, usize)> {
        let paths = self.paths.iter().map(AsRef::as_ref).enumerate();
        paths.flat_map(|(rank, path)| keys(path).into_iter().map(move |key| (hash(key), rank))).collect()
    }

    fn with_extension(&self, extension: &str) -> &[usize] {
        self.by_extension.get(extension).map_or(&[], Vec::as_slice)
    }

    fn below(&self, folder: &str) -> &[usize] {
        self.by_folder().below(folder)
    }

    fn by_folder(&self) -> &Folders {
        self.by_folder.get_or_init(|| Folders::new(&self.paths))
    }

    fn equal_to(&self, path: &str) -> &[usize] {
        let start = self.special.partition_point(|&rank| self.path(rank) < path);
        let len = self.special[start..].iter().take_while(|&&rank| self.path(rank) == path).count();
        &self.special[start..start + len]
    }

    /// The positions of these ranks, sorted and deduplicated.
    fn in_order(&self, mut found: Vec<usize>) -> Vec<usize> {
        found.iter_mut().for_each(|at| *at = self.positions[*at]);
        if found.is_sorted() {
            found.dedup();
            return found;
        }
        // If many of the paths match, a bitmap is faster than sorting.
        if found.len() < 64.max(self.positions.len() / 64) {
            found.sort_unstable();
            found.dedup();
            return found;
        }
        let last = found.iter().max().map_or(0, |last| last + 1);
        let mut marks = vec![0_u64; last.div_ceil(64)];
        found.drain(..).for_each(|at| marks[at / 64] |= 1 << (at % 64));
        for (word, &bits) in marks.iter().enumerate() {
            let mut bits = bits;
            while bits != 0 {
                found.push(word * 64 + bits.trailing_zeros() as usize);
                bits &= bits - 1;
            }
        }
        found
    }
}

/// Paths that may match.
enum Candidates<'a> {
    These(&'a [usize]),
    /// The paths below a folder, and the folder itself.
    Below(&'a [usize], &'a str),
    /// The paths with one of the extensions in this list.
    Extensions(&'a str),
}

impl Candidates<'_> {
    fn len<S: AsRef<str> + Default>(&self, index: &Index<S>) -> usize {
        match self {
            Candidates::These(ranks) | Candidates::Below(ranks, _) => ranks.len(),
            Candidates::Extensions(list) => {
                extensions(list).map(|extension| index.with_extension(extension).len()).sum()
            }
        }
    }
}

/// Ranks by the hash of a key. A collision only costs an unsuccessful match.
#[derive(Clone, Debug)]
struct Buckets {
    /// Sorted; parallel to `ranks`.
    hashes: Vec<u64>,
    ranks: Vec<usize>,
}

impl Buckets {
    fn new(mut keyed: Vec<(u64, usize)>) -> Buckets {
        keyed.sort_unstable();
        keyed.dedup();
        let (hashes, ranks) = keyed.into_iter().unzip();
        Buckets { hashes, ranks }
    }

    fn of(&self, key: &str) -> &[usize] {
        let hash = hash(key);
        let start = self.hashes.partition_point(|other| *other < hash);
        let len = self.hashes[start..].iter().take_while(|other| **other == hash).count();
        &self.ranks[start..start + len]
    }
}

/// Paths by folder. Neighbouring paths often share a folder, so few folders need sorting.
#[derive(Clone, Debug)]
struct Folders {
    /// Each folder with the index of its first rank; sorted as if every folder ended in a slash.
    folders: Vec<(String, usize)>,
    ranks: Vec<usize>,
}

impl Folders {
    fn new<S: AsRef<str>>(paths: &[S]) -> Folders {
        let parent = |rank: usize| parent(paths[rank].as_ref());
        let ranks: Vec<usize> = (0..paths.len()).collect();
        let runs = ranks.chunk_by(|a, b| parent(*a) == parent(*b));
        let mut runs: Vec<(&str, &[usize])> = runs.map(|run| (parent(run[0]), run)).collect();
        runs.sort_by(|a, b| with_slash(a.0).cmp(with_slash(b.0)));
        let mut sorted = Folders { folders: Vec::with_capacity(runs.len()), ranks: Vec::new() };
        for (folder, run) in runs {
            sorted.folders.push((folder.to_owned(), sorted.ranks.len()));
            sorted.ranks.extend_from_slice(run);
        }
        sorted
    }

    /// Every folder and its ancestors, each once and with a trailing slash.
    fn all(&self) -> Vec<String> {
        let above = |folder: &'_ str| {
            let ends = folder.match_indices('/').map(|(at, _)| at).chain([folder.len()]);
            ends.filter(|end| *end > 0).map(|end| format!("{}/", &folder[..end])).collect::<Vec<_>>()
        };
        let mut all: Vec<String> = self.folders.iter().flat_map(|(folder, _)| above(folder)).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The ranks in a folder and at any depth below it.
    fn below(&self, folder: &str) -> &[usize] {
        let is_below = |other: &str| {
            other.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let first = self.folders.partition_point(|(other, _)| with_slash(other).lt(with_slash(folder)));
        let len = self.folders[first..].partition_point(|(other, _)| is_below(other));
        let start = |at: usize| self.folders.get(at).map_or(self.ranks.len(), |(_, start)| *start);
        &self.ranks[start(first)..start(first + len)]
    }
}

fn with_slash(folder: &str) -> impl Iterator<Item = u8> {
    folder.bytes().chain([b'/'])
}

/// The path without a trailing slash.
fn bare(path: &str) -> &str {
    path.strip_suffix('/').unwrap_or(path)
}

/// The last segment of a path.
fn name(path: &str) -> &str {
    let path = bare(path);
    path.rsplit('/').next().unwrap_or(path)
}

/// The folder of a path.
fn parent(path: &str) -> &str {
    bare(path).rsplit_once('/').map_or("", |(parent, _)| parent)
}
