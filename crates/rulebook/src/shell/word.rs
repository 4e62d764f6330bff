//! Words: quotes, escapes, variables, substitutions and braces.

use super::braces::expand_braces;
use super::command::Word;
use super::reader::{Ends, Reader, is_meta};
use super::script::DoubtKind;

/// The maximum length of `[…]` in a word.
const MAX_CLASS: usize = 256;

/// Where quoted text is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quote {
    /// In double quotes.
    Word,
    /// In a here-document.
    Document,
}

/// A word being read.
#[derive(Default)]
struct Part {
    word: Word,
    is_quoted: bool,
    /// Positions of unquoted `{`, `,`, `}` in the text.
    braces: Vec<usize>,
    has_dots: bool,
}

impl Reader<'_> {
    /// Reads the word at the current position: several if it has braces, none if it is empty. Says whether a part is quoted.
    pub(super) fn words(&mut self) -> (Vec<Word>, bool) {
        let mut part = Part::default();
        let start = self.at;
        self.tilde(&mut part.word);
        while let Some(c) = self.peek() {
            match c {
                '<' | '>' if self.rest()[1..].starts_with('(') && self.at == start => {
                    self.at += 2;
                    let first = self.script.commands.len();
                    self.nested(start);
                    // `>(sh)` reads what is written to it.
                    if let Some(reader) = self.script.commands.get_mut(first).filter(|_| c == '>') {
                        reader.is_piped = true;
                    }
                    part.word.push_hole(&self.text[start..self.at]);
                }
                c if is_meta(c) => break,
                '\'' => {
                    self.at += 1;
                    part.is_quoted = true;
                    let end = self.rest().find('\'');
                    part.word.text.push_str(&self.rest()[..end.unwrap_or(self.rest().len())]);
                    self.close(end, 1);
                }
                '"' => {
                    self.at += 1;
                    self.quoted(&mut part, Quote::Word);
                }
                '\\' => {
                    self.at += 1;
                    self.escaped(&mut part);
                }
                '$' if self.is_separator() => break,
                '$' => {
                    part.word.may_split = true;
                    self.dollar(&mut part, false);
                }
                '`' => {
                    part.word.may_split = true;
                    self.backticks(&mut part);
                }
                '*' => {
                    part.word.stars.push(part.word.text.len());
                    part.word.text.push('*');
                    self.at += 1;
                }
                '?' | '[' if c == '?' || self.is_class() => {
                    part.word.may_split = true;
                    part.word.push_hole(c.encode_utf8(&mut [0; 4]));
                    self.at += 1;
                }
                _ => {
                    if matches!(c, '{' | ',' | '}') {
                        part.braces.push(part.word.text.len());
                    }
                    part.has_dots |= self.rest().starts_with("..");
                    part.word.text.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
        let is_empty = self.at == start;
        if is_empty {
            self.skip_separator();
        }
        let words = if is_empty { Vec::new() } else { expand_braces(part.word, &part.braces, part.has_dots) };
        (words, part.is_quoted)
    }

    /// Whether a `[` is closed within the word.
    fn is_class(&self) -> bool {
        let mut rest = self.rest().chars().take_while(|c| !is_meta(*c)).take(MAX_CLASS);
        rest.any(|c| c == ']')
    }

    /// Whether `$IFS` is next: it separates words like a blank.
    fn is_separator(&self) -> bool {
        let rest = self.rest();
        let name = rest.strip_prefix("${").or_else(|| rest.strip_prefix('$'));
        let after = name.and_then(|name| name.strip_prefix("IFS"));
        after.is_some_and(|after| !after.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    }

    /// Skips `$IFS`, if it is next.
    pub(super) fn skip_separator(&mut self) -> bool {
        if !self.is_separator() {
            return false;
        }
        let has_brace = self.rest().starts_with("${");
        let end = if has_brace { self.rest().find('}').map(|end| end + 1) } else { Some("$IFS".len()) };
        self.at += end.unwrap_or(self.rest().len());
        true
    }

    /// Takes the text up to a closing character; without one, all of it.
    fn close(&mut self, end: Option<usize>, len: usize) {
        if end.is_none() {
            self.doubt(DoubtKind::Syntax);
        }
        self.at += end.map_or(self.rest().len(), |end| end + len);
    }

    fn escaped(&mut self, part: &mut Part) {
        let rest = self.rest();
        if let Some(len) = ["\n", "\r\n"].iter().find(|end| rest.starts_with(**end)).map(|end| end.len()) {
            self.at += len;
        } else if let Some(c) = rest.chars().next() {
            part.is_quoted = true;
            part.word.text.push(c);
            self.at += c.len_utf8();
        }
    }

    /// Reads text in which only `$`, backticks and some escapes count.
    fn quoted(&mut self, part: &mut Part, quote: Quote) {
        part.is_quoted = true;
        let escapes: &[char] =
            if quote == Quote::Word { &['$', '"', '\\', '`', '\n'] } else { &['$', '\\', '`', '\n'] };
        loop {
            match self.peek() {
                None if quote == Quote::Document => return,
                None => return self.doubt(DoubtKind::Syntax),
                Some('"') if quote == Quote::Word => {
                    self.at += 1;
                    return;
                }
                Some('\\') if self.rest()[1..].starts_with(escapes) => {
                    self.at += 1;
                    self.escaped(part);
                }
                Some('$') => self.dollar(part, true),
                Some('`') => self.backticks(part),
                Some(c) => {
                    part.word.text.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
    }

    /// Reads the body of a here-document whose end is not quoted.
    pub(super) fn document(&mut self, body: &str) -> Word {
        let chain = self.script.new_chain(Some(self.chain));
        let (folder, depth) = (self.folder.clone(), self.depth + 1);
        let mut part = Part::default();
        Reader::new(body, self.script, chain, folder, depth, self.pipeline)
            .quoted(&mut part, Quote::Document);
        part.word
    }

    /// Reads what a `$` starts.
    fn dollar(&mut self, part: &mut Part, is_quoted: bool) {
        let start = self.at;
        self.at += 1;
        match self.peek() {
            Some('\'') if !is_quoted => {
                self.at += 1;
                part.is_quoted = true;
                let (text, len) = ansi(self.rest());
                part.word.text.push_str(&text);
                return self.close(len, 1);
            }
            Some('"') if !is_quoted => {
                self.at += 1;
                return self.quoted(part, Quote::Word);
            }
            Some('(') => {
                self.at += 1;
                self.nested(start);
            }
            // `${ ls; }` runs a list.
            Some('{') if self.rest()[1..].starts_with(|c: char| c.is_whitespace() || c == '|') => {
                self.at += 2;
                self.list(Ends::Brace);
                if !self.rest().starts_with('}') {
                    self.doubt(DoubtKind::Syntax);
                }
                self.at += usize::from(self.rest().starts_with('}'));
            }
            Some('{') => {
                let from = self.at;
                self.parameter();
                if self.text[from..self.at].ends_with("@P}") {
                    self.doubt(DoubtKind::Evaluated);
                }
            }
            Some(c) if c == '_' || c.is_ascii_alphabetic() => {
                let is_name = |c: char| c == '_' || c.is_ascii_alphanumeric();
                self.at += self.rest().find(|c| !is_name(c)).unwrap_or(self.rest().len());
            }
            Some(c) if c.is_ascii_digit() || "?$!#@*-".contains(c) => self.at += 1,
            _ => return part.word.text.push('$'),
        }
        let (at, shown) = (part.word.text.len(), &self.text[start..self.at]);
        if at == 0 && self.is_here(shown) {
            return self.here(&mut part.word);
        }
        part.word.push_hole(shown);
        if let Some(values) = self.values_of(shown) {
            part.word.values.push((at..part.word.text.len(), values));
        }
    }

    /// Reads `{…}` after a `$`. Substitutions in it run.
    fn parameter(&mut self) {
        let mut depth = 0usize;
        while let Some(c) = self.peek() {
            match c {
                '{' => depth += 1,
                '}' => {
                    depth -= 1;
                    if depth == 0 {
                        self.at += 1;
                        return;
                    }
                }
                '\\' => self.at += self.rest()[1..].chars().next().map_or(0, char::len_utf8),
                '`' => {
                    self.backticks(&mut Part::default());
                    continue;
                }
                '$' if self.rest().starts_with("$(") => {
                    let start = self.at;
                    self.at += 2;
                    self.nested(start);
                    continue;
                }
                _ => {}
            }
            self.at += c.len_utf8();
        }
        self.doubt(DoubtKind::Syntax);
    }

    /// Reads a command in backticks.
    fn backticks(&mut self, part: &mut Part) {
        let start = self.at;
        self.at += 1;
        let mut inner = String::new();
        loop {
            match self.peek() {
                None => {
                    self.doubt(DoubtKind::Syntax);
                    break;
                }
                Some('`') => {
                    self.at += 1;
                    break;
                }
                Some(c) => {
                    self.at += c.len_utf8();
                    let is_escape = c == '\\' && self.rest().starts_with(['`', '\\', '$']);
                    inner.extend(if is_escape { self.peek() } else { Some(c) });
                    self.at += usize::from(is_escape);
                }
            }
        }
        self.inner(&inner);
        if part.word.text.is_empty() && self.is_here(&self.text[start..self.at]) {
            return self.here(&mut part.word);
        }
        part.word.push_hole(&self.text[start..self.at]);
    }

    /// Reads arithmetic after its first `(`: `(1 + 2))`. It runs nothing but the substitutions in it.
    pub(super) fn arithmetic(&mut self) -> bool {
        if !self.rest().starts_with('(') {
            return false;
        }
        let (start, mut depth) = (self.at, 0usize);
        let (mut end, mut previous) = (None, ' ');
        for (at, c) in self.rest().char_indices() {
            match c {
                '(' => depth += 1,
                ')' if depth > 0 => depth -= 1,
                // The two brackets that close it follow each other.
                ')' => {
                    end = (previous == ')').then_some(at);
                    break;
                }
                _ => {}
            }
            previous = c;
        }
        let Some(end) = end.map(|end| start + end) else { return false };
        while self.at < end {
            match self.rest().as_bytes() {
                [b'$', b'(', ..] => {
                    self.at += 2;
                    self.nested(start);
                }
                [b'`', ..] => self.backticks(&mut Part::default()),
                _ => self.at += self.peek().map_or(1, char::len_utf8),
            }
        }
        // A substitution that is not closed takes the brackets too.
        if self.at == end {
            self.at += 1;
        } else {
            self.doubt(DoubtKind::Syntax);
        }
        true
    }

    /// Reads a substitution up to its `)`.
    fn nested(&mut self, start: usize) {
        if self.arithmetic() {
            return;
        }
        self.list(Ends::Bracket);
        if !self.rest().starts_with(')') {
            self.at = self.text.len().max(start);
            return self.doubt(DoubtKind::Syntax);
        }
        self.at += 1;
    }
}

/// Decodes `$'…'` after its first quote. Returns the text and where its last quote is.
fn ansi(rest: &str) -> (String, Option<usize>) {
    let mut text = String::new();
    let mut chars = rest.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\'' => return (text, Some(at)),
            '\\' => {
                let Some((_, escape)) = chars.next() else { break };
                let mut number = |radix: u32, most: usize, first: Option<char>| {
                    let mut digits: String = first.into_iter().collect();
                    while digits.len() < most {
                        let next = chars.clone().next().map(|(_, c)| c).filter(|c| c.is_digit(radix));
                        let Some(digit) = next else { break };
                        digits.push(digit);
                        chars.next();
                    }
                    u32::from_str_radix(&digits, radix).ok().and_then(char::from_u32)
                };
                text.extend(match escape {
                    'n' => Some('\n'),
                    't' => Some('\t'),
                    'r' => Some('\r'),
                    'e' | 'E' => Some('\u{1b}'),
                    'a' | 'b' | 'f' | 'v' => Some(' '),
                    'x' => number(16, 2, None),
                    'u' => number(16, 4, None),
                    'U' => number(16, 8, None),
                    '0'..='7' => number(8, 3, Some(escape)),
                    'c' => chars.next().and_then(|(_, c)| char::from_u32(c as u32 & 0x1f)),
                    other => Some(other),
                });
            }
            c => text.push(c),
        }
    }
    (text, None)
}
