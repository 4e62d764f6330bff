//! The user's folders, as the environment names them.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use rulebook::format::Base;

use crate::hosts;

/// The folders of a person's own rules, settings and state.
#[derive(Clone, Debug, Default)]
pub struct Homes {
    /// `~`.
    pub home: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`, or `~/.config`.
    pub config: Option<PathBuf>,
    /// `XDG_CACHE_HOME`, or `~/.cache`.
    pub cache: Option<PathBuf>,
    /// `XDG_STATE_HOME`, or `~/.local/state`.
    pub state: Option<PathBuf>,
    /// The root of an administrator's files: the file system's root.
    pub system: Option<PathBuf>,
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
        let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = folder("HOME").or_else(|| folder("USERPROFILE"));
        let below = |path: &str| home.as_ref().map(|home| home.join(path));
        Homes {
            config: folder("XDG_CONFIG_HOME").or_else(|| below(".config")),
            cache: folder("XDG_CACHE_HOME").or_else(|| below(".cache")),
            state: folder("XDG_STATE_HOME").or_else(|| below(".local/state")),
            moved: hosts::variables().filter_map(|name| Some((name, folder(name)?))).collect(),
            home,
            system: Some(PathBuf::from(if cfg!(windows) { r"C:\" } else { "/" })),
        }
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
