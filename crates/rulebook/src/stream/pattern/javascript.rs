//! Translates JavaScript's regular expressions into the syntax of the engines.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::class::{UNICODE_ONLY, push_char, push_member, without_unicode_cases};
use super::engine::{Engine, NEVER};
use crate::work;

/// A pattern in the syntax of an engine.
#[derive(Debug)]
pub(super) struct Translated {
    pub(super) regex: String,
    pub(super) engine: Engine,
    /// Whether `^` and `$` match at line ends anywhere in it.
    pub(super) is_multiline: bool,
}

const DIGIT: &str = "0-9";
const WORD: &str = "0-9A-Za-z_";
/// Most characters are written as they are: the engine reads them faster than escapes.
const SPACE: &str =
    "\\t\\n\\v\\f\\r \u{a0}\u{1680}\u{2000}-\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}\u{feff}";
const DOT: &str = "[^\\n\\r\u{2028}\u{2029}]";

/// `\b` and `\B` for the automaton and for the fallback, which supports only Unicode words.
const BOUNDARIES: [[&str; 2]; 2] = [
    [r"(?-u:\b)", "(?:(?<=[0-9A-Za-z_])(?![0-9A-Za-z_])|(?<![0-9A-Za-z_])(?=[0-9A-Za-z_]))"],
    [r"(?-u:\B)", "(?:(?<=[0-9A-Za-z_])(?=[0-9A-Za-z_])|(?<![0-9A-Za-z_])(?![0-9A-Za-z_]))"],
];

/// The maximum length of a name in braces.
const MAX_NAME: usize = 100;

/// The starts of look-arounds.
pub(super) const LOOKS: [&str; 4] = ["(?=", "(?!", "(?<=", "(?<!"];

/// Translates a pattern and chooses the engine: look-around and back-references need the fallback.
pub(super) fn translate(written: &str) -> Result<Translated, String> {
    let (text, flags) = strip_slashes(written);
    let translated = Translator::new(text, flags, Engine::Automaton).run()?;
    match translated.engine {
        Engine::Automaton => Ok(translated),
        Engine::Fallback => Translator::new(text, flags, Engine::Fallback).run(),
    }
}

/// Splits `/pattern/flags`. A text with further slashes is a path.
fn strip_slashes(written: &str) -> (&str, &str) {
    let literal = written.strip_prefix('/').and_then(|rest| rest.rsplit_once('/'));
    let is_literal =
        |(body, flags): &(&str, &str)| !body.is_empty() && !has_slash(body) && flags.chars().all(is_flag);
    literal.filter(is_literal).unwrap_or((written, ""))
}

/// Whether it is a flag of JavaScript, except for `y`, which has no meaning in a stream.
fn is_flag(c: char) -> bool {
    "dgimsuv".contains(c)
}

/// Whether the body contains a `/` that is not escaped and not in a class.
fn has_slash(body: &str) -> bool {
    let (mut in_class, mut is_escaped) = (false, false);
    body.chars().any(|c| {
        let was_escaped = is_escaped;
        is_escaped = c == '\\' && !was_escaped;
        in_class = if was_escaped { in_class } else { c == '[' || (in_class && c != ']') };
        c == '/' && !was_escaped && !in_class
    })
}

/// The flags of a group.
#[derive(Clone, Copy, Debug, Default)]
struct Flags {
    ignores_case: bool,
    dot_is_all: bool,
}

struct Translator<'t> {
    rest: &'t str,
    out: Translated,
    /// The target of the translation.
    engine: Engine,
    flags: Flags,
    /// The flags of the enclosing groups.
    outer: Vec<Flags>,
}

