//! Any split of the text gives each file the same added text.

use proptest::prelude::*;

use super::*;
use crate::stream::tests::sizes;

/// An owned part.
#[derive(Clone, Debug, PartialEq)]
enum Kept {
    File(String),
    Added(String),
    Plain(String),
}

impl Kept {
    fn of(part: Part<'_>) -> Option<Kept> {
        Some(match part {
            Part::Removed(_) => return None,
            Part::File(path) | Part::UnknownFile(path) => Kept::File(path.to_owned()),
            Part::Added(text) => Kept::Added(text.to_owned()),
            Part::Plain(text) => Kept::Plain(text.to_owned()),
        })
    }
}

/// Whether the text is a patch; `None` if its first line does not decide yet.
fn is_patch(patch: &Patch) -> Option<bool> {
    match patch.form {
        Form::Unknown { .. } => None,
        Form::Plain => Some(false),
        Form::Envelope | Form::After | Form::Diff(_) | Form::Blocks(_) => Some(true),
    }
}

/// The parts, with adjacent parts of one kind joined, so that splits do not show.
fn read<'a>(chunks: impl IntoIterator<Item = &'a str>) -> (Vec<Kept>, Option<bool>) {
    let (mut patch, mut out) = (Patch::default(), Vec::new());
    let mut known = None;
    for chunk in chunks {
        patch.feed(chunk, &mut |part| out.extend(Kept::of(part)));
        assert!(known.is_none() || known == is_patch(&patch), "a decision is final");
        known = is_patch(&patch);
        assert!(patch.held.len() <= MAX_LINE + 1, "{}", patch.held.len());
    }
    patch.finish(&mut |part| out.extend(Kept::of(part)));
    assert!(known.is_none() || known == is_patch(&patch), "a decision is final");
    (join(out), is_patch(&patch))
}

fn join(parts: Vec<Kept>) -> Vec<Kept> {
    parts.into_iter().fold(Vec::new(), |mut joined, part| {
        match (joined.last_mut(), &part) {
            (Some(Kept::Added(text)), Kept::Added(more)) | (Some(Kept::Plain(text)), Kept::Plain(more)) => {
                text.push_str(more);
            }
            _ => joined.push(part),
        }
        joined
    })
}

fn show(parts: &[Kept]) -> String {
    let shown: Vec<String> = parts
        .iter()
        .map(|part| match part {
            Kept::File(path) => format!("[{path}]"),
            Kept::Added(text) => format!("+{text:?}"),
            Kept::Plain(text) => format!("={text:?}"),
        })
        .collect();
    shown.join(" ")
}

fn cut<'a>(text: &'a str, sizes: &[usize]) -> Vec<&'a str> {
    let (mut rest, mut chunks) = (text, Vec::new());
    for size in sizes.iter().cycle().take(text.len()) {
        let (chunk, after) = rest.split_at(rest.ceil_char_boundary((*size).min(rest.len())));
        chunks.push(chunk);
        rest = after;
    }
    chunks.push(rest);
    chunks
}

#[track_caller]
fn check(text: &str, wanted: &str) {
    let (parts, known) = read([text]);
    assert_eq!(show(&parts), wanted, "{text}");
    let is_plain = parts == [Kept::Plain(text.to_owned())];
    assert_eq!(known, Some(!is_plain));
    assert_eq!(read(cut(text, &[1])), (parts.clone(), known), "character by character");
    for (at, _) in text.char_indices() {
        assert_eq!(read([&text[..at], &text[at..]]), (parts.clone(), known), "cut at {at}");
    }
}

