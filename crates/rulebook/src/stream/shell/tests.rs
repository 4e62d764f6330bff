//! Any split of a command gives each file the same text.

use proptest::prelude::*;

use super::*;
use crate::stream::tests::sizes;

/// The texts outside of files and those of each file, in order, as `=text` and `FILE+text`.
fn read<'a>(chunks: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let (mut shell, mut file) = (Shell::default(), String::new());
    let mut parts: Vec<(String, String)> = Vec::new();
    let mut take = |part: Part<'_>| {
        let (name, text) = match part {
            Part::File(path) => {
                path.clone_into(&mut file);
                return;
            }
            Part::UnknownFile(path) => {
                file = format!("?{path}");
                return;
            }
            Part::Removed(_) => return,
            Part::Added(text) => (format!("{file}+"), text),
            Part::Plain(text) => ("=".to_owned(), text),
        };
        match parts.last_mut() {
            Some((last, whole)) if *last == name => whole.push_str(text),
            _ => parts.push((name, text.to_owned())),
        }
    };
    for chunk in chunks {
        shell.feed(chunk, &mut take);
    }
    shell.finish(&mut take);
    parts.into_iter().map(|(name, text)| name + &text).collect()
}

#[track_caller]
fn check(command: &str, wanted: &[&str]) {
    assert_eq!(read([command]), wanted, "{command}");
}

#[test]
fn a_command_without_here_documents_is_passed_on() {
    check("git push --force", &["=git push --force"]);
    check("a\nb <<< c\nd", &["=a\nb <<< c\nd"]);
    check("echo 'a << b' \"<<c\"\nd", &["=echo 'a << b' \"<<c\"\nd"]);
}

#[test]
fn a_here_document_belongs_to_the_file_it_is_written_to() {
    check("cat > a.ts <<'EOF'\nlet x\nEOF\nls", &["=cat > a.ts <<'EOF'\n", "a.ts+let x\n", "=ls"]);
    check("cat <<EOF >> 'a b.ts'\nx\nEOF", &["=cat <<EOF >> 'a b.ts'\n", "a b.ts+x\n"]);
    check(
        "cat <<-E | sudo tee -a a.ts > /dev/null\n\tx\n\tE\ny",
        &["=cat <<-E | sudo tee -a a.ts > /dev/null\n", "a.ts+\tx\n", "=y"],
    );
    check("python - <<E\nx\nE", &["=python - <<E\nx\n"]);
    check("python 2> err.log <<E\nx\nE\ny", &["=python 2> err.log <<E\nx\ny"]);
    check(
        "cat > a <<E && cat > b <<F\n1\nE\n2\nF\n3",
        &["=cat > a <<E && cat > b <<F\n", "a+1\n", "b+2\n", "=3"],
    );
    check("cat > a <<EOF\nEOFX\nEO\nEOF\nz", &["=cat > a <<EOF\n", "a+EOFX\nEO\n", "=z"]);
    check("cat > a <<EOF\nnever ended", &["=cat > a <<EOF\n", "a+never ended"]);
}

#[test]
fn a_file_named_by_a_variable_is_unknown_except_in_the_current_folder() {
    check("cat > \"$PWD/src/a.ts\" <<E\nx\nE", &["=cat > \"$PWD/src/a.ts\" <<E\n", "src/a.ts+x\n"]);
    check("tee ${PWD}/a.ts <<E\nx\nE", &["=tee ${PWD}/a.ts <<E\n", "a.ts+x\n"]);
    check("cat > $DIR/a.ts <<E\nx\nE", &["=cat > $DIR/a.ts <<E\n", "?$DIR/a.ts+x\n"]);
    check("tee \"$(mktemp)\" <<E\nx\nE", &["=tee \"$(mktemp)\" <<E\n", "?$(mktemp)+x\n"]);
    check("tee -a \"$A\" b <<E\nx\nE", &["=tee -a \"$A\" b <<E\n", "b+x\n"]);
    check("cat <<E > >(sh)\nx\nE", &["=cat <<E > >(sh)\nx\n"]);
}

#[test]
fn a_here_document_of_an_inner_shell_belongs_to_its_file() {
    let inner = "cat > src/a.ts <<EOF\nx\nEOF";
    check(&format!("bash -c '{inner}'"), &[&format!("=bash -c '{inner}'"), "src/a.ts+x\n"]);
    check("bash -c 'cat <<E\nx\nE'", &["=bash -c 'cat <<E\nx\nE'"]);
}

#[test]
fn the_added_lines_of_a_patch_belong_to_its_files() {
    let patch = "*** Begin Patch\n*** Update File: a.ts\n-old\n+new\n*** End Patch\n";
    check(&format!("apply_patch <<'EOF'\n{patch}EOF\nls"), &["=apply_patch <<'EOF'\n", "a.ts+new\n", "=ls"]);
    check(
        &format!("apply_patch '{patch}' && ls"),
        &["=apply_patch '*** Begin Patch\n", "a.ts+new\n", "=' && ls"],
    );
    check(patch, &["=*** Begin Patch\n", "a.ts+new\n"]);
    check(
        "git apply <<E\n--- a/x.ts\n+++ b/x.ts\n@@ -1 +1 @@\n-old\n+new\nE",
        &["=git apply <<E\n", "x.ts+new\n"],
    );
}

proptest! {
    #[test]
    fn every_split_gives_the_same_texts(
        lines in prop::collection::vec(
            prop::sample::select(vec![
                "cat > a.ts <<E", "cat <<-'F' | tee b", "E", "\tF", "F", "*** Begin Patch", "*** Update File: c", "+new",
                "-old", "*** End Patch", "EX", "ls", "", "--- a/x", "+++ b/x", "@@ -1 +1 @@",
            ]),
            0..14,
        ),
        sizes in sizes(),
    ) {
        let command = lines.join("\n");
        let (mut rest, mut chunks) = (command.as_str(), Vec::new());
        for size in sizes.iter().cycle().take(command.len()) {
            let (chunk, after) = rest.split_at(rest.ceil_char_boundary((*size).min(rest.len())));
            chunks.push(chunk);
            rest = after;
        }
        chunks.push(rest);
        prop_assert_eq!(read(chunks), read([command.as_str()]));
    }
}
