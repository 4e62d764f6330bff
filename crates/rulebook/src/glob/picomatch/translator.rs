//! The state of a translation: the tokens read so far and the expression written for them.

use super::expression::STAR;
use super::token::{Brace, Extglob, Kind, Open, Token};

#[derive(Default)]
pub(super) struct Translator {
    pub(super) chars: Vec<char>,
    /// The index of the next character.
    pub(super) next: usize,
    /// Where the pattern starts, after `!` and `./`.
    pub(super) start: usize,
    pub(super) negated: bool,
    /// Every token ever pushed; `shown` are those still in the pattern.
    pub(super) tokens: Vec<Token>,
    pub(super) shown: Vec<usize>,
    pub(super) last: usize,
    pub(super) source: String,
    /// The expression must be rebuilt from the tokens.
    pub(super) rebuilds: bool,
    pub(super) opened: Vec<Open>,
    // Signed: an extra `)` counts below zero, and affects how later ones close groups.
    pub(super) parens: i32,
    pub(super) braces: i32,
    pub(super) in_bracket: bool,
    pub(super) in_quotes: bool,
    pub(super) extglobs: Vec<Extglob>,
    pub(super) open_braces: Vec<Brace>,
    pub(super) alternatives: usize,
}

impl Translator {
    pub(super) fn new(input: &str) -> Translator {
        Translator {
            chars: input.chars().collect(),
            tokens: vec![Token::new(Kind::Start, "").writing("")],
            shown: vec![0],
            source: String::with_capacity(input.len() * 4),
            ..Translator::default()
        }
    }

    pub(super) fn advance(&mut self) -> Option<char> {
        let c = self.chars.get(self.next).copied();
        self.next += 1;
        c
    }

    /// The character `ahead` places after the one being read.
    pub(super) fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.next + ahead - 1).copied()
    }

    pub(super) fn rest(&self) -> &[char] {
        self.chars.get(self.next..).unwrap_or_default()
    }

    pub(super) fn is_done(&self) -> bool {
        self.next >= self.chars.len()
    }

    /// Whether the character being read is the pattern's first.
    pub(super) fn is_at_start(&self) -> bool {
        self.next == self.start + 1
    }

    /// Adds text to the last token.
    pub(super) fn extend_last(&mut self, text: &str) {
        self.last_mut().value += text;
        self.source += text;
    }

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

    /// `**` spans directories only if it is a whole segment; otherwise it is a `*`.
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

    /// Removes `len` code units from the end of the expression; 0 removes everything, as in picomatch.
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

    /// Escapes the last `count` unescaped occurrences of `escaped`.
    pub(super) fn escape_last(&mut self, escaped: char, count: i32) {
        let is_bare = |at: &usize| !self.source[..*at].ends_with('\\');
        let bare = self.source.rmatch_indices(escaped).map(|(at, _)| at).filter(is_bare);
        let Some(first) = bare.take(usize::try_from(count).unwrap_or(0)).last() else { return };
        let tail = self.source.split_off(first);
        for c in tail.chars() {
            if c == escaped && !self.source.ends_with('\\') {
                self.source.push('\\');
            }
            self.source.push(c);
        }
    }
}
