//! One segment of a pattern: wildcards, classes and extglobs.

use super::super::error::{GlobError, MAX_DEPTH};
use super::super::regex::Node;
use super::class;

enum Token {
    Char(char),
    Any,
    Star,
    /// A class, and its character if it has only one.
    Class(Node, Option<char>),
    Open(char),
    Bar,
    Close,
}

impl Token {
    /// The token as literal text.
    fn literal(&self) -> Node {
        match self {
            Token::Char(c) => Node::char(*c),
            Token::Open(kind) => Node::Sequence(vec![Node::char(*kind), Node::char('(')]),
            Token::Bar => Node::char('|'),
            Token::Close => Node::char(')'),
            Token::Any | Token::Star | Token::Class(..) => Node::never(),
        }
    }
}

/// Whether a position is at the start of a name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    Start,
    Maybe,
    Inside,
}

struct Translator<'t> {
    tokens: &'t [Token],
    /// For each opening token, the index of its closing one.
    closers: Vec<Option<usize>>,
}

/// The expression for one segment of a pattern.
pub(super) fn translate(segment: &str) -> Result<Node, GlobError> {
    let is_literal = matches!(segment, "" | "?()" | "*()" | "+()" | "@()");
    if is_literal {
        return Ok(Node::Sequence(segment.chars().map(Node::char).collect()));
    }
    let tokens = tokens(segment);
    let mut opened = Vec::new();
    let mut closers = vec![None; tokens.len()];
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Open(_) => opened.push(at),
            Token::Close => {
                if let Some(open) = opened.pop() {
                    closers[open] = Some(at);
                }
            }
            _ => {}
        }
    }
    let literals = tokens.iter().zip(&closers).map(|(token, closer)| match token {
        Token::Class(_, only) => only.map(Node::char),
        Token::Star | Token::Any => None,
        Token::Open(_) if closer.is_some() => None,
        token => Some(token.literal()),
    });
    // Without a wildcard, names with a leading dot need no special treatment.
    if let Some(literals) = literals.collect() {
        return Ok(Node::Sequence(literals));
    }
    let translator = Translator { tokens: &tokens, closers };
    let frame = &mut Frame { at: At::Start, ignores_dots: false, depth: 0 };
    let (mut branches, _) = translator.branches(0, tokens.len(), frame)?;
    let body = branches.remove(0);
    if !body.is_nullable() {
        return Ok(body);
    }
    // A name is never empty, even if the pattern allows it.
    Ok(Node::Sequence(vec![Node::look_ahead(Node::segment_unit(), false), body]))
}

/// The only character of a class such as `[*]`.
fn only_char(body: &[char]) -> Option<char> {
    match body {
        ['!' | '^'] => None,
        [c] | ['\\', c] => Some(*c),
        _ => None,
    }
}

fn tokens(segment: &str) -> Vec<Token> {
    let chars: Vec<char> = segment.chars().collect();
    let last = class::last_closer(&chars);
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        at += 1;
        tokens.push(match c {
            '\\' => {
                let escaped = chars.get(at).copied();
                at += 1;
                Token::Char(escaped.unwrap_or('\\'))
            }
            '[' => match class::read(&chars, at - 1, last) {
                Some((node, end)) => {
                    let only = only_char(&chars[at..end - 1]);
                    at = end;
                    Token::Class(node, only)
                }
                None => Token::Char('['),
            },
            '!' | '?' | '+' | '*' | '@' if chars.get(at) == Some(&'(') => {
                at += 1;
                Token::Open(c)
            }
            '|' => Token::Bar,
            ')' => Token::Close,
            '*' => Token::Star,
            '?' => Token::Any,
            c => Token::Char(c),
        });
    }
    tokens
}

/// The context of the items being read.
struct Frame {
    at: At,
    /// Inside `!(…)`, where dots have no special meaning.
    ignores_dots: bool,
    depth: usize,
}

impl Translator<'_> {
    /// The branches between two tokens, and where in the name they can end.
    fn branches(&self, start: usize, end: usize, frame: &mut Frame) -> Result<(Vec<Node>, At), GlobError> {
        if frame.depth > MAX_DEPTH {
            return Err(GlobError::TooDeep);
        }
        let entry = frame.at;
        let mut branches = vec![Vec::new()];
        let mut exits = Vec::new();
        let mut i = start;
        while i < end {
            let nodes = branches.last_mut().expect("starts with one branch");
            match (&self.tokens[i], self.closers[i]) {
                (Token::Open(kind), Some(close)) => {
                    nodes.push(self.group(*kind, i + 1, close, frame)?);
                    i = close;
                }
                (Token::Bar, _) if frame.depth > 0 => {
                    exits.push(std::mem::replace(&mut frame.at, entry));
                    branches.push(Vec::new());
                }
                (token, _) => {
                    nodes.push(self.item(token, frame));
                }
            }
            i += 1;
        }
        exits.push(frame.at);
        let exit = exits.iter().copied().reduce(join).unwrap_or(entry);
        Ok((branches.into_iter().map(Node::Sequence).collect(), exit))
    }

    fn item(&self, token: &Token, frame: &mut Frame) -> Node {
        let node = match token {
            // A leading dot is excluded for the star and for all that follows it.
            Token::Star => self.not_a_dot(frame, Node::any_number(Node::segment_unit())),
            Token::Any => self.not_a_dot(frame, Node::segment_char()),
            Token::Class(class, _) => self.not_a_dot(frame, class.clone()),
            token => token.literal(),
        };
        frame.at = At::Inside;
        node
    }

    /// A wildcard at the start of a name does not match if the name starts with a dot, not even if the wildcard is empty.
    fn not_a_dot(&self, frame: &Frame, wildcard: Node) -> Node {
        if frame.ignores_dots {
            return wildcard;
        }
        let is_visible = Node::look_ahead(Node::char('.'), true);
        match frame.at {
            At::Inside => wildcard,
            At::Start => Node::Sequence(vec![is_visible, wildcard]),
            At::Maybe => Node::Sequence(vec![Node::Either(vec![is_visible, Node::inside()]), wildcard]),
        }
    }

    fn group(&self, kind: char, start: usize, end: usize, frame: &mut Frame) -> Result<Node, GlobError> {
        let entry = frame.at;
        let repeats = matches!(kind, '*' | '+');
        let mut inner = Frame {
            at: if repeats && entry == At::Start { At::Maybe } else { entry },
            ignores_dots: frame.ignores_dots || kind == '!',
            depth: frame.depth + 1,
        };
        let (branches, exit) = self.branches(start, end, &mut inner)?;
        let body = Node::Either(branches);
        frame.at = match kind {
            '@' | '+' => exit,
            _ => join(entry, exit),
        };
        Ok(match kind {
            '!' => {
                let is_nullable = body.is_nullable();
                let run = self.not_a_dot(&Frame { at: entry, ..*frame }, Node::Not(Box::new(body)));
                frame.at = join(entry, At::Inside);
                if is_nullable { run } else { Node::Either(vec![run, Node::empty()]) }
            }
            '?' => Node::optional(body),
            '*' => Node::any_number(body),
            '+' => Node::Repeat { body: Box::new(body), min: 1, max: None },
            _ => body,
        })
    }
}

fn join(a: At, b: At) -> At {
    if a == b { a } else { At::Maybe }
}
