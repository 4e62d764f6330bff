//! What is unusual about a path.

/// A set of unusual things about one path, or about several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Traits(u8);

impl Traits {
    /// Something that JavaScript's `.` does not match.
    pub(super) const LINE_BREAK: Traits = Traits(1);
    /// It ends in a slash.
    pub(super) const FOLDER: Traits = Traits(2);
    /// A segment begins with a dot.
    pub(super) const HIDDEN: Traits = Traits(4);
    pub(super) const BACKSLASH: Traits = Traits(8);
    /// Something that another case might be written in.
    pub(super) const CASED: Traits = Traits(16);

    pub(super) fn of(path: &str) -> Traits {
        let mut before = b'/';
        let mut traits = Traits::default();
        for c in path.bytes() {
            traits.0 |= match c {
                b'.' if before == b'/' => Traits::HIDDEN.0,
                b'\\' => Traits::BACKSLASH.0,
                b'A'..=b'Z' | 0x80.. => Traits::CASED.0,
                _ => 0,
            };
            before = c;
        }
        if before == b'/' {
            traits = traits.and(Traits::FOLDER);
        }
        if has_line_break(path) { traits.and(Traits::LINE_BREAK) } else { traits }
    }

    pub(super) fn and(self, other: Traits) -> Traits {
        Traits(self.0 | other.0)
    }

    /// Whether any of them is among the others.
    pub(super) fn touch(self, other: Traits) -> bool {
        self.0 & other.0 != 0
    }
}

pub(super) fn has_line_break(path: &str) -> bool {
    memchr::memchr3(b'\n', b'\r', 0xe2, path.as_bytes()).is_some()
        && path.contains(['\n', '\r', '\u{2028}', '\u{2029}'])
}
