//! Sets of UTF-16 code units.

use std::sync::OnceLock;

use super::super::fold::fold_char;

/// A character class such as `[^/]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Class {
    ascii: u128,
    /// Ranges outside ASCII, ends included.
    beyond: Vec<(u16, u16)>,
    negated: bool,
}

impl Class {
    pub(super) fn contains(&self, unit: u16) -> bool {
        let listed = match unit {
            0..128 => self.ascii >> unit & 1 == 1,
            _ => self.beyond.iter().any(|&(low, high)| (low..=high).contains(&unit)),
        };
        listed != self.negated
    }

    pub(super) fn negate(&mut self) {
        self.negated = !self.negated;
    }

    pub(super) fn add(&mut self, low: u16, high: u16) {
        for unit in low..=high.min(127) {
            self.ascii |= 1 << unit;
        }
        if high > 127 {
            self.beyond.push((low.max(128), high));
        }
    }

    /// The same, asked of units that are folded: what they fold to is added, and the rest does no harm.
    pub(super) fn folded(&self) -> Class {
        let mut class = Class { ascii: 0, beyond: self.beyond.clone(), negated: self.negated };
        for unit in (0..128).filter(|unit| self.ascii >> unit & 1 == 1).map(fold_unit) {
            class.add(unit, unit);
        }
        for &(low, high) in &self.beyond {
            let from = folds().partition_point(|(unit, _)| *unit < low);
            for &(_, to) in folds()[from..].iter().take_while(|(unit, _)| *unit <= high) {
                if class.contains(to) == class.negated {
                    class.add(to, to);
                }
            }
        }
        class
    }

    /// Adds where membership may change: each is the first unit of a stretch.
    pub(super) fn add_edges(&self, edges: &mut Vec<u32>) {
        let ends = |unit: u32| {
            (unit == 127 || (self.ascii >> unit ^ self.ascii >> (unit + 1)) & 1 == 1).then_some(unit + 1)
        };
        edges.extend((0..128).filter_map(ends));
        edges.extend(self.beyond.iter().flat_map(|&(low, high)| [u32::from(low), u32::from(high) + 1]));
    }

    /// Adds what `\d`, `\w`, `\s` or their capitals stand for; false for other letters.
    pub(super) fn add_escape(&mut self, letter: u8) -> bool {
        let Some(&(_, ranges)) = ESCAPES.iter().find(|row| row.0 == letter.to_ascii_lowercase()) else {
            return false;
        };
        if letter.is_ascii_lowercase() {
            ranges.iter().for_each(|&(low, high)| self.add(low, high));
            return true;
        }
        let mut from = 0;
        for &(low, high) in ranges {
            if low > from {
                self.add(from, low - 1);
            }
            from = high.saturating_add(1);
        }
        self.add(from, u16::MAX);
        true
    }
}

/// What each class escape contains, in ascending order.
const ESCAPES: &[(u8, &[(u16, u16)])] = &[
    (b'd', &[(0x30, 0x39)]),
    (b'w', &[(0x30, 0x39), (0x41, 0x5a), (0x5f, 0x5f), (0x61, 0x7a)]),
    (
        b's',
        &[
            (0x09, 0x0d),
            (0x20, 0x20),
            (0xa0, 0xa0),
            (0x1680, 0x1680),
            (0x2000, 0x200a),
            (0x2028, 0x2029),
            (0x202f, 0x202f),
            (0x205f, 0x205f),
            (0x3000, 0x3000),
            (0xfeff, 0xfeff),
        ],
    ),
];

/// The units beyond ASCII that fold to another, in order, each with that one.
fn folds() -> &'static [(u16, u16)] {
    static FOLDS: OnceLock<Vec<(u16, u16)>> = OnceLock::new();
    let all = || (128..=u16::MAX).map(|unit| (unit, fold_unit(unit)));
    FOLDS.get_or_init(|| all().filter(|(unit, to)| unit != to).collect())
}

pub(super) fn fold_unit(unit: u16) -> u16 {
    let folded = char::from_u32(unit.into()).map(|c| u32::from(fold_char(c)));
    folded.and_then(|folded| u16::try_from(folded).ok()).unwrap_or(unit)
}
