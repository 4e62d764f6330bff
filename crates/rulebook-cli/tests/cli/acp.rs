//! `acp`: between an editor and a scripted agent, over pipes.

#![allow(clippy::needless_pass_by_value, reason = "a case writes its JSON where it is used")]

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};

use crate::sandbox::{PATIENCE, Sandbox, stderr, stdout, until};

/// Writes down every line that it reads, and answers the first with the file `1`, the second with `2`, and so on.
const AGENT: &str = r#"at=0
while IFS= read -r line; do
    at=$((at+1)); printf '%s\n' "$line" >> ../heard
    if [ -f "../$at" ]; then cat "../$at"; fi
    if [ -f "../$at.exit" ]; then exit 7; fi
done
"#;

/// A workspace with a rule of each kind.
fn sandbox() -> Sandbox {
    Sandbox::new(&[
        ("repo/.rulebook/rules/style.md", "Be brief.\n"),
        ("repo/.clinerules/web.md", "---\npaths: [\"apps/web/**\"]\n---\nUse React.\n"),
        ("repo/.rulebook/rules/no-any.md", "---\ncondition: ': any\\b'\n---\nName the type.\n"),
        (
            "repo/.rulebook/rules/no-force.md",
            "---\ncondition: --force\nscope: tool:bash\n---\nNever force.\n",
        ),
        ("repo/agent.sh", AGENT),
    ])
}

/// The editor's side of the pipes.
struct Editor<'s> {
    sandbox: &'s Sandbox,
    child: Child,
    to: ChildStdin,
    from: Receiver<String>,
    /// How many lines the agent has read.
    heard: usize,
}

impl Editor<'_> {
    /// Opens a session `s` with an agent that answers as scripted, after its answer to the first line.
    fn open<'s>(sandbox: &'s Sandbox, script: &[(usize, &[Value])]) -> Editor<'s> {
        for (at, lines) in script {
            let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
            sandbox.write(&at.to_string(), &text);
        }
        sandbox.write(
            "1",
            &format!("{}\n", json!({ "jsonrpc": "2.0", "id": 0, "result": { "sessionId": "s" } })),
        );
        let mut command = sandbox.command(&["acp", "--", "sh", "agent.sh"]);
        command.env("PATH", "/usr/bin:/bin").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (send, from) = channel();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| send.send(line)));
        let mut editor = Editor { sandbox, to: child.stdin.take().unwrap(), child, from, heard: 0 };
        let params = json!({ "cwd": sandbox.path("repo"), "mcpServers": [] });
        editor.send(json!({ "jsonrpc": "2.0", "id": 0, "method": "session/new", "params": params }));
        assert_eq!(editor.receive()["result"]["sessionId"], "s");
        assert_eq!(editor.hear()["method"], "session/new");
        editor
    }

    fn send(&mut self, message: Value) {
        writeln!(self.to, "{message}").unwrap();
    }

    fn prompt(&mut self, id: u64, text: &str) {
        let prompt = [json!({ "type": "text", "text": text })];
        let params = json!({ "sessionId": "s", "prompt": prompt });
        self.send(json!({ "jsonrpc": "2.0", "id": id, "method": "session/prompt", "params": params }));
    }

    fn line(&self) -> String {
        self.from.recv_timeout(PATIENCE).unwrap()
    }

    fn receive(&self) -> Value {
        serde_json::from_str(&self.line()).unwrap()
    }

    /// The text of the next chunk that the editor gets.
    fn chunk(&self) -> String {
        let message = self.receive();
        let update = &message["params"]["update"];
        let text = update["content"]["text"].as_str().unwrap_or_else(|| panic!("{message}"));
        format!("{}: {text}", update["sessionUpdate"].as_str().unwrap())
    }

    /// The next line that the agent has read.
    fn hear(&mut self) -> Value {
        let read = || fs::read_to_string(self.sandbox.path("heard")).unwrap_or_default();
        let at = self.heard;
        crate::sandbox::until(|| read().matches('\n').count() > at, || format!("line {at} of {}", read()));
        self.heard += 1;
        serde_json::from_str(read().lines().nth(at).unwrap()).unwrap()
    }

    fn leave(mut self) -> Option<i32> {
        drop(self.to);
        self.child.wait().unwrap().code()
    }
}

