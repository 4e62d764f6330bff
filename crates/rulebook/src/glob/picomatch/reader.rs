//! Reads a pattern from left to right and writes its expression.

use super::super::error::{GlobError, MAX_ALTERNATIVES};
use super::expression::{DOT, NOT_SLASH, SLASH, escape};
use super::token::{Kind, Open, Token};
use super::translator::Translator;

/// The expression for a glob, without anchors.
#[derive(Debug)]
pub(in super::super) struct Translation {
    pub(in super::super) source: String,
    /// An odd number of leading `!` negates the pattern.
    pub(in super::super) negated: bool,
    /// Byte offset after the leading `!`; 0 unless negated.
    pub(in super::super) body: usize,
}

impl Translator {
    pub(super) fn run(mut self) -> Result<Translation, GlobError> {
        while let Some(c) = self.advance() {
            self.read(c)?;
        }
        self.finish();
        let body = if self.negated { self.start } else { 0 };
        Ok(Translation { source: self.source, negated: self.negated, body })
    }

    fn read(&mut self, c: char) -> Result<(), GlobError> {
        if c == '\0' {
            return Ok(());
        }
        if c == '\\' {
            self.escaped();
        } else if self.in_bracket && !self.closes_bracket(c) {
            self.bracket_char(c);
        } else if self.in_quotes && c != '"' {
            self.extend_last(&escape(c.encode_utf8(&mut [0; 4])));
        } else {
            self.operator(c)?;
        }
        Ok(())
    }

    fn operator(&mut self, c: char) -> Result<(), GlobError> {
        match c {
            '"' => self.in_quotes = !self.in_quotes,
            '(' => self.open_paren(),
            ')' => return self.close_paren(),
            '[' => self.open_bracket(),
            ']' => self.close_bracket(),
            '{' => self.open_brace(),
            '}' => self.close_brace(),
            '|' => self.push(Token::new(Kind::Text, "|")),
            ',' => return self.comma(),
            '/' => self.slash(),
            '.' => self.dot(),
            '?' => self.question(),
            '!' => self.exclamation(),
            '+' => self.plus(),
            '@' => self.at(),
            '*' => self.star(),
            _ => self.text(c),
        }
        Ok(())
    }

    fn escaped(&mut self) {
        let Some(next) = self.peek(1) else {
            return self.push(Token::new(Kind::Text, r"\\"));
        };
        if matches!(next, '/' | '.' | ';') {
            return;
        }
        let mut value = "\\".to_owned();
        let run = self.rest().iter().take_while(|&&c| c == '\\').count();
        if run > 2 {
            self.next += run;
            if run % 2 != 0 {
                value.push('\\');
            }
        }
        value.extend(self.advance());
        if self.in_bracket {
            self.bracket_text(&value);
        } else {
            self.push(Token::new(Kind::Text, value));
        }
    }

    fn slash(&mut self) {
        if self.last().kind == Kind::Dot && self.next == self.start + 2 {
            self.start = self.next;
            self.source.clear();
            self.shown.pop();
            self.last = 0;
            return;
        }
        self.push(Token::new(Kind::Slash, "/").writing(SLASH));
    }

    fn dot(&mut self) {
        let last = self.last().kind;
        if self.braces > 0 && last == Kind::Dot {
            let token = self.last_mut();
            token.kind = Kind::Dots;
            if token.value == "." {
                token.output = Some(DOT.to_owned());
            }
            token.output_mut().push('.');
            token.value.push('.');
            if let Some(brace) = self.open_braces.last_mut() {
                brace.has_range = true;
            }
            return;
        }
        let inside = self.braces + self.parens != 0;
        let kind = if inside || matches!(last, Kind::Start | Kind::Slash) { Kind::Dot } else { Kind::Text };
        self.push(Token::new(kind, ".").writing(DOT));
    }

