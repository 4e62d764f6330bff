//! Where a host's files are: in the workspace, in the home folder, or in the folder that a variable of the host names.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use rulebook_workspace::Homes;

use super::hosts::{FileKind, Host, HostFile};
use crate::args::Args;
use crate::input::open_workspace;

/// The workspace or the home folder.
pub(super) struct Destination {
    pub(super) is_user: bool,
    pub(super) base: PathBuf,
}

/// The path of a host's file or folder.
#[derive(Clone)]
pub(super) struct HostPath {
    pub(super) path: PathBuf,
    /// The folder outside of which nothing is written.
    pub(super) base: PathBuf,
    pub(super) shown: String,
}

impl Destination {
    pub(super) fn find(args: &Args, is_user: bool) -> anyhow::Result<Destination> {
        let base = if is_user {
            Homes::from_environment().home.context("no home folder found: set HOME, or omit `--user`")?
        } else {
            PathBuf::from(&open_workspace(args)?.roots.roots[0].path)
        };
        Ok(Destination { is_user, base })
    }

    pub(super) fn path_of(&self, host: &Host, file: &HostFile) -> HostPath {
        let own = if self.is_user {
            below_home(host, &self.base, file.user)
        } else {
            HostPath {
                path: self.base.join(file.workspace),
                base: self.base.clone(),
                shown: file.workspace.to_owned(),
            }
        };
        if !matches!(file.kind, FileKind::Jsonc(_)) {
            return own;
        }
        let with_comments = HostPath {
            path: own.path.with_extension("jsonc"),
            shown: format!("{}c", own.shown),
            ..own.clone()
        };
        if with_comments.path.exists() { with_comments } else { own }
    }
}

/// Resolves a path below the home folder, or below the folder that the host's variable names.
pub(super) fn below_home(host: &Host, home: &Path, path: &str) -> HostPath {
    let slashed = format!("{path}/");
    let moved = host.moved.iter().find_map(|(variable, stands_for)| {
        let below = slashed.strip_prefix(stands_for)?.trim_end_matches('/').to_owned();
        let base = std::env::var_os(variable).map(PathBuf::from).filter(|base| base.is_absolute())?;
        Some((base, below, format!("${variable}")))
    });
    let (base, below, prefix) = moved.unwrap_or_else(|| (home.to_owned(), path.to_owned(), "~".to_owned()));
    let shown = if below.is_empty() { prefix } else { format!("{prefix}/{below}") };
    HostPath { path: base.join(below), base, shown }
}
