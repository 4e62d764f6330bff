//! Unsaved texts of an editor: they are read instead of what is on disk.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Texts by the path of their file. A text of a file that does not exist on disk is not used: nothing finds it there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overlay(Arc<BTreeMap<PathBuf, Arc<str>>>);

impl Overlay {
    /// Collects texts by the absolute paths of their files.
    pub fn new(texts: impl IntoIterator<Item = (PathBuf, Arc<str>)>) -> Overlay {
        Overlay(Arc::new(texts.into_iter().collect()))
    }

    /// The text of a file, by its path as given.
    pub fn text(&self, path: &Path) -> Option<&Arc<str>> {
        self.0.get(path)
    }

    pub(crate) fn texts(&self) -> impl Iterator<Item = (&Path, &Arc<str>)> {
        self.0.iter().map(|(path, text)| (path.as_path(), text))
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
            let texts = texts.iter().map(|(path, text)| (root.join(path), Arc::from(*text)));
            let workspace = Workspace::open_with(&[&root], Homes::default(), "").unwrap();
            let book = workspace.over(Overlay::new(texts)).load(Reach::Tree).book;
            let mut bodies: Vec<String> = book.rules().map(|(rule, _)| rule.body.to_string()).collect();
            bodies.sort();
            bodies
        };
        assert_eq!(bodies(&[]), ["old", "saved"]);
        assert_eq!(bodies(&[("AGENTS.md", "new"), ("missing.md", "x")]), ["new", "saved"]);
        assert_eq!(bodies(&[(".cursor/rules/a.mdc", "typed")]), ["old", "typed"]);
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(root.join("AGENTS.md"), root.join("CLAUDE.md")).unwrap();
            assert_eq!(bodies(&[("CLAUDE.md", "new")])[0], "new");
        }
    }
}
