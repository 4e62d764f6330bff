//! Lists of commands: operators, keywords, redirections and here-documents.

use super::command::{Command, Word};
use super::reader::{Ends, Reader, is_blank, is_meta};
use super::script::{DoubtKind, MAX_COMMANDS, MAX_DEPTH, Script};
use super::variable::is_assignment;

/// Reads a text into its commands. What they start in turn is not read yet.
pub(super) fn parse(text: &str) -> Script {
    let mut script = Script::default();
    let chain = script.new_chain(None);
    let pipeline = &mut 0;
    let last = Reader::new(text, &mut script, chain, Some(String::new()), 0, pipeline).list(Ends::Text);
    script.last = last;
    script.feed_groups();
    script
}

/// The commands between operators, where a reader is.
#[derive(Default)]
struct List {
    /// The chain around it.
    parent: Option<usize>,
    /// Its first command.
    first: usize,
    /// The chain whose commands have succeeded if the commands before it have.
    last: Option<usize>,
    is_piped: bool,
    /// Whether the next command runs only if those before it succeeded.
    is_chained: bool,
    /// Whether it need not have succeeded: it follows `||` or `!`.
    is_alternative: bool,
}

impl List {
    fn start(&mut self, first: usize) {
        self.first = first;
        self.is_piped = false;
        self.is_alternative = false;
    }
}

/// A compound command that is open.
struct Group<'t> {
    opener: &'t str,
    /// The chain and the list that it is part of.
    chain: usize,
    around: List,
    /// Its first command.
    start: usize,
    /// Whether it is the body of a function, which may run anywhere.
    is_body: bool,
}

/// Words that are followed by a command.
const BEFORE_COMMAND: &[&str] = &["if", "then", "elif", "else", "while", "until", "do", "{", "!", "coproc"];
/// Words that open a compound command, and words that end one.
const OPENERS: &[&str] = &["{", "if", "while", "until", "for", "select", "case"];
const LOOPS: &[&str] = &["while", "until", "for", "select"];
const ENDS: &[&str] = &["fi", "done", "esac", "}"];
/// Operators after which a line may end.
const CONTINUED: &[&str] = &["&&", "||", "|", "|&"];
/// Redirections, longer ones first.
const REDIRECTS: &[&str] = &["<<<", "<<-", "&>>", "<<", "<>", "<&", ">>", ">&", ">|", "&>", "<", ">"];

impl<'t> Reader<'t> {
    /// Reads another text that runs here.
    pub(super) fn inner(&mut self, text: &str) {
        let chain = self.script.new_chain(Some(self.chain));
        let (folder, depth) = (self.folder.clone(), self.depth + 1);
        Reader::new(text, self.script, chain, folder, depth, self.pipeline).list(Ends::Text);
    }

    /// Reads commands up to the end of the text, or up to the character that closes the list. Returns the chain whose
    /// commands have succeeded if the list has.
    pub(super) fn list(&mut self, ends: Ends) -> Option<usize> {
        if ends == Ends::Text {
            let last = self.commands(ends);
            self.read_documents();
            return last;
        }
        if self.depth >= MAX_DEPTH {
            self.at = self.text.len();
            self.doubt(DoubtKind::Limit);
            return None;
        }
        self.depth += 1;
        let (chain, folder) = (self.chain, self.folder.clone());
        self.chain = self.script.new_chain(Some(chain));
        let last = self.commands(ends);
        (self.chain, self.folder) = (chain, folder);
        self.depth -= 1;
        last
    }

