use proptest::prelude::*;

use super::*;
use crate::evaluate::{Audience, evaluate};
use crate::evidence::{Evidence, Input, Roots, ToolCall};
use crate::format::FormatId;
use crate::parse::{Entry, parse};
use crate::resolve::{Rulebook, Switches, resolve};
use crate::rule::Rule;
use crate::source::Source;
use crate::stream::{Monitor, StreamKind};
use serde_json::json;

/// A book of native rules, each a name, a header and a body.
fn book(rules: &[(&str, &str, &str)]) -> Rulebook {
    let entries = rules.iter().map(|(name, header, body)| {
        let path = format!(".rulebook/rules/{name}.md");
        parse(Source::text(FormatId::Rulebook, &path, format!("---\n{header}\n---\n{body}"))).entry
    });
    resolve(entries, &Switches::default())
}

const STYLE: (&str, &str, &str) = ("style", "alwaysApply: true", "Two spaces.");
const WEB: (&str, &str, &str) = ("web", "globs: apps/web/**", "Use React.");
const DB: (&str, &str, &str) = ("db", "description: For the database", "Write a migration.");
const NO_MAP: (&str, &str, &str) = ("no-map", "condition: '\\bnew\\s+Map\\b'", "Use a plain object.");
const QUIET: (&str, &str, &str) = ("quiet", "condition: TODO\ninterruptMode: never", "Leave no TODO.");

#[test]
fn a_long_message_is_cut_after_the_blocks_of_hosts() {
    let long = "x ".repeat(9_000);
    let message = format!("<system-reminder>\n{long}see other/x.ts\n</system-reminder>fix it");
    assert_eq!(Event::prompt(&message), Event::Prompt { message: "fix it".to_owned() });
    assert!(matches!(Event::prompt(&long), Event::Prompt { message } if message.len() == 8 << 10));
}

fn restored(session: &Session) -> Session {
    serde_json::from_str(&serde_json::to_string(session).unwrap()).unwrap()
}

fn delivery(rule: &str, text: &str) -> Delivery {
    Delivery { source: rule.to_owned(), ..Delivery::of_text(rule, text) }
}

fn tool(path: &str, pending: bool) -> Event {
    Event::Tool {
        name: "Read".to_owned(),
        paths: vec![path.to_owned()],
        command: None,
        pending,
        failed: false,
    }
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
    assert_eq!((session.turn_number(), session.message()), (2, Some("two\nlines")));
    let calls: Vec<_> = session.tools().into_iter().map(|call| (call.turn, call.paths)).collect();
    assert_eq!(calls, [(Some(1), vec!["a.ts".to_owned()]), (Some(2), vec!["b.ts".to_owned()])]);
}

#[test]
fn a_rule_is_added_once_and_always_in_the_system_prompt() {
    let book = book(&[STYLE, WEB, DB]);
    let mut session = Session::default();
    let turn = session.turn(&book, Input::message("fix apps/web/a.tsx"));
    assert_eq!(turn.notice().unwrap().line(), "📋 Conditional rules applied: web");
    for text in [turn.system(), turn.added()] {
        for part in ["Two spaces.", "Use React.", "- db: For the database"] {
            assert!(text.contains(part), "{text}");
        }
    }
    drop(turn);
    assert_eq!(session, Session::default(), "an unsent turn leaves no trace");
    let turn = session.turn(&book, Input::message("fix apps/web/a.tsx"));
    assert!(turn.added().contains("Use React."), "nothing was sent yet");
    turn.sent();
    let turn = restored(&session).turn(&book, Input::message("and apps/web/b.tsx")).added();
    assert_eq!(turn, "");
    let turn = session.turn(&book, Input::message("and apps/web/b.tsx"));
    assert_eq!((turn.added().as_str(), turn.notice()), ("", None));
    assert!(turn.system().contains("Two spaces.") && turn.system().contains("Use React."));
}

#[test]
fn a_rule_is_added_again_when_its_text_changes_or_leaves_the_context() {
    let changed = book(&[("style", "alwaysApply: true", "Four spaces.")]);
    let book = book(&[STYLE]);
    let mut session = Session::default();
    session.turn(&book, Input::message("a")).sent();
    assert!(session.turn(&changed, Input::message("b")).added().contains("Four spaces."));
    assert_eq!(session.turn(&book, Input::message("b")).added(), "");
    session.apply(Event::Compacted);
    assert!(session.turn(&book, Input::message("b")).added().contains("Two spaces."));
}

