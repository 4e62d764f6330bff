//! Remote rules against a server that is wrong in every way: the right rules or the old copy, one clear message, in time.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use crate::sandbox::Sandbox;
use crate::server::{self, Behaviour, Server, document, does, say};

impl Sandbox {
    /// One remote, with more keys behind its address.
    fn remote(&self, server: &Server, more: &str) -> &Sandbox {
        let ca = server.ca.as_ref().map_or_else(String::new, |pem| {
            fs::write(self.path("ca.pem"), pem).unwrap();
            format!("ca_file = {:?}\n", self.path("ca.pem"))
        });
        self.settings(&format!(
            "[[remote]]\nname = \"acme\"\nurl = \"{}/rules.json\"\n{ca}{more}\n",
            server.url
        ))
    }

    /// What one remote's fetch ended with: what changed, or why not.
    fn sync(&self) -> String {
        let started = Instant::now();
        let synced = &self.json(&["remote", "sync"])["synced"][0];
        assert!(started.elapsed() < Duration::from_secs(14), "past the cap: {:?}", started.elapsed());
        synced["change"].as_str().or(synced["error"].as_str()).unwrap().to_owned()
    }
}

fn fine(text: &'static str) -> Behaviour {
    does(move |_, wire| say(wire, "200 OK", &[], &document(&[("style", text)])))
}

/// A server that is fine once, then does something else: the copy stays, and this is told.
#[track_caller]
fn check_fault(then: impl Fn(&server::Request, &mut dyn server::Wire) + Send + Sync + 'static, want: &str) {
    let behaviour = does(move |request, wire| match request.count {
        0 => say(wire, "200 OK", &[("ETag", "\"1\"")], &document(&[("style", "Be brief.")])),
        _ => then(request, wire),
    });
    for server in [Server::clear(behaviour.clone()), Server::secure(behaviour)] {
        let person = Sandbox::with(&[]);
        person.remote(&server, "");
        assert_eq!(person.sync(), "fetched");
        let told = person.sync();
        assert!(told.starts_with(want), "{told}");
        assert_eq!(person.prompt(), "style\nBe brief.");
        assert_eq!(person.codes(), ["remote-failed"]);
        let output = person.run(&["remote", "sync"]);
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 1, "one clear message");
    }
}

#[test]
fn a_document_is_fetched_once_and_served_from_its_copy() {
    let server = Server::secure(does(|request, wire| {
        match request.headers.get("if-none-match").map(String::as_str) {
            Some("\"1\"") => say(wire, "304 Not Modified", &[], ""),
            None => say(wire, "200 OK", &[("ETag", "\"1\"")], &document(&[("Team Style", "Be brief.")])),
            other => panic!("{other:?}"),
        }
    }));
    let person = Sandbox::with(&[]);
    person.remote(&server, "");
    assert_eq!(person.codes(), ["remote-missing"]);
    assert_eq!(person.sync(), "fetched");
    assert_eq!(person.sync(), "unchanged");
    assert_eq!(person.prompt(), "Team Style\nBe brief.");
    assert_eq!(person.codes(), [""; 0]);
    // Nothing but `remote` asks the server.
    assert_eq!(server.asked.load(Ordering::SeqCst), 2);
    let listed = &person.json(&["remote", "list"])["remotes"][0];
    assert_eq!((listed["rules"].as_u64(), listed["error"].is_null()), (Some(1), true));
    let shown = person.json(&["explain"])["targets"][0]["stack"][0].clone();
    assert_eq!((shown["id"].as_str(), shown["name"].as_str()), (Some("team-style"), Some("Team Style")));
    assert_eq!((shown["scope"].as_str(), shown["priority"].as_u64()), (Some("remote"), Some(60)));
}