fn update(update: Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": "session/update", "params": { "sessionId": "s", "update": update } })
}

fn says(text: &str) -> Value {
    update(json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } }))
}

fn request(id: u64, method: &str, mut params: Value) -> Value {
    params["sessionId"] = json!("s");
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

fn ends(id: impl Into<Value>, reason: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "result": { "stopReason": reason } })
}

/// The texts of a prompt.
fn blocks(prompt: &Value) -> Vec<&str> {
    prompt["params"]["prompt"]
        .as_array()
        .unwrap()
        .iter()
        .map(|block| block["text"].as_str().unwrap())
        .collect()
}

#[test]
fn a_prompt_gets_the_rules_that_apply_and_each_once() {
    let sandbox = sandbox();
    let plan = update(json!({ "sessionUpdate": "plan", "entries": [] }));
    let first = [plan, says("Hi"), says(" there."), ends(1, "end_turn")];
    let mut editor = Editor::open(&sandbox, &[(2, &first), (3, &[ends(2, "end_turn")])]);
    editor.prompt(1, "Fix apps/web/a.tsx");
    let prompt = editor.hear();
    let texts = blocks(&prompt);
    assert_eq!((prompt["id"].as_u64(), texts[0], texts.len()), (Some(1), "Fix apps/web/a.tsx", 2));
    assert!(texts[1].contains("Be brief.") && texts[1].contains("Use React."), "{prompt}");
    let notice = "📋 Conditional rules applied: web\n- web: paths apps/web/**\n";
    assert_eq!(editor.chunk(), format!("agent_thought_chunk: {notice}"));
    // Everything else has its own bytes.
    for line in &first[..3] {
        assert_eq!(editor.line(), line.to_string());
    }
    assert_eq!(editor.receive(), first[3]);
    editor.prompt(2, "And apps/web/b.tsx");
    assert_eq!(blocks(&editor.hear()), ["And apps/web/b.tsx"]);
    assert_eq!(editor.receive(), ends(2, "end_turn"));
    assert_eq!(editor.leave(), Some(0));
    let shown = stdout(&sandbox.run(&["explain", "--session", "s"]));
    assert!(shown.starts_with("session s of acp: 2 turns, 2 rules delivered"), "{shown}");
}

#[test]
fn a_file_that_a_tool_reads_counts_for_the_next_prompt() {
    let sandbox = sandbox();
    let file = sandbox.path("repo/apps/web/a.tsx");
    let call = json!({ "sessionUpdate": "tool_call", "toolCallId": "c", "title": "Read", "kind": "read", "locations": [{ "path": file }] });
    let mut editor =
        Editor::open(&sandbox, &[(2, &[update(call), ends(1, "end_turn")]), (3, &[ends(2, "end_turn")])]);
    editor.prompt(1, "Look around");
    assert!(!editor.hear().to_string().contains("Use React."));
    editor.receive();
    editor.receive();
    editor.prompt(2, "Go on");
    assert!(editor.hear().to_string().contains("Use React."));
    editor.receive();
    assert_eq!(editor.leave(), Some(0));
    let shown = stdout(&sandbox.run(&["explain", "--session", "s"]));
    let at = |text: &str| shown.find(text).unwrap_or_else(|| panic!("{text}: {shown}"));
    assert!(at("apps/web/a.tsx") < at("turn 2"), "{shown}");
}