    fn commands(&mut self, ends: Ends) -> Option<usize> {
        let mut list = List { parent: self.script.chains[self.chain], ..List::default() };
        let mut groups: Vec<Group> = Vec::new();
        *self.pipeline += 1;
        list.first = self.script.commands.len();
        // How many `case` commands are open, whose patterns end in `)`.
        let mut cases = 0usize;
        let mut is_function = false;
        loop {
            self.skip_blanks();
            if self.script.commands.len() > MAX_COMMANDS {
                self.at = self.text.len();
                self.doubt(DoubtKind::Limit);
                return None;
            }
            let rest = self.rest();
            let Some(c) = rest.chars().next() else { return self.last_of(&list) };
            let operator = ["&&", "||", ";;&", ";;", ";&", "|&", "\n", ";", "|", "&", ")", "("];
            let operator = operator.into_iter().find(|one| rest.starts_with(one));
            let operator = operator.filter(|_| !rest.starts_with("&>"));
            match operator {
                Some(")") if cases == 0 && ends == Ends::Bracket => return self.last_of(&list),
                Some("(") => {
                    self.at += 1;
                    if !self.arithmetic() {
                        let start = self.script.commands.len();
                        let is_body = std::mem::take(&mut is_function);
                        let last = self.list(Ends::Bracket).filter(|_| !is_body);
                        self.at += usize::from(self.rest().starts_with(')'));
                        self.delay(start, is_body);
                        self.close_group(start, last, list.is_piped || is_body);
                    }
                    continue;
                }
                Some(operator) => {
                    self.at += operator.len();
                    if operator == "\n" {
                        self.read_documents();
                    }
                    if CONTINUED.contains(&operator) {
                        self.skip_lines();
                    }
                    if operator.starts_with('|') && operator != "||" {
                        self.pipe(&mut list);
                        continue;
                    }
                    self.separate(operator, &mut list);
                    if operator.starts_with(";;") || operator == ";&" {
                        self.skip_pattern(&mut cases);
                    }
                    continue;
                }
                None => {}
            }
            if ends == Ends::Brace && groups.is_empty() && c == '}' {
                return self.last_of(&list);
            }
            let start = self.at;
            let keyword = self.keyword();
            match keyword {
                Some(word) if OPENERS.contains(&word) => {
                    let around = std::mem::take(&mut list);
                    list.parent = Some(self.chain);
                    list.first = self.script.commands.len();
                    list.is_piped = around.is_piped;
                    let (chain, start) = (self.chain, list.first);
                    let is_body = std::mem::take(&mut is_function);
                    groups.push(Group { opener: word, chain, around, start, is_body });
                    self.chain = self.script.new_chain(list.parent);
                }
                Some(word) if ENDS.contains(&word) => {
                    if let Some(group) = groups.pop() {
                        let last = self.last_of(&list).filter(|_| word == "}" && !group.is_body);
                        (self.chain, list) = (group.chain, group.around);
                        self.delay(group.start, group.is_body || LOOPS.contains(&group.opener));
                        self.forget_variables(group.start);
                        self.close_group(group.start, last, list.is_piped || group.is_body);
                    }
                }
                Some(word @ ("then" | "do" | "else" | "elif")) => {
                    if let Some(group) = groups.last() {
                        // What follows runs only if the condition succeeded.
                        let is_met = word == "then" || word == "do" && group.opener == "while";
                        list.parent = self.last_of(&list).filter(|_| is_met).or(Some(group.chain));
                        self.chain = self.script.new_chain(list.parent);
                        list.last = None;
                        list.start(self.script.commands.len());
                    }
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
                    is_function = true;
                }
                Some("!" | "coproc") => list.is_alternative = true,
                Some(_) => {}
                None => {
                    let is_certain = groups.is_empty() && self.is_certain(&list);
                    is_function |= self.simple(list.is_piped, is_certain);
                    if self.at == start {
                        // A character that starts nothing.
                        self.at += c.len_utf8();
                    }
                }
            }
        }
    }

    /// Whether the next command runs, in the shell of the text, whenever what follows does.
    fn is_certain(&self, list: &List) -> bool {
        !list.is_piped && !list.is_alternative && !list.is_chained && self.script.chains[self.chain].is_none()
    }

    /// The chain whose commands have succeeded if the commands so far have.
    fn last_of(&self, list: &List) -> Option<usize> {
        let is_open = self.script.commands.len() > list.first;
        if is_open { Some(self.chain).filter(|_| !list.is_alternative) } else { list.last }
    }

    /// Continues after `|`: only the last element of a pipeline decides whether it succeeds.
    fn pipe(&mut self, list: &mut List) {
        self.forget_variables(list.first);
        let child = self.script.new_chain(Some(self.chain));
        let of_element = self.script.commands[list.first..].iter_mut();
        of_element.filter(|one| one.chain == self.chain).for_each(|one| one.chain = child);
        list.is_piped = true;
    }

