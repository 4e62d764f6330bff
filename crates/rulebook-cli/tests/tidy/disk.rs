//! Who may touch the disk: one module opens files, one writes them, and few start programs.

use std::collections::BTreeSet;
use std::fs::{self, DirEntry};
use std::sync::LazyLock;

use regex::Regex;

use super::{root, sources};

/// What opens, lists, writes or removes files, or starts programs. Questions about a path, such as its canonical form, open
/// nothing. The names of `fs` are listed the other way round: a call that nobody thought of is one that touches the disk.
const CALLS: &[&str] = &[
    // Everything of `std::fs` and its like but questions and types, in a path or between the braces of an import.
    r"\bfs::(?:\{[^}]*\})?[\w*]*",
    // A module or type under another name escapes every other line of this table.
    r"\b(?:fs|File|rustix|tokio|process|Command) as \w+",
    r"\b(?:std|tokio|os|unix|windows|rustix|process)::\*",
    r"\bFile::(?:open|create|options)\w*",
    r"\b(?:OpenOptions|DirBuilder|UnixStream|UnixListener|WalkBuilder|Mmap)\b",
    r"\.read_dir\(",
    r"\b(?:tempfile|memmap2?|libc|nix)::",
    r"\bCommand::new\b",
    r"\bGitignore::(?:new|global)\b|\.build_global\(",
    r"\bload_certs_from_paths\b",
];

/// What of `fs` is a question or a type, not a call that opens something.
const QUESTIONS: &[&str] = &[
    "DirEntry",
    "DirEntryExt",
    "File",
    "FileType",
    "FileTypeExt",
    "Metadata",
    "MetadataExt",
    "OFlags",
    "ReadDir",
    "TryLockError",
    "canonicalize",
    "fcntl_getfl",
    "fstat",
    "metadata",
    "read_link",
    "self",
    "symlink_metadata",
];

/// The modules that may, and why.
const MODULES: &[(&str, &str)] = &[
    ("crates/rulebook-cli/src/surface/acp/mod.rs", "starts the agent after `acp --`"),
    ("crates/rulebook-cli/src/surface/proxy/child.rs", "starts the program after `proxy --`"),
    ("crates/rulebook-cli/src/surface/ui/mod.rs", "starts the browser"),
    ("crates/rulebook-workspace/src/read.rs", "opens files to read them"),
    ("crates/rulebook-workspace/src/revision.rs", "asks git for `diff`"),
    (
        "crates/rulebook-workspace/src/tree/ignored.rs",
        "has the user's own ignore patterns read, from git's settings",
    ),
    ("crates/rulebook-workspace/src/write/folder.rs", "writes files of an open folder"),
    ("crates/rulebook-workspace/src/write/scratch.rs", "writes a temporary folder"),
    ("crates/rulebook-workspace/src/write.rs", "writes files"),
];

/// What a text does that only these modules may.
fn touches(code: &str) -> Vec<String> {
    static ALL: LazyLock<Vec<Regex>> =
        LazyLock::new(|| CALLS.iter().map(|call| Regex::new(call).unwrap()).collect());
    let all = ALL.iter().flat_map(|call| call.find_iter(code)).map(|call| call.as_str());
    let is_question = |call: &&str| {
        call.strip_prefix("fs::").is_some_and(|names| {
            let names = names.replace(" as _", "");
            let mut names = names
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .filter(|name| !name.is_empty())
                .peekable();
            names.peek().is_some() && names.all(|name| QUESTIONS.contains(&name))
        })
    };
    all.filter(|call| !is_question(call)).map(str::to_owned).collect()
}

/// Takes out the items that only tests compile, and adds the modules among them, by name.
fn without_tests(text: &str, modules: &mut Vec<String>) -> String {
    static MODULE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^\s*(?:pub(?:\([\w ]+\))? )?mod (\w+);").unwrap());
    let mut code = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.trim_start() != "#[cfg(test)]" {
            code.push_str(line);
            code.push('\n');
            continue;
        }
        // Formatted code: an item ends in its first line, or with the bracket at the same depth.
        let depth = line.len() - line.trim_start().len();
        let is_end = |line: &str| {
            let own = line.len() - line.trim_start().len();
            own == depth
                && (line.ends_with(';') || line.ends_with(',') || line.trim() == "}" || line.ends_with("{}"))
        };
        for line in lines.by_ref() {
            modules.extend(MODULE.captures(line).map(|found| found[1].to_owned()));
            if is_end(line) {
                break;
            }
        }
    }
    code
}

