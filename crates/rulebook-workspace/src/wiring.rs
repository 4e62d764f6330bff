//! Wiring: how the files of a host connect it to Rulebook.

mod entries;
mod yaml;

use std::path::{Path, PathBuf};

use rulebook::agent::Wiring;

use crate::homes::Homes;
use crate::hosts::{HOSTS, Host, HostFile, Syntax};
use crate::storage::Storage;
use entries::{lists_plugin, lists_server, runs_hook};

pub use entries::{
    CONTINUE, PLUGIN, SERVER, SILENCE, hook_of, is_hook_command, is_our_program, is_written_for, without_end,
};
pub use yaml::{Section, document, section};

/// A path below the home folder, or below the folder that a variable of the host names.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct UserPath {
    /// The path.
    pub path: PathBuf,
    /// The home folder, or the one that the variable names.
    pub base: PathBuf,
    /// As shown to people: `~/.claude`, `$CODEX_HOME/hooks.json`.
    pub shown: String,
}

/// A connection of a host to Rulebook, found in one of its files.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct WiredBy {
    /// What the file wires.
    pub wiring: Wiring,
    /// Whether it is the file of another host too, and so does not show that this one is used.
    pub is_shared: bool,
}

/// Decides whether a command line runs the hook of a host, given the line and the name of the host.
pub type IsHook<'c> = &'c dyn Fn(&str, &str) -> bool;

impl Host {
    /// Resolves a path below the home folder; `None` if there is no home.
    pub fn user_path(&self, homes: &Homes, path: &str) -> Option<UserPath> {
        let slashed = format!("{path}/");
        let moved = self.moved.iter().find_map(|(variable, replaces)| {
            let below = slashed.strip_prefix(replaces)?.trim_end_matches('/').to_owned();
            let (_, base) = homes.moved.iter().find(|(name, _)| name == variable)?;
            Some((base.clone(), below, format!("${variable}")))
        });
        let (base, below, prefix) = match moved {
            Some(moved) => moved,
            None => (homes.home.clone()?, path.to_owned(), "~".to_owned()),
        };
        let shown = if below.is_empty() { prefix } else { format!("{prefix}/{below}") };
        Some(UserPath { path: base.join(below), base, shown })
    }

    /// How the files of a workspace root wire it.
    pub fn wired_in(&self, root: &Path, is_hook: IsHook<'_>) -> Vec<WiredBy> {
        self.wired_among(&Storage::Disk, root, is_hook)
    }

    /// The same among any files.
    pub(crate) fn wired_among(&self, among: &Storage, root: &Path, is_hook: IsHook<'_>) -> Vec<WiredBy> {
        let files = self.every_file().filter_map(|file| Some((file, root.join(file.workspace?))));
        let personal = self.personal.iter().map(|path| (&self.files[0], root.join(path)));
        let mut found = self.wired_by(among, files.chain(personal), is_hook);
        let of_server = |found: &&mut WiredBy| found.wiring == Wiring::Mcp;
        found.iter_mut().filter(of_server).for_each(|found| {
            found.is_shared = self.is_server_of_another(among, root, is_hook);
        });
        found
    }

    /// Whether the server in a workspace is that of another host: the file is listed for it first, or its hooks are there.
    fn is_server_of_another(&self, among: &Storage, root: &Path, is_hook: IsHook<'_>) -> bool {
        let server = |host: &Host| {
            let file = host.files.iter().find(|file| file.wiring == Wiring::Mcp);
            file.and_then(|file| file.workspace)
        };
        let Some(own) = server(self) else { return false };
        let has_hooks = |host: &'static Host| {
            let hooks = host.every_file().filter(|file| file.wiring == Wiring::Hook);
            let hooks = hooks.filter_map(|file| Some((file, root.join(file.workspace?))));
            !host.wired_by(among, hooks, is_hook).is_empty()
        };
        let others = HOSTS.iter().filter(|host| server(host) == Some(own));
        let is_first = others.clone().next().is_some_and(|host| host.name == self.name);
        !is_first || others.filter(|host| host.name != self.name).any(has_hooks)
    }

    /// How the files in the home folder wire it.
    pub fn wired_at_home(&self, homes: &Homes, is_hook: IsHook<'_>) -> Vec<WiredBy> {
        let path = |file: &'static HostFile| Some((file, self.user_path(homes, file.user?)?.path));
        self.wired_by(&Storage::Disk, self.every_file().filter_map(path), is_hook)
    }

    /// Its files, and those that earlier versions wrote.
    fn every_file(&self) -> impl Iterator<Item = &'static HostFile> {
        self.files.iter().chain(self.former)
    }

    fn wired_by(
        &self,
        among: &Storage,
        files: impl Iterator<Item = (&'static HostFile, PathBuf)>,
        is_hook: IsHook<'_>,
    ) -> Vec<WiredBy> {
        let wired = files.filter(|(file, path)| self.is_wired_by(among, file, path, is_hook));
        wired.map(|(file, _)| WiredBy { wiring: file.wiring, is_shared: false }).collect()
    }

    fn is_wired_by(&self, among: &Storage, file: &HostFile, path: &Path, is_hook: IsHook<'_>) -> bool {
        /// Settings files of hosts are small; a larger one is not read.
        const MAX_FILE: usize = 1 << 20;
        let with_comments = path.with_extension("jsonc");
        let path =
            if file.syntax == Syntax::Jsonc && among.exists(&with_comments) { &with_comments } else { path };
        let Ok(Some(text)) = among.text(path, MAX_FILE) else { return false };
        let is_ours = |line: &str| is_hook(line, self.name);
        match (file.syntax, file.wiring) {
            (Syntax::Own, _) => is_written_for(&text, self.name) || text.lines().any(is_ours),
            (Syntax::Listed, _) => false,
            (Syntax::Jsonc, Wiring::Hook) => {
                lists_plugin(&text) && path.parent().is_some_and(|folder| among.exists(&folder.join(PLUGIN)))
            }
            (_, Wiring::Hook) => runs_hook(&text, &is_ours),
            (syntax, _) => lists_server(&text, syntax),
        }
    }
}
