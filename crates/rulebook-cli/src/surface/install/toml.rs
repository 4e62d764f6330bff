//! Edits TOML: adds our server's table at the end of a file and removes it again, without touching any other byte.
//!
//! Removal needs no record: a file that existed before has a blank line before the table, and one that did not end in a
//! newline does not end in one with the table either.

use toml_edit::{Document, Item, Table, Value};

use super::fault::Fault;
use super::program::Program;

/// Returns the text with our server; a new file consists of it.
pub(super) fn add(text: Option<&str>, program: &Program) -> Result<String, Fault> {
    let path = Value::from(program.path.as_str());
    let block = format!("[mcp_servers.rulebook]\ncommand = {path}\nargs = [\"mcp\"]\n");
    let Some(text) = text else { return Ok(block) };
    if let Some(server) = server(&parse(text)?) {
        let at = server.span().map_or(0, |span| span.start);
        let value = server.get("command").filter(|_| is_ours(server, program));
        let Some(value) = value.and_then(Item::span) else { return Err(Fault::other_server(at)) };
        let mut changed = text.to_owned();
        if program_of(server) != program.path {
            changed.replace_range(value, &path.to_string());
        }
        return Ok(changed);
    }
    let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let block = block.replace('\n', line_end);
    let added = if text.is_empty() || text.ends_with('\n') {
        format!("{text}{line_end}{block}")
    } else {
        format!("{text}{line_end}{line_end}{}", block.trim_end())
    };
    match parse(&added) {
        Ok(_) => Ok(added),
        Err(_) => {
            let at = parse(text)?.get("mcp_servers").and_then(Item::span).map_or(0, |span| span.start);
            Err(Fault::new(
                at,
                "cannot add a table to `mcp_servers`; write it as tables, `[mcp_servers.NAME]`",
            ))
        }
    }
}

/// Returns the text without our server; `None` if it contained nothing else. A server that the user changed stays.
pub(super) fn remove(text: &str) -> Result<Option<String>, Fault> {
    let document = parse(text)?;
    let Some(server) = server(&document).filter(|server| is_plain(server)) else {
        return Ok(Some(text.to_owned()));
    };
    let Some(table) = server.as_table().filter(|table| !table.is_dotted()) else {
        let at = server.span().map_or(0, |span| span.start);
        return Err(Fault::new(at, "`mcp_servers.rulebook` is an inline or dotted table; remove it by hand"));
    };
    let mut blocks = blocks(table);
    blocks.sort_unstable();
    let (mut left, mut done) = (String::new(), 0);
    let mut is_new = false;
    for (header, last) in blocks {
        let before = &text[done..header];
        let end = text[last..].find('\n').map(|at| last + at + 1);
        // We added the blank line and, if the file did not end in a newline, the newline before it.
        let lines = if end.is_some() { 1 } else { 2 };
        let kept = (0..lines).fold(before, |kept, _| {
            kept.strip_suffix('\n').map_or(kept, |kept| kept.strip_suffix('\r').unwrap_or(kept))
        });
        is_new |= header == 0;
        left.push_str(if lines == 1 && !is_blank_line(before) { before } else { kept });
        done = end.unwrap_or(text.len());
    }
    left.push_str(&text[done..]);
    Ok(Some(left).filter(|left| !(is_new && left.trim().is_empty())))
}

fn is_blank_line(before: &str) -> bool {
    matches!(before, "\n" | "\r\n") || before.ends_with("\n\n") || before.ends_with("\n\r\n")
}

fn parse(text: &str) -> Result<Document<&str>, Fault> {
    Document::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| text.floor_char_boundary(span.start));
        Fault::new(at, error.message().lines().next().unwrap_or("not TOML"))
    })
}

fn server<'d>(document: &'d Document<&str>) -> Option<&'d Item> {
    document.get("mcp_servers")?.get("rulebook")
}

fn program_of(server: &Item) -> &str {
    server.get("command").and_then(Item::as_str).unwrap_or_default()
}

/// Whether a server gets what `install` writes, and nothing else.
fn is_plain(server: &Item) -> bool {
    let is_empty = |item: &Item| item.as_table_like().is_some_and(|table| table.is_empty());
    let has_extras =
        ["cwd", "env", "env_vars"].iter().filter_map(|key| server.get(key)).any(|extra| !is_empty(extra));
    server.get("args").map_or(Vec::new(), strings) == ["mcp"] && !has_extras && !program_of(server).is_empty()
}

/// Whether a server runs our program.
fn is_ours(server: &Item, program: &Program) -> bool {
    let has_mcp = server.get("args").map_or(Vec::new(), strings).contains(&"mcp");
    is_plain(server) || program.is_ours(program_of(server)) && has_mcp
}

fn strings(item: &Item) -> Vec<&str> {
    match item.as_array() {
        Some(array) => array.iter().filter_map(Value::as_str).collect(),
        None => item.as_str().into_iter().collect(),
    }
}

