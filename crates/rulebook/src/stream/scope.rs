//! Scopes of triggers: the parts of the model's output that a rule watches.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::file::File;
use super::tools::{FieldRole, Tools};
use crate::condition::{Paths, PatternBase};

/// A part of the output to watch.
#[derive(Clone, Debug)]
pub enum StreamScope {
    /// The model's text.
    Text,
    /// The model's thinking.
    Thinking,
    /// The arguments of a tool call, decoded.
    Tool(ToolScope),
    /// The arguments of a tool call as received.
    Wire(ToolScope),
}

/// The tool calls, fields and files of a scope.
#[derive(Clone, Debug)]
pub struct ToolScope {
    /// The tools. `None` means any tool, and of its arguments what it writes, runs or sends.
    tools: Option<Tools>,
    /// The files that the call must be about.
    files: Option<Arc<Paths>>,
    /// The scope as written.
    written: String,
}

impl fmt::Display for StreamScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StreamScope::Text => f.write_str("text"),
            StreamScope::Thinking => f.write_str("thinking"),
            StreamScope::Tool(scope) | StreamScope::Wire(scope) => f.write_str(&scope.written),
        }
    }
}

/// The part of the output that contains a match.
#[derive(Clone, Copy, Debug)]
pub(super) enum OutputPart<'o> {
    /// The model's text.
    Text,
    /// The model's thinking.
    Thinking,
    /// A field of a tool call, decoded.
    Field {
        /// The tool's name.
        tool: &'o str,
        /// The path of the field: `edits[0].new_string`.
        field: &'o str,
    },
    /// The arguments of a tool call as received.
    Wire {
        /// The tool's name.
        tool: &'o str,
    },
}

/// Whether a scope covers a part of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Covers {
    /// No.
    No,
    /// Only if it is for a matching file, which may not be known yet.
    IfFile,
    /// Yes.
    Yes,
}

/// Reads one scope: `text`, `thinking`, `tool`, `tool:NAME`, `tool:NAME.FIELD`, `tool:NAME(GLOB)`, `wire`, `wire:NAME(GLOB)`.
/// A glob has the meaning of the rule's `globs`. `span` is the value in the file.
pub(crate) fn read(written: &str, span: &Range<usize>, base: &PatternBase) -> Result<StreamScope, String> {
    let written = written.trim().trim_matches(['"', '\'']);
    let (head, files) = match files_start(written)? {
        Some(open) => {
            let glob = &written[open + 1..written.len() - 1];
            let paths = Paths::watched(glob, span.clone(), base).map_err(|error| error.to_string())?;
            (written[..open].trim(), Some(Arc::new(paths)))
        }
        None => (written, None),
    };
    let (kind, name) = head.split_once(':').map_or((head, None), |(kind, name)| (kind, Some(name.trim())));
    let tool = || -> Result<ToolScope, String> {
        let tools = match name {
            None => None,
            Some("") => return Err("the tool name is missing".to_owned()),
            Some(name) => Some(check_name(kind, name).and_then(|()| Tools::read(name))?),
        };
        Ok(ToolScope { tools, files: files.clone(), written: written.to_owned() })
    };
    match kind.to_ascii_lowercase().as_str() {
        "text" if name.is_none() && files.is_none() => Ok(StreamScope::Text),
        "thinking" if name.is_none() && files.is_none() => Ok(StreamScope::Thinking),
        "text" | "thinking" => Err(format!("`{kind}` cannot have a name or files")),
        "tool" | "toolcall" => Ok(StreamScope::Tool(tool()?)),
        "wire" => Ok(StreamScope::Wire(tool()?)),
        _ => {
            let near = crate::diagnostic::nearest(kind, ["text", "thinking", "tool", "wire"]);
            let near = near.map_or_else(
                || format!("; write `tool:{kind}` for a tool"),
                |near| format!("; did you mean `{near}`?"),
            );
            Err(format!("it must be one of `text`, `thinking`, `tool`, `wire`{near}"))
        }
    }
}

