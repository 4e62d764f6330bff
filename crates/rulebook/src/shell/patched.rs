//! The files that a patch names.

use std::collections::HashSet;

use super::command::{Command, Redirect};

impl Command {
    /// The files of the patch that it applies, if it is given one.
    pub(super) fn patched(&self) -> Vec<String> {
        if !self.name().is_some_and(|name| matches!(&*name, "apply_patch" | "applypatch")) {
            return Vec::new();
        }
        let words = self.words.iter().skip(1).map(|word| word.text.as_str());
        let read = self.redirects.iter().filter_map(Redirect::text).map(|word| word.text.as_str());
        words.chain(read).flat_map(patched_files).collect()
    }
}

/// The files of a patch: `*** Update File: …` headers, or the two lines that open a file in a unified diff.
pub(crate) fn patched_files(text: &str) -> Vec<String> {
    const HEADERS: &[&str] =
        &["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ", "rename to "];
    let (mut files, mut known) = (Vec::new(), HashSet::from(["", "/dev/null"]));
    let mut add = |name| {
        if known.insert(name) {
            files.push(str::to_owned(name));
        }
    };
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(name) = HEADERS.iter().find_map(|header| line.strip_prefix(header)) {
            add(name.trim());
        }
        let after = lines.peek().and_then(|next| next.strip_prefix("+++ "));
        if let (Some(before), Some(after)) = (line.strip_prefix("--- "), after) {
            for name in [before, after] {
                let name = name.split('\t').next().unwrap_or(name).trim();
                add(name.strip_prefix("a/").or_else(|| name.strip_prefix("b/")).unwrap_or(name));
            }
        }
    }
    files
}
