//! Which texts a change adds.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The items after a change whose text occurs more often than before. The later ones of equal texts count as added.
pub(crate) fn added<K: Eq + Hash, T>(
    before: impl IntoIterator<Item = K>,
    after: Vec<T>,
    text: impl Fn(&T) -> K,
) -> Vec<T> {
    let mut left: HashMap<K, usize> = HashMap::new();
    before.into_iter().for_each(|text| *left.entry(text).or_default() += 1);
    let is_new = |item: &T| match left.get_mut(&text(item)) {
        Some(count @ 1..) => {
            *count -= 1;
            false
        }
        _ => true,
    };
    after.into_iter().filter(is_new).collect()
}

/// Code without its white space, as its length and a hash. Two pieces of code that a pattern matches and that differ in nothing
/// else are the same.
pub(crate) fn code_key(code: &[u8]) -> (usize, u64) {
    let (mut length, mut hasher) = (0, DefaultHasher::new());
    for part in code.split(u8::is_ascii_whitespace) {
        length += part.len();
        part.iter().for_each(|byte| hasher.write_u8(*byte));
    }
    (length, hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_occurs_more_often_is_added() {
        #[track_caller]
        fn check(before: &[&str], after: &[&'static str], want: &[&str]) {
            let found =
                added(before.iter().map(|text| text.as_bytes()), after.to_vec(), |text| text.as_bytes());
            assert_eq!(found, want);
        }
        check(&[], &["a"], &["a"]);
        check(&["a"], &["a"], &[]);
        check(&["a", "b"], &["b"], &[]);
        check(&["a"], &["a", "b", "a"], &["b", "a"]);
        assert_eq!(code_key(b"f({\n  x: 1,\n})"), code_key(b"\tf({\r\n\t x: 1,\r\n})"));
        assert_ne!(code_key(b"f(1)"), code_key(b"f(2)"));
    }
}
