use std::fs;
use std::io::Write as _;
use std::thread;

use super::*;

fn delivery(rule: &str, hash: &str) -> Delivery {
    Delivery {
        rule: rule.to_owned(),
        source: format!(".rulebook/rules/{rule}.md"),
        hash: hash.to_owned(),
        because: "always on".to_owned(),
        offered: false,
        missed: None,
        passing: false,
        tokens: 1,
    }
}

fn ledger(folder: &tempfile::TempDir) -> Ledger {
    Ledger::of(folder.path(), "claude", "s-1", None)
}

/// Records as a process of its own would.
fn record(ledger: &Ledger, facts: Vec<Fact>, wanted: &[Delivery]) -> Vec<String> {
    let mut history = ledger.read().unwrap();
    let mine = ledger.record(&mut history, facts, wanted.to_vec()).unwrap();
    mine.into_iter().map(|delivery| delivery.rule).collect()
}

#[test]
fn a_rule_is_delivered_once_and_again_when_its_text_changed_or_the_context_was_compacted() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(&folder);
    assert_eq!(record(&ledger, vec![], &[delivery("a", "1"), delivery("b", "1")]), ["a", "b"]);
    assert!(record(&ledger, vec![], &[delivery("a", "1")]).is_empty());
    assert_eq!(record(&ledger, vec![], &[delivery("a", "2")]), ["a"]);
    record(&ledger, vec![Fact::Compacted], &[]);
    assert_eq!(record(&ledger, vec![], &[delivery("b", "1")]), ["b"]);
}

#[test]
fn a_resumed_session_has_lost_what_its_host_forgets() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(&folder);
    let wanted = [delivery("kept", "1"), Delivery { passing: true, ..delivery("lost", "1") }];
    assert_eq!(record(&ledger, vec![], &wanted), ["kept", "lost"]);
    record(&ledger, vec![Fact::Resumed], &[]);
    assert_eq!(record(&ledger, vec![], &wanted), ["lost"]);
}

#[test]
fn files_are_touched_by_calls_that_ran_since_the_compaction() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(&folder);
    let tool = |path: &str, pending| Fact::Tool {
        name: "Read".to_owned(),
        paths: vec![path.to_owned()],
        command: None,
        pending,
    };
    record(&ledger, vec![tool("a.ts", false), Fact::Compacted, tool("b.ts", true), tool("c.ts", false)], &[]);
    let history = ledger.read().unwrap();
    assert_eq!(history.touched(|_| true), ["c.ts"]);
    assert!(history.touched(|call| call.name != "Read").is_empty());
    assert!(!history.is_compacted());
    record(&ledger, vec![Fact::Compacted], &[delivery("a", "1")]);
    assert!(ledger.read().unwrap().is_compacted());
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
fn turns_messages_and_tools_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(&folder);
    let tool = |path: &str| Fact::Tool {
        name: "Read".to_owned(),
        paths: vec![path.to_owned()],
        command: None,
        pending: false,
    };
    record(&ledger, vec![Fact::spoke("one"), tool("a.ts")], &[]);
    record(&ledger, vec![Fact::spoke("two\nlines"), tool("b.ts")], &[]);
    let history = ledger.read().unwrap();
    assert_eq!((history.turn(), history.message()), (2, Some("two\nlines")));
    let calls: Vec<_> = history.tools().into_iter().map(|call| (call.turn, call.paths)).collect();
    assert_eq!(calls, [(Some(1), vec!["a.ts".to_owned()]), (Some(2), vec!["b.ts".to_owned()])]);
}

#[test]
fn a_kill_at_any_byte_loses_at_most_the_line_being_written() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(&folder);
    record(&ledger, vec![Fact::spoke("kept")], &[]);
    let whole = fs::read(ledger.file()).unwrap();
    let torn = serde_json::to_vec(&Fact::spoke("torn é")).unwrap();
    for cut in 0..=torn.len() {
        fs::write(ledger.file(), &whole).unwrap();
        OpenOptions::new().append(true).open(ledger.file()).unwrap().write_all(&torn[..cut]).unwrap();
        assert_eq!(record(&ledger, vec![Fact::spoke("next")], &[delivery("a", "1")]), ["a"], "{cut}");
        let history = ledger.read().unwrap();
        let said: Vec<&Fact> =
            history.facts().iter().filter(|fact| matches!(fact, Fact::Spoke { .. })).collect();
        // The torn line may be whole but for its end; then it counts.
        let wanted = if cut == torn.len() { 3 } else { 2 };
        assert_eq!(
            (said.len(), history.unreadable()),
            (wanted, usize::from(cut > 0 && cut < torn.len())),
            "{cut}"
        );
        assert!(record(&ledger, vec![], &[delivery("a", "1")]).is_empty(), "{cut}");
    }
}

#[test]
fn many_writers_lose_nothing_and_deliver_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(&folder);
    let rules: Vec<Delivery> = (0..20).map(|at| delivery(&format!("r{at}"), "1")).collect();
    let threads: Vec<_> = (0..24)
        .map(|writer| {
            let (ledger, rules) = (ledger.clone(), rules.clone());
            thread::spawn(move || {
                let once = |at| record(&ledger, vec![Fact::spoke(&format!("{writer} {at}"))], &rules);
                (0..8).flat_map(once).collect::<Vec<String>>()
            })
        })
        .collect();
    let mut delivered: Vec<String> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
    delivered.sort();
    let mut wanted: Vec<String> = rules.into_iter().map(|delivery| delivery.rule).collect();
    wanted.sort();
    assert_eq!(delivered, wanted);
    let history = ledger.read().unwrap();
    assert_eq!((history.turn(), history.unreadable()), (24 * 8, 0));
}

