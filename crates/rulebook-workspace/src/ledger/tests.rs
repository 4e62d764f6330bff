use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::thread;
use std::time::{Duration, SystemTime};

use rulebook::session::{Delivery, EVENT_VERSION, Event, Session, SessionStore as _, TextHash};

use super::*;

fn delivery(rule: &str, text: &str) -> Delivery {
    Delivery {
        rule: rule.to_owned(),
        source: format!(".rulebook/rules/{rule}.md"),
        because: "always on".to_owned(),
        ..Delivery::of_text("", text)
    }
}

fn ledger(folder: &tempfile::TempDir) -> Ledger {
    Ledger::of(folder.path(), "claude", "s-1", None)
}

fn start() -> Event {
    Event::Started {
        version: EVENT_VERSION,
        host: "claude".to_owned(),
        session: "s-1".to_owned(),
        agent: None,
        root: "/repo".to_owned(),
        more_roots: Vec::new(),
    }
}

fn recall(ledger: &Ledger) -> Kept {
    ledger.recall(vec!["/repo".to_owned()]).unwrap()
}

/// Records as a new process would; returns the rules that are its own to deliver.
fn record(ledger: &Ledger, events: Vec<Event>, wanted: &[Delivery]) -> Vec<String> {
    let mut kept = recall(ledger);
    let mine = ledger.record(&start(), &mut kept, events, wanted.to_vec()).unwrap();
    mine.into_iter().map(|delivery| delivery.rule).collect()
}

#[test]
fn a_rule_is_claimed_once_until_its_text_changes_or_leaves_the_context() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(&folder);
    assert_eq!(record(&ledger, vec![], &[delivery("a", "1"), delivery("b", "1")]), ["a", "b"]);
    assert!(record(&ledger, vec![], &[delivery("a", "1")]).is_empty());
    assert_eq!(record(&ledger, vec![], &[delivery("a", "2")]), ["a"]);
    record(&ledger, vec![Event::Compacted], &[]);
    assert_eq!(record(&ledger, vec![], &[delivery("b", "1")]), ["b"]);
}

#[test]
fn sessions_and_agents_are_kept_apart() {
    let folder = tempfile::tempdir().unwrap();
    for (session, agent) in
        [("s", None), ("s", Some("explore")), ("../../s", None), ("", None), ("s/..", None)]
    {
        let ledger = Ledger::of(folder.path(), "claude", session, agent);
        assert_eq!(record(&ledger, vec![], &[delivery("a", "1")]), ["a"], "{session} {agent:?}");
        assert!(ledger.file().starts_with(folder.path().join("sessions/claude")));
    }
    assert_eq!(sessions(folder.path()).len(), 5);
}

#[test]
fn a_kill_at_any_byte_loses_at_most_the_line_being_written() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(&folder);
    record(&ledger, vec![Event::prompt("kept")], &[]);
    let whole = fs::read(ledger.file()).unwrap();
    let torn = serde_json::to_vec(&Event::prompt("torn é")).unwrap();
    for cut in 0..=torn.len() {
        fs::write(ledger.file(), &whole).unwrap();
        OpenOptions::new().append(true).open(ledger.file()).unwrap().write_all(&torn[..cut]).unwrap();
        assert_eq!(record(&ledger, vec![Event::prompt("next")], &[delivery("a", "1")]), ["a"], "{cut}");
        let log = ledger.read().unwrap();
        // The torn line may be complete but for its end; then it counts.
        let turns = if cut == torn.len() { 3 } else { 2 };
        let unreadable = usize::from(cut > 0 && cut < torn.len());
        assert_eq!((log.turn(), log.unreadable()), (turns, unreadable), "{cut}");
        assert!(record(&ledger, vec![], &[delivery("a", "1")]).is_empty(), "{cut}");
    }
}

