//! What commands start in turn: `sudo`, `sh -c`, `xargs`, `find -exec`, shells that read their input.

use std::borrow::Cow;

use super::command::{Command, Redirect, Word, joined, plain_name};
use super::effects::{Given, given};
use super::found::found;
use super::git::git_command;
use super::interpreters::{reads_input, runs_in_sed, takes_text};
use super::options::{GivenOptions, Options};
use super::programs::{
    EVALUATORS, HOOK_FOLDERS, RUN_OPTIONS, SCRIPTS, SETTERS, SHELLS, STARTUP_FILES, TEXT_AFTER,
};
use super::redirect::joined_folder;
use super::script::{DoubtKind, MAX_COMMANDS, MAX_DEPTH, Script};
use super::starters::{STARTERS, Starter};
use super::starting::{Start, Starting, text_after};
use super::suspect::is_inert;
use super::variable::{Setting, is_set, names_alias, setting};
use crate::hidden::is_hidden;

/// The options of `ssh` before the host.
const SSH: Options = Options::new("BbcDEeFIiJLlmOoPpQRSWw");
/// The most words of an input that are taken as arguments.
const MAX_READ: usize = 64;

/// Adds the commands that the commands of a script start, each after the one that starts it.
pub(super) fn expand(script: &mut Script, line: &str) {
    let commands = std::mem::take(&mut script.commands);
    let mut all = Vec::with_capacity(commands.len());
    let written = written_files(&commands);
    add(script, &commands, (line, &written), 0, &mut all);
    script.commands = all;
}

/// The files that commands of the line write: running one of them runs text that is not a command of the line.
fn written_files(commands: &[Command]) -> Vec<String> {
    commands.iter().flat_map(Command::written_files).collect()
}

/// Adds commands and what they start, in a text that writes some files.
fn add(
    script: &mut Script,
    commands: &[Command],
    (line, written): (&str, &[String]),
    depth: usize,
    all: &mut Vec<Command>,
) {
    for at in 0..commands.len() {
        if all.len() > MAX_COMMANDS || depth > MAX_DEPTH {
            return script.doubt(DoubtKind::Limit, String::new());
        }
        let command = &commands[at];
        let writer = at.checked_sub(1).map(|before| &commands[before]);
        let writer = writer.filter(|writer| command.is_piped && writer.pipeline == command.pipeline);
        all.push(command.clone());
        let mut started = Vec::new();
        Starting { line, script, command, writer, started: &mut started }.follow();
        let name = command.words.first().map_or("", |name| &name.text);
        if is_script(name) || written.iter().any(|file| runs_file(name, file)) {
            script.doubt(DoubtKind::File, command.line().text);
        }
        if command.written_files().iter().any(|file| runs_later(file, command)) {
            script.doubt(DoubtKind::Later, command.line().text);
        }
        if !started.is_empty() {
            add(script, &started, (line, written), depth + 1, all);
        }
    }
}

/// Whether a name of a command runs a file: by its path, or by its name, if its folder is searched.
fn runs_file(name: &str, file: &str) -> bool {
    let last = || file.rsplit('/').next() == Some(name);
    name.trim_start_matches("./") == file.trim_start_matches("./") || !name.is_empty() && last()
}

/// Whether a name of a command is the file of a script for a shell.
fn is_script(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, extension)| SCRIPTS.contains(&extension))
}

/// Whether shells or git run what a file contains, without anyone naming it. What is put into a folder is one of its files.
fn runs_later(file: &str, writer: &Command) -> bool {
    let parts: Vec<&str> = file.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let Some((last, folders)) = parts.split_last() else { return false };
    let in_git = parts.iter().position(|part| *part == ".git").map(|at| &parts[at + 1..]);
    let is_set = |below: &[&str]| {
        below.is_empty() && writer.fills_folders() || below.contains(&"hooks") || below.ends_with(&["config"])
    };
    STARTUP_FILES.contains(last)
        || in_git.is_some_and(is_set)
        || folders.iter().any(|folder| HOOK_FOLDERS.contains(folder))
        || HOOK_FOLDERS.contains(last) && writer.fills_folders()
}