#[test]
fn text_that_violates_a_rule_is_stopped_and_asked_for_again() {
    let sandbox = sandbox();
    let bad = [says("let x"), says(": a"), says("ny = 1"), says("; more")];
    let good = [says("let x: T"), ends("rulebook-0", "end_turn")];
    let mut editor =
        Editor::open(&sandbox, &[(2, &bad), (3, &[says("late"), ends(1, "cancelled")]), (4, &good)]);
    editor.prompt(1, "Write it");
    editor.hear();
    assert_eq!(editor.chunk(), "agent_message_chunk: let x");
    let stopped = "the output violates no-any: the agent is stopped and asked again\n";
    assert_eq!(editor.chunk(), format!("agent_thought_chunk: {stopped}"));
    let cancel = editor.hear();
    assert_eq!(
        (&cancel["method"], &cancel["params"]),
        (&json!("session/cancel"), &json!({ "sessionId": "s" }))
    );
    let again = editor.hear();
    assert_eq!((&again["id"], &again["method"]), (&json!("rulebook-0"), &json!("session/prompt")));
    assert!(
        blocks(&again)[0].starts_with("<system-interrupt") && blocks(&again)[0].contains("Name the type.")
    );
    assert_eq!(editor.chunk(), "agent_message_chunk: let x: T");
    assert_eq!(editor.receive(), ends(1, "end_turn"));
    assert_eq!(editor.leave(), Some(0));
    let shown = stdout(&sandbox.run(&["explain", "--session", "s"]));
    assert!(shown.starts_with("session s of acp: 1 turn, 2 rules delivered"), "{shown}");
    assert!(shown.contains("delivered no-any"), "{shown}");
}

#[test]
fn what_is_let_through_because_the_model_has_the_rule_is_recorded() {
    let sandbox = sandbox();
    let script: [(usize, &[Value]); 4] = [
        (2, &[says("x: any.")]),
        (3, &[ends(1, "cancelled")]),
        (4, &[says("x: T"), ends("rulebook-0", "end_turn")]),
        (5, &[says("y: any."), says("z: any."), ends(2, "end_turn")]),
    ];
    let mut editor = Editor::open(&sandbox, &script);
    editor.prompt(1, "Write it");
    while editor.receive() != ends(1, "end_turn") {}
    editor.prompt(2, "More");
    while editor.receive() != ends(2, "end_turn") {}
    assert_eq!(editor.leave(), Some(0));
    let shown = stdout(&sandbox.run(&["explain", "--session", "s"]));
    assert_eq!(shown.matches("the rule is in the context already").count(), 1, "{shown}");
}

#[test]
fn a_mode_counts_once_the_agent_accepts_it() {
    let sandbox = sandbox();
    sandbox.write("repo/.rulebook/rules/plan.md", "---\nmode: plan\n---\nOnly plan.\n");
    let rejected =
        json!({ "jsonrpc": "2.0", "id": 7, "error": { "code": -32602, "message": "no such mode" } });
    let accepted = json!({ "jsonrpc": "2.0", "id": 8, "result": {} });
    let script: [(usize, &[Value]); 4] = [
        (2, std::slice::from_ref(&rejected)),
        (3, &[ends(1, "end_turn")]),
        (4, std::slice::from_ref(&accepted)),
        (5, &[ends(2, "end_turn")]),
    ];
    let mut editor = Editor::open(&sandbox, &script);
    for (id, answer, prompt, is_added) in [(7, rejected, 1, false), (8, accepted, 2, true)] {
        editor.send(request(id, "session/set_mode", json!({ "modeId": "plan" })));
        assert_eq!(editor.receive(), answer);
        editor.hear();
        editor.prompt(prompt, "Go");
        assert_eq!(editor.hear().to_string().contains("Only plan."), is_added);
        while editor.receive() != ends(prompt, "end_turn") {}
    }
}