    fn question(&mut self) {
        let after_open = self.last().value == "(";
        if !after_open && self.opens_extglob() {
            return self.open_extglob('?');
        }
        if self.last().kind == Kind::Paren {
            let next = self.peek(1);
            let literal =
                (after_open && !is_group_kind(next)) || (next == Some('<') && !self.has_named_group());
            return self.push(Token::new(Kind::Text, "?").writing(if literal { r"\?" } else { "?" }));
        }
        self.push(Token::new(Kind::Question, "?").writing(NOT_SLASH));
    }

    /// Whether the rest contains a look-behind or a named group.
    fn has_named_group(&self) -> bool {
        let rest = self.rest();
        rest.iter().enumerate().filter(|(_, c)| **c == '<').any(|(at, _)| {
            let after = &rest[at + 1..];
            let word = after.iter().take_while(|c| c.is_ascii_alphanumeric() || **c == '_').count();
            matches!(after.first(), Some('!' | '=')) || (word > 0 && after.get(word) == Some(&'>'))
        })
    }

    fn exclamation(&mut self) {
        if self.peek(1) == Some('(') && (self.peek(2) != Some('?') || !is_group_kind(self.peek(3))) {
            return self.open_extglob('!');
        }
        if self.next == 1 {
            return self.negate();
        }
        self.text('!');
    }

    fn negate(&mut self) {
        let mut count = 1;
        while self.peek(1) == Some('!') && (self.peek(2) != Some('(') || self.peek(3) == Some('?')) {
            self.advance();
            self.start += 1;
            count += 1;
        }
        if count % 2 == 1 {
            self.negated = true;
            self.start += 1;
        }
    }

    fn plus(&mut self) {
        if self.opens_extglob() {
            return self.open_extglob('+');
        }
        let last = self.last();
        let token = Token::new(Kind::Plus, "+");
        self.push(if last.value == "(" {
            token.writing(r"\+")
        } else if matches!(last.kind, Kind::Bracket | Kind::Paren | Kind::Brace) || self.parens > 0 {
            token
        } else {
            Token::new(Kind::Plus, r"\+")
        });
    }

    fn at(&mut self) {
        self.push(if self.opens_extglob() {
            Token::new(Kind::At, "@").writing("").in_extglob()
        } else {
            Token::new(Kind::Text, "@")
        });
    }

    fn text(&mut self, c: char) {
        let mut value = String::new();
        if matches!(c, '$' | '^') {
            value.push('\\');
        }
        value.push(c);
        let run = self.rest().iter().take_while(|&&c| !r"@![].,$*+?^{}()|\/".contains(c)).count();
        value.extend(&self.rest()[..run]);
        self.next += run;
        self.push(Token::new(Kind::Text, value));
    }

    fn comma(&mut self) -> Result<(), GlobError> {
        let mut output = ",";
        if self.opened.last() == Some(&Open::Brace)
            && let Some(brace) = self.open_braces.last_mut()
        {
            brace.has_comma = true;
            output = "|";
            // The number of commas is one less than the number of alternatives, which is close enough for a limit.
            self.alternatives += 1;
            if self.alternatives >= MAX_ALTERNATIVES {
                return Err(GlobError::TooManyAlternatives);
            }
        }
        self.push(Token::new(Kind::Comma, ",").writing(output));
        Ok(())
    }

    fn finish(&mut self) {
        self.escape_last('[', self.in_bracket.into());
        self.escape_last('(', self.parens);
        self.escape_last('{', self.braces);
        if matches!(self.last().kind, Kind::Star | Kind::Bracket) {
            self.push(Token::new(Kind::End, "").writing(r"\/?"));
        }
        if self.rebuilds {
            self.source = self.shown.iter().map(|&at| self.tokens[at].written()).collect();
        }
    }
}

/// Whether this character after `(?` makes it a group of the regular expression.
fn is_group_kind(c: Option<char>) -> bool {
    matches!(c, Some('!' | '=' | '<' | ':'))
}
