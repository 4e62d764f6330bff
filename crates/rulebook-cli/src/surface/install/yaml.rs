//! Edits YAML: adds entries to a block of a host's settings and removes them again, without touching any other byte.
//!
//! Our entries are the first of the block. Where the file had no such block, the line of its key says that we added it.

use std::ops::Range;

use rulebook_workspace::wiring::{SERVER, Section, document, section};
use serde_json::Value as Json;

use super::fault::Fault;
use super::program::Program;

/// The key under which Goose lists its servers.
const KEY: &str = "extensions";

/// The end of a line that we added.
pub(super) const MARK: &str = "# added by `rulebook install`";

/// Returns the text with our server; a new file consists of it.
pub(super) fn add(text: Option<&str>, program: &Program) -> Result<String, Fault> {
    let command = Json::from(program.path.as_str());
    let entry = [
        format!("{SERVER}:"),
        "  enabled: true".to_owned(),
        "  type: stdio".to_owned(),
        format!("  name: {SERVER}"),
        "  description: The rules of this workspace".to_owned(),
        format!("  cmd: {command}"),
        "  args: [mcp]".to_owned(),
        "  envs: {}".to_owned(),
        "  timeout: 30".to_owned(),
    ];
    let Some(text) = text else { return add_lines(None, KEY, &entry) };
    let Some(own) = Entry::find(text) else { return add_lines(Some(text), KEY, &entry) };
    if !own.is_ours(program) {
        return Err(Fault::other_server(own.at));
    }
    let mut changed = text.to_owned();
    if own.program != program.path {
        changed.replace_range(own.value, &command.to_string());
    }
    Ok(changed)
}

/// The entry of a server with our name.
struct Entry {
    /// Where it starts.
    at: usize,
    program: String,
    /// Where the program is written.
    value: Range<usize>,
    /// Whether the program gets what `install` writes, and nothing else.
    is_plain: bool,
}

impl Entry {
    /// Finds it; `None` if there is none.
    fn find(text: &str) -> Option<Entry> {
        let (_, lines) = section(text, KEY)?.entries.into_iter().find(|(name, _)| name == SERVER)?;
        let end = lines.end;
        let value = |key: &str| {
            let mut start = lines.start;
            text[lines.clone()].split_inclusive('\n').find_map(|line| {
                let at = start;
                start += line.len();
                let value = line.trim().strip_prefix(key)?.strip_prefix(':')?.trim();
                let from = at + line.rfind(value)?;
                Some(from..from + value.len())
            })
        };
        let cmd = value("cmd").unwrap_or(end..end);
        let program = text[cmd.clone()].trim_matches(['"', '\'']).to_owned();
        // Goose rewrites the list with a line per argument.
        let args =
            value("args").map_or("", |at| if at.is_empty() { &text[at.start..end] } else { &text[at] });
        let items = args.split(['[', ']', ',', '\n']).map(|item| item.trim().trim_start_matches("- "));
        let mut items = items.map(|item| item.trim_matches(['"', '\''])).filter(|item| !item.is_empty());
        let is_alone = items.next() == Some("mcp") && items.next().is_none_or(|next| next.contains(':'));
        let has_envs = value("envs").is_some_and(|at| &text[at] != "{}");
        Some(Entry {
            at: lines.start + 1,
            is_plain: is_alone && !has_envs && !program.is_empty(),
            program,
            value: cmd,
        })
    }

    fn is_ours(&self, program: &Program) -> bool {
        self.is_plain || program.is_ours(&self.program)
    }
}

/// Returns the text without our server; `None` if it contained nothing else. A server that the user changed stays.
pub(super) fn remove(text: &str) -> Option<String> {
    let is_ours = Entry::find(text).is_some_and(|own| own.is_plain);
    remove_entries(text, KEY, &|name| is_ours && name == SERVER)
}

/// Adds lines at the start of the block of a key.
pub(super) fn add_lines(text: Option<&str>, key: &str, lines: &[String]) -> Result<String, Fault> {
    let is_new = text.is_none();
    let text = text.unwrap_or_default();
    let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let written =
        |indent: &str| -> String { lines.iter().map(|line| format!("{line_end}{indent}{line}")).collect() };
    let Some(found) = section(text, key) else {
        let block = format!("{key}: {MARK}{}", written("  "));
        // What ends the document stays after it.
        let (text, rest) = text.split_at(document(text).end);
        return Ok(match is_new || text.ends_with('\n') || !rest.is_empty() {
            true => format!("{text}{block}{line_end}{rest}"),
            false => format!("{text}{line_end}{block}"),
        });
    };
    if !found.value.is_empty() && !found.value.starts_with('#') {
        let message = format!("write `{key}` as a block, one line per entry");
        return Err(Fault::new(found.key.start, message));
    }
    let indent = if found.entries.is_empty() { "  " } else { &found.indent };
    let (before, after) = text.split_at(found.key.end);
    Ok(format!("{before}{}{after}", written(indent)))
}

