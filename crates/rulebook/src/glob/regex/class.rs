//! Sets of UTF-16 code units.

use std::iter;
use std::sync::OnceLock;

use super::super::fold::fold_char;

pub(super) const SLASH: u16 = b'/' as u16;
pub(super) const DOT: u16 = b'.' as u16;

/// An inclusive range of units.
pub(super) type Range = (u16, u16);

/// A character class such as `[^/]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Class {
    ascii: u128,
    /// The ranges outside ASCII, sorted and not adjacent.
    non_ascii: Vec<Range>,
    negated: bool,
}

impl Class {
    /// The union of ranges.
    pub(super) fn of(mut ranges: Vec<Range>) -> Class {
        ranges.sort_unstable();
        let mut class = Class::default();
        for (low, high) in ranges {
            if low < 128 {
                class.ascii |= u128::MAX << low & u128::MAX >> (127 - high.min(127));
            }
            let low = low.max(128);
            match class.non_ascii.last_mut() {
                _ if high < 128 => {}
                Some(last) if low <= last.1.saturating_add(1) => last.1 = last.1.max(high),
                _ => class.non_ascii.push((low, high)),
            }
        }
        class
    }

    /// All other units.
    pub(super) fn negated(self) -> Class {
        Class { negated: !self.negated, ..self }
    }

    pub(super) fn contains(&self, unit: u16) -> bool {
        let listed = match unit {
            0..128 => self.ascii >> unit & 1 == 1,
            _ => {
                let at = self.non_ascii.partition_point(|range| range.1 < unit);
                self.non_ascii.get(at).is_some_and(|range| range.0 <= unit)
            }
        };
        listed != self.negated
    }

    /// The class for folded units: adds what its units fold to. Unfolded units may stay, since they never occur.
    pub(super) fn folded(&self) -> Class {
        let ascii = (0..128).filter(|unit| self.ascii >> unit & 1 == 1).map(fold_unit);
        let mut ranges: Vec<Range> = ascii.map(|unit| (unit, unit)).collect();
        for &(low, high) in &self.non_ascii {
            let from = folds().partition_point(|(unit, _)| *unit < low);
            let targets = folds()[from..].iter().take_while(|(unit, _)| *unit <= high).map(|(_, to)| *to);
            ranges.push((low, high));
            ranges.extend(targets.filter(|to| !(low..=high).contains(to)).map(|to| (to, to)));
        }
        Class { negated: self.negated, ..Class::of(ranges) }
    }

    /// Adds the units at which membership may change.
    pub(super) fn add_edges(&self, edges: &mut Vec<u32>) {
        let ends = |unit: u32| {
            (unit == 127 || (self.ascii >> unit ^ self.ascii >> (unit + 1)) & 1 == 1).then_some(unit + 1)
        };
        edges.extend((0..128).filter_map(ends));
        edges.extend(self.non_ascii.iter().flat_map(|&(low, high)| [u32::from(low), u32::from(high) + 1]));
    }
}

/// The ranges of `\d`, `\w`, `\s` and their capitals; `None` for other letters.
pub(super) fn escaped(letter: u8) -> Option<Vec<Range>> {
    let &(_, ranges) = ESCAPES.iter().find(|row| row.0 == letter.to_ascii_lowercase())?;
    if letter.is_ascii_lowercase() {
        return Some(ranges.to_vec());
    }
    let starts = iter::once(0).chain(ranges.iter().map(|range| range.1.saturating_add(1)));
    let ends = ranges.iter().map(|range| range.0.saturating_sub(1)).chain([u16::MAX]);
    Some(starts.zip(ends).collect())
}

/// The ranges of each class escape, ascending. None starts with the first unit or ends with the last.
const ESCAPES: &[(u8, &[Range])] = &[
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

/// The non-ASCII units that fold to another unit, ascending, each with its fold.
fn folds() -> &'static [(u16, u16)] {
    static FOLDS: OnceLock<Vec<(u16, u16)>> = OnceLock::new();
    let all = || (128..=u16::MAX).map(|unit| (unit, fold_unit(unit)));
    FOLDS.get_or_init(|| all().filter(|(unit, to)| unit != to).collect())
}

pub(super) fn fold_unit(unit: u16) -> u16 {
    let folded = char::from_u32(unit.into()).map(|c| u32::from(fold_char(c)));
    folded.and_then(|folded| u16::try_from(folded).ok()).unwrap_or(unit)
}

/// Whether `.` does not match the unit.
pub(super) fn is_line_break(unit: u16) -> bool {
    matches!(unit, 0x0a | 0x0d | 0x2028 | 0x2029)
}

/// Whether `\w` matches the unit.
pub(super) fn is_word(unit: u16) -> bool {
    u8::try_from(unit).is_ok_and(|c| c.is_ascii_alphanumeric() || c == b'_')
}