impl Starting<'_> {
    fn follow(&mut self) {
        let words = &self.command.words[..];
        let Some(first) = words.first() else { return };
        if first.text.chars().any(is_hidden) {
            self.doubt(DoubtKind::Hidden);
        }
        let Some(name) = self.command.name().filter(|_| self.is_one_word(first)) else {
            return self.doubt(DoubtKind::Name);
        };
        let rest = &words[1..];
        let has = |text: &str| rest.iter().any(|word| word.text == text);
        let is_fed = self.command.is_piped
            || self.command.redirects.iter().any(|one| matches!(one, Redirect::Read(_)));
        let first_plain = || rest.iter().find(|word| !word.text.starts_with('-'));
        match &*name {
            "eval" => self.text(&joined(rest)),
            "at" | "crontab" if has("-f") => self.doubt(DoubtKind::File),
            "crontab" if first_plain().is_some() => self.doubt(DoubtKind::File),
            "at" | "batch" | "crontab" | "newgrp" if is_fed => self.doubt(DoubtKind::Input),
            "make" if is_fed && (has("-") || has("/dev/stdin")) => self.doubt(DoubtKind::Input),
            "su" | "sudo"
                if is_fed && (first_plain().is_none() || has("-s") || has("-i") || name == "su") =>
            {
                self.doubt(DoubtKind::Input);
            }
            "less" | "more"
                if rest.iter().any(|word| word.text.starts_with('+') && word.text.contains('!')) =>
            {
                self.doubt(DoubtKind::Code);
            }
            "source" | "." => self.doubt(DoubtKind::File),
            "trap" => {
                rest.first().into_iter().for_each(|word| self.text(word));
                self.started.iter_mut().for_each(|command| command.is_delayed = true);
            }
            "zargs" => self.zargs(rest),
            "hash" if rest.iter().any(|word| word.text == "-p") => self.doubt(DoubtKind::Alias),
            "sed" | "gsed" if rest.iter().any(|word| runs_in_sed(&word.text)) => self.doubt(DoubtKind::Code),
            "gh" if rest.first().is_some_and(|word| word.text == "alias") => self.doubt(DoubtKind::Alias),
            "gh" if has("config") && has("set") => self.doubt(DoubtKind::Setting),
            "alias" if rest.iter().any(|word| word.text.contains('=')) => self.doubt(DoubtKind::Alias),
            "find" | "fd" | "fdfind" => self.executed(rest, name != "find"),
            "git" => self.git(rest),
            "ssh" => {
                let host = SSH.skip(rest);
                match rest.get(host + 1..).filter(|rest| !rest.is_empty()) {
                    Some(rest) => self.text(&joined(rest)),
                    None if is_fed => self.doubt(DoubtKind::Input),
                    None => {}
                }
            }
            name if SHELLS.contains(&name) => self.shell(rest),
            _ => {}
        }
        if EVALUATORS.contains(&&*name) && rest.iter().any(Word::has_subscript) {
            self.doubt(DoubtKind::Evaluated);
        }
        if EVALUATORS.contains(&&*name) && rest.iter().any(names_alias) {
            self.doubt(DoubtKind::Alias);
        }
        for setting in rest.iter().filter(|_| SETTERS.contains(&&*name)).filter_map(setting) {
            match setting {
                Setting::Doubt(why) => self.doubt(why),
                Setting::Runs(text) => self.text(&text),
            }
        }
        let runs_value = |(programs, options, parts): &(&[&str], &[&str], &[&str])| {
            let is_run = |value: &str| parts.is_empty() || parts.iter().any(|part| value.contains(part));
            let value = |at: usize, word: &Word| match given(&word.text, options, "") {
                Some(Given::Alone) => rest.get(at + 1).is_some_and(|value| is_run(&value.text)),
                Some(Given::Joined(start)) => is_run(&word.text[start..]),
                None => false,
            };
            programs.contains(&&*name) && rest.iter().enumerate().any(|(at, word)| value(at, word))
        };
        if RUN_OPTIONS.iter().any(runs_value) {
            self.doubt(DoubtKind::Option);
        }
        if let Some((_, options)) = TEXT_AFTER.iter().find(|(program, _)| *program == name)
            && let Some(text) = text_after(options, rest)
        {
            self.text(&text);
        }
        if let Some(starter) = STARTERS.iter().find(|starter| starter.name == name) {
            self.start(starter, rest);
        } else if !is_inert(&name) && !SHELLS.contains(&&*name) {
            self.within(rest);
        }
        self.interpreter(&name, rest);
    }

    /// Whether the name of a program is one word, although a part of it is not known: it is quoted, or a variable that the
    /// text does not set.
    fn is_one_word(&self, name: &Word) -> bool {
        !name.may_split || name.holes.iter().all(|hole| !is_set(self.line, &name.text[hole.clone()]))
    }

    /// A shell or an interpreter with a text, among the words of a program that may run it: `docker run x sh -c …`.
    fn within(&mut self, rest: &[Word]) {
        let is_fed = self.command.is_piped || self.command.redirects.iter().any(Redirect::is_input);
        let names = rest.iter().map(|word| word.as_known().map(plain_name).unwrap_or_default());
        for (at, name) in names.enumerate() {
            let rest = &rest[at + 1..];
            if !SHELLS.contains(&&*name) {
                self.interpreter(&name, rest);
            } else if rest.iter().any(takes_text) || is_fed && reads_input(rest) {
                return self.shell(rest);
            }
        }
    }

    fn start(&mut self, starter: &Starter, rest: &[Word]) {
        // `command -v` only looks a name up.
        if starter.name == "command" && rest.first().is_some_and(|word| matches!(&*word.text, "-v" | "-V")) {
            return;
        }
        if starter.name == "env"
            && let Some(text) = split_string(&starter.options, rest)
        {
            // Its own escapes for blanks.
            let text = ["\\_", "\\f", "\\n", "\\r", "\\t", "\\v"]
                .iter()
                .fold(text, |text, blank| text.replaced(blank, "  "));
            return self.text(&text);
        }
        if starter.name == "parallel" {
            return self.parallel(starter, rest);
        }
        let Some(Start { at, given }) = starter.start(rest) else { return self.within(rest) };
        let mut words = rest[at..].to_vec();
        if starter.name == "xargs" {
            let mark = given.value(&["-I", "-J", "-i", "--replace"]);
            let is_filled = fill(&mut words, mark.flatten().map_or("{}", |mark| &mark.text));
            if mark.is_none() && !is_filled {
                words.extend(if at == 0 { self.read_words() } else { vec![Word::hole("…")] });
            }
        }
        if starter.name == "watch" {
            return self.text(&joined(&words));
        }
        // `npx prettier@3`.
        if !starter.folder.is_empty()
            && let Some(end) = words[0].text.rfind('@').filter(|end| *end > 0 && words[0].holes.is_empty())
        {
            words[0].text.truncate(end);
        }
        let folder = self.command.folder.as_deref();
        let folder = match given.value(starter.folder) {
            None => folder.map(str::to_owned),
            Some(value) => joined_folder(folder, value.and_then(Word::as_known)),
        };
        self.words_in(words, folder);
    }

    /// The words that a program reads, if they are in the line.
    fn read_words(&self) -> Vec<Word> {
        let texts = || self.command.redirects.iter().map(Redirect::text);
        let is_known = !self.command.is_piped
            && !self.command.redirects.iter().any(|one| matches!(one, Redirect::Read(_)))
            && texts().flatten().all(|text| text.as_known().is_some_and(is_plain));
        let words = texts().flatten().flat_map(|text| text.text.split_whitespace()).map(Word::known);
        let words: Vec<Word> = words.take(if is_known { MAX_READ + 1 } else { 0 }).collect();
        if (1..=MAX_READ).contains(&words.len()) { words } else { vec![Word::hole("…")] }
    }

    /// The commands of `find -exec`; some programs add the file at the end.
    fn executed(&mut self, rest: &[Word], adds_file: bool) {
        let starts = |word: &Word| {
            matches!(
                &*word.text,
                "-exec" | "-execdir" | "-ok" | "-okdir" | "-x" | "-X" | "--exec" | "--exec-batch"
            )
        };
        let (tests, mut rest) = (&rest[..rest.iter().position(starts).unwrap_or(rest.len())], rest);
        while let Some(at) = rest.iter().position(starts) {
            // They run in the folders of the files.
            let is_elsewhere = matches!(&*rest[at].text, "-execdir" | "-okdir");
            let folder = self.command.folder.clone().filter(|_| !is_elsewhere);
            rest = &rest[at + 1..];
            let end = rest.iter().position(|word| word.text == ";" || word.text == "+").unwrap_or(rest.len());
            let mut words = rest[..end].to_vec();
            if !adds_file && !is_elsewhere {
                let files = found(tests);
                words = words.into_iter().flat_map(|word| in_place(word, &files)).collect();
            }
            if !fill(&mut words, "{}") && adds_file {
                words.push(Word::hole("…"));
            }
            self.words_in(words, folder);
        }
    }
}

