//! Bracket expressions over whole characters, with POSIX names for Unicode's classes.

use std::sync::OnceLock;

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

use super::super::regex::Node;

/// What each POSIX name stands for, and whether that is what it leaves out.
const CLASSES: [(&str, &str, bool); 14] = [
    ("[:alnum:]", r"[\p{L}\p{Nl}\p{Nd}]", false),
    ("[:alpha:]", r"[\p{L}\p{Nl}]", false),
    ("[:ascii:]", r"[\x00-\x7f]", false),
    ("[:blank:]", r"[\p{Zs}\t]", false),
    ("[:cntrl:]", r"\p{Cc}", false),
    ("[:digit:]", r"\p{Nd}", false),
    ("[:graph:]", r"[\p{Z}\p{C}]", true),
    ("[:lower:]", r"\p{Ll}", false),
    ("[:print:]", r"\p{C}", true),
    ("[:punct:]", r"[\p{P}\p{S}]", false),
    ("[:space:]", r"[\p{Z}\t\r\n\v\f]", false),
    ("[:upper:]", r"\p{Lu}", false),
    ("[:word:]", r"[\p{L}\p{Nl}\p{Nd}\p{Pc}]", false),
    ("[:xdigit:]", r"[A-Fa-f0-9]", false),
];

/// What is written between the brackets.
#[derive(Default)]
struct Members {
    ranges: Vec<(char, char)>,
    listed: Option<ClassUnicode>,
    inverse: Option<ClassUnicode>,
    /// Which names are in one of them.
    named: [bool; CLASSES.len()],
    /// An escaped `^` came first, which JavaScript's class then takes for a negation.
    has_caret: bool,
}

impl Members {
    fn push(&mut self, low: char, high: char) {
        self.has_caret |= low == '^' && self.ranges.is_empty() && self.listed.is_none();
        self.ranges.push((low, high));
    }

    /// Adds the POSIX class that starts here, and says how long its name is.
    fn push_named(&mut self, chars: &[char]) -> Option<usize> {
        let at = named(chars)?;
        let (name, _, is_inverse) = CLASSES[at];
        let set = if is_inverse { &mut self.inverse } else { &mut self.listed };
        if !std::mem::replace(&mut self.named[at], true) {
            set.get_or_insert_with(ClassUnicode::empty).union(class_of(at));
        }
        Some(name.len())
    }

    /// Listed and inverse members are turned around each by itself, then put together.
    fn finish(mut self, negated: bool) -> Option<ClassUnicode> {
        let has_caret = self.has_caret && !negated;
        if has_caret {
            let (_, high) = self.ranges.remove(0);
            if high != '^' {
                self.ranges.extend([('-', '-'), (high, high)]);
            }
        }
        let ranges = self.ranges.iter().map(|&(low, high)| ClassUnicodeRange::new(low, high));
        let mut listed = ClassUnicode::new(ranges);
        listed.union(&self.listed.unwrap_or_else(ClassUnicode::empty));
        let listed = (has_caret || !listed.ranges().is_empty()).then_some(listed);
        let turned = |set: Option<ClassUnicode>, turn: bool| {
            set.map(|mut set| {
                if turn {
                    set.negate();
                }
                set
            })
        };
        match (turned(listed, negated || has_caret), turned(self.inverse, !negated)) {
            (Some(mut listed), Some(inverse)) => {
                listed.union(&inverse);
                Some(listed)
            }
            (listed, inverse) => listed.or(inverse),
        }
    }
}

/// Where the last bracket stands that closes a class, wherever that opens: it is neither escaped nor part of a name.
pub(super) fn last_closer(chars: &[char]) -> Option<usize> {
    let (mut at, mut last) = (0, None);
    while let Some(c) = chars.get(at) {
        last = if *c == ']' { Some(at) } else { last };
        at += match c {
            '\\' => 2,
            '[' => named(&chars[at..]).map_or(1, |at| CLASSES[at].0.len()),
            _ => 1,
        };
    }
    last
}

/// Reads the class that opens at `start`, and where it ends; nothing where it is never closed. With the last bracket that
/// closes one, those that are never closed cost one look: else each would be read to the end.
pub(super) fn read(chars: &[char], start: usize, last: Option<usize>) -> Option<(Node, usize)> {
    // By itself a name is a class of its letters.
    if last.is_none_or(|last| last < start) && named(&chars[start..]).is_none() {
        return None;
    }
    let mut members = Members::default();
    let mut at = start + 1;
    let negated = matches!(chars.get(at), Some('!' | '^'));
    at += usize::from(negated);
    let first = at;
    let mut low: Option<char> = None;
    loop {
        let mut c = *chars.get(at)?;
        if c == ']' && at > first {
            break;
        }
        if c == '\\' {
            at += 1;
            c = *chars.get(at)?;
        } else if let Some(len) = members.push_named(&chars[at..]) {
            if low.is_some() {
                // A range that ends in a class spoils the whole pattern.
                return Some((Node::never(), chars.len()));
            }
            at += len;
            continue;
        }
        at += 1;
        let next_is_dash = chars.get(at) == Some(&'-');
        match low.take() {
            Some(low) if low <= c => members.push(low, c),
            // Out of order, it is as if it were not written.
            Some(_) => {}
            None if next_is_dash && chars.get(at + 1) != Some(&']') => {
                low = Some(c);
                at += 1;
            }
            None => members.push(c, c),
        }
    }
    Some(match members.finish(negated) {
        Some(set) => (Node::one_of(&set), at + 1),
        None => (Node::never(), chars.len()),
    })
}

/// The class of a name, read once: a pattern may have many, in each of its alternatives.
fn class_of(at: usize) -> &'static ClassUnicode {
    static READ: [OnceLock<ClassUnicode>; CLASSES.len()] = [const { OnceLock::new() }; CLASSES.len()];
    READ[at].get_or_init(|| {
        let hir = regex_syntax::parse(CLASSES[at].1).expect("the table's expressions are valid");
        match hir.into_kind() {
            HirKind::Class(Class::Unicode(class)) => class,
            kind => unreachable!("{kind:?} is no class"),
        }
    })
}

/// Which POSIX name starts here.
fn named(chars: &[char]) -> Option<usize> {
    let starts = |name: &str| name.chars().eq(chars.iter().copied().take(name.len()));
    // Most brackets do not start one, and need not be held against every name.
    chars.starts_with(&['[', ':']).then(|| CLASSES.iter().position(|row| starts(row.0)))?
}
