//! Hashing of path segments.

use std::hash::Hasher;

pub(super) fn hash(text: &str) -> u64 {
    let (words, rest) = text.as_bytes().as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let start = words.iter().fold(text.len() as u64, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    mix(start, u64::from_le_bytes(last))
}

pub(super) fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0x9e37_79b9_7f4a_7c15) * u128::from(b ^ 0x2545_f491_4f6c_dd1d);
    (product >> 64) as u64 ^ product as u64
}

/// A hasher for keys that are hashes already.
#[derive(Default)]
pub(super) struct Identity(u64);

impl Hasher for Identity {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, &byte| mix(hash, byte.into()));
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}
