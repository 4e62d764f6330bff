//! The tools and fields that a scope names.

use crate::diagnostic::{nearest, shown};
use crate::evidence::{ToolKind, is_command_key, is_path_key, plain};
use crate::glob::{Dialect, Glob};

/// The tools, and the fields of their arguments, that a scope names. Names are compared without case.
#[derive(Clone, Debug)]
pub(super) enum Tools {
    /// The tools of a kind in every known agent, and the field if it is named.
    Kind { kind: ToolKind, field: Option<Glob> },
    /// Matches the name of the tool, or name and field joined by a dot.
    Named(Glob),
}

/// What a field is to its call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldRole {
    /// What the call writes, runs or sends.
    Written,
    /// What a call that reads or searches asks for. Only a scope that names the tool covers it.
    Asked,
    /// What an edit replaces, and where, and what a call says of itself. Only a scope that names the field covers it.
    NotWritten,
}

/// Fields with the text that is replaced, in all tools; names as [`plain`] returns them.
const REPLACED: &[&str] =
    &["old", "oldcode", "oldcontent", "oldstr", "oldstring", "oldtext", "searchblock", "targetcontent"];

/// Fields of shell tools that are not run.
const NOT_RUN: &[&str] =
    &["cwd", "description", "explanation", "justification", "reason", "title", "workdir", "workingdirectory"];

/// Further fields of the tools of known agents that a scope may name.
#[rustfmt::skip]
const OTHER_FIELDS: &[&str] = &[
    "allowmultiple", "args", "background", "blocking", "cellid", "celltype", "changes", "chars", "code",
    "codeedit", "content", "contents", "diff", "editmode", "edits", "env", "exclude", "expectedreplacements", "filecontent",
    "filetext", "glob", "headlimit", "include", "input", "insertline", "inserttext", "isbackground", "limit", "line",
    "lineno", "login", "new", "newcode", "newcontent", "newsource", "newstr", "newstring", "newtext", "offset",
    "operations", "outputmode", "patch", "replace", "replaceall", "replacement", "replacementchunks", "replacementcontent",
    "requiresapproval", "runinbackground", "script", "sessionid", "shell", "stdin", "text", "timeout", "timeoutms", "tty",
    "type", "value", "viewrange",
];

/// Further fields of edit tools that are not written.
#[rustfmt::skip]
const NOT_WRITTEN: &[&str] = &[
    "anchor", "description", "explanation", "find", "instruction", "instructions", "pattern", "query", "regex", "search",
    "searchtext", "target",
];

impl FieldRole {
    /// The role of a field: `edits[0].old_string`.
    pub(super) fn of(tool: &str, field: &str) -> FieldRole {
        let kind = ToolKind::of(tool);
        let key = key(field);
        let key = key.as_str();
        let is_place = || NOT_WRITTEN.contains(&key) || is_path_key(key);
        match kind {
            Some(ToolKind::Read | ToolKind::Search) => FieldRole::Asked,
            Some(ToolKind::Edit | ToolKind::Write) if is_place() => FieldRole::NotWritten,
            Some(ToolKind::Shell) if NOT_RUN.contains(&key) => FieldRole::NotWritten,
            _ if REPLACED.contains(&key) => FieldRole::NotWritten,
            _ => FieldRole::Written,
        }
    }

    /// The role of the fields of a tool, unless a field has another.
    pub(super) fn of_tool(tool: &str) -> FieldRole {
        FieldRole::of(tool, "")
    }
}

/// The last name of a field, as [`plain`] returns it.
fn key(field: &str) -> String {
    let last = field.rsplit('.').next().unwrap_or(field);
    plain(last.split('[').next().unwrap_or(last))
}

impl Tools {
    /// Reads `NAME` or `NAME.FIELD`.
    pub(super) fn read(written: &str) -> Result<Tools, String> {
        let glob = |text: &str| Glob::new(text, Dialect::Picomatch).map_err(|error| error.to_string());
        let lower = written.to_lowercase();
        let (name, field) =
            lower.split_once('.').map_or((&*lower, None), |(name, field)| (name, Some(field)));
        match ToolKind::in_scope(name) {
            Some(kind) => {
                let field = field.map(|field| check_field(field).and_then(|()| glob(&plain(field))));
                Ok(Tools::Kind { kind, field: field.transpose()? })
            }
            None => Ok(Tools::Named(glob(&lower)?)),
        }
    }

    /// Whether they include a field of a tool. Without a field, whether they include the tool.
    pub(super) fn cover(&self, tool: &str, field: Option<&str>, file: Option<&str>) -> bool {
        let is_watched = || field.is_none_or(|field| FieldRole::of(tool, field) != FieldRole::NotWritten);
        match self {
            Tools::Kind { kind, field: wanted } => {
                covers_tool(*kind, tool, file.is_some())
                    && match (wanted, field) {
                        (Some(wanted), Some(field)) => covers_field(*kind, wanted, field),
                        _ => is_watched(),
                    }
            }
            Tools::Named(name) => {
                let tool = tool.to_lowercase();
                let with_field = |field: &str| name.is_match(&format!("{tool}.{}", field.to_lowercase()));
                name.is_match(&tool) && is_watched() || !name.is_negated() && field.is_some_and(with_field)
            }
        }
    }

