//! Blocks that hosts and Rulebook add to a message. They are not the user's words; some say which files are open and which mode is on.

use std::borrow::Cow;

use crate::own_text::{INTERRUPT_TAG, RULE_TAG, without_untagged};
use crate::work;

/// What the blocks of a message say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Generated {
    pub(super) tabs: Vec<String>,
    pub(super) visible: Vec<String>,
    pub(super) mode: Option<String>,
}

/// The tags of blocks that the user did not write, without their brackets.
const TAGS: &[&str] = &[
    "system-reminder",
    "system_reminder",
    "environment_context",
    ENVIRONMENT,
    "environment_info",
    "workspace_info",
    "user_instructions",
    "INSTRUCTIONS",
    "current_datetime",
    "hook_context",
    "info-msg",
    "permissions instructions",
    "reminder",
    "reminderInstructions",
    "session_context",
    EDITOR,
    OPEN_FILES,
    RULE_TAG,
    INTERRUPT_TAG,
];

/// The block in which Cline, Roo and Kilo list what is open.
const ENVIRONMENT: &str = "environment_details";

/// The block in which Copilot in VS Code names the user's file.
const EDITOR: &str = "editorContext";

/// The block in which Cursor lists files.
const OPEN_FILES: &str = "open_and_recently_viewed_files";

/// Returns a text without the blocks that hosts and Rulebook generate.
pub fn without_generated(text: &str) -> Cow<'_, str> {
    match split(text) {
        (words, _) if words.len() == text.len() => Cow::Borrowed(text),
        (words, _) => Cow::Owned(words),
    }
}

/// Returns the mode that the blocks of a message name.
pub(crate) fn mode_in(text: &str) -> Option<String> {
    text.contains(ENVIRONMENT).then(|| split(text).1.mode).flatten()
}

/// Splits a text into the user's words and what the blocks in it say. A block that is not closed is text.
pub(super) fn split(text: &str) -> (String, Generated) {
    let (mut words, mut generated) = (String::new(), Generated::default());
    // Tags that nothing closes any more: looking for their ends again would take quadratic time.
    let mut unclosed: Vec<&str> = Vec::new();
    let text = without_untagged(text);
    let mut rest = &*text;
    while let Some(at) = rest.find('<') {
        work::count(at + 1);
        let (before, block) = rest.split_at(at);
        words.push_str(before);
        match whole_block(block, &mut unclosed) {
            Some((tag, inner, after)) => {
                match tag {
                    ENVIRONMENT => generated.read(inner),
                    EDITOR => generated.read_editor(inner),
                    OPEN_FILES => generated.read_open_files(inner),
                    _ => {}
                }
                rest = after;
            }
            None => {
                words.push('<');
                rest = &block[1..];
            }
        }
    }
    words.push_str(rest);
    (words, generated)
}

/// Returns the tag, the text and what follows, if the text starts with a block.
fn whole_block<'t>(text: &'t str, unclosed: &mut Vec<&str>) -> Option<(&'static str, &'t str, &'t str)> {
    let tag = TAGS.iter().filter(|tag| !unclosed.contains(*tag)).find(|tag| {
        let after = text[1..].strip_prefix(**tag);
        after.is_some_and(|after| after.starts_with(|c: char| c == '>' || c.is_whitespace()))
    })?;
    let close = format!("</{tag}>");
    let end = text.find(&close);
    work::count(end.unwrap_or(text.len()));
    let Some(end) = end else {
        unclosed.push(tag);
        return None;
    };
    let start = text[..end].find('>')? + 1;
    Some((tag, &text[start..end], &text[end + close.len()..]))
}

impl Generated {
    /// Reads the sections of Cline's block: each has a heading, then one entry per line.
    fn read(&mut self, block: &str) {
        let mut section = "";
        for line in block.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if let Some(heading) = line.strip_prefix("# ") {
                section = heading;
                continue;
            }
            let is_path = !line.starts_with('(');
            match () {
                () if section.ends_with("Visible Files") && is_path => self.visible.push(line.to_owned()),
                () if section.ends_with("Open Tabs") && is_path => self.tabs.push(line.to_owned()),
                () if section == "Current Mode" && self.mode.is_none() => self.mode = mode(line),
                () => {}
            }
        }
    }
}

