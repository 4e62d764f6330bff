//! Decodes the JSON arguments of a tool call as they arrive, in any chunks, into the text of each field.
//!
//! Accepts what `serde_json` accepts, with these differences: a lone surrogate and invalid UTF-8 become U+FFFD, as with
//! [`String::from_utf8_lossy`]; a control character may be in a string, as lenient readers allow; nesting is limited to 64; a number is its literal text, regardless of its size.

mod frame;
mod number;
#[cfg(test)]
mod tests;

use super::characters::Characters;
use frame::{Frame, Inside};
use number::Number;

/// The maximum nesting of objects and arrays.
const MAX_DEPTH: usize = 64;
/// The maximum length of a path; longer ones are cut.
const MAX_PATH: usize = 4096;

/// The role of a byte in a string: literal ASCII, [`ENDS_RUN`] of text, or part of a [`NON_ASCII`] character.
const BYTE_ROLES: [u8; 256] = {
    let mut roles = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        roles[byte] = match byte {
            0x22 | 0x5c => ENDS_RUN,
            0x80.. => NON_ASCII,
            _ => 0,
        };
        byte += 1;
    }
    roles
};
const ENDS_RUN: u8 = 1;
const NON_ASCII: u8 = 2;

/// A decoder for the arguments of one tool call. It keeps no text, only its state.
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    at: usize,
    state: State,
    frames: Vec<Frame>,
    path: String,
    /// Whether the current value is a leaf. Otherwise a string is a key, and a literal is `null`.
    is_leaf: bool,
    characters: Characters,
    malformed: Option<Malformed>,
}

/// A decoded piece. One leaf is open at a time; a duplicate key makes two leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'p> {
    /// An object inside the arguments starts. The outermost object is the arguments themselves.
    Enter,
    /// The object ends, or the arguments end within it.
    Leave,
    /// A leaf starts: a string, number, `true` or `false`, but not `null`.
    Open {
        /// Its path: `command`, `edits[0].new_string`, or empty for a top-level value. Keys are decoded and may contain
        /// dots.
        path: &'p str,
        /// The key of the leaf, or of the array that contains it, in the enclosing object.
        key: &'p str,
    },
    /// The next decoded text of the leaf: complete characters, never empty.
    Text(&'p str),
    /// The leaf ends, or the arguments end within it.
    Close,
}

/// The bytes are not valid JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The offset of the first invalid byte.
    pub at: usize,
}

