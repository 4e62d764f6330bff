//! Lists of commands: operators, keywords, redirections and here-documents.

use super::command::{Command, Word};
use super::expand::sets_program;
use super::reader::{Ends, Reader, is_blank, is_meta};
use super::script::{DoubtKind, MAX_COMMANDS, MAX_DEPTH, Script};

/// Reads a text into its commands. What they start in turn is not read yet.
pub(super) fn parse(text: &str) -> Script {
    let mut script = Script::default();
    let chain = script.new_chain(None);
    let pipeline = &mut 0;
    Reader::new(text, &mut script, chain, Some(String::new()), 0, pipeline).list(Ends::Text);
    script
}

/// Words that are followed by a command.
const BEFORE_COMMAND: &[&str] = &["if", "then", "elif", "else", "while", "until", "do", "{", "!", "coproc"];
/// Words that open a compound command, and words that end one.
const OPENERS: &[&str] = &["{", "if", "while", "until", "for", "select", "case"];
const ENDS: &[&str] = &["fi", "done", "esac", "}"];
/// Redirections, longer ones first.
const REDIRECTS: &[&str] = &["<<<", "<<-", "&>>", "<<", "<>", "<&", ">>", ">&", ">|", "&>", "<", ">"];

impl<'t> Reader<'t> {
    /// Reads another text that runs here.
    pub(super) fn inner(&mut self, text: &str) {
        let chain = self.script.new_chain(Some(self.chain));
        let (folder, depth) = (self.folder.clone(), self.depth + 1);
        Reader::new(text, self.script, chain, folder, depth, self.pipeline).list(Ends::Text);
    }

    /// Reads commands up to the end of the text, or up to the bracket that closes the list.
    pub(super) fn list(&mut self, ends: Ends) {
        if ends == Ends::Bracket {
            if self.depth >= MAX_DEPTH {
                self.at = self.text.len();
                return self.doubt(DoubtKind::Limit);
            }
            self.depth += 1;
            let (chain, folder) = (self.chain, self.folder.clone());
            self.chain = self.script.new_chain(Some(chain));
            self.commands(ends);
            (self.chain, self.folder) = (chain, folder);
            self.depth -= 1;
        } else {
            self.commands(ends);
            self.read_documents();
        }
    }