impl Generated {
    /// Reads VS Code's sentence: `The user's current file is PATH. The current selection is …`.
    fn read_editor(&mut self, block: &str) {
        let named = block.lines().filter_map(|line| line.trim().strip_prefix("The user's current file is "));
        let path = |rest: &str| {
            rest.split_once(". ").map_or(rest, |(path, _)| path).trim_end_matches('.').to_owned()
        };
        self.visible.extend(named.map(path));
    }

    /// Reads Cursor's lists: files that are visible, and files that were viewed, one per line with remarks in parentheses.
    fn read_open_files(&mut self, block: &str) {
        let mut is_visible = false;
        for line in block.lines().map(str::trim) {
            match line.strip_prefix("- ") {
                Some(entry) => {
                    let path = entry.split_once(" (").map_or(entry, |(path, _)| path).to_owned();
                    if is_visible { self.visible.push(path) } else { self.tabs.push(path) }
                }
                None if line.ends_with(':') => is_visible = line.contains("visible"),
                None => {}
            }
        }
    }
}

/// Reads a mode: `PLAN MODE`, or `<slug>code</slug>`.
fn mode(line: &str) -> Option<String> {
    let slug = line.strip_prefix("<slug>").and_then(|rest| rest.strip_suffix("</slug>"));
    let name = slug.or_else(|| line.lines().next()?.strip_suffix(" MODE"));
    name.map(|name| name.trim().to_lowercase()).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_not_the_users_words() {
        #[track_caller]
        fn check(text: &str, words: &str) {
            assert_eq!(without_generated(text), words);
        }
        check("fix a < b", "fix a < b");
        check("<system-reminder>x</system-reminder>fix it", "fix it");
        check("a<reminder id=\"1\">x</reminder>b<reminder>y</reminder>c", "abc");
        check("go<rulebook-rule name=\"a\">\nsee b/c.ts\n</rulebook-rule>", "go");
        check("<system-interrupt reason=\"x\">\nsee b/c.ts\n</system-interrupt>", "");
        check("<reminders>x</reminders>", "<reminders>x</reminders>");
        check("<system-reminder> open", "<system-reminder> open");
        check(&"<reminder>".repeat(9), &"<reminder>".repeat(9));
        check("<é><hook_context source=\"x\">\n</hook_context>é", "<é>é");
    }

    #[test]
    fn the_environment_lists_open_files_and_the_mode() {
        let text = "do it\n<environment_details>\n# Visual Studio Code Visible Files\nsrc/a.ts\n\n\
            # VSCode Open Tabs\nsrc/a.ts\nsrc/b c.ts\n\n# Current Working Directory (/x) Files\nREADME.md\n\n\
            # Current Mode\nPLAN MODE\nIn this mode…\n</environment_details>";
        let (words, found) = split(text);
        assert_eq!(words.trim(), "do it");
        assert_eq!(found.visible, ["src/a.ts"]);
        assert_eq!(found.tabs, ["src/a.ts", "src/b c.ts"]);
        assert_eq!(found.mode.as_deref(), Some("plan"));
        let (_, empty) = split(
            "<environment_details>\n# VSCode Open Tabs\n(No open tabs)\n# Current Mode\n<slug>code</slug>\n</environment_details>",
        );
        assert_eq!(empty, Generated { mode: Some("code".to_owned()), ..Generated::default() });
    }

    #[test]
    fn editors_name_the_files_that_are_open() {
        let (words, found) = split(
            "fix it\n<editorContext>\nThe user's current file is /repo/src/a.b.ts. The current selection is from line 1 to line 2.\n</editorContext>",
        );
        assert_eq!((words.trim(), &found.visible[..]), ("fix it", &["/repo/src/a.b.ts".to_owned()][..]));
        let (_, found) = split("<editorContext>The user's current file is C:\\r\\a.ts. </editorContext>");
        assert_eq!(found.visible, ["C:\\r\\a.ts"]);
        let (_, found) = split(
            "<open_and_recently_viewed_files>\nRecently viewed files (recent at the top, oldest at the bottom):\n- /repo/b.ts (total lines: 3)\n\n\
            Files that are currently open and visible in the user's IDE:\n- /repo/a.ts (currently focused file, cursor is on line 1, total lines: 9)\n\n\
            Note: these files may or may not be relevant.\n</open_and_recently_viewed_files>",
        );
        assert_eq!(
            (found.visible, found.tabs),
            (vec!["/repo/a.ts".to_owned()], vec!["/repo/b.ts".to_owned()])
        );
    }
}
