//! Properties of paths that need special treatment.

/// A set of unusual properties of one path or of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Traits(u8);

impl Traits {
    /// It contains a character that JavaScript's `.` does not match.
    pub(super) const LINE_BREAK: Traits = Traits(1);
    /// It ends in a slash.
    pub(super) const FOLDER: Traits = Traits(2);
    /// A segment starts with a dot.
    pub(super) const HIDDEN: Traits = Traits(4);
    pub(super) const BACKSLASH: Traits = Traits(8);
    /// It contains characters that may differ in case only.
    pub(super) const CASED: Traits = Traits(16);
    /// A segment is empty: it starts with a slash or contains two in a row.
    pub(super) const EMPTY_SEGMENT: Traits = Traits(32);

    pub(super) fn of(path: &str) -> Traits {
        let mut before = b'/';
        let mut traits = Traits::default();
        for c in path.bytes() {
            traits.0 |= match c {
                b'.' if before == b'/' => Traits::HIDDEN.0,
                b'/' if before == b'/' => Traits::EMPTY_SEGMENT.0,
                b'\\' => Traits::BACKSLASH.0,
                b'A'..=b'Z' | 0x80.. => Traits::CASED.0,
                _ => 0,
            };
            before = c;
        }
        if before == b'/' {
            traits = traits.union(Traits::FOLDER);
        }
        if has_line_break(path) { traits.union(Traits::LINE_BREAK) } else { traits }
    }

    pub(super) fn union(self, other: Traits) -> Traits {
        Traits(self.0 | other.0)
    }

    pub(super) fn intersects(self, other: Traits) -> bool {
        self.0 & other.0 != 0
    }
}

pub(super) fn has_line_break(path: &str) -> bool {
    memchr::memchr3(b'\n', b'\r', 0xe2, path.as_bytes()).is_some()
        && path.contains(['\n', '\r', '\u{2028}', '\u{2029}'])
}

/// Whether the path contains characters with a meaning in patterns.
pub(super) fn has_special_characters(path: &str) -> bool {
    let is_common = |c: u8| c.is_ascii_alphanumeric() || c >= 0x80 || matches!(c, b'_' | b'-' | b'.' | b'/');
    path.starts_with("./") || !path.bytes().all(is_common)
}
