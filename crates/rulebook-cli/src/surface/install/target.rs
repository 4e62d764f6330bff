//! Where a host's files lie: below the workspace, below home, or where a variable of the host says.

use std::path::PathBuf;

use anyhow::Context as _;
use rulebook_workspace::Homes;

use super::hosts::{FileKind, Host, Wire};
use crate::args::Args;
use crate::input::open_workspace;

/// The workspace, or home.
pub(super) struct Target {
    pub(super) is_user: bool,
    pub(super) base: PathBuf,
}

/// A file or folder of a host.
#[derive(Clone)]
pub(super) struct Spot {
    pub(super) path: PathBuf,
    /// Nothing outside it is written.
    pub(super) base: PathBuf,
    pub(super) shown: String,
}

impl Target {
    pub(super) fn find(args: &Args, is_user: bool) -> anyhow::Result<Target> {
        let base = if is_user {
            Homes::from_environment()
                .home
                .context("there is no home folder: set HOME, or leave out `--user`")?
        } else {
            PathBuf::from(&open_workspace(args)?.roots.roots[0].path)
        };
        Ok(Target { is_user, base })
    }

    /// Where a wire of the host goes.
    pub(super) fn spot(&self, host: &Host, wire: &Wire) -> Spot {
        let spot =
            |path: &str| if self.is_user { host_spot(host, &self.base, path) } else { self.below(path) };
        let own = spot(if self.is_user { wire.user } else { wire.workspace });
        if !matches!(wire.kind, FileKind::Jsonc(_)) {
            return own;
        }
        let other =
            Spot { path: own.path.with_extension("jsonc"), shown: format!("{}c", own.shown), ..own.clone() };
        if other.path.exists() { other } else { own }
    }

    fn below(&self, path: &str) -> Spot {
        Spot { path: self.base.join(path), base: self.base.clone(), shown: path.to_owned() }
    }
}

/// A path of the host below home, unless a variable says that it lies elsewhere.
pub(super) fn host_spot(host: &Host, home: &std::path::Path, path: &str) -> Spot {
    let slashed = format!("{path}/");
    let moved = host.moved.iter().find_map(|(variable, stands_for)| {
        let below = slashed.strip_prefix(stands_for)?.trim_end_matches('/').to_owned();
        let base = std::env::var_os(variable).map(PathBuf::from).filter(|base| base.is_absolute())?;
        Some((base, below, format!("${variable}")))
    });
    let (base, below, sign) = moved.unwrap_or_else(|| (home.to_owned(), path.to_owned(), "~".to_owned()));
    let shown = if below.is_empty() { sign } else { format!("{sign}/{below}") };
    Spot { path: base.join(below), base, shown }
}
