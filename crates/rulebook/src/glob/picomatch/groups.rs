//! Parentheses, extglobs and braces.

use super::super::error::GlobError;
use super::super::regex;
use super::expression::{GLOBSTAR, SOMETHING, STAR, escape};
use super::repeats::{Risk, risk};
use super::token::{Brace, Extglob, Kind, Open, Token};
use super::translator::Translator;

/// Each kind of extglob: its prefix, its token, and what is written before and after its alternatives.
const EXTGLOBS: &[(char, Kind, &str, &str)] = &[
    ('!', Kind::Not, "(?:(?!(?:", "))[^/]*?)"),
    ('?', Kind::Question, "(?:", ")?"),
    ('+', Kind::Plus, "(?:", ")+"),
    ('*', Kind::Star, "(?:", ")*"),
];

impl Translator {
    pub(super) fn opens_extglob(&self) -> bool {
        self.peek(1) == Some('(') && self.peek(2) != Some('?')
    }

    /// As [`Self::opens_extglob`], but `*(` at the end of the pattern is a star and a parenthesis.
    pub(super) fn opens_star_extglob(&self) -> bool {
        self.opens_extglob() && self.peek(2).is_some()
    }

    pub(super) fn open_extglob(&mut self, prefix: char) {
        let Some(&(_, kind, open, _)) = EXTGLOBS.iter().find(|row| row.0 == prefix) else { return };
        let is_first = self.source.is_empty();
        let extglob = Extglob {
            kind,
            inner: String::new(),
            parens: self.parens,
            start: self.next - 1,
            shown: self.shown.len(),
            is_first,
        };
        self.parens += 1;
        self.opened.push(Open::Paren);
        self.push(Token::new(kind, prefix).writing(if is_first { SOMETHING } else { "" }));
        self.advance();
        self.push(Token::new(Kind::Paren, "(").writing(open).in_extglob());
        self.extglobs.push(extglob);
    }

    pub(super) fn open_paren(&mut self) {
        self.parens += 1;
        self.opened.push(Open::Paren);
        self.push(Token::new(Kind::Paren, "("));
    }

    pub(super) fn close_paren(&mut self) -> Result<(), GlobError> {
        match self.extglobs.pop_if(|extglob| self.parens == extglob.parens + 1) {
            Some(extglob) => self.close_extglob(&extglob)?,
            None => {
                let output = if self.parens == 0 { r"\)" } else { ")" };
                self.push(Token::new(Kind::Paren, ")").writing(output));
            }
        }
        self.parens -= 1;
        self.opened.pop();
        Ok(())
    }

    fn close_extglob(&mut self, extglob: &Extglob) -> Result<(), GlobError> {
        if matches!(extglob.kind, Kind::Plus | Kind::Star) {
            let body: String = self.chars[extglob.start + 2..self.next - 1].iter().collect();
            match risk(&body) {
                Risk::None => {}
                Risk::Literal => return self.flatten(extglob, None),
                Risk::Class(class) => return self.flatten(extglob, Some(class)),
            }
        }
        let close = match extglob.kind {
            Kind::Not => self.close_negation(extglob)?,
            kind => EXTGLOBS.iter().find(|row| row.1 == kind).map_or(")", |row| row.3).to_owned(),
        };
        self.push(Token::new(Kind::Paren, ")").writing(close).in_extglob());
        Ok(())
    }

    /// Replaces a repetition that would take a backtracking engine exponential time with a literal or a class.
    fn flatten(&mut self, extglob: &Extglob, class: Option<String>) -> Result<(), GlobError> {
        let literal: String = self.chars[extglob.start..self.next].iter().collect();
        let output = match class {
            Some(class) if extglob.is_first => format!("{SOMETHING}{class}"),
            Some(class) => class,
            None => escape(&literal),
        };
        let Some(&open) = self.shown.get(extglob.shown) else { return Err(GlobError::SplitGroup) };
        for &at in &self.shown[extglob.shown + 1..] {
            self.tokens[at].value.clear();
            self.tokens[at].output = Some(String::new());
        }
        let token = &mut self.tokens[open];
        token.kind = Kind::Text;
        token.value = literal;
        token.output = Some(output);
        self.rebuilds = true;
        self.push(Token::new(Kind::Paren, ")").writing("").in_extglob());
        Ok(())
    }

    fn close_negation(&mut self, extglob: &Extglob) -> Result<String, GlobError> {
        let rest: String = self.rest().iter().collect();
        let crosses = extglob.inner.len() > 1 && extglob.inner.contains('/');
        let star = if crosses { GLOBSTAR } else { STAR };
        if extglob.inner.contains('*') && is_extension(&rest) {
            let mut tail = Translator::new(&rest);
            tail.alternatives = self.alternatives;
            let expression = tail.run()?.source;
            return Ok(format!("){expression}){star})"));
        }
        if crosses || rest.chars().all(|c| c == ')') {
            return Ok(format!(")$)){star}"));
        }
        Ok(format!(")){STAR})"))
    }

    pub(super) fn open_brace(&mut self) {
        self.braces += 1;
        self.opened.push(Open::Brace);
        let written = self.source.len();
        let shown = self.shown.len();
        self.push(Token::new(Kind::Brace, "{").writing("("));
        self.open_braces.push(Brace { has_comma: false, has_range: false, token: self.last, shown, written });
    }

    pub(super) fn close_brace(&mut self) {
        let Some(brace) = self.open_braces.last() else {
            return self.push(Token::new(Kind::Text, "}").writing("}"));
        };
        let (has_comma, has_range) = (brace.has_comma, brace.has_range);
        let token = if has_range {
            Token::new(Kind::Brace, "}").writing(self.take_range())
        } else if has_comma {
            Token::new(Kind::Brace, "}").writing(")")
        } else {
            self.make_brace_literal();
            Token::new(Kind::Brace, r"\}").writing(r"\}")
        };
        self.push(token);
        self.braces -= 1;
        self.opened.pop();
        self.open_braces.pop();
    }

    /// Makes braces around a single word literal.
    fn make_brace_literal(&mut self) {
        let Some(brace) = self.open_braces.last() else { return };
        let token = &mut self.tokens[brace.token];
        token.value = r"\{".to_owned();
        token.output = Some(r"\{".to_owned());
        let written = self.source.floor_char_boundary(brace.written);
        self.source.truncate(written);
        for &at in self.shown.get(brace.shown..).unwrap_or_default() {
            self.source += self.tokens[at].written_or_value();
        }
    }

    /// Removes the tokens of `{a..c}` and returns them as a class.
    fn take_range(&mut self) -> String {
        let mut ends = Vec::new();
        while let Some(at) = self.shown.pop() {
            match self.kind(at) {
                Kind::Brace => break,
                Kind::Dots => {}
                _ => ends.push(self.tokens[at].value.clone()),
            }
        }
        self.rebuilds = true;
        ends.sort_by(|a, b| a.encode_utf16().cmp(b.encode_utf16()));
        let class = format!("[{}]", ends.join("-"));
        if regex::is_valid(&class) {
            return class;
        }
        ends.iter().map(|end| escape(end)).collect::<Vec<_>>().join("..")
    }
}

/// Whether the rest is a single extension.
fn is_extension(rest: &str) -> bool {
    rest.strip_prefix('.').is_some_and(|name| !name.is_empty() && !name.contains(['\\', '/', '.']))
}
