use proptest::prelude::*;
use serde_json::json;

use super::super::hosts::{FileKind, HOSTS};
use super::*;

fn program() -> Program {
    Program::new("rulebook", "x").unwrap()
}

/// A small patch with every kind of entry.
fn patch() -> Json {
    let handler = json!({ "command": "rulebook hook x ; exit 0" });
    json!({ "hooks": { "E": [handler] }, "version": 1 })
}

fn servers() -> Json {
    json!({ "mcpServers": { "rulebook": { "command": "rulebook", "args": ["mcp"] } } })
}

#[track_caller]
fn comes_back(before: &str, patch: &Json, program: &Program) -> String {
    let after = add(Some(before), patch, program).unwrap();
    assert_ne!(after, before);
    assert_eq!(add(Some(&after), patch, program).unwrap(), after, "a second time, to {before:?}");
    assert_eq!(remove(&after, patch, program).unwrap().as_deref(), Some(before), "from {after:?}");
    assert_eq!(remove(before, patch, program).unwrap().as_deref(), Some(before));
    after
}

#[test]
fn entries_follow_the_layout_of_the_file() {
    #[track_caller]
    fn check(before: &str, after: &str) {
        assert_eq!(comes_back(before, &patch(), &program()), after);
    }
    check(
        r#"{"a":1}"#,
        r#"{"a":1, "hooks": { "E": [ { "command": "rulebook hook x ; exit 0" } ] }, "version": 1}"#,
    );
    check(
        "{\n\t\"a\": 1, // one\n\t// end\n}",
        "{\n\t\"a\": 1, // one\n\t// end\n\t\"hooks\": { \"E\": [ { \"command\": \"rulebook hook x ; exit 0\" } ] },\n\t\"version\": 1,\n}",
    );
    check(
        "{\r\n    \"a\": 1 // one\r\n}\r\n",
        "{\r\n    \"a\": 1, // one\r\n    \"hooks\": { \"E\": [ { \"command\": \"rulebook hook x ; exit 0\" } ] },\r\n    \"version\": 1\r\n}\r\n",
    );
    check(
        "{ \"hooks\": { \"E\": [ 1 ] } }",
        "{ \"hooks\": { \"E\": [ 1, { \"command\": \"rulebook hook x ; exit 0\" } ] } }",
    );
    check(
        "{\n  \"version\": 1,\n  \"hooks\": {\n    \"E\": []\n  }\n}\n",
        "{\n  \"version\": 1,\n  \"hooks\": {\n    \"E\": [{ \"command\": \"rulebook hook x ; exit 0\" }]\n  }\n}\n",
    );
}

#[test]
fn a_file_that_another_program_wrote_without_white_space_keeps_no_empty_container() {
    let compact = |text: &str| serde_json::from_str::<Json>(text).unwrap().to_string();
    for patch in [patch(), servers()] {
        for before in [r#"{"a":1}"#, "{}"] {
            let added = compact(&add(Some(before), &patch, &program()).unwrap());
            assert_eq!(remove(&added, &patch, &program()).unwrap().as_deref(), Some(before), "{added}");
        }
    }
}

#[test]
fn an_empty_container_stays() {
    for before in [
        "{}",
        "{ }",
        "{\n}",
        "{\n}\n",
        "{ // c\n}",
        "{/* c */}",
        "// c\n{}\n",
        "{\"hooks\":{}}",
        "{\n  \"hooks\": {\n  }\n}",
        "{\"hooks\":{\"E\":[]}}",
        "{\"hooks\":{\"E\":[ ],},}",
        "{\"version\":1}",
        "{\"hooks\":{\"F\":[{}]}, // c\n \"version\":1}",
    ] {
        comes_back(before, &patch(), &program());
    }
    for before in ["{}", "{\"mcpServers\": {}}", "{\"mcpServers\": {\"a\": {}}}"] {
        comes_back(before, &servers(), &program());
    }
}

