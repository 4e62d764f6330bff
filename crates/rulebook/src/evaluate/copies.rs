//! Copies: texts that share most of their lines.

use crate::hash::TextHash;

/// The non-blank lines of a text, each by its hash; sorted, so that two texts are compared in one pass.
#[derive(Clone, Debug)]
pub(crate) struct Lines(Vec<u64>);

impl Lines {
    pub(crate) fn of(text: &str) -> Lines {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let mut hashes: Vec<u64> = lines.map(|line| TextHash::of(line).number()).collect();
        hashes.sort_unstable();
        Lines(hashes)
    }

    /// Whether the texts share at least 70 % of their lines.
    pub(crate) fn is_copy_of(&self, other: &Lines) -> bool {
        let most = self.0.len().max(other.0.len());
        // Texts of very different length need no comparison.
        let least = self.0.len().min(other.0.len());
        10 * least >= 7 * most && 10 * self.shared(other) >= 7 * most && most > 0
    }

    /// Counts the lines that both have; a line that both repeat counts as often.
    fn shared(&self, other: &Lines) -> usize {
        let (mut a, mut b, mut count) = (self.0.iter().peekable(), other.0.iter().peekable(), 0);
        while let (Some(left), Some(right)) = (a.peek(), b.peek()) {
            let order = left.cmp(right);
            count += usize::from(order.is_eq());
            if order.is_le() {
                a.next();
            }
            if order.is_ge() {
                b.next();
            }
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_share_seven_lines_of_ten_are_copies() {
        #[track_caller]
        fn check(a: &str, b: &str, is_copy: bool) {
            let [a, b] = [a, b].map(|text| Lines::of(&text.replace(' ', "\n")));
            assert_eq!((a.is_copy_of(&b), b.is_copy_of(&a)), (is_copy, is_copy));
        }
        check("a b c d e f g h i j", "a b c d e f g X Y Z", true);
        check("a b c d e f g h i j", "a b c d e f W X Y Z", false);
        check("a b c d e f g", "a b c d e f g h i j", true);
        check("a b c d e f", "a b c d e f g h i j", false);
        check("j i h g f e d c b a", "a b c d e f g h i j", true);
        check("a a a a a a a a a a", "a b c d e f g h i j", false);
        check("a", "b", false);
        check("", "", false);
    }

    #[test]
    fn blank_lines_and_indentation_do_not_count() {
        assert!(Lines::of("a\n\n\n  b\r\n").is_copy_of(&Lines::of("a\nb")));
    }
}