#[test]
fn tool_calls_of_earlier_turns_are_evidence() {
    let book = book(&[WEB]);
    let mut session = Session::default();
    let call = ToolCall::new("read_file", json!({ "path": "apps/web/a.tsx" }));
    session.turn(&book, Input::default().tools([call])).sent();
    session.apply(Event::Compacted);
    assert!(session.turn(&book, Input::message("go on")).system().contains("Use React."));
    for _ in 0..4 {
        session.turn(&book, Input::message("something else")).sent();
    }
    assert_eq!(session.turn(&book, Input::message("go on")).system(), "");
}

/// Feeds an answer in deltas; returns what was shown and the first interrupt's text.
fn answer(turn: &mut Turn<'_>, deltas: &[&str]) -> (String, Option<String>) {
    let mut watch = turn.watch();
    let mut shown = String::new();
    for delta in deltas {
        let step = watch.text(delta);
        shown.push_str(&step.show);
        if let Some(interrupt) = step.retry {
            return (shown, Some(interrupt.text().to_owned()));
        }
    }
    let step = watch.end();
    shown.push_str(&step.show);
    (shown, step.retry.map(|interrupt| interrupt.text().to_owned()))
}

#[test]
fn an_interrupt_has_every_rule_that_fired_and_shows_nothing_of_the_match() {
    let book = book(&[NO_MAP, ("no-set", "condition: 'new Map\\(.*new Set'", "No sets.")]);
    let mut session = Session::default();
    let mut turn = session.turn(&book, Input::message("go"));
    let (shown, interrupt) = answer(&mut turn, &["Here: ", "m = new M", "ap(new Set", "());"]);
    assert_eq!(shown, "Here: m = ");
    let interrupt = interrupt.unwrap();
    assert!(interrupt.contains("Use a plain object."), "{interrupt}");
    assert!(interrupt.contains("- text line 1: `new Map`"), "{interrupt}");
    assert_eq!(answer(&mut turn, &["m = {}"]), ("m = {}".to_owned(), None));
}

#[test]
fn a_model_that_never_obeys_is_interrupted_three_times_and_then_reminded() {
    let book = book(&[NO_MAP]);
    let mut session = Session::default();
    let mut turn = session.turn(&book, Input::message("go"));
    let attempts: Vec<bool> = (0..5).map(|_| answer(&mut turn, &["new Map "]).1.is_some()).collect();
    assert_eq!(attempts, [true, true, true, false, false]);
    turn.sent();
    let turn = session.turn(&book, Input::message("next"));
    assert!(turn.added().starts_with("<system-reminder"), "{}", turn.added());
    assert!(turn.system().starts_with("<system-reminder"), "{}", turn.system());
    turn.sent();
    assert_eq!(session.turn(&book, Input::message("next")).added(), "");
}

#[test]
fn a_rule_that_does_not_interrupt_is_delivered_with_the_next_request_that_is_sent() {
    let book = book(&[QUIET]);
    let mut session = Session::default();
    let mut turn = session.turn(&book, Input::message("go"));
    assert_eq!(answer(&mut turn, &["TODO: all"]), ("TODO: all".to_owned(), None));
    turn.sent();
    assert!(session.turn(&book, Input::default()).added().contains("Leave no TODO."), "not sent");
    let turn = session.turn(&book, Input::default());
    assert!(turn.added().contains("Leave no TODO."));
    turn.sent();
    assert_eq!(session.turn(&book, Input::default()).added(), "");
}

#[test]
fn an_interrupt_without_a_retry_does_not_count() {
    let book = book(&[NO_MAP]);
    let mut session = Session::default();
    let mut turn = session.turn(&book, Input::message("go"));
    assert!(answer(&mut turn, &["new Map "]).1.is_some());
    drop(turn);
    let mut turn = session.turn(&book, Input::message("next"));
    assert!(answer(&mut turn, &["new Map "]).1.is_some(), "its text never reached the model");
    assert!(answer(&mut turn, &["ok"]).1.is_none());
    turn.sent();
    let mut turn = session.turn(&book, Input::message("next"));
    assert!(answer(&mut turn, &["new Map "]).1.is_none(), "once");
    drop(turn);
    session.apply(Event::Compacted);
    let mut turn = session.turn(&book, Input::message("next"));
    assert!(answer(&mut turn, &["new Map "]).1.is_some(), "it left the context");
}

