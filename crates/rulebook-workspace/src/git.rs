//! The little of git that rules depend on, read from its files: no process is started.

use std::fs;
use std::path::{Path, PathBuf};

use crate::bounded;

/// The current branch; nothing when detached or outside a repository.
pub fn branch(root: &Path) -> Option<String> {
    let git = root.ancestors().map(|dir| dir.join(".git")).find(|git| git.exists())?;
    let head = read_small(&git_dir(&git)?.join("HEAD"))?;
    head.trim().strip_prefix("ref: refs/heads/").map(str::to_owned)
}

/// The folder all worktrees of a repository share.
pub fn common_dir(root: &Path) -> Option<PathBuf> {
    let dir = git_dir(&root.join(".git"))?;
    let common = match read_small(&dir.join("commondir")) {
        Some(common) => dir.join(common.trim()),
        None => dir,
    };
    fs::canonicalize(common).ok()
}

/// Whether a folder is another checkout of the repository whose checkout the root is.
pub(crate) fn is_worktree_of(folder: &Path, root: &Path) -> bool {
    fs::symlink_metadata(folder.join(".git")).is_ok_and(|git| git.is_file())
        && common_dir(folder).is_some_and(|common| common_dir(root) == Some(common))
}

/// `.git` is a folder, or in a worktree a file that names one.
fn git_dir(git: &Path) -> Option<PathBuf> {
    if git.is_dir() {
        return Some(git.to_owned());
    }
    let text = read_small(git)?;
    let named = text.trim().strip_prefix("gitdir:")?.trim();
    Some(git.parent()?.join(named))
}

/// What git writes there is one line. A link may lead to something that says it has no length and does not end.
fn read_small(path: &Path) -> Option<String> {
    const MAX: usize = 4096;
    let bytes = bounded::read(path, MAX).ok().flatten().filter(|bytes| bytes.len() <= MAX)?;
    String::from_utf8(bytes).ok()
}
