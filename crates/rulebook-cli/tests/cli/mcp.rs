//! `mcp`: the server over pipes, as clients start it and talk to it.

#![allow(clippy::needless_pass_by_value, reason = "a case writes its JSON where it is used")]

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};

use crate::sandbox::{PATIENCE, Sandbox, feed, stderr, stdout, texts, until};

/// A workspace with one rule of each kind.
fn sandbox() -> Sandbox {
    Sandbox::new(&[
        ("repo/.clinerules/web.md", "---\npaths: [\"apps/web/**\"]\n---\nUse React.\n"),
        ("repo/.cursorrules", "Be brief.\n"),
        ("repo/.cursor/rules/db.mdc", "---\ndescription: Database conventions\n---\nUse migrations.\n"),
    ])
}

/// The client's side of the pipes.
struct Client {
    child: Child,
    to: ChildStdin,
    from: Receiver<String>,
    next: u64,
}

impl Client {
    fn start(sandbox: &Sandbox) -> Client {
        Client::of(&mut sandbox.command(&["mcp"]))
    }

    fn of(command: &mut Command) -> Client {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (send, from) = channel();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| send.send(line)));
        Client { to: child.stdin.take().unwrap(), child, from, next: 0 }
    }

    /// Starts one, and completes the handshake.
    fn ready(sandbox: &Sandbox, version: &str) -> Client {
        let mut client = Client::start(sandbox);
        client.ask("initialize", initialize(version, json!({}), "test"));
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
        client
    }

    fn send(&mut self, line: &str) {
        writeln!(self.to, "{line}").unwrap();
    }

    fn receive(&self) -> Value {
        serde_json::from_str(&self.from.recv_timeout(PATIENCE).unwrap()).unwrap()
    }

    /// Sends a request, and returns its id. `params` may be null.
    fn request(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        let mut request = json!({ "jsonrpc": "2.0", "id": id, "method": method });
        if !params.is_null() {
            request["params"] = params;
        }
        self.send(&request.to_string());
        id
    }

    /// Sends a request, and returns its result or its error. Notifications are skipped.
    fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        let is_notification = |message: &Value| message.get("method").is_some();
        let mut messages = std::iter::repeat_with(|| self.receive());
        let mut answer = messages.find(|message| !is_notification(message)).unwrap();
        assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!(id)), "{answer}");
        if answer["error"].is_null() { answer["result"].take() } else { answer["error"].take() }
    }

    /// Sends a line that is not a message, and returns the error. The protocol's library answers such a line before it reads
    /// the next one, but drops the answer if another one is being written: the line is then sent again.
    fn refused(&mut self, line: &str) -> Value {
        const TRIES: usize = 1000;
        let attempt = |_| {
            self.send(line);
            let ping = self.request("ping", Value::Null);
            let answers = std::iter::repeat_with(|| self.receive()).take_while(|answer| answer["id"] != ping);
            answers.filter(|answer| answer.get("error").is_some()).last()
        };
        (0..TRIES).find_map(attempt).unwrap()["error"].take()
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// The names of the resources.
    fn rules(&mut self) -> Vec<String> {
        texts(&self.ask("resources/list", Value::Null)["resources"], "name")
    }

    /// Closes the connection, and returns the server's exit status.
    fn leave(mut self) -> Option<i32> {
        drop(self.to);
        self.child.wait().unwrap().code()
    }
}

fn initialize(version: &str, capabilities: Value, name: &str) -> Value {
    json!({ "protocolVersion": version, "capabilities": capabilities, "clientInfo": { "name": name, "version": "1.0" } })
}