#[test]
fn parallel_writers_lose_nothing_and_deliver_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(&folder);
    let rules: Vec<Delivery> = (0..20).map(|at| delivery(&format!("r{at}"), "1")).collect();
    let threads: Vec<_> = (0..24)
        .map(|writer| {
            let (ledger, rules) = (ledger.clone(), rules.clone());
            thread::spawn(move || {
                let once = |at| record(&ledger, vec![Event::prompt(&format!("{writer} {at}"))], &rules);
                (0..8).flat_map(once).collect::<Vec<String>>()
            })
        })
        .collect();
    let mut delivered: Vec<String> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
    delivered.sort();
    let mut wanted: Vec<String> = rules.into_iter().map(|delivery| delivery.rule).collect();
    wanted.sort();
    assert_eq!(delivered, wanted);
    let log = ledger.read().unwrap();
    assert_eq!((log.turn(), log.unreadable()), (24 * 8, 0));
}

#[test]
fn unreadable_lines_are_counted_and_skipped() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(&folder);
    record(&ledger, vec![Event::prompt("a")], &[]);
    let mut file = OpenOptions::new().append(true).open(ledger.file()).unwrap();
    file.write_all(b"{}\n\xff\xfe\n{\"is\":\"new-kind\"}\n{\"is\":\"delivered\",\"hash\":\"no number\"}\n")
        .unwrap();
    record(&ledger, vec![Event::prompt("b")], &[]);
    let log = ledger.read().unwrap();
    assert_eq!((log.turn(), log.unreadable()), (2, 4));
    assert_eq!(recall(&ledger).session.turn_number(), 2);
}

#[test]
fn old_sessions_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    for session in ["a", "b"] {
        record(&Ledger::of(folder.path(), "codex", session, None), vec![Event::Compacted], &[]);
    }
    let now = SystemTime::now();
    sweep(folder.path(), now);
    assert_eq!(sessions(folder.path()).len(), 2);
    sweep(folder.path(), now + Duration::from_secs(40 * 24 * 60 * 60));
    assert!(sessions(folder.path()).is_empty());
}

#[test]
fn of_too_many_sessions_the_oldest_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let now = SystemTime::now();
    for at in 0..503_u64 {
        let ledger = Ledger::of(folder.path(), "codex", &format!("s{at}"), None);
        record(&ledger, vec![Event::Compacted], &[]);
        let file = File::options().append(true).open(ledger.file()).unwrap();
        file.set_modified(now - Duration::from_secs(1000 - at)).unwrap();
    }
    // They may be running.
    sweep(folder.path(), now);
    assert_eq!(sessions(folder.path()).len(), 503);
    let now = now + Duration::from_secs(60 * 60);
    sweep(folder.path(), now);
    assert_eq!(sessions(folder.path()).len(), 500);
    for (at, exists) in [(0, false), (2, false), (3, true), (502, true)] {
        let ledger = Ledger::of(folder.path(), "codex", &format!("s{at}"), None);
        assert_eq!(ledger.file().exists(), exists, "s{at}");
        assert_eq!(ledger.file().parent().unwrap().exists(), exists, "s{at}");
    }
}

#[test]
fn a_ledger_is_followed_and_every_event_has_its_time() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(&folder);
    let mut followed = ledger.read().unwrap();
    assert!(followed.events().is_empty());
    record(&ledger, vec![Event::prompt("say ,\"at\":7}")], &[delivery("a", "1")]);
    ledger.follow(&mut followed).unwrap();
    assert_eq!(followed.events(), ledger.read().unwrap().events());
    assert!(followed.times().iter().all(|at| *at > 1_700_000_000), "{:?}", followed.times());
    let mut file = OpenOptions::new().append(true).open(ledger.file()).unwrap();
    writeln!(file, "{}", serde_json::to_string(&Event::Compacted).unwrap()).unwrap();
    ledger.follow(&mut followed).unwrap();
    // The start, the prompt, the delivery and this.
    assert_eq!((followed.events().len(), followed.times().last()), (4, Some(&0)));
}