/// Removes entries of a key, and the key if we added it; `None` if nothing is left.
pub(super) fn remove_entries(text: &str, key: &str, is_ours: &dyn Fn(&str) -> bool) -> Option<String> {
    let left = without(text, key, is_ours);
    match section(&left, key) {
        Some(Section { key, value, entries, .. }) if entries.is_empty() && value == MARK => {
            let (before, after) = (&left[..key.start], &left[key.end..]);
            let after = after.strip_prefix("\r\n").or_else(|| after.strip_prefix('\n'));
            let before = match after {
                Some(_) => before,
                // The file did not end in a newline.
                None => before.strip_suffix('\n').map_or(before, |line| line.trim_end_matches('\r')),
            };
            // A file that was empty did not end in a newline.
            let is_new = after.is_some();
            let left = format!("{before}{}", after.unwrap_or_default());
            Some(left).filter(|left| !(is_new && left.is_empty()))
        }
        _ => Some(left),
    }
}

/// The text without some entries of a key.
pub(super) fn without(text: &str, key: &str, is_ours: &dyn Fn(&str) -> bool) -> String {
    let entries = section(text, key).into_iter().flat_map(|found| found.entries);
    let mut left = text.to_owned();
    for (_, at) in entries.filter(|(name, _)| is_ours(name)).collect::<Vec<_>>().into_iter().rev() {
        left.replace_range(at, "");
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program() -> Program {
        Program::new("rulebook", "goose").unwrap()
    }

    #[test]
    fn a_file_comes_back_byte_for_byte() {
        for before in [
            "",
            "\n",
            "# mine",
            "GOOSE_MODEL: x",
            "GOOSE_MODEL: x\r\nb: 2\r\n",
            "extensions:",
            "extensions:\n",
            "extensions: # mine\n    a:\n        cmd: x\n\n    # end\nb: 1",
            "\u{feff}a: 1\n",
            "\u{feff}extensions:\n  a:\n    cmd: x\n",
            "a: 1\n...\n",
            "...\n",
            "---\na: 1\n---\nextensions:\n  b: 1\n",
            "a:\n  rulebook: 1\nextensions:\n  z:\n    args:\n    - x\n",
        ] {
            let after = add(Some(before), &program()).unwrap();
            assert_ne!(after, before);
            assert_eq!(add(Some(&after), &program()).unwrap(), after, "{before:?}");
            assert_eq!(remove(&after).as_deref(), Some(before), "{after:?}");
            assert_eq!(remove(before).as_deref(), Some(before));
        }
        assert_eq!(remove(&add(None, &program()).unwrap()), None);
    }

    #[test]
    fn a_server_of_the_user_stays() {
        #[track_caller]
        fn check(entry: &str, added: Option<&str>, removed: &str) {
            let text = |entry: &str| format!("extensions:\n  rulebook:\n{entry}  other:\n    cmd: x\n");
            assert_eq!(add(Some(&text(entry)), &program()).ok(), added.map(text), "{entry}");
            let left = if removed.is_empty() {
                "extensions:\n  other:\n    cmd: x\n".to_owned()
            } else {
                text(removed)
            };
            assert_eq!(remove(&text(entry)), Some(left), "{entry}");
        }
        let own = "    cmd: /x/rulebook\n    args: [mcp, --root, ../other]\n";
        check(own, Some("    cmd: \"rulebook\"\n    args: [mcp, --root, ../other]\n"), own);
        let with_envs = "    cmd: \"rulebook\"\n    args: [mcp]\n    envs:\n      A: b\n";
        check(with_envs, Some(with_envs), with_envs);
        let foreign = "    cmd: mine\n    args: []\n";
        check(foreign, None, foreign);
        check("    uri: http://x\n", None, "    uri: http://x\n");
        let rewritten = "    cmd: rulebook\n    args:\n    - mcp\n    envs: {}\n    timeout: 30\n";
        check(rewritten, Some(rewritten), "");
    }

    #[test]
    fn another_program_is_replaced_and_a_list_on_one_line_is_reported() {
        let other = Program::new("/opt/rb", "goose").unwrap();
        let after = add(Some("a: 1\n"), &other).unwrap();
        assert_eq!(add(Some(&after), &program()).unwrap(), add(Some("a: 1\n"), &program()).unwrap());
        let fault = add(Some("a: 1\nextensions: {}\n"), &program()).unwrap_err();
        assert_eq!(
            (fault.at, fault.message.as_str()),
            (5, "write `extensions` as a block, one line per entry")
        );
    }
}
