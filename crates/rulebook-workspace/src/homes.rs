//! The user's folders, as the environment names them.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use rulebook::format::{Base, FORMATS};

use crate::hosts;

/// The folders of a person's own rules, settings and state.
#[derive(Clone, Debug, Default)]
pub struct Homes {
    /// `~`.
    pub home: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`, or `~/.config`.
    pub config: Option<PathBuf>,
    /// `XDG_CACHE_HOME`, or `~/.cache`; on Windows `%LOCALAPPDATA%`.
    pub cache: Option<PathBuf>,
    /// `XDG_STATE_HOME`, or `~/.local/state`; on Windows `%LOCALAPPDATA%`.
    pub state: Option<PathBuf>,
    /// The root of an administrator's files: the file system's root.
    pub system: Option<PathBuf>,
    /// The numbers of the user, where files have owners. Folders above a root count only if one of them owns it.
    pub owners: Vec<u32>,
    /// Where the variables of hosts move their folders to.
    pub moved: Vec<(&'static str, PathBuf)>,
}

/// A name as text. Checking a whole name costs less than looking for its invalid parts.
pub(crate) fn shown_name(name: &OsStr) -> Cow<'_, str> {
    name.to_str().map_or_else(|| name.to_string_lossy(), Cow::Borrowed)
}

/// A path with POSIX separators; on POSIX a `\` is a letter like any other.
pub(crate) fn posix(path: &Path) -> String {
    let path = shown_name(path.as_os_str());
    if cfg!(windows) { path.trim_start_matches(r"\\?\").replace('\\', "/") } else { path.into_owned() }
}

impl Homes {
    /// Reads the environment. Empty and relative variables are ignored.
    pub fn from_environment() -> Homes {
        Homes::named_by(&|name| std::env::var_os(name), cfg!(windows))
    }

    /// The variables that name the home folder, the one that agents read first.
    #[must_use]
    pub fn variables(is_windows: bool) -> [&'static str; 2] {
        if is_windows { ["USERPROFILE", "HOME"] } else { ["HOME", "USERPROFILE"] }
    }

    /// Reads variables. On Windows, programs keep their state in `LOCALAPPDATA`.
    fn named_by(variable: &dyn Fn(&str) -> Option<OsString>, is_windows: bool) -> Homes {
        let folder = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = Homes::variables(is_windows).into_iter().find_map(folder);
        let below = |path: &str| home.as_ref().map(|home| home.join(path));
        let local = folder("LOCALAPPDATA").filter(|_| is_windows);
        Homes {
            config: folder("XDG_CONFIG_HOME").or_else(|| below(".config")),
            cache: folder("XDG_CACHE_HOME").or_else(|| local.clone()).or_else(|| below(".cache")),
            state: folder("XDG_STATE_HOME").or(local).or_else(|| below(".local/state")),
            moved: hosts::variables().filter_map(|name| Some((name, folder(name)?))).collect(),
            home,
            owners: owners(),
            system: Some(PathBuf::from(if is_windows { r"C:\" } else { "/" })),
        }
    }

    /// Whether the user made a file or folder, and what it leads to if it is a link. Git trusts repositories by this rule.
    pub(crate) fn own(&self, path: &Path) -> bool {
        self.owners.is_empty() || is_owned(path, &self.owners)
    }

    /// The folders and files of the user's own rules.
    pub(crate) fn rule_places(&self) -> impl Iterator<Item = PathBuf> {
        let own = FORMATS.iter().flat_map(|format| format.user);
        own.filter_map(|place| self.base(place.base).map(|base| base.join(place.path)))
    }

    /// The folder that a user place is relative to, if it is known.
    pub(crate) fn base(&self, base: Base) -> Option<&Path> {
        let folder = match base {
            Base::Config => &self.config,
            Base::Home | Base::Root | Base::Top => &self.home,
            Base::System => &self.system,
        };
        folder.as_deref()
    }

    /// A path as shown to people: `~/…` below home.
    pub fn shown(&self, path: &Path) -> String {
        let below = self.home.as_ref().and_then(|home| path.strip_prefix(home).ok());
        let shown = below.map_or_else(|| path.to_path_buf(), |rest| Path::new("~").join(rest));
        posix(&shown)
    }

    /// Expands a leading `~/`.
    pub(crate) fn expand(&self, path: &str) -> PathBuf {
        match (path.strip_prefix("~/"), &self.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => PathBuf::from(path),
        }
    }
}

/// The user, and the one who called `sudo`.
#[cfg(unix)]
fn owners() -> Vec<u32> {
    let user = rustix::process::geteuid();
    let caller = std::env::var("SUDO_UID").ok().filter(|_| user.is_root()).and_then(|id| id.parse().ok());
    [user.as_raw()].into_iter().chain(caller).collect()
}

#[cfg(unix)]
fn is_owned(path: &Path, owners: &[u32]) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let found = [std::fs::symlink_metadata(path), std::fs::metadata(path)];
    found.into_iter().all(|found| found.is_ok_and(|found| owners.contains(&found.uid())))
}

#[cfg(not(unix))]
fn owners() -> Vec<u32> {
    Vec::new()
}

#[cfg(not(unix))]
fn is_owned(_: &Path, _: &[u32]) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Home, cache and state by these variables, below the root of the disk.
    #[track_caller]
    fn check(is_windows: bool, variables: &[(&str, &str)], wanted: [&str; 3]) {
        let root = if cfg!(windows) { r"C:\" } else { "/" };
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, path)| OsString::from(format!("{root}{path}")))
        };
        let Homes { home, cache, state, .. } = Homes::named_by(&variable, is_windows);
        let wanted = wanted.map(|path| Some(PathBuf::from(format!("{root}{path}"))));
        assert_eq!([home, cache, state], wanted);
    }

    #[test]
    fn each_system_has_its_own_folders() {
        check(false, &[("HOME", "me")], ["me", "me/.cache", "me/.local/state"]);
        check(false, &[("HOME", "me"), ("LOCALAPPDATA", "local")], ["me", "me/.cache", "me/.local/state"]);
        let windows = [("HOME", "shell"), ("USERPROFILE", "me"), ("LOCALAPPDATA", "local")];
        check(true, &windows, ["me", "local", "local"]);
        let moved = [("USERPROFILE", "me"), ("LOCALAPPDATA", "local"), ("XDG_STATE_HOME", "state")];
        check(true, &moved, ["me", "local", "state"]);
        check(true, &[("HOME", "me")], ["me", "me/.cache", "me/.local/state"]);
    }
}
