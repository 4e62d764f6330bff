//! Decodes a tool call's JSON arguments while they arrive, cut anywhere, into the text of each field.
//!
//! Reads what `serde_json` reads, with four differences. Half a surrogate pair and invalid UTF-8 become U+FFFD, as
//! [`String::from_utf8_lossy`] does it; nesting ends at 64; a number is its literal text, however large.

mod frame;
mod number;
#[cfg(test)]
mod tests;

use super::characters::Characters;
use frame::{Frame, Inside};
use number::Number;

/// How deep objects and arrays may nest; deeper is malformed.
const DEPTH: usize = 64;
/// How long a path may grow; the rest of a longer one is left out.
const PATH: usize = 4096;

/// What a byte does in a string: stands for itself, [`ENDS`] a run of text, or is a [`PART`] of a character.
const SIGNS: [u8; 256] = {
    let mut signs = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        signs[byte] = match byte {
            0..0x20 | 0x22 | 0x5c => ENDS,
            0x80.. => PART,
            _ => 0,
        };
        byte += 1;
    }
    signs
};
const ENDS: u8 = 1;
const PART: u8 = 2;

/// One tool call's arguments, as far as they came. No text is kept, only where the reader stands.
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    at: usize,
    state: State,
    frames: Vec<Frame>,
    path: String,
    /// Whether what is read is a leaf: a string that is none is a key, a literal that is none is `null`.
    is_leaf: bool,
    characters: Characters,
    malformed: Option<Malformed>,
}

