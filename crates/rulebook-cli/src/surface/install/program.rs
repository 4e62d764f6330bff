//! The program that a host runs, and how its entries are recognised.

use rulebook_workspace::wiring::is_hook_command;

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
        Ok(Program { path: path.to_owned(), line: format!("{shown} hook {host}"), host: host.to_owned() })
    }

    /// Whether a command runs our hook, with this program or one that is called Rulebook.
    pub(super) fn runs(&self, line: &str) -> bool {
        line.trim() == self.line || is_hook_command(line, &self.host)
    }
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
        check("rulebook", "/opt/rb hook claude", false);
    }

    #[test]
    fn a_path_is_quoted_or_rejected() {
        #[track_caller]
        fn check(path: &str, line: Option<&str>) {
            assert_eq!(Program::new(path, "x").ok().map(|program| program.line).as_deref(), line);
        }
        check("rulebook", Some("rulebook hook x"));
        check("/my tools/rulebook", Some("\"/my tools/rulebook\" hook x"));
        check("C:\\bin\\rulebook.exe", Some("\"C:\\bin\\rulebook.exe\" hook x"));
        check("a$(b)", None);
        check("a\"b", None);
        check("", None);
    }
}
