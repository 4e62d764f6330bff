//! Case folding as with JavaScript's `i` flag.

use std::borrow::Cow;

/// The text with every character folded.
pub(super) fn fold(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|c| c.is_ascii() && !c.is_ascii_uppercase()) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(fold_char).collect())
}

/// Folds to lower case if that is reversible: two characters have the same fold exactly if JavaScript considers them equal.
pub(super) fn fold_char(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    let upper = upper(c);
    match single(upper.to_lowercase()) {
        Some(lower) if self::upper(lower) == upper => lower,
        _ => upper,
    }
}

/// JavaScript keeps a character if its upper case is several characters, beyond U+FFFF, or ASCII for a non-ASCII character.
fn upper(c: char) -> char {
    match single(c.to_uppercase()) {
        Some(upper) if u32::from(c) <= 0xffff && (c.is_ascii() || !upper.is_ascii()) => upper,
        _ => c,
    }
}

fn single(mut chars: impl Iterator<Item = char>) -> Option<char> {
    let first = chars.next()?;
    chars.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::fold_char;

    #[test]
    fn folding_twice_changes_nothing() {
        assert!(('\0'..=char::MAX).all(|c| fold_char(fold_char(c)) == fold_char(c)));
    }

    #[test]
    fn characters_fold_as_javascript_compares_them() {
        #[track_caller]
        fn check(a: char, b: char, want: bool) {
            assert_eq!(fold_char(a) == fold_char(b), want, "{a} and {b}");
        }
        check('A', 'a', true);
        check('É', 'é', true);
        check('Σ', 'ς', true);
        check('µ', 'μ', true);
        check('ß', 'ẞ', false);
        check('K', '\u{212a}', false);
        check('å', '\u{212b}', false);
        check('s', 'ſ', false);
        check('𐐀', '𐐨', false);
    }
}
