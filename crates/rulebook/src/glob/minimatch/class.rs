//! Bracket expressions over whole characters, with POSIX names for Unicode classes.

use std::sync::OnceLock;

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

use super::super::regex::Node;

/// Each POSIX name with its expression, and whether the expression lists what the class excludes.
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

/// The contents of the brackets.
#[derive(Default)]
struct Members {
    ranges: Vec<(char, char)>,
    listed: Option<ClassUnicode>,
    inverse: Option<ClassUnicode>,
    /// The names already added.
    named: [bool; CLASSES.len()],
    /// The first member is an escaped `^`, which JavaScript reads as a negation.
    has_caret: bool,
}

impl Members {
    fn push(&mut self, low: char, high: char) {
        self.has_caret |= low == '^' && self.ranges.is_empty() && self.listed.is_none();
        self.ranges.push((low, high));
    }

    /// Adds the POSIX class that starts here and returns the length of its name.
    fn push_named(&mut self, chars: &[char]) -> Option<usize> {
        let at = named(chars)?;
        let (name, _, is_inverse) = CLASSES[at];
        let set = if is_inverse { &mut self.inverse } else { &mut self.listed };
        if !std::mem::replace(&mut self.named[at], true) {
            set.get_or_insert_with(ClassUnicode::empty).union(class_of(at));
        }
        Some(name.len())
    }

    /// Negates listed and inverse members separately, then unites them.
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
        let negate_if = |set: Option<ClassUnicode>, negated: bool| {
            set.map(|mut set| {
                if negated {
                    set.negate();
                }
                set
            })
        };
        match (negate_if(listed, negated || has_caret), negate_if(self.inverse, !negated)) {
            (Some(mut listed), Some(inverse)) => {
                listed.union(&inverse);
                Some(listed)
            }
            (listed, inverse) => listed.or(inverse),
        }
    }
}

/// The index of the last bracket that can close a class: it is neither escaped nor part of a POSIX name.
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

/// Reads the class that opens at `start`; returns it with its end, or `None` if it is unclosed.
///
/// `last` is the result of [`last_closer`]. It keeps many unclosed brackets from costing a scan to the end each.
pub(super) fn read(chars: &[char], start: usize, last: Option<usize>) -> Option<(Node, usize)> {
    // A POSIX name outside of brackets is a class of its letters.
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
                // A range that ends in a named class makes the pattern match nothing.
                return Some((Node::never(), chars.len()));
            }
            at += len;
            continue;
        }
        at += 1;
        let next_is_dash = chars.get(at) == Some(&'-');
        match low.take() {
            Some(low) if low <= c => members.push(low, c),
            // A reversed range is ignored.
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

/// The class with this index, parsed once: a pattern may repeat it in each of its alternatives.
fn class_of(at: usize) -> &'static ClassUnicode {
    static READ: [OnceLock<ClassUnicode>; CLASSES.len()] = [const { OnceLock::new() }; CLASSES.len()];
    READ[at].get_or_init(|| {
        let hir = regex_syntax::parse(CLASSES[at].1).expect("the expressions in the table are valid");
        match hir.into_kind() {
            HirKind::Class(Class::Unicode(class)) => class,
            kind => unreachable!("{kind:?} is not a class"),
        }
    })
}

/// The index of the POSIX name that starts here.
fn named(chars: &[char]) -> Option<usize> {
    let starts = |name: &str| name.chars().eq(chars.iter().copied().take(name.len()));
    // Most brackets do not start a POSIX name.
    chars.starts_with(&['[', ':']).then(|| CLASSES.iter().position(|row| starts(row.0)))?
}
