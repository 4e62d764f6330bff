//! The files that a command reads and writes.

use super::command::{Command, Redirect, Word};
use super::git::git_command;
use crate::words::words;

/// A file that a command touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileUse {
    /// The file, relative to where the line starts.
    pub file: Word,
    /// How.
    pub touched: Touched,
}

words! {
    /// How a command touches a file.
    Touched {
        /// It may read it: the command names it.
        Named = "named",
        /// It changes, replaces, moves or removes it.
        Written = "written",
    }
}

/// Options with the file that a program writes, for programs that are not in the table.
const OUTPUTS: &[&str] = &["-o", "-out", "--out", "--outfile", "--output", "--output-file"];
/// Programs in which these options mean something else.
const NO_OUTPUTS: &[&str] = &[
    "egrep", "fgrep", "find", "grep", "kubectl", "ls", "mount", "ps", "rg", "set", "sftp", "ssh", "stat",
    "sudo", "test",
];
/// Programs that unpack or patch files which the line does not name.
const UNPACKERS: &[&str] = &["7z", "7za", "ar", "bsdtar", "cpio", "jar", "patch", "tar", "unrar", "unzip"];
/// Commands of git that do so.
const GIT_UNPACKERS: &[&str] = &["am", "apply", "stash"];
/// Letters of options of `curl` that take no value. Among them, `O` writes a file that is named as in its address.
const CURL_LETTERS: &str = "#46fgiIJkLnNORsSv";

/// Which arguments of a program it writes.
enum Writes {
    All,
    Last,
    /// All, if one of these options is given.
    AllWith(&'static [&'static str]),
    /// The values of these options.
    Values(&'static [&'static str]),
}

/// Programs that write files named by their arguments.
const WRITERS: &[(&str, Writes)] = &[
    ("add-content", Writes::All),
    ("awk", Writes::AllWith(&["inplace"])),
    ("black", Writes::All),
    ("bunzip2", Writes::All),
    ("bzip2", Writes::All),
    ("chattr", Writes::All),
    ("chgrp", Writes::All),
    ("chmod", Writes::All),
    ("chown", Writes::All),
    ("copy-item", Writes::All),
    ("cp", Writes::Last),
    ("csplit", Writes::Values(&["-f", "--prefix"])),
    (
        "curl",
        Writes::Values(&["-D", "--dump-header", "-c", "--cookie-jar", "-o", "--output", "--output-dir"]),
    ),
    ("dd", Writes::Values(&["of"])),
    ("del", Writes::All),
    ("eslint", Writes::AllWith(&["--fix"])),
    ("find", Writes::AllWith(&["-delete", "-fprint", "-fprintf"])),
    ("gawk", Writes::AllWith(&["inplace"])),
    ("gofmt", Writes::AllWith(&["-w"])),
    ("gsed", Writes::AllWith(&["-i", "--in-place"])),
    ("gunzip", Writes::All),
    ("gzip", Writes::All),
    ("install", Writes::Last),
    ("ln", Writes::All),
    ("mkdir", Writes::All),
    ("mkfifo", Writes::All),
    ("mount", Writes::All),
    ("move-item", Writes::All),
    ("mv", Writes::All),
    ("out-file", Writes::All),
    ("patch", Writes::All),
    ("perl", Writes::AllWith(&["-i", "-pi"])),
    ("prettier", Writes::AllWith(&["--write", "-w"])),
    ("remove-item", Writes::All),
    ("rename", Writes::All),
    ("ren", Writes::All),
    ("rm", Writes::All),
    ("rmdir", Writes::All),
    ("rsync", Writes::Last),
    ("rustfmt", Writes::All),
    ("ruby", Writes::AllWith(&["-i", "-pi"])),
    ("scp", Writes::Last),
    ("script", Writes::Last),
    ("sed", Writes::AllWith(&["-i", "--in-place", "-ni", "-ri", "-Ei"])),
    ("set-content", Writes::All),
    ("setfacl", Writes::All),
    ("shred", Writes::All),
    ("sort", Writes::Values(&["-o", "--output"])),
    ("split", Writes::Last),
    ("sponge", Writes::All),
    ("sqlite3", Writes::All),
    ("tar", Writes::Values(&["-C", "--directory"])),
    ("tee", Writes::All),
    ("touch", Writes::All),
    ("trash", Writes::All),
    ("truncate", Writes::All),
    ("unlink", Writes::All),
    ("unzip", Writes::Values(&["-d"])),
    (
        "wget",
        Writes::Values(&["-O", "--output-document", "-P", "--directory-prefix", "-a", "-o", "--output-file"]),
    ),
    ("xxd", Writes::Last),
    ("xz", Writes::All),
    ("yq", Writes::AllWith(&["-i", "--inplace"])),
    ("zstd", Writes::All),
];

/// Commands of git that change the files they name.
const GIT_WRITERS: &[&str] = &[
    "apply",
    "checkout",
    "checkout-index",
    "clean",
    "clone",
    "mv",
    "restore",
    "rm",
    "stash",
    "submodule",
    "update-index",
    "worktree",
];

