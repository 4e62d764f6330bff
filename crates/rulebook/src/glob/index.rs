//! Paths prepared for many globs.

use std::cell::OnceCell;
use std::collections::HashMap;

use super::plain::{Last, extensions};
use super::set::hash;
use super::traits::Traits;
use super::{Asked, Glob, fold};

/// Paths bucketed, so that a glob looks only at those it could match.
#[derive(Clone, Debug)]
pub struct PathIndex<'p> {
    written: Index<&'p str>,
    /// The same in one case, for globs that do not look at it; positions there are ranks here.
    folded: OnceCell<Index<String>>,
}

impl<'p> PathIndex<'p> {
    /// Prepares `paths`; answers are positions in their order.
    pub fn new(paths: impl IntoIterator<Item = &'p str>) -> PathIndex<'p> {
        PathIndex { written: Index::new(paths.into_iter()), folded: OnceCell::new() }
    }

    /// Positions of the paths the glob matches, ascending.
    ///
    /// Says the same as asking [`Glob::is_match`] for each path, but looks at few of them.
    pub fn matches(&self, glob: &Glob) -> Vec<usize> {
        let written = &self.written;
        // Buckets know paths only in the case they are written in.
        if glob.dialect().folds() && written.traits.touch(Traits::CASED) {
            let fold = |path: &&str| fold::fold(path).into_owned();
            let folded = self.folded.get_or_init(|| Index::new(written.paths.iter().map(fold)));
            return written.in_order(folded.matches(glob));
        }
        written.matches(glob)
    }
}

/// An index of paths as they are.
///
/// Inside, a path goes by its rank: its place among those that are not empty, which nothing matches.
#[derive(Clone, Debug)]
struct Index<S> {
    paths: Vec<S>,
    /// Each path's position as given.
    positions: Vec<usize>,
    all: Vec<usize>,
    by_extension: HashMap<String, Vec<usize>>,
    /// By the last segment, by what stands before its first dot, and by every segment; where a glob asks for it.
    by_name: OnceCell<Buckets>,
    by_stem: OnceCell<Buckets>,
    by_segment: OnceCell<Buckets>,
    by_folder: OnceCell<Folders>,
    /// The folders themselves, for globs that match all below one.
    folders: OnceCell<Box<Index<String>>>,
    /// Paths that a pattern could be equal to without matching it, sorted.
    odd: Vec<usize>,
    /// What some path is like.
    traits: Traits,
}

impl<S: AsRef<str>> Index<S> {
    fn new(paths: impl Iterator<Item = S>) -> Index<S> {
        let given = paths.enumerate().filter(|(_, path)| !path.as_ref().is_empty());
        let (positions, paths): (Vec<usize>, Vec<S>) = given.unzip();
        let mut by_extension: HashMap<String, Vec<usize>> = HashMap::new();
        let mut odd: Vec<usize> = Vec::new();
        let mut traits = Traits::default();
        for (rank, path) in paths.iter().map(AsRef::as_ref).enumerate() {
            traits = traits.and(Traits::of(path));
            if is_odd(path) {
                odd.push(rank);
            }
            let Some((_, extension)) = name(path).rsplit_once('.') else { continue };
            match by_extension.get_mut(extension) {
                Some(ranks) => ranks.push(rank),
                None => drop(by_extension.insert(extension.to_owned(), vec![rank])),
            }
        }
        odd.sort_by_key(|rank| paths[*rank].as_ref());
        Index {
            positions,
            all: (0..paths.len()).collect(),
            paths,
            by_extension,
            by_name: OnceCell::new(),
            by_stem: OnceCell::new(),
            by_segment: OnceCell::new(),
            by_folder: OnceCell::new(),
            folders: OnceCell::new(),
            odd,
            traits,
        }
    }

    fn path(&self, rank: usize) -> &str {
        self.paths[rank].as_ref()
    }

    fn matches(&self, glob: &Glob) -> Vec<usize> {
        if glob.is_negated() {
            let mut asked = Asked::new(glob, self.all.len(), self.traits);
            let matching = |rank: &usize| glob.answer(self.path(*rank), |path| asked.fits(path));
            return self.in_order(self.all.iter().copied().filter(matching).collect());
        }
        // With fewer, reading the pattern anew takes longer.
        const MANY: usize = 512;
        let is_worth_it = self.paths.len() >= MANY;
        match is_worth_it.then(|| glob.entries()).flatten() {
            Some(entries) => self.in_order(entries.iter().flat_map(|entry| self.below_any(entry)).collect()),
            None => self.in_order(self.found(glob)),
        }
    }

    /// Ranks of the paths that match by themselves or by a folder above them.
    fn below_any(&self, entry: &Glob) -> Vec<usize> {
        let mut found = self.found(entry);
        let folders = self.folders.get_or_init(|| Box::new(Index::new(self.by_folder().all().into_iter())));
        let mut matching: Vec<&str> =
            folders.found(entry).into_iter().map(|rank| folders.path(rank)).collect();
        matching.sort_unstable();
        // What is below one that matches is there already.
        matching.dedup_by(|below, above| below.starts_with(*above));
        matching.into_iter().for_each(|folder| found.extend(self.below(bare(folder))));
        found
    }

