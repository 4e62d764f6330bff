//! The few facts about git that rules depend on, read from its files: no process is started.

use std::path::{Path, PathBuf};

use crate::storage::{FileKind, Storage};

/// The current branch; `None` when detached or outside a repository.
pub(crate) fn branch(files: &Storage, root: &Path) -> Option<String> {
    let git = root.ancestors().map(|dir| dir.join(".git")).find(|git| files.exists(git))?;
    let head = read_line(files, &git_dir(files, &git)?.join("HEAD"))?;
    head.strip_prefix("ref: refs/heads/").map(str::to_owned)
}

/// The folder that all worktrees of a repository share.
pub(crate) fn common_dir(files: &Storage, root: &Path) -> Option<PathBuf> {
    let dir = git_dir(files, &root.join(".git"))?;
    let common = match read_line(files, &dir.join("commondir")) {
        Some(common) => dir.join(common),
        None => dir,
    };
    files.canonical(&common).ok()
}

/// Whether a folder is another worktree of the root's repository.
pub(crate) fn is_worktree_of(files: &Storage, folder: &Path, root: &Path) -> bool {
    files.own_kind(&folder.join(".git")).is_some_and(FileKind::is_file)
        && common_dir(files, folder).is_some_and(|common| common_dir(files, root) == Some(common))
}

/// `.git` is a folder, or in a worktree a file that names one.
fn git_dir(files: &Storage, git: &Path) -> Option<PathBuf> {
    if files.is_folder(git) {
        return Some(git.to_owned());
    }
    let text = read_line(files, git)?;
    let named = text.strip_prefix("gitdir:")?.trim();
    Some(git.parent()?.join(named))
}

/// Reads one of git's files of a single line. The limit stops at a link to a device without end.
fn read_line(files: &Storage, path: &Path) -> Option<String> {
    const MAX: usize = 4096;
    Some(files.text(path, MAX).ok()??.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_worktree_has_its_own_branch() {
        let folder = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        put("main/.git/HEAD", "ref: refs/heads/main\n");
        put("main/.git/worktrees/wt/commondir", "../..\n");
        put("main/.git/worktrees/wt/HEAD", "ref: refs/heads/topic/x\n");
        put("wt/.git", &format!("gitdir: {}\n", folder.path().join("main/.git/worktrees/wt").display()));
        put("main/deep/er/x", "");
        put("detached/.git/HEAD", "0123456789abcdef\n");
        let branch = |path: &str| branch(&Storage::Disk, &folder.path().join(path));
        assert_eq!(branch("wt").as_deref(), Some("topic/x"));
        assert_eq!(branch("main/deep/er").as_deref(), Some("main"));
        assert_eq!(branch("detached"), None);
    }
}
