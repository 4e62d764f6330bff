use super::*;
use crate::diagnostic::Code;
use crate::evidence::{Evidence, Seen, Via};
use crate::frontmatter::{Node, Value};
use crate::glob::Dialect;

fn evidence(paths: &[&str]) -> Evidence {
    let mut paths: Vec<Seen> = paths
        .iter()
        .map(|path| Seen { path: (*path).to_owned(), root: 0, sources: vec![Via::Tab] })
        .collect();
    paths.sort();
    Evidence {
        paths,
        mode: Some("act".to_owned()),
        message: Some("Fix the API-docs, naïve!".to_owned()),
        ..Evidence::default()
    }
}

/// Builds a condition from text and evaluates it. Returns the reported problems instead if there are any.
fn evaluate(key: &str, value: &str, evidence: &Evidence) -> Result<ConditionResult, Vec<(Code, String)>> {
    build(key, value).map(|condition| condition.evaluate(&Facts::new(evidence, [])))
}

fn build(key: &str, value: &str) -> Result<Condition, Vec<(Code, String)>> {
    let kind = all().find(|kind| kind.key == key).unwrap();
    let node = Node { value: Value::Text(value.to_owned()), span: 0..value.len() };
    let mut reported = Vec::new();
    let base = PatternBase {
        dialect: Dialect::Picomatch,
        rival: None,
        exclusions: crate::glob::Exclusions::OfDialect,
        splits: Splits::Texts,
        splits_whitespace: true,
        is_exact: false,
        base: None,
    };
    let condition = kind.build(&node, &base, &mut |code, span, message| {
        reported.push((
            code,
            format!("{}: {message}", &value[span.start.min(value.len())..span.end.min(value.len())]),
        ));
    });
    match condition {
        Some(condition) if reported.is_empty() => Ok(condition),
        _ => Err(reported),
    }
}

#[track_caller]
fn check(key: &str, value: &str, paths: &[&str], truth: Truth, matched: &[&str]) {
    let result = evaluate(key, value, &evidence(paths)).unwrap();
    assert_eq!(
        (result.truth, result.matched),
        (truth, matched.iter().map(|m| (*m).to_owned()).collect()),
        "{value}"
    );
}

#[test]
fn truth_has_an_order() {
    assert!(Truth::No < Truth::Unknown && Truth::Unknown < Truth::Yes);
    assert_eq!(
        [Truth::Yes, Truth::No, Truth::Unknown].map(|truth| !truth),
        [Truth::No, Truth::Yes, Truth::Unknown]
    );
    assert_eq!(MatchMode::All.combine([Truth::Yes, Truth::Unknown].into_iter()), Truth::Unknown);
    assert_eq!(MatchMode::Any.combine([Truth::No, Truth::Unknown].into_iter()), Truth::Unknown);
    assert_eq!(MatchMode::Any.combine([Truth::Yes, Truth::Unknown].into_iter()), Truth::Yes);
    assert_eq!(MatchMode::All.combine([].into_iter()), Truth::Yes);
}

#[test]
fn paths_include_and_exclude() {
    check("paths", "src/**", &["src/a.ts"], Truth::Yes, &["src/**"]);
    check("paths", "src/**, *.md", &["src/a.ts", "b.md"], Truth::Yes, &["src/**", "*.md"]);
    check("paths", "src/**, !src/gen/**", &["src/gen/a.ts"], Truth::No, &[]);
    check("paths", "src/**, !src/gen/**", &["src/gen/a.ts", "src/a.ts"], Truth::Yes, &["src/**"]);
    check("paths", "!docs/**", &["docs/a.md"], Truth::No, &[]);
    check("paths", "!docs/**", &["docs/a.md", "a.md"], Truth::Yes, &["!docs/**"]);
    check("paths", "!(docs)/**", &["src/a.md"], Truth::Yes, &["!(docs)/**"]);
    check("paths", "**", &[], Truth::Unknown, &[]);
    check("paths", "!**", &[], Truth::Unknown, &[]);
    check("paths", "apps/web/**", &["apps/web"], Truth::Yes, &["apps/web/**"]);
}

#[test]
fn keywords_are_whole_words() {
    check("keywords", "api", &[], Truth::Yes, &["api"]);
    check("keywords", "API-DOCS, docs", &[], Truth::Yes, &["API-DOCS", "docs"]);
    check("keywords", "naïv, doc", &[], Truth::No, &[]);
    check("keywords", "NAÏVE", &[], Truth::Yes, &["NAÏVE"]);
    check("keywords", "fix the", &[], Truth::Yes, &["fix the"]);
}