#[test]
fn the_order_of_keys_in_a_line_does_not_matter() {
    let known = Delivery { offered: true, missed: Some("why".to_owned()), ..delivery("a", "1") };
    let call = |command: Option<&str>, pending| Event::Tool {
        name: "Bash".to_owned(),
        paths: vec!["src/a.ts".to_owned(), "é \"b\"".to_owned()],
        command: command.map(str::to_owned),
        failed: false,
        pending,
    };
    for event in [Event::Delivered(known), call(Some("ls"), true), call(None, false)] {
        let line = lines::line(std::time::Duration::from_secs(7), &event).unwrap();
        let parts: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&line).unwrap();
        let turned: serde_json::Map<_, _> = parts.into_iter().rev().collect();
        for line in [line, serde_json::to_string(&turned).unwrap()] {
            assert_eq!(lines::event(&line).unwrap(), event, "{line}");
        }
    }
}

#[test]
fn a_recalled_session_is_the_one_its_events_make() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(&folder);
    let lost = Delivery { is_lost_on_resume: true, ..delivery("c \"é\"", "3") };
    let steps = [
        (vec![Event::prompt("one")], vec![delivery("a", "1"), lost.clone()]),
        (vec![Event::Resumed], vec![delivery("b", "2")]),
        (vec![Event::Compacted], vec![]),
        (vec![Event::prompt("two")], vec![delivery("b", "2"), lost]),
    ];
    let mut wanted = Session::about(vec!["/repo".to_owned()]);
    wanted.apply(start());
    let shown = |session: &Session| serde_json::to_value(session).unwrap();
    let mut kept = recall(&ledger);
    for (new, deliveries) in steps {
        ledger.record(&start(), &mut kept, new.clone(), deliveries.clone()).unwrap();
        new.into_iter()
            .chain(deliveries.into_iter().map(Event::Delivered))
            .for_each(|event| wanted.apply(event));
        assert_eq!((&recall(&ledger).session, &kept.session), (&wanted, &wanted));
        // Whoever only shows it does not say for which workspace.
        assert_eq!(shown(&ledger.read().unwrap().session()), shown(&wanted));
    }
}

#[test]
fn a_name_of_any_characters_is_a_safe_file_name() {
    #[track_caller]
    fn check(name: &str, wanted: &str) {
        assert_eq!(safe(name), wanted);
    }
    check("s-1.a_b", "s-1.a_b");
    check("../x", "%2e.%2fx");
    check("x..", "x.%2e");
    check("NUL.txt", "%-NUL.txt");
    check("com1", "%-com1");
    check("com10", "com10");
    check("", &format!("%{}", TextHash::of("")));
    assert_eq!(safe(&"x".repeat(500)).len(), 117);
}

#[test]
fn a_delivery_counts_the_same_however_its_line_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(&folder);
    let shown = |session: &Session| serde_json::to_value(session).unwrap();
    let names =
        ["a", "é", r"back\slash", r#"quo"te"#, r#"","source":"x","hash":"1"#, r#"a\",\"source\":\"x"#];
    for (at, name) in names.into_iter().enumerate() {
        let lost = Delivery { is_lost_on_resume: at % 2 == 0, ..delivery(name, name) };
        let because = r#"paths `,"passing":true`"#.to_owned();
        record(&ledger, vec![], &[Delivery { because, ..lost }]);
    }
    assert_eq!(shown(&recall(&ledger).session), shown(&ledger.read().unwrap().session()));
    record(&ledger, vec![Event::Resumed], &[]);
    assert_eq!(shown(&recall(&ledger).session), shown(&ledger.read().unwrap().session()));
}