#[test]
fn tool_calls_are_watched_decoded_and_thinking_only_where_a_rule_says_so() {
    let book = book(&[NO_MAP, ("think", "condition: secretly\nscope: thinking", "Think aloud.")]);
    let mut session = Session::default();
    let mut turn = session.turn(&book, Input::message("go"));
    let mut watch = turn.watch();
    let thought = watch.thinking("new Map ");
    let said = watch.text("I write it. ");
    assert_eq!((thought.thinking + &said.thinking, said.show), ("new Map ".into(), "I write it. ".into()));
    assert!(watch.tool("1", "write", "{\"content\":\"new\\u0020M").retry.is_none());
    let step = watch.tool("1", "write", "ap()\"}");
    assert!(step.retry.unwrap().text().contains("tool write, content: `new Map`"));
    assert!(watch.thinking("secretly ").retry.unwrap().text().contains("Think aloud."));
}

#[test]
fn the_stopped_output_is_kept_where_the_rule_says_so() {
    let book = book(&[("keep", "condition: 'new Map'\ncontextMode: keep", "Use an object.")]);
    let mut session = Session::default();
    let mut turn = session.turn(&book, Input::message("go"));
    let step = turn.watch().text("First. new Map()");
    assert_eq!(step.retry.unwrap().output(), Some("First. new Map()"));
}

#[test]
fn a_session_rebuilt_from_its_events_acts_like_the_original() {
    #[derive(Default)]
    struct Recorder(Session, Vec<Event>);
    impl SessionStore for Recorder {
        fn session(&mut self) -> &mut Session {
            &mut self.0
        }
        fn record(&mut self, events: Vec<Event>, claims: Vec<Delivery>) -> Vec<Delivery> {
            let mine = self.0.record(events.clone(), claims);
            self.1.extend(events.into_iter().chain(mine.iter().cloned().map(Event::Delivered)));
            mine
        }
    }
    let book = book(&[STYLE, NO_MAP, QUIET]);
    let mut store = Recorder::default();
    let answers = ["new Map ", "TODO: all", "fine"];
    for (at, said) in answers.into_iter().cycle().take(9).enumerate() {
        let (evidence, roots) = (Evidence::default(), Roots::default());
        let evaluation = evaluate(&book, &evidence, Audience::any());
        let situation = Situation::new(&evaluation, &evidence, &roots);
        let input = Input::message(at.to_string());
        let report = Report { input, ..Report::new(HostProfile::plain("test"), Moment::Prompt) };
        let mut rebuilt = Session::of(store.1.clone());
        let turn_of_rebuilt = {
            let mut turn = Turn::new(&mut rebuilt, &report, &situation, Default::default());
            (turn.added(), answer(&mut turn, &[said]))
        };
        let mut turn = Turn::new(&mut store, &report, &situation, Default::default());
        let added = turn.added();
        let first = answer(&mut turn, &[said]);
        if first.1.is_some() {
            let _ = answer(&mut turn, &["fine"]);
        }
        turn.sent();
        assert_eq!((added, first), turn_of_rebuilt, "turn {at}");
    }
}

/// One attempt of a call: whether it is refused, whether a reminder comes with the reply, and the notice.
fn attempt(
    session: &mut Session,
    book: &Rulebook,
    host: HostProfile<'_>,
    moment: Moment,
    call: &ToolCall,
) -> (bool, bool, Option<String>) {
    let (evidence, roots) = (Evidence::default(), Roots::default());
    let evaluation = evaluate(book, &evidence, Audience::any());
    let situation = Situation::new(&evaluation, &evidence, &roots);
    let call = ToolCall { pending: moment == Moment::Before, ..call.clone() };
    let report = Report {
        input: Input::default().tools([call]),
        paths: vec![Vec::new()],
        ..Report::new(host, moment)
    };
    let mut draft = session.draft(&report, &situation, Vec::new());
    let mut events = session.observe(&report);
    events.extend(draft.events());
    *session = restored(session);
    session.record(events, Vec::new());
    let Reply { context, refusal, notice, .. } = draft.reply(&[], None);
    (refusal.is_some(), context.is_some_and(|text| text.starts_with("<system-reminder")), notice)
}

