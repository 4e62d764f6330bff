//! Nodes are found in code, and not in strings and comments.

use rulebook::format::FormatId;
use rulebook::parse::{Entry, parse};
use rulebook::rule::Rule;
use rulebook::source::Source;

use super::*;

fn rule(header: &str) -> Rule {
    let text = format!("---\n{header}\n---\nBody.");
    let parsed = parse(Source::text(FormatId::Rulebook, "rule.md", text));
    assert_eq!(parsed.diagnostics, [], "{header}");
    let Entry::Rule(rule) = parsed.entry else { panic!("{header}") };
    *rule
}

/// The texts of the nodes that a header finds in a file.
fn found(header: &str, file: &str, text: &str) -> Vec<String> {
    let rule = rule(header);
    let trigger = &rule.stream.as_ref().unwrap().syntax[0];
    let Some(grammar) = trigger.grammar(file) else { return vec!["no grammar".to_owned()] };
    let nodes = Grammars::default().find(trigger, grammar, text).unwrap();
    nodes.into_iter().map(|node| text[node.range].to_owned()).collect()
}

#[track_caller]
fn check(header: &str, file: &str, text: &str, wanted: &[&str]) {
    assert_eq!(found(header, file, text), wanted, "{header}: {text}");
}

#[test]
fn every_language_has_a_grammar() {
    check("ast: {language: ts, pattern: 'new Map($$$)'}", "a.ts", "let a = new Map<string, X>()", &[]);
    check("ast: {language: ts, pattern: 'new Map($$$)'}", "a.ts", "let a = new Map([1])", &["new Map([1])"]);
    check(
        "ast: {language: ts, pattern: 'new Map($$$)'}",
        "a.tsx",
        "let a = <b>{new Map()}</b>",
        &["new Map()"],
    );
    check("ast: {language: js, pattern: 'eval($X)'}", "a.mjs", "eval(x)", &["eval(x)"]);
    check("ast: {language: py, pattern: 'print($$$)'}", "a.py", "print('a', 1)\n", &["print('a', 1)"]);
    check(
        "ast: {language: go, pattern: 'panic($X)'}",
        "a.go",
        "package a\nfunc f() { panic(1) }",
        &["panic(1)"],
    );
    check("ast: {language: rust, pattern: '$X.unwrap()'}", "a.rs", "fn f() { a.unwrap(); }", &["a.unwrap()"]);
    check(
        "ast: {language: java, pattern: 'System.exit($X)'}",
        "A.java",
        "class A { void f() { System.exit(1); } }",
        &["System.exit(1)"],
    );
    check("ast: {language: bash, pattern: 'rm -rf $X'}", "a.sh", "ls\nrm -rf /tmp", &["rm -rf /tmp"]);
    check("ast: {language: json, kind: 'null'}", "a.json", r#"{"a": null, "b": "null"}"#, &["null"]);
    check("ast: {language: yaml, kind: boolean_scalar}", "a.yml", "a: true\nb: 'true'", &["true"]);
    check("ast: 'print($X)'", "a.py", "print(1)", &["print(1)"]);
    check("ast: {language: go, pattern: 'panic($X)'}", "a.ts", "panic(1)", &["no grammar"]);
}

#[test]
fn strings_and_comments_do_not_match() {
    let text =
        "// new Map()\nconst a = 'new Map()';\nconst b = `new Map()`; /* new Map() */\nconst c = new Map();";
    check("ast: {language: ts, pattern: 'new Map($$$)'}", "a.ts", text, &["new Map()"]);
}

#[test]
fn rule_objects_of_ast_grep_are_understood() {
    let header = "ast: {language: ts, pattern: 'await $X', inside: {kind: for_in_statement, stopBy: end}}";
    let text = "async function f() { await a; for (const x of y) { await x; } }";
    check(header, "a.ts", text, &["await x"]);
    let header =
        "ast: {language: ts, kind: function_declaration, not: {has: {kind: return_statement, stopBy: end}}}";
    check(header, "a.ts", "function a() {}\nfunction b() { return 1; }", &["function a() {}"]);
}

#[test]
fn broken_code_and_wrong_patterns_end() {
    let rule = rule("ast: {language: ts, pattern: 'new Map($$$)'}");
    let trigger = &rule.stream.as_ref().unwrap().syntax[0];
    let grammars = Grammars::default();
    for text in ["new Map(", "}{)(", "\u{0}", &"(".repeat(20_000), &"new Map(".repeat(2_000)] {
        let _ = grammars.find(trigger, "typescript", text);
    }
    let wrong =
        SyntaxTrigger { rule: serde_json::json!({ "rule": { "kind": "no_such_kind" } }), ..trigger.clone() };
    assert!(grammars.find(&wrong, "typescript", "a").unwrap_err().contains("no_such_kind"));
}
