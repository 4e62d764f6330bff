//! Sets of UTF-16 code units.

use std::iter;
use std::sync::OnceLock;

use super::super::fold::fold_char;

/// The units from the first to the second, both included.
pub(super) type Range = (u16, u16);

/// A character class such as `[^/]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Class {
    ascii: u128,
    /// Outside ASCII: in order, and with something between any two.
    beyond: Vec<Range>,
    negated: bool,
}

impl Class {
    /// The units in any of these.
    pub(super) fn of(mut ranges: Vec<Range>) -> Class {
        ranges.sort_unstable();
        let mut class = Class::default();
        for (low, high) in ranges {
            if low < 128 {
                class.ascii |= u128::MAX << low & u128::MAX >> (127 - high.min(127));
            }
            let low = low.max(128);
            match class.beyond.last_mut() {
                _ if high < 128 => {}
                Some(last) if low <= last.1.saturating_add(1) => last.1 = last.1.max(high),
                _ => class.beyond.push((low, high)),
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
                let at = self.beyond.partition_point(|range| range.1 < unit);
                self.beyond.get(at).is_some_and(|range| range.0 <= unit)
            }
        };
        listed != self.negated
    }

    /// The same, asked of units that are folded: what they fold to is added, and the rest does no harm.
    pub(super) fn folded(&self) -> Class {
        let ascii = (0..128).filter(|unit| self.ascii >> unit & 1 == 1).map(fold_unit);
        let mut ranges: Vec<Range> = ascii.map(|unit| (unit, unit)).collect();
        for &(low, high) in &self.beyond {
            let from = folds().partition_point(|(unit, _)| *unit < low);
            let targets = folds()[from..].iter().take_while(|(unit, _)| *unit <= high).map(|(_, to)| *to);
            ranges.push((low, high));
            ranges.extend(targets.filter(|to| !(low..=high).contains(to)).map(|to| (to, to)));
        }
        Class { negated: self.negated, ..Class::of(ranges) }
    }

    /// Adds where membership may change: each is the first unit of a stretch.
    pub(super) fn add_edges(&self, edges: &mut Vec<u32>) {
        let ends = |unit: u32| {
            (unit == 127 || (self.ascii >> unit ^ self.ascii >> (unit + 1)) & 1 == 1).then_some(unit + 1)
        };
        edges.extend((0..128).filter_map(ends));
        edges.extend(self.beyond.iter().flat_map(|&(low, high)| [u32::from(low), u32::from(high) + 1]));
    }
}

/// What `\d`, `\w`, `\s` or their capitals stand for; nothing for other letters.
pub(super) fn escaped(letter: u8) -> Option<Vec<Range>> {
    let &(_, ranges) = ESCAPES.iter().find(|row| row.0 == letter.to_ascii_lowercase())?;
    if letter.is_ascii_lowercase() {
        return Some(ranges.to_vec());
    }
    let starts = iter::once(0).chain(ranges.iter().map(|range| range.1.saturating_add(1)));
    let ends = ranges.iter().map(|range| range.0.saturating_sub(1)).chain([u16::MAX]);
    Some(starts.zip(ends).collect())
}

/// What each class escape contains, in ascending order; none begins with the first unit or ends with the last.
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
