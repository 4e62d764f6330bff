//! Hashes of texts that are the same on every machine and in every run.

use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The hash of a text, the same on every machine. Written as 16 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TextHash(u64);

impl TextHash {
    /// Hashes a text, eight bytes at a time.
    pub fn of(text: &str) -> TextHash {
        // Multiplying moves information to the upper half only: the shift brings it back for the next word.
        let mix = |hash: u64, word: u64| {
            let product = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            product ^ (product >> 32)
        };
        let (words, rest) = text.as_bytes().as_chunks::<8>();
        let words = words.iter().map(|word| u64::from_le_bytes(*word));
        let rest = rest.iter().map(|byte| u64::from(*byte));
        TextHash(words.chain(rest).fold(text.len() as u64 ^ 0xcbf2_9ce4_8422_2325, mix))
    }

    /// Returns the hash as a number.
    pub(crate) fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Display for TextHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl Serialize for TextHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TextHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<TextHash, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl FromStr for TextHash {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<TextHash, ParseIntError> {
        u64::from_str_radix(text, 16).map(TextHash)
    }
}
