//! What has been read so far: tokens, and the expression they add up to.

use super::STAR;
use super::translator::Translator;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Start,
    Text,
    Slash,
    Dot,
    Dots,
    Star,
    Globstar,
    Question,
    Plus,
    At,
    Not,
    Paren,
    Bracket,
    Brace,
    Comma,
    End,
}

/// A piece of the pattern and what it writes.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) value: String,
    /// What it writes; the value itself when absent.
    pub(super) output: Option<String>,
    pub(super) before: Option<usize>,
    /// Opens or closes an extglob.
    pub(super) extglob: bool,
    /// A bracket that names a class such as `[:alpha:]`.
    pub(super) names_class: bool,
    /// A run of three stars or more.
    pub(super) long_run: bool,
}

impl Token {
    pub(super) fn new(kind: Kind, value: impl Into<String>) -> Token {
        Token {
            kind,
            value: value.into(),
            output: None,
            before: None,
            extglob: false,
            names_class: false,
            long_run: false,
        }
    }

    pub(super) fn writing(self, output: impl Into<String>) -> Token {
        Token { output: Some(output.into()), ..self }
    }

    pub(super) fn in_extglob(self) -> Token {
        Token { extglob: true, ..self }
    }

    pub(super) fn written(&self) -> &str {
        self.output.as_deref().unwrap_or(&self.value)
    }

    /// What it writes, where an empty output counts as none.
    pub(super) fn written_or_value(&self) -> &str {
        self.output.as_deref().filter(|output| !output.is_empty()).unwrap_or(&self.value)
    }

    pub(super) fn output(&self) -> &str {
        self.output.as_deref().unwrap_or("")
    }

    pub(super) fn output_mut(&mut self) -> &mut String {
        self.output.get_or_insert_default()
    }
}

impl Translator {
    pub(super) fn last(&self) -> &Token {
        &self.tokens[self.last]
    }

    pub(super) fn last_mut(&mut self) -> &mut Token {
        &mut self.tokens[self.last]
    }

    /// The token before the one at `at`.
    pub(super) fn before(&self, at: usize) -> Option<usize> {
        self.tokens[at].before
    }

    pub(super) fn kind(&self, at: usize) -> Kind {
        self.tokens[at].kind
    }

    pub(super) fn push(&mut self, token: Token) {
        if self.last().kind == Kind::Globstar {
            self.settle_globstar(&token);
        }
        if token.kind != Kind::Paren
            && let Some(extglob) = self.extglobs.last_mut()
        {
            extglob.inner += &token.value;
        }
        self.source += token.written();
        if self.last().kind == Kind::Text && token.kind == Kind::Text {
            let last = self.last_mut();
            last.output = Some(format!("{}{}", last.written_or_value(), token.value));
            last.value += &token.value;
            return;
        }
        self.tokens.push(Token { before: Some(self.last), ..token });
        self.last = self.tokens.len() - 1;
        self.shown.push(self.last);
    }

    /// `**` spans directories only where it fills its segment; otherwise it is a `*`.
    fn settle_globstar(&mut self, next: &Token) {
        let in_brace = self.braces > 0 && matches!(next.kind, Kind::Comma | Kind::Brace);
        if in_brace || next.extglob || matches!(next.kind, Kind::Slash | Kind::Paren) {
            return;
        }
        self.cut(self.last().output().len());
        let last = self.last_mut();
        last.kind = Kind::Star;
        last.value = "*".to_owned();
        last.output = Some(STAR.to_owned());
        self.source += STAR;
    }

    /// Takes `len` code units off the end of the expression; for 0 it takes everything.
    pub(super) fn cut(&mut self, len: usize) {
        if len == 0 {
            self.source.clear();
        }
        let mut left = len;
        while left > 0
            && let Some(c) = self.source.pop()
        {
            left = left.saturating_sub(c.len_utf16());
        }
    }

    /// Escapes the last `count` of `sign` that are not escaped yet.
    pub(super) fn escape_last(&mut self, sign: char, count: i32) {
        let is_bare = |at: &usize| !self.source[..*at].ends_with('\\');
        let bare = self.source.rmatch_indices(sign).map(|(at, _)| at).filter(is_bare);
        let Some(first) = bare.take(usize::try_from(count).unwrap_or(0)).last() else { return };
        let tail = self.source.split_off(first);
        for c in tail.chars() {
            if c == sign && !self.source.ends_with('\\') {
                self.source.push('\\');
            }
            self.source.push(c);
        }
    }
}
