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
        Rechecked { views, readers: files.into_iter().map(|file| (file.path, file.readers)).collect() }
    }
}