/// The agent's hooks see the prompt with the block of rules, and deliver none of them again.
#[test]
fn hooks_of_the_agent_deliver_nothing_twice() {
    let sandbox = sandbox();
    sandbox.write("repo/.rulebook/rules/see.md", "See other/x.ts and @asked for magic.\n");
    sandbox.write("repo/.rulebook/rules/other.md", "---\npaths: [\"other/**\"]\n---\nWrong path.\n");
    sandbox
        .write("repo/.rulebook/rules/asked.md", "---\ndescription: read other/y.ts\n---\nWrong request.\n");
    sandbox.write("repo/.rulebook/rules/word.md", "---\nkeywords: [magic]\n---\nWrong word.\n");
    let mut editor = Editor::open(&sandbox, &[(2, &[ends(1, "end_turn")])]);
    editor.prompt(1, "Hello");
    let prompt = editor.hear();
    let text = blocks(&prompt).concat();
    assert!(text.contains("Be brief.") && text.contains("- asked: read other/y.ts"), "{text}");
    editor.receive();
    for host in ["claude", "codex", "copilot", "gemini", "qwen"] {
        // Copilot's events have no name.
        let name = match host {
            "gemini" => json!({ "hook_event_name": "BeforeAgent" }),
            "copilot" => json!({}),
            _ => json!({ "hook_event_name": "UserPromptSubmit" }),
        };
        let event = |session: &str, text: &str| {
            let mut event = json!({ "session_id": session, "sessionId": session, "cwd": sandbox.path("repo"), "prompt": text, "timestamp": 0 });
            event.as_object_mut().unwrap().extend(name.as_object().unwrap().clone());
            event
        };
        let shown = stdout(&sandbox.hook(host, &event("s", &text)));
        assert_eq!(shown, "", "{host}");
        let retry = "<system-interrupt reason=\"rule_violation\" rule=\"x\" path=\"x\">\nSee other/z.ts\n</system-interrupt>";
        assert_eq!(stdout(&sandbox.hook(host, &event("s", retry))), "", "{host}");
        let alone = stdout(&sandbox.hook(host, &event("t", "Hello")));
        assert!(alone.contains("Be brief.") && !alone.contains("Wrong"), "{host}: {alone}");
    }
    let shown = stdout(&sandbox.run(&["explain", "--session", "s"]));
    assert!(shown.contains("1 turn"), "{shown}");
}

#[test]
fn rules_that_hooks_of_the_agent_delivered_are_not_added() {
    let sandbox = sandbox();
    std::os::unix::fs::symlink("/bin/sh", sandbox.path("gemini")).unwrap();
    let event = json!({ "session_id": "s", "hook_event_name": "SessionStart", "cwd": sandbox.path("repo"), "source": "startup" });
    assert!(stdout(&sandbox.hook("gemini", &event)).contains("Be brief."));
    let mut command = sandbox.command(&["acp", "--", "../gemini", "agent.sh"]);
    let prompt = [json!({ "type": "text", "text": "Hello" })];
    let line = request(1, "session/prompt", json!({ "prompt": prompt })).to_string() + "\n";
    assert!(crate::sandbox::feed(&mut command, line.as_bytes()).status.success());
    let heard = fs::read_to_string(sandbox.path("heard")).unwrap();
    assert_eq!(heard, line);
}

#[test]
fn a_call_that_violates_a_rule_is_not_permitted() {
    let sandbox = sandbox();
    let call = json!({ "toolCallId": "c", "title": "Push", "kind": "execute", "rawInput": { "command": "git push --force" } });
    let asks = request(9, "session/request_permission", json!({ "toolCall": call, "options": [] }));
    let failed = json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "failed" });
    let done = [update(failed), ends(1, "cancelled")];
    let mut editor = Editor::open(
        &sandbox,
        &[(2, &[asks]), (4, &done), (5, &[says("Pushed."), ends("rulebook-0", "end_turn")])],
    );
    editor.prompt(1, "Publish it");
    editor.hear();
    assert!(editor.chunk().contains("violates no-force"));
    assert_eq!(editor.hear()["method"], "session/cancel");
    let outcome = json!({ "outcome": { "outcome": "cancelled" } });
    assert_eq!(editor.hear(), json!({ "jsonrpc": "2.0", "id": 9, "result": outcome }));
    assert!(blocks(&editor.hear())[0].contains("Never force."));
    // The editor never heard of the call.
    assert_eq!(editor.chunk(), "agent_message_chunk: Pushed.");
    assert_eq!(editor.receive(), ends(1, "end_turn"));
}