/// Returns the start of a table and of each table below it, with the end of its last entry.
fn blocks(table: &Table) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> =
        table.span().map(|header| (header.start, last_end(table).max(header.end))).into_iter().collect();
    let below = table.iter().filter_map(|(_, item)| item.as_table()).filter(|table| !table.is_dotted());
    found.extend(below.flat_map(blocks));
    found
}

fn last_end(table: &Table) -> usize {
    let end = |item: &Item| match item.as_table() {
        Some(table) if table.is_dotted() => last_end(table),
        Some(_) => 0,
        None => item.span().map_or(0, |span| span.end),
    };
    table.iter().map(|(_, item)| end(item)).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program() -> Program {
        Program::new("rulebook", "codex").unwrap()
    }

    const OURS: &str = "[mcp_servers.rulebook]\ncommand = \"rulebook\"\nargs = [\"mcp\"]\n";

    #[test]
    fn a_file_comes_back_byte_for_byte() {
        for before in [
            "",
            "\n",
            "\r\n",
            "# only",
            "a = 1",
            "a = 1\n",
            "a = 1\n\n",
            "a = 1\r\nb = 2\r\n",
            "a = 1\r\nb = 2",
            "[mcp_servers.x]\ncommand = \"x\" # c\n# end\n",
            "mcp_servers.x.command = \"x\"\n",
            "[a]\n[[b]]\nc = \"\"\"\n[d]\n\"\"\"",
        ] {
            let after = add(Some(before), &program()).unwrap();
            assert_ne!(after, before);
            assert_eq!(add(Some(&after), &program()).unwrap(), after, "{before:?}");
            assert_eq!(remove(&after).unwrap().as_deref(), Some(before), "{after:?}");
        }
        assert_eq!(remove(OURS).unwrap(), None);
        assert_eq!(remove("a = 1\n").unwrap().as_deref(), Some("a = 1\n"));
    }

    #[test]
    fn text_around_the_table_stays() {
        #[track_caller]
        fn check(text: &str, left: Option<&str>) {
            assert_eq!(remove(text).unwrap().as_deref(), left, "{text:?}");
        }
        check(&format!("{OURS}\n[b]\n"), Some("\n[b]\n"));
        check(&format!("a = 1\n\n{OURS}# below\n[b]\n"), Some("a = 1\n# below\n[b]\n"));
        check(&format!("a = 1\n{OURS}[b]\n"), Some("a = 1\n[b]\n"));
        check(
            &format!(
                "a = 1\n\n{OURS}startup_timeout_sec = 5 # mine\n\n[mcp_servers.rulebook.more]\nb = 1\n\n[c]\n"
            ),
            Some("a = 1\n\n[c]\n"),
        );
    }

    #[test]
    fn a_server_of_the_user_stays() {
        #[track_caller]
        fn check(text: &str, added: Option<&str>) {
            assert_eq!(add(Some(text), &program()).ok().as_deref(), added);
            assert_eq!(remove(text).unwrap().as_deref(), Some(text));
        }
        let own = "[mcp_servers.rulebook]\ncommand = \"rulebook\"\nargs = [\"mcp\", \"--root\", \"../x\"]\nenv.A = \"b\"\n";
        check(own, Some(own));
        check(&own.replace("\"rulebook\"\na", "\"/x/rulebook\"\na"), Some(own));
        let with_env = "[mcp_servers.rulebook]\ncommand = \"rulebook\"\nargs = [\"mcp\"]\n[mcp_servers.rulebook.env]\nA = \"b\"\n";
        check(with_env, Some(with_env));
        check("[mcp_servers.rulebook]\ncommand = \"mine\"\n", None);
        check("[mcp_servers.rulebook]\nurl = \"http://x\"\n", None);
    }

    #[test]
    fn another_program_is_replaced() {
        let other = Program::new("/opt/rb", "codex").unwrap();
        let after = add(Some("a = 1\n"), &other).unwrap();
        assert_eq!(add(Some(&after), &program()).unwrap(), format!("a = 1\n\n{OURS}"));
        assert_eq!(add(add(None, &other).ok().as_deref(), &program()).unwrap(), OURS);
    }

    #[test]
    fn a_file_that_cannot_be_edited_is_reported() {
        #[track_caller]
        fn check(text: &str, at: usize, message: &str) {
            let fault = add(Some(text), &program()).unwrap_err();
            assert_eq!((fault.at, fault.message.as_str()), (at, message));
        }
        check("a = 1\na = 2\n", 6, "duplicate key");
        check(
            "mcp_servers = { }\n",
            14,
            "cannot add a table to `mcp_servers`; write it as tables, `[mcp_servers.NAME]`",
        );
        check(
            "[mcp_servers]\nrulebook = { command = \"x\" }\n",
            25,
            "another server is named `rulebook`; give that one another name",
        );
    }
}
