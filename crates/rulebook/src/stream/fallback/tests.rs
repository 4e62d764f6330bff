//! The cost of searches, counted.

use super::{
    BYTES_PER_FAILURE, FREE_BYTES, FREE_FAILURES, FREE_WORK, Fallback, FallbackPattern, MAX_SEARCHED,
    MIN_PASSES, Outcome,
};

/// The patterns that matched, those that gave up, and the bytes that each searched.
fn watch(patterns: &[String], text: &str) -> (Fallback, Vec<usize>, Vec<usize>, usize) {
    watch_with(FREE_WORK, patterns, text)
}

fn watch_with(
    free_work: usize,
    patterns: &[String],
    text: &str,
) -> (Fallback, Vec<usize>, Vec<usize>, usize) {
    let patterns = patterns.iter().map(|pattern| FallbackPattern::new(pattern).unwrap()).collect();
    let mut fallback = Fallback::new(patterns, 0);
    fallback.free_work = free_work;
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

/// A step may run over the whole window.
#[test]
fn the_bytes_that_steps_inspect_are_limited_for_all_patterns_together() {
    #[track_caller]
    fn check(pattern: impl Fn(usize) -> String, piece: &str) {
        let mut patterns: Vec<String> = (0..40).map(pattern).collect();
        patterns.push("b(?!a)".to_owned());
        let text = piece.repeat(3_000 / piece.len()) + "b";
        let (fallback, matched, gave_up, _) = watch_with(1 << 20, &patterns, &text);
        // One search may begin within the limit.
        let largest = fallback.work.iter().max().unwrap();
        assert!(fallback.total_work <= fallback.allowed_work() + largest, "{piece:?}");
        assert!(*largest <= text.len() * text.len() * 40, "{largest} for {piece:?}");
        assert!(gave_up.len() > 10 && !gave_up.contains(&40), "{gave_up:?} for {piece:?}");
        assert_eq!(matched, [40], "{piece:?}");
    }
    check(|at| format!("(?=a*{at})x"), "a");
    check(|at| format!("(?=[a-z ]+{at})x"), "let it be ");
    check(|at| format!(r"(?=(?:\w+\s?)*{at})x"), "let it be ");
    check(|at| format!("(?<=c{at}a*)x?y?z?[^b]"), "a");
    check(|at| format!("(?=(?:a?){{300}}{at})x"), "a");
}

/// Patterns as people write them stay active on long texts.
#[test]
fn common_patterns_stay_within_the_limit() {
    let patterns: Vec<String> = (0..5)
        .flat_map(|at| {
            [
                format!(r"console{at}\.log(?!ger)"),
                format!(r"(?<!safe_)danger{at}"),
                format!(r"^(?!.*allowed).*forbidden{at}"),
                format!(r"(?m)^(?!\s*//).*forbidden{at}"),
                format!(r"(?<=import\s)\w+{at}"),
            ]
        })
        .collect();
    let (_, _, gave_up, _) = watch(&patterns, &include_str!("../automaton.rs").repeat(3));
    assert_eq!(gave_up, Vec::<usize>::new());
}
