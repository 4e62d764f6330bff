//! Unsaved texts of an editor: they are read instead of what is on disk.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Texts by the canonical path of their file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overlay(Arc<BTreeMap<PathBuf, Unsaved>>);

/// The text of a file, and whether the file does not exist yet. A text of a file that was removed is not used: nothing
/// finds it on the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Unsaved {
    text: Arc<str>,
    is_new: bool,
}

impl Overlay {
    /// Collects texts by the canonical paths of their files, each with whether the file is yet to be created.
    pub fn new(texts: impl IntoIterator<Item = (PathBuf, Arc<str>, bool)>) -> Overlay {
        let texts = texts.into_iter().map(|(path, text, is_new)| (path, Unsaved { text, is_new }));
        Overlay(Arc::new(texts.collect()))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text of a file, by its path as given.
    pub fn text(&self, path: &Path) -> Option<&Arc<str>> {
        self.0.get(path).map(|unsaved| &unsaved.text)
    }

    pub(crate) fn texts(&self) -> impl Iterator<Item = (&Path, &Arc<str>)> {
        self.0.iter().map(|(path, unsaved)| (path.as_path(), &unsaved.text))
    }

    pub(crate) fn new_texts(&self) -> impl Iterator<Item = (&Path, &Arc<str>)> {
        let new = self.0.iter().filter(|(_, unsaved)| unsaved.is_new);
        new.map(|(path, unsaved)| (path.as_path(), &unsaved.text))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::homes::Homes;
    use crate::sources::Reach;
    use crate::workspace::Workspace;

    #[test]
    fn an_unsaved_text_replaces_the_file_by_any_of_its_names() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        for (path, text) in [(".cursor/rules/a.mdc", "saved"), ("AGENTS.md", "old")] {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs::write(root.join(path), text).unwrap();
        }
        let bodies = |texts: &[(&str, &str)]| {
            let unsaved =
                |(path, text): &(&str, &str)| (root.join(path), Arc::from(*text), path.starts_with("new"));
            let overlay = Overlay::new(texts.iter().map(unsaved));
            let workspace = Workspace::open_over(&[&root], Homes::default(), "", overlay).unwrap();
            let book = workspace.load(Reach::Tree).book;
            let enabled = book.rules().filter(|(_, off)| off.is_none());
            let mut bodies: Vec<String> = enabled.map(|(rule, _)| rule.body.to_string()).collect();
            bodies.sort();
            bodies
        };
        assert_eq!(bodies(&[]), ["old", "saved"]);
        assert_eq!(bodies(&[("AGENTS.md", "new"), ("missing.md", "x")]), ["new", "saved"]);
        assert_eq!(bodies(&[(".cursor/rules/a.mdc", "typed")]), ["old", "typed"]);
        // Files and folders that do not exist yet.
        assert_eq!(bodies(&[("new/AGENTS.md", "added")]), ["added", "old", "saved"]);
        let rule = "new/packages/.cursor/rules/b.mdc";
        assert_eq!(bodies(&[(rule, "added")]), ["added", "old", "saved"]);
        let settings = ("rulebook.toml", "[rules]\ndisabled_ids = [\"a\"]\n");
        assert_eq!(bodies(&[settings]), ["old", "saved"], "it was removed");
        fs::write(root.join("rulebook.toml"), "").unwrap();
        assert_eq!(bodies(&[settings]), ["old"]);
        fs::remove_file(root.join("rulebook.toml")).unwrap();
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(root.join("AGENTS.md"), root.join("CLAUDE.md")).unwrap();
            assert_eq!(bodies(&[("CLAUDE.md", "new")])[0], "new");
        }
    }
}