    /// Continues after an operator that ends a pipeline.
    fn separate(&mut self, operator: &str, list: &mut List) {
        if operator == "&" {
            self.forget_variables(list.first);
        }
        let is_end = !matches!(operator, "&&" | "||");
        if is_end {
            list.last = self.last_of(list).filter(|_| operator != "&");
        }
        if operator != "&&" || list.is_alternative {
            self.chain = self.script.new_chain(list.parent);
        }
        list.start(self.script.commands.len());
        list.is_alternative = operator == "||";
        list.is_chained = operator == "&&";
        *self.pipeline += 1;
    }

    /// Ends a compound command. It succeeds if its last commands do, and its redirections are those of all its commands.
    fn close_group(&mut self, start: usize, last: Option<usize>, is_fed: bool) {
        let chain = self.chain;
        for command in &mut self.script.commands[start..] {
            command.chain = if Some(command.chain) == last { chain } else { command.chain };
            command.is_piped |= is_fed;
        }
        self.skip_blanks();
        let after = self.rest().trim_start_matches(|c: char| c.is_ascii_digit());
        let is_process = after.starts_with("<(") || after.starts_with(">(");
        let end = self.script.commands.len();
        if end > start && !is_process && REDIRECTS.iter().any(|one| after.starts_with(one)) {
            self.simple(is_fed, false);
            let carrier = self.script.commands.len() - 1;
            if carrier >= end {
                self.script.groups.push((start..end, carrier));
            }
        }
    }

    /// Skips blanks and ends of lines.
    pub(super) fn skip_lines(&mut self) {
        loop {
            self.skip_blanks();
            if !self.rest().starts_with('\n') {
                return;
            }
            self.at += 1;
            self.read_documents();
        }
    }

    pub(super) fn skip_blanks(&mut self) {
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

    /// Reads a simple command. Says whether it is the name of a function.
    fn simple(&mut self, is_piped: bool, is_certain: bool) -> bool {
        let mut command = Command {
            pipeline: *self.pipeline,
            chain: self.chain,
            folder: self.folder.clone(),
            is_piped,
            ..Command::default()
        };
        let mut documents = Vec::new();
        let mut set = None;
        let mut last_written = "";
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
                Some('(') if last_written.ends_with('=') => {
                    self.at += 1;
                    let name = last_written;
                    self.array(name);
                    continue;
                }
                // The name of a function.
                Some('(') => {
                    self.at += 1;
                    self.skip_blanks();
                    if self.rest().starts_with(')') && command.words.len() == 1 {
                        self.at += 1;
                        return true;
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
            last_written = written;
            let operator =
                REDIRECTS.iter().find(|one| self.rest().starts_with(**one) && !one.starts_with('&'));
            let is_number = !written.is_empty() && written.bytes().all(|byte| byte.is_ascii_digit());
            if let Some(operator) = operator.filter(|_| is_number) {
                self.redirect(operator, written == "1", &mut command, &mut documents);
            } else if command.words.is_empty() && is_assignment(written) {
                words.iter().for_each(|word| self.assigned(word));
                self.evaluated(&words);
                set = words.first().and_then(|word| Some((written.split_once('=')?.0, word.clone())));
            } else {
                if is_quoted && words.is_empty() {
                    command.words.push(Word::default());
                }
                command.words.extend(words.into_iter().flat_map(Word::resolved));
            }
        }
        if command.words.is_empty() && command.redirects.is_empty() {
            // Before a command, it is set for that command only.
            if let Some((name, word)) = set.filter(|_| is_certain) {
                self.set(name, vec![word.tail(name.len() + 1)]);
            }
            return false;
        }
        self.follow_folder(&command);
        let at = self.script.commands.len();
        self.pending.extend(documents.into_iter().map(|redirect| (at, redirect)));
        self.script.commands.push(command);
        false
    }

    pub(super) fn skip_continuation(&mut self) -> bool {
        let len = ["\\\n", "\\\r\n"].iter().find(|end| self.rest().starts_with(**end)).map(|end| end.len());
        self.at += len.unwrap_or(0);
        len.is_some() || self.skip_separator()
    }
}
