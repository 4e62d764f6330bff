//! Remote rules from servers that fail in every way: the right rules or the old copy, and one clear message.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::sandbox::{Sandbox, document, feed, remote, stderr, stdout, texts, until};
use crate::server::{self, Behaviour, Server, does, respond};

impl Sandbox {
    /// Sets up one remote, with more keys after its address.
    fn remote(&self, server: &Server, more: &str) -> &Sandbox {
        let ca = server.ca.as_ref().map_or_else(String::new, |pem| {
            self.write("ca.pem", pem);
            format!("ca_file = {:?}\n", self.path("ca.pem"))
        });
        self.settings(&format!("{}{ca}{more}\n", remote("acme", &format!("{}/rules.json", server.url))));
        self
    }

    /// The outcome of fetching the one remote: what changed, or the error.
    fn sync(&self) -> String {
        let synced = &self.json(&["remote", "sync"])["synced"][0];
        synced["change"].as_str().or(synced["error"].as_str()).unwrap().to_owned()
    }

    /// The rules that apply to a file, as shown.
    fn applied(&self, path: &str) -> Vec<String> {
        texts(&self.json(&["prompt", "--path", path])["applied"], "source")
    }
}

fn serves(text: &'static str) -> Behaviour {
    does(move |_, wire| respond(wire, "200 OK", &[], &document(&[("style", text)])))
}

/// A server answers once as it should, then fails: the copy stays in use, and the failure is reported in one line.
#[track_caller]
fn check_fault(then: impl Fn(&server::Request, &mut dyn server::Wire) + Send + Sync + 'static, want: &str) {
    let behaviour = does(move |request, wire| match request.count {
        0 => respond(wire, "200 OK", &[("ETag", "\"1\"")], &document(&[("style", "Be brief.")])),
        _ => then(request, wire),
    });
    for server in [Server::plain(behaviour.clone()), Server::secure(behaviour)] {
        let sandbox = Sandbox::new(&[]);
        sandbox.remote(&server, "");
        assert_eq!(sandbox.sync(), "fetched");
        let error = sandbox.sync();
        assert!(error.starts_with(want), "{error}");
        assert_eq!(sandbox.prompt(), "style\nBe brief.");
        assert_eq!(sandbox.codes(), ["remote-failed"]);
        let output = sandbox.run(&["remote", "sync"]);
        assert_eq!((output.status.code(), stdout(&output).lines().count()), (Some(1), 1), "{output:?}");
    }
}

#[test]
fn a_document_is_fetched_once_and_served_from_its_copy() {
    let server = Server::secure(does(|request, wire| {
        match request.headers.get("if-none-match").map(String::as_str) {
            Some("\"1\"") => respond(wire, "304 Not Modified", &[], ""),
            None => respond(wire, "200 OK", &[("ETag", "\"1\"")], &document(&[("Team Style", "Be brief.")])),
            other => panic!("{other:?}"),
        }
    }));
    let sandbox = Sandbox::new(&[]);
    sandbox.remote(&server, "");
    assert_eq!(sandbox.codes(), ["remote-missing"]);
    assert_eq!(sandbox.sync(), "fetched");
    assert_eq!(sandbox.sync(), "unchanged");
    assert_eq!(sandbox.prompt(), "Team Style\nBe brief.");
    assert_eq!(sandbox.codes(), [""; 0]);
    // No other command contacts the server.
    assert_eq!(server.requests(), 2);
    let listed = &sandbox.json(&["remote", "list"])["remotes"][0];
    assert_eq!((&listed["rules"], &listed["error"]), (&json!(1), &json!(null)));
    let shown = sandbox.json(&["explain"])["targets"][0]["stack"][0].clone();
    let fields = ["id", "name", "scope", "priority"].map(|key| shown[key].clone());
    assert_eq!(fields, [json!("team-style"), json!("Team Style"), json!("remote"), json!(60)]);
}

