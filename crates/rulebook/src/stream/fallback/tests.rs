//! What looks cost, counted.

use super::{BROKEN, BYTES_A_BREAK, FREE, Fallback, LEAST_TIMES, LOOKED, Seen};

/// The patterns that matched, those that were given up, and the bytes that each looked at.
fn watch(patterns: &[String], text: &str) -> (Fallback, Vec<usize>, Vec<usize>, usize) {
    let mut fallback = Fallback::new(patterns, 0).unwrap();
    let mut window = fallback.start();
    let (mut matched, mut gave_up) = (Vec::new(), Vec::new());
    for bytes in [Some(text.as_bytes()), None] {
        fallback.watch(&mut window, bytes, |pattern, seen| match seen {
            Seen::Match(_) => matched.push(pattern),
            Seen::GaveUp => gave_up.push(pattern),
        });
    }
    (fallback, matched, gave_up, window.looked)
}

#[test]
fn many_patterns_that_backtrack_do_not_multiply_their_budgets() {
    let mut patterns: Vec<String> = (0..30).map(|at| format!(r"(\w+)\1+z{at}")).collect();
    patterns.push("b(?!a)".to_owned());
    let text = "a".repeat(100_000) + "b";
    let (fallback, matched, gave_up, _) = watch(&patterns, &text);
    assert!(fallback.broken <= BROKEN + text.len() / BYTES_A_BREAK + patterns.len());
    assert!((0..30).all(|at| gave_up.contains(&at)));
    assert_eq!(matched, [30]);
}

#[test]
fn many_patterns_look_at_a_text_of_short_lines_only_so_often() {
    let patterns: Vec<String> = (0..100).map(|at| format!("x{at}(?!y)")).collect();
    let text = "let\n".repeat(10_000) + "x99";
    let (_, matched, gave_up, looked) = watch(&patterns, &text);
    assert!(looked <= FREE + text.len() * (LEAST_TIMES + 2), "{looked}");
    assert_eq!((matched, gave_up), (vec![9, 99], vec![]));
}

#[test]
fn one_pattern_looks_at_the_end_of_every_line() {
    let (_, _, _, looked) = watch(&["x(?!y)".to_owned()], &"let it be, here and there\n".repeat(2_000));
    assert!(looked > 2_000 * 1_000, "{looked}");
}

#[test]
fn what_all_patterns_look_at_is_bounded() {
    let patterns: Vec<String> = (0..2_000).map(|at| format!("x{at}(?!y)")).collect();
    let text = "let it be\n".repeat(LOOKED / 2_000 / 10 + 1_000) + "x7";
    let (_, matched, gave_up, _) = watch(&patterns, &text);
    assert_eq!((matched.len(), gave_up.len()), (0, 2_000));
}
