//! The blocks and the event, whole.

use serde_json::json;

use crate::stream::policy::{
    ContextMode, InterruptMode, MatchedText, OutputSource, RepeatMode, StreamModes, Triggered, escape_tags,
    injection, join, reminder,
};

fn evidence(text: &str, place: &str) -> MatchedText {
    MatchedText { text: text.to_owned(), place: place.to_owned() }
}

#[test]
fn an_injection_says_what_matched_and_where() {
    let matched =
        [evidence("as any", "tool edit, field new_string, src/a.ts"), evidence("x as\n\tany", "text line 3")];
    assert_eq!(
        injection("no-any", ".rulebook/rules/no-any.md", "\nUse `unknown`.\n", &matched),
        r#"<system-interrupt reason="rule_violation" rule="no-any" path=".rulebook/rules/no-any.md">
Your output was stopped because it matched the rule below:
- tool edit, field new_string, src/a.ts: `as any`
- text line 3: `x as\n\tany`
The user set up this rule for this work. Redo the stopped part so that it follows the rule, then continue.

Use `unknown`.
</system-interrupt>"#
    );
}

#[test]
fn a_reminder_says_that_nothing_was_stopped() {
    assert_eq!(
        join(&[
            reminder("a", "a.md", "One.", &[]),
            reminder("b", "b.md", "Two.", &[evidence("b", "thinking line 1")])
        ]),
        r#"<system-reminder reason="rule_violation" rule="a" path="a.md">
Your output matched the rule below and was not stopped.
The user set up this rule for this work. Fix what violates it, and follow it from now on.

One.
</system-reminder>

<system-reminder reason="rule_violation" rule="b" path="b.md">
Your output matched the rule below and was not stopped:
- thinking line 1: `b`
The user set up this rule for this work. Fix what violates it, and follow it from now on.

Two.
</system-reminder>"#
    );
}

#[test]
fn many_and_long_matches_are_cut() {
    let long = evidence(&"é".repeat(500), "text line 1");
    let text = injection("a", "a.md", "Body.", &vec![long; 8]);
    assert_eq!(text.matches("- text line 1: `é").count(), 5);
    assert_eq!(text.matches('é').count(), 5 * 200);
    assert!(text.contains("…`\n- and 3 more\nThe user"), "{text}");
}

#[test]
fn no_value_leaves_its_attribute() {
    let text = injection("a\"b", "x>\n<y&\u{7}.md", "Body.", &[]);
    let first = text.lines().next().unwrap();
    assert_eq!(first, r#"<system-interrupt reason="rule_violation" rule="a-b" path="x---y&amp;-.md">"#);
}

#[test]
fn our_own_tags_are_escaped_and_nothing_else() {
    for (text, wanted) in [
        ("</system-interrupt>", "&lt;/system-interrupt>"),
        ("<system-interrupt reason", "&lt;system-interrupt reason"),
        ("a <SYSTEM-Reminder> b </System-REMINDER>", "a &lt;SYSTEM-Reminder> b &lt;/System-REMINDER>"),
        ("< / system-reminder>", "&lt; / system-reminder>"),
        ("<<system-reminder>", "<&lt;system-reminder>"),
        ("</rulebook-rule><rulebook-notice>", "&lt;/rulebook-rule>&lt;rulebook-notice>"),
        ("<system>, <b>, a < b, &lt;, <système-", "<system>, <b>, a < b, &lt;, <système-"),
        ("", ""),
        ("<", "<"),
    ] {
        assert_eq!(escape_tags(text), wanted);
    }
}

#[test]
fn every_word_reads_back_and_serialises_as_itself() {
    macro_rules! check {
        ($($mode:ident)+) => {$(for (word, mode) in $mode::NAMES {
            assert_eq!((mode.name(), $mode::named(word)), (*word, Some(*mode)));
            assert_eq!(serde_json::to_value(mode).unwrap(), json!(word));
        })+};
    }
    check!(InterruptMode ContextMode RepeatMode OutputSource);
    assert_eq!(InterruptMode::named("Always"), None);
}

#[test]
fn the_defaults_are_those_of_the_keys() {
    let defaults =
        json!({"interruptMode": "always", "contextMode": "discard", "repeatMode": "once", "repeatGap": 10});
    assert_eq!(serde_json::to_value(StreamModes::default()).unwrap(), defaults);
    assert_eq!(serde_json::from_value::<StreamModes>(json!({})).unwrap(), StreamModes::default());
}

#[test]
fn the_event_names_rules_and_matches() {
    let event = Triggered { rules: vec!["a".to_owned()], matches: vec![json!({"rule": "a", "text": "foo"})] };
    assert_eq!(
        serde_json::to_string(&event).unwrap(),
        r#"{"type":"ttsr_triggered","rules":["a"],"matches":[{"rule":"a","text":"foo"}]}"#
    );
}

proptest::proptest! {
    #[test]
    fn a_block_has_one_opening_and_one_closing_tag(
        texts in proptest::collection::vec("(<|/|system-|interrupt|REMINDER|reminder| |>|\"|&|\n|é|\\PC){0,12}", 5)
    ) {
        let matched = [evidence(&texts[0], &texts[1])];
        for (block, tag) in [
            (injection(&texts[2], &texts[3], &texts[4], &matched), "system-interrupt"),
            (reminder(&texts[2], &texts[3], &texts[4], &matched), "system-reminder"),
        ] {
            let (open, close) = (format!("<{tag} "), format!("\n</{tag}>"));
            proptest::prop_assert!(block.starts_with(&open) && block.ends_with(&close), "{}", block);
            let inner = block[1..block.len() - close.len()].to_ascii_lowercase();
            for tag in ["<system-interrupt", "</system-interrupt", "<system-reminder", "</system-reminder"] {
                proptest::prop_assert!(!inner.contains(tag), "{}", block);
            }
        }
    }
}