#[test]
fn text_around_our_entries_stays() {
    #[track_caller]
    fn check(text: &str, left: Option<&str>) {
        assert_eq!(remove(text, &patch(), &program()).unwrap().as_deref(), left, "{text}");
    }
    let ours = r#"{"command":"/opt/rulebook hook x"}"#;
    check(&add(None, &patch(), &program()).unwrap(), None);
    check(
        "{\n  \"hooks\": {\n    \"E\": [\n      {\n        \"command\": \"rulebook hook x\"\n      }\n    ]\n  },\n  \"version\": 1\n}",
        None,
    );
    check(&format!("{{ \"hooks\": {{ \"E\": [ {ours}, 1 ] }} }}"), Some("{ \"hooks\": { \"E\": [ 1 ] } }"));
    check(
        &format!("{{ \"hooks\": {{ \"E\": [ 1, {ours}, 2 ] }} }}"),
        Some("{ \"hooks\": { \"E\": [ 1, 2 ] } }"),
    );
    check(&format!("{{ \"hooks\": {{ \"old\": [ {ours} ] }}, \"a\": 1 }}"), Some("{ \"a\": 1 }"));
    check(
        &format!("{{ \"hooks\": {{ \"E\": [ {{\"hooks\": [{ours}, {{}}]}}, {{\"hooks\": [{ours}]}} ] }} }}"),
        Some("{ \"hooks\": { \"E\": [ {\"hooks\": [ {}]} ] } }"),
    );
    check(
        &format!("{{ \"hooks\": {{ \"E\": [ {{\"hooks\": [1, {ours}, 2]}} ] }} }}"),
        Some("{ \"hooks\": { \"E\": [ {\"hooks\": [1, 2]} ] } }"),
    );
    check(
        &format!("{{ \"hooks\": {{ // why\n \"E\": [ // c\n {ours}] }} }}"),
        Some("{ \"hooks\": { // why\n \"E\": [ // c\n ] } }"),
    );
    check(
        r#"{"hooks": {"E": [{"command": "rulebook hook y"}]}}"#,
        Some(r#"{"hooks": {"E": [{"command": "rulebook hook y"}]}}"#),
    );
}

#[test]
fn another_program_is_replaced() {
    #[track_caller]
    fn check(patch: &Json, before: &str, after: &str) {
        assert_eq!(add(Some(before), patch, &program()).unwrap(), after);
    }
    check(
        &patch(),
        r#"{"hooks":{"E":[{"x":1,"command":"/opt/rulebook hook x","timeout":9}]}}"#,
        r#"{"hooks":{"E":[{"x":1,"command":"rulebook hook x ; exit 0","timeout":9}]}}"#,
    );
    let with_variables = json!({ "hooks": { "E": [{ "hooks": [{ "command": "rulebook hook x ; exit 0", "env": { "a": "b" } }] }] } });
    check(
        &with_variables,
        r#"{"hooks":{"E":[{"hooks":[{"command":"rulebook hook x"}]}]}}"#,
        r#"{"hooks":{"E":[{"hooks":[{"command":"rulebook hook x ; exit 0", "env": { "a": "b" }}]}]}}"#,
    );
    let kept = r#"{"mcpServers":{"rulebook":{"command":"rulebook","args":["mcp","--root","../x"],"env":{"A":"b"}}}}"#;
    check(&servers(), kept, kept);
    check(&servers(), &kept.replace(r#":"rulebook","#, r#":"/x/rulebook","#), kept);
    let kept = r#"{"mcpServers":{"rulebook":{"env":{},"args":["mcp"],"command":"rulebook"}}}"#;
    check(&servers(), kept, kept);
    let other = add(None, &servers(), &program()).unwrap().replace("\"rulebook\",", "\"rb\",");
    check(&servers(), &other, &add(None, &servers(), &program()).unwrap());
}

#[test]
fn a_server_of_the_user_stays() {
    #[track_caller]
    fn check(entry: &str, is_ours: bool, left: bool) {
        let text = format!(r#"{{"mcpServers":{{"rulebook":{entry}}}}}"#);
        let added = add(Some(&text), &servers(), &program());
        let fault = "another server is named `rulebook`; give that one another name";
        match added {
            Ok(added) => assert!(is_ours && added == text, "{added}"),
            Err(error) => assert_eq!((is_ours, error.message.as_str()), (false, fault), "{entry}"),
        }
        assert_eq!(remove(&text, &servers(), &program()).unwrap() == Some(text), left, "{entry}");
    }
    check(r#"{"command":"rulebook","args":["mcp"],"disabled":false,"autoApprove":[]}"#, true, false);
    check(r#"{"command":["rulebook","mcp"],"environment":{}}"#, true, false);
    check(r#"{"command":"rulebook","args":["mcp"],"env":{"A":"b"}}"#, true, true);
    check(r#"{"command":"rulebook","args":["mcp","--root","../x"]}"#, true, true);
    check(r#"{"command":"rulebook","args":["--root","../x","mcp"]}"#, true, true);
    check(r#"{"command":"mine"}"#, false, true);
    check(r#"{"command":"mine","args":["serve"]}"#, false, true);
    check(r#"{"type":"http","url":"http://x"}"#, false, true);
    check("3", false, true);
}

#[test]
fn a_file_that_cannot_be_edited_is_reported() {
    #[track_caller]
    fn check(text: &str, at: usize, message: &str) {
        let fault = add(Some(text), &patch(), &program()).unwrap_err();
        assert_eq!((fault.at, fault.message.as_str()), (at, message), "{text}");
    }
    check("", 0, "the file contains no JSON; write `{}`, or delete the file");
    check("// c", 0, "the file contains no JSON; write `{}`, or delete the file");
    check("[]", 0, "the file must be an object");
    check("{\"hooks\": []}", 10, "`hooks` must be an object");
    check("{\"hooks\": {\"E\": {}}}", 16, "`E` must be a list");
    check("{\"a\": 1", 0, "the file is not valid JSON: unterminated object");
    check("{\"a\": 1 \"b\": 2}", 7, "the file is not valid JSON: expected comma");
    check(&"[".repeat(100_000), 512, "the file is not valid JSON: maximum nesting depth exceeded");
}

/// White space and comments.
fn gap() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "",
        "",
        "",
        " ",
        "\n",
        "\n  ",
        "\n\t",
        "\r\n",
        "/* c */",
        " // é\n",
        "\n    // c, }\n  ",
    ])
}

fn list(open: char, items: Vec<(String, &str)>, trailing: bool, gap: &str, close: char) -> String {
    let ends_in_comma = trailing && !items.is_empty();
    let items: Vec<String> = items.into_iter().map(|(item, gap)| format!("{gap}{item}")).collect();
    let comma = if ends_in_comma { "," } else { "" };
    format!("{open}{}{comma}{gap}{close}", items.join(","))
}

fn object(value: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    let key = prop::sample::select(vec![
        "a",
        "hooks",
        "hooks",
        "mcpServers",
        "mcp",
        "version",
        "PreToolUse",
        "preToolUse",
        "SessionStart",
    ]);
    let member = (key, gap(), value, gap())
        .prop_map(|(key, space, value, gap)| (format!("\"{key}\":{space}{value}"), gap));
    (prop::collection::vec(member, 0..4), any::<bool>(), gap())
        .prop_map(|(items, trailing, gap)| list('{', items, trailing, gap, '}'))
}

fn file() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec!["1", "\"x\"", "null", "[]", "{}", "{\"command\":\"x\"}"])
        .prop_map(str::to_owned);
    let value = leaf.prop_recursive(3, 24, 4, |inner| {
        let array = (prop::collection::vec((inner.clone(), gap()), 0..3), any::<bool>(), gap())
            .prop_map(|(items, trailing, gap)| list('[', items, trailing, gap, ']'));
        prop_oneof![array, object(inner)]
    });
    (gap(), object(value), gap()).prop_map(|(before, object, after)| format!("{before}{object}{after}"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_file_comes_back_byte_for_byte(before in file()) {
        for host in HOSTS {
            let program = Program::new("rulebook", host.name).unwrap();
            let (mut text, mut written) = (before.clone(), Vec::new());
            for file in host.row().files {
                let FileKind::Json(patch) = host.content(file) else { continue };
                let patch = patch(&program);
                // A file that cannot be edited is left alone.
                let Ok(after) = add(Some(&text), &patch, &program) else { continue };
                prop_assert_eq!(&add(Some(&after), &patch, &program).unwrap(), &after);
                text = after;
                written.push(patch);
            }
            for patch in written.iter().rev() {
                text = remove(&text, patch, &program).unwrap().unwrap();
            }
            prop_assert_eq!(&text, &before, "{}", host.name);
        }
    }
}
