//! Where a host's files are: in the workspace, in the home folder, or in the folder that a variable of the host names.

use std::path::PathBuf;

use anyhow::Context as _;
use rulebook_workspace::Homes;
use rulebook_workspace::hosts::{HostFile, Syntax};
use rulebook_workspace::wiring::UserPath;

use super::hosts::Host;
use crate::args::Args;
use crate::input::open_workspace;

/// The workspace or the home folder.
pub(super) struct Destination {
    pub(super) is_user: bool,
    pub(super) base: PathBuf,
    homes: Homes,
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
        let homes = Homes::from_environment();
        let base = if is_user {
            homes.home.clone().context("no home folder found: set HOME, or omit `--user`")?
        } else {
            PathBuf::from(&open_workspace(args)?.roots.roots[0].path)
        };
        Ok(Destination { is_user, base, homes })
    }

    pub(super) fn path_of(&self, host: &Host, file: &HostFile) -> HostPath {
        let at_home = host.row().user_path(&self.homes, file.user).filter(|_| self.is_user);
        let own = match at_home {
            Some(UserPath { path, base, shown, .. }) => HostPath { path, base, shown },
            None => HostPath {
                path: self.base.join(file.workspace),
                base: self.base.clone(),
                shown: file.workspace.to_owned(),
            },
        };
        if file.syntax != Syntax::Jsonc {
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
