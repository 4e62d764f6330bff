//! Edits YAML: adds entries to a block of a host's settings and removes them again, without touching any other byte.
//!
//! Our entries are the first of the block. Where the file had no such block, the line of its key says that we added it.

use rulebook_workspace::wiring::{SERVER, Section, section};
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
    let text = text.map(|text| without(text, KEY, &|name| name == SERVER));
    add_lines(&text.unwrap_or_default(), KEY, &entry)
}

/// Returns the text without our server; `None` if it contained nothing else.
pub(super) fn remove(text: &str) -> Option<String> {
    remove_entries(text, KEY, &|name| name == SERVER)
}

/// Adds lines at the start of the block of a key.
pub(super) fn add_lines(text: &str, key: &str, lines: &[String]) -> Result<String, Fault> {
    let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let written =
        |indent: &str| -> String { lines.iter().map(|line| format!("{line_end}{indent}{line}")).collect() };
    let Some(found) = section(text, key) else {
        let block = format!("{key}: {MARK}{}", written("  "));
        return Ok(match text.is_empty() || text.ends_with('\n') {
            true => format!("{text}{block}{line_end}"),
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
            let left = format!("{before}{}", after.unwrap_or_default());
            Some(left).filter(|left| !left.is_empty())
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
            "\n",
            "# mine",
            "GOOSE_MODEL: x",
            "GOOSE_MODEL: x\r\nb: 2\r\n",
            "extensions:",
            "extensions:\n",
            "extensions: # mine\n    a:\n        cmd: x\n\n    # end\nb: 1",
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
