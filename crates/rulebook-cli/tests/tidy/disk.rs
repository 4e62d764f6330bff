//! Who may touch the disk: one module opens files, one writes them, and few start programs.

use super::sources;

/// Calls that open, list, write or remove files, or start programs. Questions about a path, such as its canonical form,
/// open nothing.
const CALLS: &[&str] = &[
    "File::open",
    "File::create",
    "File::options",
    "OpenOptions::new",
    "DirBuilder::new",
    "fs::read(",
    "fs::read_to_string(",
    "fs::read_dir(",
    ".read_dir(",
    "fs::write(",
    "fs::copy(",
    "fs::rename(",
    "fs::remove_",
    "fs::create_dir",
    "fs::hard_link(",
    "fs::symlink(",
    "fs::set_permissions(",
    "rustix::fs::open",
    "rustix::fs::renameat",
    "rustix::fs::unlinkat",
    "rustix::fs::mkdirat",
    "tempfile::",
    "tokio::fs",
    "Command::new",
];

/// The modules that may, and why.
const MODULES: &[(&str, &str)] = &[
    ("crates/rulebook-cli/src/surface/acp/mod.rs", "starts the agent after `acp --`"),
    ("crates/rulebook-cli/src/surface/proxy/child.rs", "starts the program after `proxy --`"),
    ("crates/rulebook-cli/src/surface/ui/mod.rs", "starts the browser"),
    ("crates/rulebook-workspace/src/read.rs", "opens files to read them"),
    ("crates/rulebook-workspace/src/revision.rs", "asks git for `diff`"),
    ("crates/rulebook-workspace/src/write/folder.rs", "writes files of an open folder"),
    ("crates/rulebook-workspace/src/write/scratch.rs", "writes a temporary folder"),
    ("crates/rulebook-workspace/src/write.rs", "writes files"),
];

#[test]
fn one_module_opens_files_and_one_writes_them() {
    let shipped = sources().into_iter().filter(|(path, _)| {
        path.starts_with("crates/")
            && path.contains("/src/")
            && !path.ends_with("/tests.rs")
            && !path.contains("/tests/")
    });
    let mut found: Vec<String> = Vec::new();
    for (path, text) in shipped {
        // Modules that only tests compile are declared with `#[cfg(test)]` elsewhere.
        if path.ends_with("/wire/peers.rs") {
            continue;
        }
        let code = text.split("\n#[cfg(test)]").next().unwrap_or_default();
        let calls: Vec<&&str> = CALLS.iter().filter(|call| code.contains(**call)).collect();
        if calls.is_empty() {
            continue;
        }
        assert!(
            MODULES.iter().any(|(module, _)| *module == path),
            "{path} has {calls:?}; use `rulebook_workspace::read` or `write`"
        );
        found.push(path);
    }
    let known: Vec<&str> = MODULES.iter().map(|(module, _)| *module).collect();
    assert_eq!(found, known, "a module of the table no longer touches the disk");
}
