//! Decodes the characters of a JSON string from bytes and escapes that may be split anywhere.

use std::char::REPLACEMENT_CHARACTER;

/// Replaces bytes and units that are not valid characters.
const REPLACEMENT: &str = "\u{FFFD}";

/// An incomplete character: its first bytes, or the first half of a surrogate pair, but never both.
#[derive(Clone, Debug, Default)]
pub(super) struct Characters {
    /// At most three bytes.
    held: Vec<u8>,
    high: Option<u16>,
}

impl Characters {
    /// Whether no character is incomplete.
    pub(super) fn is_complete(&self) -> bool {
        self.held.is_empty() && self.high.is_none()
    }

    /// Decodes bytes of the string; invalid ones become U+FFFD.
    pub(super) fn bytes(&mut self, bytes: &[u8], take: &mut impl FnMut(&str)) {
        if self.is_complete()
            && let Ok(text) = std::str::from_utf8(bytes)
        {
            return take(text);
        }
        if self.high.take().is_some() {
            take(REPLACEMENT);
        }
        let rest = self.complete(bytes, take);
        let mut left = rest.len();
        for chunk in rest.utf8_chunks() {
            left -= chunk.valid().len() + chunk.invalid().len();
            take(chunk.valid());
            match chunk.invalid() {
                [] => {}
                cut if left == 0 && is_incomplete(cut) => self.held.extend(cut),
                _ => take(REPLACEMENT),
            }
        }
    }

    /// Decodes one `\u` escape (a UTF-16 unit).
    pub(super) fn unit(&mut self, unit: u16, take: &mut impl FnMut(&str)) {
        let high = self.high.take();
        // The first half of a pair is lone unless the second half follows.
        let is_high = (0xD800..0xDC00).contains(&unit);
        self.high = is_high.then_some(unit);
        let units = high.into_iter().chain((!is_high).then_some(unit));
        for character in char::decode_utf16(units) {
            take(character.unwrap_or(REPLACEMENT_CHARACTER).encode_utf8(&mut [0; 4]));
        }
    }

    /// Ends a run of bytes. An incomplete character becomes U+FFFD.
    pub(super) fn end_bytes(&mut self) -> &'static str {
        let is_cut = !self.held.is_empty();
        self.held.clear();
        if is_cut { REPLACEMENT } else { "" }
    }

    /// Ends the string.
    pub(super) fn end(&mut self) -> &'static str {
        if self.high.take().is_some() { REPLACEMENT } else { self.end_bytes() }
    }

    /// Completes the held character and returns the remaining bytes.
    fn complete<'a>(&mut self, bytes: &'a [u8], take: &mut impl FnMut(&str)) -> &'a [u8] {
        let mut rest = bytes;
        while !self.held.is_empty()
            && let Some((&byte, after)) = rest.split_first()
        {
            self.held.push(byte);
            let fits = match std::str::from_utf8(&self.held) {
                Err(_) if is_incomplete(&self.held) => true,
                Err(_) => {
                    take(REPLACEMENT);
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

/// Whether these are the first bytes of a character.
pub(super) fn is_incomplete(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
}
