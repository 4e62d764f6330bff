//! Decodes a tool call's JSON arguments while they arrive, cut anywhere, into the text of each field.
//!
//! Reads what `serde_json` reads, with four differences. Half a surrogate pair and invalid UTF-8 become U+FFFD, as
//! [`String::from_utf8_lossy`] does it; nesting ends at 64; a number is its literal text, however large.

mod number;
#[cfg(test)]
mod tests;

use super::characters::Characters;
use number::Number;

/// How deep objects and arrays may nest; deeper is malformed.
const DEPTH: usize = 64;
/// How long a path may grow; the rest of a longer one is left out.
const PATH: usize = 4096;
/// How much path text is told in full, over all fields.
const PATHS: usize = 1 << 20;
/// How long a path may be after that: two bytes can open a field, so long paths would multiply the input.
const SHORT_PATH: usize = 256;

/// One tool call's arguments, as far as they came. No text is kept, only where the reader stands.
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    at: usize,
    state: State,
    frames: Vec<Frame>,
    path: String,
    /// Path text told so far.
    told: usize,
    fields: usize,
    /// The leaf being read. A string without one is a key, a literal without one is `null`.
    open: Option<FieldId>,
    characters: Characters,
    malformed: Option<Malformed>,
}

/// A leaf of the arguments, numbered in order of appearance. A key that comes twice is two fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldId(pub usize);

/// What the bytes said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// A string, number, `true` or `false` begins; `null` is no field.
    Open {
        /// Which.
        field: FieldId,
        /// Where it stands: `command`, `edits[0].new_string`, and nothing for a top-level value. Keys come decoded and
        /// as they are, dots included.
        path: String,
    },
    /// Decoded text of it: whole characters, never empty.
    Text {
        /// Of which.
        field: FieldId,
        /// Follows all earlier text of the field.
        text: String,
    },
    /// It ended, or will not go on.
    Close {
        /// Which.
        field: FieldId,
    },
}

/// The bytes are no JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The first byte that cannot stand where it does, counted from the first byte fed.
    pub at: usize,
}

impl Arguments {
    /// Starts before the first byte.
    pub fn new() -> Arguments {
        Arguments::default()
    }

    /// Reads more bytes. Once malformed, every call says so again and tells nothing more.
    pub fn feed(&mut self, bytes: &[u8], out: &mut Vec<Piece>) -> Result<(), Malformed> {
        if let Some(malformed) = self.malformed {
            return Err(malformed);
        }
        let mut told = Told { start: out.len(), pieces: out };
        let mut rest = bytes;
        while let Some(&byte) = rest.first() {
            let Some(used) = self.step(byte, rest, &mut told) else {
                let malformed = Malformed { at: self.at };
                self.malformed = Some(malformed);
                return Err(malformed);
            };
            self.at = self.at.saturating_add(used);
            rest = rest.get(used..).unwrap_or_default();
        }
        Ok(())
    }

    /// Closes what is open. Arguments that were cut off are no error; a character that was cut is left out.
    pub fn finish(&mut self, out: &mut Vec<Piece>) -> Result<(), Malformed> {
        if let Some(field) = self.open.take() {
            out.push(Piece::Close { field });
        }
        self.frames.clear();
        self.state = State::Done;
        self.malformed.map_or(Ok(()), Err)
    }

    /// Goes over `byte`, the first of `rest`, and as many after it as are of its kind. Tells how many, and `None` if
    /// the byte cannot stand here. Nothing used means the state changed and wants to see the byte again.
    fn step(&mut self, byte: u8, rest: &[u8], told: &mut Told) -> Option<usize> {
        match self.state {
            State::Text => return self.text(byte, rest, told),
            State::Escape => self.escape(byte, told)?,
            State::Hex { digits, unit } => self.hex(digits, unit, byte, told)?,
            State::Number(number) => return self.number(number, byte, told),
            State::Literal(left) => self.literal(left, byte, told)?,
            _ if matches!(byte, b' ' | b'\t' | b'\n' | b'\r') => {}
            State::Value | State::First if byte != b']' => self.begin(byte, told)?,
            State::FirstKey | State::Key if byte == b'"' => self.begin_key(),
            State::Colon if byte == b':' => self.state = State::Value,
            State::First | State::FirstKey => self.end(byte)?,
            State::Done if byte == b',' => self.state = self.frames.last()?.next(),
            State::Done => self.end(byte)?,
            State::Value | State::Key | State::Colon => return None,
        }
        Some(1)
    }

    fn begin(&mut self, byte: u8, told: &mut Told) -> Option<()> {
        self.begin_item();
        match byte {
            b'{' => self.nest(Frame::object, State::FirstKey)?,
            b'[' => self.nest(Frame::array, State::First)?,
            b'"' => {
                self.open_field(told);
                self.state = State::Text;
            }
            b'n' => self.state = State::Literal(b"ull"),
            _ => {
                self.state = match byte {
                    b't' => State::Literal(b"rue"),
                    b'f' => State::Literal(b"alse"),
                    _ => State::Number(Number::first(byte)?),
                };
                self.open_field(told);
                self.tell_byte(byte, told);
            }
        }
        Some(())
    }

    fn nest(&mut self, frame: fn(usize) -> Frame, state: State) -> Option<()> {
        if self.frames.len() == DEPTH {
            return None;
        }
        self.frames.push(frame(self.path.len()));
        self.state = state;
        Some(())
    }

