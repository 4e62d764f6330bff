//! The pieces of a pattern.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    #[default]
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

/// A piece of the pattern and the expression written for it.
#[derive(Clone, Debug, Default)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) value: String,
    /// The expression written for it; the value if absent.
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
        Token { kind, value: value.into(), ..Token::default() }
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

    /// The expression written for it, where an empty output counts as absent.
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Open {
    Paren,
    Bracket,
    Brace,
}

/// An extglob whose `)` has not been read.
pub(super) struct Extglob {
    pub(super) kind: Kind,
    /// The text read inside it.
    pub(super) inner: String,
    pub(super) parens: i32,
    /// Where it starts in the pattern and among the shown tokens.
    pub(super) start: usize,
    pub(super) shown: usize,
    pub(super) is_first: bool,
}

/// A brace whose `}` has not been read.
pub(super) struct Brace {
    pub(super) has_comma: bool,
    pub(super) has_range: bool,
    pub(super) token: usize,
    pub(super) shown: usize,
    pub(super) written: usize,
}
