//! Classes of characters: what is in one, and what ignoring case must not add.

use std::fmt::Write as _;

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

/// The signs that Unicode gives a case of a letter of ASCII: JavaScript does not.
pub(super) const ODD: [char; 2] = ['ſ', '\u{212A}'];

/// A class that ignores case as JavaScript does; none where Unicode does the same.
pub(super) fn narrowed(items: &str) -> Option<String> {
    let odd = ClassUnicode::new(ODD.map(|c| ClassUnicodeRange::new(c, c)));
    let mut class = read(&format!("[{items}]"))?;
    let mut own = class.clone();
    own.intersect(&odd);
    class.difference(&odd);
    class.try_case_fold_simple().ok()?;
    class.difference(&odd);
    class.union(&own);
    let unicode = read(&format!("(?i)[{items}]"))?;
    (class != unicode).then(|| {
        class.iter().fold(String::new(), |mut out, range| {
            let _ = write!(out, "\\x{{{:x}}}-\\x{{{:x}}}", u32::from(range.start()), u32::from(range.end()));
            out
        })
    })
}

/// Whether a class has a character in it.
pub(in crate::stream) fn holds(regex: &str, c: char) -> bool {
    read(regex).is_none_or(|class| class.iter().any(|range| range.start() <= c && c <= range.end()))
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