impl Command {
    /// The files that it names or writes, as far as its words say.
    pub fn files(&self) -> Vec<FileUse> {
        let mut files = Vec::new();
        for redirect in &self.redirects {
            match redirect {
                Redirect::Write { file, .. } => files.push(self.touch(file, Touched::Written)),
                Redirect::Read(file) => files.push(self.touch(file, Touched::Named)),
                Redirect::Document(_) | Redirect::Text(_) => {}
            }
        }
        let patched = self.patched();
        if !patched.is_empty() {
            files.extend(patched.into_iter().map(|file| self.touch(&Word::known(file), Touched::Written)));
            return files;
        }
        let Some((_, arguments)) = self.words.split_first() else { return files };
        let written = self.written(arguments);
        let within = self.git_folder(arguments);
        for (at, word) in arguments.iter().enumerate() {
            let moved =
                within.filter(|(_, command)| at > *command && !word.text.starts_with(['-', '/', '~']));
            let moved = moved.map(|(folder, _)| {
                let mut moved = Word::known(format!("{folder}/"));
                moved.append(word);
                moved
            });
            let word = moved.as_ref().unwrap_or(word);
            let touched = if written.contains(&at) { Touched::Written } else { Touched::Named };
            let value = word.text.find('=').map(|at| at + 1);
            if let Some(start) = value.filter(|start| *start < word.text.len()) {
                files.push(self.touch(&word.tail(start), touched));
            }
            if !word.text.starts_with('-') {
                files.push(self.touch(word, touched));
            }
            // A value joined to its option, a file after `@`, and a file of a revision.
            let is_joined = touched == Touched::Written && !word.text.starts_with("--");
            let joined =
                word.text.get(2..).filter(|file| is_joined && word.text.starts_with('-') && !file.is_empty());
            let after = ['@', ':'].iter().find_map(|mark| Some(word.text.split_once(*mark)?.1));
            for (file, touched) in [(joined, touched), (after, Touched::Named)] {
                let Some(file) = file.filter(|file| !file.is_empty() && word.holes.is_empty()) else {
                    continue;
                };
                files.push(self.touch(&Word::known(file), touched));
            }
            let is_remote = word.text.contains("://") && self.takes_remote_name(arguments);
            if let Some((_, name)) = word.text.rsplit_once('/').filter(|_| is_remote) {
                files.push(self.touch(&Word::known(name), Touched::Written));
            }
        }
        files
    }

    /// Whether it is known which of its arguments it writes.
    pub(crate) fn is_writer(&self) -> bool {
        let is_known = |name: &str| WRITERS.iter().any(|(program, _)| *program == name);
        // These may also write files that options name, and `tar` may remove what it packs.
        let is_loose = |name: &str| {
            matches!(name, "curl" | "wget") || self.words.iter().any(|word| word.text == "--remove-files")
        };
        self.name().is_some_and(|name| is_known(&name) && !is_loose(&name))
    }

    /// The files that it writes, as far as its words say.
    pub(super) fn written_files(&self) -> Vec<String> {
        let written = self.files().into_iter().filter(|one| one.touched == Touched::Written);
        written.map(|one| one.file.text).collect()
    }

    /// Whether a download is written under its own name.
    fn takes_remote_name(&self, arguments: &[Word]) -> bool {
        let named = |word: &Word| {
            let letters = word.text.strip_prefix('-').unwrap_or_default();
            word.text.starts_with("--remote-name")
                || letters.contains('O') && letters.chars().all(|letter| CURL_LETTERS.contains(letter))
        };
        match self.name().as_deref() {
            Some("curl") => arguments.iter().any(named),
            Some("wget") => !arguments.iter().any(|word| matches!(&*word.text, "-O" | "--output-document")),
            _ => false,
        }
    }

    /// Whether it removes every file that git does not know.
    pub(crate) fn cleans_all(&self) -> bool {
        let arguments = self.words.get(1..).unwrap_or_default();
        let Some(command) = git_command(arguments).filter(|at| arguments[*at].text == "clean") else {
            return false;
        };
        let rest = &arguments[command + 1..];
        let is_dry = |word: &Word| {
            word.text == "--dry-run"
                || word.text.starts_with('-') && !word.text.starts_with("--") && word.text.contains('n')
        };
        self.name().is_some_and(|name| name == "git")
            && rest.iter().all(|word| word.text.starts_with('-'))
            && !rest.iter().any(is_dry)
    }

