//! Checking again and again, while somebody edits the rules.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use rulebook::fix::Readers;

use crate::agents::UsedAgent;
use crate::load::Readings;
use crate::sources::{Reach, Sources};
use crate::tree::Tree;
use crate::views::Views;
use crate::workspace::Workspace;

/// Everything that `check` finds, and what is needed to fix some of the files.
#[derive(Debug)]
#[non_exhaustive]
pub struct Rechecked {
    /// The rules as meant, with the diagnostics of `check`, and as each agent reads them.
    pub views: Views,
    /// Everyone who reads each of the files that were asked for, by canonical path.
    pub readers: HashMap<PathBuf, Readers>,
    /// The unsaved texts that nothing was read from: changes of them change nothing here.
    pub unused: HashSet<PathBuf>,
}

impl Workspace {
    /// Checks all rules, as `check` does. Files that did not change since an earlier check with these readings are not
    /// parsed again. `edited` names, as shown to people, the files whose readers are needed.
    pub fn recheck(
        &self,
        tree: &Tree,
        readings: &Readings,
        agents: Vec<UsedAgent>,
        edited: &HashSet<&str>,
    ) -> Rechecked {
        let sources: Sources<'_> = self.sources_since(Reach::Walked(tree), readings);
        let views = sources.views_with(sources.checked(tree), agents);
        let files = if edited.is_empty() { Vec::new() } else { sources.fixable_files(edited) };
        readings.drop_unused();
        let unused = sources.disk.unused_texts().into_iter().collect();
        Rechecked {
            views,
            unused,
            readers: files.into_iter().map(|file| (file.path, file.readers)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use super::*;
    use crate::homes::Homes;
    use crate::overlay::Overlay;
    use crate::{AgentSearch, Wanted};

    #[test]
    fn a_text_that_no_rule_depends_on_is_unused() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        let files = [
            (".cursor/rules/a.mdc", "---\nglobs: src/**\n---\nA.\n"),
            ("CLAUDE.md", "Read @docs/style.md\n"),
            ("docs/style.md", "Be brief.\n"),
            ("docs/other.md", "Other.\n"),
            ("src/a.ts", "let x = 1;\n"),
        ];
        for (path, text) in files {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs::write(root.join(path), text).unwrap();
        }
        let overlay = Overlay::new(files.map(|(path, text)| (root.join(path), Arc::from(text), false)));
        let workspace = Workspace::open_over(&[&root], Homes::default(), "", overlay).unwrap();
        let tree = workspace.tree(Wanted::All, &|_| ());
        let agents = workspace.agents_used(AgentSearch::WorkspaceAndHome);
        let found = workspace.recheck(&tree, &Readings::default(), agents, &HashSet::new());
        let mut unused: Vec<PathBuf> = found.unused.into_iter().collect();
        unused.sort();
        assert_eq!(unused, ["docs/other.md", "src/a.ts"].map(|path| root.join(path)));
    }
}