    /// Ranks of the paths a glob without `!` matches, in any order, some perhaps twice.
    fn found(&self, glob: &Glob) -> Vec<usize> {
        let candidates = self.candidates(glob);
        let mut asked = Asked::new(glob, candidates.len(self), self.traits);
        let mut found = Vec::new();
        let minded = glob.dialect().minds().and(Traits::LINE_BREAK).and(Traits::FOLDER);
        let says_all = !minded.touch(self.traits) && glob.is_any_with_extension();
        let mut take = |ranks: &[usize]| match says_all {
            true => found.extend(ranks),
            false => found.extend(ranks.iter().filter(|&&rank| asked.fits(self.path(rank)))),
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
        // A pattern may match itself, whatever it asks of other paths.
        found.extend(glob.itself().map_or(&[][..], |text| self.equal_to(text)));
        found
    }

    /// The fewest paths known to contain every match but the pattern itself.
    fn candidates<'a>(&'a self, glob: &'a Glob) -> Candidates<'a> {
        /// With so few to verify, looking for fewer takes longer.
        const FEW: usize = 8;
        if glob.dialect().is_loose() && self.traits.touch(Traits::FOLDER) {
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

    /// Every path's rank with the hash of each of its keys.
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
        let start = self.odd.partition_point(|&rank| self.path(rank) < path);
        let len = self.odd[start..].iter().take_while(|&&rank| self.path(rank) == path).count();
        &self.odd[start..start + len]
    }

    /// The positions of these ranks, ascending, each once.
    fn in_order(&self, mut found: Vec<usize>) -> Vec<usize> {
        found.iter_mut().for_each(|at| *at = self.positions[*at]);
        if found.is_sorted() {
            found.dedup();
            return found;
        }
        // Where a fair part of many paths matches, marking them is quicker than sorting.
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

/// Paths to be verified.
enum Candidates<'a> {
    These(&'a [usize]),
    /// Those in a folder, and what has its path.
    Below(&'a [usize], &'a str),
    /// Those with one of the extensions in this list.
    Extensions(&'a str),
}

impl Candidates<'_> {
    fn len<S: AsRef<str>>(&self, index: &Index<S>) -> usize {
        match self {
            Candidates::These(ranks) | Candidates::Below(ranks, _) => ranks.len(),
            Candidates::Extensions(list) => {
                extensions(list).map(|extension| index.with_extension(extension).len()).sum()
            }
        }
    }
}

/// Ranks by the hash of what their paths have. Two that hash alike are only asked in vain.
#[derive(Clone, Debug)]
struct Buckets {
    /// Sorted, each beside its rank.
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

/// Paths by folder. Neighbours often share theirs, so that few folders are to be sorted.
#[derive(Clone, Debug)]
struct Folders {
    /// Each with where its ranks begin; sorted as if a slash ended them.
    folders: Vec<(String, usize)>,
    ranks: Vec<usize>,
}

impl Folders {
    fn new<S: AsRef<str>>(paths: &[S]) -> Folders {
        let parent = |rank: usize| parent(paths[rank].as_ref());
        let ranks: Vec<usize> = (0..paths.len()).collect();
        let runs = ranks.chunk_by(|a, b| parent(*a) == parent(*b));
        let mut runs: Vec<(&str, &[usize])> = runs.map(|run| (parent(run[0]), run)).collect();
        runs.sort_by(|a, b| ended(a.0).cmp(ended(b.0)));
        let mut sorted = Folders { folders: Vec::with_capacity(runs.len()), ranks: Vec::new() };
        for (folder, run) in runs {
            sorted.folders.push((folder.to_owned(), sorted.ranks.len()));
            sorted.ranks.extend_from_slice(run);
        }
        sorted
    }

    /// Every folder, and every one above it, once; each ends in a slash.
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
        let first = self.folders.partition_point(|(other, _)| ended(other).lt(ended(folder)));
        let len = self.folders[first..].partition_point(|(other, _)| is_below(other));
        let start = |at: usize| self.folders.get(at).map_or(self.ranks.len(), |(_, start)| *start);
        &self.ranks[start(first)..start(first + len)]
    }
}

fn ended(folder: &str) -> impl Iterator<Item = u8> {
    folder.bytes().chain([b'/'])
}

/// Without the slash that ends a directory.
fn bare(path: &str) -> &str {
    path.strip_suffix('/').unwrap_or(path)
}

/// The last segment.
fn name(path: &str) -> &str {
    let path = bare(path);
    path.rsplit('/').next().unwrap_or(path)
}

/// What stands before the last segment.
fn parent(path: &str) -> &str {
    bare(path).rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// Whether the path has signs that mean something in a pattern.
pub(super) fn is_odd(path: &str) -> bool {
    let is_common = |c: u8| c.is_ascii_alphanumeric() || c >= 0x80 || matches!(c, b'_' | b'-' | b'.' | b'/');
    path.starts_with("./") || !path.bytes().all(is_common)
}
