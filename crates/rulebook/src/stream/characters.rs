//! Characters of a JSON string from bytes and escapes that may be cut anywhere.

use std::char::REPLACEMENT_CHARACTER;

/// What stands for bytes and units that make no character.
const LOST: &str = "\u{FFFD}";

/// The character that is not whole yet: the first bytes of one, or the first half of a surrogate pair, never both.
#[derive(Clone, Debug, Default)]
pub(super) struct Characters {
    /// At most three bytes that more bytes could complete.
    held: Vec<u8>,
    high: Option<u16>,
}

impl Characters {
    /// Whether no character waits for the rest of it.
    pub(super) fn is_whole(&self) -> bool {
        self.held.is_empty() && self.high.is_none()
    }

    /// Decodes bytes of the string; ones that could not be completed become U+FFFD.
    pub(super) fn bytes(&mut self, bytes: &[u8], take: &mut impl FnMut(&str)) {
        if self.is_whole()
            && let Ok(text) = std::str::from_utf8(bytes)
        {
            return take(text);
        }
        if self.high.take().is_some() {
            take(LOST);
        }
        let rest = self.complete(bytes, take);
        let mut left = rest.len();
        for chunk in rest.utf8_chunks() {
            left -= chunk.valid().len() + chunk.invalid().len();
            take(chunk.valid());
            match chunk.invalid() {
                [] => {}
                cut if left == 0 && is_cut(cut) => self.held.extend(cut),
                _ => take(LOST),
            }
        }
    }

    /// Decodes one `\u` escape, a UTF-16 unit.
    pub(super) fn unit(&mut self, unit: u16, take: &mut impl FnMut(&str)) {
        let high = self.high.take();
        // A half that waits for its other half stands alone if anything else follows.
        let is_high = (0xD800..0xDC00).contains(&unit);
        self.high = is_high.then_some(unit);
        let units = high.into_iter().chain((!is_high).then_some(unit));
        for character in char::decode_utf16(units) {
            take(character.unwrap_or(REPLACEMENT_CHARACTER).encode_utf8(&mut [0; 4]));
        }
    }

    /// Ends a run of bytes: what is cut now stays cut.
    pub(super) fn end_bytes(&mut self) -> &'static str {
        let is_cut = !self.held.is_empty();
        self.held.clear();
        if is_cut { LOST } else { "" }
    }

    /// Ends the string.
    pub(super) fn end(&mut self) -> &'static str {
        if self.high.take().is_some() { LOST } else { self.end_bytes() }
    }

    /// Completes the held character and tells what bytes are left.
    fn complete<'a>(&mut self, bytes: &'a [u8], take: &mut impl FnMut(&str)) -> &'a [u8] {
        let mut rest = bytes;
        while !self.held.is_empty()
            && let Some((&byte, after)) = rest.split_first()
        {
            self.held.push(byte);
            let fits = match std::str::from_utf8(&self.held) {
                Err(_) if is_cut(&self.held) => true,
                Err(_) => {
                    take(LOST);
                    self.held.clear();
                    false
                }
                Ok(character) => {
                    take(character);
                    self.held.clear();
                    true
                }
            };
            if fits {
                rest = after;
            }
        }
        rest
    }
}

/// Whether more bytes could make a character of these.
pub(super) fn is_cut(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
}