#[test]
fn an_envelope_adds_its_plus_lines() {
    check(
        "*** Begin Patch\n*** Add File: src/a.rs\n+one\n+\n+two\n*** End Patch\n",
        r#"[src/a.rs] +"one\n\ntwo\n""#,
    );
    check(
        "*** Begin Patch\n*** Update File: a\n*** Move to: b c\n@@ fn f()\n keep\n-old\n+new\n\n+++x\n*** End of File\n*** Delete File: d\n*** End Patch",
        r#"[a] [b c] +"new\n++x\n" [d]"#,
    );
    check("*** Begin Patch\r\n*** Add File: a\r\n+x\r\n*** End Patch\r\n", r#"[a] +"x\r\n""#);
    check("*** Update File: a\n@@\n-x\n+y", r#"[a] +"y""#);
    check("*** Add File: a\n+*** End Patch\n+@@\n++\n", r#"[a] +"*** End Patch\n@@\n+\n""#);
    check("*** Begin Patch \n*** Add File: a\n*x\n**\n+y", r#"[a] +"y""#);
}

#[test]
fn text_around_an_envelope_is_plain() {
    check("\n  *** Begin Patch\n*** Add File: a\n+x\n*** End Patch\nEOF\n", r#"="\n  " [a] +"x\n" ="EOF\n""#);
    check(
        "*** Add File: a\n+x\n*** End Patch\n--- \n*** Begin Patch\n*** Add File: b\n+y\n*** End Patch\n**",
        r#"[a] +"x\n" ="--- \n" [b] +"y\n" ="**""#,
    );
}

#[test]
fn a_diff_adds_its_plus_lines() {
    check(
        "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@ fn f\n keep\n-old\n+new\n",
        r#"[x] +"new\n""#,
    );
    check("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b", r#"[x] +"b""#);
    check(
        "--- x\t2024-01-01 10:00\n+++ x\t2024-01-02\n@@ -0,0 +1,2 @@\n+a\r\n+b\r\n",
        r#"[x] +"a\r\nb\r\n""#,
    );
    check("--- /dev/null\r\n+++ b/x y\r\n@@ -0,0 +1 @@\r\n+a\r\n", r#"[x y] +"a\r\n""#);
    check("--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", "[x]");
    check("--- b/x\n+++ b/x\n@@ -1 +1 @@\n+a\n", r#"[b/x] +"a\n""#);
    check("--- \"a/\\303\\251\\t\"\n+++ \"b/\\303\\251\\t\"\n@@ -0,0 +1 @@\n+a\n", "[é\t] +\"a\\n\"");
    check("@@ -1 +1 @@\n-a\n+b\n", r#"+"b\n""#);
    check("@@\n-a\n+b\n", r#"+"b\n""#);
}

#[test]
fn a_git_line_names_a_file_without_hunks() {
    check("diff --git a/x b/x\nold mode 1\nnew mode 2\ndiff --git a/p q b/p q\n", "[x] [p q]");
    check("diff --git a/x b/y\nrename from x\nrename to y\n", "[y]");
    check("diff --git x x\n--- x\n+++ x\n@@ -0,0 +1 @@\n+a\n", r#"[x] +"a\n""#);
    check("diff --git a/d b/x b/d b/x\n", "[d b/x]");
    check("diff --git \"a/\\\"\" \"b/\\\"\"\n--- \"a/\\\"\"\n+++ \"b/\\\"\"\n", "[\"]");
    check("diff --git \n", "");
}

#[test]
fn line_counts_end_a_hunk() {
    check("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a\n+++ b\n-c\n+d\n", r#"[x] +"++ b\nd\n""#);
    check(
        "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n--- a/y\n+++ b/y\n@@ -1 +1,2 @@\n\n+d\n\\ No newline at end of file\n",
        r#"[x] +"b\n" [y] +"d\n""#,
    );
}

#[test]
fn wrong_counts_lose_no_added_line() {
    check("@@ -1 +1 @@\n-a\n+b\n+c\n c\n+++ d\n", r#"+"b\nc\n++ d\n""#);
    check(
        "--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n-a\n+b\ndiff --git a/y b/y\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n+c\n",
        r#"[x] +"b\n" [y] +"c\n""#,
    );
    check(
        "--- a/x\n+++ b/x\n@@ -1 +1,9 @@\n-a\n+b\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n+c\n",
        r#"[x] +"b\n" [y] +"c\n""#,
    );
    check(
        "--- a/x\n+++ b/x\n@@ ... @@\n+b\n@@ -x +y @@\n+c\n--- a/y\n+++ b/y\n+d\n",
        r#"[x] +"b\nc\n" [y] +"d\n""#,
    );
}

#[test]
fn search_and_replace_blocks_add_their_new_text() {
    check(
        "<<<<<<< SEARCH\n:start_line:1\n-------\nold\n=======\nnew\n===\n>>>>>>> REPLACE\n",
        r#"="new\n===\n""#,
    );
    check(
        "------- SEARCH\nold\n=======\nnew\n+++++++ REPLACE\n\n------- SEARCH\nx\n=======\n======= y\n+++++++ REPLACE",
        r#"="new\n\n======= y\n""#,
    );
}

#[test]
fn any_other_text_is_plain() {
    for text in [
        "x",
        "ls -l\n+a\n",
        "---\ntitle: x\n---\n",
        "--- a/x\n",
        "--- a/x\n++",
        "--- a/x\nnot a diff\n+a\n",
        "*** Begin Patchwork\n+a\n",
        "*** Begin Patch",
        "@@variable = 1\n+a\n",
        "diff --gi",
        "<<<<<<< SEARC",
        "------- SEARC",
        "\n\n +a\n",
        "x\n*** Begin Patch\n*** Add File: a\n+a\n",
    ] {
        check(text, &format!("={text:?}"));
    }
    assert_eq!(read([]), (vec![], Some(false)));
}

#[test]
fn plain_text_is_passed_on_as_soon_as_it_is_certain() {
    for (text, known) in [
        ("", None),
        (" \n", None),
        ("*** B", None),
        ("*** x", Some(false)),
        ("r", Some(false)),
        ("--- a/x\n++", None),
        ("--- a/x\n+++ ", Some(true)),
        ("--- a/x\n++x", Some(false)),
        ("diff --git ", Some(true)),
    ] {
        let mut patch = Patch::default();
        patch.feed(text, &mut |_| {});
        assert_eq!(is_patch(&patch), known, "{text:?}");
    }
}

#[test]
fn an_added_line_is_not_held() {
    let (mut patch, mut out) = (Patch::default(), Vec::new());
    for text in ["*** Add File: a\n+be", "gin"] {
        patch.feed(text, &mut |part| out.extend(Kept::of(part)));
    }
    assert_eq!(show(&out), r#"[a] +"be" +"gin""#);
}

#[test]
fn held_lines_are_limited() {
    let long = "x".repeat(MAX_LINE);
    for sizes in [vec![1], vec![1000], vec![2 * MAX_LINE]] {
        let check = |text: &str, wanted: &str| assert_eq!(show(&read(cut(text, &sizes)).0), wanted);
        check(
            &format!("*** Add File: a\n*** Add File: {long}\n+b\n"),
            &format!("[a] =\"*** Add File: {long}\\n\" +\"b\\n\""),
        );
        check(&format!("@@ -1 +1 @@ {long}\n+b\n"), &format!("=\"@@ -1 +1 @@ {long}\\n\" +\"b\\n\""));
        check(&format!("--- {long}\n+++ b\n"), &format!("=\"--- {long}\\n+++ b\\n\""));
        check(&format!("*** Add File: a\n+{long}{long}\n"), &format!("[a] +\"{long}{long}\\n\""));
        let fits = "x".repeat(MAX_LINE - "*** Add File: ".len());
        check(&format!("*** Add File: {fits}\n"), &format!("[{fits}]"));
    }
}

/// The hunks of a file, with lines to keep, to remove and to add.
type Hunks = Vec<Vec<(char, String)>>;

fn files() -> impl Strategy<Value = Vec<(String, Hunks)>> {
    let text = prop_oneof![
        "[a+@* é-]{0,6}",
        Just("-- a/x".into()),
        Just("++ b/x".into()),
        Just("*** End Patch".into())
    ];
    let line = (prop::sample::select(vec!['+', '-', ' ']), text);
    let hunk = prop::collection::vec(line, 1..6);
    prop::collection::vec(("[a-z]{1,3}(/[a-z é]{1,3}z)?", prop::collection::vec(hunk, 1..3)), 1..4)
}

fn wanted(files: &[(String, Hunks)], newline: &str) -> Vec<Kept> {
    let mut parts = Vec::new();
    for (path, hunks) in files {
        parts.push(Kept::File(path.clone()));
        let added = hunks.iter().flatten().filter(|(kind, _)| *kind == '+');
        let text: String = added.map(|(_, text)| format!("{text}{newline}")).collect();
        parts.extend((!text.is_empty()).then_some(Kept::Added(text)));
    }
    parts
}

fn as_diff(files: &[(String, Hunks)]) -> String {
    let mut text = String::new();
    for (path, hunks) in files {
        text += &format!("--- a/{path}\n+++ b/{path}\n");
        for hunk in hunks {
            let count = |other: char| hunk.iter().filter(|(kind, _)| *kind != other).count();
            text += &format!("@@ -7,{} +8,{} @@ x\n", count('+'), count('-'));
            text.extend(hunk.iter().map(|(kind, line)| format!("{kind}{line}\n")));
        }
    }
    text
}

fn as_envelope(files: &[(String, Hunks)]) -> String {
    let mut text = "*** Begin Patch\n".to_owned();
    for (path, hunks) in files {
        text += &format!("*** Update File: {path}\n");
        for hunk in hunks {
            text += "@@\n";
            text.extend(hunk.iter().map(|(kind, line)| format!("{kind}{line}\n")));
        }
    }
    text + "*** End Patch\n"
}

/// Lines of patches in any order, complete or not.
fn soup() -> impl Strategy<Value = String> {
    #[rustfmt::skip]
    let piece = prop::sample::select(vec![
        "*** Begin Patch\n", "*** Add File: a\n", "*** Update File: b\n", "*** Move to: c\n", "*** End Patch\n",
        "*** ", "@@\n", "diff --git a/x b/x\n", "--- a/x\n", "+++ b/x\n", "--- ", "+++ ", "@@ -1,2 +1,2 @@\n",
        "@@ -1 +0,0 @@\n", "@@ ", "+a\n", "-a\n", " a\n", "\\ No\n", "+", "-", "\r\n", "\n", " ", "é", "x",
        "<<<<<<< SEARCH\n", "=======\n", ">>>>>>> REPLACE\n", "------- SEARCH\n", "=", ">>>",
    ]);
    prop::collection::vec(piece, 0..16).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_patch_gives_its_added_lines_in_any_chunks(files in files(), sizes in sizes()) {
        for text in [as_diff(&files), as_envelope(&files)] {
            prop_assert_eq!(&read(cut(&text, &sizes)), &(wanted(&files, "\n"), Some(true)), "{}", text);
            let text = text.replace('\n', "\r\n");
            prop_assert_eq!(&read(cut(&text, &sizes)), &(wanted(&files, "\r\n"), Some(true)), "{}", text);
        }
    }

    #[test]
    fn any_text_gives_the_same_result_in_any_chunks(text in any::<String>(), soup in soup(), sizes in sizes()) {
        for text in [text, soup] {
            let (parts, known) = read([text.as_str()]);
            prop_assert_eq!(&read(cut(&text, &sizes)), &(parts.clone(), known), "{}", text);
            if known == Some(false) {
                let plain: Vec<Kept> = (!text.is_empty()).then_some(Kept::Plain(text)).into_iter().collect();
                prop_assert_eq!(parts, plain);
            }
        }
    }
}