#[test]
fn of_an_edit_only_what_is_written_counts() {
    let sandbox = sandbox();
    let call = |new: &str| {
        let diff = json!({ "type": "diff", "path": "/w/a.ts", "oldText": "a: any\n", "newText": new });
        update(
            json!({ "sessionUpdate": "tool_call", "toolCallId": new, "title": "Edit", "kind": "edit", "content": [diff] }),
        )
    };
    let write = |id: u64, path: &str| {
        request(id, "fs/write_text_file", json!({ "path": path, "content": "a: any\nb\n" }))
    };
    let clean = [call("a: any\nb\n"), write(5, "/w/a.ts")];
    let bad = [write(6, "/w/other.ts")];
    let refused = [ends(1, "cancelled")];
    let mut editor = Editor::open(
        &sandbox,
        &[(2, &clean), (3, &bad), (5, &refused), (6, &[ends("rulebook-0", "end_turn")])],
    );
    editor.prompt(1, "Edit it");
    editor.hear();
    assert_eq!(editor.receive(), clean[0]);
    assert_eq!(editor.receive(), clean[1]);
    editor.send(json!({ "jsonrpc": "2.0", "id": 5, "result": null }));
    assert_eq!(editor.hear()["id"], 5);
    assert!(editor.chunk().contains("violates no-any"));
    assert_eq!(editor.hear()["method"], "session/cancel");
    let answer = editor.hear();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(6), &json!(-32000)));
    assert!(editor.hear().to_string().contains("Name the type."));
    assert_eq!(editor.receive(), ends(1, "end_turn"));
}

#[test]
fn a_user_who_cancels_is_obeyed() {
    let sandbox = sandbox();
    let mut editor = Editor::open(&sandbox, &[(2, &[says("x: any.")]), (4, &[ends(1, "cancelled")])]);
    editor.prompt(1, "Write it");
    editor.hear();
    assert!(editor.chunk().contains("violates no-any"));
    assert_eq!(editor.hear()["method"], "session/cancel");
    editor.send(json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": { "sessionId": "s" } }));
    assert_eq!(editor.receive(), ends(1, "cancelled"));
}

#[test]
fn a_prompt_that_the_agent_rejects_delivers_nothing() {
    let sandbox = sandbox();
    let error = json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -32000, "message": "log in" } });
    let mut editor =
        Editor::open(&sandbox, &[(2, std::slice::from_ref(&error)), (3, &[ends(2, "end_turn")])]);
    editor.prompt(1, "Hello");
    assert!(editor.hear().to_string().contains("Be brief."));
    assert_eq!(editor.receive(), error);
    editor.prompt(2, "Hello");
    assert!(editor.hear().to_string().contains("Be brief."));
    // A command of the agent is left alone.
    editor.receive();
    editor.prompt(3, "/compact");
    assert_eq!(blocks(&editor.hear()), ["/compact"]);
}

#[test]
fn an_answer_does_not_overtake_what_is_reported_before_it() {
    let sandbox = sandbox();
    let mut past: Vec<Value> = (0..200).map(|at| says(&at.to_string())).collect();
    past.push(json!({ "jsonrpc": "2.0", "id": 5, "result": {} }));
    let mut editor = Editor::open(&sandbox, &[(2, &past)]);
    editor.send(request(5, "session/load", json!({ "cwd": sandbox.path("repo"), "mcpServers": [] })));
    for line in &past {
        assert_eq!(editor.receive(), *line);
    }
}

#[test]
fn what_is_not_understood_passes() {
    let sandbox = sandbox();
    let odd = [json!([1, 2]), json!("text"), update(json!(3)), json!({ "id": {}, "result": 1 })];
    let mut editor = Editor::open(&sandbox, &[(2, &odd)]);
    for line in [
        "{not json",
        "[]",
        "\u{feff}",
        &"[".repeat(100_000),
        "{\"method\":\"x\",\"params\":{\"sessionId\":3}}",
    ] {
        writeln!(editor.to, "{line}").unwrap();
    }
    // A session handles its own messages, beside the others.
    let received: Vec<Value> = odd.iter().map(|_| editor.receive()).collect();
    assert!(odd.iter().all(|line| received.contains(line)), "{received:?}");
    assert_eq!(editor.leave(), Some(0));
    let heard = fs::read_to_string(sandbox.path("heard")).unwrap();
    assert_eq!(heard.lines().nth(1), Some("{not json"));
    assert_eq!(heard.lines().count(), 6);
}