#[test]
fn a_session_that_is_not_kept_refuses_only_what_is_always_forbidden() {
    let requires =
        ("check", "requires: {do: {command: \"make check\"}, before: {command: \"git commit*\"}}", "Check.");
    let forbids = ("never", "forbids: {command: \"git push*\"}", "Never.");
    let book = book(&[NO_MAP, requires, forbids]);
    let (evidence, roots) = (Evidence::default(), Roots::default());
    let evaluation = evaluate(&book, &evidence, Audience::any());
    let situation = Situation::new(&evaluation, &evidence, &roots);
    let host = HostProfile { cap: 10_000, ..HostProfile::plain("test") };
    for (line, rule, is_refused) in
        [("echo 'new Map()'", "no-map", false), ("git commit", "check", false), ("git push", "never", true)]
    {
        let call = ToolCall { pending: true, ..ToolCall::new("Bash", json!({ "command": line })) };
        let report = Report {
            input: Input::default().tools([call]),
            paths: vec![Vec::new()],
            ..Report::new(host, Moment::Before)
        };
        let draft = || Session::default().draft(&report, &situation, Vec::new());
        assert!(draft().reply(&[], None).refusal.is_some(), "{line}");
        let Reply { context, refusal, notice, .. } = draft().reply(&[], Some("no space"));
        assert_eq!(refusal.is_some(), is_refused, "{line}");
        let notice = notice.unwrap_or_default();
        assert_eq!(notice.contains(&format!("what violates {rule} is let through")), !is_refused, "{notice}");
        assert_eq!(context.is_some_and(|text| text.starts_with("<system-reminder")), !is_refused, "{line}");
    }
}

#[test]
fn a_call_is_refused_three_times_a_turn_and_then_let_through_with_a_reminder() {
    let book = book(&[NO_MAP]);
    let host = HostProfile { cap: 10_000, ..HostProfile::plain("test") };
    let late = HostProfile { context_at: &[Moment::Prompt, Moment::After], ..host };
    let call = ToolCall::new("Bash", json!({ "command": "echo 'new Map()'" }));
    let notice = "`echo 'new Map()'` is let through although it violates no-map: no more calls are refused in this turn (`stream.max_interrupts`)";
    let mut session = Session::default();
    session.apply(Event::prompt("go"));
    for _ in 0..3 {
        assert_eq!(attempt(&mut session, &book, host, Moment::Before, &call), (true, false, None));
    }
    let passes = (false, true, Some(notice.to_owned()));
    assert_eq!(attempt(&mut session, &book, host, Moment::Before, &call), passes);
    assert_eq!(attempt(&mut session, &book, host, Moment::Before, &call), (false, false, None), "reminded");
    // The rule is in the context, until that is compacted.
    session.apply(Event::prompt("next"));
    assert_eq!(attempt(&mut session, &book, host, Moment::Before, &call), (false, false, None));
    session.apply(Event::Compacted);
    assert_eq!(attempt(&mut session, &book, host, Moment::Before, &call), (true, false, None));
    // A host that takes no context before a call gets the reminder after it.
    let mut session = Session::default();
    for _ in 0..3 {
        assert!(attempt(&mut session, &book, late, Moment::Before, &call).0);
    }
    let (refused, reminded, notice) = attempt(&mut session, &book, late, Moment::Before, &call);
    assert_eq!((refused, reminded, notice.is_some()), (false, false, true));
    assert_eq!(attempt(&mut session, &book, late, Moment::After, &call), (false, true, None));
    assert_eq!(attempt(&mut session, &book, late, Moment::After, &call), (false, false, None));
}

#[test]
fn a_host_without_notices_asks_the_model_to_inform_the_user() {
    let book = book(&[NO_MAP]);
    let host = HostProfile { cap: 10_000, shows_notices: false, ..HostProfile::plain("test") };
    let call = ToolCall::new("Bash", json!({ "command": "echo 'new Map()'" }));
    let mut session = Session::default();
    let (evidence, roots) = (Evidence::default(), Roots::default());
    let evaluation = evaluate(&book, &evidence, Audience::any());
    let situation = Situation::new(&evaluation, &evidence, &roots);
    for _ in 0..3 {
        assert!(attempt(&mut session, &book, host, Moment::Before, &call).0);
    }
    let call = ToolCall { pending: true, ..call };
    let input = Input::default().tools([call]);
    let report = Report { input, paths: vec![Vec::new()], ..Report::new(host, Moment::Before) };
    let reply = session.draft(&report, &situation, Vec::new()).reply(&[], None);
    let context = reply.context.unwrap();
    assert!(
        context.starts_with("Tell the user, from Rulebook:\n`echo 'new Map()'` is let through"),
        "{context}"
    );
    assert_eq!(reply.notice, None);
}

