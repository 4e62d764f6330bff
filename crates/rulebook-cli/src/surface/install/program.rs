//! The program that a host runs, and how its entries are recognised.

use rulebook_workspace::hosts;
use rulebook_workspace::wiring::{CONTINUE, SILENCE, hook_of, is_our_program, without_end};
use serde_json::Value as Json;

/// The program that a host runs.
pub(super) struct Program {
    /// The program, as the command of an MCP server.
    pub(super) path: String,
    /// The shell command that handles an event.
    pub(super) line: String,
    /// The host's name.
    host: String,
}

impl Program {
    /// Fails if the path cannot be part of a shell command.
    pub(super) fn new(path: &str, host: &str) -> Result<Program, String> {
        if path.is_empty() || path.contains(|c: char| c.is_control() || "\"'`$!%".contains(c)) {
            return Err(format!("`{}` cannot be part of a shell command", crate::out::clean(path)));
        }
        let is_plain = |c: char| c.is_alphanumeric() || "/._-~:+@".contains(c);
        let shown = if path.chars().all(is_plain) { path.to_owned() } else { format!("\"{path}\"") };
        let row = hosts::Host::named(host);
        let silence = if row.is_some_and(|row| row.shows_errors) { SILENCE } else { "" };
        let end = if row.is_some_and(|row| row.needs_answer) { "" } else { CONTINUE };
        let line = format!("{shown} hook {host}{silence}{end}");
        Ok(Program { path: path.to_owned(), line, host: host.to_owned() })
    }

    /// Returns the command under a key of a host's handler. PowerShell runs a quoted path only after `&`.
    pub(super) fn line_of(&self, key: &str) -> String {
        let needs_call = key == "powershell" && self.line.starts_with('"');
        if needs_call { format!("& {}", self.line) } else { self.line.clone() }
    }

    /// Returns the text of a file of our own, with the program and the host filled in.
    pub(super) fn fill_in(&self, text: &str) -> String {
        let path = Json::from(self.path.as_str()).to_string();
        let words = [("@PROGRAM@", path.as_str()), ("@HOST@", &self.host), ("@LINE@", &self.line)];
        words.iter().fold(text.to_owned(), |text, (word, value)| text.replace(word, value))
    }

    /// Whether a command runs our hook, with this program or one that is called Rulebook.
    pub(super) fn runs(&self, line: &str) -> bool {
        hook_of(line).is_some_and(|(program, host)| host == self.host && self.is_ours(program))
    }

    /// Whether a program is this one, or is called Rulebook.
    pub(super) fn is_ours(&self, program: &str) -> bool {
        program == self.path || is_our_program(program)
    }

    /// Returns the command for a line that runs our hook, with the options of that line.
    pub(super) fn line_like(&self, key: &str, old: &str) -> String {
        let options: String = options_of(old).iter().map(|option| format!(" {option}")).collect();
        let line = self.line_of(key);
        let (start, end) = line.split_at(without_end(&line).len());
        format!("{start}{options}{end}")
    }
}

/// The options of a line that runs a hook.
fn options_of(line: &str) -> Vec<&str> {
    let after = without_end(line).split_once(" hook ").map_or("", |(_, after)| after);
    after.split_whitespace().skip(1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_recognised_by_its_program_and_its_host() {
        #[track_caller]
        fn check(program: &str, line: &str, ours: bool) {
            assert_eq!(Program::new(program, "claude").unwrap().runs(line), ours, "{line}");
        }
        check("rulebook", "rulebook hook claude", true);
        check("rulebook", " rulebook hook claude ", true);
        check("rulebook", "\"/opt/my tools/rulebook.exe\" hook claude", true);
        check("rulebook", "rulebook hook codex", false);
        check("rulebook", "other hook claude", false);
        check("rulebook", "rulebook prompt", false);
        check("/opt/rb", "/opt/rb hook claude", true);
        check("/opt/rb", "/opt/rb hook claude ; exit 0", true);
        check("/my tools/rb", "& \"/my tools/rb\" hook claude ; exit 0", true);
        check("rulebook", "/opt/rb hook claude", false);
        check("/opt/rb", "/opt/rb hook claude --all ; exit 0", true);
        check("rulebook", "echo rulebook hook claude", false);
    }

    #[test]
    fn options_of_a_line_are_kept() {
        let line = |old: &str| Program::new("rb", "gemini").unwrap().line_like("command", old);
        assert_eq!(line("/x/rulebook hook gemini --all"), "rb hook gemini --all 2>$null ; exit 0");
        assert_eq!(line("rulebook hook gemini 2>$null ; exit 0"), "rb hook gemini 2>$null ; exit 0");
    }

    #[test]
    fn a_path_is_quoted_or_rejected() {
        assert_eq!(Program::new("rulebook", "cursor").unwrap().line, "rulebook hook cursor");
        #[track_caller]
        fn check(path: &str, line: Option<&str>) {
            assert_eq!(Program::new(path, "x").ok().map(|program| program.line).as_deref(), line);
        }
        check("rulebook", Some("rulebook hook x ; exit 0"));
        check("/my tools/rulebook", Some("\"/my tools/rulebook\" hook x ; exit 0"));
        check("C:\\bin\\rulebook.exe", Some("\"C:\\bin\\rulebook.exe\" hook x ; exit 0"));
        check("a$(b)", None);
        check("a\"b", None);
        check("", None);
    }
}
