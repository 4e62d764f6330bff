//! The texts of files before and after a call, however the agent writes them.

use serde_json::json;

use super::*;
use crate::evidence::Root;
use crate::syntax::{NodeMatch, SyntaxTrigger};

/// A disk with one file, `a.ts`, and one that is too long.
#[derive(Debug)]
struct Disk;

const NOTEBOOK: &str = r##"{"cells": [{"cell_type": "markdown", "id": "m", "source": "# x"},
    {"cell_type": "code", "id": "c", "source": ["one()\n", "two()"]}]}"##;
const BEFORE: &str = "one\ntwo\nthree\n";

impl Syntax for Disk {
    fn read(&self, _: usize, path: &str, _: usize) -> FileText {
        match path {
            "a.ts" | "src/a.ts" => FileText::Text(BEFORE.to_owned()),
            "a.ipynb" => FileText::Text(NOTEBOOK.to_owned()),
            "long.ts" => FileText::TooLong,
            _ => FileText::Absent,
        }
    }

    fn find(&self, _: &SyntaxTrigger, _: &str, _: &str) -> Result<Vec<NodeMatch>, String> {
        Ok(Vec::new())
    }
}

/// Checks what a call changes: each file, and its text after the call.
#[track_caller]
fn check(tool: &str, input: &Value, wanted: &[(&str, &str)]) {
    let roots = Roots { roots: vec![Root { path: "/w".to_owned(), ..Root::default() }], home: None };
    let wire = input.as_str().map_or_else(|| input.to_string(), str::to_owned);
    let found = Changes::of(tool, &wire, &roots, &Disk, &|_| true);
    let found: Vec<(&str, &str)> =
        found.iter().map(|change| (change.file.path.as_str(), change.after.as_str())).collect();
    assert_eq!(found, wanted, "{tool} {input}");
}

/// Checks what a shell line changes.
#[track_caller]
fn check_shell(line: &str, wanted: &[(&str, &str)]) {
    check("Bash", &json!({ "command": line }), wanted);
    check("shell", &json!({ "command": ["bash", "-lc", line] }), wanted);
    check("run_commands", &json!({ "commands": [line] }), wanted);
}

#[test]
fn edits_and_whole_files() {
    let edit = |old: &str, new: &str| json!({ "file_path": "/w/a.ts", "old_string": old, "new_string": new });
    check("Edit", &edit("two", "2"), &[("a.ts", "one\n2\nthree\n")]);
    check("Edit", &edit("absent", "x"), &[("a.ts", "one\ntwo\nthree\n\nx")]);
    check(
        "replace",
        &json!({ "path": "a.ts", "old_string": "o", "new_string": "0", "expected_replacements": 2 }),
        &[("a.ts", "0ne\ntw0\nthree\n")],
    );
    check("Write", &json!({ "file_path": "b.ts", "content": "x" }), &[("b.ts", "x")]);
    // What a file starts with does not make it a patch.
    check("Write", &json!({ "file_path": "b.yaml", "content": "--- \n+a: 1" }), &[("b.yaml", "--- \n+a: 1")]);
    check(
        "MultiEdit",
        &json!({ "path": "a.ts", "edits": [
            { "old_string": "one", "new_string": "1" }, { "old_string": "two", "new_string": "2" } ] }),
        &[("a.ts", "1\n2\nthree\n")],
    );
    let insert =
        |line: u64| json!({ "command": "insert", "path": "a.ts", "insert_line": line, "insert_text": "x" });
    check("str_replace_based_edit_tool", &insert(1), &[("a.ts", "one\nx\ntwo\nthree\n")]);
    check("str_replace_based_edit_tool", &insert(9), &[("a.ts", "one\ntwo\nthree\nx")]);
}

#[test]
fn patches_and_blocks() {
    let envelope = "*** Begin Patch\n*** Update File: a.ts\n@@\n one\n-two\n+++ two;\n*** Add File: b.ts\n+new\n*** End Patch";
    let wanted = [("a.ts", "one\n++ two;\nthree\n"), ("b.ts", "new\n")];
    check("apply_patch", &json!({ "input": envelope }), &wanted);
    check("apply_patch", &json!(envelope), &wanted);
    check_shell(&format!("apply_patch <<'EOF'\n{envelope}\nEOF"), &wanted);
    check_shell(&format!("apply_patch '{envelope}'"), &wanted);
    let diff = "--- a/a.ts\n+++ b/a.ts\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n";
    check("patch", &json!({ "patch": diff }), &[("a.ts", "one\n2\nthree\n")]);
    check_shell(&format!("git apply <<'X'\n{diff}X"), &[("a.ts", "one\n2\nthree\n")]);
    check(
        "apply_diff",
        &json!({ "path": "a.ts", "diff": "@@ -1 +1 @@\n-one\n+1\n" }),
        &[("a.ts", "1\ntwo\nthree\n")],
    );
    let block = "------- SEARCH\none\n=======\n1\n+++++++ REPLACE\n<<<<<<< SEARCH\n:start_line:2\n-------\ntwo\n=======\n2\n>>>>>>> REPLACE\n";
    check("replace_in_file", &json!({ "path": "a.ts", "diff": block }), &[("a.ts", "1\n2\nthree\n")]);
}