    /// Ends the innermost object or array, if `byte` is its bracket.
    fn end(&mut self, byte: u8) -> Option<()> {
        self.frames.pop_if(|frame| frame.bracket() == byte)?;
        self.state = State::Done;
        Some(())
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

    fn open_field(&mut self, told: &mut Told) {
        let field = FieldId(self.fields);
        let limit = if self.told < PATHS { PATH } else { SHORT_PATH };
        let path = self.path.get(..self.path.floor_char_boundary(limit)).unwrap_or_default().to_owned();
        self.fields += 1;
        self.told = self.told.saturating_add(path.len());
        self.open = Some(field);
        told.pieces.push(Piece::Open { field, path });
    }

    /// Ends a string, number or literal.
    fn close(&mut self, told: &mut Told) {
        self.state = State::Done;
        if let Some(field) = self.open.take() {
            told.pieces.push(Piece::Close { field });
        }
    }

    fn text(&mut self, byte: u8, rest: &[u8], told: &mut Told) -> Option<usize> {
        match byte {
            b'"' => {
                let text = self.characters.end();
                self.tell(text, told);
                if self.open.is_some() {
                    self.close(told);
                } else {
                    self.state = State::Colon;
                }
                Some(1)
            }
            b'\\' => {
                let text = self.characters.end_bytes();
                self.tell(text, told);
                self.state = State::Escape;
                Some(1)
            }
            0..0x20 => None,
            _ => {
                let length = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20));
                let run = length.and_then(|length| rest.get(..length)).unwrap_or(rest);
                let text = self.characters.bytes(run);
                self.tell(&text, told);
                Some(run.len())
            }
        }
    }

    fn escape(&mut self, byte: u8, told: &mut Told) -> Option<()> {
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
        let text = self.characters.bytes(&[character]);
        self.tell(&text, told);
        self.state = State::Text;
        Some(())
    }

    fn hex(&mut self, digits: u8, unit: u16, byte: u8, told: &mut Told) -> Option<()> {
        let digit = char::from(byte).to_digit(16)?;
        let unit = unit << 4 | u16::try_from(digit).ok()?;
        if digits < 3 {
            self.state = State::Hex { digits: digits + 1, unit };
            return Some(());
        }
        let text = self.characters.unit(unit);
        self.tell(&text, told);
        self.state = State::Text;
        Some(())
    }

    fn number(&mut self, number: Number, byte: u8, told: &mut Told) -> Option<usize> {
        if let Some(next) = number.next(byte) {
            self.state = State::Number(next);
            self.tell_byte(byte, told);
            return Some(1);
        }
        if !number.may_end() {
            return None;
        }
        self.close(told);
        Some(0)
    }

    fn literal(&mut self, left: &'static [u8], byte: u8, told: &mut Told) -> Option<()> {
        let (&wanted, left) = left.split_first()?;
        if byte != wanted {
            return None;
        }
        self.state = State::Literal(left);
        if self.open.is_some() {
            self.tell_byte(byte, told);
        }
        if left.is_empty() {
            self.close(told);
        }
        Some(())
    }

    fn tell_byte(&mut self, byte: u8, told: &mut Told) {
        self.tell(char::from(byte).encode_utf8(&mut [0; 4]), told);
    }

    fn tell(&mut self, text: &str, told: &mut Told) {
        match self.open {
            Some(field) => told.text(field, text),
            None => lengthen(&mut self.path, text),
        }
    }
}

/// What may come next.
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
    /// A comma or the end of what is around; after the whole document, white space.
    Done,
    Text,
    Escape,
    Hex {
        digits: u8,
        unit: u16,
    },
    Number(Number),
    /// What is left of `true`, `false` or `null`.
    Literal(&'static [u8]),
}

/// An object or array that is open.
#[derive(Clone, Debug)]
struct Frame {
    /// How much of the path is its own.
    base: usize,
    inside: Inside,
}

#[derive(Clone, Debug)]
enum Inside {
    Object,
    Array { index: usize },
}

impl Frame {
    fn object(base: usize) -> Frame {
        Frame { base, inside: Inside::Object }
    }

    fn array(base: usize) -> Frame {
        Frame { base, inside: Inside::Array { index: 0 } }
    }

    fn bracket(&self) -> u8 {
        match self.inside {
            Inside::Object => b'}',
            Inside::Array { .. } => b']',
        }
    }

    /// What must follow a comma.
    fn next(&self) -> State {
        match self.inside {
            Inside::Object => State::Key,
            Inside::Array { .. } => State::Value,
        }
    }
}

/// Where pieces go. Text joins what the same call told of its field, never what an earlier one did.
struct Told<'a> {
    start: usize,
    pieces: &'a mut Vec<Piece>,
}

impl Told<'_> {
    fn text(&mut self, field: FieldId, text: &str) {
        if text.is_empty() {
            return;
        }
        let last = self.pieces.get_mut(self.start..).and_then(<[Piece]>::last_mut);
        match last {
            Some(Piece::Text { field: same, text: before }) if *same == field => before.push_str(text),
            _ => self.pieces.push(Piece::Text { field, text: text.to_owned() }),
        }
    }
}

/// Adds what fits. A path that is full stays full: no short character slips in behind a long one that did not fit.
fn lengthen(path: &mut String, text: &str) {
    for character in text.chars() {
        if path.len() > PATH - 4 {
            return;
        }
        path.push(character);
    }
}
