//! Parses JavaScript's regular expressions without the `u` flag: over code units, and leniently where a character is
//! unambiguous.

use super::super::error::{GlobError, MAX_DEPTH};
use super::class::{self, Class, Range, is_word};
use super::node::{Assertion, Node, Step};

/// Another character follows, and it is not a line break.
pub(in super::super) const SOMETHING: &str = "(?=.)";
/// No `.` or `..` segment starts here.
pub(in super::super) const NO_DOTS: &str = r"(?!\.{1,2}(?:\/|$))";
/// No `.` or `..` segment starts here or after a slash here.
pub(in super::super) const NO_DOTS_BEYOND: &str = r"(?!(?:^|\/)\.{1,2}(?:\/|$))";
/// A leading dot is followed by more than another dot.
pub(in super::super) const NO_LONE_DOT: &str = r"(?!\.{0,1}(?:\/|$))";
/// One character of a path that `**` matches.
const GLOBSTAR_UNIT: &str = r"(?:(?!(?:^|\/)\.{1,2}(?:\/|$)).)";

/// Groups that picomatch writes often. Each becomes a single node.
const IDIOMS: &[(&str, Node)] = &[
    (SOMETHING, Node::Assert(Assertion::Something)),
    (NO_DOTS, Node::Assert(Assertion::NoDots)),
    (NO_DOTS_BEYOND, Node::Assert(Assertion::NoDotsBeyond)),
    (NO_LONE_DOT, Node::Assert(Assertion::NoLoneDot)),
    (GLOBSTAR_UNIT, Node::One(Step::GlobstarUnit)),
];

pub(super) fn parse(source: &str) -> Result<Node, Fault> {
    let units: Vec<u16> = source.encode_utf16().collect();
    let groups = count_groups(&units);
    let mut parser = Parser { units, at: 0, groups, names: Vec::new(), depth: 0, unsupported: None };
    let node = parser.either()?;
    if parser.at < parser.units.len() {
        return Err(Fault::Invalid);
    }
    parser.unsupported.map_or(Ok(node), |error| Err(Fault::Unsupported(error)))
}

/// Why an expression cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(in super::super) enum Fault {
    /// It is invalid in JavaScript too.
    Invalid,
    /// It is valid in JavaScript, but this engine does not support it.
    Unsupported(GlobError),
}

impl From<GlobError> for Fault {
    fn from(error: GlobError) -> Fault {
        Fault::Unsupported(error)
    }
}

struct Parser {
    units: Vec<u16>,
    at: usize,
    /// The number of capturing groups in the whole expression.
    groups: u32,
    names: Vec<Vec<u16>>,
    depth: usize,
    /// A valid but unsupported construct; the rest may still be invalid.
    unsupported: Option<GlobError>,
}

/// An atom, and whether a quantifier may follow.
enum Atom {
    Repeatable(Node),
    Fixed(Node),
}

impl Parser {
    fn either(&mut self) -> Result<Node, Fault> {
        let mut branches = vec![self.sequence()?];
        while self.eat(b'|') {
            branches.push(self.sequence()?);
        }
        Ok(if branches.len() == 1 { branches.remove(0) } else { Node::Either(branches) })
    }

    fn sequence(&mut self) -> Result<Node, Fault> {
        let mut nodes = Vec::new();
        while let Some(c) = self.peek() {
            if matches!(c, b'|' | b')') {
                break;
            }
            nodes.push(match self.atom()? {
                Atom::Fixed(node) => node,
                Atom::Repeatable(node) => self.repeated(node)?,
            });
        }
        Ok(if nodes.len() == 1 { nodes.remove(0) } else { Node::Sequence(nodes) })
    }

    fn atom(&mut self) -> Result<Atom, Fault> {
        let unit = self.units[self.at];
        let node = match self.peek().unwrap_or(0) {
            b'(' => return self.group(),
            b'[' => {
                self.at += 1;
                Node::One(Step::Class(self.class()?))
            }
            b'\\' => {
                self.at += 1;
                return self.escape();
            }
            b'^' => {
                self.at += 1;
                return Ok(Atom::Fixed(Node::Assert(Assertion::Start)));
            }
            b'$' => {
                self.at += 1;
                return Ok(Atom::Fixed(Node::Assert(Assertion::End)));
            }
            b'*' | b'+' | b'?' => return Err(Fault::Invalid),
            b'{' if self.count().is_some() => return Err(Fault::Invalid),
            b'.' => {
                self.at += 1;
                Node::One(Step::Any)
            }
            _ => {
                self.at += 1;
                Node::One(Step::Unit(unit))
            }
        };
        Ok(Atom::Repeatable(node))
    }