/// The text of a tool's result.
fn text_of(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

/// The start of a client: what it announces, what it requests, and the metadata of its requests.
#[track_caller]
fn check_handshake(name: &str, version: &str, capabilities: Value, asks: &[&str], meta: Value) {
    let sandbox = sandbox();
    let mut client = Client::start(&sandbox);
    let hello = client.ask("initialize", initialize(version, capabilities, name));
    assert_eq!(hello["protocolVersion"], version, "{name}");
    assert_eq!(hello["serverInfo"]["name"], "rulebook");
    assert_eq!(
        hello["capabilities"],
        json!({
            "extensions": { "io.modelcontextprotocol/skills": {} },
            "resources": { "subscribe": true, "listChanged": true },
            "tools": {},
        })
    );
    assert!(hello["instructions"].as_str().unwrap().contains("rules_for"));
    client.send(r#"{"method":"notifications/initialized","jsonrpc":"2.0"}"#);
    for method in asks {
        let (key, count) = match *method {
            "tools/list" => ("tools", 3),
            "prompts/list" => ("prompts", 0),
            _ => ("resources", 3),
        };
        let answer = client.ask(method, meta.clone());
        assert_eq!(answer[key].as_array().map(Vec::len), Some(count), "{name} {method}: {answer}");
    }
    assert_eq!(client.leave(), Some(0));
}

#[test]
fn every_client_completes_the_handshake() {
    let none = || Value::Null;
    let token = || json!({ "_meta": { "progressToken": 0 } });
    let forms = || json!({ "elicitation": { "form": {}, "url": {} }, "experimental": { "auth-change": {} } });
    let all = ["tools/list", "prompts/list", "resources/list"];
    let tools = ["tools/list"];
    let roots = || json!({ "roots": {}, "elicitation": {} });
    check_handshake("claude-code", "2025-11-25", roots(), &all, none());
    check_handshake("codex-mcp-client", "2025-06-18", forms(), &tools, token());
    check_handshake("opencode", "2025-11-25", json!({ "roots": {} }), &tools, none());
    let sampling = json!({ "sampling": {}, "elicitation": { "form": {}, "url": {} } });
    check_handshake("copilot-cli", "2025-11-25", sampling, &tools, token());
    check_handshake(
        "gemini",
        "2025-06-18",
        json!({}),
        &["prompts/list", "tools/list", "resources/list"],
        none(),
    );
    check_handshake("qwen", "2025-11-25", json!({}), &["prompts/list", "tools/list", "tools/list"], none());
    check_handshake("continue", "2025-11-25", json!({}), &["prompts/list", "tools/list"], none());
    check_handshake("goose", "2025-03-26", json!({}), &tools, none());
    check_handshake("an old one", "2024-11-05", json!({}), &tools, none());
}

/// Parameters with the metadata of a client that makes no handshake.
fn stateless(client: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": client, "version": "1.0" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    params
}

#[test]
fn a_client_without_a_handshake_is_answered() {
    let sandbox = sandbox();
    let mut client = Client::start(&sandbox);
    let mut ask = |method: &str, params: Value| client.ask(method, stateless("copilot-cli", params));
    let found = ask("server/discover", json!({}));
    assert_eq!(found["supportedVersions"].as_array().unwrap().last().unwrap(), "2026-07-28", "{found}");
    assert_eq!(found["capabilities"]["extensions"], json!({ "io.modelcontextprotocol/skills": {} }));
    assert!(found["instructions"].as_str().unwrap().contains("rules_for"));
    let tools = ask("tools/list", json!({}));
    assert_eq!((&tools["resultType"], tools["tools"].as_array().unwrap().len()), (&json!("complete"), 3));
    assert_eq!((&tools["ttlMs"], &tools["cacheScope"]), (&json!(0), &json!("private")));
    // There is no session: a text is given every time.
    for _ in 0..2 {
        let call = json!({ "name": "rules_for", "arguments": { "paths": ["apps/web/a.tsx"] } });
        assert!(text_of(&ask("tools/call", call)).contains("Use React."));
    }
    assert_eq!(
        ask("resources/read", json!({ "uri": "rule://db" }))["contents"][0]["text"],
        "Use migrations."
    );
    assert_eq!(ask("resources/read", json!({ "uri": "rule://nope" }))["code"], -32602);
    assert_eq!(ask("ping", json!({}))["code"], -32601);
    let mut other = stateless("x", json!({}));
    other["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2099-01-01");
    assert_eq!(client.ask("tools/list", other)["code"], -32022);
    assert_eq!(client.leave(), Some(0));
}

#[test]
fn rules_on_request_are_skills() {
    let sandbox = sandbox();
    let text = "---\nname: pdf\ndescription: \"Fill \\\"forms\\\"\"\n---\nUse the script.\n";
    sandbox.write("repo/.claude/skills/pdf/SKILL.md", text);
    sandbox.write("repo/.cursor/rules/odd_Name@x.mdc", "---\ndescription: Odd\n---\nOdd.\n");
    let mut client = Client::start(&sandbox);
    let mut ask = |method: &str, params: Value| client.ask(method, stateless("x", params));
    let listed = ask("skills/list", json!({}));
    assert_eq!((&listed["resultType"], &listed["ttlMs"]), (&json!("complete"), &json!(0)));
    let skills = listed["skills"].as_array().unwrap();
    let uris =
        ["skill://db/SKILL.md", "skill://odd_name%40x/odd-name-x/SKILL.md", "skill://skill/pdf/SKILL.md"];
    assert_eq!(texts(&listed["skills"], "uri"), uris);
    assert_eq!(skills[2]["frontmatter"], json!({ "name": "pdf", "description": "Fill \"forms\"" }));
    for skill in skills {
        assert_eq!(ask("skills/get", json!({ "uri": skill["uri"] }))["skill"], *skill);
        let file = &skill["resources"][0];
        let read = ask("resources/read", json!({ "uri": file["uri"] }))["contents"][0]["text"].take();
        assert_eq!(file["size"], read.as_str().unwrap().len());
    }
    let read = ask("resources/read", json!({ "uri": uris[2] }))["contents"][0]["text"].take();
    let header = "---\nname: \"pdf\"\ndescription: \"Fill \\\"forms\\\"\"\n---\n\n";
    assert_eq!(read, format!("{header}Folder: .claude/skills/pdf\n\nUse the script.\n"));
    for method in ["skills/get", "resources/read"] {
        let error = ask(method, json!({ "uri": "skill://nope/SKILL.md" }));
        assert_eq!(error["code"], -32602);
        assert!(error["message"].as_str().unwrap().contains("`skills/list`"), "{error}");
    }
    // Older clients may use the extension too.
    let mut old = Client::ready(&sandbox, "2025-11-25");
    assert_eq!(old.ask("skills/list", Value::Null)["skills"], listed["skills"]);
}

#[test]
fn a_subscription_without_a_handshake_is_notified() {
    let sandbox = sandbox();
    let mut client = Client::start(&sandbox);
    let filter = json!({ "resourcesListChanged": true, "resourceSubscriptions": ["rule://db"] });
    client.request("subscriptions/listen", stateless("x", json!({ "notifications": filter })));
    assert_eq!(client.receive()["method"], "notifications/subscriptions/acknowledged");
    let mut text = 0;
    let mut seen = Vec::new();
    // The first look may come after the first change.
    until(
        || {
            text += 1;
            let rule = format!("---\ndescription: Database, version {text}\n---\nUse {text} migrations.\n");
            sandbox.write("repo/.cursor/rules/db.mdc", &rule);
            let line = client.from.recv_timeout(std::time::Duration::from_secs(3)).unwrap_or_default();
            seen.extend(serde_json::from_str::<Value>(&line).ok().map(|line| line["method"].clone()));
            seen.contains(&json!("notifications/resources/list_changed"))
                && seen.contains(&json!("notifications/resources/updated"))
        },
        || "both notifications".to_owned(),
    );
}

#[test]
fn an_unknown_protocol_version_is_answered_with_a_known_one() {
    for version in ["2026-07-28", "2099-01-01", "x"] {
        let sandbox = sandbox();
        let answer = Client::start(&sandbox).ask("initialize", initialize(version, json!({}), "test"));
        assert_eq!(answer["protocolVersion"], "2025-11-25", "{version}");
    }
}

#[test]
fn nothing_a_client_sends_ends_the_server() {
    let sandbox = sandbox();
    let mut client = Client::start(&sandbox);
    for line in ["{not json", "", "\u{feff}", "{\"a\":", &"[".repeat(100_000)] {
        client.send(line);
    }
    client.to.write_all(b"\xff\xfe{}\n").unwrap();
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/made-up","params":{}}"#);
    client.send(r#"{"jsonrpc":"2.0","id":9,"result":{}}"#);
    let method =
        |client: &mut Client, method: &str, params: Value| client.ask(method, params)["code"].clone();
    assert_eq!(method(&mut client, "no/such", json!({ "x": 1 })), -32601);
    assert_eq!(method(&mut client, "server/discover", Value::Null), -32602);
    assert_eq!(method(&mut client, "skills/get", json!({ "uri": 3 })), -32602);
    assert_eq!(client.ask("ping", Value::Null), json!({}));
    client.ask("initialize", initialize("2025-11-25", json!({}), "test"));
    for line in ["[1, 2]", "\"text\"", "3", "{}", r#"{"jsonrpc":"2.0","id":7}"#] {
        assert_eq!(client.refused(line)["code"], -32600, "{line}");
    }
    assert_eq!(method(&mut client, "no/such", Value::Null), -32601);
    assert_eq!(method(&mut client, "logging/setLevel", json!({ "level": "debug" })), -32601);
    assert_eq!(method(&mut client, "tools/call", json!({ "name": 3 })), -32602);
    assert_eq!(method(&mut client, "tools/call", json!({ "name": "rules_for", "arguments": [] })), -32602);
    assert_eq!(method(&mut client, "tools/call", json!({ "name": "nope" })), -32602);
    assert_eq!(method(&mut client, "resources/read", Value::Null), -32602);
    assert_eq!(client.ask("ping", Value::Null), json!({}));
    assert_eq!(client.leave(), Some(0));
}

#[test]
fn requests_sent_before_the_end_are_answered() {
    let sandbox = sandbox();
    let mut client = Client::start(&sandbox);
    for id in 0..20 {
        client.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list" }).to_string());
    }
    drop(client.to);
    let mut ids: Vec<Value> =
        client.from.iter().map(|line| serde_json::from_str::<Value>(&line).unwrap()["id"].clone()).collect();
    ids.sort_by_key(Value::as_u64);
    assert_eq!(ids, (0..20).map(Value::from).collect::<Vec<_>>());
    assert!(client.child.wait().unwrap().success());
}

#[test]
fn rules_for_gives_the_text_and_the_reasons() {
    let sandbox = sandbox();
    let mut client = Client::ready(&sandbox, "2025-11-25");
    let both = client.ask(
        "tools/call",
        json!({
            "name": "rules_for",
            "arguments": { "paths": ["apps/web/a.tsx", "/elsewhere/b.ts"], "message": "add a button" },
            "_meta": { "claudecode/toolUseId": "toolu_1", "progressToken": 4 },
        }),
    );
    let text = ".cursorrules\nBe brief.\n\n.clinerules/web.md\nUse React.\n\n\
        # Rules\nRead rule://<name> when working in a matching domain.\n- db: Database conventions\n\n\
        # Why\n\
        - cursorrules (.cursorrules): always on\n\
        - web (.clinerules/web.md): paths apps/web/** ← apps/web/a.tsx\n\
        - `/elsewhere/b.ts` is outside of every root and is ignored";
    assert_eq!(both, json!({ "content": [{ "type": "text", "text": text }], "isError": false }));

    // A message alone is evidence too, and arguments are optional.
    let named = client.call("rules_for", json!({ "message": "look at apps/web/a.tsx" }));
    assert!(text_of(&named).contains("apps/web/a.tsx (named in the message)"), "{named}");
    let always = client.ask("tools/call", json!({ "name": "rules_for" }));
    let why = "# Why\n- cursorrules (.cursorrules): always on; given before\n\
        - given before: call `read_rule` if you no longer have the text";
    assert!(text_of(&always).ends_with(why), "{always}");
}

#[test]
fn rules_for_gives_a_text_once_per_session() {
    let sandbox = sandbox();
    let given = |client: &mut Client, path: &str| {
        let answer = client.call("rules_for", json!({ "paths": [path] }));
        text_of(&answer).to_owned()
    };
    let mut client = Client::ready(&sandbox, "2025-11-25");
    assert!(given(&mut client, "README.md").starts_with(".cursorrules\nBe brief."));
    let second = given(&mut client, "apps/web/a.tsx");
    assert!(second.starts_with(".clinerules/web.md\nUse React."), "{second}");
    let why = "# Why\n\
        - cursorrules (.cursorrules): always on; given before\n\
        - web (.clinerules/web.md): paths apps/web/** ← apps/web/a.tsx\n\
        - given before: call `read_rule` if you no longer have the text";
    assert!(second.ends_with(why), "{second}");
    sandbox.write("repo/.clinerules/web.md", "---\npaths: [apps/web/**]\n---\nUse Vue.\n");
    let changed = given(&mut client, "apps/web/a.tsx");
    assert!(changed.starts_with(".clinerules/web.md\nUse Vue."), "{changed}");

    // A text that was given before does not count against the budget.
    let mut narrow = Client::of(&mut sandbox.command(&["mcp", "--set", "budget.tokens=45"]));
    narrow.ask("initialize", initialize("2025-11-25", json!({}), "test"));
    assert!(given(&mut narrow, "README.md").starts_with(".cursorrules\nBe brief."));
    assert!(given(&mut narrow, "apps/web/a.tsx").starts_with(".clinerules/web.md\n"));

    // A client without a handshake has no session.
    let mut stateless = Client::start(&sandbox);
    let first = given(&mut stateless, "README.md");
    assert_eq!(given(&mut stateless, "README.md"), first);
}

#[test]
fn rules_over_the_budget_are_reported() {
    let sandbox = sandbox();
    let mut client = Client::of(&mut sandbox.command(&["mcp", "--set", "budget.tokens=20"]));
    let paths: Vec<String> = (0..103).map(|at| format!("apps/web/{at:03}.tsx")).collect();
    let answer = client.call("rules_for", json!({ "paths": paths }));
    let want = "# Rules\nRead rule://<name> when working in a matching domain.\n\
        - cursorrules\n- db: Database conventions\n- web (apps/web/**)\n\n\
        # Why\n\
        - cursorrules (.cursorrules): always on\n\
        - web (.clinerules/web.md): paths apps/web/** ← apps/web/003.tsx and 99 more\n\
        - over the budget: call `read_rule` for rule://cursorrules\n\
        - over the budget: call `read_rule` for rule://web\n\
        - too many paths: 3 were not considered";
    assert_eq!(text_of(&answer), want);
}

#[test]
fn structured_content_is_what_the_commands_print_and_comes_on_request() {
    let sandbox = sandbox();
    let mut client = Client::ready(&sandbox, "2025-06-18");
    let mut check = |tool: &str, arguments: &Value, command: &[&str]| {
        assert_eq!(client.call(tool, arguments.clone()).get("structuredContent"), None);
        let mut arguments = arguments.clone();
        arguments["structured"] = json!(true);
        let structured = client.call(tool, arguments)["structuredContent"].take();
        assert_eq!(structured, sandbox.json(command));
    };
    let path = json!({ "paths": ["apps/web/a.tsx"] });
    check("rules_for", &path, &["prompt", "--path", "apps/web/a.tsx"]);
    check("explain", &path, &["explain", "apps/web/a.tsx"]);
    check("read_rule", &json!({ "name": "db" }), &["read", "db"]);
    // Earlier versions of the protocol have no structured content.
    let arguments = json!({ "name": "db", "structured": true });
    let older = Client::ready(&sandbox, "2025-03-26").call("read_rule", arguments);
    assert_eq!(
        older,
        json!({ "content": [{ "type": "text", "text": "Use migrations." }], "isError": false })
    );
}

#[test]
fn rules_are_read_by_name_and_as_resources() {
    let sandbox = sandbox();
    let mut client = Client::ready(&sandbox, "2025-11-25");
    let list = client.ask("resources/list", Value::Null);
    let db = json!({
        "uri": "rule://db", "name": "db", "title": ".cursor/rules/db.mdc", "description": "Database conventions",
        "mimeType": "text/markdown", "size": 15,
    });
    assert_eq!(list["resources"][1], db);
    assert_eq!(texts(&list["resources"], "name"), ["cursorrules", "db", "web"]);
    let templates = client.ask("resources/templates/list", Value::Null);
    assert_eq!(templates["resourceTemplates"][0]["uriTemplate"], "rule://{+name}");
    let contents = json!([{ "uri": "rule://db", "mimeType": "text/markdown", "text": "Use migrations." }]);
    assert_eq!(client.ask("resources/read", json!({ "uri": "rule://db" })), json!({ "contents": contents }));
    for name in ["db", "rule://db"] {
        assert_eq!(text_of(&client.call("read_rule", json!({ "name": name }))), "Use migrations.");
    }
}

#[test]
fn errors_say_what_to_do() {
    let sandbox = sandbox();
    let mut client = Client::ready(&sandbox, "2025-11-25");
    let mut check = |tool: &str, arguments: Value, want: &str| {
        let answer = client.call(tool, arguments);
        assert_eq!(answer["isError"], true, "{answer}");
        assert_eq!(text_of(&answer), want);
    };
    check(
        "read_rule",
        json!({ "name": "wbe" }),
        "no rule named `wbe`\nhelp: available, most similar first: web, db, cursorrules",
    );
    check(
        "rules_for",
        json!({ "path": "a" }),
        "invalid arguments: unknown field `path`, expected one of `paths`, `message`, `mode`, `structured`\nhelp: see the tool's `inputSchema`",
    );
    let outside = format!(
        "`/etc/hosts` is outside the root `{}`\nhelp: name a path inside the root, or add its folder with `--root`",
        sandbox.path("repo").display()
    );
    check("explain", json!({ "paths": ["/etc/hosts"] }), &outside);
    for uri in ["rule://wbe", "file:///etc/hosts"] {
        let error = client.ask("resources/read", json!({ "uri": uri }));
        assert_eq!((&error["code"], &error["data"]["uri"]), (&json!(-32002), &json!(uri)));
        assert!(error["message"].as_str().unwrap().contains("most similar first: "), "{error}");
    }
}

#[test]
fn explain_answers_like_the_command() {
    let sandbox = sandbox();
    let answer =
        Client::ready(&sandbox, "2025-11-25").call("explain", json!({ "paths": ["apps/web/a.tsx"] }));
    assert_eq!(text_of(&answer), stdout(&sandbox.run(&["explain", "apps/web/a.tsx"])));
}

#[test]
fn a_relative_path_is_in_the_root_where_it_exists() {
    let sandbox = sandbox();
    sandbox.write("tools/b.ts", "");
    let mut client = Client::of(&mut sandbox.command(&["mcp", "--root", ".", "--root", "../tools"]));
    for (path, root) in [("b.ts", "tools"), ("new.ts", "repo")] {
        let answer = client.call("explain", json!({ "paths": [path], "structured": true }));
        assert_eq!(answer["structuredContent"]["targets"][0]["root"], root, "{path}");
        let answer = client.call("rules_for", json!({ "paths": [path], "structured": true }));
        assert_eq!(answer["structuredContent"]["paths"][0]["root"], root, "{path}");
    }
}

#[test]
fn a_rule_that_the_agent_reads_by_itself_is_not_returned() {
    let sandbox = sandbox();
    fs::write(sandbox.path("repo/AGENTS.md"), "Run the tests.\n").unwrap();
    let check = |name: &str, has_text: bool| {
        let mut client = Client::start(&sandbox);
        client.ask("initialize", initialize("2025-06-18", json!({}), name));
        let answer = client.call("rules_for", json!({ "paths": ["apps/web/a.ts"] }));
        let text = answer["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("Use React.") && text.contains("- agents (AGENTS.md): "), "{text}");
        assert_eq!(text.contains("Run the tests."), has_text, "{text}");
        assert_eq!(text.contains("you read this file by yourself"), !has_text, "{text}");
    };
    check("goose", false);
    check("unknown", true);
}

#[test]
fn a_rule_that_a_hook_delivered_is_not_returned_again() {
    let sandbox = sandbox();
    assert!(sandbox.command(&["install", "claude"]).output().unwrap().status.success());
    let start = |session: &str, agent: Option<&str>| {
        let event = json!({ "hook_event_name": "SessionStart", "session_id": session, "agent_id": agent, "cwd": sandbox.path("repo") });
        let started = feed(&mut sandbox.command(&["hook", "claude"]), event.to_string().as_bytes());
        assert!(stdout(&started).contains("Be brief."), "{started:?}");
    };
    let connect = || {
        let mut client = Client::start(&sandbox);
        client.ask("initialize", initialize("2025-06-18", json!({}), "claude-code"));
        client
    };
    let text = |client: &mut Client| {
        text_of(&client.call("rules_for", json!({ "paths": ["apps/web/a.ts"] }))).to_owned()
    };
    let [mut first, mut second, mut third] = [connect(), connect(), connect()];
    start("s", None);
    let given = text(&mut first);
    assert!(given.contains("Use React.") && !given.contains("Be brief."), "{given}");
    assert!(given.contains("- cursorrules (.cursorrules): always on; given before"), "{given}");
    // A sub-agent has a context of its own, and of two sessions it is not known which one asks.
    start("s", Some("explore"));
    assert!(text(&mut second).contains("Be brief."));
    start("t", None);
    assert!(text(&mut third).contains("Be brief."));
    // This one was not running when the session was.
    assert!(text(&mut connect()).contains("Be brief."));
}

#[test]
fn the_instructions_do_not_ask_for_calls_where_hooks_deliver_the_rules() {
    let sandbox = sandbox();
    let instructions = |name: &str| {
        let mut client = Client::start(&sandbox);
        let answer = client.ask("initialize", initialize("2025-06-18", json!({}), name));
        answer["instructions"].as_str().unwrap_or_default().to_owned()
    };
    assert!(instructions("claude-code").contains("call `rules_for`"));
    assert!(sandbox.command(&["install", "claude"]).output().unwrap().status.success());
    assert!(instructions("claude-code").contains("without a call"));
    assert!(instructions("goose").contains("call `rules_for`"));
}

#[test]
fn a_hook_delivers_each_rule_once_in_a_session() {
    let sandbox = sandbox();
    let mut client = Client::ready(&sandbox, "2025-11-25");
    let mut hook = |event: &str, file: &str, session: &str| -> Value {
        let input = json!({ "file_path": sandbox.path("repo").join(file) }).to_string();
        let event = json!({ "event": event, "tool": "Read", "tool_input": input, "session": session, "agent": "${agent_id}" });
        let answer = client.call("hook", event);
        assert_eq!(answer.get("structuredContent"), None);
        serde_json::from_str(text_of(&answer)).unwrap()
    };
    let mut given = |event: &str, file: &str, session: &str| -> Vec<String> {
        let answer = hook(event, file, session);
        let context = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default();
        assert!(answer == json!({}) || answer["hookSpecificOutput"]["hookEventName"] == event, "{answer}");
        context
            .split("<rulebook-rule name=\"")
            .skip(1)
            .map(|rest| rest.split('"').next().unwrap().to_owned())
            .collect()
    };
    assert_eq!(given("PostToolUse", "README.md", "a"), ["cursorrules"]);
    assert_eq!(given("PostToolUse", "apps/web/a.tsx", "a"), ["web"]);
    assert!(given("PostToolUse", "apps/web/b.tsx", "a").is_empty());
    assert_eq!(given("PostToolUse", "apps/web/b.tsx", "b"), ["cursorrules", "web"]);
    sandbox.write("repo/.clinerules/web.md", "---\npaths: [\"apps/web/**\"]\n---\nUse Vue.\n");
    assert_eq!(given("PostToolUse", "apps/web/a.tsx", "a"), ["web"]);
    // A host drops context that is added before a tool runs.
    assert!(given("PreToolUse", "apps/web/a.tsx", "d").is_empty());
    // An answer to these would be an error, or start another turn.
    assert!(given("Stop", "apps/web/a.tsx", "c").is_empty());
    assert!(given("PreCompact", "apps/web/a.tsx", "a").is_empty());
    assert_eq!(given("PostToolUse", "README.md", "a"), ["cursorrules", "web"]);
}

#[test]
fn a_change_of_the_rules_is_announced() {
    let sandbox = sandbox();
    let mut client = Client::ready(&sandbox, "2025-11-25");
    let mut changed = |change: &dyn Fn(), names: &[&str]| {
        // The server compares with the list it last sent.
        client.rules();
        change();
        let notification = client.receive();
        assert_eq!(notification["method"], "notifications/resources/list_changed", "{notification}");
        assert_eq!(client.rules(), names);
    };
    changed(
        &|| sandbox.write("repo/apps/api/.clinerules/api.md", "Use Go.\n"),
        &["api", "cursorrules", "db", "web"],
    );
    changed(&|| fs::remove_file(sandbox.path("repo/.cursorrules")).unwrap(), &["api", "db", "web"]);
    changed(&|| assert!(sandbox.run(&["disable", "db"]).status.success()), &["api", "web"]);
}

#[test]
fn a_subscriber_is_notified_when_the_text_of_a_rule_changes() {
    let sandbox = sandbox();
    let mut client = Client::ready(&sandbox, "2025-11-25");
    let web = json!({ "uri": "rule://web" });
    assert_eq!(client.ask("resources/subscribe", json!({ "uri": "rule://nobody" }))["code"], -32002);
    assert_eq!(client.ask("resources/subscribe", web.clone()), json!({}));
    // As long as before, so that the list of resources does not change.
    sandbox.write("repo/.clinerules/web.md", "---\npaths: [\"apps/web/**\"]\n---\nUSE REACT.\n");
    let notification = client.receive();
    assert_eq!(notification["method"], "notifications/resources/updated", "{notification}");
    assert_eq!(notification["params"], web);
    assert_eq!(client.ask("resources/unsubscribe", web), json!({}));
}

#[test]
fn the_roots_of_the_client_are_the_workspace() {
    let sandbox = sandbox();
    sandbox.write("other place/.git/HEAD", "");
    sandbox.write("other place/.cursorrules", "Another.\n");
    let mut client = Client::start(&sandbox);
    client.ask("initialize", initialize("2025-11-25", json!({ "roots": { "listChanged": true } }), "test"));
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
    let request = client.receive();
    assert_eq!(request["method"], "roots/list", "{request}");
    let uri = format!("file://{}", sandbox.path("other%20place").display());
    let roots = json!({ "roots": [{ "uri": uri }] });
    client.send(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": roots }).to_string());
    // The server handles the answer beside other requests.
    until(|| client.rules() == ["cursorrules"], || "the rules of the other root".to_owned());
}

#[test]
fn a_call_right_after_the_handshake_is_about_the_roots_of_the_client() {
    let sandbox = sandbox();
    sandbox.write("other/.git/HEAD", "");
    sandbox.write("other/.cursorrules", "Another.\n");
    let file = sandbox.path("other/a.ts").display().to_string();
    let call = json!({ "name": "rules_for", "arguments": { "paths": [file] } });
    let answer = |result: Option<Value>| {
        let mut client = Client::start(&sandbox);
        client.ask("initialize", initialize("2025-11-25", json!({ "roots": {} }), "test"));
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
        client
            .send(&json!({ "jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": call }).to_string());
        loop {
            let message = client.receive();
            if message["method"] == "roots/list"
                && let Some(result) = &result
            {
                client.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }).to_string());
            } else if message["id"] == 77 {
                return message["result"]["content"][0]["text"].as_str().unwrap().to_owned();
            }
        }
    };
    let uri = format!("file://{}", sandbox.path("other").display());
    let text = answer(Some(json!({ "roots": [{ "uri": uri }] })));
    assert!(text.starts_with(".cursorrules\nAnother."), "{text}");
    // A client that does not answer gets the folder where the server was started.
    let text = answer(None);
    assert!(text.contains("outside of every root"), "{text}");
}

#[test]
fn descriptions_of_tools_do_not_depend_on_the_rules() {
    let lists: Vec<Value> = (0..2)
        .map(|at| {
            let sandbox = sandbox();
            sandbox.write(&format!("repo/.clinerules/{at}.md"), "More.\n");
            Client::ready(&sandbox, "2025-11-25").ask("tools/list", Value::Null)
        })
        .collect();
    assert_eq!(lists[0].to_string(), lists[1].to_string());
    assert_eq!(texts(&lists[0]["tools"], "name"), ["rules_for", "read_rule", "explain"]);
}

#[test]
fn a_missing_root_is_reported_at_once() {
    let output = sandbox().run(&["mcp", "--root", "nowhere"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("`nowhere`") && output.stdout.is_empty(), "{output:?}");
}
