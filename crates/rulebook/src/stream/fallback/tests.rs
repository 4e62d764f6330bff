//! The cost of searches, counted.

use super::{
    BYTES_PER_FAILURE, FREE_BYTES, FREE_FAILURES, Fallback, FallbackPattern, MAX_SEARCHED, MIN_PASSES,
    Outcome,
};

/// The patterns that matched, those that gave up, and the bytes that each searched.
fn watch(patterns: &[String], text: &str) -> (Fallback, Vec<usize>, Vec<usize>, usize) {
    let patterns = patterns.iter().map(|pattern| FallbackPattern::new(pattern).unwrap()).collect();
    let mut fallback = Fallback::new(patterns, 0);
    let mut window = fallback.start();
    let (mut matched, mut gave_up) = (Vec::new(), Vec::new());
    for bytes in [Some(text.as_bytes()), None] {
        fallback.watch(&mut window, bytes, |pattern, outcome| match outcome {
            Outcome::Match(_) => matched.push(pattern),
            Outcome::GaveUp => gave_up.push(pattern),
        });
    }
    (fallback, matched, gave_up, window.searched)
}

#[test]
fn backtracking_patterns_share_one_budget() {
    let mut patterns: Vec<String> = (0..30).map(|at| format!(r"(\w+)\1+z{at}")).collect();
    patterns.push("b(?!a)".to_owned());
    let text = "a".repeat(100_000) + "b";
    let (fallback, matched, gave_up, _) = watch(&patterns, &text);
    assert!(fallback.failures <= FREE_FAILURES + text.len() / BYTES_PER_FAILURE + patterns.len());
    assert!((0..30).all(|at| gave_up.contains(&at)));
    assert_eq!(matched, [30]);
}

#[test]
fn many_patterns_search_short_lines_a_limited_number_of_times() {
    let patterns: Vec<String> = (0..100).map(|at| format!("x{at}(?!y)")).collect();
    let text = "let\n".repeat(10_000) + "x99";
    let (_, matched, gave_up, searched) = watch(&patterns, &text);
    assert!(searched <= FREE_BYTES + text.len() * (MIN_PASSES + 2), "{searched}");
    assert_eq!((matched, gave_up), (vec![9, 99], vec![]));
}

#[test]
fn one_pattern_is_searched_at_the_end_of_every_line() {
    let (_, _, _, searched) = watch(&["x(?!y)".to_owned()], &"let it be, here and there\n".repeat(2_000));
    assert!(searched > 2_000 * 1_000, "{searched}");
}

#[test]
fn the_total_of_all_searches_is_limited() {
    let patterns: Vec<String> = (0..2_000).map(|at| format!("x{at}(?!y)")).collect();
    let text = "let it be\n".repeat(MAX_SEARCHED / 2_000 / 10 + 1_000) + "x7";
    let (_, matched, gave_up, _) = watch(&patterns, &text);
    assert_eq!((matched.len(), gave_up.len()), (0, 2_000));
}