    fn group(&mut self) -> Result<Atom, Fault> {
        for (text, node) in IDIOMS {
            if self.eat_text(text) {
                return Ok(Atom::Repeatable(node.clone()));
            }
        }
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Fault::Unsupported(GlobError::TooDeep));
        }
        self.at += 1;
        let look = match () {
            () if self.eat_text("?:") => None,
            () if self.eat_text("?=") => Some(false),
            () if self.eat_text("?!") => Some(true),
            () if self.eat_text("?<=") || self.eat_text("?<!") => {
                self.unsupported = Some(GlobError::LookBehind);
                None
            }
            () if self.eat_text("?<") => {
                self.name()?;
                None
            }
            () => None,
        };
        let body = self.either()?;
        if !self.eat(b')') {
            return Err(Fault::Invalid);
        }
        self.depth -= 1;
        Ok(Atom::Repeatable(match look {
            None => body,
            Some(negated) => Node::LookAhead { body: Box::new(body), negated },
        }))
    }

    fn name(&mut self) -> Result<(), Fault> {
        let len = self.units[self.at..].iter().position(|&unit| unit == u16::from(b'>'));
        let name = self.units[self.at..][..len.ok_or(Fault::Invalid)?].to_vec();
        let is_word = |unit: &u16| *unit > 127 || is_word(*unit) || *unit == u16::from(b'$');
        let is_digit = |unit: &u16| (0x30..=0x39).contains(unit);
        if name.first().is_none_or(is_digit) || !name.iter().all(is_word) || self.names.contains(&name) {
            return Err(Fault::Invalid);
        }
        self.at += name.len() + 1;
        self.names.push(name);
        Ok(())
    }

    fn repeated(&mut self, node: Node) -> Result<Node, Fault> {
        let (min, max) = match self.peek() {
            Some(b'*') => (0, None),
            Some(b'+') => (1, None),
            Some(b'?') => (0, Some(1)),
            Some(b'{') => match self.count() {
                Some((min, max, end)) => {
                    self.at = end - 1;
                    (min, max)
                }
                None => return Ok(node),
            },
            _ => return Ok(node),
        };
        self.at += 1;
        // Lazy and greedy quantifiers match the same paths.
        self.eat(b'?');
        if max.is_some_and(|max| max < min) {
            return Err(Fault::Invalid);
        }
        Ok(Node::Repeat { body: Box::new(node), min, max })
    }

    /// Reads `{2}`, `{2,}` or `{2,3}` without consuming it; returns its end too.
    fn count(&self) -> Option<(u32, Option<u32>, usize)> {
        let (min, at) = self.number(self.at + 1);
        let min = min?;
        if self.is_at(at, b'}') {
            return Some((min, Some(min), at + 1));
        }
        if !self.is_at(at, b',') {
            return None;
        }
        let (max, at) = self.number(at + 1);
        self.is_at(at, b'}').then_some((min, max, at + 1))
    }

    fn number(&self, start: usize) -> (Option<u32>, usize) {
        let digits = self.units.get(start..).unwrap_or_default().iter();
        let digits: Vec<u32> =
            digits.map_while(|&unit| char::from_u32(unit.into()).and_then(|c| c.to_digit(10))).collect();
        let value = digits.iter().fold(0_u32, |sum, digit| sum.saturating_mul(10).saturating_add(*digit));
        ((!digits.is_empty()).then_some(value), start + digits.len())
    }

    fn escape(&mut self) -> Result<Atom, Fault> {
        let letter = self.peek().ok_or(Fault::Invalid)?;
        match letter {
            b'b' | b'B' => {
                self.at += 1;
                let negated = letter == b'B';
                return Ok(Atom::Fixed(Node::Assert(Assertion::WordEdge { negated })));
            }
            b'k' if !self.names.is_empty() => self.unsupported = Some(GlobError::BackReference),
            b'1'..=b'9' => {
                let (number, _) = self.number(self.at);
                if number.is_some_and(|number| number <= self.groups) {
                    self.unsupported = Some(GlobError::BackReference);
                }
            }
            _ => {}
        }
        if let Some(ranges) = class::escaped(letter) {
            self.at += 1;
            return Ok(Atom::Repeatable(Node::One(Step::Class(Class::of(ranges)))));
        }
        Ok(Atom::Repeatable(Node::One(Step::Unit(self.escaped_unit(InClass::No)))))
    }

    /// Reads an escape after its backslash.
    fn escaped_unit(&mut self, place: InClass) -> u16 {
        let unit = self.units[self.at];
        let letter = self.peek().unwrap_or(0);
        if letter == b'c' {
            let next = self.units.get(self.at + 1).copied().unwrap_or(0);
            let is_letter = u8::try_from(next).is_ok_and(|c| c.is_ascii_alphabetic());
            if is_letter || (place == InClass::Yes && is_word(next)) {
                self.at += 2;
                return next % 32;
            }
            // The backslash is literal, and `c` is read next.
            return u16::from(b'\\');
        }
        self.at += 1;
        match letter {
            b't' => 0x09,
            b'n' => 0x0a,
            b'v' => 0x0b,
            b'f' => 0x0c,
            b'r' => 0x0d,
            b'x' => self.hex(2).unwrap_or(unit),
            b'u' => self.hex(4).unwrap_or(unit),
            b'0'..=b'7' => self.octal(letter),
            _ => unit,
        }
    }

    fn hex(&mut self, len: usize) -> Option<u16> {
        let digits = self.units.get(self.at..self.at + len)?;
        let value = digits.iter().try_fold(0, |sum, &unit| {
            let digit = char::from_u32(unit.into())?.to_digit(16)?;
            Some(sum * 16 + digit)
        })?;
        self.at += len;
        u16::try_from(value).ok()
    }

    /// Reads up to three octal digits, at most 255.
    fn octal(&mut self, first: u8) -> u16 {
        let mut value = u16::from(first - b'0');
        for _ in 0..2 {
            let Some(digit @ b'0'..=b'7') = self.peek() else { break };
            let longer = value * 8 + u16::from(digit - b'0');
            if longer > 255 {
                break;
            }
            value = longer;
            self.at += 1;
        }
        value
    }

    /// Reads a class after its `[`.
    fn class(&mut self) -> Result<Class, Fault> {
        let mut ranges = Vec::new();
        let negated = self.eat(b'^');
        while !self.eat(b']') {
            let low = self.member(&mut ranges)?;
            let is_range = self.is_at(self.at, b'-') && !self.is_at(self.at + 1, b']');
            if !is_range || self.at + 1 >= self.units.len() {
                ranges.extend(low.map(|unit| (unit, unit)));
                continue;
            }
            self.at += 1;
            match (low, self.member(&mut ranges)?) {
                (Some(low), Some(high)) if low > high => return Err(Fault::Invalid),
                (Some(low), Some(high)) => ranges.push((low, high)),
                (low, high) => {
                    let units = [low, high, Some(b'-'.into())];
                    ranges.extend(units.into_iter().flatten().map(|unit| (unit, unit)));
                }
            }
        }
        let class = Class::of(ranges);
        Ok(if negated { class.negated() } else { class })
    }

    /// Reads one end of a range; `None` for classes like `\d`, which are added to `ranges` directly.
    fn member(&mut self, ranges: &mut Vec<Range>) -> Result<Option<u16>, Fault> {
        let &unit = self.units.get(self.at).ok_or(Fault::Invalid)?;
        self.at += 1;
        if unit != u16::from(b'\\') {
            return Ok(Some(unit));
        }
        if self.at >= self.units.len() {
            return Err(Fault::Invalid);
        }
        let letter = self.peek().unwrap_or(0);
        if let Some(set) = class::escaped(letter) {
            self.at += 1;
            ranges.extend(set);
            return Ok(None);
        }
        if letter == b'b' {
            self.at += 1;
            return Ok(Some(0x08));
        }
        Ok(Some(self.escaped_unit(InClass::Yes)))
    }

    /// The next unit if it is ASCII, 0 for any other.
    fn peek(&self) -> Option<u8> {
        self.units.get(self.at).map(|&unit| u8::try_from(unit).ok().filter(u8::is_ascii).unwrap_or(0))
    }

    fn is_at(&self, at: usize, byte: u8) -> bool {
        self.units.get(at) == Some(&byte.into())
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.is_at(self.at, byte);
        self.at += usize::from(found);
        found
    }

    fn eat_text(&mut self, text: &str) -> bool {
        let found = self.units[self.at..].iter().copied().take(text.len()).eq(text.bytes().map(u16::from));
        self.at += if found { text.len() } else { 0 };
        found
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum InClass {
    No,
    Yes,
}

fn count_groups(units: &[u16]) -> u32 {
    let at = |at: usize| units.get(at).and_then(|&unit| u8::try_from(unit).ok());
    let mut groups = 0;
    let mut in_class = false;
    let mut i = 0;
    while i < units.len() {
        match at(i) {
            Some(b'\\') => i += 1,
            Some(b'[') => in_class = true,
            Some(b']') => in_class = false,
            Some(b'(') if !in_class => {
                let named = at(i + 2) == Some(b'<') && !matches!(at(i + 3), Some(b'=' | b'!'));
                groups += u32::from(at(i + 1) != Some(b'?') || named);
            }
            _ => {}
        }
        i += 1;
    }
    groups
}