/// Checks that a name can be that of a tool: files come last, and each tool has a scope of its own.
fn check_name(kind: &str, name: &str) -> Result<(), String> {
    let opening =
        |at: &usize| name[*at..].starts_with('(') && !name[..*at].ends_with(['@', '!', '+', '*', '?']);
    let mut depth = 0usize;
    for (at, c) in name.char_indices() {
        match c {
            '(' if opening(&at) => {
                let (tool, rest) = name.split_at(at);
                let (files, after) = rest.split_once(')').unwrap_or((rest, ""));
                return Err(format!("the files come last: write `{kind}:{tool}{after}{files})`"));
            }
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            '|' if depth == 0 => {
                let each: Vec<String> =
                    name.split('|').map(|tool| format!("{kind}:{}", tool.trim())).collect();
                return Err(format!("a scope names one tool: write `{}`", each.join(", ")));
            }
            _ if c.is_whitespace() || matches!(c, ';' | '&' | '=' | '"' | '\'') => {
                return Err(format!("the name of a tool cannot contain `{c}`"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Where the parenthesis with the files opens: the one that the last parenthesis closes, unless it is an extglob of the name.
fn files_start(written: &str) -> Result<Option<usize>, String> {
    if !written.ends_with(')') {
        let is_open = written.matches('(').count() > written.matches(')').count();
        return if is_open { Err("the parenthesis is not closed".to_owned()) } else { Ok(None) };
    }
    let mut depth = 0usize;
    let open = written.char_indices().rev().find_map(|(at, c)| {
        match c {
            ')' => depth += 1,
            '(' => depth -= 1,
            _ => {}
        }
        (depth == 0).then_some(at)
    });
    let open = open.ok_or("the closing parenthesis has no opening one")?;
    Ok(Some(open).filter(|open| !written[..*open].ends_with(['@', '!', '+', '*', '?'])))
}

/// The scopes of a rule without any: text and tools.
pub fn default() -> Vec<StreamScope> {
    vec![StreamScope::Text, of_tools()]
}

/// What any tool call writes.
pub(super) fn of_tools() -> StreamScope {
    StreamScope::Tool(ToolScope { tools: None, files: None, written: "tool".to_owned() })
}

impl StreamScope {
    /// Whether it covers a part of the output that is for this file, if the file is known.
    pub(super) fn covers(&self, part: OutputPart<'_>, file: Option<&File>) -> Covers {
        match (self, part) {
            (StreamScope::Text, OutputPart::Text) | (StreamScope::Thinking, OutputPart::Thinking) => {
                Covers::Yes
            }
            (StreamScope::Tool(scope), OutputPart::Field { tool, field }) => {
                scope.covers(tool, Some(field), file)
            }
            (StreamScope::Wire(scope), OutputPart::Wire { tool }) => scope.covers(tool, None, file),
            _ => Covers::No,
        }
    }
}

impl StreamScope {
    /// Whether it may cover an argument of this tool.
    pub(crate) fn may_cover_tool(&self, tool: &str) -> bool {
        match self {
            StreamScope::Text | StreamScope::Thinking => false,
            StreamScope::Tool(scope) => scope.tools.as_ref().map_or_else(
                || FieldRole::of_tool(tool) == FieldRole::Written,
                |tools| tools.may_cover(tool),
            ),
            StreamScope::Wire(scope) => scope.tools.as_ref().is_none_or(|tools| tools.may_cover(tool)),
        }
    }

    /// The tool calls that it covers; `None` for prose.
    pub(super) fn calls(&self) -> Option<&ToolScope> {
        match self {
            StreamScope::Text | StreamScope::Thinking => None,
            StreamScope::Tool(scope) | StreamScope::Wire(scope) => Some(scope),
        }
    }

    /// The tool that it names, if no known agent has such a tool.
    pub(crate) fn unknown_tool(&self) -> Option<&str> {
        self.calls()?.tools.as_ref()?.unknown()
    }
}

impl ToolScope {
    /// The files that a call must be about; `None` for any.
    pub(super) fn files(&self) -> Option<&Arc<Paths>> {
        self.files.as_ref()
    }

    fn covers(&self, tool: &str, field: Option<&str>, file: Option<&File>) -> Covers {
        let is_covered = match (&self.tools, field) {
            (Some(tools), _) => tools.cover(tool, field, file.map(|file| file.path.as_str())),
            (None, Some(field)) => FieldRole::of(tool, field) == FieldRole::Written,
            (None, None) => true,
        };
        match &self.files {
            _ if !is_covered => Covers::No,
            None => Covers::Yes,
            Some(files) if file.is_some_and(|file| file.is_match(files)) => Covers::Yes,
            Some(_) => Covers::IfFile,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::condition::Splits;
    use crate::glob::Dialect;

    fn read(written: &str) -> Result<StreamScope, String> {
        let base = PatternBase {
            dialect: Dialect::Picomatch,
            rival: None,
            exclusions: crate::glob::Exclusions::OfDialect,
            splits: Splits::Texts,
            splits_whitespace: true,
            is_exact: false,
            base: None,
        };
        super::read(written, &(0..written.len()), &base)
    }

    #[test]
    fn scopes_are_read() {
        #[track_caller]
        fn check(scope: &str, tool: &str, field: &str, file: &str, covers: Covers) {
            let file = Some(file).filter(|file| !file.is_empty());
            let file = file.map(|path| File { root: Some(0), path: path.to_owned(), is_known: true });
            assert_eq!(
                read(scope).unwrap().covers(OutputPart::Field { tool, field }, file.as_ref()),
                covers,
                "{scope}"
            );
        }
        check("tool", "bash", "command", "", Covers::Yes);
        check("TOOL:edit", "edit", "new_string", "", Covers::Yes);
        check("tool:edit", "bash", "command", "", Covers::No);
        check("tool:edit.new_string", "edit", "new_string", "", Covers::Yes);
        check("tool:edit.new_string", "edit", "old_string", "", Covers::No);
        check("tool:mcp.github/push", "mcp.github/push", "body", "", Covers::Yes);
        check("tool:mcp__*", "mcp__a__b", "x", "", Covers::Yes);
        check("tool:edit(*.ts)", "edit", "x", "src/a.ts", Covers::Yes);
        check("tool:edit(*.ts)", "edit", "x", "src/a.rs", Covers::IfFile);
        check("tool:edit(app/@(a|b)/*.tsx)", "edit", "x", "app/b/a.tsx", Covers::Yes);
        check("tool:edit(app/(shop)/*.tsx)", "edit", "x", "app/(shop)/a.tsx", Covers::Yes);
        check("tool:edit(app/(shop)/@(a|b).tsx)", "edit", "x", "app/(shop)/b.tsx", Covers::Yes);
        check(r"tool:edit(app/\(shop\)/*.tsx)", "edit", "x", "app/(shop)/a.tsx", Covers::Yes);
        check("tool:edit(app/(a|b)/*.tsx)", "edit", "x", "app/a/a.tsx", Covers::Yes);
        check("tool(src/**)", "write", "x", "src/a.tsx", Covers::Yes);
        check("tool:edit(!src/**)", "edit", "x", "src/a.ts", Covers::IfFile);
        check("tool:!edit", "edit", "x", "", Covers::No);
        check("tool:!edit", "Write", "x", "", Covers::Yes);
        check("tool:@(edit|write)", "write", "x", "", Covers::Yes);
        check("tool:@(edit|write)(*.ts)", "write", "x", "a.ts", Covers::Yes);
        check("text", "edit", "x", "", Covers::No);
        check("wire:bash", "bash", "command", "", Covers::No);
        assert_eq!(read("wire:bash").unwrap().covers(OutputPart::Wire { tool: "bash" }, None), Covers::Yes);
        assert_eq!(read("thinking").unwrap().covers(OutputPart::Thinking, None), Covers::Yes);
    }

    #[test]
    fn invalid_scopes_are_explained() {
        for (scope, message) in [
            ("txet", "it must be one of `text`, `thinking`, `tool`, `wire`; did you mean `text`?"),
            ("edit", "it must be one of `text`, `thinking`, `tool`, `wire`; write `tool:edit` for a tool"),
            ("tool:", "the tool name is missing"),
            ("tool:edit(*.ts", "the parenthesis is not closed"),
            ("text(*.ts)", "`text` cannot have a name or files"),
            ("tool:edit(*.ts).new_string", "the files come last: write `tool:edit.new_string(*.ts)`"),
            ("tool:edit|write", "a scope names one tool: write `tool:edit, tool:write`"),
            ("tool:edit write", "the name of a tool cannot contain ` `"),
            (
                "tool:edit.new_strin",
                "the tools of known agents have no field `new_strin`; did you mean `newstring`?",
            ),
            ("tool:shell.nofield", "the tools of known agents have no field `nofield`"),
        ] {
            assert_eq!(read(scope).unwrap_err(), message);
        }
    }
}
