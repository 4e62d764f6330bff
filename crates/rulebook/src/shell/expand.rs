//! What commands start in turn: `sudo`, `sh -c`, `xargs`, `find -exec`, shells that read their input.

use std::borrow::Cow;

use super::command::{Command, Redirect, Word, plain_name};
use super::programs::{
    AWK_RUNS, GIT_COMMANDS, GIT_RUN_SETTINGS, GIT_SHORT_TEXTS, GIT_TEXTS, GIT_VALUED, INTERPRETERS,
    RUN_VARIABLES, SCRIPTS, SETTERS, SHELLS, STARTERS, STARTUP_FILES, STARTUP_OPTIONS, Starter, TEXT_AFTER,
};
use super::reader::{Ends, Reader};
use super::script::{DoubtKind, MAX_COMMANDS, MAX_DEPTH, Script};
use super::suspect::is_inert;
use crate::hidden::is_hidden;

/// Adds the commands that the commands of a script start, each after the one that starts it.
pub(super) fn expand(script: &mut Script) {
    let commands = std::mem::take(&mut script.commands);
    let mut all = Vec::with_capacity(commands.len());
    let written = written_files(&commands);
    add(script, &commands, &written, 0, &mut all);
    script.commands = all;
}

/// The files that commands of the line write: running one of them runs text that is not a command of the line.
fn written_files(commands: &[Command]) -> Vec<String> {
    commands.iter().flat_map(Command::written_files).collect()
}

