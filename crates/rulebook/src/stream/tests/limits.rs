//! Limits: expensive patterns cost linear time and do not disable others.

use super::*;

#[test]
fn a_search_with_too_many_steps_gives_up_and_is_reported() {
    let rules = [
        rule("exponential", r"(?:(?=a)a+)+$", ""),
        rule("line", r"(?m)(?:(?=a)a+)+$", ""),
        rule("fine", r"b(?!c)", ""),
    ];
    let mut monitor = monitor(&rules);
    let text = "a".repeat(30_000) + "!\n" + &("a".repeat(40) + "!\n").repeat(1000) + "b\n!";
    let mut hits = monitor.feed("s", &StreamKind::Text, text.as_bytes());
    hits.extend(monitor.finish("s"));
    assert_eq!(hits.iter().map(|hit| hit.rule.as_str()).collect::<Vec<_>>(), ["fine"]);
    assert_eq!(
        monitor.gave_up().collect::<Vec<_>>(),
        [("exponential", r"(?:(?=a)a+)+$"), ("line", r"(?m)(?:(?=a)a+)+$")]
    );
}

#[test]
fn many_files_and_hits_take_linear_time() {
    let rules = [rule("r", "foo", "scope: tool(*.ts)\n")];
    let call = |count: usize| {
        let names: Vec<String> = (0..count).map(|at| format!("f{at}.md")).collect();
        serde_json::json!({ "a": vec!["foo "; count], "paths": names }).to_string()
    };
    work::assert_linear(&call(1500), &call(3000), |call| assert!(tool(&rules, "edit", call).is_empty()));
}

#[test]
fn patterns_beyond_the_total_size_do_not_disable_the_others() {
    let huge = (0..12).map(|at| rule(&format!("huge{at}"), &format!("x{at}[ab]{{1650}}"), ""));
    let rules: Vec<Rule> = std::iter::once(rule("small", "foo", "")).chain(huge).collect();
    assert_eq!(run(&rules, &StreamKind::Text, &[b"a foo "]).len(), 1);
    assert_eq!(monitor(&rules).left_out().len(), 2);
}

#[test]
fn patterns_that_do_not_compile_do_not_disable_larger_ones() {
    let rules = [rule("bytes", r"(?-u:\p{L})", ""), rule("large", &"foo".repeat(300), "")];
    assert_eq!(run(&rules, &StreamKind::Text, &["foo".repeat(300).as_bytes()]).len(), 1);
    assert_eq!(monitor(&rules).left_out(), [("bytes".to_owned(), r"(?-u:\p{L})".to_owned())]);
}

#[test]
fn expensive_patterns_are_dropped_and_light_ones_stay_active() {
    let heavy = (0..100).map(|at| rule(&format!("heavy{at}"), &format!("e.{{0,80}}from{at}"), ""));
    let rules: Vec<Rule> = heavy.chain([rule("light", "forbidden", "")]).collect();
    // Random text without repetitions.
    let mut seed = 1_u64;
    let letters = std::iter::repeat_with(|| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        b"aest"[(seed >> 62) as usize]
    });
    let text: Vec<u8> = letters.take(150_000).chain(*b" forbidden ").collect();
    let mut monitor = monitor(&rules);
    let hits: Vec<String> =
        monitor.feed("s", &StreamKind::Text, &text).into_iter().map(|hit| hit.rule).collect();
    assert_eq!(hits, ["light"]);
    let gave_up: Vec<&str> = monitor.gave_up().map(|(rule, _)| rule).collect();
    assert!(gave_up.len() > 50 && !gave_up.contains(&"light"), "{gave_up:?}");
    // Streams that started before the drop continue.
    assert_eq!(monitor.feed("t", &StreamKind::Text, b"it is forbidden ").len(), 1);
}

#[test]
fn patterns_with_a_gap_are_matched_in_a_long_text() {
    let rules = [rule("gap", "fn[^]{0,1000}forbidden", ""), rule("line", "let.{0,200}forbidden", "")];
    let code = include_str!("../automaton.rs").repeat(20);
    let mut monitor = monitor(&rules);
    assert_eq!(monitor.feed("s", &StreamKind::Text, (code + "fn let forbidden ").as_bytes()).len(), 2);
    assert_eq!(monitor.gave_up().count(), 0);
}

#[test]
fn exponential_patterns_take_linear_time() {
    let rules = [rule("a", r"(a+)+$", ""), rule("b", r"(a|a)*b", ""), rule("c", r"(x+x+)+y", "")];
    let text = |size: usize| "a".repeat(size) + &"x".repeat(size);
    work::assert_linear(&text(20_000), &text(40_000), |text| {
        assert!(run(&rules, &StreamKind::Text, &[text.as_bytes()]).is_empty());
    });
}

#[test]
fn a_pattern_may_have_many_alternatives() {
    let words: Vec<String> = (0..10_000).map(|at| format!("w{at}")).collect();
    assert_eq!(run(&[rule("many", &words.join("|"), "")], &StreamKind::Text, &[b"a w9999"]).len(), 1);
}

#[test]
fn mandatory_rules_are_not_dropped_for_others() {
    let words: Vec<String> = (0..150).map(|at| format!("secret{at}word")).collect();
    let mut mandatory = rule("mandatory", &words.join("|"), "");
    mandatory.is_mandatory = true;
    let mut looks = rule("looks", "(?<!safe_)danger", "");
    looks.is_mandatory = true;
    let others = (0..400).map(|at| rule(&format!("w{at}"), &format!("{at}{}", "qx".repeat(500)), ""));
    let other_looks = (0..600).map(|at| rule(&format!("l{at}"), &format!("(?!q)zz{at}"), ""));
    let rules: Vec<Rule> = others.chain(other_looks).chain([mandatory, looks]).collect();
    let mut monitor = monitor(&rules);
    assert!(!monitor.left_out().is_empty());
    assert!(monitor.left_out().iter().all(|(rule, _)| rule != "mandatory" && rule != "looks"));
    let text = format!("{} danger secret7word ", "let it be\n".repeat(3_000));
    let mut hits: Vec<String> = monitor
        .feed("s", &StreamKind::Text, text.as_bytes())
        .into_iter()
        .chain(monitor.finish("s"))
        .map(|hit| hit.rule)
        .collect();
    hits.sort();
    assert_eq!(hits, ["looks", "mandatory"]);
}
