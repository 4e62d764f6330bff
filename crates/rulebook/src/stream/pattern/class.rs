//! Character classes that ignore case as in JavaScript.

use std::fmt::Write as _;

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

/// The characters that are a case of an ASCII letter in Unicode, but not in JavaScript.
pub(super) const UNICODE_ONLY: [char; 2] = ['ſ', '\u{212A}'];

/// A class that ignores case as in JavaScript; `None` if Unicode does the same.
pub(super) fn without_unicode_cases(items: &str) -> Option<String> {
    let excluded = ClassUnicode::new(UNICODE_ONLY.map(|c| ClassUnicodeRange::new(c, c)));
    let mut class = read(&format!("[{items}]"))?;
    let mut own = class.clone();
    own.intersect(&excluded);
    class.difference(&excluded);
    class.try_case_fold_simple().ok()?;
    class.difference(&excluded);
    class.union(&own);
    let unicode = read(&format!("(?i)[{items}]"))?;
    (class != unicode).then(|| {
        class.iter().fold(String::new(), |mut out, range| {
            push_member(&mut out, range.start());
            out.push('-');
            push_member(&mut out, range.end());
            out
        })
    })
}

/// Whether a class contains a character.
pub(in crate::stream) fn contains(regex: &str, c: char) -> bool {
    read(regex).is_none_or(|class| class.iter().any(|range| range.start() <= c && c <= range.end()))
}

/// Which ASCII characters a class contains; all of them if that is not known.
pub(in crate::stream) fn ascii_members(regex: &str) -> [bool; 128] {
    let class = read(regex);
    std::array::from_fn(|c| {
        let c = char::from(u8::try_from(c).expect("there are 128"));
        class.as_ref().is_none_or(|class| class.iter().any(|range| range.start() <= c && c <= range.end()))
    })
}

fn read(regex: &str) -> Option<ClassUnicode> {
    match regex_syntax::parse(regex).ok()?.into_kind() {
        HirKind::Class(Class::Unicode(class)) => Some(class),
        HirKind::Literal(literal) => {
            let c = std::str::from_utf8(&literal.0).ok()?.chars().next()?;
            Some(ClassUnicode::new([ClassUnicodeRange::new(c, c)]))
        }
        _ => None,
    }
}

/// Writes a member of a class, as itself where possible: the engine reads that faster than an escape.
pub(super) fn push_member(items: &mut String, c: char) {
    push_char(items, c, r"\[]^-&~");
}

/// Writes a character, escaped if it is special.
pub(super) fn push_char(out: &mut String, c: char, special: &str) {
    if special.contains(c) {
        out.push('\\');
        out.push(c);
    } else if c.is_control() {
        let _ = write!(out, "\\x{{{:x}}}", u32::from(c));
    } else {
        out.push(c);
    }
}
