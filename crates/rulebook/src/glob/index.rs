//! Paths prepared for many globs.

use std::cell::OnceCell;
use std::collections::HashMap;

use super::plain::{Last, extensions};
use super::traits::Traits;
use super::{Asked, Glob};

/// Paths sorted and bucketed, so that a glob looks only at those it could match.
///
/// Inside, a path goes by its rank in sorted order, and the texts lie side by side in that order:
/// with many paths, most of the time would go into fetching them from all over memory.
#[derive(Clone, Debug)]
pub struct PathIndex<'p> {
    text: String,
    /// Where each path ends in `text`.
    ends: Vec<usize>,
    /// Each path's position as given. Empty paths, which nothing matches, have no rank.
    positions: Vec<usize>,
    all: Vec<usize>,
    paths: Vec<&'p str>,
    by_extension: HashMap<&'p str, Vec<usize>>,
    by_name: HashMap<&'p str, Vec<usize>>,
    /// By every segment, and by what stands before the first dot of the name; where a glob asks for it.
    by_segment: OnceCell<HashMap<&'p str, Vec<usize>>>,
    by_stem: OnceCell<HashMap<&'p str, Vec<usize>>>,
    /// Paths that a pattern could be equal to without matching it.
    odd: Vec<usize>,
    /// What some path is like.
    traits: Traits,
}

impl<'p> PathIndex<'p> {
    /// Prepares `paths`; answers are positions in their order.
    pub fn new(paths: impl IntoIterator<Item = &'p str>) -> PathIndex<'p> {
        let given = paths.into_iter().enumerate().filter(|(_, path)| !path.is_empty());
        let mut sorted: Vec<(usize, &str)> = given.collect();
        sorted.sort_by_key(|(_, path)| *path);
        let mut index = PathIndex {
            text: String::with_capacity(sorted.iter().map(|(_, path)| path.len()).sum()),
            ends: Vec::with_capacity(sorted.len()),
            positions: sorted.iter().map(|(at, _)| *at).collect(),
            all: (0..sorted.len()).collect(),
            paths: sorted.iter().map(|(_, path)| *path).collect(),
            by_extension: HashMap::new(),
            by_name: HashMap::new(),
            by_segment: OnceCell::new(),
            by_stem: OnceCell::new(),
            odd: Vec::new(),
            traits: sorted.iter().fold(Traits::default(), |traits, (_, path)| traits.and(Traits::of(path))),
        };
        for (rank, (_, path)) in sorted.into_iter().enumerate() {
            index.add(rank, path);
        }
        index
    }

    fn add(&mut self, rank: usize, path: &'p str) {
        self.text += path;
        self.ends.push(self.text.len());
        if is_odd(path) {
            self.odd.push(rank);
        }
        let name = name(path);
        self.by_name.entry(name).or_default().push(rank);
        if let Some((_, extension)) = name.rsplit_once('.') {
            self.by_extension.entry(extension).or_default().push(rank);
        }
    }

    fn path(&self, rank: usize) -> &str {
        let start = if rank == 0 { 0 } else { self.ends[rank - 1] };
        &self.text[start..self.ends[rank]]
    }

    /// Positions of the paths the glob matches, ascending.
    ///
    /// Says the same as asking [`Glob::is_match`] for each path, but looks at few of them.
    pub fn matches(&self, glob: &Glob) -> Vec<usize> {
        // The buckets know paths only in the case they are written in.
        let is_cased = glob.dialect().folds() && self.traits.touch(Traits::CASED);
        if glob.is_negated() || is_cased {
            let mut asked = Asked::new(glob, self.all.len(), self.traits);
            let matching = |rank: &usize| glob.answer(self.path(*rank), |path| asked.fits(path));
            return self.in_order(self.all.iter().copied().filter(matching).collect());
        }
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
            Candidates::Extensions(list) => extensions(list).for_each(|end| take(self.with_extension(end))),
        }
        // A pattern may match itself, whatever it asks of other paths.
        found.extend(glob.itself().map_or(&[][..], |text| self.equal_to(text)));
        self.in_order(found)
    }

