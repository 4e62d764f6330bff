//! Classes of characters: what is in one, and what ignoring case must not add.

use std::fmt::Write as _;

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

/// A class that ignores case without the two signs that Unicode would add to letters of ASCII; none where it adds none.
pub(super) fn narrowed(items: &str) -> Option<String> {
    let added: Vec<char> =
        ['ſ', '\u{212A}'].into_iter().filter(|c| !holds(&format!("[{items}]"), *c)).collect();
    let mut class = class(&format!("(?i)[{items}]"))?;
    let extra = ClassUnicode::new(added.into_iter().map(|c| ClassUnicodeRange::new(c, c)));
    let before = class.clone();
    class.difference(&extra);
    (class != before).then(|| {
        class.iter().fold(String::new(), |mut out, range| {
            let _ = write!(out, "\\x{{{:x}}}-\\x{{{:x}}}", u32::from(range.start()), u32::from(range.end()));
            out
        })
    })
}

/// Whether a class has a character in it.
pub(in crate::stream) fn holds(regex: &str, c: char) -> bool {
    class(regex).is_none_or(|class| class.iter().any(|range| range.start() <= c && c <= range.end()))
}

fn class(regex: &str) -> Option<ClassUnicode> {
    match regex_syntax::parse(regex).ok()?.into_kind() {
        HirKind::Class(Class::Unicode(class)) => Some(class),
        HirKind::Literal(literal) => {
            let c = std::str::from_utf8(&literal.0).ok()?.chars().next()?;
            Some(ClassUnicode::new([ClassUnicodeRange::new(c, c)]))
        }
        _ => None,
    }
}
