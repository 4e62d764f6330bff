//! The files that a command reads and writes.

use super::command::{Command, Redirect, Word};
use super::expand::git_command;
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
    ("chattr", Writes::All),
    ("chgrp", Writes::All),
    ("chmod", Writes::All),
    ("chown", Writes::All),
    ("copy-item", Writes::All),
    ("cp", Writes::Last),
    ("curl", Writes::Values(&["-o", "--output"])),
    ("dd", Writes::Values(&["of"])),
    ("del", Writes::All),
    ("gawk", Writes::AllWith(&["inplace"])),
    ("gsed", Writes::AllWith(&["-i", "--in-place"])),
    ("install", Writes::Last),
    ("ln", Writes::All),
    ("mkdir", Writes::All),
    ("mkfifo", Writes::All),
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
    ("ruby", Writes::AllWith(&["-i", "-pi"])),
    ("scp", Writes::Last),
    ("sed", Writes::AllWith(&["-i", "--in-place", "-ni", "-ri", "-Ei"])),
    ("set-content", Writes::All),
    ("setfacl", Writes::All),
    ("shred", Writes::All),
    ("sort", Writes::Values(&["-o", "--output"])),
    ("sponge", Writes::All),
    ("tar", Writes::Values(&["-C", "--directory"])),
    ("tee", Writes::All),
    ("touch", Writes::All),
    ("trash", Writes::All),
    ("truncate", Writes::All),
    ("unlink", Writes::All),
    ("unzip", Writes::Values(&["-d"])),
    ("wget", Writes::Values(&["-O", "--output-document"])),
    ("yq", Writes::AllWith(&["-i", "--inplace"])),
];

/// Commands of git that change the files they name.
const GIT_WRITERS: &[&str] = &["apply", "checkout", "clean", "mv", "restore", "rm", "stash", "update-index"];

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
        let Some((_, arguments)) = self.words.split_first() else { return files };
        let written = self.written(arguments);
        for (at, word) in arguments.iter().enumerate() {
            let touched = if written.contains(&at) { Touched::Written } else { Touched::Named };
            let value = word.text.split_once('=').map(|(option, value)| (option.len() + 1, value));
            if let Some((start, value)) = value.filter(|(_, value)| !value.is_empty()) {
                let holes = word.holes.iter().filter(|hole| hole.start >= start);
                let holes = holes.map(|hole| hole.start - start..hole.end - start).collect();
                files.push(self.touch(&Word { text: value.to_owned(), holes }, touched));
            }
            if !word.text.starts_with('-') {
                files.push(self.touch(word, touched));
            }
        }
        files
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
        let by = within.text.len();
        within.text.push_str(&file.text);
        within.holes.extend(file.holes.iter().map(|hole| hole.start + by..hole.end + by));
        FileUse { file: within, touched }
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
        let Some((_, writes)) = WRITERS.iter().find(|(program, _)| *program == name) else {
            return Vec::new();
        };
        match writes {
            Writes::All => plain().collect(),
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
                    options.iter().any(|option| {
                        text.strip_prefix(option).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
                    })
                };
                (0..arguments.len()).filter(is_option).flat_map(|at| [at, at + 1]).collect()
            }
        }
    }
}