#[test]
fn a_refusal_is_recorded_with_its_rule_as_delivered() {
    let book = book(&[NO_MAP]);
    let host = HostProfile { cap: 10_000, ..HostProfile::plain("test") };
    let mut session = Session::default();
    let call = ToolCall::new("write", json!({ "path": "a.ts", "content": "new Map()" }));
    assert!(attempt(&mut session, &book, host, Moment::Before, &call).0);
    let rules: Vec<&Rule> = book.rules().map(|(rule, _)| rule).collect();
    assert!(session.has_rule(rules[0]));
}

#[test]
fn what_a_call_replaces_or_searches_for_is_not_refused() {
    let book = book(&[NO_MAP]);
    let host = HostProfile { cap: 10_000, ..HostProfile::plain("test") };
    #[track_caller]
    fn check(book: &Rulebook, host: HostProfile<'_>, tool: &str, input: serde_json::Value, refused: bool) {
        let call = ToolCall::new(tool, input);
        let found = attempt(&mut Session::default(), book, host, Moment::Before, &call);
        assert_eq!(found, (refused, false, None), "{call:?}");
    }
    let edit = |old: &str, new: &str| json!({ "file_path": "a.ts", "old_string": old, "new_string": new });
    check(&book, host, "Edit", edit("x", "new Map()"), true);
    check(&book, host, "Edit", edit("new Map()", "{}"), false);
    check(&book, host, "Grep", json!({ "pattern": "new Map()" }), false);
    check(&book, host, "Read", json!({ "file_path": "new Map().ts" }), false);
    check(&book, host, "shell", json!({ "command": ["bash", "-lc", "echo 'new Map()'"] }), true);
    let patch = |line: &str| {
        format!("apply_patch <<'E'\n*** Begin Patch\n*** Update File: a.ts\n{line}\n*** End Patch\nE")
    };
    check(&book, host, "Bash", json!({ "command": patch("-new Map()") }), false);
    check(&book, host, "Bash", json!({ "command": patch("+new Map()") }), true);
}

#[test]
fn only_claimed_deliveries_are_in_the_reply() {
    let book = book(&[STYLE, WEB]);
    let roots = Roots::default();
    let evidence = Evidence { paths: vec![seen("apps/web/a.tsx")], ..Evidence::default() };
    let evaluation = evaluate(&book, &evidence, Audience::any());
    let situation = Situation::new(&evaluation, &evidence, &roots);
    let report = Report::new(HostProfile { cap: 10_000, ..HostProfile::plain("test") }, Moment::Prompt);
    let (mut session, mut other) = (Session::default(), Session::default());
    let draft = session.draft(&report, &situation, Vec::new());
    // Another process was faster with one of them.
    let faster: Vec<Delivery> =
        draft.claims().into_iter().filter(|claim| claim.rule == "style@rulebook").collect();
    other.record(Vec::new(), faster);
    let mine = other.record(Vec::new(), draft.claims());
    assert_eq!(mine.iter().map(|claim| claim.rule.as_str()).collect::<Vec<_>>(), ["web@rulebook"]);
    let context = draft.reply(&mine, None).context.unwrap();
    assert!(context.contains("Use React.") && !context.contains("Two spaces."), "{context}");
    session.record(Vec::new(), mine);
    assert_eq!(session.draft(&report, &situation, Vec::new()).claims().len(), 1);
}

fn seen(path: &str) -> crate::evidence::Seen {
    crate::evidence::Seen { path: path.to_owned(), root: 0, sources: Vec::new() }
}