#[test]
fn what_shell_lines_write() {
    check_shell("cat > b.ts <<EOF\nx\nEOF\n", &[("b.ts", "x\n")]);
    check_shell("cat >> a.ts <<EOF\nx\nEOF\n", &[("a.ts", "one\ntwo\nthree\nx\n")]);
    check_shell("cat <<EOF | tee -a a.ts\nx\nEOF\n", &[("a.ts", "one\ntwo\nthree\nx\n")]);
    check_shell("cd src && cat > a.ts <<'EOF'\nx\nEOF\n", &[("src/a.ts", "x\n")]);
    check_shell("sudo tee b.ts <<< 'x y'", &[("b.ts", "x y\n")]);
    check_shell("echo 'new Map()' > b.ts", &[("b.ts", "new Map()\n")]);
    check_shell("printf '%s\\n' 'x' 'y' >> a.ts", &[("a.ts", "one\ntwo\nthree\nx\ny\n\n")]);
    check_shell("bash -c 'cat > b.ts <<EOF\nx\nEOF'", &[("b.ts", "x\n")]);
    check_shell("ls > b.ts; grep '<' a.ts", &[]);
}

#[test]
fn a_file_that_is_too_long_is_marked() {
    let roots = Roots { roots: vec![Root { path: "/w".to_owned(), ..Root::default() }], home: None };
    let wire = r#"{"path": "long.ts", "old_string": "a", "new_string": "b"}"#;
    assert!(Changes::of("Edit", wire, &roots, &Disk, &|_| true)[0].is_too_long);
}

#[test]
fn the_code_of_notebooks() {
    let edit = |mode: &str, id: &str, kind: Option<&str>| json!({ "notebook_path": "/w/a.ipynb", "new_source": "new()", "edit_mode": mode, "cell_id": id, "cell_type": kind });
    let check = |input: &Value, name: &str, before: &str, after: &str| {
        let roots = Roots { roots: vec![Root { path: "/w".to_owned(), ..Root::default() }], home: None };
        let found = Changes::of("NotebookEdit", &input.to_string(), &roots, &Disk, &|_| true);
        let [change] = &found[..] else { panic!("{input}") };
        assert_eq!((&*change.name, &*change.before, &*change.after), (name, before, after), "{input}");
    };
    let old = "one()\ntwo()\n";
    check(&edit("replace", "c", None), "a.ipynb.py", old, "new()\n");
    check(&edit("replace", "c", Some("code")), "a.ipynb.py", old, "new()\n");
    check(&edit("replace", "cell-1", None), "a.ipynb.py", old, "new()\n");
    check(&edit("replace", "m", None), "a.ipynb.py", "# x\n", "\n");
    check(&edit("insert", "m", Some("code")), "a.ipynb.py", "\n", "new()\n");
    check(&edit("insert", "c", Some("markdown")), "a.ipynb.py", "\n", "\n");
    check(&edit("delete", "c", None), "a.ipynb.py", old, "\n");
    let write = |text: &str| json!({ "file_path": "/w/b.ipynb", "content": text });
    check(&write(NOTEBOOK), "b.ipynb.py", "", old);
    let rust = NOTEBOOK.replacen('{', r#"{"metadata": {"kernelspec": {"language": "Rust"}}, "#, 1);
    check(&write(&rust), "b.ipynb.rs", "", old);
    check(&write("{"), "b.ipynb.py", "", "");
    let pieces = json!({ "target_notebook": "a.ipynb", "old_string": "two()", "new_string": "2" });
    check(&pieces, "a.ipynb.py", old, "one()\n2\n");
    let pieces = json!({ "target_notebook": "a.ipynb", "old_string": "x = \"1\"", "new_string": "x = 2" });
    check(&pieces, "a.ipynb.py", "x = \"1\"\n", "x = 2\n");
}
