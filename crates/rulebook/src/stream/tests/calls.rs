//! Matches in tool calls: fields, files, scopes and globs.

use super::*;
use crate::stream::trigger::StreamRule;

#[test]
fn tool_calls_are_decoded_and_watched_by_field_and_file() {
    let any = [rule("r", r#"say "hi"\n"#, "")];
    assert_eq!(
        tool(&any, "bash", r#"{"command": "say \"hi\"\n", "x": "y"}"#),
        ["r 0..9 l1 \"say \\\"hi\\\"\\n\" tool bash command"]
    );
    let empty: [&[u8]; 3] = [b"{\"a\": \"", b"", b"\", \"b\": null}"];
    assert!(run(&[rule("r", "^$", "")], &StreamKind::Tool("edit".to_owned()), &empty).is_empty());
    let field = [rule("r", "foo", "scope: tool:edit.new_string\n")];
    assert_eq!(
        tool(&field, "edit", r#"{"old_string": "foo", "new_string": "a foo foo"}"#),
        ["r 2..5 l1 \"foo\" tool edit new_string"]
    );
    let gated = [rule("r", "foo", "globs: 'src/**'\n")];
    // The path may come after the content, and be absolute.
    assert_eq!(tool(&gated, "write", r#"{"content": "foo", "file_path": "/repo/src/a.ts"}"#).len(), 1);
    assert_eq!(tool(&gated, "write", r#"{"file_path": "docs/a.md", "content": "foo"}"#).len(), 0);
    let group = [rule("r", "foo", "globs: 'app/(shop)/**'\n")];
    assert_eq!(tool(&group, "write", r#"{"path": "app/(shop)/page.tsx", "content": "foo"}"#).len(), 1);
    let scoped = [rule("r", "foo", "scope: tool:edit(*.ts)\n")];
    assert_eq!(tool(&scoped, "edit", r#"{"edits": [{"path": "a.rs", "new": "foo"}]}"#).len(), 0);
    assert_eq!(tool(&scoped, "edit", r#"{"edits": [{"path": "x/a.ts", "new": "foo"}]}"#).len(), 1);
    let patch = [rule("r", r"\bvar\b", "scope: tool(*.ts)\n")];
    let text = "*** Begin Patch\n*** Update File: a.rs\n+var x\n*** Update File: b.ts\n-let old\n+let y\n+var z\n*** End Patch\n";
    let wire = serde_json::json!({ "input": text }).to_string();
    assert_eq!(tool(&patch, "apply_patch", &wire), ["r 6..9 l2 \"var\" tool apply_patch input b.ts"]);
    assert_eq!(tool(&patch, "apply_patch", text), ["r 6..9 l2 \"var\" tool apply_patch input b.ts"]);
    let wire = serde_json::json!({ "command": ["apply_patch", text] }).to_string();
    assert_eq!(tool(&patch, "shell", &wire), ["r 6..9 l2 \"var\" tool shell command[1] b.ts"]);
    let wired = [rule("r", r#"\\"hi"#, "scope: wire:bash\n")];
    assert_eq!(
        tool(&wired, "bash", r#"{"command": "say \"hi\""}"#),
        ["r 17..21 l1 \"\\\\\\\"hi\" wire bash"]
    );
}

#[test]
fn simultaneous_calls_are_independent() {
    let mut monitor = monitor(&[rule("r", "foo[0-9]+bar", "")]);
    let texts: Vec<String> =
        (0..64).map(|at| format!(r#"{{"command": "foo{at}bar {}"}}"#, "x".repeat(at))).collect();
    let longest = texts.iter().map(String::len).max().unwrap();
    let mut hits = Vec::new();
    for byte in 0..longest {
        for (at, text) in texts.iter().enumerate().filter(|(_, text)| byte < text.len()) {
            hits.extend(monitor.feed(
                &at.to_string(),
                &StreamKind::Tool("bash".to_owned()),
                &text.as_bytes()[byte..=byte],
            ));
        }
    }
    for at in 0..64 {
        hits.extend(monitor.finish(&at.to_string()));
    }
    let mut texts: Vec<String> = hits.into_iter().map(|hit| hit.text).collect();
    texts.sort();
    let mut wanted: Vec<String> = (0..64).map(|at| format!("foo{at}bar")).collect();
    wanted.sort();
    assert_eq!(texts, wanted);
}

#[test]
fn globs_limit_tool_calls_to_matching_files() {
    let rules = [rule("r", "foo", "globs: ['src/**/*.ts', '!src/gen/**']\n")];
    assert_eq!(tool(&rules, "write", r#"{"path": "src/a.ts", "content": "foo"}"#).len(), 1);
    assert_eq!(tool(&rules, "write", r#"{"path": "src/gen/a.ts", "content": "foo"}"#).len(), 0);
    assert_eq!(tool(&rules, "write", r#"{"path": "README.md", "content": "foo"}"#).len(), 0);
    let api = [nested("packages/api", "r", "foo", "globs: ['src/**', '*.rs', '!src/gen/**']\n")];
    let count = |path: &str| tool(&api, "write", &format!(r#"{{"path": "{path}", "content": "foo"}}"#)).len();
    let paths = ["packages/api/src/a.ts", "/repo/packages/api/deep/a.rs", "src/a.ts", "packages/apis/a.rs"];
    assert_eq!(paths.map(count), [1, 1, 0, 0]);
    assert_eq!(["packages/api/src/gen/a.ts", "packages/api", "a.rs"].map(count), [0, 0, 0]);
    // Text that looks like a patch is one only in fields for patches.
    assert_eq!(tool(&[rule("r", "foo", "")], "write", r#"{"content": "@@ a foo here\n"}"#).len(), 1);
    // A glob as a condition applies to tool calls only.
    let mixed = [rule("r", "*.rs", "")];
    assert!(run(&mixed, &StreamKind::Text, &[b"hello"]).is_empty());
    assert!(!tool(&mixed, "edit", r#"{"path": "a.rs", "new": "x"}"#).is_empty());
}

#[test]
fn scopes_and_globs_match_files_alike() {
    #[track_caller]
    fn check(glob: &str, path: &str, opens: bool) {
        let call = format!(r#"{{"path": "{path}", "content": "foo"}}"#);
        for more in [format!("globs: '{glob}'\n"), format!("scope: 'tool({glob})'\n")] {
            let hits = tool(&[rule("r", "foo", &more)], "write", &call);
            assert_eq!(!hits.is_empty(), opens, "{more} for {path}");
        }
    }
    check("app/(shop)/**", "app/(shop)/page.tsx", true);
    check("app/(shop)/**", "app/shop/page.tsx", false);
    check("(shop)/**/*.tsx", "(shop)/[id]/page.tsx", true);
    check("(page).tsx", "app/(page).tsx", true);
    check("app/(a|b)/*.tsx", "app/a/x.tsx", true);
    check("app/@(a|b)/*.tsx", "app/b/x.tsx", true);
    check("app/*(a)/*.tsx", "app/aa/x.tsx", true);
    check("app/(shop)/(..)cart/*.tsx", "app/(shop)/(..)cart/x.tsx", true);
    check("!app/(shop)/**", "app/(shop)/page.tsx", false);
    check("!app/(shop)/**", "app/page.tsx", true);
    check("*.ts", "deep/a.ts", true);
    check("*.ts", "../a.ts", true);
    check("src/*.ts", "deep/src/a.ts", false);
}

#[test]
fn the_globs_of_a_nested_rule_apply_to_its_root() {
    let root = |path: &str| Root { path: path.to_owned(), ..Root::default() };
    let roots = Roots { roots: vec![root("/one"), root("/two")], home: None };
    let check = |path: &str, wanted: [bool; 2]| {
        let opens = [0, 1].map(|root| {
            let rules = [rule_in(root, "api", "r", "foo", "globs: '*.ts'\n")];
            let mut monitor = Monitor::new(rules.iter().filter_map(Rule::stream_rule), roots.clone());
            let call = format!(r#"{{"path": "{path}", "content": "foo "}}"#);
            !monitor.feed("s", &StreamKind::Tool("write".to_owned()), call.as_bytes()).is_empty()
        });
        assert_eq!(opens, wanted, "{path}");
    };
    check("/one/api/a.ts", [true, false]);
    check("/two/api/a.ts", [false, true]);
    check("/two/a.ts", [false, false]);
    check("../two/api/a.ts", [false, true]);
    // A relative path may be in any root.
    check("api/a.ts", [true, true]);
}

#[test]
fn a_field_belongs_to_the_files_of_the_nearest_object_that_names_one() {
    let ts = [rule("r", "foo", "scope: tool(*.ts)\n")];
    #[track_caller]
    fn check(rules: &[Rule], arguments: &str, wanted: &[&str]) {
        let fields: Vec<String> = run(rules, &StreamKind::Tool("edit".to_owned()), &[arguments.as_bytes()])
            .iter()
            .map(|hit| format!("{} {}", hit.field.as_ref().unwrap(), hit.file.as_ref().unwrap()))
            .collect();
        assert_eq!(fields, wanted, "{arguments}");
    }
    check(
        &ts,
        r#"{"edits": [{"path": "a.ts", "new": "foo"}, {"new": "foo", "path": "b.rs"}, {"new": "foo", "path": "c.ts"}]}"#,
        &["edits[0].new a.ts", "edits[2].new c.ts"],
    );
    // One path for many edits, before or after them.
    check(&ts, r#"{"path": "a.ts", "edits": [{"new": "foo"}]}"#, &["edits[0].new a.ts"]);
    check(
        &ts,
        r#"{"edits": [{"new": "foo"}, "foo"], "path": "a.ts"}"#,
        &["edits[0].new a.ts", "edits[1] a.ts"],
    );
    check(&ts, r#"{"path": "a.rs", "edits": [{"new": "foo", "path": "b.ts"}]}"#, &["edits[0].new b.ts"]);
    check(&ts, r#"{"path": "a.ts", "edits": [{"new": "foo", "path": "b.rs"}]}"#, &[]);
    check(&ts, r#"{"a": {"path": "a.ts", "b": [{"c": {"new": "foo"}}]}}"#, &["a.b[0].c.new a.ts"]);
    check(&ts, r#"{"path": "a.ts", "a": {"path": "a.rs", "b": {"new": "foo"}}}"#, &[]);
    // Several paths in one object: each counts.
    check(&ts, r#"{"paths": ["a.rs", "b.ts"], "new": "foo"}"#, &["new b.ts"]);
    check(&ts, r#"{"new": "foo", "path": "a.rs", "files": [["b.ts"]]}"#, &["new b.ts"]);
    // Files of inner and neighbouring objects do not count.
    check(&ts, r#"{"new": "foo", "to": {"path": "a.ts"}}"#, &[]);
    check(&ts, r#"[{"path": "a.ts"}, {"new": "foo"}]"#, &[]);
    check(&ts, r#"{"x.path": "a.ts", "new": "foo"}"#, &[]);
    // Truncated or partly invalid JSON is decided with the available files.
    check(&ts, r#"{"path": "a.ts", "edits": [{"new": "foo"#, &["edits[0].new a.ts"]);
    check(&ts, "{\"path\": \"a.ts\", \"edits\": [{\"new\": \"x\\q foo", &["input a.ts"]);
    // One file must match both the scope and the globs.
    let both = [rule("r", "foo", "scope: tool(*.ts)\nglobs: 'src/**'\n")];
    check(&both, r#"{"paths": ["src/a.rs", "b.ts"], "new": "foo"}"#, &[]);
    check(&both, r#"{"new": "foo", "paths": ["b.ts", "src/a.ts"]}"#, &["new src/a.ts"]);
    // For the wire scope, all files of a call count.
    let wire = [rule("r", "foo", "scope: wire(*.ts)\n")];
    assert_eq!(tool(&wire, "edit", r#"{"new": "foo", "to": {"path": "a.ts"}}"#).len(), 1);
}

#[test]
fn a_repeated_file_of_a_patch_is_reported_once() {
    let rules = [rule("r", r"\bvar\b", ""), rule("s", r"\blet\b", "")];
    let text = "*** Begin Patch\n*** Update File: a\n+var x\n*** Update File: b\n+var x\n*** Update File: a\n+var y\n+let z\n*** End Patch\n";
    assert_eq!(
        tool(&rules, "apply_patch", text),
        [
            "r 0..3 l1 \"var\" tool apply_patch input a",
            "r 0..3 l1 \"var\" tool apply_patch input b",
            "s 6..9 l2 \"let\" tool apply_patch input a",
        ]
    );
}

#[test]
fn only_what_occurs_more_often_than_in_the_replaced_text_counts() {
    #[track_caller]
    fn check(name: &str, arguments: &str, fires: bool) {
        for condition in [r"new (Map|Set)\b", r"new (Map|Set)(?!x)"] {
            let hits = tool(&[rule("r", condition, "scope: tool:edit\n")], name, arguments);
            assert_eq!(!hits.is_empty(), fires, "{condition}: {arguments}");
        }
    }
    let edit = |old: &str, new: &str| {
        serde_json::json!({ "file_path": "a.ts", "old_string": old, "new_string": new }).to_string()
    };
    check("Edit", &edit("a = new Map()\nb = new Set()", "a = {}\nb = new Set()"), false);
    check("Edit", &edit("a = new Map()\nb = 1", "a = new Map()\nb = 2"), false);
    check("Edit", &edit("a = new Map()", "a = new Map()\nb = new Map()"), true);
    check("Edit", &edit("a = new Map()", "a = new Set()"), true);
    check("Edit", &edit("", "a = new Set()"), true);
    check("Edit", r#"{"new_string": "new Map", "old_string": "new Map", "file_path": "a.ts"}"#, false);
    check(
        "MultiEdit",
        r#"{"file_path": "a.ts", "edits": [{"old_string": "new Map", "new_string": "x"}, {"old_string": "x", "new_string": "new Map"}]}"#,
        true,
    );
    let patch = |removed: &str, added: &str| {
        format!("*** Begin Patch\n*** Update File: a.ts\n@@\n-{removed}\n+{added}\n*** End Patch\n")
    };
    check("apply_patch", &patch("a = new Map() // 1", "a = new Map() // 2"), false);
    check("apply_patch", &patch("a = new Map()", "a = new Set()"), true);
    check("apply_patch", &patch("a = 1", "a = new Set()"), true);
    let blocks = |old: &str, new: &str| {
        let diff = format!("------- SEARCH\n{old}\n=======\n{new}\n+++++++ REPLACE\n");
        serde_json::json!({ "path": "a.ts", "diff": diff }).to_string()
    };
    check("replace_in_file", &blocks("a = new Map() // 1", "a = new Map() // 2"), false);
    check("replace_in_file", &blocks("a = 1", "a = new Map()"), true);
}

#[test]
fn a_rule_with_roots_of_its_own_waits_for_the_file() {
    let root = |path: &str| Root { path: path.to_owned(), ..Root::default() };
    let roots = Roots { roots: vec![root("/one"), root("/two")], home: None };
    let rules = [rule_in(0, "", "r", "foo", ""), rule_in(1, "", "r", "foo", "scope: tool:edit\n")];
    let check = |name: &str, call: &str, wanted: usize| {
        let watched = rules.iter().zip([[1], [0]].iter());
        let watched =
            watched.map(|(rule, other)| StreamRule { other_roots: other, ..rule.stream_rule().unwrap() });
        let mut monitor = Monitor::new(watched, roots.clone());
        let mut hits = monitor.feed("s", &StreamKind::Tool(name.to_owned()), call.as_bytes());
        hits.extend(monitor.finish("s"));
        assert_eq!(hits.len(), wanted, "{call}: {hits:?}");
    };
    check("Write", r#"{"file_path": "/one/a.ts", "content": "foo"}"#, 1);
    check("Write", r#"{"content": "foo", "file_path": "/two/a.ts"}"#, 1);
    check("MultiEdit", r#"{"edits": [{"new_string": "foo"}], "file_path": "/two/a.ts"}"#, 1);
    // A call that names no file, or one that may be in any root.
    check("Bash", r#"{"command": "foo"}"#, 1);
    check("Write", r#"{"content": "foo"}"#, 2);
    check("Write", r#"{"file_path": "a.ts", "content": "foo"}"#, 2);
}

#[test]
fn a_file_that_a_shell_line_names_by_a_variable_is_one_of_any_file() {
    #[track_caller]
    fn check(command: &str, fires: [bool; 2]) {
        let call = serde_json::json!({ "command": command, "description": "foo" }).to_string();
        let hits = ["tool:edit", "tool:edit(*.ts)"]
            .map(|scope| !tool(&[rule("r", "foo", &format!("scope: {scope}\n"))], "Bash", &call).is_empty());
        assert_eq!(hits, fires, "{command}");
    }
    check("cat > a.ts <<E\nfoo\nE", [true, true]);
    check("cat > \"$PWD/src/a.ts\" <<'E'\nfoo\nE", [true, true]);
    check("cat > \"$DIR/a.ts\" <<'E'\nfoo\nE", [true, false]);
    check("bash -c 'cat > src/a.ts <<E\nfoo\nE'", [true, true]);
    check("bash -c 'cat > src/a.rs <<E\nfoo\nE'", [true, false]);
    check("cat <<E\nfoo\nE", [false, false]);
    check("ls", [false, false]);
}

#[test]
fn what_a_call_says_of_itself_is_not_watched() {
    let rules = [rule("r", "rm -rf", "")];
    assert!(
        tool(&rules, "Bash", r#"{"command": "rm -r build", "description": "without rm -rf"}"#).is_empty()
    );
    let named = [rule("r", "rm -rf", "scope: tool:bash.description\n")];
    assert_eq!(tool(&named, "Bash", r#"{"command": "ls", "description": "rm -rf"}"#).len(), 1);
}
