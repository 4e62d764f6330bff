//! Edits YAML: adds our server to the block of a host's servers and removes it again, without touching any other byte.
//!
//! Our entry is the first of the block. Where the file had no such block, the line of its key says that we added it.

use rulebook_workspace::wiring::{SERVER, Section, section};
use serde_json::Value as Json;

use super::fault::Fault;
use super::program::Program;

/// The key under which Goose lists its servers.
const KEY: &str = "extensions";

/// The end of a key's line that we added.
const MARK: &str = "# added by `rulebook install`";

/// Returns the text with our server; a new file consists of it.
pub(super) fn add(text: Option<&str>, program: &Program) -> Result<String, Fault> {
    let text = match text {
        Some(text) => remove_entry(text),
        None => String::new(),
    };
    let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let Some(found) = section(&text, KEY) else {
        let block = format!("{KEY}: {MARK}{}", entry(program, "  ", line_end));
        return Ok(match text.is_empty() || text.ends_with('\n') {
            true => format!("{text}{block}{line_end}"),
            false => format!("{text}{line_end}{block}"),
        });
    };
    if !found.value.is_empty() && !found.value.starts_with('#') {
        let message = format!("write `{KEY}` as a block, one line per entry");
        return Err(Fault::new(found.key.start, message));
    }
    let indent = if found.indent.is_empty() { "  " } else { &found.indent };
    let (before, after) = text.split_at(found.key.end);
    Ok(format!("{before}{}{after}", entry(program, indent, line_end)))
}

/// Returns the text without our server; `None` if it contained nothing else.
pub(super) fn remove(text: &str) -> Option<String> {
    let left = remove_entry(text);
    match section(&left, KEY) {
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

fn remove_entry(text: &str) -> String {
    let own = section(text, KEY).and_then(|found| found.entries.into_iter().find(|(name, _)| name == SERVER));
    match own {
        Some((_, at)) => format!("{}{}", &text[..at.start], &text[at.end..]),
        None => text.to_owned(),
    }
}

/// Our entry, each line after the end of the one above.
fn entry(program: &Program, indent: &str, line_end: &str) -> String {
    let command = Json::from(program.path.as_str());
    let fields = [
        "enabled: true".to_owned(),
        "type: stdio".to_owned(),
        format!("name: {SERVER}"),
        "description: The rules of this workspace".to_owned(),
        format!("cmd: {command}"),
        "args: [mcp]".to_owned(),
        "envs: {}".to_owned(),
        "timeout: 30".to_owned(),
    ];
    let fields: String = fields.iter().map(|field| format!("{line_end}{indent}{indent}{field}")).collect();
    format!("{line_end}{indent}{SERVER}:{fields}")
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