/// The text of `env -S`, with the words after it. It may be joined to the option, and to others before it.
fn split_string(options: &Options, rest: &[Word]) -> Option<Word> {
    let mut given = GivenOptions::default();
    let own = options.read(rest, &mut given);
    let text = given.value(&["-S", "--split-string"])??;
    Some(joined(std::iter::once(text).chain(&rest[own..])))
}

/// Whether a text has nothing that `xargs` treats specially.
fn is_plain(text: &str) -> bool {
    !text.contains(['\'', '"', '\\'])
}

/// The word `{}` as the files that it stands for.
fn in_place(word: Word, files: &[Word]) -> Vec<Word> {
    if word.text == "{}" { files.to_vec() } else { vec![word] }
}

/// Puts holes where a mark is. Says whether it found one.
fn fill(words: &mut [Word], mark: &str) -> bool {
    let mut found = false;
    for word in words.iter_mut().filter(|word| !mark.is_empty() && word.text.contains(mark)) {
        found = true;
        *word = Word::hole(&word.text);
    }
    found
}

impl Command {
    /// The forms under which patterns know the command: as written, by its plain name, and git without its own options.
    pub(crate) fn forms(&self) -> Vec<Word> {
        let Some(name) = self.name() else { return vec![self.line()] };
        // A folder that is not known cannot be another command.
        let first = self.words.first().map(|first| Word::known(&*first.text));
        let mut forms = vec![joined(first.iter().chain(&self.words[1..]))];
        let is_plain = matches!(&name, Cow::Borrowed(plain) if plain.len() == self.words[0].text.len());
        let plain = Word::known(&*name);
        if !is_plain {
            forms.push(joined(std::iter::once(&plain).chain(&self.words[1..])));
        }
        // `git-push` is `git push`.
        if let Some(command) = name.strip_prefix("git-") {
            let git = Word::known(format!("git {command}"));
            forms.push(joined(std::iter::once(&git).chain(&self.words[1..])));
        }
        if name == "git"
            && let Some(at) = git_command(&self.words[1..])
            && at > 0
        {
            let words = std::iter::once(&plain).chain(&self.words[at + 1..]);
            forms.push(joined(words));
        }
        forms
    }
}