#[test]
fn a_server_that_fails_leaves_the_copy() {
    check_fault(|_, wire| say(wire, "500 Oops", &[], "no"), "answered 500");
    check_fault(|_, wire| say(wire, "401 No", &[], ""), "answered 401; `token_env` names");
    check_fault(|_, _| {}, "");
    check_fault(
        |_, wire| {
            let _ = wire.write_all(b"rubbish\r\n\r\n");
        },
        "did not answer as a server does",
    );
    check_fault(
        |_, wire| say(wire, "200 OK", &[("Content-Type", "application/json")], "<html>Sign in</html>"),
        "is not JSON",
    );
    check_fault(|_, wire| say(wire, "200 OK", &[], "{\"rules\": []}"), "has no list `remoteGlobalRules`");
    check_fault(|_, wire| say(wire, "200 OK", &[], ""), "is not JSON: EOF");
    check_fault(
        |_, wire| {
            let _ =
                wire.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{\"remoteGlobalRules\":[]}");
        },
        "",
    );
    check_fault(
        |_, wire| {
            let _ = wire.write_all(
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n18\r\n{\"remoteGlobalRules\":[]}\r\n",
            );
        },
        "",
    );
    check_fault(
        |_, wire| {
            let _ = wire.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n\xff\xfe\x00{");
        },
        "is not UTF-8 text",
    );
    check_fault(
        |_, wire| say(wire, "200 OK", &[("Content-Encoding", "gzip")], "\u{1f}"),
        "is packed with `gzip`, which nobody asked for",
    );
}

#[test]
fn a_redirect_stays_within_its_origin() {
    check_fault(
        |_, wire| say(wire, "302 Found", &[("Location", "https://other.example/rules.json")], ""),
        "redirects to another origin, `https://other.example`",
    );
    check_fault(
        |_, wire| say(wire, "301 Moved", &[("Location", "http://127.0.0.1:9/rules.json")], ""),
        "redirects to another origin, `http://127.0.0.1:9`",
    );
    check_fault(
        |_, wire| say(wire, "307 Moved", &[("Location", "file:///etc/passwd")], ""),
        "redirects to an address that may not be fetched",
    );
    check_fault(
        |_, wire| say(wire, "302 Found", &[("Location", "/rules.json")], ""),
        "redirects more than 5 times",
    );
    check_fault(|_, wire| say(wire, "302 Found", &[], ""), "redirects without saying where");
    let server = Server::secure(does(|request, wire| match request.path.as_str() {
        "/rules.json" => say(wire, "302 Found", &[("Location", "v2/rules.json")], ""),
        "/v2/rules.json" => say(wire, "200 OK", &[], &document(&[("style", "Second.")])),
        other => panic!("{other}"),
    }));
    let person = Sandbox::with(&[]);
    person.remote(&server, "");
    assert_eq!((person.sync(), person.prompt()), ("fetched".to_owned(), "style\nSecond.".to_owned()));
}

#[test]
fn an_endless_answer_ends() {
    let endless = |_: &server::Request, wire: &mut dyn server::Wire| {
        let _ = wire.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        let piece = [b' '; 1 << 16];
        for _ in 0..(64 << 20) / piece.len() {
            if wire.write_all(&piece).is_err() {
                return;
            }
        }
    };
    check_fault(endless, "has more than 4194304 bytes");
    check_fault(
        |_, wire| {
            let _ = wire.write_all(b"HTTP/1.1 200 OK\r\n");
            while wire.write_all(&[b"X-More: ".as_slice(), &[b'x'; 1 << 12], b"\r\n"].concat()).is_ok() {}
        },
        "did not answer as a server does",
    );
}

#[test]
fn a_slow_answer_is_not_waited_for() {
    let silent = does(|_, _| thread::sleep(Duration::from_secs(13)));
    let drop_by_drop = does(|_, wire| {
        let _ = wire.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n");
        for _ in 0..130 {
            if wire.write_all(b" ").and_then(|()| wire.flush()).is_err() {
                return;
            }
            thread::sleep(Duration::from_millis(100));
        }
    });
    let servers = [
        Server::clear(silent.clone()),
        Server::secure(silent),
        Server::clear(drop_by_drop.clone()),
        Server::secure(drop_by_drop),
    ];
    let waits = servers.map(|server| {
        thread::spawn(move || {
            let person = Sandbox::with(&[]);
            assert_eq!(person.remote(&server, "").sync(), "took longer than 10 s");
            assert_eq!(person.codes(), ["remote-missing"]);
        })
    });
    waits.into_iter().for_each(|wait| wait.join().unwrap());
}

#[test]
fn nothing_changed_since_nothing_is_no_document() {
    let server = Server::secure(does(|_, wire| say(wire, "304 Not Modified", &[], "")));
    let person = Sandbox::with(&[]);
    assert_eq!(person.remote(&server, "").sync(), "says that nothing changed since a copy that nobody has");
    assert_eq!((person.prompt(), person.codes()), (String::new(), vec!["remote-missing".to_owned()]));
}

#[test]
fn what_changes_is_shown_before_it_is_kept() {
    let server = Server::secure(does(|request, wire| {
        let text = if request.count == 0 { "Be brief.\nBe kind." } else { "Be brief.\nBe bold." };
        say(wire, "200 OK", &[], &document(&[("style", text)]));
    }));
    let person = Sandbox::with(&[]);
    person.remote(&server, "");
    assert_eq!(person.sync(), "fetched");
    let diff = String::from_utf8(person.run(&["remote", "diff"]).stdout).unwrap();
    assert_eq!(diff, "acme: 1 change\n  style is another\n  - Be kind.\n  + Be bold.\n\n");
    assert_eq!(person.prompt(), "style\nBe brief.\nBe kind.");
    assert_eq!(person.sync(), "changed");
    assert_eq!(person.prompt(), "style\nBe brief.\nBe bold.");
}

#[test]
fn a_hash_pins_the_document() {
    let server = Server::secure(does(|request, wire| {
        let text = if request.count == 0 { "First." } else { "Second." };
        say(wire, "200 OK", &[], &document(&[("style", text)]));
    }));
    let person = Sandbox::with(&[]);
    let first = sha256(&document(&[("style", "First.")]));
    person.remote(&server, &format!("sha256 = \"{first}\""));
    assert_eq!(person.sync(), "fetched");
    let told = person.sync();
    assert!(told.starts_with("has the SHA-256 ") && told.ends_with(&format!(", not {first}")), "{told}");
    assert_eq!(person.prompt(), "style\nFirst.");
    // A copy that is not what a new pin says is kept, and not used.
    person.remote(&server, &format!("sha256 = \"{}\"", "0".repeat(64)));
    assert_eq!(
        (person.prompt(), person.codes()),
        (String::new(), vec!["remote-failed".to_owned(), "remote-refused".to_owned()])
    );
}

fn sha256(text: &str) -> String {
    let mut child = Command::new("sha256sum")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(child.stdin.as_mut().unwrap(), text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    String::from_utf8(output.stdout).unwrap()[..64].to_owned()
}

#[test]
fn a_signature_says_whose_document_it_is() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../rulebook-workspace/src/remote/tests");
    let read = |name: &str| fs::read_to_string(tests.join(name)).unwrap();
    let key = read("minisign.pub").lines().last().unwrap().to_owned();
    let (text, signature) = (read("document.json"), read("document.json.minisig"));
    let server = Server::secure(does(move |request, wire| match (request.path.as_str(), request.count) {
        ("/rules.json", 0) => say(wire, "200 OK", &[], &text),
        ("/rules.json", _) => say(wire, "200 OK", &[], &document(&[("signed", "Forged.")])),
        ("/rules.json.minisig", ..4) => say(wire, "200 OK", &[], &signature),
        _ => say(wire, "404 Not Found", &[], ""),
    }));
    let person = Sandbox::with(&[]);
    person.remote(&server, &format!("minisign_key = \"{key}\""));
    assert_eq!(person.sync(), "fetched");
    assert_eq!(person.sync(), "has a signature that is not by `minisign_key`");
    assert!(person.sync().starts_with("has no signature: `https://127.0.0.1"));
    assert_eq!(person.prompt(), "signed\nSigned by the team.");
}

#[test]
fn a_token_goes_to_the_server_and_nowhere_else() {
    const TOKEN: &str = "t0ps3cret-token";
    let server = Server::secure(does(|request, wire| {
        match request.headers.get("authorization").map(String::as_str) {
            Some("Bearer t0ps3cret-token") if request.count < 2 => {
                say(wire, "200 OK", &[], &document(&[("style", "Mine.")]));
            }
            Some(_) => {
                say(
                    wire,
                    "302 Found",
                    &[("Location", "https://t0ps3cret-token.example/")],
                    "t0ps3cret-token",
                );
            }
            None => say(wire, "403 No", &[], ""),
        }
    }));
    let person = Sandbox::with(&[]);
    person.remote(&server, "token_env = \"ACME_TOKEN\"");
    let asked = person.run(&["remote", "sync"]);
    assert!(String::from_utf8_lossy(&asked.stdout).contains("the variable `ACME_TOKEN` is not set"));
    assert_eq!(server.asked.load(Ordering::SeqCst), 0, "nothing is asked without the token");
    for _ in 0..2 {
        let output = person.command(&["remote", "sync"]).env("ACME_TOKEN", TOKEN).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        assert!(!String::from_utf8_lossy(&output.stdout).contains(TOKEN));
    }
    let output = person.command(&["remote", "sync"]).env("ACME_TOKEN", "two\nlines").output().unwrap();
    assert!(
        String::from_utf8_lossy(&output.stdout).contains("holds no token")
            && !String::from_utf8_lossy(&output.stdout).contains("lines")
    );
    let kept = Command::new("grep").args(["-r", TOKEN]).arg(person.path("home")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&kept.stdout), "");
}

#[test]
fn a_stranger_is_not_believed() {
    // A certificate of an authority that nobody named, and one for another host.
    let unknown = Server { ca: None, ..Server::secure(fine("x")) };
    let other = Server::secure_for(&["other.example"], fine("x"));
    for server in [unknown, other] {
        let told = Sandbox::with(&[]).remote(&server, "").sync();
        assert!(told.starts_with("is not who it says it is: ") || told.contains("no certificates"), "{told}");
    }
}

#[test]
fn what_nobody_may_switch_off_stays_on() {
    let text = r#"{"remoteGlobalRules":[{"name":"must","contents":"---\npaths: ['src/**']\n---\nMust.","alwaysEnabled":true},{"name":"may","contents":"May."}]}"#;
    let server = Server::secure(does(move |_, wire| say(wire, "200 OK", &[], text)));
    let person = Sandbox::with(&[]);
    person.remote(&server, "");
    assert_eq!(person.sync(), "fetched");
    let stack = |person: &Sandbox| -> Vec<String> {
        let text = person.json(&["prompt", "--path", "src/a.rs"])["applied"].clone();
        text.as_array().unwrap().iter().map(|rule| rule["source"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(stack(&person), ["may", "must"]);
    let told = person.run(&["disable", "must"]);
    assert!(String::from_utf8_lossy(&told.stderr).contains("cannot be switched off"), "{told:?}");
    person.run(&["disable", "may"]);
    assert_eq!(stack(&person), ["must"]);
    fs::create_dir_all(person.path("home/.local/state/rulebook")).unwrap();
    let root = fs::canonicalize(person.path("repo")).unwrap();
    let toggles = serde_json::json!({ "version": 1, "off": { root.to_str().unwrap(): ["must"] } });
    fs::write(person.path("home/.local/state/rulebook/toggles.json"), toggles.to_string()).unwrap();
    for settings in [
        "rules.enabled = false",
        "rules.disabled_ids = [\"must\"]",
        "rules.formats = [\"!remote\"]",
        "budget.tokens = 0",
        "[[remote]]\nname = \"acme\"\nurl = \"/nowhere.json\"",
    ] {
        fs::write(person.path("repo/rulebook.toml"), settings).unwrap();
        assert!(stack(&person).contains(&"must".to_owned()), "{settings}");
    }
    fs::remove_file(person.path("repo/rulebook.toml")).unwrap();
    fs::create_dir_all(person.path("repo/.rulebook/rules")).unwrap();
    for rival in [
        "---\nid: must\npriority: 100\nalwaysApply: true\n---\nMust not.",
        "---\nid: must\npriority: 100\nenabled: false\n---\nx",
    ] {
        fs::write(person.path("repo/.rulebook/rules/rival.md"), rival).unwrap();
        assert!(stack(&person).contains(&"must".to_owned()), "{rival}");
    }
    // The same text, cut by a budget.
    fs::write(person.path("repo/.rulebook/rules/rival.md"), "Must.").unwrap();
    fs::write(person.path("repo/rulebook.toml"), "budget.tokens = 1").unwrap();
    assert!(stack(&person).contains(&"must".to_owned()));
    fs::remove_file(person.path("repo/rulebook.toml")).unwrap();
    let event = serde_json::json!({ "hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": person.path("repo"), "prompt": "fix src/a.rs" });
    fs::write(person.path("repo/.rulebook/rules/rival.md"), "x".repeat(20_000)).unwrap();
    fs::write(person.path("event.json"), event.to_string()).unwrap();
    let hook = person
        .command(&["hook", "claude"])
        .stdin(fs::File::open(person.path("event.json")).unwrap())
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&hook.stdout).contains("Must."), "{hook:?}");
}

#[test]
fn a_folder_and_a_file_are_remotes_too() {
    let person = Sandbox::with(&[]);
    person.write("checkout/README.txt", "not a rule");
    person.write("checkout/style.md", "---\nalwaysEnabled: true\n---\nBe brief.");
    person.write("checkout/web/react.md", "---\npaths: ['web/**']\n---\nHooks first.");
    person.write("rules.json", &document(&[("file", "From a file.")]));
    person.settings(&format!(
        "[[remote]]\nname = \"team\"\nurl = \"file://{}\"\n[[remote]]\nname = \"doc\"\nurl = \"{}\"\n",
        person.path("checkout").display(),
        person.path("rules.json").display()
    ));
    let synced = person.json(&["remote", "sync"])["synced"].clone();
    assert_eq!(
        (synced[0]["change"].as_str(), synced[1]["change"].as_str()),
        (Some("read in place"), Some("fetched"))
    );
    assert_eq!(person.prompt(), "file\nFrom a file.\n\nteam/style.md\nBe brief.");
    let told = person.run(&["disable", "style"]);
    assert!(String::from_utf8_lossy(&told.stderr).contains("cannot be switched off"));
    // A folder is read in place, a document through its copy.
    fs::write(person.path("checkout/style.md"), "Be kind.").unwrap();
    fs::write(person.path("rules.json"), "broken").unwrap();
    assert_eq!(person.prompt(), "file\nFrom a file.\n\nteam/style.md\nBe kind.");
    assert_eq!(
        person.json(&["remote", "sync", "doc"])["synced"][0]["error"].as_str().unwrap().split(':').next(),
        Some("is not JSON")
    );
    assert_eq!(person.prompt(), "file\nFrom a file.\n\nteam/style.md\nBe kind.");
}

#[test]
fn a_broken_copy_is_told_and_kept_aside() {
    let server = Server::secure(fine("Fine."));
    let person = Sandbox::with(&[]);
    person.remote(&server, "");
    let copy = person.path("home/.cache/rulebook/remote/acme.json");
    assert_eq!(person.sync(), "fetched");
    let whole = fs::read_to_string(&copy).unwrap();
    for broken in
        ["", "{", "[]", "{\"version\":1}", "{\"version\":\"x\"}", &whole[..whole.len() / 2], "\u{0}\u{0}"]
    {
        fs::write(&copy, broken).unwrap();
        assert_eq!(
            (person.prompt(), person.codes()),
            (String::new(), vec!["bad-state".to_owned(), "remote-missing".to_owned()]),
            "{broken}"
        );
        assert_eq!(person.sync(), "fetched");
        assert_eq!(person.prompt(), "style\nFine.");
    }
    assert_eq!(
        fs::read_to_string(person.path("home/.cache/rulebook/remote/acme.json.broken-2")).unwrap(),
        "{"
    );
    // What a newer Rulebook wrote is neither used nor lost.
    let newer = whole.replacen("\"version\": 1", "\"version\": 2", 1);
    fs::write(&copy, &newer).unwrap();
    assert_eq!(person.codes(), ["bad-state", "remote-missing"]);
    assert_eq!(person.run(&["remote", "sync"]).status.code(), Some(2));
    assert_eq!(fs::read_to_string(&copy).unwrap(), newer);
}

#[test]
fn a_server_that_runs_on_fetches_beside_its_work() {
    let server = Server::secure(fine("Fresh."));
    let person = Sandbox::with(&[]);
    person.remote(&server, "");
    let mut child = person
        .command(&["mcp"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let is_there = || !person.codes().contains(&"remote-missing".to_owned());
    let fetched = (0..200).any(|_| {
        thread::sleep(Duration::from_millis(50));
        is_there()
    });
    drop(child.stdin.take());
    child.wait().unwrap();
    assert!(fetched);
    assert_eq!(person.prompt(), "style\nFresh.");
    // The copy is fresh: the next one asks nobody.
    assert_eq!(server.asked.load(Ordering::SeqCst), 1);
}

#[test]
fn rules_that_nobody_may_switch_off_do_not_override_each_other() {
    let publish = |name: &str, text: &str| {
        serde_json::json!({ "remoteGlobalRules": [{ "name": name, "contents": text, "alwaysEnabled": true }] }).to_string()
    };
    let person = Sandbox::with(&[
        ("acme.json", &publish("Style", "Of Acme.")),
        ("corp.json", &publish("style", "Of Corp.")),
    ]);
    let remote = |name: &str| {
        format!(
            "[[remote]]\nname = \"{name}\"\nurl = \"{}\"\n",
            person.path(&format!("{name}.json")).display()
        )
    };
    person.settings(&(remote("acme") + &remote("corp")));
    person.run(&["remote", "sync"]);
    assert_eq!(person.prompt(), "Style\nOf Acme.\n\nstyle\nOf Corp.");
}

#[test]
fn a_workspace_has_no_say_in_how_such_a_rule_watches() {
    let rule = |name: &str, always: bool| serde_json::json!({ "name": name, "contents": format!("---\ncondition: {name}\n---\nNo."), "alwaysEnabled": always });
    let document = serde_json::json!({ "remoteGlobalRules": [rule("must", true), rule("may", false)] });
    let person = Sandbox::with(&[
        ("rules.json", &document.to_string()),
        ("repo/rulebook.toml", "stream.interrupt_mode = \"never\"\n"),
        ("repo/out.txt", "it must, it may\n"),
    ]);
    person.settings(&format!(
        "[[remote]]\nname = \"acme\"\nurl = \"{}\"\n",
        person.path("rules.json").display()
    ));
    person.run(&["remote", "sync"]);
    let hits = person.json(&["stream", "out.txt"])["hits"].clone();
    let hits: Vec<_> = hits
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| (hit["rule"].as_str(), hit["interrupts"].as_bool()))
        .collect();
    assert_eq!(hits, [(Some("must"), Some(true)), (Some("may"), Some(false))]);
}

#[test]
fn another_name_for_its_file_does_not_switch_a_rule_off() {
    let person = Sandbox::with(&[
        ("repo/org/o.md", "---\nalwaysEnabled: true\n---\nStays."),
        ("repo/rulebook.toml", "rules.disabled_ids = [\"o\"]\n"),
        ("repo/.rulebook/rules/a.md", "Mine."),
    ]);
    person
        .settings(&format!("[[remote]]\nname = \"org\"\nurl = \"{}\"\n", person.path("repo/org").display()));
    std::os::unix::fs::symlink("../../org/o.md", person.path("repo/.rulebook/rules/o.md")).unwrap();
    assert!(person.prompt().contains("Stays."), "{}", person.prompt());
}

#[test]
fn what_was_not_fetched_ends_with_1() {
    #[track_caller]
    fn check(settings: &str, code: i32, told: &str) {
        let person =
            Sandbox::with(&[("team/a.md", "---\nalwaysEnabled: true\n---\nA."), ("team/b.md", "B.")]);
        person.settings(&settings.replace("TEAM", &person.path("team").display().to_string()));
        let output = person.run(&["remote", "sync"]);
        let text =
            String::from_utf8_lossy(&output.stdout).replace(&person.path("").display().to_string(), "/");
        assert!(text.contains(told), "{text}");
        assert_eq!(output.status.code(), Some(code), "{text}");
    }
    check("", 0, "no remotes\n");
    check("[[remote]]\nname = \"a\"\nurl = \"http://rules.example/r.json\"\n", 1, "this remote is left out");
    check("[[remote]\n", 1, "bad-settings");
    check("[[remote]]\nname = \"team\"\nurl = \"TEAM\"\n", 0, "team read in place, 2 rules");
    check(
        "[[remote]]\nname = \"team\"\nurl = \"TEAM/none\"\n",
        1,
        "team names `/team/none`, which is not a folder",
    );
    let person = Sandbox::with(&[("team/a.md", "---\nalwaysEnabled: true\n---\nA.")]);
    person.settings(&format!("[[remote]]\nname = \"team\"\nurl = \"{}\"\n", person.path("team").display()));
    let listed = person.json(&["remote", "list"])["remotes"][0].clone();
    assert_eq!((listed["rules"].as_u64(), listed["alwaysEnabled"][0].as_str()), (Some(1), Some("team/a.md")));
    assert_eq!(person.run(&["remote", "diff"]).status.code(), Some(0));
}

#[test]
fn nothing_of_a_workspace_passes_for_the_organisations() {
    let document = serde_json::json!({ "remoteGlobalRules": [{ "name": "Safety.md", "contents": "Of the organisation." }] });
    let person = Sandbox::with(&[
        ("rules.json", &document.to_string()),
        ("acme/law.md", "Law."),
        ("repo/acme/law.md", "No law."),
        ("repo/Safety.md", "No safety."),
        ("repo/CLAUDE.md", "See @acme/law.md and @Safety.md"),
    ]);
    let remote = |name: &str, at: &str| {
        format!("[[remote]]\nname = \"{name}\"\nurl = \"{}\"\n", person.path(at).display())
    };
    person.settings(&(remote("acme", "acme") + &remote("doc", "rules.json")));
    person.run(&["remote", "sync"]);
    let prompt = person.prompt();
    let under = |header: &str| {
        let mut lines = prompt.lines();
        let found = lines.by_ref().filter(|line| *line == header).count();
        (found, prompt.contains(&format!("\n{header}\nNo ")))
    };
    assert_eq!((under("acme/law.md"), under("Safety.md")), ((1, false), (1, false)), "{prompt}");
}