#[test]
fn the_agent_decides_how_it_ends() {
    let sandbox = sandbox();
    sandbox.write("2.exit", "");
    let mut editor = Editor::open(&sandbox, &[(2, &[says("x")])]);
    editor.prompt(1, "Hello");
    assert_eq!(editor.chunk(), "agent_message_chunk: x");
    assert_eq!(editor.child.wait().unwrap().code(), Some(7));
    let output = sandbox.run(&["acp", "--", "/no/such/agent"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("`/no/such/agent` cannot be run"), "{}", stderr(&output));
}

#[test]
#[cfg(target_os = "linux")]
fn an_agent_that_does_not_notice_is_ended_with_the_programs_that_it_started() {
    let sandbox = sandbox();
    let script = "sleep 600 & echo $! > ../started.pid; mv ../started.pid ../started; wait";
    let mut command = sandbox.command(&["acp", "--", "sh", "-c", script]);
    command.env("PATH", "/usr/bin:/bin").stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    until(|| child.try_wait().unwrap().is_some(), || "the end of the agent".to_owned());
    let started = fs::read_to_string(sandbox.path("started")).unwrap();
    let status = || fs::read_to_string(format!("/proc/{}/stat", started.trim())).unwrap_or_default();
    // Its new parent may not have looked yet.
    until(|| status().is_empty() || status().contains(" Z "), status);
}

#[test]
fn rules_that_the_agent_reads_by_itself_are_not_added() {
    let sandbox = sandbox();
    sandbox.write("repo/GEMINI.md", "Gemini reads this.\n");
    std::os::unix::fs::symlink("/bin/sh", sandbox.path("gemini")).unwrap();
    for (program, is_added) in [("/bin/sh", true), ("../gemini", false)] {
        let _ = fs::remove_file(sandbox.path("heard"));
        let mut command = sandbox.command(&["acp", "--", program, "agent.sh"]);
        let prompt = [json!({ "type": "text", "text": "Hello" })];
        let line = request(1, "session/prompt", json!({ "prompt": prompt })).to_string() + "\n";
        assert!(crate::sandbox::feed(&mut command, line.as_bytes()).status.success());
        let heard = fs::read_to_string(sandbox.path("heard")).unwrap();
        assert_eq!(
            (heard.contains("Be brief."), heard.contains("Gemini reads")),
            (true, is_added),
            "{heard}"
        );
    }
}

#[test]
fn a_call_that_is_repeated_is_stopped_as_often_as_allowed() {
    let call = json!({ "toolCallId": "c", "title": "Push", "kind": "execute", "rawInput": { "command": "git push --force" } });
    let mut reported = call.clone();
    reported["sessionUpdate"] = json!("tool_call");
    let asked = request(9, "session/request_permission", json!({ "toolCall": call, "options": [] }));
    let short = json!({ "toolCallId": "c" });
    let asked_again = request(9, "session/request_permission", json!({ "toolCall": short, "options": [] }));
    // A request for permission is answered: the agent reads one line more.
    for (first, again, lines) in [
        (update(reported.clone()), update(reported), 2),
        (asked.clone(), asked, 3),
        (
            request(9, "session/request_permission", json!({ "toolCall": call, "options": [] })),
            asked_again,
            3,
        ),
    ] {
        let sandbox = sandbox();
        let ended = |number: usize| [ends(format!("rulebook-{number}"), "cancelled")];
        let (one, two) = (ended(0), ended(1));
        let script: [(usize, &[Value]); 7] = [
            (2, std::slice::from_ref(&first)),
            (1 + lines, &[ends(1, "cancelled")]),
            (2 + lines, std::slice::from_ref(&again)),
            (1 + 2 * lines, &one),
            (2 + 2 * lines, std::slice::from_ref(&again)),
            (1 + 3 * lines, &two),
            (2 + 3 * lines, &[again.clone(), ends("rulebook-2", "end_turn")]),
        ];
        let mut editor = Editor::open(&sandbox, &script);
        editor.prompt(1, "Publish it");
        for _ in 0..3 {
            let stopped = editor.chunk();
            assert!(stopped.contains("violates no-force: the agent is stopped"), "{stopped}");
        }
        assert!(editor.chunk().contains("no more interrupts"));
        assert_eq!(editor.receive(), again);
        assert_eq!(editor.receive(), ends(1, "end_turn"));
    }
}

/// The call of the text that was stopped was not watched, and neither counts as shown.
#[test]
fn what_arrives_while_the_agent_is_stopped_is_watched_when_it_is_repeated() {
    let sandbox = sandbox();
    let diff = json!({ "type": "diff", "path": "/w/a.ts", "oldText": "", "newText": "a: any\n" });
    let call = update(
        json!({ "sessionUpdate": "tool_call", "toolCallId": "c", "title": "Edit", "kind": "edit", "content": [diff] }),
    );
    let write = request(6, "fs/write_text_file", json!({ "path": "/w/a.ts", "content": "a: any\n" }));
    let script: [(usize, &[Value]); 4] = [
        (2, &[says("x: any."), call]),
        (3, &[ends(1, "cancelled")]),
        (4, &[write]),
        (6, &[ends("rulebook-0", "cancelled")]),
    ];
    let mut editor = Editor::open(&sandbox, &script);
    editor.prompt(1, "Write it");
    assert!(editor.chunk().contains("violates no-any"));
    assert!(editor.chunk().contains("violates no-any"));
    let heard: Vec<Value> = (0..6).map(|_| editor.hear()).collect();
    assert_eq!((&heard[4]["id"], &heard[4]["error"]["code"]), (&json!(6), &json!(-32000)), "{heard:?}");
}

#[test]
fn sessions_that_an_agent_makes_up_take_no_threads() {
    let sandbox = sandbox();
    let other = |at: usize| {
        let chunk = json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": "x: any." } });
        json!({ "jsonrpc": "2.0", "method": "session/update", "params": { "sessionId": format!("other {at}"), "update": chunk } })
    };
    let mut lines: Vec<Value> = (0..500).map(other).collect();
    lines.push(ends(1, "end_turn"));
    let mut editor = Editor::open(&sandbox, &[(2, &lines)]);
    editor.prompt(1, "Hello");
    for line in &lines[..500] {
        assert_eq!(editor.receive(), *line);
    }
    let threads = fs::read_dir(format!("/proc/{}/task", editor.child.id())).map(Iterator::count);
    assert!(threads.is_ok_and(|threads| threads < 20) || cfg!(not(target_os = "linux")));
    assert_eq!(editor.receive(), ends(1, "end_turn"));
    // Those that the editor names are limited.
    for at in 0..300 {
        let params = json!({ "sessionId": format!("named {at}"), "modeId": "x" });
        editor.send(json!({ "jsonrpc": "2.0", "method": "session/set_mode", "params": params }));
    }
    assert_eq!(editor.leave(), Some(0));
    let heard = fs::read_to_string(sandbox.path("heard")).unwrap();
    assert_eq!(heard.matches("session/set_mode").count(), 300);
}

#[test]
fn a_message_that_is_too_long_is_reported_and_the_next_one_passes() {
    let sandbox = sandbox();
    sandbox.write("2", &format!("{}\n{}\n", "a".repeat((64 << 20) + 1), ends(1, "end_turn")));
    let mut command = sandbox.command(&["acp", "--", "sh", "agent.sh"]);
    command.env("PATH", "/usr/bin:/bin");
    let prompt = request(1, "session/prompt", json!({ "prompt": [] })).to_string() + "\n";
    let opened = json!({ "jsonrpc": "2.0", "id": 0, "method": "x" }).to_string() + "\n";
    let output = crate::sandbox::feed(&mut command, (opened + &prompt).as_bytes());
    assert!(
        stderr(&output).contains("a message of the agent is over 64 MiB and is not passed on"),
        "{}",
        stderr(&output)
    );
    let passed: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(passed, ends(1, "end_turn"));
}
