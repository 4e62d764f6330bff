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

/// Code in TypeScript of about this many bytes: each real `new Map(…)` beside two in a string and one in a comment.
fn code_of(len: usize) -> (String, usize) {
    let mut code = String::new();
    let mut count = 0;
    while code.len() < len {
        code.push_str(&format!(
            "export function f{count}(a: string) {{\n  // new Map({count})\n  const s = 'new Map(1)' + `new Map(${{a}})`;\n  return new Map([[s, {count}]]);\n}}\n"
        ));
        count += 1;
    }
    (code, count)
}

#[test]
fn a_regular_expression_finds_strings_and_comments_and_the_tree_none() {
    let (code, count) = code_of(100_000);
    let trigger = rule("ast: {language: ts, pattern: 'new Map($$$)'}").stream.unwrap().syntax[0].clone();
    let nodes = Grammars::default().find(&trigger, "typescript", &code).unwrap();
    assert_eq!(nodes.len(), count);
    assert!(nodes.iter().all(|node| code[node.range.clone()].starts_with("new Map([[s")));
    assert_eq!(code.matches("new Map(").count(), 4 * count);
}

/// Edits of some code, in the middle and at its ends, with broken code between.
fn edited(code: &str) -> Vec<String> {
    let mut edits = vec![code.to_owned()];
    for (at, (from, to)) in [
        ("return new Map", "return new Set"),
        ("export function f7(", "export function g7("),
        ("'new Map(1)' +", "'new Map(1)' + /* new Map() */ new Map() +"),
        ("}\n", "\n"),
        ("\n", "}\n"),
        ("// new Map(3)", "new Map(3)"),
        ("`new Map", "é`new Map"),
    ]
    .iter()
    .enumerate()
    {
        let last = edits[at].clone();
        let middle = last.floor_char_boundary(last.len() / (at + 2));
        let (before, after) = last.split_at(middle);
        edits.push(format!("{before}{}", after.replacen(from, to, 1)));
    }
    edits.push(format!("new Map();\n{code}"));
    edits.push(format!("{code}new Map("));
    edits
}

#[test]
fn a_tree_that_is_continued_has_the_nodes_of_a_new_one() {
    let (code, _) = code_of(4_000);
    let rules = [
        "pattern: 'new Map($$$)'",
        "kind: string",
        "kind: call_expression, inside: {kind: ERROR, stopBy: end}",
    ];
    let long_lived = Grammars::default();
    for text in edited(&code) {
        for rule_text in rules {
            let trigger =
                rule(&format!("ast: {{language: ts, {rule_text}}}")).stream.unwrap().syntax[0].clone();
            let found = long_lived.find(&trigger, "typescript", &text).unwrap();
            assert_eq!(
                found,
                Grammars::default().find(&trigger, "typescript", &text).unwrap(),
                "{rule_text}"
            );
        }
    }
    let kept = long_lived.kept.lock().unwrap();
    assert!(kept.trees.len() <= MAX_TREES);
}

/// The texts that occur more often among the second nodes.
fn added(nodes: &[Vec<NodeMatch>; 2], texts: [&str; 2]) -> Vec<String> {
    let texts_of = |at: usize| nodes[at].iter().map(move |node| texts[at][node.range.clone()].to_owned());
    let mut added: Vec<String> = texts_of(1).collect();
    for known in texts_of(0) {
        if let Some(at) = added.iter().position(|text| *text == known) {
            added.remove(at);
        }
    }
    added.sort();
    added
}

#[test]
fn what_a_change_adds_touches_what_differs() {
    let (code, _) = code_of(4_000);
    let long_lived = Grammars::default();
    let mut texts = edited(&code);
    // Edits that change what the code around them is.
    for (from, to) in
        [("// new Map", "new Map"), ("(", "(new Map(2), "), ("new Map", "new  Map"), ("'", "`"), (";", ";;")]
    {
        let spots: Vec<usize> = code.match_indices(from).map(|(at, _)| at).step_by(7).collect();
        texts.extend(spots.iter().map(|at| format!("{}{}", &code[..*at], code[*at..].replacen(from, to, 1))));
    }
    for rule_text in ["pattern: 'new Map($$$)'", "kind: string", "kind: number", "pattern: 'return $X'"] {
        let trigger = rule(&format!("ast: {{language: ts, {rule_text}}}")).stream.unwrap().syntax[0].clone();
        let mut known = 0;
        for pair in texts
            .windows(2)
            .map(|pair| [&*pair[0], &*pair[1]])
            .chain(texts.iter().map(|text| [&*code, &**text]))
        {
            let all = pair.map(|text| Grammars::default().find(&trigger, "typescript", text).unwrap());
            for grammars in [&long_lived, &Grammars::default()] {
                let Some(changed) = grammars.find_changed(&trigger, "typescript", pair).unwrap() else {
                    continue;
                };
                known += 1;
                assert_eq!(added(&changed, pair), added(&all, pair), "{rule_text}");
            }
        }
        assert!(known > 40, "{rule_text}: {known}");
    }
}

#[test]
fn trees_and_rules_are_bounded() {
    let grammars = Grammars::default();
    let trigger = rule("ast: {language: ts, pattern: 'foo($A)'}").stream.unwrap().syntax[0].clone();
    for number in 0..6 {
        let text = format!("let a{number} = [{}];", "1, ".repeat(150_000));
        assert_eq!(grammars.find(&trigger, "typescript", &text), Ok(Vec::new()));
    }
    let kept = grammars.kept.lock().unwrap();
    let bytes: usize = kept.trees.iter().map(|(_, tree)| tree.source().len()).sum();
    assert!(bytes <= MAX_BYTES && kept.trees.len() >= 2, "{bytes} bytes in {} trees", kept.trees.len());
}

#[test]
fn what_cannot_match_is_a_problem() {
    #[track_caller]
    fn check(header: &str, wanted: Option<&str>) {
        let trigger = rule(header).stream.unwrap().syntax[0].clone();
        assert_eq!(Grammars::default().problem(&trigger, "typescript").as_deref(), wanted, "{header}");
    }
    check("ast: {language: ts, pattern: 'foo($A)'}", None);
    check("ast: {language: ts, kind: nosuch}", Some("Kind `nosuch` is invalid."));
    check("ast: {language: ts, pattern: 'foo(', kind: identifier}", Some("`foo(` is not valid typescript"));
    check(
        "ast: {language: ts, any: [{kind: string}, {pattern: 'bar('}]}",
        Some("`bar(` is not valid typescript"),
    );
    check(
        "ast: {language: ts, regex: x}",
        Some("it names no kind of nodes: add a `kind`, or a `pattern` that is valid code"),
    );
}
