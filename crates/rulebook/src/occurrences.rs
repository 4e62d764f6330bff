//! Which texts a change adds.

use std::collections::HashMap;

/// The items after a change whose text occurs more often than before. The later ones of equal texts count as added.
pub(crate) fn added<'t, T>(
    before: impl IntoIterator<Item = &'t [u8]>,
    after: Vec<T>,
    text: impl Fn(&T) -> &'t [u8],
) -> Vec<T> {
    let mut left: HashMap<&[u8], usize> = HashMap::new();
    before.into_iter().for_each(|text| *left.entry(text).or_default() += 1);
    let is_new = |item: &T| match left.get_mut(text(item)) {
        Some(count @ 1..) => {
            *count -= 1;
            false
        }
        _ => true,
    };
    after.into_iter().filter(is_new).collect()
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
    }
}
