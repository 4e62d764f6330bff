//! Finds files by words of their paths, while somebody types.

use rulebook::evidence::{Roots, Seen};

use super::Tree;

impl Tree {
    /// Finds the files whose path contains all the words, ignoring case.
    ///
    /// Paths that start with the first word come first, then those whose name does, then the others; shorter paths
    /// first. With several roots the paths are absolute.
    pub fn find(&self, words: &str, roots: &Roots, limit: usize) -> Vec<String> {
        let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
        let first = words.first().map_or("", String::as_str);
        let parts = self.fold(Vec::new, |found: &mut Vec<(u8, usize, String)>, files| {
            for Seen { path, root, .. } in files {
                let lower = path.to_lowercase();
                if !words.iter().all(|word| lower.contains(word.as_str())) {
                    continue;
                }
                let name = lower.rsplit('/').next().unwrap_or_default();
                let class = if lower.starts_with(first) { 0 } else { 1 + u8::from(!name.starts_with(first)) };
                let path =
                    if roots.roots.len() > 1 { format!("{}/{path}", roots.roots[root].path) } else { path };
                found.push((class, path.len(), path));
            }
            found.sort();
            found.truncate(limit);
        });
        let mut found: Vec<_> = parts.into_iter().flatten().collect();
        found.sort();
        found.truncate(limit);
        found.into_iter().map(|(.., path)| path).collect()
    }
}

#[cfg(test)]
mod tests {
    use rulebook::evidence::Root;

    use super::super::{Wanted, walk};
    use super::*;
    use crate::storage::Storage;

    #[test]
    fn files_are_found_by_words_nearest_first() {
        let folder = tempfile::tempdir().unwrap();
        for path in
            ["apps/web/Button.tsx", "apps/web/form/Button.test.tsx", "button/a.ts", "docs/about-buttons.md"]
        {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let path = folder.path().to_string_lossy().into_owned();
        let roots = Roots { roots: vec![Root { name: "r".into(), path, aliases: Vec::new() }], home: None };
        let tree = walk(&Storage::Disk, &roots, Wanted::Files, &|_| ());
        #[track_caller]
        fn check(tree: &Tree, roots: &Roots, words: &str, found: &[&str]) {
            assert_eq!(tree.find(words, roots, 3), found, "{words}");
        }
        check(
            &tree,
            &roots,
            "button",
            &["button/a.ts", "apps/web/Button.tsx", "apps/web/form/Button.test.tsx"],
        );
        check(&tree, &roots, "test apps", &["apps/web/form/Button.test.tsx"]);
        check(&tree, &roots, "nowhere", &[]);
    }
}
