//! A list of patterns matched against many paths, one by one.

use super::matcher::Matcher;
use super::patterns::PatternList;
use super::traits::Traits;

impl PatternList {
    /// Whether the list matches each of these paths. Same as [`PatternList::decide`] for each, but faster for many.
    pub(crate) fn matches_each(&self, paths: &[&str]) -> Vec<bool> {
        if self.matches_folders_first() {
            return paths.iter().map(|path| self.decide(path).matches).collect();
        }
        let traits = paths.iter().map(|path| Traits::of(path)).fold(Traits::default(), Traits::union);
        let is_open = self.only_excludes();
        let mut matched: Vec<bool> = paths.iter().map(|path| is_open && !path.is_empty()).collect();
        for excludes in [false, true] {
            for (_, glob) in self.globs(excludes) {
                let mut matcher = Matcher::new(glob, paths.len(), traits);
                for (path, matched) in
                    paths.iter().zip(&mut matched).filter(|(_, matched)| **matched == excludes)
                {
                    let is_hit = glob.is_match_with(path, |path| matcher.is_match(path));
                    *matched = is_hit != excludes;
                }
            }
        }
        matched
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Dialect, PatternList};

    #[test]
    fn many_paths_are_matched_as_one_by_one() {
        let paths = [
            "a.ts",
            "src/a.ts",
            "src/.h/.n/x.ts",
            "SRC/A.TS",
            "src/é.ts",
            "src/gen/b.ts",
            "",
            "app/[id]/p.tsx",
            "x/",
        ];
        let lists = [
            &["src/**"][..],
            &["src/**/*.{ts,tsx}", "!src/gen/**"],
            &["!src/**"],
            &["app/[id]/*.tsx", "*"],
            &["src/{**,**/.*,**/.*/.*/**}", "+(a|b).ts"],
            &["[!a]*", "!(x)", "(?=a)"],
        ];
        for dialect in Dialect::all() {
            for list in lists {
                let list = PatternList::new(list.iter().copied(), dialect, |_, _| {});
                let want: Vec<bool> = paths.iter().map(|path| list.decide(path).matches).collect();
                assert_eq!(list.matches_each(&paths), want, "{dialect:?} {list:?}");
            }
        }
    }
}