    fn commands(&mut self, ends: Ends) {
        let mut parent = self.script.chains[self.chain];
        // The chains around the compound commands that are open.
        let mut groups: Vec<(usize, Option<usize>)> = Vec::new();
        *self.pipeline += 1;
        let mut first = self.script.commands.len();
        let (mut is_piped, mut is_alternative) = (false, false);
        // How many `case` commands are open, whose patterns end in `)`.
        let mut cases = 0usize;
        loop {
            self.skip_blanks();
            if self.script.commands.len() > MAX_COMMANDS {
                self.at = self.text.len();
                return self.doubt(DoubtKind::Limit);
            }
            let rest = self.rest();
            let Some(c) = rest.chars().next() else { return };
            let operator = ["&&", "||", ";;&", ";;", ";&", "|&", "\n", ";", "|", "&", ")", "("];
            let operator = operator.into_iter().find(|one| rest.starts_with(one));
            let operator = operator.filter(|_| !rest.starts_with("&>"));
            match operator {
                Some(")") if cases == 0 && ends == Ends::Bracket => return,
                Some("(") => {
                    self.at += 1;
                    if !self.arithmetic() {
                        self.list(Ends::Bracket);
                        self.at += usize::from(self.rest().starts_with(')'));
                    }
                    continue;
                }
                Some("|" | "|&") => {
                    self.at += operator.map_or(0, str::len);
                    let child = self.script.new_chain(Some(self.chain));
                    let of_element = &mut self.script.commands[first..];
                    of_element
                        .iter_mut()
                        .filter(|one| one.chain == self.chain)
                        .for_each(|one| one.chain = child);
                    is_piped = true;
                    continue;
                }
                Some(operator) => {
                    self.at += operator.len();
                    if operator == "\n" {
                        self.read_documents();
                    }
                    if operator != "&&" || is_alternative {
                        self.chain = self.script.new_chain(parent);
                    }
                    is_alternative = operator == "||";
                    is_piped = false;
                    *self.pipeline += 1;
                    first = self.script.commands.len();
                    if operator.starts_with(";;") || operator == ";&" {
                        self.skip_pattern(&mut cases);
                    }
                    continue;
                }
                None => {}
            }
            let start = self.at;
            let keyword = self.keyword();
            match keyword {
                Some(word) if OPENERS.contains(&word) => {
                    groups.push((self.chain, parent));
                    parent = Some(self.chain);
                    self.chain = self.script.new_chain(parent);
                }
                Some(word) if ENDS.contains(&word) => {
                    (self.chain, parent) = groups.pop().unwrap_or((self.chain, parent));
                }
                _ => {}
            }
            match keyword {
                Some("case") => {
                    self.skip_to_in();
                    cases += 1;
                    self.skip_pattern(&mut cases);
                }
                Some("esac") => cases = cases.saturating_sub(1),
                Some("for" | "select") => self.skip_for(),
                Some("[[") => self.skip_test(),
                Some("function") => {
                    self.skip_blanks();
                    drop(self.words());
                }
                Some("!") => is_alternative = true,
                Some(_) => {}
                None => {
                    self.simple(is_piped);
                    if self.at == start {
                        // A character that starts nothing.
                        self.at += c.len_utf8();
                    }
                }
            }
        }
    }

    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            match rest.chars().next() {
                Some(c) if is_blank(c) => self.at += c.len_utf8(),
                Some('\\') if rest.starts_with("\\\n") => self.at += 2,
                Some('\\') if rest.starts_with("\\\r\n") => self.at += 3,
                Some('#') => self.at += rest.find('\n').unwrap_or(rest.len()),
                _ if self.skip_separator() => {}
                _ => return,
            }
        }
    }

    /// Takes a keyword, if one is next.
    fn keyword(&mut self) -> Option<&'t str> {
        let rest = self.rest();
        let word = &rest[..rest.find(is_meta).unwrap_or(rest.len())];
        let others = ["case", "for", "select", "function", "[["];
        let is_keyword = others.contains(&word) || BEFORE_COMMAND.contains(&word) || ENDS.contains(&word);
        is_keyword.then(|| {
            self.at += word.len();
            word
        })
    }

    /// Skips `WORD in` of a `case`.
    fn skip_to_in(&mut self) {
        for _ in 0..4 {
            self.skip_blanks();
            let (words, _) = self.words();
            if words.first().is_none_or(|word| word.text == "in") {
                return;
            }
        }
    }

    /// Skips a pattern of a `case` up to its `)`, unless the `case` ends.
    fn skip_pattern(&mut self, cases: &mut usize) {
        if *cases == 0 {
            return;
        }
        while let Some(c) = self.peek() {
            self.skip_blanks();
            if self.rest().starts_with("esac") {
                return;
            }
            match self.peek() {
                Some(')') => {
                    self.at += 1;
                    return;
                }
                Some('|' | '(' | '\n' | ';' | '&' | '<' | '>') => self.at += 1,
                Some(_) => drop(self.words()),
                None => self.at += c.len_utf8().min(self.rest().len()),
            }
        }
    }

    /// Skips a test up to its `]]`.
    fn skip_test(&mut self) {
        while self.peek().is_some() {
            self.skip_blanks();
            if self.rest().starts_with("]]") {
                self.at += 2;
                return;
            }
            let start = self.at;
            drop(self.words());
            self.at += if self.at == start { self.peek().map_or(0, char::len_utf8) } else { 0 };
        }
    }

    /// Skips `NAME in WORDS` of a `for`.
    fn skip_for(&mut self) {
        loop {
            self.skip_blanks();
            match self.peek() {
                None | Some('\n' | ';') => return,
                Some('(') => {
                    self.at += 1;
                    if !self.arithmetic() {
                        return;
                    }
                }
                Some(')' | '|' | '&' | '<' | '>') => return,
                Some(_) => drop(self.words()),
            }
        }
    }

    /// Reads a simple command.
    fn simple(&mut self, is_piped: bool) {
        let mut command = Command {
            pipeline: *self.pipeline,
            chain: self.chain,
            folder: self.folder.clone(),
            is_piped,
            ..Command::default()
        };
        let mut documents = Vec::new();
        loop {
            while matches!(self.peek(), Some(c) if is_blank(c)) || self.skip_continuation() {
                self.at += self.peek().filter(|c| is_blank(*c)).map_or(0, char::len_utf8);
            }
            let rest = self.rest();
            let is_process = rest.starts_with("<(") || rest.starts_with(">(");
            let redirect = REDIRECTS.iter().find(|one| rest.starts_with(**one)).filter(|_| !is_process);
            if let Some(operator) = redirect {
                self.redirect(operator, true, &mut command, &mut documents);
                continue;
            }
            match self.peek() {
                None | Some('\n' | ';' | '&' | '|' | ')') => break,
                Some('#') => {
                    self.skip_blanks();
                    break;
                }
                // The name of a function, or an array.
                Some('(') => {
                    self.at += 1;
                    self.skip_blanks();
                    if self.rest().starts_with(')') && command.words.len() == 1 {
                        self.at += 1;
                        return;
                    }
                    self.list(Ends::Bracket);
                    self.at += usize::from(self.rest().starts_with(')'));
                    continue;
                }
                Some(_) => {}
            }
            let start = self.at;
            let (words, is_quoted) = self.words();
            let written = &self.text[start..self.at];
            let operator =
                REDIRECTS.iter().find(|one| self.rest().starts_with(**one) && !one.starts_with('&'));
            let is_number = !written.is_empty() && written.bytes().all(|byte| byte.is_ascii_digit());
            if let Some(operator) = operator.filter(|_| is_number) {
                self.redirect(operator, written == "1", &mut command, &mut documents);
            } else if command.words.is_empty() && is_assignment(written) {
                if words.iter().any(sets_program) {
                    self.doubt(DoubtKind::Setting);
                }
            } else {
                if is_quoted && words.is_empty() {
                    command.words.push(Word::default());
                }
                command.words.extend(words);
            }
        }
        if command.words.is_empty() && command.redirects.is_empty() {
            return;
        }
        self.follow_folder(&command);
        let at = self.script.commands.len();
        self.pending.extend(documents.into_iter().map(|redirect| (at, redirect)));
        self.script.commands.push(command);
    }

    pub(super) fn skip_continuation(&mut self) -> bool {
        let len = ["\\\n", "\\\r\n"].iter().find(|end| self.rest().starts_with(**end)).map(|end| end.len());
        self.at += len.unwrap_or(0);
        len.is_some() || self.skip_separator()
    }
}

/// Whether a word before the name of a command sets a variable.
fn is_assignment(written: &str) -> bool {
    let Some((name, _)) = written.split_once('=') else { return false };
    let name = name.strip_suffix('+').unwrap_or(name);
    let name = name.split('[').next().unwrap_or(name);
    name.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
}
