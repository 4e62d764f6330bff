//! Measures many globs over many paths against globset and, if it has run before, picomatch in Node.
//!
//! `globs FOLDER write` writes the input for Node; `globs FOLDER` measures.

use std::path::Path;
use std::time::Duration;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use rulebook::glob::{Dialect, Glob, PathIndex, PatternSet};
use rulebook_bench::globs;
use rulebook_bench::sample::{Sample, ms};

const PATTERNS: usize = 1000;
const ROUNDS: usize = 5;
/// The number of paths for Node.
const PEER_PATHS: usize = 2000;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().expect("a folder");
    let folder = Path::new(&folder);
    if arguments.next().is_some() {
        std::fs::write(folder.join("patterns.txt"), globs::patterns(PATTERNS).join("\n")).expect("written");
        std::fs::write(folder.join("paths.txt"), globs::paths(PEER_PATHS).join("\n")).expect("written");
        return;
    }
    let patterns = globs::patterns(PATTERNS);
    println!("{:<34} {:>9} {:>9} {:>12}", "1,000 patterns", "min ms", "median", "ns per pair");
    building(&patterns);
    let peer = peer(folder);
    for count in [100, 100_000] {
        matching(&patterns, &globs::paths(count), peer);
    }
    ignoring_case(&patterns, globs::paths(100_000));
}

/// Measures dialects that ignore case, over paths with some capitals.
fn ignoring_case(patterns: &[String], mut paths: Vec<String>) {
    paths.iter_mut().step_by(10).for_each(|path| path.make_ascii_uppercase());
    let pairs = patterns.len() * paths.len();
    for dialect in [Dialect::Picomatch, Dialect::Claude, Dialect::VsCode] {
        let took = Sample::of(ROUNDS, || by_path_index(patterns, &paths, dialect));
        show(&format!("some in capitals, index, {dialect:?}"), &took, pairs);
    }
}

fn show(what: &str, took: &Sample, pairs: usize) {
    let per = took.min().as_nanos() as f64 / pairs as f64;
    println!("{what:<34} {:>9.3} {:>9.3} {per:>12.3}", ms(took.min()), ms(took.median()));
}

fn building(patterns: &[String]) {
    let ours = Sample::of(ROUNDS * 4, || {
        PatternSet::new(&read(patterns, Dialect::Picomatch)).matches("a", &mut Vec::new())
    });
    let theirs = Sample::of(ROUNDS, || set(patterns));
    println!("{:<34} {:>9.3} {:>9.3}", "build", ms(ours.min()), ms(ours.median()));
    println!("{:<34} {:>9.3} {:>9.3}", "build, globset", ms(theirs.min()), ms(theirs.median()));
}

fn matching(patterns: &[String], paths: &[String], peer: Option<(usize, f64)>) {
    let pairs = patterns.len() * paths.len();
    let what = |tool: &str| format!("{} paths, {tool}", paths.len());
    let ours = Sample::of(ROUNDS, || by_pattern_set(patterns, paths));
    show(&what("build and match"), &ours, pairs);
    let index = Sample::of(ROUNDS, || by_path_index(patterns, paths, Dialect::Picomatch));
    show(&what("index of paths"), &index, pairs);
    // globset is much slower and runs less often.
    let theirs = Sample::of(1, || by_globset(patterns, paths));
    show(&what("globset"), &theirs, pairs);
    let found = by_pattern_set(patterns, paths);
    assert_eq!(found, by_path_index(patterns, paths, Dialect::Picomatch), "the set and the index differ");
    let few = &paths[..paths.len().min(PEER_PATHS)];
    assert_eq!(by_pattern_set(patterns, few), by_globset(patterns, few), "globset differs");
    let times = |other: Duration| other.as_secs_f64() / ours.min().as_secs_f64();
    print!("{:<34} {:>8.1}x globset", "", times(theirs.min()));
    if let Some((_, nanoseconds)) = peer {
        print!(
            ", {:.0}x picomatch in Node ({nanoseconds:.1} ns per pair)",
            nanoseconds * pairs as f64 / ours.min().as_nanos() as f64
        );
    }
    println!(", {} matches", found);
    if let Some((hits, _)) = peer.filter(|_| few.len() == PEER_PATHS) {
        assert_eq!(hits, by_pattern_set(patterns, few), "picomatch differs");
    }
}

fn read(patterns: &[String], dialect: Dialect) -> Vec<Glob> {
    patterns.iter().map(|pattern| Glob::new(pattern, dialect).expect("a pattern")).collect()
}

fn by_pattern_set(patterns: &[String], paths: &[String]) -> usize {
    let globs = read(patterns, Dialect::Picomatch);
    let mut set = PatternSet::new(&globs);
    let mut found = Vec::new();
    let hits = paths.iter().map(|path| {
        set.matches(path, &mut found);
        found.len()
    });
    hits.sum()
}

fn by_path_index(patterns: &[String], paths: &[String], dialect: Dialect) -> usize {
    let index = PathIndex::new(paths.iter().map(String::as_str));
    read(patterns, dialect).iter().map(|glob| index.matches(glob).len()).sum()
}

fn set(patterns: &[String]) -> GlobSet {
    let mut builder = GlobSetBuilder::new();
    for pattern in patterns {
        builder.add(GlobBuilder::new(pattern).literal_separator(true).build().expect("a pattern"));
    }
    builder.build().expect("a set")
}

fn by_globset(patterns: &[String], paths: &[String]) -> usize {
    let set = set(patterns);
    let mut found = Vec::new();
    let hits = paths.iter().map(|path| {
        set.matches_into(path, &mut found);
        found.len()
    });
    hits.sum()
}

/// The number of matches in Node, and nanoseconds per pair.
fn peer(folder: &Path) -> Option<(usize, f64)> {
    let text = std::fs::read_to_string(folder.join("peer.txt")).ok()?;
    let (hits, nanoseconds) = text.trim().split_once(' ')?;
    Some((hits.parse().ok()?, nanoseconds.parse().ok()?))
}