#[test]
fn garbage_is_counted_and_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(&folder);
    record(&ledger, vec![Fact::spoke("a")], &[]);
    let mut file = OpenOptions::new().append(true).open(ledger.file()).unwrap();
    file.write_all(b"{}\n\xff\xfe\n{\"is\":\"new-kind\"}\n").unwrap();
    record(&ledger, vec![Fact::spoke("b")], &[]);
    let history = ledger.read().unwrap();
    assert_eq!((history.turn(), history.unreadable()), (2, 3));
}

#[test]
fn old_sessions_are_swept() {
    let folder = tempfile::tempdir().unwrap();
    for session in ["a", "b"] {
        record(&Ledger::of(folder.path(), "codex", session, None), vec![Fact::Compacted], &[]);
    }
    let now = std::time::SystemTime::now();
    sweep(folder.path(), now);
    assert_eq!(sessions(folder.path()).len(), 2);
    sweep(folder.path(), now + Duration::from_secs(40 * 24 * 60 * 60));
    assert!(sessions(folder.path()).is_empty());
}

#[test]
fn a_ledger_is_followed_and_says_when_each_fact_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(&folder);
    let mut followed = ledger.read().unwrap();
    assert!(followed.is_empty());
    record(&ledger, vec![Fact::spoke("say ,\"at\":7}")], &[delivery("a", "1")]);
    ledger.follow(&mut followed).unwrap();
    assert_eq!(followed.facts(), ledger.read().unwrap().facts());
    assert!(followed.times().iter().all(|at| *at > 1_700_000_000), "{:?}", followed.times());
    let mut file = fs::OpenOptions::new().append(true).open(ledger.file()).unwrap();
    writeln!(file, "{}", serde_json::to_string(&Fact::Compacted).unwrap()).unwrap();
    ledger.follow(&mut followed).unwrap();
    assert_eq!((followed.facts().len(), followed.times().last()), (3, Some(&0)));
}

#[test]
fn of_too_many_sessions_the_oldest_are_swept() {
    let folder = tempfile::tempdir().unwrap();
    let now = std::time::SystemTime::now();
    for at in 0..503_u64 {
        let ledger = Ledger::of(folder.path(), "codex", &format!("s{at}"), None);
        record(&ledger, vec![Fact::Compacted], &[]);
        let file = File::options().append(true).open(ledger.file()).unwrap();
        file.set_modified(now - Duration::from_secs(1000 - at)).unwrap();
    }
    sweep(folder.path(), now);
    assert_eq!(sessions(folder.path()).len(), 500);
    for (at, is_there) in [(0, false), (2, false), (3, true), (502, true)] {
        let ledger = Ledger::of(folder.path(), "codex", &format!("s{at}"), None);
        assert_eq!(ledger.file().exists(), is_there, "s{at}");
        assert_eq!(ledger.file().parent().unwrap().exists(), is_there, "s{at}");
    }
}

#[test]
fn a_fact_is_read_the_same_wherever_its_kind_stands() {
    let known = Delivery { offered: true, missed: Some("why".to_owned()), ..delivery("a", "1") };
    let call = |command: Option<&str>, pending| Fact::Tool {
        name: "Bash".to_owned(),
        paths: vec!["src/a.ts".to_owned(), "é \"b\"".to_owned()],
        command: command.map(str::to_owned),
        pending,
    };
    for fact in [Fact::Delivered(known), call(Some("ls"), true), call(None, false)] {
        let line = history::line(7, &fact).unwrap();
        let parts: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&line).unwrap();
        let turned: serde_json::Map<_, _> = parts.into_iter().rev().collect();
        for line in [line, serde_json::to_string(&turned).unwrap() + "\n"] {
            let mut history = History::default();
            history.read_on(0, line.as_bytes());
            assert_eq!(history.facts(), std::slice::from_ref(&fact), "{line}");
        }
    }
}

#[test]
fn who_delivers_recalls_what_is_in_the_context_without_the_deliveries() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(&folder);
    let passing = Delivery { passing: true, ..delivery("c \"é\"", "3") };
    let steps = [
        (vec![Fact::spoke("one")], vec![delivery("a", "1"), passing.clone()]),
        (vec![Fact::Resumed], vec![delivery("b", "2")]),
        (vec![Fact::Compacted], vec![]),
        (vec![Fact::spoke("two")], vec![delivery("b", "2"), passing.clone()]),
    ];
    let all =
        [delivery("a", "1"), delivery("a", "4"), delivery("b", "2"), delivery("b", "no number"), passing];
    let mut followed = ledger.recall().unwrap();
    for (facts, deliveries) in steps {
        record(&ledger, facts, &deliveries);
        let (read, recalled) = (ledger.read().unwrap(), ledger.recall().unwrap());
        ledger.follow(&mut followed).unwrap();
        for delivery in &all {
            let has = read.has(delivery);
            assert_eq!((recalled.has(delivery), followed.has(delivery)), (has, has), "{delivery:?}");
        }
        assert_eq!(recalled.turn(), read.turn());
        assert!(!recalled.facts().iter().any(|fact| matches!(fact, Fact::Delivered(_))));
    }
}
