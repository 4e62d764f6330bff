use super::*;

#[test]
fn no_character_can_carry_hidden_ones() {
    #[track_caller]
    fn check(text: &str, count: usize) {
        assert_eq!(hidden_characters(text, false).len(), count, "{text:?}");
    }
    check("א\u{200e}\u{200f}\u{200e}", 3);
    check("א abcdef\u{200e}g", 1);
    for base in ["—", "→", "é", "e\u{301}", "中文。", "א"] {
        check(&format!("{base}\u{e0159}"), 1);
        check(&format!("{base}\u{fe0f}"), 1);
    }
    check("😀\u{fe01}", 1);
    check("😀\u{e0159}", 1);
    for c in [
        '\u{2028}',
        '\u{2029}',
        '\u{2065}',
        '\u{2800}',
        '\u{fff0}',
        '\u{13430}',
        '\u{1bca3}',
        '\u{1d159}',
        '\u{e0080}',
        '\u{e0fff}',
    ] {
        check(&format!("a{c}b"), 1);
    }
}

#[test]
fn the_table_of_hidden_characters_is_sorted() {
    assert!(HIDDEN.is_sorted_by(|a, b| a.0.end() < b.0.start()));
    assert!(is_hidden('\u{200b}') && !is_hidden('a') && !is_hidden('é'));
}

#[test]
fn every_hidden_character_is_found_at_any_position() {
    for (range, name) in HIDDEN {
        for c in [*range.start(), *range.end()] {
            for before in [0, 1, 29, 30, 31, 32, 63] {
                let text = format!("{}{c}", "a".repeat(before));
                assert!(!is_plain(&text), "{name} after {before}");
            }
        }
    }
}
