use super::*;

fn delivery(rule: &str, text: &str) -> Delivery {
    Delivery { source: rule.to_owned(), ..Delivery::of_text(rule, text) }
}

fn tool(path: &str, pending: bool) -> Event {
    Event::Tool { name: "Read".to_owned(), paths: vec![path.to_owned()], command: None, pending }
}

/// Gives events, and wants which of the texts `a 1`, `a 2`, `b 1` are in the context.
#[track_caller]
fn check_context(events: &[Event], wanted: &[&str]) {
    let session = Session::of(events.iter().cloned());
    let has = |text: &&str| session.has(&delivery(&text[..1], &text[2..]));
    let found: Vec<&str> = ["a 1", "a 2", "b 1"].into_iter().filter(has).collect();
    assert_eq!(found, wanted, "{events:?}");
    let json = serde_json::to_string(&session).unwrap();
    assert_eq!(serde_json::from_str::<Session>(&json).unwrap(), session);
}

#[test]
fn a_text_is_in_the_context_until_it_changes_or_leaves() {
    let given = |rule, text| Event::Delivered(delivery(rule, text));
    let lost = Event::Delivered(Delivery { is_lost_on_resume: true, ..delivery("a", "1") });
    check_context(&[], &[]);
    check_context(&[given("a", "1"), given("b", "1")], &["a 1", "b 1"]);
    check_context(&[given("a", "1"), given("a", "2")], &["a 2"]);
    check_context(&[given("a", "1"), Event::Compacted, given("b", "1")], &["b 1"]);
    check_context(&[lost, given("b", "1"), Event::Resumed], &["b 1"]);
}

#[test]
fn files_count_as_touched_if_their_call_ran_since_the_compaction() {
    let mut session =
        Session::of([tool("a.ts", false), Event::Compacted, tool("b.ts", true), tool("c.ts", false)]);
    assert_eq!(session.touched(|_| true), ["c.ts"]);
    assert!(session.touched(|call| call.name != "Read").is_empty());
    assert!(!session.is_compacted());
    session.apply(Event::Compacted);
    session.apply(Event::Delivered(delivery("a", "1")));
    assert!(session.is_compacted());
}

#[test]
fn turns_messages_and_calls_are_remembered() {
    let prompts = ["one", "two\nlines"].map(Event::prompt);
    let [one, two] = prompts;
    let session = Session::of([one, tool("a.ts", false), two, tool("b.ts", false)]);
    assert_eq!((session.turn(), session.message()), (2, Some("two\nlines")));
    let calls: Vec<_> = session.tools().into_iter().map(|call| (call.turn, call.paths)).collect();
    assert_eq!(calls, [(Some(1), vec!["a.ts".to_owned()]), (Some(2), vec!["b.ts".to_owned()])]);
}
