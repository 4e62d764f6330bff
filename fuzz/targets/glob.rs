//! A glob, then a path, in every dialect: single matches, the index and the set agree.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rulebook::glob::{Dialect, Glob, PathIndex, PatternSet, split_list};

fuzz_target!(|data: &str| {
    let Some((pattern, path)) = data.split_once('\n') else { return };
    split_list(pattern);
    for dialect in Dialect::all() {
        let Ok(glob) = Glob::new(pattern, dialect) else { continue };
        let is_match = glob.is_match(path);
        assert_eq!(PathIndex::new([path]).matches(&glob).contains(&0), is_match, "{dialect:?}");
        let globs = [glob];
        let mut found = Vec::new();
        PatternSet::new(&globs).matches(path, &mut found);
        assert_eq!(found.contains(&0), is_match, "{dialect:?}");
    }
});