impl Arguments {
    /// Decodes more bytes. After an error, every call returns the same error and emits nothing.
    pub fn feed(&mut self, bytes: &[u8], emit: &mut impl FnMut(Piece<'_>)) -> Result<(), Malformed> {
        if let Some(malformed) = self.malformed {
            return Err(malformed);
        }
        let mut rest = bytes;
        while let Some(&byte) = rest.first() {
            let Some(used) = self.step(byte, rest, emit) else {
                let malformed = Malformed { at: self.at };
                self.malformed = Some(malformed);
                return Err(malformed);
            };
            self.at = self.at.saturating_add(used);
            rest = rest.get(used..).unwrap_or_default();
        }
        Ok(())
    }

    /// Consumes all of `bytes` if they are unescaped text of the open leaf.
    pub(super) fn consume_plain(&mut self, bytes: &[u8]) -> bool {
        let roles = || bytes.iter().fold(0, |roles, byte| roles | BYTE_ROLES[usize::from(*byte)]);
        let is_plain = matches!(self.state, State::Text)
            && self.is_leaf
            && self.characters.is_complete()
            && match roles() {
                0 => true,
                NON_ASCII => std::str::from_utf8(bytes).is_ok(),
                _ => false,
            };
        if is_plain {
            self.at = self.at.saturating_add(bytes.len());
        }
        is_plain
    }

    /// The number of bytes read.
    pub(super) fn read(&self) -> usize {
        self.at
    }

    /// Closes what is open. Truncated arguments are not an error; an incomplete character is dropped.
    pub fn finish(&mut self, emit: &mut impl FnMut(Piece<'_>)) -> Result<(), Malformed> {
        self.close(emit);
        while let Some(frame) = self.frames.pop() {
            self.leave(&frame, emit);
        }
        self.malformed.map_or(Ok(()), Err)
    }

    /// Processes `byte`, the first of `rest`, and similar bytes after it. Returns the number of bytes, 0 if the byte must be
    /// processed again in the new state, or `None` if the byte is invalid.
    fn step(&mut self, byte: u8, rest: &[u8], emit: &mut impl FnMut(Piece<'_>)) -> Option<usize> {
        match self.state {
            State::Text => return self.text(byte, rest, emit),
            State::Escape => self.escape(byte, emit)?,
            State::Hex { digits, unit } => self.hex(digits, unit, byte, emit)?,
            State::Number(number) => return self.number(number, byte, emit),
            State::Literal(left) => self.literal(left, byte, emit)?,
            _ if matches!(byte, b' ' | b'\t' | b'\n' | b'\r') => {}
            State::Value | State::First if byte != b']' => self.begin(byte, emit)?,
            State::FirstKey | State::Key if byte == b'"' => self.begin_key(),
            State::Colon if byte == b':' => self.state = State::Value,
            State::First | State::FirstKey => self.end(byte, emit)?,
            State::Done if byte == b',' => {
                self.state = match self.frames.last()?.inside {
                    Inside::Object => State::Key,
                    Inside::Array { .. } => State::Value,
                };
            }
            State::Done => self.end(byte, emit)?,
            State::Value | State::Key | State::Colon => return None,
        }
        Some(1)
    }

    fn begin(&mut self, byte: u8, emit: &mut impl FnMut(Piece<'_>)) -> Option<()> {
        self.begin_item();
        match byte {
            b'{' => {
                self.nest(Frame::object, State::FirstKey)?;
                if self.frames.len() > 1 {
                    emit(Piece::Enter);
                }
            }
            b'[' => self.nest(Frame::array, State::First)?,
            b'"' => {
                self.open_leaf(emit);
                self.state = State::Text;
            }
            b'n' => self.state = State::Literal(b"ull"),
            _ => {
                self.state = match byte {
                    b't' => State::Literal(b"rue"),
                    b'f' => State::Literal(b"alse"),
                    _ => State::Number(Number::first(byte)?),
                };
                self.open_leaf(emit);
                self.emit_byte(byte, emit);
            }
        }
        Some(())
    }

    fn nest(&mut self, frame: fn(usize) -> Frame, state: State) -> Option<()> {
        if self.frames.len() == MAX_DEPTH {
            return None;
        }
        self.frames.push(frame(self.path.len()));
        self.state = state;
        Some(())
    }

    /// Ends the innermost object or array if `byte` is its closing bracket.
    fn end(&mut self, byte: u8, emit: &mut impl FnMut(Piece<'_>)) -> Option<()> {
        let frame = self.frames.pop_if(|frame| frame.bracket() == byte)?;
        self.leave(&frame, emit);
        self.state = State::Done;
        Some(())
    }

    fn leave(&self, frame: &Frame, emit: &mut impl FnMut(Piece<'_>)) {
        if matches!(frame.inside, Inside::Object) && !self.frames.is_empty() {
            emit(Piece::Leave);
        }
    }

    fn begin_key(&mut self) {
        let base = self.frames.last().map_or(0, |frame| frame.base);
        self.path.truncate(base);
        if self.frames.len() > 1 {
            lengthen(&mut self.path, ".");
        }
        self.state = State::Text;
    }

    fn begin_item(&mut self) {
        if let Some(Frame { base, inside: Inside::Array { index } }) = self.frames.last_mut() {
            self.path.truncate(*base);
            lengthen(&mut self.path, &format!("[{index}]"));
            *index += 1;
        }
    }

    fn open_leaf(&mut self, emit: &mut impl FnMut(Piece<'_>)) {
        self.is_leaf = true;
        emit(Piece::Open { path: &self.path, key: self.key() });
    }

    /// The key in the innermost object, without the indices of arrays in it.
    fn key(&self) -> &str {
        let is_object = |frame: &Frame| matches!(frame.inside, Inside::Object);
        let Some(at) = self.frames.iter().rposition(is_object) else { return "" };
        let end = self.frames.get(at + 1).map_or(self.path.len(), |array| array.base);
        let dot = usize::from(at > 0);
        self.frames.get(at).and_then(|object| self.path.get(object.base + dot..end)).unwrap_or_default()
    }

    /// Ends a string, number or literal.
    fn close(&mut self, emit: &mut impl FnMut(Piece<'_>)) {
        self.state = State::Done;
        if std::mem::take(&mut self.is_leaf) {
            emit(Piece::Close);
        }
    }

    fn text(&mut self, byte: u8, rest: &[u8], emit: &mut impl FnMut(Piece<'_>)) -> Option<usize> {
        match byte {
            b'"' => {
                let text = self.characters.end();
                self.emit(text, emit);
                if self.is_leaf {
                    self.close(emit);
                } else {
                    self.state = State::Colon;
                }
                Some(1)
            }
            b'\\' => {
                let text = self.characters.end_bytes();
                self.emit(text, emit);
                self.state = State::Escape;
                Some(1)
            }
            _ => {
                let length = rest.iter().position(|byte| BYTE_ROLES[usize::from(*byte)] == ENDS_RUN);
                let run = length.and_then(|length| rest.get(..length)).unwrap_or(rest);
                let Arguments { characters, is_leaf, path, .. } = self;
                characters.bytes(run, &mut |text| write(*is_leaf, path, text, emit));
                Some(run.len())
            }
        }
    }

    fn escape(&mut self, byte: u8, emit: &mut impl FnMut(Piece<'_>)) -> Option<()> {
        let character = match byte {
            b'u' => {
                self.state = State::Hex { digits: 0, unit: 0 };
                return Some(());
            }
            b'"' | b'\\' | b'/' => byte,
            b'b' => 0x08,
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            _ => return None,
        };
        self.unit(u16::from(character), emit);
        Some(())
    }

    fn hex(&mut self, digits: u8, unit: u16, byte: u8, emit: &mut impl FnMut(Piece<'_>)) -> Option<()> {
        let digit = char::from(byte).to_digit(16)?;
        let unit = unit << 4 | u16::try_from(digit).ok()?;
        if digits < 3 {
            self.state = State::Hex { digits: digits + 1, unit };
            return Some(());
        }
        self.unit(unit, emit);
        Some(())
    }

    fn number(&mut self, number: Number, byte: u8, emit: &mut impl FnMut(Piece<'_>)) -> Option<usize> {
        if let Some(next) = number.next(byte) {
            self.state = State::Number(next);
            self.emit_byte(byte, emit);
            return Some(1);
        }
        if !number.may_end() {
            return None;
        }
        self.close(emit);
        Some(0)
    }

    fn literal(&mut self, left: &'static [u8], byte: u8, emit: &mut impl FnMut(Piece<'_>)) -> Option<()> {
        let (&wanted, left) = left.split_first()?;
        if byte != wanted {
            return None;
        }
        self.state = State::Literal(left);
        if self.is_leaf {
            self.emit_byte(byte, emit);
        }
        if left.is_empty() {
            self.close(emit);
        }
        Some(())
    }

    fn emit_byte(&mut self, byte: u8, emit: &mut impl FnMut(Piece<'_>)) {
        self.emit(char::from(byte).encode_utf8(&mut [0; 4]), emit);
    }

    fn emit(&mut self, text: &str, emit: &mut impl FnMut(Piece<'_>)) {
        write(self.is_leaf, &mut self.path, text, emit);
    }

    /// Ends an escape of a UTF-16 unit.
    fn unit(&mut self, unit: u16, emit: &mut impl FnMut(Piece<'_>)) {
        let Arguments { characters, is_leaf, path, .. } = self;
        characters.unit(unit, &mut |text| write(*is_leaf, path, text, emit));
        self.state = State::Text;
    }
}

fn write(is_leaf: bool, path: &mut String, text: &str, emit: &mut impl FnMut(Piece<'_>)) {
    match text {
        "" => {}
        text if is_leaf => emit(Piece::Text(text)),
        text => lengthen(path, text),
    }
}

/// What may follow.
#[derive(Clone, Copy, Debug, Default)]
enum State {
    #[default]
    Value,
    /// A value or the end of an array.
    First,
    /// A key or the end of an object.
    FirstKey,
    Key,
    Colon,
    /// A comma or the end of the enclosing value; white space after the whole document.
    Done,
    Text,
    Escape,
    Hex {
        digits: u8,
        unit: u16,
    },
    Number(Number),
    /// The rest of `true`, `false` or `null`.
    Literal(&'static [u8]),
}

/// Appends as much as fits. A full path stays full, so that a shorter character is not added after a longer one.
fn lengthen(path: &mut String, text: &str) {
    for character in text.chars() {
        if path.len() > MAX_PATH - 4 {
            return;
        }
        path.push(character);
    }
}