    /// Whether it writes files that the line does not name.
    pub(crate) fn writes_unnamed(&self) -> bool {
        let Some(name) = self.name() else { return false };
        let arguments = &self.words[1..];
        if name == "git" {
            let command = git_command(arguments).map(|at| &*arguments[at].text);
            let is_listed =
                arguments.iter().any(|word| matches!(&*word.text, "list" | "show" | "--check" | "--stat"));
            let is_listed_in_file =
                arguments.iter().any(|word| word.text.starts_with("--pathspec-from-file"));
            return command.is_some_and(|command| GIT_UNPACKERS.contains(&command)) && !is_listed
                || is_listed_in_file;
        }
        let extracts = |word: &Word| {
            let text = word.text.trim_start_matches('-');
            word.text == "--extract"
                || !word.text.starts_with("--")
                    && text.starts_with(['x', 'v', 'z', 'j', 'J'])
                    && text.contains('x')
        };
        match &*name {
            "ar" | "bsdtar" | "jar" | "tar" => {
                arguments.first().is_some_and(extracts)
                    || arguments.iter().any(|word| word.text == "--extract")
            }
            "cpio" => arguments.iter().any(|word| word.text.starts_with("-i") || word.text == "--extract"),
            "7z" | "7za" | "unrar" => arguments.first().is_some_and(|word| matches!(&*word.text, "e" | "x")),
            "unzip" => !arguments.iter().any(|word| matches!(&*word.text, "-l" | "-t" | "-p")),
            name if name.starts_with("python") => {
                arguments.iter().any(|word| matches!(&*word.text, "tarfile" | "zipfile"))
            }
            name => UNPACKERS.contains(&name),
        }
    }

    /// Whether it removes or moves whole folders.
    pub(crate) fn removes_folders(&self) -> bool {
        let Some(name) = self.name() else { return false };
        let is_git = name == "git"
            && git_command(&self.words[1..]).is_some_and(|at| {
                matches!(&*self.words[1 + at].text, "rm" | "mv" | "checkout" | "restore" | "clean")
            });
        is_git || matches!(&*name, "find" | "move-item" | "mv" | "remove-item" | "rm" | "trash")
    }

    /// A file, relative to where the line starts.
    pub(super) fn touch(&self, file: &Word, touched: Touched) -> FileUse {
        let is_whole = file.text.starts_with(['/', '~']) || file.text.get(1..3) == Some(":\\");
        let mut within = Word::default();
        match self.folder.as_deref() {
            _ if is_whole => {}
            None => within.push_hole("?/"),
            Some("") => {}
            Some(folder) => within.text = format!("{folder}/"),
        }
        within.append(file);
        FileUse { file: within, touched }
    }

    /// The folder in which `git -C` runs, for the arguments after its command.
    fn git_folder(&self, arguments: &[Word]) -> Option<(&str, usize)> {
        let command = git_command(arguments).filter(|_| self.name().is_some_and(|name| name == "git"))?;
        let at = arguments[..command].iter().position(|word| word.text == "-C")?;
        Some((self.words[1..].get(at + 1)?.as_known()?, command))
    }

    /// The positions of the arguments that it writes.
    fn written(&self, arguments: &[Word]) -> Vec<usize> {
        let Some(name) = self.name() else { return Vec::new() };
        let plain = || (0..arguments.len()).filter(|at| !arguments[*at].text.starts_with('-'));
        if name == "git" {
            let command = git_command(arguments);
            let is_writer = command.is_some_and(|at| GIT_WRITERS.contains(&arguments[at].text.as_str()));
            return plain().filter(|at| is_writer && Some(*at) > command).collect();
        }
        let targets = || {
            let is_target = |at: &usize| arguments[*at].text.starts_with("--target-directory=");
            (0..arguments.len()).filter(is_target)
        };
        let writes = match WRITERS.iter().find(|(program, _)| *program == name) {
            Some((_, writes)) => writes,
            None if NO_OUTPUTS.contains(&&*name) => return Vec::new(),
            None => &Writes::Values(OUTPUTS),
        };
        match writes {
            Writes::All => plain().chain(targets()).collect(),
            Writes::Last => {
                let target = |word: &Word| word.text == "-t" || word.text.starts_with("--target-directory");
                match arguments.iter().position(target) {
                    Some(at) => vec![at, at + 1],
                    None => plain().next_back().into_iter().collect(),
                }
            }
            Writes::AllWith(options) => {
                let is_given = |word: &Word| options.iter().any(|option| word.text.starts_with(option));
                let is_given = arguments.iter().any(is_given);
                plain().filter(|_| is_given).collect()
            }
            Writes::Values(options) => {
                let is_option = |at: &usize| {
                    let text = &arguments[*at].text;
                    // Short options may be joined: `-sSLo`.
                    let letters =
                        text.strip_prefix('-').filter(|letters| letters.len() < 8).unwrap_or_default();
                    let is_short = letters.bytes().all(|byte| byte.is_ascii_alphabetic());
                    options.iter().any(|option| {
                        text.strip_prefix(option).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
                            || is_short && option.len() == 2 && letters.ends_with(&option[1..])
                    })
                };
                let joined = |at: &usize| {
                    let text = &arguments[*at].text;
                    let is_short =
                        |option: &&str| option.len() == 2 && text.starts_with(*option) && text.len() > 2;
                    !std::ptr::eq(*options, OUTPUTS) && options.iter().any(is_short)
                };
                let joined: Vec<usize> = (0..arguments.len()).filter(joined).collect();
                (0..arguments.len()).filter(is_option).flat_map(|at| [at, at + 1]).chain(joined).collect()
            }
        }
    }
}
