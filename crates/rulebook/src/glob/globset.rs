//! The globs of the crate globset, which Copilot's command line matches with the path and with its name alone.

use std::fmt::Write;

use super::error::{GlobError, MAX_ALTERNATIVES};

/// What a pattern consists of.
enum Token {
    Literal(char),
    /// `?`
    Any,
    /// `*`
    Star,
    /// `**/` at the start, or `**` alone.
    Prefix,
    /// `/**` at the end.
    Suffix,
    /// `/**/`
    Between,
    /// The ASCII characters of a class, and whether it is negated. It matches single bytes: see [`HIGH`].
    Class(Vec<u8>, bool),
    Group(Vec<Vec<Token>>),
}

/// What an expression matches.
#[derive(Clone, Copy, PartialEq)]
enum Reach {
    Path,
    /// A name, without slashes.
    Name,
}

/// The expression for the paths that match; `None` if the pattern is invalid. An empty list matches nothing.
pub(super) fn translate(pattern: &str) -> Result<Option<Vec<String>>, GlobError> {
    let sources = |tokens: Vec<Token>| {
        if matches!(tokens[..], [Token::Prefix]) {
            return vec!["[^]*".to_owned()];
        }
        let name = expression(&tokens, Reach::Name).map(|name| format!("(?:[^]*\\/)?(?:{name})"));
        expression(&tokens, Reach::Path).into_iter().chain(name).collect()
    };
    Ok(parse(pattern)?.map(sources))
}

/// The expression for the paths that `!pattern` does not match: the path and its name match the pattern.
pub(super) fn translate_negated(pattern: &str) -> Result<Option<Vec<String>>, GlobError> {
    let sources = |tokens: Vec<Token>| {
        let start = if matches!(tokens[..], [Token::Prefix, ..]) { "(?:[^]*\\/)?" } else { "" };
        let name = expression(&tokens, Reach::Name).map(|name| format!("{start}(?:{name})"));
        name.into_iter().collect()
    };
    Ok(parse(pattern)?.map(sources))
}

fn parse(pattern: &str) -> Result<Option<Vec<Token>>, GlobError> {
    if pattern.matches(',').count() >= MAX_ALTERNATIVES {
        return Err(GlobError::TooManyAlternatives);
    }
    Ok(tokens(pattern))
}

/// The characters of several bytes. `?` and a negated class match one byte, so they match such a character only if a star beside them
/// matches its other bytes.
const HIGH: &str = "\u{80}-\u{10ffff}";

/// `None` if the tokens match nothing.
fn expression(tokens: &[Token], reach: Reach) -> Option<String> {
    let in_path = |source: &'static str| (reach == Reach::Path).then_some(source);
    let is_star = |at: Option<usize>| {
        at.and_then(|at| tokens.get(at)).is_some_and(|token| matches!(token, Token::Star))
    };
    let mut source = String::new();
    for (at, token) in tokens.iter().enumerate() {
        let high = if is_star(at.checked_sub(1)) || is_star(Some(at + 1)) { HIGH } else { "" };
        match token {
            Token::Literal('/') => source += in_path("\\/")?,
            Token::Literal(c) if c.is_ascii() && !c.is_alphanumeric() => {
                source.push('\\');
                source.push(*c);
            }
            Token::Literal(c) => source.push(*c),
            Token::Any => source += &format!("[\\x00-\\x2e\\x30-\\x7f{high}]"),
            Token::Star => source += "[^\\/]*",
            Token::Prefix => source += in_path("(?:[^]*\\/)?").unwrap_or_default(),
            Token::Suffix => source += in_path("\\/[^]*")?,
            Token::Between => source += in_path("(?:\\/|\\/[^]*\\/)")?,
            Token::Class(members, is_negated) => {
                let members: Vec<&u8> =
                    members.iter().filter(|member| reach == Reach::Path || **member != b'/').collect();
                if members.is_empty() {
                    return None;
                }
                source.push('[');
                for member in members {
                    write!(source, "\\x{member:02x}").expect("a string accepts everything");
                }
                if *is_negated {
                    source += high;
                }
                source.push(']');
            }
            Token::Group(branches) => {
                let branches: Vec<String> =
                    branches.iter().filter_map(|branch| expression(branch, reach)).collect();
                if branches.is_empty() {
                    return None;
                }
                source += &format!("(?:{})", branches.join("|"));
            }
        }
    }
    Some(source)
}

fn tokens(pattern: &str) -> Option<Vec<Token>> {
    let mut branches: Vec<Vec<Token>> = vec![Vec::new()];
    let mut groups: Vec<usize> = Vec::new();
    let mut chars = pattern.chars().peekable();
    let mut before = None;
    while let Some(c) = chars.next() {
        let token = match c {
            '?' => Token::Any,
            '*' if chars.next_if_eq(&'*').is_some() => {
                let is_in_group = branches.len() > 1;
                let tokens = branches.last_mut()?;
                let next = chars.peek().copied();
                let starts = tokens.is_empty();
                let follows = before == Some('/') || is_in_group && matches!(before, Some(',' | '{'));
                let ends = next.is_none() || !starts && is_in_group && matches!(next, Some(',' | '}'));
                if !(ends || next == Some('/')) || !starts && !follows {
                    tokens.push(Token::Star);
                    Token::Star
                } else {
                    chars.next_if_eq(&'/');
                    before = Some(if next == Some('/') { '/' } else { '*' });
                    let last = if starts { None } else { tokens.pop() };
                    tokens.push(match last {
                        None => Token::Prefix,
                        Some(last @ (Token::Prefix | Token::Suffix)) => last,
                        Some(_) if ends => Token::Suffix,
                        Some(_) => Token::Between,
                    });
                    continue;
                }
            }
            '*' => Token::Star,
            '[' => class(&mut chars)?,
            '{' => {
                groups.push(branches.len());
                branches.push(Vec::new());
                before = Some(c);
                continue;
            }
            '}' => {
                let group = branches.split_off(groups.pop()?);
                Token::Group(group)
            }
            ',' if !groups.is_empty() => {
                branches.push(Vec::new());
                before = Some(c);
                continue;
            }
            '\\' => Token::Literal(chars.next()?),
            c => Token::Literal(c),
        };
        before = Some(if let Token::Literal(c) = token { c } else { c });
        branches.last_mut()?.push(token);
    }
    groups.is_empty().then(|| branches.pop()).flatten()
}

/// Reads a class after its `[`. `None` if it is not closed, or a range is reversed.
fn class(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<Token> {
    let is_negated = chars.next_if(|c| matches!(c, '!' | '^')).is_some();
    let mut ranges: Vec<(char, char)> = Vec::new();
    let mut is_range = false;
    loop {
        let c = chars.next()?;
        match c {
            ']' if !ranges.is_empty() => break,
            '-' if !ranges.is_empty() && !is_range => {
                is_range = true;
                continue;
            }
            _ if is_range => ranges.last_mut()?.1 = c,
            _ => ranges.push((c, c)),
        }
        is_range = false;
    }
    if is_range {
        ranges.push(('-', '-'));
    }
    if ranges.iter().any(|(low, high)| low > high) {
        return None;
    }
    let is_member = |c: u8| ranges.iter().any(|(low, high)| (*low..=*high).contains(&char::from(c)));
    Some(Token::Class((0..0x80).filter(|c| is_member(*c) != is_negated).collect(), is_negated))
}
