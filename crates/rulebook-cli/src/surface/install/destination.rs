//! Where a host's files are: in the workspace, in the home folder, or in the folder that a variable of the host names.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use rulebook_workspace::Homes;
use rulebook_workspace::hosts::{HostFile, Syntax};
use rulebook_workspace::wiring::{IsHook, UserPath, WiredBy};
use rulebook_workspace::write::Owner;

use super::hosts::Host;
use crate::args::{Args, Wiring};
use crate::input::open_workspace;

/// The workspace or the home folder.
pub(super) struct Destination {
    pub(super) is_user: bool,
    /// Whether it is a person's own file in the workspace.
    pub(super) is_personal: bool,
    pub(super) base: PathBuf,
    homes: Homes,
}

/// The path of a host's file or folder.
#[derive(Clone)]
pub(super) struct HostPath {
    pub(super) path: PathBuf,
    /// The folder that it belongs to.
    pub(super) base: PathBuf,
    pub(super) shown: String,
    /// Whether it is in the person's home.
    pub(super) is_user: bool,
}

impl HostPath {
    /// Where links may lead: in the home they are the person's own.
    pub(super) fn owner(&self) -> Owner<'_> {
        if self.is_user { Owner::Person } else { Owner::Repository(&self.base) }
    }

    /// Explains why the file cannot be read, if a file is in the place of its folder.
    pub(super) fn explained(&self, error: io::Error) -> io::Error {
        let mut shown = Path::new(&self.shown).ancestors().skip(1);
        let mut paths = self.path.ancestors().skip(1);
        let is_file = |path: &Path| path.is_file();
        let folder = std::iter::from_fn(|| shown.next().zip(paths.next())).find(|(_, path)| is_file(path));
        match folder.filter(|_| error.kind() == io::ErrorKind::NotADirectory) {
            Some((folder, _)) => io::Error::other(format!(
                "`{0}` is a file; move it into a folder of that name, such as `{0}/rules.md`",
                folder.display()
            )),
            None => error,
        }
    }
}

impl Destination {
    pub(super) fn find(args: &Args, wiring: &Wiring) -> anyhow::Result<Destination> {
        let Wiring { user: is_user, personal: is_personal, .. } = *wiring;
        let homes = Homes::from_environment();
        let base = if is_user {
            homes.home.clone().context("no home folder found: set HOME, or omit `--user`")?
        } else {
            PathBuf::from(&open_workspace(args)?.roots.roots[0].path)
        };
        Ok(Destination { is_user, is_personal, base, homes })
    }

    /// Whether colleagues get the files too.
    pub(super) fn is_shared(&self) -> bool {
        !self.is_user && !self.is_personal
    }

    /// Returns the word in output.
    pub(super) fn scope(&self) -> &'static str {
        match (self.is_user, self.is_personal) {
            (true, _) => "user",
            (_, true) => "personal",
            _ => "workspace",
        }
    }

    /// How the host is wired there.
    pub(super) fn wired(&self, host: &Host, is_hook: IsHook<'_>) -> Vec<WiredBy> {
        if self.is_user {
            host.row().wired_at_home(&self.homes, is_hook)
        } else {
            host.row().wired_in(&self.base, is_hook)
        }
    }

    /// A path in the workspace.
    pub(super) fn path(&self, path: &str) -> HostPath {
        let base = self.base.clone();
        HostPath { path: base.join(path), base, shown: path.to_owned(), is_user: self.is_user }
    }

    /// Returns where a file of the host is; `None` if the host reads no such file there.
    pub(super) fn path_of(&self, host: &Host, file: &HostFile) -> Option<HostPath> {
        let own = if self.is_user {
            let UserPath { path, base, shown, .. } = host.row().user_path(&self.homes, file.user?)?;
            // A folder that a variable names may be made by us, and is then removed like the others.
            let is_home = self.homes.home.as_ref() == Some(&base);
            let base = base.parent().filter(|_| !is_home).map(Path::to_owned).unwrap_or(base);
            HostPath { path, base, shown, is_user: true }
        } else {
            let personal = host.row().personal.first().filter(|_| self.is_personal);
            let path = personal.copied().or(file.workspace)?;
            self.path(path)
        };
        if file.syntax != Syntax::Jsonc {
            return Some(own);
        }
        let with_comments = HostPath {
            path: own.path.with_extension("jsonc"),
            shown: format!("{}c", own.shown),
            ..own.clone()
        };
        Some(if with_comments.path.exists() { with_comments } else { own })
    }
}