#[test]
fn a_sweep_removes_a_bounded_number_and_the_next_one_continues() {
    let folder = tempfile::tempdir().unwrap();
    let old = SystemTime::now() - Duration::from_secs(40 * 24 * 60 * 60);
    for at in 0..250 {
        let session = folder.path().join(format!("sessions/codex/s{at}"));
        fs::create_dir_all(&session).unwrap();
        File::create(session.join("main.jsonl")).unwrap().set_modified(old).unwrap();
    }
    for left in [150, 50, 0] {
        sweep(folder.path(), SystemTime::now());
        assert_eq!(sessions(folder.path()).len(), left);
    }
}

/// An agent may change to another repository, whose rules have the names of this one's.
#[test]
fn what_another_repositorys_rules_did_does_not_count_for_those_of_this_one() {
    let folder = tempfile::tempdir().unwrap();
    let open = |root: &str, agent: Option<&str>| {
        let name = SessionName { host: "claude", session: "s", agent, root, more_roots: Vec::new() };
        Keeper::open(Some(folder.path()), &name)
    };
    let state = |root: &str| {
        let session = serde_json::to_value(open(root, None).session()).unwrap();
        let count = |key: &str| session[key].as_array().unwrap().len();
        let fired = serde_json::to_value(Session::default()).unwrap()["policy"] != session["policy"];
        (count("calls"), count("marks"), count("loaded"), fired)
    };
    let path = ".rulebook/rules/m.md".to_owned();
    let events = || -> Vec<Event> {
        let lines = [
            r#"{"is":"tool","name":"Bash","paths":[],"command":"lint","pending":true}"#,
            r#"{"is":"sequence","rule":"m@rulebook","path":".rulebook/rules/m.md","nth":0,"action":"refuse","call":"ls","what":"x"}"#,
            r#"{"is":"interrupted","rule":"m@rulebook","path":".rulebook/rules/m.md","source":"tool","text":"x","action":"refuse","interrupts":3,"mandatoryInterrupts":0}"#,
        ];
        let loaded = Event::Loaded { source: path.clone(), because: "start".to_owned() };
        lines.iter().map(|line| serde_json::from_str(line).unwrap()).chain([loaded]).collect()
    };
    open("/evil", None).record(events(), Vec::new());
    assert_eq!(state("/evil"), (1, 1, 1, true));
    assert_eq!(state("/good"), (0, 0, 0, false));
    open("/good", None).record(events(), Vec::new());
    assert_eq!((state("/good"), state("/evil")), ((1, 1, 1, true), (1, 1, 1, true)));
    // What its sub-agents did counts neither.
    open("/evil", Some("explore")).record(events(), Vec::new());
    let calls = |root: &str| {
        let session = family(folder.path(), "claude", "s", None, &[root.to_owned()]).unwrap();
        serde_json::to_value(session).unwrap()["calls"].as_array().unwrap().len()
    };
    assert_eq!((calls("/good"), calls("/evil")), (1, 2));
    // A sub-agent that was not seen yet has what the main agent did.
    open("/good", None).record(events(), Vec::new());
    let of = |session: &str, agent| family(folder.path(), "claude", session, agent, &["/good".to_owned()]);
    assert!(of("s", Some("new")).is_some());
    assert!(of("unknown", Some("new")).is_none());
}

#[test]
fn what_the_proxy_delivered_counts_in_the_turn_that_it_relays() {
    let folder = tempfile::tempdir().unwrap();
    let roots = ["/repo".to_owned()];
    let proxy = Ledger::of(folder.path(), PROXY, "s-1", None);
    let found = || delivered_by_proxy(folder.path(), "claude", "s-1", None, &roots);
    record(&ledger(&folder), vec![Event::prompt("go")], &[]);
    assert_eq!(found(), None);
    let relayed = "<system-reminder>x</system-reminder>go";
    record(&proxy, vec![Event::prompt(relayed)], &[delivery("a", "1")]);
    assert!(found().is_some_and(|session| session.has(&delivery("a", "1"))));
    // The next message did not come through the proxy.
    record(&ledger(&folder), vec![Event::prompt("and now")], &[]);
    assert_eq!(found(), None);
}
