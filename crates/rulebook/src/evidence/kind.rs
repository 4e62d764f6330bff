//! Kinds of tools: what the tools of all known agents do.

use crate::words::words;

words! {
    /// What a tool does.
    ToolKind {
        /// Changes a part of a file.
        Edit = "edit",
        /// Writes a whole file.
        Write = "write",
        /// Reads files, or lists them.
        Read = "read",
        /// Runs a shell command.
        Shell = "shell",
        /// Searches files.
        Search = "search",
        /// Something else: plans, questions, sub-agents, the web.
        Other = "other",
    }
}

/// The tools of known agents, as [`plain`] names. A tool that both edits and writes files is an edit tool.
#[rustfmt::skip]
const TOOLS: &[(ToolKind, &[&str])] = &[
    (ToolKind::Edit, &[
        "applydiff", "applypatch", "astedit", "edit", "editexistingfile", "editfile", "editnotebook",
        "editnotebookfile", "editor", "fsreplace", "inserteditintofile", "insertcontent", "multiedit",
        "multireplacestringinfile", "notebookedit", "patch", "replace", "replacefilecontent", "replaceinfile",
        "replacestringinfile", "searchandreplace", "searchreplace", "singlefindandreplace", "strreplace",
        "strreplacebasededittool", "strreplaceeditor", "texteditor",
    ]),
    (ToolKind::Write, &[
        "create", "createfile", "createnewfile", "fsappend", "fswrite", "savefile", "write", "writefile", "writetofile",
    ]),
    (ToolKind::Read, &[
        "fsread", "list", "listdir", "listdirectory", "listfiles", "ls", "notebookread", "read", "readfile", "readfiles",
        "readmanyfiles", "showfile", "tree", "view", "viewfile", "viewimage",
    ]),
    (ToolKind::Shell, &[
        "bash", "controlbashprocess", "controlpwshprocess", "execcommand", "execute", "executebash", "executecommand",
        "executepwsh", "executeshellcommand", "executeterminalcommand", "interactwithprocess", "launchprocess", "localshell",
        "monitor", "powershell", "runcommand", "runcommands", "runinterminal", "runshellcommand", "runterminalcmd",
        "runterminalcommand", "sendcommandinput", "sendinput", "sendkeys", "sendtoterminal", "shell", "startprocess",
        "terminal", "writebash", "writeprocess", "writestdin", "writetolongrunningshellcommand",
    ]),
    (ToolKind::Search, &[
        "astgrep", "codebaseretrieval", "codebasesearch", "fileglobsearch", "filesearch", "find", "findbyname", "finder",
        "findpath", "glob", "grep", "grepfiles", "grepsearch", "listcodedefinitionnames", "search", "searchcodebase",
        "searchfilecontent", "searchfiles", "semanticsearch",
    ]),
    (ToolKind::Other, &[
        "agent", "ask", "askuserquestion", "bashoutput", "browser", "copypath", "createdirectory", "delete", "deletefile",
        "deletepath", "download", "eval", "exitplanmode", "fetch", "fetchwebcontent", "fetchwebpage", "geterrors",
        "googlewebsearch", "killbash", "killshell", "lsp", "movepath", "python", "readbash", "reportintent", "savememory",
        "skill", "skills", "slashcommand", "stopbash", "task", "think", "todo", "todoread", "todowrite", "undoedit",
        "updateplan", "webfetch", "websearch", "writetodos",
    ]),
];

impl ToolKind {
    /// The kind of a tool of a known agent; `None` for other tools. The prefix of a server (`developer__shell`) does not
    /// count.
    pub fn of(tool: &str) -> Option<ToolKind> {
        let plain = plain(without_server(tool));
        let is_it = |(_, names): &&(ToolKind, &[&str])| names.contains(&plain.as_str());
        TOOLS.iter().find(is_it).map(|(kind, _)| *kind)
    }

    /// The kind that a word in a scope names: `edit`, `write`, `read`, `shell` or `bash`, `search`.
    pub(crate) fn in_scope(word: &str) -> Option<ToolKind> {
        match word {
            "bash" => Some(ToolKind::Shell),
            _ => ToolKind::named(word).filter(|kind| *kind != ToolKind::Other),
        }
    }

    /// Whether `self`, as named in a scope, covers tools of another kind. Writing a whole file is an edit too.
    pub fn covers(self, other: ToolKind) -> bool {
        self == other || (self, other) == (ToolKind::Edit, ToolKind::Write)
    }

    /// Whether it changes files through its arguments.
    pub(crate) fn is_write(self) -> bool {
        matches!(self, ToolKind::Edit | ToolKind::Write)
    }
}

/// The name of a tool without that of its server: `delete_file` of `mcp__fs__delete_file`.
pub(super) fn without_server(tool: &str) -> &str {
    tool.rsplit("__").next().unwrap_or(tool)
}

/// A name in lower case, without `_` and `-`: agents write `multi_edit` and `MultiEdit`.
pub(crate) fn plain(name: &str) -> String {
    let mut plain = name.to_ascii_lowercase();
    plain.retain(|c| !matches!(c, '_' | '-'));
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tools_of_known_agents_have_a_kind() {
        #[track_caller]
        fn check(kind: Option<ToolKind>, tools: &[&str]) {
            for tool in tools {
                assert_eq!(ToolKind::of(tool), kind, "{tool}");
            }
        }
        check(
            Some(ToolKind::Edit),
            &["Edit", "MultiEdit", "multi_edit", "apply_patch", "replace_in_file", "replace"],
        );
        check(
            Some(ToolKind::Write),
            &["Write", "write_file", "create", "write_to_file", "mcp__fs__write_file"],
        );
        check(Some(ToolKind::Read), &["Read", "view", "read_files", "fs_read"]);
        check(
            Some(ToolKind::Shell),
            &["Bash", "exec_command", "run_shell_command", "run_commands", "developer__shell", "Monitor"],
        );
        check(Some(ToolKind::Search), &["Grep", "Glob", "search_file_content", "codebase_search"]);
        check(Some(ToolKind::Other), &["TodoWrite", "update_plan", "WebFetch"]);
        check(None, &["mcp__github__push", "deploy", ""]);
    }

    #[test]
    fn every_tool_has_one_kind() {
        let mut names: Vec<&str> = TOOLS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let count = names.len();
        assert!(names.iter().all(|name| plain(name) == **name));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
