//! Whether agents will find the program that `install` names.

use std::ffi::OsStr;
use std::path::{Component, Path};

/// Folders of programs that `npx` and `uvx` remove again.
const TEMPORARY: [&str; 3] = ["_npx", "archive-v0", "builds-v0"];

/// How the file of a program may end, here.
const ENDINGS: &[&str] = if cfg!(windows) { &[".exe", ".cmd", ".bat", ""] } else { &[""] };

/// Says what to do if a program that is named without its folder is not on the `PATH` to stay.
pub(super) fn missing(program: &str, path: &OsStr, is_file: &dyn Fn(&Path) -> bool) -> Option<String> {
    let is_temporary = |part: Component<'_>| TEMPORARY.iter().any(|name| part.as_os_str() == *name);
    // An empty folder is the current one, wherever the agent is.
    let stays = |folder: &Path| !folder.as_os_str().is_empty() && !folder.components().any(is_temporary);
    let has =
        |folder: &Path| ENDINGS.iter().any(|ending| is_file(&folder.join(format!("{program}{ending}"))));
    let is_named_by_path = program.contains(['/', '\\']);
    if is_named_by_path || std::env::split_paths(path).any(|folder| stays(&folder) && has(&folder)) {
        return None;
    }
    Some(format!(
        "`{program}` is not on the `PATH`: agents cannot run it until you install it, or name its file with `--command`"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_must_be_on_the_path_to_stay() {
        #[track_caller]
        fn check(program: &str, folders: &[&str], is_missing: bool) {
            let path = std::env::join_paths(folders).unwrap();
            let is_file = |file: &Path| file.file_stem() == Some(OsStr::new("rulebook"));
            assert_eq!(missing(program, &path, &is_file).is_some(), is_missing, "{program} {folders:?}");
        }
        check("rulebook", &["/opt/bin"], false);
        check("rulebook", &[], true);
        check("rb", &["/opt/bin"], true);
        check("/opt/rb", &[], false);
        check("rulebook", &["/home/me/.npm/_npx/1a2b/node_modules/.bin"], true);
        check("rulebook", &["/home/me/.npm/_npx/1a2b/node_modules/.bin", "/opt/bin"], false);
        check("rulebook", &["/home/me/.cache/uv/archive-v0/x/bin"], true);
    }
}