/// The meaning of one or more characters.
#[derive(Clone, Copy)]
enum Atom<'t> {
    Char(char),
    /// The contents of a class, and whether it is negated.
    Set(&'static str, bool),
    /// `\b` or `\B`.
    Boundary(usize),
    /// Text of the translation.
    Raw(&'t str),
}

impl<'t> Translator<'t> {
    fn new(rest: &'t str, flags: &str, engine: Engine) -> Translator<'t> {
        let out = Translated { regex: String::new(), engine: Engine::Automaton, is_multiline: false };
        let mut translator = Translator { rest, out, engine, flags: Flags::default(), outer: Vec::new() };
        let kept: String = flags.chars().filter(|c| "ims".contains(*c)).collect();
        if !kept.is_empty() {
            translator.set(&kept);
            let _ = write!(translator.out.regex, "(?{kept})");
        }
        translator
    }

    fn run(mut self) -> Result<Translated, String> {
        while let Some(c) = self.rest.chars().next() {
            match c {
                '\\' => {
                    let atom = self.escape(Place::Outside)?;
                    self.push(atom);
                }
                '[' => self.class()?,
                '(' => self.open(),
                ')' => {
                    self.flags = self.outer.pop().unwrap_or(self.flags);
                    self.copy(1);
                }
                '.' if self.flags.dot_is_all => self.replace("(?s:.)"),
                '.' => self.replace(DOT),
                '{' => match count(self.rest) {
                    Some(length) => self.copy(length),
                    None => self.replace(r"\{"),
                },
                '^' | '$' | '|' | '*' | '+' | '?' => self.copy(1),
                c => {
                    self.skip(c.len_utf8());
                    self.push(Atom::Char(c));
                }
            }
        }
        Ok(self.out)
    }

    fn skip(&mut self, bytes: usize) -> &'t str {
        work::count(bytes);
        let (skipped, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        skipped
    }

    fn copy(&mut self, bytes: usize) {
        let copied = self.skip(bytes);
        self.out.regex.push_str(copied);
    }

    /// Replaces one character.
    fn replace(&mut self, text: &str) {
        self.skip(1);
        self.out.regex.push_str(text);
    }

    fn push(&mut self, atom: Atom<'_>) {
        match atom {
            Atom::Char('k' | 'K') if self.flags.ignores_case => self.out.regex.push_str("(?-i:[kK])"),
            Atom::Char('s' | 'S') if self.flags.ignores_case => self.out.regex.push_str("(?-i:[sS])"),
            Atom::Char(c) if self.flags.ignores_case && UNICODE_ONLY.contains(&c) => {
                let _ = write!(self.out.regex, "(?-i:{c})");
            }
            Atom::Char(c) => push_char(&mut self.out.regex, c, r"\.+*?()|[]{}^$"),
            Atom::Set(set, is_negated) => {
                let is_exact = self.flags.ignores_case && set == WORD;
                self.write_class(set, is_negated, is_exact);
            }
            Atom::Boundary(which) => {
                let boundary = BOUNDARIES[which][usize::from(self.engine == Engine::Fallback)];
                self.out.regex.push_str(boundary);
            }
            Atom::Raw(text) => self.out.regex.push_str(text),
        }
    }

    fn push_class(&mut self, items: &str, is_negated: bool) {
        let folded = if self.flags.ignores_case { without_unicode_cases(items) } else { None };
        self.write_class(folded.as_deref().unwrap_or(items), is_negated, folded.is_some());
    }

    /// Writes a class. An exact one contains all cases of its letters and gets no others.
    fn write_class(&mut self, items: &str, is_negated: bool, is_exact: bool) {
        let (open, close) = if is_exact { ("(?-i:[", "])") } else { ("[", "]") };
        self.out.regex.extend([open, if is_negated { "^" } else { "" }, items, close]);
    }

    /// Opens a group, or sets flags.
    fn open(&mut self) {
        let outer = self.flags;
        let named = self.rest.strip_prefix("(?<").or_else(|| self.rest.strip_prefix("(?P<"));
        if let Some(look) = LOOKS.iter().find(|look| self.rest.starts_with(**look)) {
            self.out.engine = Engine::Fallback;
            self.copy(look.len());
        } else if let Some(named) = named {
            let name = named.find('>').unwrap_or(named.len());
            self.copy(self.rest.len() - named.len() + name);
        } else if let Some(flags) = self.rest.strip_prefix("(?") {
            let end = flags.find(|c: char| c != '-' && !c.is_ascii_alphabetic()).unwrap_or(flags.len());
            self.set(&flags[..end]);
            let is_group = !flags[end..].starts_with(')');
            self.copy(2 + end + usize::from(flags[end..].starts_with([':', ')'])));
            if !is_group {
                return;
            }
        } else {
            self.copy(1);
        }
        self.outer.push(outer);
    }

    fn set(&mut self, flags: &str) {
        let (on, off) = flags.split_once('-').unwrap_or((flags, ""));
        let is_set = |flag, before| (before || on.contains(flag)) && !off.contains(flag);
        self.flags.ignores_case = is_set('i', self.flags.ignores_case);
        self.flags.dot_is_all = is_set('s', self.flags.dot_is_all);
        self.out.is_multiline |= on.contains('m');
    }

    fn class(&mut self) -> Result<(), String> {
        self.skip(1);
        let is_negated = self.rest.starts_with('^');
        self.skip(usize::from(is_negated));
        let (mut items, mut sets) = (String::new(), BTreeSet::new());
        while !self.rest.starts_with(']') {
            let first = self.class_atom()?;
            push_item(&mut items, &mut sets, first);
            if !self.rest.starts_with('-') || self.rest.starts_with("-]") {
                continue;
            }
            self.skip(1);
            let last = self.class_atom()?;
            // A hyphen next to a set is literal.
            let is_range = matches!((first, last), (Atom::Char(_), Atom::Char(_)));
            items.push_str(if is_range { "-" } else { r"\-" });
            push_item(&mut items, &mut sets, last);
        }
        self.skip(1);
        let is_all = sets.iter().any(|(set, not)| sets.contains(&(*set, !not)));
        match (items.is_empty(), is_negated) {
            (true, true) => self.out.regex.push_str("(?s:.)"),
            (true, false) => self.out.regex.push_str(NEVER),
            (false, true) if is_all => self.out.regex.push_str(NEVER),
            (false, _) => self.push_class(&items, is_negated),
        }
        Ok(())
    }

    fn class_atom(&mut self) -> Result<Atom<'t>, String> {
        match self.rest.chars().next() {
            None => Err("unclosed character class".to_owned()),
            Some('\\') => self.escape(Place::Class),
            Some(c) => {
                self.skip(c.len_utf8());
                Ok(Atom::Char(c))
            }
        }
    }

    /// Reads an escape.
    fn escape(&mut self, place: Place) -> Result<Atom<'t>, String> {
        let from = self.rest;
        self.skip(1);
        let Some(c) = self.rest.chars().next() else { return Ok(Atom::Raw(from)) };
        self.skip(c.len_utf8());
        let is_outside = place == Place::Outside;
        Ok(match c {
            'd' | 'D' => Atom::Set(DIGIT, c == 'D'),
            'w' | 'W' => Atom::Set(WORD, c == 'W'),
            's' | 'S' => Atom::Set(SPACE, c == 'S'),
            'b' if is_outside => Atom::Boundary(0),
            'B' if is_outside => Atom::Boundary(1),
            'b' => Atom::Char('\x08'),
            't' => Atom::Char('\t'),
            'n' => Atom::Char('\n'),
            'v' => Atom::Char('\x0B'),
            'f' => Atom::Char('\x0C'),
            'r' => Atom::Char('\r'),
            '0' => Atom::Char('\0'),
            'c' => match self.rest.bytes().next().filter(u8::is_ascii_alphabetic) {
                Some(letter) => {
                    self.skip(1);
                    Atom::Char(char::from(letter % 32))
                }
                // A lone `\c` is literal.
                None => {
                    self.rest = &from[1..];
                    Atom::Char('\\')
                }
            },
            'x' | 'u' => Atom::Char(self.code(c)?),
            'p' | 'P' => {
                let (rest, name) = (self.rest, self.brace());
                let last = rest[name.unwrap_or(0)..].chars().next().map_or(0, char::len_utf8);
                self.skip(name.unwrap_or(0) + last);
                let class = &from[..from.len() - self.rest.len()];
                match (regex_syntax::parse(class), name) {
                    (Ok(_), _) => Atom::Raw(class),
                    (Err(_), Some(_)) => return Err(format!("`{class}` is not a known character class")),
                    (Err(_), None) => {
                        self.rest = rest;
                        Atom::Char(c)
                    }
                }
            }
            '1'..='9' if is_outside => {
                let digits = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
                self.back_reference(from, digits)
            }
            'k' if is_outside && self.rest.starts_with('<') => {
                let name = self.rest.find('>').map_or(self.rest.len(), |at| at + 1);
                self.back_reference(from, name)
            }
            // Any other character is literal.
            c => Atom::Char(c),
        })
    }

    /// Writes a back-reference, which is empty if its group did not match.
    fn back_reference(&mut self, from: &str, more: usize) -> Atom<'t> {
        self.skip(more);
        self.out.engine = Engine::Fallback;
        let written = &from[..from.len() - self.rest.len()];
        let group = written.trim_start_matches(['\\', 'k']);
        let _ = write!(self.out.regex, "(?({group}){written}|)");
        Atom::Raw("")
    }

    /// Reads `\x41`, `\u0041`, `\u{1F600}`, or a surrogate pair. `x` or `u` before anything else is a letter.
    fn code(&mut self, letter: char) -> Result<char, String> {
        if let Some(end) = self.brace()
            && let Some(c) = u32::from_str_radix(&self.rest[1..end], 16).ok().and_then(char::from_u32)
        {
            self.skip(end + 1);
            return Ok(c);
        }
        let digits = if letter == 'x' { 2 } else { 4 };
        let Some(first) = unit(self.rest, digits) else { return Ok(letter) };
        let written = self.skip(digits);
        let second = self.rest.strip_prefix("\\u").and_then(|rest| unit(rest, 4));
        match char::decode_utf16([first].into_iter().chain(second)).next() {
            Some(Ok(c)) => {
                self.skip(if c.len_utf16() == 2 { 6 } else { 0 });
                Ok(c)
            }
            _ => Err(format!(
                "`\\u{written}` is half of a surrogate pair: write the whole character, such as `\\u{{1F600}}`"
            )),
        }
    }

    /// The index of the `}` of a short name in braces.
    fn brace(&self) -> Option<usize> {
        let is_open = self.rest.starts_with('{');
        work::count(MAX_NAME);
        self.rest.bytes().take(MAX_NAME).position(|byte| byte == b'}').filter(|_| is_open)
    }
}

/// Where an escape is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Outside,
    Class,
}

fn unit(text: &str, digits: usize) -> Option<u16> {
    let hex = text.get(..digits).filter(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u16::from_str_radix(hex, 16).ok()
}

fn push_item(items: &mut String, sets: &mut BTreeSet<(&'static str, bool)>, atom: Atom<'_>) {
    match atom {
        Atom::Char(c) => push_member(items, c),
        Atom::Set(set, is_negated) => {
            sets.insert((set, is_negated));
            items.extend(if is_negated { ["[^", set, "]"] } else { ["", set, ""] });
        }
        Atom::Raw(text) => items.push_str(text),
        Atom::Boundary(_) => {}
    }
}

/// The length of a counted repetition such as `{2}`, `{2,}`, `{2,3}`.
fn count(text: &str) -> Option<usize> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let low = digits(&text[1..]);
    let after = &text[1 + low..];
    let after = after.strip_prefix(',').map_or(after, |high| &high[digits(high)..]);
    (low > 0 && after.starts_with('}')).then_some(text.len() - after.len() + 1)
}