    /// Whether they may include a field of a tool.
    pub(super) fn may_cover(&self, tool: &str) -> bool {
        match self {
            Tools::Kind { kind, .. } => covers_tool(*kind, tool, true),
            Tools::Named(name) => name.pattern().contains('.') || name.is_match(&tool.to_lowercase()),
        }
    }

    /// The name, if no known agent has such a tool. A server or a pattern may have any name.
    pub(super) fn unknown(&self) -> Option<&str> {
        let Tools::Named(name) = self else { return None };
        let name = name.pattern();
        let is_open =
            name.contains(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-'))) || name.contains("__");
        let is_mcp = name.starts_with("mcp");
        (!is_open && !is_mcp && ToolKind::of(name).is_none()).then_some(name)
    }
}

/// Checks that a field is one of a known tool. A path or a pattern may be any.
fn check_field(written: &str) -> Result<(), String> {
    let field = plain(written);
    let known = || [REPLACED, NOT_WRITTEN, NOT_RUN, OTHER_FIELDS].into_iter().flatten().copied();
    let is_word = field.chars().all(char::is_alphanumeric);
    if !is_word || is_path_key(&field) || is_command_key(&field) || known().any(|known| known == field) {
        return Ok(());
    }
    let near = nearest(&field, known()).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    Err(format!("the tools of known agents have no field `{}`{near}", shown(written)))
}

/// Whether a kind includes a tool. Text that a shell command writes to a file is an edit too.
fn covers_tool(kind: ToolKind, tool: &str, has_file: bool) -> bool {
    ToolKind::of(tool)
        .is_some_and(|of| kind.covers(of) || has_file && of == ToolKind::Shell && kind.is_write())
}

/// Whether a field is the one that a kind's scope names. Agents name the command differently.
fn covers_field(kind: ToolKind, wanted: &Glob, field: &str) -> bool {
    let is_command =
        kind == ToolKind::Shell && is_command_key(wanted.pattern()) && is_command_key(&key(field));
    let is_word = wanted.pattern().chars().all(char::is_alphanumeric);
    is_command || wanted.is_match(&plain(field)) || is_word && key(field) == wanted.pattern()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_match_the_tools_of_every_agent() {
        #[track_caller]
        fn check(tools: &str, tool: &str, field: &str, file: Option<&str>, covers: bool) {
            assert_eq!(
                Tools::read(tools).unwrap().cover(tool, Some(field), file),
                covers,
                "{tools}: {tool}.{field}"
            );
        }
        for tool in ["Edit", "MultiEdit", "Write", "apply_patch", "replace", "create", "write_to_file"] {
            check("edit", tool, "content", None, true);
            check("EDIT", tool, "content", None, true);
        }
        check("write", "Write", "content", None, true);
        check("write", "Edit", "new_string", None, false);
        check("edit", "Edit", "old_string", None, false);
        check("edit", "Edit", "file_path", None, false);
        check("edit", "MultiEdit", "edits[1].old_string", None, false);
        check("edit", "MultiEdit", "edits[1].new_string", None, true);
        check("edit.old_string", "Edit", "old_string", None, true);
        check("edit.new_string", "edit", "newString", None, true);
        check("edit.new_string", "edit", "oldString", None, false);
        for (tool, field) in [("Bash", "command"), ("exec_command", "cmd"), ("run_commands", "commands[1]")] {
            check("bash", tool, field, None, true);
            check("shell", tool, field, None, true);
            check("bash.command", tool, field, None, true);
        }
        check("bash.command", "Bash", "description", None, false);
        check("bash", "Bash", "description", None, false);
        check("exec_command", "exec_command", "justification", None, false);
        check("edit.new_string", "MultiEdit", "edits[1].new_string", None, true);
        check("bash", "Edit", "new_string", None, false);
        // Text that a command writes to a file.
        check("edit", "Bash", "command", None, false);
        check("edit", "Bash", "command", Some("a.ts"), true);
        check("read", "view", "path", None, true);
        check("search", "Grep", "pattern", None, true);
        check("todowrite", "TodoWrite", "todos[0].content", None, true);
        check("deploy", "Deploy", "old_string", None, false);
        check("deploy.old_string", "Deploy", "old_string", None, true);
    }

    #[test]
    fn a_scope_without_a_name_covers_what_is_written() {
        #[track_caller]
        fn check(tool: &str, field: &str, role: FieldRole) {
            assert_eq!(FieldRole::of(tool, field), role, "{tool}.{field}");
        }
        check("Bash", "command", FieldRole::Written);
        check("Bash", "description", FieldRole::NotWritten);
        check("run_terminal_cmd", "explanation", FieldRole::NotWritten);
        check("deploy", "description", FieldRole::Written);
        check("Write", "content", FieldRole::Written);
        check("mcp__db__run", "query", FieldRole::Written);
        check("Grep", "pattern", FieldRole::Asked);
        check("Read", "file_path", FieldRole::Asked);
        check("Write", "file_path", FieldRole::NotWritten);
        check("search_and_replace", "search", FieldRole::NotWritten);
        check("mcp__files__change", "old_text", FieldRole::NotWritten);
    }

    #[test]
    fn names_of_no_known_tool_are_found() {
        for (name, unknown) in [
            ("edti", Some("edti")),
            ("MultiEdit", None),
            ("run_shell_command", None),
            ("mcp__github__push", None),
            ("mcp.github/push", None),
            ("my_*", None),
        ] {
            assert_eq!(Tools::read(name).unwrap().unknown(), unknown, "{name}");
        }
    }
}