/// The shipping code of every crate, by file.
fn shipped() -> Vec<(String, String)> {
    let is_source =
        |path: &str| path.starts_with("crates/") && path.contains("/src/") && !path.contains("/tests/");
    let mut tests = BTreeSet::new();
    let mut all = Vec::new();
    for (path, text) in sources().into_iter().filter(|(path, _)| is_source(path)) {
        let mut modules = Vec::new();
        let code = without_tests(&text, &mut modules);
        let stem = path.trim_end_matches(".rs").to_owned();
        let folder = match stem.rsplit_once('/') {
            Some((folder, "mod" | "lib" | "main")) => folder.to_owned(),
            _ => stem,
        };
        tests.extend(
            modules
                .iter()
                .flat_map(|name| [format!("{folder}/{name}.rs"), format!("{folder}/{name}/mod.rs")]),
        );
        all.push((path, code));
    }
    all.retain(|(path, _)| !tests.contains(path));
    all
}

#[test]
fn one_module_opens_files_and_one_writes_them() {
    let mut found: Vec<String> = Vec::new();
    for (path, code) in shipped() {
        let calls = touches(&code);
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

#[test]
fn the_shipping_crates_are_all_looked_at() {
    let all: BTreeSet<String> =
        shipped().into_iter().filter_map(|(path, _)| Some(path.split('/').nth(1)?.to_owned())).collect();
    let name = |entry: std::io::Result<DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let crates: BTreeSet<String> = fs::read_dir(root().join("crates")).unwrap().map(name).collect();
    assert_eq!(all, crates);
}

#[test]
fn no_other_name_opens_a_file() {
    #[track_caller]
    fn check(code: &str, is_found: bool) {
        assert_eq!(!touches(&without_tests(code, &mut Vec::new())).is_empty(), is_found, "{code}");
    }
    for code in [
        "File::open(path)",
        "std::fs::File::create_new(path)",
        "use std::fs as disk;\ndisk::read(path)",
        "use std::fs::File as Handle;\nHandle::open(path)",
        "use std::fs::{self as disk};",
        "use std::fs::{File, read};",
        "use std::fs::*;",
        "use std::{fs::read_to_string, io};",
        "use std::{io, fs as disk};",
        "fs::exists(path)",
        "fs::File::options()",
        "rustix::fs::openat(folder, name)",
        "use rustix::{event, fs::openat};",
        "use rustix as sys;",
        "tokio::fs::read(path)",
        "use tokio::{fs, net};\nfs::read(path)",
        "use std::process::*;",
        "use std::os::unix::{self, fs::symlink};",
        "use std::process::Command as Run;",
        "Command::new(\"sh\")",
        "tokio::process::Command::new(program)",
        "path.read_dir()",
        "use std::fs::OpenOptions;",
        "std::os::unix::net::UnixStream::connect(path)",
        "#[cfg(test)]\nuse x::y;\n\nfs::write(path, text)",
        "#[cfg(test)]\nmod tests {\n    fs::read(a)\n}\n\nfs::write(path, text)",
    ] {
        check(code, true);
    }
    for code in [
        "use std::fs::{self, File};",
        "use std::{fs, io};",
        "use std::os::unix::fs::MetadataExt as _;",
        "fs::metadata(path)",
        "fs::canonicalize(path)",
        "std::os::unix::fs::MetadataExt::dev(&metadata)",
        "rustix::process::geteuid()",
        "#[cfg(test)]\nmod tests {\n    fs::read(a)\n}",
        "struct A {\n    #[cfg(test)]\n    at: fs::OpenOptions,\n    b: u8,\n}",
    ] {
        check(code, false);
    }
}
