//! Shells and interpreters: what they run of a text after an option, of a file, and of their input.

use super::command::{Redirect, Word, joined};
use super::options::Options;
use super::programs::{INTERPRETERS, STARTUP_OPTIONS};
use super::script::DoubtKind;
use super::starting::Starting;

/// The options of shells before the file that they run.
const OPTIONS: Options = Options { long: STARTUP_OPTIONS, ..Options::new("oO") };

impl Starting<'_> {
    /// A shell: the text after `-c`, a file, or its input.
    pub(super) fn shell(&mut self, rest: &[Word]) {
        let startup = rest.windows(2).filter(|pair| STARTUP_OPTIONS.contains(&&*pair[0].text));
        if startup.into_iter().any(|pair| pair[1].text != "/dev/null") {
            self.doubt(DoubtKind::File);
        }
        if let Some(at) = rest.iter().position(takes_text) {
            return text_of(&rest[at..]).into_iter().for_each(|text| self.text(text));
        }
        if !reads_input(rest) {
            return if rest.iter().any(|word| word.text == "--version" || word.text == "--help") {
            } else {
                self.doubt(DoubtKind::File);
            };
        }
        self.input();
    }

    /// Reads what redirections give to a shell. The last one counts; which descriptor it is for is not known, so all do.
    fn redirected(&mut self, redirects: &[Redirect]) {
        for redirect in redirects {
            match redirect {
                Redirect::Text(text) => self.read_text(text),
                Redirect::Document(document) => {
                    document.body.iter().for_each(|body| self.read_text(body));
                }
                Redirect::Read(_) => self.doubt(DoubtKind::Input),
                Redirect::Write { .. } => {}
            }
        }
    }

    /// Reads the input of a shell, if it is in the line.
    pub(super) fn input(&mut self) {
        let command = self.command;
        self.redirected(&command.redirects);
        if !command.is_piped {
            return;
        }
        let Some(writer) = self.writer else { return self.doubt(DoubtKind::Input) };
        let name = writer.name();
        let is_read = |redirect: &Redirect| redirect.text().is_some();
        let is_plain = |word: &Word| !word.text.contains('\\') && !word.text.contains('%');
        match name.as_deref() {
            Some("cat") if writer.words.len() == 1 && writer.redirects.iter().any(is_read) => {
                self.redirected(&writer.redirects);
            }
            Some("echo") if writer.words[1..].iter().all(is_plain) => {
                let words: Vec<Word> = writer.words[1..]
                    .iter()
                    .skip_while(|word| word.text == "-n" || word.text == "-e")
                    .cloned()
                    .collect();
                self.read_text(&joined(&words));
            }
            Some("printf") if writer.words.len() == 2 && writer.words[1..].iter().all(is_plain) => {
                self.read_text(&writer.words[1]);
            }
            Some("printf")
                if writer.words.len() == 3 && writer.words[1].text.trim_end_matches("\\n") == "%s" =>
            {
                self.read_text(&writer.words[2]);
            }
            _ => self.doubt(DoubtKind::Input),
        }
    }

    pub(super) fn interpreter(&mut self, name: &str, rest: &[Word]) {
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
        let awk_runs = is_awk && rest.iter().any(|word| runs_in_awk(&word.text));
        if has_code || reads_code || awk_runs {
            self.doubt(DoubtKind::Code);
        }
    }
}

/// Whether an option of a shell is followed by a text to run.
pub(super) fn takes_text(word: &Word) -> bool {
    let is_long = word.text.starts_with("--");
    word.text == "--command" || word.text.starts_with('-') && !is_long && word.text.contains('c')
}

/// The text that a shell runs, after the word with its option. An option with a name is followed by that name.
fn text_of(words: &[Word]) -> Option<&Word> {
    let mut words = words.iter();
    let mut word = words.next()?;
    loop {
        if word.text.starts_with(['-', '+']) && !word.text.starts_with("--") && word.text.contains(['o', 'O'])
        {
            words.next();
        }
        word = words.next()?;
        if !word.text.starts_with(['-', '+']) || word.text.contains(' ') {
            return Some(word);
        }
    }
}

/// Whether a shell with these words runs what it reads.
pub(super) fn reads_input(rest: &[Word]) -> bool {
    let file = OPTIONS.skip(rest);
    rest.iter().any(|word| word.text == "-s") || rest.get(file).is_none_or(|file| file.text == "-")
}

/// Whether a program of `awk` runs commands or writes files: `system(…)`, `print > …`, `… | getline`.
fn runs_in_awk(program: &str) -> bool {
    let is_call = |(at, name): (usize, &str)| program[at + name.len()..].trim_start().starts_with('(');
    let prints = |(at, _): (usize, &str)| {
        let statement = program[at..].split([';', '}', '\n']).next().unwrap_or_default();
        statement.contains('>') || statement.replace("||", "").contains('|')
    };
    program.match_indices("system").any(is_call)
        || program.match_indices("print").any(prints)
        || program.contains("getline")
        || program.contains("@load")
}

/// Whether a script of `sed` runs commands or writes files: its commands `e` and `w`, or these flags of `s`.
pub(super) fn runs_in_sed(script: &str) -> bool {
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