/// What the bytes said. One leaf is open at a time; a key that comes twice is two leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'p> {
    /// An object within the arguments begins: the outermost one is the arguments.
    Enter,
    /// It ended, or will not go on.
    Leave,
    /// A leaf begins: a string, number, `true` or `false`; `null` is none.
    Open {
        /// Where it stands: `command`, `edits[0].new_string`, and nothing for a top-level value. Keys come decoded and
        /// as they are, dots included.
        path: &'p str,
        /// The key it, or the array it is in, has in the object around it.
        key: &'p str,
    },
    /// Decoded text of the leaf, behind all earlier: whole characters, never empty.
    Text(&'p str),
    /// The leaf ended, or will not go on.
    Close,
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
    pub fn feed(&mut self, bytes: &[u8], tell: &mut impl FnMut(Piece<'_>)) -> Result<(), Malformed> {
        if let Some(malformed) = self.malformed {
            return Err(malformed);
        }
        let mut rest = bytes;
        while let Some(&byte) = rest.first() {
            let Some(used) = self.step(byte, rest, tell) else {
                let malformed = Malformed { at: self.at };
                self.malformed = Some(malformed);
                return Err(malformed);
            };
            self.at = self.at.saturating_add(used);
            rest = rest.get(used..).unwrap_or_default();
        }
        Ok(())
    }

    /// Goes over all of `bytes` if they are nothing but text of the open leaf, which they stand for as they are.
    pub(super) fn passes(&mut self, bytes: &[u8]) -> bool {
        let signs = || bytes.iter().fold(0, |signs, byte| signs | SIGNS[usize::from(*byte)]);
        let passes = matches!(self.state, State::Text)
            && self.is_leaf
            && self.characters.is_whole()
            && match signs() {
                0 => true,
                PART => std::str::from_utf8(bytes).is_ok(),
                _ => false,
            };
        if passes {
            self.at = self.at.saturating_add(bytes.len());
        }
        passes
    }

    /// How many bytes were read.
    pub(super) fn read(&self) -> usize {
        self.at
    }

    /// Closes what is open. Arguments that were cut off are no error; a character that was cut is left out.
    pub fn finish(&mut self, tell: &mut impl FnMut(Piece<'_>)) -> Result<(), Malformed> {
        self.close(tell);
        while let Some(frame) = self.frames.pop() {
            self.leave(&frame, tell);
        }
        self.malformed.map_or(Ok(()), Err)
    }

    /// Goes over `byte`, the first of `rest`, and as many after it as are of its kind. Tells how many, and `None` if
    /// the byte cannot stand here. Nothing used means the state changed and wants to see the byte again.
    fn step(&mut self, byte: u8, rest: &[u8], tell: &mut impl FnMut(Piece<'_>)) -> Option<usize> {
        match self.state {
            State::Text => return self.text(byte, rest, tell),
            State::Escape => self.escape(byte, tell)?,
            State::Hex { digits, unit } => self.hex(digits, unit, byte, tell)?,
            State::Number(number) => return self.number(number, byte, tell),
            State::Literal(left) => self.literal(left, byte, tell)?,
            _ if matches!(byte, b' ' | b'\t' | b'\n' | b'\r') => {}
            State::Value | State::First if byte != b']' => self.begin(byte, tell)?,
            State::FirstKey | State::Key if byte == b'"' => self.begin_key(),
            State::Colon if byte == b':' => self.state = State::Value,
            State::First | State::FirstKey => self.end(byte, tell)?,
            State::Done if byte == b',' => self.state = self.frames.last()?.next(),
            State::Done => self.end(byte, tell)?,
            State::Value | State::Key | State::Colon => return None,
        }
        Some(1)
    }

    fn begin(&mut self, byte: u8, tell: &mut impl FnMut(Piece<'_>)) -> Option<()> {
        self.begin_item();
        match byte {
            b'{' => {
                self.nest(Frame::object, State::FirstKey)?;
                if self.frames.len() > 1 {
                    tell(Piece::Enter);
                }
            }
            b'[' => self.nest(Frame::array, State::First)?,
            b'"' => {
                self.open_leaf(tell);
                self.state = State::Text;
            }
            b'n' => self.state = State::Literal(b"ull"),
            _ => {
                self.state = match byte {
                    b't' => State::Literal(b"rue"),
                    b'f' => State::Literal(b"alse"),
                    _ => State::Number(Number::first(byte)?),
                };
                self.open_leaf(tell);
                self.report_byte(byte, tell);
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
    fn end(&mut self, byte: u8, tell: &mut impl FnMut(Piece<'_>)) -> Option<()> {
        let frame = self.frames.pop_if(|frame| frame.bracket() == byte)?;
        self.leave(&frame, tell);
        self.state = State::Done;
        Some(())
    }

    fn leave(&self, frame: &Frame, tell: &mut impl FnMut(Piece<'_>)) {
        if matches!(frame.inside, Inside::Object) && !self.frames.is_empty() {
            tell(Piece::Leave);
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

    fn open_leaf(&mut self, tell: &mut impl FnMut(Piece<'_>)) {
        self.is_leaf = true;
        tell(Piece::Open { path: &self.path, key: self.key() });
    }

    /// The key in the innermost object; arrays in it have added to the path.
    fn key(&self) -> &str {
        let is_object = |frame: &Frame| matches!(frame.inside, Inside::Object);
        let Some(at) = self.frames.iter().rposition(is_object) else { return "" };
        let end = self.frames.get(at + 1).map_or(self.path.len(), |array| array.base);
        let dot = usize::from(at > 0);
        self.frames.get(at).and_then(|object| self.path.get(object.base + dot..end)).unwrap_or_default()
    }

    /// Ends a string, number or literal.
    fn close(&mut self, tell: &mut impl FnMut(Piece<'_>)) {
        self.state = State::Done;
        if std::mem::take(&mut self.is_leaf) {
            tell(Piece::Close);
        }
    }

    fn text(&mut self, byte: u8, rest: &[u8], tell: &mut impl FnMut(Piece<'_>)) -> Option<usize> {
        match byte {
            b'"' => {
                let text = self.characters.end();
                self.tell(text, tell);
                if self.is_leaf {
                    self.close(tell);
                } else {
                    self.state = State::Colon;
                }
                Some(1)
            }
            b'\\' => {
                let text = self.characters.end_bytes();
                self.tell(text, tell);
                self.state = State::Escape;
                Some(1)
            }
            0..0x20 => None,
            _ => {
                let length = rest.iter().position(|byte| SIGNS[usize::from(*byte)] == ENDS);
                let run = length.and_then(|length| rest.get(..length)).unwrap_or(rest);
                let Arguments { characters, is_leaf, path, .. } = self;
                characters.bytes(run, &mut |text| pass(*is_leaf, path, text, tell));
                Some(run.len())
            }
        }
    }

    fn escape(&mut self, byte: u8, tell: &mut impl FnMut(Piece<'_>)) -> Option<()> {
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
        self.unit(u16::from(character), tell);
        Some(())
    }

    fn hex(&mut self, digits: u8, unit: u16, byte: u8, tell: &mut impl FnMut(Piece<'_>)) -> Option<()> {
        let digit = char::from(byte).to_digit(16)?;
        let unit = unit << 4 | u16::try_from(digit).ok()?;
        if digits < 3 {
            self.state = State::Hex { digits: digits + 1, unit };
            return Some(());
        }
        self.unit(unit, tell);
        Some(())
    }

    fn number(&mut self, number: Number, byte: u8, tell: &mut impl FnMut(Piece<'_>)) -> Option<usize> {
        if let Some(next) = number.next(byte) {
            self.state = State::Number(next);
            self.report_byte(byte, tell);
            return Some(1);
        }
        if !number.may_end() {
            return None;
        }
        self.close(tell);
        Some(0)
    }

    fn literal(&mut self, left: &'static [u8], byte: u8, tell: &mut impl FnMut(Piece<'_>)) -> Option<()> {
        let (&wanted, left) = left.split_first()?;
        if byte != wanted {
            return None;
        }
        self.state = State::Literal(left);
        if self.is_leaf {
            self.report_byte(byte, tell);
        }
        if left.is_empty() {
            self.close(tell);
        }
        Some(())
    }

    fn report_byte(&mut self, byte: u8, tell: &mut impl FnMut(Piece<'_>)) {
        self.tell(char::from(byte).encode_utf8(&mut [0; 4]), tell);
    }

    fn tell(&mut self, text: &str, tell: &mut impl FnMut(Piece<'_>)) {
        pass(self.is_leaf, &mut self.path, text, tell);
    }

    /// Ends an escape, which stands for a UTF-16 unit.
    fn unit(&mut self, unit: u16, tell: &mut impl FnMut(Piece<'_>)) {
        let Arguments { characters, is_leaf, path, .. } = self;
        characters.unit(unit, &mut |text| pass(*is_leaf, path, text, tell));
        self.state = State::Text;
    }
}

fn pass(is_leaf: bool, path: &mut String, text: &str, tell: &mut impl FnMut(Piece<'_>)) {
    match text {
        "" => {}
        text if is_leaf => tell(Piece::Text(text)),
        text => lengthen(path, text),
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

/// Adds what fits. A path that is full stays full: no short character slips in behind a long one that did not fit.
fn lengthen(path: &mut String, text: &str) {
    for character in text.chars() {
        if path.len() > PATH - 4 {
            return;
        }
        path.push(character);
    }
}
