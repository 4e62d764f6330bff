//! Bracket expressions: `[a-z]`, `[[:alpha:]]`, and `[lang]`, which also matches as literal text.

use super::expression::{SOMETHING, escape, is_special};
use super::token::{Kind, Open, Token};
use super::translator::Translator;

/// The contents of each POSIX class.
const CLASSES: &[(&str, &str)] = &[
    ("alnum", "a-zA-Z0-9"),
    ("alpha", "a-zA-Z"),
    ("ascii", r"\x00-\x7F"),
    ("blank", r" \t"),
    ("cntrl", r"\x00-\x1F\x7F"),
    ("digit", "0-9"),
    ("graph", r"\x21-\x7E"),
    ("lower", "a-z"),
    ("print", r"\x20-\x7E "),
    ("punct", r##"\-!"#$%&'()\*+,./:;<=>?@[\]^_`{|}~"##),
    ("space", r" \t\r\n\v\f"),
    ("upper", "A-Z"),
    ("word", "A-Za-z0-9_"),
    ("xdigit", "A-Fa-f0-9"),
];

impl Translator {
    pub(super) fn open_bracket(&mut self) {
        let closes = self.rest().contains(&']');
        self.in_bracket = closes;
        if closes {
            self.opened.push(Open::Bracket);
        }
        self.push(Token::new(Kind::Bracket, if closes { "[" } else { r"\[" }));
    }

    pub(super) fn closes_bracket(&self, c: char) -> bool {
        c == ']' && !self.is_bracket_empty()
    }

    fn is_bracket_empty(&self) -> bool {
        matches!(self.last().value.as_str(), "[" | "[^")
    }

    pub(super) fn bracket_char(&mut self, c: char) {
        if c == ':' && self.name_class() {
            return;
        }
        let next = self.peek(1);
        let literal = match c {
            '[' => next != Some(':'),
            '-' => next == Some(']'),
            ']' => true,
            _ => false,
        };
        if literal {
            self.bracket_text(&format!("\\{c}"));
        } else {
            self.bracket_text(c.encode_utf8(&mut [0; 4]));
        }
    }

    pub(super) fn bracket_text(&mut self, text: &str) {
        self.extend_last(text);
    }

    /// At the second colon of `[:name:]`, replaces the name with its class.
    fn name_class(&mut self) -> bool {
        let at = self.last;
        let value = &self.last().value;
        let inner: String = value.chars().skip(1).collect();
        if !inner.contains('[') {
            return false;
        }
        let class = inner.contains(':').then(|| {
            let open = value.rfind('[')?;
            let name: String = value[open..].chars().skip(2).collect();
            let (_, class) = CLASSES.iter().find(|(known, _)| *known == name)?;
            Some(format!("{}{class}", &value[..open]))
        });
        self.last_mut().names_class = true;
        let Some(Some(value)) = class else { return false };
        self.last_mut().value = value;
        self.rebuilds = true;
        self.advance();
        if self.tokens[0].output().is_empty() && self.shown.get(1) == Some(&at) {
            self.tokens[0].output = Some(SOMETHING.to_owned());
        }
        true
    }

    pub(super) fn close_bracket(&mut self) {
        let last = self.last();
        let is_lone = last.kind == Kind::Bracket && last.value.encode_utf16().count() == 1;
        if is_lone || !self.in_bracket {
            return self.push(Token::new(Kind::Text, "]").writing(r"\]"));
        }
        let names_class = last.names_class;
        let inner: String = last.value.chars().skip(1).collect();
        self.in_bracket = false;
        self.opened.pop();

        // A negated class must not match a slash.
        let excludes = !names_class && inner.starts_with('^') && !inner.contains('/');
        self.extend_last(if excludes { "/]" } else { "]" });
        if inner.chars().any(is_special) {
            return;
        }
        let class = self.last().value.clone();
        self.cut(class.encode_utf16().count());
        let either = format!("(?:{}|{class})", escape(&class));
        self.source += &either;
        self.last_mut().value = either;
    }
}
