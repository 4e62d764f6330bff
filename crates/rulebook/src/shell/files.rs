//! The files that a command reads and writes.

use super::command::{Command, Redirect, Word};
use super::effects::{Effect, Note, Program};
use super::git::git_command;
use super::starters::starts_others;
use super::touched::Touched;
use super::uses::Uses;

/// A file that a command touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileUse {
    /// The file, relative to where the line starts.
    pub file: Word,
    /// How.
    pub touched: Touched,
}

/// Programs that unpack or patch files which the line does not name.
const UNPACKERS: &[&str] = &["7z", "7za", "ar", "bsdtar", "cpio", "jar", "patch", "tar", "unrar", "unzip"];
/// Commands of git that do so.
const GIT_UNPACKERS: &[&str] = &["am", "apply", "stash"];
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
        let Uses { touched, more } = self.uses(arguments);
        let within = self.git_folder(arguments);
        let placed = |at: usize, word: &Word| {
            let moved =
                within.filter(|(_, command)| at > *command && !word.text.starts_with(['-', '/', '~']));
            moved.map_or_else(
                || word.clone(),
                |(folder, _)| {
                    let mut moved = Word::known(format!("{folder}/"));
                    moved.append(word);
                    moved
                },
            )
        };
        files.extend(more.iter().map(|(word, touched)| self.touch(&placed(usize::MAX, word), *touched)));
        for (at, word) in arguments.iter().enumerate().filter(|(_, word)| !word.text.is_empty()) {
            let word = &placed(at, word);
            let touched = touched[at];
            let value = word.text.find('=').map(|at| at + 1);
            if let Some(start) = value.filter(|start| *start < word.text.len()) {
                files.push(self.touch(&word.tail(start), touched));
            }
            if !word.text.starts_with('-') {
                files.push(self.touch(word, touched));
            }
            // A file after `@`, and a file of a revision.
            let after = ['@', ':'].iter().find_map(|mark| Some(word.text.split_once(*mark)?.1));
            if let Some(file) = after.filter(|file| !file.is_empty() && word.holes.is_empty()) {
                files.push(self.touch(&Word::known(file), Touched::Named));
            }
            let is_remote = word.text.contains("://") && self.takes_remote_name(arguments);
            if let Some((_, name)) = word.text.rsplit_once('/').filter(|_| is_remote) {
                files.push(self.touch(&Word::known(name), Touched::Written));
            }
        }
        files
    }

    /// Whether it is known what it does with all the files that it names.
    pub(crate) fn is_well_known(&self) -> bool {
        let Some(name) = self.name() else { return self.words.is_empty() };
        let is_loose = |program: &Program| program.is(Note::Loose);
        Program::of(&name).map_or_else(|| starts_others(&name), |program| !is_loose(program))
    }

    /// Whether it prints or compares its words, which need not be files.
    pub(crate) fn prints(&self) -> bool {
        self.has(Note::Prints)
    }

    /// Whether it changes only the form of files.
    pub(crate) fn formats(&self) -> bool {
        self.has(Note::Formats)
    }

    /// Whether it changes the folders that it names, and not the files in them.
    pub(crate) fn is_shallow(&self) -> bool {
        self.has(Note::Shallow)
    }

    fn has(&self, note: Note) -> bool {
        self.program().is_some_and(|program| program.is(note))
    }

    /// What is known of it: of a command of git, what that command does.
    pub(super) fn program(&self) -> Option<&'static Program> {
        let name = self.name()?;
        if name != "git" {
            return Program::of(&name);
        }
        let arguments = &self.words[1..];
        git_command(arguments)
            .and_then(|at| Program::of_git(&arguments[at..]))
            .map(|(program, _)| program)
            .or_else(|| Program::of("git"))
    }

    /// Whether it puts files into a folder that it names.
    pub(super) fn fills_folders(&self) -> bool {
        let fills = |program: &Program| {
            program.effect == Effect::Last || !program.outputs.is_empty() && program.effect != Effect::Deletes
        };
        self.program().is_some_and(fills)
    }

    /// The files that it writes, as far as its words say.
    pub(super) fn written_files(&self) -> Vec<String> {
        let written = self.files().into_iter().filter(|one| one.touched.is_write());
        written.map(|one| one.file.text).collect()
    }

    /// Whether a download is written under its own name.
    fn takes_remote_name(&self, arguments: &[Word]) -> bool {
        let named = |word: &Word| {
            let letters = word.text.strip_prefix('-').unwrap_or_default();
            let flags = Program::of("curl").map_or("", |program| program.flags);
            word.text.starts_with("--remote-name")
                || letters.contains('O') && letters.chars().all(|letter| flags.contains(letter))
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
        self.has(Note::Removes)
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
}
