//! Settings of agents that decide which files they read.

use super::place::{Base, Place, PlaceKind};

/// A settings file of an agent, and a key in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfigKey {
    /// What the path is relative to: a workspace root, or a folder of the user.
    pub base: Base,
    /// The settings file. Its extension decides how it is read: YAML, TOML, or JSON with comments.
    pub path: &'static str,
    /// The key, with the tables that hold it.
    pub key: &'static [&'static str],
}

/// What the value of a key does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigEffect {
    /// It lists files to read: paths and globs relative to the root, `~/…`, addresses.
    Files,
    /// It lists names of files to read in every folder, too.
    Names,
    /// It lists names of files to read in every folder, instead of the format's own.
    OnlyNames,
    /// It lists names of files, of which the first is read in every folder without one of the agent's own files.
    Fallbacks,
    /// It lists globs of absolute paths that are not read.
    Excludes,
    /// It is a map of folders to read, each with `true` or `false`.
    Folders,
    /// If it is `false`, the format is not read.
    Switch,
}

/// A setting of an agent that decides which files of a format it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Where the setting is.
    pub at: ConfigKey,
    /// What it does.
    pub effect: ConfigEffect,
}

impl Config {
    pub(crate) const fn new(
        effect: ConfigEffect,
        base: Base,
        path: &'static str,
        key: &'static [&'static str],
    ) -> Config {
        Config { at: ConfigKey { base, path, key }, effect }
    }

    /// Whether it adds files. Such a setting counts for what the author meant too; others count for the agent only.
    pub fn adds(&self) -> bool {
        !matches!(self.effect, ConfigEffect::Excludes | ConfigEffect::Switch)
    }
}

/// The place of files that an agent's settings name, which can be anywhere.
pub static NAMED: Place = Place::new(Base::Root, "", PlaceKind::Named);
