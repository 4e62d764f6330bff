//! What lines run: the table of bypasses, order, files, and hostile input.

use proptest::prelude::*;

use super::script::MAX_COMMANDS;
use super::*;
use crate::condition::{CommandPattern, Truth};

/// The commands of a line, with their words joined by blanks.
fn commands(line: &str) -> Vec<String> {
    parse(line).commands.iter().map(|command| command.line().text).collect()
}

/// Reads `\n`, `\t`, `\r`, `\\` and `\u{…}`.
fn unescaped(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        plain.push_str(&rest[..at]);
        let escape = &rest[at + 1..];
        let (c, len) = match escape.as_bytes()[0] {
            b'n' => ('\n', 1),
            b't' => ('\t', 1),
            b'r' => ('\r', 1),
            b'u' => {
                let end = escape.find('}').unwrap();
                (char::from_u32(u32::from_str_radix(&escape[2..end], 16).unwrap()).unwrap(), end + 1)
            }
            other => (char::from(other), 1),
        };
        plain.push(c);
        rest = &escape[len..];
    }
    plain + rest
}

#[test]
fn no_bypass_is_missed_in_silence() {
    let table = include_str!("../../tests/shell/bypasses.tsv");
    let pattern =
        CommandPattern::read("git push*", &(0..0), &mut Default::default(), &mut |_, _, _| {}).unwrap();
    let mut wrong = Vec::new();
    let rows: Vec<(&str, &str)> =
        table.lines().filter(|row| !row.starts_with('#')).map(|row| row.split_once('\t').unwrap()).collect();
    for (verdict, line) in &rows {
        let script = parse(&unescaped(line));
        let found = match pattern.matches_line(&script, None) {
            Truth::Yes => "caught",
            Truth::Unknown => "unknown",
            Truth::No => "clean",
        };
        if found != *verdict {
            wrong.push(format!("{line}: {found}, wanted {verdict}: {:?}", script.doubts));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(rows.iter().filter(|(verdict, _)| *verdict != "clean").count() >= 80);
}

#[test]
fn words_are_unquoted_and_variables_are_shown() {
    #[track_caller]
    fn check(line: &str, wanted: &[&str]) {
        assert_eq!(commands(line), wanted, "{line}");
    }
    check("git commit -m 'a b' \"$X\" ${Y}", &["git commit -m a b $X ${Y}"]);
    check("a=1 b 2>&1 >x <y", &["b"]);
    check("echo {a,b}{1,2} '{c,d}'", &["echo a1 a2 b1 b2 {c,d}"]);
    check("echo {x,{y,z}}", &["echo x y z"]);
    check("a=(1 2) ls", &["ls"]);
    check("", &[]);
    check(
        "sudo -u me env A=b sh -c 'ls; pwd'",
        &["sudo -u me env A=b sh -c ls; pwd", "env A=b sh -c ls; pwd", "sh -c ls; pwd", "ls", "pwd"],
    );
}

#[test]
fn only_and_makes_a_command_precede_another() {
    #[track_caller]
    fn check(line: &str, precedes: bool) {
        let script = parse(line);
        let at = |name: &str| script.commands.iter().position(|command| command.line().text == name).unwrap();
        assert_eq!(script.precedes(at("a"), at("b")), precedes, "{line}");
    }
    for line in [
        "a && b",
        "a && x && b",
        "a && (b)",
        "a && { x; b; }",
        "a && sh -c 'x; b'",
        "sudo a && b",
        "a && x | b",
        "a &&\nb",
        "a && # x\n\n x &&\n b",
        "a && cat <<E &&\nx\nE\nb",
        "(a) && b",
        "(cd x && a) && b",
        "(x; a) && b",
        "{ a; } && b",
        "{ x; y && a; } && b",
        "{ (a); } && b",
        "{ a\n} && b",
        "( { a; } ) && x && b",
        "if a; then b; fi",
        "if a; then x; b; fi",
        "if a\nthen\nx\nb\nfi",
        "if x && a; then b; fi",
        "if x; then y; elif a; then b; fi",
        "while a; do b; done",
        "(x | a) && b",
    ] {
        check(line, true);
    }
    for line in [
        "a; b",
        "a\nb",
        "a | b",
        "a || b",
        "a & b",
        "b && a",
        "a | x && b",
        "(a; x) && b",
        "! a && b",
        "a ||\nb",
        "a |\nb",
        "(a) | x && b",
        "{ a; } | x && b",
        "{ a; x; } && b",
        "{ x || a; } && b",
        "{ a || x; } && b",
        "{ ! a; } && b",
        "{ a & } && b",
        "! (a) && b",
        "x || { a; } && b",
        "x || (a) && b",
        "{ a; }; b",
        "(a)\nb",
        "if a; then x; fi; b",
        "if a; then x; fi && b",
        "if a; then x; else b; fi",
        "if a; then x; elif y; then b; fi",
        "if ! a; then b; fi",
        "if a || x; then b; fi",
        "until a; do b; done",
        "for x in y; do a; done && b",
        "case x in x) a;; esac && b",
        "f() { a; } && b",
    ] {
        check(line, false);
    }
    check("x || a && b", false);
    check("x || y && a && b", true);
    check("echo $(a) && b", false);
}

#[test]
fn files_are_found_where_they_are_and_marked_if_written() {
    #[track_caller]
    fn check(line: &str, wanted: &[&str]) {
        let script = parse(line);
        let files = script.commands.iter().flat_map(Command::files);
        let shown = |one: FileUse| {
            if one.touched.is_write() { format!("{}!", one.file.text) } else { one.file.text }
        };
        assert_eq!(files.map(shown).collect::<Vec<_>>(), wanted, "{line}");
    }
    check("cat a b > c", &["c!", "a", "b"]);
    check("cd x && cat a; cat b", &["x", "x/a", "x/b"]);
    check("(cd x; cat a); cat b", &["x", "x/a", "b"]);
    check("cd $X; rm a /b", &["$X", "?/a!", "/b!"]);
    check("cp a b && mv c d", &["b/a", "a", "b!", "d/c", "c!", "d!"]);
    check("cp x/a b/; cp a b.c; tar cf y z", &["b/a!", "x/a", "b/!", "a", "b.c!", "y!", "cf", "y", "z"]);
    check("sed -i s/a/b/ x && sed s/a/b/ y", &["s/a/b/", "x!", "s/a/b/", "y"]);
    check("git -C x checkout -- a; git log b", &["x", "checkout", "x/a!", "log", "b"]);
    check("curl -o x url; dd if=a of=b", &["x!", "url", "a", "if=a", "b!", "of=b!"]);
    check("ls 2> err &> all", &["err!", "all!"]);
}

#[test]
fn deep_and_long_lines_end() {
    for text in [
        "$(",
        "(",
        "`",
        "((",
        "{a,",
        "<<E ",
        "sh -c '",
        "case x in ",
        "$((",
        "[[ ",
        "a && ",
        "<(",
        "${",
        "\"$(",
        "eval ",
    ] {
        let script = parse(&text.repeat(20_000));
        assert!(script.commands.len() <= MAX_COMMANDS + 10_000, "{text}");
    }
    assert!(parse(&"a;".repeat(200_000)).doubts.iter().any(|doubt| doubt.why == DoubtKind::Limit));
}

proptest! {
    #[test]
    fn any_text_is_read(text in r#"[ a-c$(){}'"`\\;&|<>\n\[\]=#!-]{0,60}"#) {
        parse(&text);
    }
}