fn add(script: &mut Script, commands: &[Command], written: &[String], depth: usize, all: &mut Vec<Command>) {
    for at in 0..commands.len() {
        if all.len() > MAX_COMMANDS || depth > MAX_DEPTH {
            return script.doubt(DoubtKind::Limit, String::new());
        }
        let command = &commands[at];
        let writer = at.checked_sub(1).map(|before| &commands[before]);
        let writer = writer.filter(|writer| command.is_piped && writer.pipeline == command.pipeline);
        all.push(command.clone());
        let mut started = Vec::new();
        Starting { script, command, writer, started: &mut started }.follow();
        let name = command.words.first().map_or("", |name| &name.text);
        if is_script(name) || written.iter().any(|file| runs_file(name, file)) {
            script.doubt(DoubtKind::File, command.line().text);
        }
        if command.written_files().iter().any(|file| runs_later(file)) {
            script.doubt(DoubtKind::Later, command.line().text);
        }
        if !started.is_empty() {
            add(script, &started, written, depth + 1, all);
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

/// Whether shells or git run what a file contains, without anyone naming it.
fn runs_later(file: &str) -> bool {
    let is_in_git = || file.starts_with(".git/") || file.contains("/.git/");
    file.rsplit('/').next().is_some_and(|name| STARTUP_FILES.contains(&name))
        || is_in_git() && (file.contains("/hooks/") || file.ends_with("/config"))
}

struct Starting<'s> {
    script: &'s mut Script,
    command: &'s Command,
    /// The command before it in the pipeline.
    writer: Option<&'s Command>,
    started: &'s mut Vec<Command>,
}

impl Starting<'_> {
    fn follow(&mut self) {
        let words = &self.command.words[..];
        let Some(first) = words.first() else { return };
        if first.text.chars().any(is_hidden) {
            self.doubt(DoubtKind::Hidden);
        }
        let Some(name) = self.command.name() else { return self.doubt(DoubtKind::Name) };
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
            "trap" => rest.first().into_iter().for_each(|word| self.text(word)),
            "hash" if rest.iter().any(|word| word.text == "-p") => self.doubt(DoubtKind::Alias),
            "sed" | "gsed" if rest.iter().any(|word| runs_in_sed(&word.text)) => self.doubt(DoubtKind::Code),
            "gh" if rest.first().is_some_and(|word| word.text == "alias") => self.doubt(DoubtKind::Alias),
            "alias" if rest.iter().any(|word| word.text.contains('=')) => self.doubt(DoubtKind::Alias),
            "find" | "fd" | "fdfind" => self.executed(rest, name != "find"),
            "git" => self.git(rest),
            "ssh" => {
                let host = skip_options(rest, "bcDEeFIiJLlmOopQRSWw", &[]);
                match rest.get(host + 1..).filter(|rest| !rest.is_empty()) {
                    Some(rest) => self.text(&joined(rest)),
                    None if is_fed => self.doubt(DoubtKind::Input),
                    None => {}
                }
            }
            name if SHELLS.contains(&name) => self.shell(rest),
            _ => {}
        }
        if SETTERS.contains(&&*name) && rest.iter().any(sets_program) {
            self.doubt(DoubtKind::Setting);
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

    /// A shell or an interpreter with a text, among the words of a program that may run it: `docker run x sh -c …`.
    fn within(&mut self, rest: &[Word]) {
        let names = rest.iter().map(|word| word.as_known().map(plain_name).unwrap_or_default());
        for (at, name) in names.enumerate() {
            let rest = &rest[at + 1..];
            if SHELLS.contains(&&*name) {
                return if rest.iter().any(takes_text) {
                    self.shell(rest)
                };
            }
            self.interpreter(&name, rest);
        }
    }

    fn doubt(&mut self, why: DoubtKind) {
        self.script.doubt(why, self.command.line().text);
    }

    /// Reads a text that a shell runs.
    fn text(&mut self, text: &Word) {
        if !text.holes.is_empty() {
            self.doubt(DoubtKind::Input);
        }
        let chain = self.script.new_chain(Some(self.command.chain));
        let mut inner = Script { chains: std::mem::take(&mut self.script.chains), ..Script::default() };
        let mut pipeline = self.command.pipeline;
        let folder = self.command.folder.clone();
        Reader::new(&text.text, &mut inner, chain, folder, 0, &mut pipeline).list(Ends::Text);
        // A shell succeeds if the one chain that it runs does.
        let is_shell = self.command.name().is_some_and(|name| name == "eval" || SHELLS.contains(&&*name));
        if is_shell && inner.commands.iter().all(|command| command.chain == chain) {
            inner.commands.iter_mut().for_each(|command| command.chain = self.command.chain);
        }
        self.script.chains = std::mem::take(&mut inner.chains);
        self.script.doubts.append(&mut inner.doubts);
        self.started.append(&mut inner.commands);
    }

    /// Starts a command given as words.
    fn words(&mut self, words: Vec<Word>) {
        if !words.is_empty() {
            // Who starts it has its redirections. A shell reads its input.
            let name = words[0].as_known().map(plain_name).unwrap_or_default();
            let reads = SHELLS.contains(&&*name) || STARTERS.iter().any(|starter| starter.name == name);
            let inputs =
                self.command.redirects.iter().filter(|one| reads && !matches!(one, Redirect::Write { .. }));
            let started = Command { words, redirects: inputs.cloned().collect(), ..self.command.clone() };
            self.started.push(started);
        }
    }

    fn start(&mut self, starter: &Starter, rest: &[Word]) {
        // `command -v` only looks a name up.
        if starter.name == "command" && rest.first().is_some_and(|word| matches!(&*word.text, "-v" | "-V")) {
            return;
        }
        if starter.name == "env"
            && let Some(text) = text_after(&["-S", "--split-string"], rest)
        {
            return self.text(&text);
        }
        let mut at = skip_options(rest, starter.valued, starter.long) + starter.own;
        let is_setting = |word: &Word| word.text.contains('=');
        while matches!(starter.name, "env" | "sudo" | "doas") && rest.get(at).is_some_and(is_setting) {
            at += 1;
        }
        let Some(words) = rest.get(at..).filter(|words| !words.is_empty()) else { return };
        let mut words = words.to_vec();
        if matches!(starter.name, "xargs" | "parallel") {
            let replaced = rest[..at].iter().position(|word| word.text.starts_with("-I"));
            let mark = replaced.map(|at| rest[at].text.strip_prefix("-I").filter(|mark| !mark.is_empty()));
            let mark = mark.map(|mark| {
                mark.unwrap_or_else(|| {
                    rest.get(replaced.map_or(0, |at| at + 1)).map_or("{}", |word| &word.text)
                })
            });
            let is_filled = fill(&mut words, mark.unwrap_or("{}"));
            if mark.is_none() && !is_filled {
                words.push(Word::hole("…"));
            }
        }
        if starter.name == "watch" || starter.name == "parallel" {
            return self.text(&joined(&words));
        }
        self.words(words);
    }

    /// A shell: the text after `-c`, a file, or its input.
    fn shell(&mut self, rest: &[Word]) {
        let startup = rest.windows(2).filter(|pair| STARTUP_OPTIONS.contains(&&*pair[0].text));
        if startup.into_iter().any(|pair| pair[1].text != "/dev/null") {
            self.doubt(DoubtKind::File);
        }
        if let Some(at) = rest.iter().position(takes_text) {
            let own = |word: &&Word| word.text.starts_with('-') || word.text.starts_with('+');
            let text = rest[at + 1..].iter().find(|word| !own(word) || word.text.contains(' '));
            return text.cloned().into_iter().for_each(|text| self.text(&text));
        }
        let file = skip_options(rest, "oO", STARTUP_OPTIONS);
        let reads_input =
            rest.iter().any(|word| word.text == "-s") || rest.get(file).is_none_or(|file| file.text == "-");
        if !reads_input {
            return if rest.iter().any(|word| word.text == "--version" || word.text == "--help") {
            } else {
                self.doubt(DoubtKind::File);
            };
        }
        self.input();
    }

    /// Reads the input of a shell, if it is in the line.
    fn input(&mut self) {
        for redirect in self.command.redirects.clone() {
            match redirect {
                Redirect::Text(text) => self.text(&text),
                Redirect::Document(document) => self.document(document.body.as_deref().unwrap_or_default()),
                Redirect::Read(_) => self.doubt(DoubtKind::Input),
                Redirect::Write { .. } => {}
            }
        }
        if !self.command.is_piped {
            return;
        }
        let Some(writer) = self.writer else { return self.doubt(DoubtKind::Input) };
        let name = writer.name();
        let body =
            writer.redirects.iter().find_map(Redirect::document).and_then(|document| document.body.clone());
        let is_plain = |word: &Word| !word.text.contains('\\') && !word.text.contains('%');
        match (name.as_deref(), body) {
            (Some("cat"), Some(body)) if writer.words.len() == 1 => self.document(&body),
            (Some("echo"), _) if writer.words[1..].iter().all(is_plain) => {
                let words: Vec<Word> = writer.words[1..]
                    .iter()
                    .skip_while(|word| word.text == "-n" || word.text == "-e")
                    .cloned()
                    .collect();
                self.text(&joined(&words));
            }
            (Some("printf"), _) if writer.words.len() == 2 && writer.words[1..].iter().all(is_plain) => {
                self.text(&writer.words[1]);
            }
            (Some("printf"), _)
                if writer.words.len() == 3 && writer.words[1].text.trim_end_matches("\\n") == "%s" =>
            {
                self.text(&writer.words[2]);
            }
            _ => self.doubt(DoubtKind::Input),
        }
    }

    fn document(&mut self, body: &str) {
        self.text(&Word::known(body));
    }

    /// The commands of `find -exec`; some programs add the file at the end.
    fn executed(&mut self, rest: &[Word], adds_file: bool) {
        let starts = |word: &Word| {
            matches!(
                &*word.text,
                "-exec" | "-execdir" | "-ok" | "-okdir" | "-x" | "-X" | "--exec" | "--exec-batch"
            )
        };
        let mut rest = rest;
        while let Some(at) = rest.iter().position(starts) {
            rest = &rest[at + 1..];
            let end = rest.iter().position(|word| word.text == ";" || word.text == "+").unwrap_or(rest.len());
            let mut words = rest[..end].to_vec();
            if !fill(&mut words, "{}") && adds_file {
                words.push(Word::hole("…"));
            }
            self.words(words);
        }
    }

    /// git with an alias, or a command as a setting or the value of an option.
    fn git(&mut self, rest: &[Word]) {
        let command = git_command(rest);
        let after = command.map_or(rest, |at| &rest[at..]);
        let name = after.first().filter(|_| command.is_some()).map_or("", |word| &word.text);
        let given = rest.windows(2).filter(|pair| pair[0].text == "-c").map(|pair| pair[1].text.as_str());
        let from_variable = rest.iter().filter_map(|word| word.text.strip_prefix("--config-env="));
        let stored =
            after.windows(2).filter(|_| name == "config").map(|pair| (&*pair[0].text, &*pair[1].text));
        let mut settings = given
            .map(|setting| setting.split_once('=').unwrap_or((setting, "")))
            .chain(from_variable.map(|setting| (setting.split('=').next().unwrap_or(setting), "$")))
            .chain(stored);
        let is_alias = !name.is_empty() && !GIT_COMMANDS.contains(&name) && after[0].holes.is_empty();
        if is_alias || settings.any(|(key, value)| runs_in_git(key, value)) {
            self.doubt(DoubtKind::Alias);
        }
        let short = GIT_SHORT_TEXTS.iter().find(|(of, _)| of.contains(&name)).map(|(_, option)| *option);
        let options: Vec<&str> = GIT_TEXTS.iter().copied().chain(short).collect();
        for at in 0..after.len() {
            if let Some(text) = text_after(&options, &after[at..after.len().min(at + 2)]) {
                self.text(&text);
            }
        }
        let run = after.iter().position(|word| matches!(&*word.text, "run" | "foreach"));
        match (name, run) {
            ("bisect" | "submodule", Some(run)) => self.text(&joined(&after[run + 1..])),
            ("for-each-repo", _) => {
                let words = after[1..].iter().filter(|word| !word.text.starts_with('-'));
                self.words(std::iter::once(&Word::known("git")).chain(words).cloned().collect());
            }
            _ => {}
        }
    }

    fn interpreter(&mut self, name: &str, rest: &[Word]) {
        let is_version = |tail: &str| tail.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        let is_it = |program: &str| name.strip_prefix(program).is_some_and(is_version);
        let Some((program, options)) = INTERPRETERS.iter().find(|(program, _)| is_it(program)) else {
            return;
        };
        let is_awk = program.ends_with("awk");
        // Short options may be joined: `-uc`.
        let ends = |word: &Word, one: &str| {
            let letters = word.text.strip_prefix('-').unwrap_or_default();
            let is_short =
                one.len() == 2 && letters.len() < 5 && letters.bytes().all(|byte| byte.is_ascii_alphabetic());
            is_short && one.starts_with('-') && letters.ends_with(&one[1..])
        };
        let mut own = rest.iter().take_while(|word| word.text.starts_with('-'));
        let is_joined = own.any(|word| options.iter().any(|one| ends(word, one)));
        let has_code = is_joined
            || rest.iter().any(|word| {
                let option = word.text.split('=').next().unwrap_or_default();
                let starts = |one: &str| {
                    one.len() == 2
                        && !one.ends_with('+')
                        && word.text.starts_with(one)
                        && !word.text.starts_with("--")
                };
                options.contains(&option)
                    || options.iter().any(|one| starts(one) || *one == "+" && word.text.starts_with('+'))
            });
        let reads_code = options.is_empty() && !is_awk
            || !is_awk
                && rest.iter().all(|word| word.text.starts_with('-') && word.text.len() < 3)
                && (self.command.is_piped
                    || self.command.redirects.iter().any(|one| !matches!(one, Redirect::Write { .. })));
        let awk_runs = is_awk && rest.iter().any(|word| AWK_RUNS.iter().any(|part| word.text.contains(part)));
        if has_code || reads_code || awk_runs {
            self.doubt(DoubtKind::Code);
        }
    }
}

/// Whether an option of a shell is followed by a text to run.
fn takes_text(word: &Word) -> bool {
    let is_long = word.text.starts_with("--");
    word.text == "--command" || word.text.starts_with('-') && !is_long && word.text.contains('c')
}

/// The text that follows one of these options, with the words after it. It may be joined to the option: `--run=ls`, `-c'ls -a'`.
fn text_after(options: &[&str], rest: &[Word]) -> Option<Word> {
    let is_letter = |one: &&str| one.len() == 2 && one.starts_with('-');
    rest.iter().enumerate().find_map(|(at, word)| {
        let text = word.text.as_str();
        let ends = |one: &&str| is_letter(one) && text.ends_with(&one[1..]);
        let is_joined = text.starts_with('-') && !text.starts_with("--");
        if options.contains(&text) || is_joined && options.iter().any(ends) {
            return Some(joined(&rest[at + 1..]));
        }
        let value = |one: &&str| {
            let value = text.strip_prefix(one)?;
            let is_value = |value: &&str| is_letter(one) && value.contains(char::is_whitespace);
            value.strip_prefix('=').or_else(|| Some(value).filter(is_value))
        };
        let start = text.len() - options.iter().find_map(value)?.len();
        let holes = word.holes.iter().filter(|hole| hole.start >= start);
        let holes = holes.map(|hole| hole.start - start..hole.end - start).collect();
        let first = Word { text: text[start..].to_owned(), holes };
        Some(joined(std::iter::once(&first).chain(&rest[at + 1..])))
    })
}

/// Whether git runs the value of a setting: always, or if it is more than the name of a program.
fn runs_in_git(key: &str, value: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let is_more = value.contains(|c: char| c == '/' || c == '!' || c == '$' || c.is_whitespace());
    value != "/dev/null"
        && !value.starts_with('-')
        && (key.starts_with("alias.")
            || key.ends_with(".hookspath")
            || is_more && key.contains('.') && GIT_RUN_SETTINGS.iter().any(|part| key.contains(part)))
}

/// Whether an assignment gives a program with arguments, or a file, to a variable whose value is run.
pub(super) fn sets_program(word: &Word) -> bool {
    let (name, value) = word.text.split_once('=').unwrap_or_default();
    let is_more = value.contains(|c: char| c == '/' || c.is_whitespace()) || !word.holes.is_empty();
    let is_setting = name.starts_with("GIT_CONFIG_KEY_") && runs_in_git(value, "$");
    is_setting || RUN_VARIABLES.contains(&name) && is_more && value != "/dev/null"
}

/// Whether a script of `sed` runs commands or writes files: its commands `e` and `w`, or these flags of `s`.
fn runs_in_sed(script: &str) -> bool {
    let starts = |at: usize| {
        let before = script[..at].trim_end().chars().next_back();
        before.is_none_or(|c| c.is_ascii_digit() || matches!(c, ';' | '}' | '{' | '$' | '!' | '/' | '\n'))
    };
    let is_command = |(at, _): (usize, &str)| starts(at);
    let mut separated = script.match_indices("e ").chain(script.match_indices("w "));
    let flags = script.strip_prefix('s').and_then(|rest| rest.rsplit(rest.chars().next()?).next());
    let is_flags =
        |flags: &str| flags.contains('e') && flags.bytes().all(|byte| b"egiIpM0123456789".contains(&byte));
    separated.any(is_command) || flags.is_some_and(is_flags)
}

/// Where the command of git is, after its own options.
pub(super) fn git_command(rest: &[Word]) -> Option<usize> {
    let mut at = 0;
    while let Some(word) = rest.get(at).filter(|word| word.text.starts_with('-')) {
        at += 1 + usize::from(GIT_VALUED.contains(&word.text.as_str()));
    }
    (at < rest.len()).then_some(at)
}

/// How many words of a program are its options.
fn skip_options(rest: &[Word], valued: &str, long: &[&str]) -> usize {
    let mut at = 0;
    while let Some(word) = rest.get(at) {
        let text = word.text.as_str();
        if text == "--" {
            return at + 1;
        }
        if text == "-" || !text.starts_with('-') {
            return at;
        }
        let takes_next = long.contains(&text)
            || !text.starts_with("--") && text.chars().last().is_some_and(|c| valued.contains(c));
        at += 1 + usize::from(takes_next);
    }
    at.min(rest.len())
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

fn joined<'w>(words: impl IntoIterator<Item = &'w Word>) -> Word {
    words.into_iter().fold(Word::default(), |mut line, word| {
        line.push_word(word);
        line
    })
}

impl Command {
    /// The forms under which patterns know the command: as written, by its plain name, and git without its own options.
    pub(crate) fn forms(&self) -> Vec<Word> {
        let mut forms = vec![self.line()];
        let Some(name) = self.name() else { return forms };
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