#[test]
fn the_text_that_all_conditions_search_is_limited() {
    #[track_caller]
    fn check(key: &str, value: &str, evidence: &Evidence, searches: usize) {
        let (facts, condition) = (Facts::new(evidence, []), build(key, value).unwrap());
        let truths = std::iter::repeat_with(|| condition.evaluate(&facts).truth);
        assert_eq!(truths.take_while(|truth| *truth == Truth::No).take(1_000).count(), searches, "{value}");
        if searches < 1_000 {
            let ConditionResult { truth, detail, .. } = condition.evaluate(&facts);
            assert_eq!((truth, detail.as_str()), (Truth::Unknown, facts::TOO_MUCH));
        }
    }
    let base = || evidence(&["a.ts", "b.ts"]);
    let contents = vec![(0, "a ".repeat(1 << 19)), (1, "b ".repeat(1 << 19))];
    check("content", "zz", &Evidence { contents, ..base() }, 64);
    let message = Some("a b ".repeat(1 << 20));
    let evidence = Evidence { message, ..base() };
    check("keywords", "b  a", &evidence, 32);
    // Words are looked up, and so are the words of a keyword.
    check("keywords", "c, b c, ab", &evidence, 1_000);
    check("command", "b, /c/", &Evidence { commands: vec!["a".repeat(1 << 10); 1 << 13], ..base() }, 16);
}

#[test]
fn expressions_combine_conditions() {
    let paths = &["src/a.ts"];
    check("when", "paths:src/**", paths, Truth::Yes, &["paths:src/**"]);
    check("when", "paths:lib/** OR mode:act", paths, Truth::Yes, &["mode:act"]);
    check("when", "paths:src/** AND mode:plan", paths, Truth::No, &[]);
    check("when", "NOT mode:plan", paths, Truth::Yes, &["NOT mode:plan"]);
    check("when", "not not mode:act", paths, Truth::Yes, &["NOT NOT mode:act"]);
    check("when", "paths:src/** && !(mode:plan || os:windows)", paths, Truth::Unknown, &[]);
    check("when", "mode:plan OR mode:act AND paths:src/**", paths, Truth::Yes, &["mode:act", "paths:src/**"]);
    check("when", "(paths:src/@(a|b).ts)", paths, Truth::Yes, &["paths:src/@(a|b).ts"]);
    check("when", "paths:\"src/a b.ts\" OR mode:act", paths, Truth::Yes, &["mode:act"]);
    check("when", "NOT paths:src/**", &[], Truth::Unknown, &[]);
}

#[test]
fn an_invalid_expression_is_reported_at_its_position() {
    #[track_caller]
    fn check(value: &str, want: &str) {
        let reported = evaluate("when", value, &evidence(&[])).unwrap_err();
        assert_eq!(reported.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(), [want], "{value}");
    }
    check("", ": expected `key:value`, found the end");
    check("paths:src/** AND", ": expected `key:value`, found the end");
    check("(mode:act", "(: this parenthesis is not closed");
    check("mode:act)", "): expected AND, OR or the end, found `)`");
    check("mode:act mode:plan", "mode:plan: expected AND, OR or the end, found `mode:plan`");
    check("path:x", "path:x: `path` is not a condition; did you mean `paths`?");
    check("mode", "mode: expected `key:value`, found `mode`");
    check("mode:", "mode:: expected `key:value`, found `mode:`");
    check("when:mode:act", "when:mode:act: `when` cannot be nested");
    check(&"(".repeat(50), "(: nested more than 32 levels deep");
    check(&"NOT ".repeat(50), " : nested more than 32 levels deep");
}

#[test]
fn keys_are_unique_and_documented() {
    for (at, kind) in all().enumerate() {
        assert!(all().take(at).all(|other| other.key != kind.key), "{}", kind.key);
        assert!(!kind.holds.is_empty() && !kind.holds.ends_with('.'), "{}", kind.key);
    }
}

proptest::proptest! {
    #[test]
    fn no_expression_panics(value in "(paths:|mode:|AND |OR |NOT |\\(|\\)|!|\"|\\PC| ){0,30}") {
        let _ = evaluate("when", &value, &evidence(&["src/a.ts"]));
    }
}

#[test]
fn a_command_is_matched_by_a_glob() {
    #[track_caller]
    fn check(pattern: &str, line: &str, wanted: Truth) {
        let pattern =
            super::CommandPattern::read(pattern, &(0..0), &mut Default::default(), &mut |_, _, _| {})
                .unwrap();
        assert_eq!(pattern.matches_line(&crate::shell::parse(line), None), wanted, "{line}");
    }
    for (pattern, line, wanted) in [
        ("npm {install,i} *", "npm i x", Truth::Yes),
        ("npm {install,i} *", "npm install @a/b", Truth::Yes),
        ("npm {install,i} *", "npm ci x", Truth::No),
        ("npm {install,i} *", "npm $X y", Truth::Unknown),
        ("npm {install,i} *", "ls $X", Truth::No),
        ("git push -[fF]*", "git push -f", Truth::Yes),
        ("git push -[fF]*", "git push -u", Truth::No),
        ("git push -[fF]*", "git push $X", Truth::Unknown),
        ("npm @(install|i) *", "npm i a/b/c", Truth::Yes),
        ("npm !(ci)", "npm ci", Truth::No),
        ("rm -rf /*{a,b}*", "rm -rf /x/y/b/z", Truth::Yes),
        ("git push*", "git push a/b", Truth::Yes),
        ("find * {} *", "find . -exec rm {} +", Truth::Yes),
        ("git commit -m (wip)*", "git commit -m '(wip) x'", Truth::Yes),
    ] {
        check(pattern, line, wanted);
    }
}