#[test]
fn a_server_that_fails_leaves_the_copy_in_use() {
    check_fault(|_, wire| respond(wire, "500 Oops", &[], "no"), "answered 500");
    check_fault(|_, wire| respond(wire, "401 No", &[], ""), "answered 401; set `token_env` to");
    check_fault(|_, wire| respond(wire, "200 OK", &[], "<html>Sign in</html>"), "is not JSON");
    check_fault(|_, wire| respond(wire, "200 OK", &[], "{\"rules\": []}"), "has no list `remoteGlobalRules`");
    check_fault(|_, wire| respond(wire, "200 OK", &[], ""), "is not JSON: EOF");
    check_fault(
        |_, wire| respond(wire, "200 OK", &[("Content-Encoding", "gzip")], "\u{1f}"),
        "is compressed with `gzip`, which was not requested",
    );
    check_bytes(b"", "");
    check_bytes(b"rubbish\r\n\r\n", "sent an invalid answer");
    check_bytes(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{\"remoteGlobalRules\":[]}", "");
    check_bytes(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n18\r\n{\"remoteGlobalRules\":[]}\r\n",
        "",
    );
    check_bytes(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n\xff\xfe\x00{", "is not UTF-8 text");
}

#[track_caller]
fn check_bytes(answer: &'static [u8], want: &str) {
    check_fault(|_, wire| server::write(wire, answer), want);
}

#[test]
fn a_redirect_stays_within_its_origin() {
    check_fault(
        |_, wire| respond(wire, "302 Found", &[("Location", "https://other.example/rules.json")], ""),
        "redirects to another origin, `https://other.example`",
    );
    check_fault(
        |_, wire| respond(wire, "301 Moved", &[("Location", "http://127.0.0.1:9/rules.json")], ""),
        "redirects to another origin, `http://127.0.0.1:9`",
    );
    check_fault(
        |_, wire| respond(wire, "307 Moved", &[("Location", "file:///etc/passwd")], ""),
        "redirects to an address that cannot be fetched",
    );
    check_fault(
        |_, wire| respond(wire, "302 Found", &[("Location", "/rules.json")], ""),
        "redirects more than 5 times",
    );
    check_fault(|_, wire| respond(wire, "302 Found", &[], ""), "redirects without a `Location`");
    let server = Server::secure(does(|request, wire| match request.path.as_str() {
        "/rules.json" => respond(wire, "302 Found", &[("Location", "v2/rules.json")], ""),
        "/v2/rules.json" => respond(wire, "200 OK", &[], &document(&[("style", "Second.")])),
        other => panic!("{other}"),
    }));
    let sandbox = Sandbox::new(&[]);
    sandbox.remote(&server, "");
    assert_eq!((sandbox.sync(), sandbox.prompt()), ("fetched".to_owned(), "style\nSecond.".to_owned()));
}

#[test]
fn an_endless_answer_is_cut_off() {
    check_fault(
        |_, wire| {
            server::write(wire, b"HTTP/1.1 200 OK\r\n\r\n");
            while wire.write_all(&[b' '; 1 << 16]).is_ok() {}
        },
        "has more than 4194304 bytes",
    );
    check_fault(
        |_, wire| {
            server::write(wire, b"HTTP/1.1 200 OK\r\n");
            while wire.write_all(&[b"X-More: ".as_slice(), &[b'x'; 1 << 12], b"\r\n"].concat()).is_ok() {}
        },
        "sent an invalid answer",
    );
}

#[test]
fn a_slow_answer_is_given_up() {
    // Both wait until the client has closed the connection.
    let silent = does(|_, wire| drop(wire.read(&mut [0])));
    let drop_by_drop = does(|_, wire| {
        server::write(wire, b"HTTP/1.1 200 OK\r\nContent-Length: 4000000\r\n\r\n");
        while wire.write_all(b" ").and_then(|()| wire.flush()).is_ok() {
            thread::sleep(Duration::from_millis(100));
        }
    });
    let servers = [
        Server::plain(silent.clone()),
        Server::secure(silent),
        Server::plain(drop_by_drop.clone()),
        Server::secure(drop_by_drop),
    ];
    let clients = servers.map(|server| {
        thread::spawn(move || {
            let sandbox = Sandbox::new(&[]);
            assert_eq!(sandbox.remote(&server, "").sync(), "took longer than 10 s");
            assert_eq!(sandbox.codes(), ["remote-missing"]);
        })
    });
    clients.into_iter().for_each(|client| client.join().unwrap());
}

#[test]
fn not_modified_without_a_copy_is_an_error() {
    let server = Server::secure(does(|_, wire| respond(wire, "304 Not Modified", &[], "")));
    let sandbox = Sandbox::new(&[]);
    assert_eq!(sandbox.remote(&server, "").sync(), "answered 304, although there is no copy");
    assert_eq!((sandbox.prompt(), sandbox.codes()), (String::new(), vec!["remote-missing".to_owned()]));
}

#[test]
fn a_change_is_shown_before_it_is_saved() {
    let server = Server::secure(does(|request, wire| {
        let text = if request.count == 0 { "Be brief.\nBe kind." } else { "Be brief.\nBe bold." };
        respond(wire, "200 OK", &[], &document(&[("style", text)]));
    }));
    let sandbox = Sandbox::new(&[]);
    sandbox.remote(&server, "");
    assert_eq!(sandbox.sync(), "fetched");
    assert_eq!(
        stdout(&sandbox.run(&["remote", "diff"])),
        "acme: 1 change\n  style changed\n  - Be kind.\n  + Be bold.\n\n"
    );
    assert_eq!(sandbox.prompt(), "style\nBe brief.\nBe kind.");
    assert_eq!(sandbox.sync(), "changed");
    assert_eq!(sandbox.prompt(), "style\nBe brief.\nBe bold.");
}

#[test]
fn a_hash_pins_the_document() {
    let server = Server::secure(does(|request, wire| {
        let text = if request.count == 0 { "First." } else { "Second." };
        respond(wire, "200 OK", &[], &document(&[("style", text)]));
    }));
    let sandbox = Sandbox::new(&[]);
    let first = sha256(&document(&[("style", "First.")]));
    sandbox.remote(&server, &format!("sha256 = \"{first}\""));
    assert_eq!(sandbox.sync(), "fetched");
    let error = sandbox.sync();
    assert!(
        error.starts_with("has the SHA-256 ") && error.ends_with(&format!(", expected {first}")),
        "{error}"
    );
    assert_eq!(sandbox.prompt(), "style\nFirst.");
    // A copy that a new pin does not match is kept, but not used.
    sandbox.remote(&server, &format!("sha256 = \"{}\"", "0".repeat(64)));
    assert_eq!((sandbox.prompt(), sandbox.codes()), (String::new(), vec!["remote-refused".to_owned()]));
}

fn sha256(text: &str) -> String {
    stdout(&feed(&mut Command::new("sha256sum"), text.as_bytes()))[..64].to_owned()
}

#[test]
fn a_document_must_carry_the_signature_of_its_key() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../rulebook-workspace/src/remote/tests");
    let read = |name: &str| fs::read_to_string(tests.join(name)).unwrap();
    let key = read("minisign.pub").lines().last().unwrap().to_owned();
    let (text, signature) = (read("document.json"), read("document.json.minisig"));
    let server = Server::secure(does(move |request, wire| match (request.path.as_str(), request.count) {
        ("/rules.json", 0) => respond(wire, "200 OK", &[], &text),
        ("/rules.json", _) => respond(wire, "200 OK", &[], &document(&[("signed", "Forged.")])),
        ("/rules.json.minisig", ..4) => respond(wire, "200 OK", &[], &signature),
        _ => respond(wire, "404 Not Found", &[], ""),
    }));
    let sandbox = Sandbox::new(&[]);
    sandbox.remote(&server, &format!("minisign_key = \"{key}\""));
    assert_eq!(sandbox.sync(), "fetched");
    assert_eq!(sandbox.sync(), "has a signature that does not match `minisign_key`");
    assert!(sandbox.sync().starts_with("has no signature: `https://127.0.0.1"));
    assert_eq!(sandbox.prompt(), "signed\nSigned by the team.");
}

#[test]
fn a_token_goes_to_the_server_and_nowhere_else() {
    const TOKEN: &str = "t0ps3cret-token";
    let server = Server::secure(does(|request, wire| {
        let token = request.headers.get("authorization").map(String::as_str);
        match token {
            Some("Bearer t0ps3cret-token") if request.count < 2 => {
                respond(wire, "200 OK", &[], &document(&[("style", "Mine.")]));
            }
            Some(_) => {
                let elsewhere = [("Location", "https://t0ps3cret-token.example/")];
                respond(wire, "302 Found", &elsewhere, "t0ps3cret-token");
            }
            None => respond(wire, "403 No", &[], ""),
        }
    }));
    let sandbox = Sandbox::new(&[]);
    sandbox.remote(&server, "token_env = \"ACME_TOKEN\"");
    let unset = stdout(&sandbox.run(&["remote", "sync"]));
    assert!(unset.contains("the variable `ACME_TOKEN` is not set"), "{unset}");
    assert_eq!(server.requests(), 0, "no request is sent without the token");
    let sync = |token: &str| sandbox.command(&["remote", "sync"]).env("ACME_TOKEN", token).output().unwrap();
    for _ in 0..2 {
        let output = sync(TOKEN);
        assert!(output.status.success() && !stdout(&output).contains(TOKEN), "{output:?}");
    }
    let invalid = stdout(&sync("two\nlines"));
    assert!(invalid.contains("is not a valid token") && !invalid.contains("lines"), "{invalid}");
    let saved = Command::new("grep").args(["-r", TOKEN]).arg(sandbox.path("home")).output().unwrap();
    assert_eq!(stdout(&saved), "");
}

#[test]
fn an_untrusted_certificate_is_refused() {
    let mut unknown_authority = Server::secure(serves("x"));
    unknown_authority.ca = None;
    let other_host = Server::secure_for(&["other.example"], serves("x"));
    for (server, why) in
        [(unknown_authority, "not from an authority that is trusted here"), (other_host, "for another name")]
    {
        let error = Sandbox::new(&[]).remote(&server, "").sync();
        let wanted = format!("could not prove its identity: its certificate is {why}");
        assert!(error.starts_with(&wanted) || error.contains("no certificates"), "{error}");
    }
}

#[test]
fn a_mandatory_rule_stays_on() {
    let text = r#"{"remoteGlobalRules":[{"name":"must","contents":"---\npaths: ['src/**']\n---\nMust.","alwaysEnabled":true},{"name":"may","contents":"May."}]}"#;
    let server = Server::secure(does(move |_, wire| respond(wire, "200 OK", &[], text)));
    let sandbox = Sandbox::new(&[]);
    sandbox.remote(&server, "");
    assert_eq!(sandbox.sync(), "fetched");
    assert_eq!(sandbox.applied("src/a.rs"), ["acme/may", "acme/must"]);
    let refused = stderr(&sandbox.run(&["disable", "must"]));
    assert!(refused.contains("is mandatory"), "{refused}");
    sandbox.run(&["disable", "may"]);
    assert_eq!(sandbox.applied("src/a.rs"), ["acme/must"]);
    let check = |why: &str| assert!(sandbox.applied("src/a.rs").contains(&"acme/must".to_owned()), "{why}");
    let toggles = json!({ "version": 1, "off": { sandbox.path("repo").to_str().unwrap(): ["must"] } });
    sandbox.write("home/.local/state/rulebook/toggles.json", &toggles.to_string());
    for settings in [
        "rules.enabled = false",
        "rules.disabled_ids = [\"must\"]",
        "rules.formats = [\"!remote\"]",
        "budget.tokens = 0",
        "[[remote]]\nname = \"acme\"\nurl = \"/nowhere.json\"",
        "",
    ] {
        sandbox.write("repo/rulebook.toml", settings);
        check(settings);
    }
    for rival in [
        "---\nid: must\npriority: 100\nalwaysApply: true\n---\nMust not.",
        "---\nid: must\npriority: 100\nenabled: false\n---\nx",
    ] {
        sandbox.write("repo/.rulebook/rules/rival.md", rival);
        check(rival);
    }
    sandbox.write("repo/.rulebook/rules/rival.md", "Must.");
    sandbox.write("repo/rulebook.toml", "budget.tokens = 1");
    check("the same text in a rule that a budget cuts");
    sandbox.write("repo/rulebook.toml", "");
    sandbox.write("repo/.rulebook/rules/rival.md", &"x".repeat(20_000));
    let hook = stdout(&sandbox.hook("claude", &sandbox.prompt_event("s", "fix src/a.rs")));
    assert!(hook.contains("Must."), "{hook}");
}

#[test]
fn a_folder_and_a_file_are_remotes_too() {
    let sandbox = Sandbox::new(&[]);
    sandbox.write("checkout/README.txt", "not a rule");
    sandbox.write("checkout/style.md", "---\nalwaysEnabled: true\n---\nBe brief.");
    sandbox.write("checkout/web/react.md", "---\npaths: ['web/**']\n---\nHooks first.");
    sandbox.write("rules.json", &document(&[("file", "From a file.")]));
    let url = |path: &str| sandbox.path(path).display().to_string();
    let team = remote("team", &format!("file://{}", url("checkout")));
    sandbox.settings(&(team + &remote("doc", &url("rules.json"))));
    let synced = sandbox.json(&["remote", "sync"])["synced"].clone();
    assert_eq!(texts(&synced, "change"), ["read in place", "fetched"]);
    assert_eq!(sandbox.prompt(), "file\nFrom a file.\n\nteam/style.md\nBe brief.");
    assert!(stderr(&sandbox.run(&["disable", "style"])).contains("is mandatory"));
    // A folder is read in place, a document through its copy.
    sandbox.write("checkout/style.md", "Be kind.");
    sandbox.write("rules.json", "broken");
    assert_eq!(sandbox.prompt(), "file\nFrom a file.\n\nteam/style.md\nBe kind.");
    let errors = texts(&sandbox.json(&["remote", "sync", "doc"])["synced"], "error");
    assert!(errors[0].starts_with("is not JSON:"), "{errors:?}");
    assert_eq!(sandbox.prompt(), "file\nFrom a file.\n\nteam/style.md\nBe kind.");
}

#[test]
fn a_broken_copy_is_reported_and_moved_aside() {
    let server = Server::secure(serves("Fine."));
    let sandbox = Sandbox::new(&[]);
    sandbox.remote(&server, "");
    let copy = "home/.cache/rulebook/remote/acme.json";
    let read = |path: &str| fs::read_to_string(sandbox.path(path)).unwrap();
    assert_eq!(sandbox.sync(), "fetched");
    let whole = read(copy);
    for broken in
        ["", "{", "[]", "{\"version\":1}", "{\"version\":\"x\"}", &whole[..whole.len() / 2], "\u{0}\u{0}"]
    {
        sandbox.write(copy, broken);
        assert_eq!(
            (sandbox.prompt(), sandbox.codes()),
            (String::new(), vec!["bad-state".to_owned(), "remote-missing".to_owned()]),
            "{broken}"
        );
        assert_eq!(sandbox.sync(), "fetched");
        assert_eq!(sandbox.prompt(), "style\nFine.");
    }
    assert_eq!(read(&format!("{copy}.broken-2")), "{");
    // A copy that a newer version wrote is neither used nor lost.
    let newer = whole.replacen("\"version\":1", "\"version\":2", 1);
    sandbox.write(copy, &newer);
    assert_eq!(sandbox.codes(), ["bad-state", "remote-missing"]);
    assert_eq!(sandbox.run(&["remote", "sync"]).status.code(), Some(2));
    assert_eq!(read(copy), newer);
}

#[test]
fn a_running_server_fetches_in_the_background() {
    let server = Server::secure(serves("Fresh."));
    let sandbox = Sandbox::new(&[]);
    sandbox.remote(&server, "");
    let mut mcp = sandbox.command(&["mcp"]).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    until(|| !sandbox.codes().contains(&"remote-missing".to_owned()), || "the copy".to_owned());
    drop(mcp.stdin.take());
    mcp.wait().unwrap();
    assert_eq!(sandbox.prompt(), "style\nFresh.");
    // The copy is fresh: it is not fetched again.
    assert_eq!(server.requests(), 1);
}

#[test]
fn mandatory_rules_do_not_override_each_other() {
    let publish = |name: &str, text: &str| {
        json!({ "remoteGlobalRules": [{ "name": name, "contents": text, "alwaysEnabled": true }] })
            .to_string()
    };
    let sandbox = Sandbox::new(&[
        ("acme.json", &publish("Style", "Of Acme.")),
        ("corp.json", &publish("style", "Of Corp.")),
    ]);
    sandbox.remotes(&[("acme", "acme.json"), ("corp", "corp.json")]);
    sandbox.run(&["remote", "sync"]);
    assert_eq!(sandbox.prompt(), "Style\nOf Acme.\n\nstyle\nOf Corp.");
}

#[test]
fn a_workspace_cannot_change_how_a_mandatory_rule_watches() {
    let rule = |name: &str, always: bool| json!({ "name": name, "contents": format!("---\ncondition: {name}\n---\nNo."), "alwaysEnabled": always });
    let document = json!({ "remoteGlobalRules": [rule("must", true), rule("may", false)] });
    let sandbox = Sandbox::new(&[
        ("rules.json", &document.to_string()),
        ("repo/rulebook.toml", "stream.interrupt_mode = \"never\"\n"),
        ("repo/out.txt", "it must, it may\n"),
    ]);
    sandbox.remotes(&[("acme", "rules.json")]);
    sandbox.run(&["remote", "sync"]);
    let hits = sandbox.json(&["stream", "out.txt"])["hits"].clone();
    assert_eq!(texts(&hits, "rule"), ["must", "may"]);
    assert_eq!([&hits[0]["interrupts"], &hits[1]["interrupts"]], [&json!(true), &json!(false)]);
}

#[test]
fn a_link_to_its_file_does_not_switch_a_mandatory_rule_off() {
    let sandbox = Sandbox::new(&[
        ("repo/org/o.md", "---\nalwaysEnabled: true\n---\nStays."),
        ("repo/rulebook.toml", "rules.disabled_ids = [\"o\"]\n"),
        ("repo/.rulebook/rules/a.md", "Mine."),
    ]);
    sandbox.remotes(&[("org", "repo/org")]);
    std::os::unix::fs::symlink("../../org/o.md", sandbox.path("repo/.rulebook/rules/o.md")).unwrap();
    assert!(sandbox.prompt().contains("Stays."), "{}", sandbox.prompt());
}

#[test]
fn a_remote_that_cannot_be_fetched_ends_with_status_1() {
    #[track_caller]
    fn check(settings: &str, status: i32, want: &str) {
        let sandbox =
            Sandbox::new(&[("team/a.md", "---\nalwaysEnabled: true\n---\nA."), ("team/b.md", "B.")]);
        let root = sandbox.path("").display().to_string();
        sandbox.settings(&settings.replace("ROOT/", &root));
        let output = sandbox.run(&["remote", "sync"]);
        let text = stdout(&output).replace(&root, "/");
        assert!(text.contains(want) && output.status.code() == Some(status), "{}: {text}", output.status);
    }
    check("", 0, "no remotes\n");
    check(&remote("a", "http://rules.example/r.json"), 1, "`a` is not fetched");
    check("[[remote]\n", 1, "bad-settings");
    check(&remote("team", "ROOT/team"), 0, "team: read in place, 2 rules");
    check(&remote("team", "ROOT/team/none"), 1, "team names `/team/none`, which is not a folder");
    let sandbox = Sandbox::new(&[("team/a.md", "---\nalwaysEnabled: true\n---\nA.")]);
    sandbox.remotes(&[("team", "team")]);
    let listed = sandbox.json(&["remote", "list"])["remotes"][0].clone();
    assert_eq!((&listed["rules"], &listed["alwaysEnabled"]), (&json!(1), &json!(["team/a.md"])));
    assert_eq!(sandbox.run(&["remote", "diff"]).status.code(), Some(0));
}

#[test]
fn a_file_of_the_workspace_cannot_pose_as_a_remote_rule() {
    let sandbox = Sandbox::new(&[
        ("rules.json", &document(&[("Safety.md", "Of the organisation.")])),
        ("acme/law.md", "Law."),
        ("repo/acme/law.md", "No law."),
        ("repo/Safety.md", "No safety."),
        ("repo/CLAUDE.md", "See @acme/law.md and @Safety.md"),
    ]);
    sandbox.remotes(&[("acme", "acme"), ("doc", "rules.json")]);
    sandbox.run(&["remote", "sync"]);
    let prompt = sandbox.prompt();
    for header in ["acme/law.md", "Safety.md"] {
        assert_eq!(prompt.lines().filter(|line| *line == header).count(), 1, "{prompt}");
        assert!(!prompt.contains(&format!("\n{header}\nNo ")), "{prompt}");
    }
}
