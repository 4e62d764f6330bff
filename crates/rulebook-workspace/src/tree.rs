//! The tree: every file that git would not ignore.

use std::path::Path;

use rulebook::evidence::{Seen, Via};

/// The files below a root.
pub(crate) fn files(root: usize, path: &Path) -> impl Iterator<Item = Seen> {
    let walk = ignore::WalkBuilder::new(path)
        .hidden(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build();
    walk.filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .filter_map(move |entry| {
            let relative = entry.path().strip_prefix(path).ok()?;
            let path = relative.to_string_lossy().replace('\\', "/");
            Some(Seen { path, root, sources: vec![Via::Argument] })
        })
}
