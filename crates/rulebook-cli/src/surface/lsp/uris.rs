//! The addresses of files as the editor spells them. It may have opened a folder through a link, or escape other characters.

use std::collections::HashMap;

use rulebook_workspace::Workspace;

use super::protocol::uri_of;

/// One spelling for each file.
#[derive(Default)]
pub(super) struct Uris {
    /// Of open documents, by the path that rules have.
    open: HashMap<String, String>,
    /// The canonical path of each root that was opened by another one, and that one.
    roots: Vec<(String, String)>,
}

impl Uris {
    /// `open` are the paths and addresses of open documents.
    pub(super) fn new(workspace: &Workspace, open: impl IntoIterator<Item = (String, String)>) -> Uris {
        let roots = workspace.roots.roots.iter();
        let roots = roots.filter_map(|root| Some((root.path.clone(), root.aliases.first()?.clone())));
        Uris { open: open.into_iter().collect(), roots: roots.collect() }
    }

    /// The address of a file by its path.
    pub(super) fn of(&self, path: &str) -> String {
        let renamed = |(root, given): &(String, String)| {
            let rest = path.strip_prefix(root.as_str()).filter(|rest| rest.starts_with('/'))?;
            Some(uri_of(&format!("{given}{rest}")))
        };
        let known = self.open.get(path).cloned();
        known.or_else(|| self.roots.iter().find_map(renamed)).unwrap_or_else(|| uri_of(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_the_address_that_the_editor_uses() {
        #[track_caller]
        fn check(uris: &Uris, path: &str, wanted: &str) {
            assert_eq!(uris.of(path), wanted);
        }
        let uris = Uris {
            open: [("/real/a@b.md".to_owned(), "file:///link/a@b.md".to_owned())].into(),
            roots: vec![("/real".to_owned(), "/link".to_owned())],
        };
        check(&uris, "/real/a@b.md", "file:///link/a@b.md");
        check(&uris, "/real/c d.md", "file:///link/c%20d.md");
        check(&uris, "/really/x.md", "file:///really/x.md");
    }
}
