//! The grammar of JSON numbers, one byte at a time.

/// The last part of a number that was read.
#[derive(Clone, Copy, Debug)]
pub(super) enum Number {
    Minus,
    Zero,
    Whole,
    Point,
    Fraction,
    Exponent,
    Sign,
    Power,
}

impl Number {
    pub(super) fn first(byte: u8) -> Option<Number> {
        if byte == b'-' { Some(Number::Minus) } else { Number::Minus.next(byte) }
    }

    pub(super) fn next(self, byte: u8) -> Option<Number> {
        use Number::{Exponent, Fraction, Minus, Point, Power, Sign, Whole, Zero};
        match (self, byte) {
            (Minus, b'0') => Some(Zero),
            (Minus, b'1'..=b'9') | (Whole, b'0'..=b'9') => Some(Whole),
            (Zero | Whole, b'.') => Some(Point),
            (Point | Fraction, b'0'..=b'9') => Some(Fraction),
            (Zero | Whole | Fraction, b'e' | b'E') => Some(Exponent),
            (Exponent, b'+' | b'-') => Some(Sign),
            (Exponent | Sign | Power, b'0'..=b'9') => Some(Power),
            _ => None,
        }
    }

    /// Whether the number may end here.
    pub(super) fn may_end(self) -> bool {
        matches!(self, Number::Zero | Number::Whole | Number::Fraction | Number::Power)
    }
}