    /// The fewest paths known to contain every match but the pattern itself.
    fn candidates<'a>(&'a self, glob: &'a Glob) -> Candidates<'a> {
        /// With so few to verify, looking for fewer takes longer.
        const FEW: usize = 8;
        let mut best = match glob.last() {
            Last::Unknown => Candidates::These(match glob.stem() {
                Some(stem) => bucket(self.by_stem(), stem),
                None => &self.all,
            }),
            Last::Name(name) => Candidates::These(bucket(&self.by_name, name)),
            Last::Extension(extension) => Candidates::These(self.with_extension(extension)),
            Last::Extensions(list) => Candidates::Extensions(list),
        };
        let mut fewest = best.len(self);
        if fewest > FEW
            && let Some(segment) = glob.segment()
        {
            let ranks = bucket(self.by_segment(), segment);
            if ranks.len() < fewest {
                fewest = ranks.len();
                best = Candidates::These(ranks);
            }
        }
        if fewest > FEW && !glob.prefix().is_empty() {
            let ranks = self.starting_with(glob.prefix());
            if ranks.len() < fewest {
                best = Candidates::These(ranks);
            }
        }
        best
    }

    fn by_stem(&self) -> &HashMap<&'p str, Vec<usize>> {
        self.by_stem.get_or_init(|| {
            let mut by_stem: HashMap<&str, Vec<usize>> = HashMap::new();
            for (rank, path) in self.paths.iter().enumerate() {
                let name = name(path);
                by_stem.entry(name.split_once('.').map_or(name, |(stem, _)| stem)).or_default().push(rank);
            }
            by_stem
        })
    }

    fn by_segment(&self) -> &HashMap<&'p str, Vec<usize>> {
        self.by_segment.get_or_init(|| {
            let mut by_segment: HashMap<&str, Vec<usize>> = HashMap::new();
            for (rank, path) in self.paths.iter().enumerate() {
                for segment in path.strip_suffix('/').unwrap_or(path).split('/') {
                    let ranks = by_segment.entry(segment).or_default();
                    if ranks.last() != Some(&rank) {
                        ranks.push(rank);
                    }
                }
            }
            by_segment
        })
    }

    fn with_extension(&self, extension: &str) -> &[usize] {
        bucket(&self.by_extension, extension)
    }

    fn starting_with(&self, prefix: &str) -> &[usize] {
        let start = self.all.partition_point(|&rank| self.path(rank) < prefix);
        let len = self.all[start..].partition_point(|&rank| self.path(rank).starts_with(prefix));
        &self.all[start..start + len]
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
    /// Those with one of the extensions in this list.
    Extensions(&'a str),
}

impl Candidates<'_> {
    fn len(&self, index: &PathIndex<'_>) -> usize {
        match self {
            Candidates::These(ranks) => ranks.len(),
            Candidates::Extensions(list) => {
                extensions(list).map(|extension| index.with_extension(extension).len()).sum()
            }
        }
    }
}

/// The last segment.
fn name(path: &str) -> &str {
    let path = path.strip_suffix('/').unwrap_or(path);
    path.rsplit('/').next().unwrap_or(path)
}

/// Whether the path has signs that mean something in a pattern.
pub(super) fn is_odd(path: &str) -> bool {
    let is_common = |c: u8| c.is_ascii_alphanumeric() || c >= 0x80 || matches!(c, b'_' | b'-' | b'.' | b'/');
    path.starts_with("./") || !path.bytes().all(is_common)
}

fn bucket<'i>(buckets: &'i HashMap<&str, Vec<usize>>, key: &str) -> &'i [usize] {
    buckets.get(key).map_or(&[], Vec::as_slice)
}