proptest! {
    /// Any split of an answer shows the same text, or stops before the match.
    #[test]
    fn every_split_of_an_answer_shows_the_same(
        said in "[a-f newMap]{0,12}(new Map )?[a-f newMap]{0,12}",
        cuts in prop::collection::vec(0_usize..30, 0..6),
    ) {
        let book = book(&[NO_MAP]);
        let mut session = Session::default();
        let whole = answer(&mut session.turn(&book, Input::message("go")), &[&said]);
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(said.len())).collect();
        cuts.extend([0, said.len()]);
        cuts.sort_unstable();
        let deltas: Vec<&str> = cuts.windows(2).map(|cut| &said[cut[0]..cut[1]]).collect();
        let (shown, interrupt) = answer(&mut session.turn(&book, Input::message("go")), &deltas);
        prop_assert_eq!(interrupt.is_some(), whole.1.is_some());
        match said.find("new Map").filter(|_| interrupt.is_some()) {
            Some(at) => prop_assert!(said[..at].starts_with(&shown), "{shown}"),
            None => prop_assert_eq!(shown, said),
        }
    }
}

#[test]
fn stream_rules_of_one_name_fire_separately() {
    let rule = |format, path, condition, body: &str| {
        let text = format!("---\ncondition: {condition}\n---\n{body}");
        match parse(Source::text(format, path, text)).entry {
            Entry::Rule(rule) => *rule,
            Entry::Rejected(rejected) => panic!("{:?}", rejected.codes),
        }
    };
    let rules = [
        rule(FormatId::Cline, ".clinerules/no.md", "worse", "Not worse."),
        rule(FormatId::Cursor, ".cursor/rules/no.mdc", "bad", "Not bad."),
    ];
    let fired = |text: &str| {
        let watched = StreamRules::new(&rules, &StreamSettings::default());
        let mut monitor = Monitor::new(rules.iter().filter_map(Rule::stream_rule), Roots::default());
        let hits = monitor.feed("s", &StreamKind::Text, text.as_bytes());
        let (Judgement::Interrupt(interrupt), events) = Session::default().judge(&watched, &hits) else {
            panic!("{hits:?}")
        };
        (interrupt.text().matches("Not ").count(), events.len(), interrupt.text().contains("Not bad."))
    };
    assert_eq!(fired("a bad one"), (1, 1, true));
    assert_eq!(fired("a worse one"), (1, 1, false));
    assert_eq!(fired("bad or worse "), (2, 2, true));
}

#[test]
fn requirements_judge_the_calls_of_an_answer_and_its_end() {
    const LINT: &str =
        r#"requires: {do: {command: "lint*"}, after: {edit: "*.go"}, before: {command: "git commit*"}}"#;
    let calls = |calls: &[(&str, &str)]| {
        Input::default().tools(calls.iter().map(|(tool, what)| match *tool {
            "Bash" => ToolCall::new("Bash", json!({ "command": what })),
            tool => ToolCall::new(tool, json!({ "file_path": what })),
        }))
    };
    /// Whether an answer with this command, or without a call, is refused after these calls.
    fn is_refused(session: &mut Session, book: &Rulebook, input: Input, command: Option<&str>) -> bool {
        let mut turn = session.turn(book, input);
        let mut watch = turn.watch();
        match command {
            Some(command) => {
                assert!(watch.tool("1", "Bash", &json!({ "command": command }).to_string()).retry.is_none());
            }
            None => drop(watch.text("Done.")),
        }
        let retry = watch.end().retry;
        if command.is_none()
            && let Some(retry) = &retry
        {
            assert_eq!(retry.output(), Some("Done."));
        }
        turn.sent();
        retry.is_some()
    }
    let book = book(&[("order", LINT, "Run lint.")]);
    let mut session = Session::default();
    let commit = Some("git commit");
    assert!(!is_refused(&mut session, &book, Input::message("go"), commit));
    assert!(is_refused(&mut session, &book, calls(&[("Edit", "a.go")]), commit));
    assert!(!is_refused(&mut session, &book, Input::default(), commit), "refused once");
    // Calls of one answer do not precede each other.
    assert!(!is_refused(&mut session, &book, calls(&[("Bash", "lint")]), commit));
    assert!(is_refused(&mut session, &book, calls(&[("Edit", "b.go"), ("Bash", "lint")]), commit));
    let at_end = self::book(&[("end", r#"requires: {do: {command: lint}, before: stop}"#, "Run lint.")]);
    let mut session = Session::default();
    assert!(is_refused(&mut session, &at_end, Input::message("go"), None));
    assert!(!is_refused(&mut session, &at_end, Input::default(), None));
    assert!(!is_refused(&mut session, &at_end, calls(&[("Bash", "lint")]), None));
}
