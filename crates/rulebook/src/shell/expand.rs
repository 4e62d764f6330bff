//! What commands start in turn: `sudo`, `sh -c`, `xargs`, `find -exec`, shells that read their input.

use std::borrow::Cow;

use super::command::{Command, Redirect, Word};
use super::programs::{AWK_RUNS, GIT_VALUED, INTERPRETERS, SHELLS, STARTERS, Starter, TEXT_AFTER};
use super::reader::{Ends, Reader};
use super::script::{DoubtKind, MAX_COMMANDS, MAX_DEPTH, Script};
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
        if command.words.first().is_some_and(|name| written.iter().any(|file| is_same_file(&name.text, file)))
        {
            script.doubt(DoubtKind::File, command.line().text);
        }
        if !started.is_empty() {
            add(script, &started, written, depth + 1, all);
        }
    }
}

fn is_same_file(one: &str, other: &str) -> bool {
    one.trim_start_matches("./") == other.trim_start_matches("./")
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
        let is_option = |word: &Word, options: &[&str]| {
            // Short options may be joined: `-qc`.
            let ends = |one: &&str| one.len() == 2 && one.starts_with('-') && word.text.ends_with(&one[1..]);
            let is_joined = word.text.starts_with('-') && !word.text.starts_with("--");
            options.contains(&word.text.as_str()) || is_joined && options.iter().any(ends)
        };
        match &*name {
            "eval" => self.text(&joined(rest)),
            "source" | "." => self.doubt(DoubtKind::File),
            "trap" => rest.first().into_iter().for_each(|word| self.text(word)),
            "hash" if rest.iter().any(|word| word.text == "-p") => self.doubt(DoubtKind::Alias),
            "sed" | "gsed" if rest.iter().any(|word| runs_in_sed(&word.text)) => self.doubt(DoubtKind::Code),
            "gh" if rest.first().is_some_and(|word| word.text == "alias") => self.doubt(DoubtKind::Alias),
            "alias" if rest.iter().any(|word| word.text.contains('=')) => self.doubt(DoubtKind::Alias),
            "find" | "fd" | "fdfind" => self.executed(rest),
            "git" => self.git(rest),
            "ssh" => {
                let host = skip_options(rest, "bcDEeFIiJLlmOopQRSWw", &[]);
                rest.get(host + 1..)
                    .filter(|rest| !rest.is_empty())
                    .into_iter()
                    .for_each(|rest| self.text(&joined(rest)));
            }
            name if SHELLS.contains(&name) => self.shell(rest),
            _ => {}
        }
        let texts = TEXT_AFTER.iter().find(|(program, _)| *program == name);
        if let Some((_, options)) = texts
            && let Some(at) = rest.iter().position(|word| is_option(word, options))
        {
            self.text(&joined(&rest[at + 1..]));
        }
        if let Some(starter) = STARTERS.iter().find(|starter| starter.name == name) {
            self.start(starter, rest);
        }
        self.interpreter(&name, rest);
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
        self.script.chains = std::mem::take(&mut inner.chains);
        self.script.doubts.append(&mut inner.doubts);
        self.started.append(&mut inner.commands);
    }

    /// Starts a command given as words.
    fn words(&mut self, words: Vec<Word>) {
        if !words.is_empty() {
            let started = Command { words, redirects: Vec::new(), ..self.command.clone() };
            self.started.push(started);
        }
    }

    fn start(&mut self, starter: &Starter, rest: &[Word]) {
        // `command -v` only looks a name up.
        if starter.name == "command" && rest.first().is_some_and(|word| matches!(&*word.text, "-v" | "-V")) {
            return;
        }
        let is_env = starter.name == "env";
        let split = rest.iter().position(|word| matches!(&*word.text, "-S" | "--split-string") && is_env);
        if let Some(split) = split {
            return self.text(&joined(&rest[split + 1..]));
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
        let takes_text = |word: &&Word| {
            let is_long = word.text.starts_with("--");
            word.text == "--command" || word.text.starts_with('-') && !is_long && word.text.contains('c')
        };
        if let Some(at) = rest.iter().position(|word| takes_text(&word)) {
            let own = |word: &&Word| word.text.starts_with('-') || word.text.starts_with('+');
            let text = rest[at + 1..].iter().find(|word| !own(word) || word.text.contains(' '));
            return text.cloned().into_iter().for_each(|text| self.text(&text));
        }
        let file = skip_options(rest, "oO", &["--rcfile", "--init-file"]);
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

    /// The commands of `find -exec`.
    fn executed(&mut self, rest: &[Word]) {
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
            fill(&mut words, "{}");
            self.words(words);
        }
    }

    /// git with an alias, or a command as a setting.
    fn git(&mut self, rest: &[Word]) {
        let settings = rest.windows(2).filter(|pair| pair[0].text == "-c").map(|pair| &pair[1]);
        let runs = |word: &&Word| {
            let (key, value) = word.text.split_once('=').unwrap_or((&word.text, ""));
            let key = key.to_ascii_lowercase();
            key.starts_with("alias.")
                || value.contains('!')
                || ["pager", "editor", "command", "hookspath"].iter().any(|part| key.contains(part))
        };
        let is_config = git_command(rest).is_some_and(|at| rest[at].text == "config");
        let alias = rest
            .iter()
            .filter(|_| is_config)
            .find(|word| word.text.to_ascii_lowercase().starts_with("alias."));
        if alias.is_some() || settings.into_iter().any(|word| runs(&word)) {
            self.doubt(DoubtKind::Alias);
        }
        // Commands that git runs for each commit.
        let runs = ["--exec", "-x", "--tree-filter", "--index-filter", "--msg-filter"];
        for pair in rest.windows(2).filter(|pair| runs.contains(&&*pair[0].text)) {
            self.text(&pair[1]);
        }
        if let Some(at) = git_command(rest)
            && matches!(&*rest[at].text, "bisect" | "submodule")
            && let Some(run) = rest.iter().position(|word| matches!(&*word.text, "run" | "foreach"))
        {
            self.text(&joined(&rest[run + 1..]));
        }
    }

    fn interpreter(&mut self, name: &str, rest: &[Word]) {
        let is_version = |tail: &str| tail.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        let is_it = |program: &str| name.strip_prefix(program).is_some_and(is_version);
        let Some((program, options)) = INTERPRETERS.iter().find(|(program, _)| is_it(program)) else {
            return;
        };
        let is_awk = program.ends_with("awk");
        let has_code = rest.iter().any(|word| {
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
