//! What is known about the files around the rules. The disk side looks it up; lints judge.

use std::collections::{BTreeSet, HashSet};

use crate::agent::Agent;
use crate::rule::Rule;
use crate::syntax::Syntax;

/// The files around the rules, as far as they are known.
pub struct Surroundings<'s> {
    /// Returns the text of a rule's file.
    pub text_of: &'s dyn Fn(&Rule) -> Option<String>,
    /// Whether a file or folder exists, by its root and its path in it.
    pub exists: &'s dyn Fn(usize, &str) -> bool,
    /// Returns the text of a file, by its root and its path in it.
    pub text_at: &'s dyn Fn(usize, &str) -> Option<String>,
    /// Returns the files of a root whose paths end so, at most two: `guide.md`, `review/SKILL.md`.
    pub ending: &'s dyn Fn(usize, &str) -> Vec<String>,
    /// Whether a rule's file is a link.
    pub is_link: &'s dyn Fn(&Rule) -> bool,
    /// Returns the canonical path of a rule's file in its root, if it is there.
    pub real_path: &'s dyn Fn(&Rule) -> Option<String>,
    /// The names that can be run, by their runner.
    pub scripts: Vec<(Runner, Names)>,
    /// The lock files of package managers in the tree, and the managers that `package.json` declares.
    pub locks: Vec<LockFile>,
    /// The agents used here; empty if that is unknown.
    pub agents: Vec<&'static Agent>,
    /// The agents and the files that they find and do not use, because they use another one.
    pub unused: HashSet<(&'static str, String)>,
    /// Who parses code.
    pub parser: Option<&'s dyn Syntax>,
}

/// Runs scripts by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Runner {
    /// The `scripts` of `package.json`.
    Package,
    /// The targets of a `Makefile`.
    Make,
    /// The recipes of a `justfile`.
    Just,
}

/// The names that a file defines.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// All names.
    pub names: BTreeSet<String>,
    /// Whether there may be more: it includes other files, or has patterns.
    pub is_open: bool,
}

/// A lock file of a package manager.
#[derive(Clone, Debug)]
pub struct LockFile {
    /// The root and the folder that it is in.
    pub folder: (usize, String),
    /// The package manager.
    pub manager: &'static str,
    /// Whether `packageManager` in `package.json` declares it, and no lock file.
    pub is_declared: bool,
}
