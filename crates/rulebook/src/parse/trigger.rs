//! Reads the stream trigger of a header: regular expressions, scopes and modes.

use std::ops::Range;

use super::fields::Fields;
use super::reader::Reader;
use crate::condition;
use crate::diagnostic::{Code, nearest, shown};
use crate::format::keys;
use crate::frontmatter::{Field, Node, Value};
use crate::stream::pattern::{self, Engine, Pattern};
use crate::stream::policy::{ContextMode, InterruptMode, RepeatMode};
use crate::stream::scope::{self, StreamScope};
use crate::stream::trigger::{OwnModes, Trigger};
use crate::syntax::{self, SyntaxProblem, SyntaxTrigger};

impl Fields {
    /// Reads `ast`: a pattern, a map, or a list of them. What cannot be read is reported.
    fn syntax(&self, reader: &mut Reader) -> Vec<SyntaxTrigger> {
        let Some(field) = self.given("ast") else { return Vec::new() };
        let one = std::slice::from_ref(&field.node);
        let nodes = if let Value::List(items) = &field.node.value { items.as_slice() } else { one };
        if nodes.is_empty() {
            let message = "`ast` is an empty list, so it never fires";
            reader.report(Code::BadValue, field.node.span.clone(), message).help =
                "write `ast: {language: ts, pattern: \"new Map($$$)\"}`".to_owned();
        }
        let read = |node: &Node| {
            let problem = |SyntaxProblem { code, span, message, help }| {
                reader.report(code, span, message).help = help;
            };
            syntax::read(node).map_err(problem).ok()
        };
        nodes.iter().filter_map(read).collect()
    }

    /// Reads the stream trigger. Invalid parts are reported, the others count. A trigger without a valid pattern or scope has
    /// no conditions.
    pub(super) fn trigger(&self, reader: &mut Reader) -> Option<Trigger> {
        let syntax = self.syntax(reader);
        let mut given = keys::TRIGGERS.iter().filter_map(|key| self.given(key));
        let Some(field) = given.next() else {
            let is_named = self.given("ast").is_some();
            let empty = keys::TRIGGERS.iter().chain(&["ast"]).find_map(|key| self.find(key));
            let empty = empty.filter(|_| !is_named);
            if let Some(field) = empty {
                report_empty(reader, field);
            }
            if !is_named && empty.is_none() {
                return None;
            }
            return Some(Trigger {
                conditions: Vec::new(),
                syntax,
                modes: self.modes(reader),
                ..Trigger::default()
            });
        };
        for other in given {
            let message = format!("`{}` has no effect beside `{}`", other.key, field.key);
            reader.report(Code::DeadKey, other.key_span.clone(), message).help =
                format!("write all patterns as a list in `{}`", field.key);
        }
        if matches!(&field.node.value, Value::List(items) if items.is_empty()) {
            report_empty(reader, field);
        }
        let mut conditions = Vec::new();
        let base = reader.pattern_base();
        let scope = self.scope(reader);
        for (text, span) in condition::texts(&field.node, &mut |code, span, message| {
            reader.report(code, span, message);
        }) {
            if pattern::is_glob(text) {
                let message = format!(
                    "`{}` is a glob, not a regular expression; it matches every call that writes such a file",
                    shown(text)
                );
                reader.report(Code::BadRegex, span.clone(), message).help =
                    format!("write `scope: tool({text})` and a `condition` for the text");
                let own = scope::read(&format!("tool({text})"), span, &base).ok();
                conditions.extend(pattern::read("[^]").ok().map(|pattern| Pattern {
                    scope: own,
                    written: text.to_owned(),
                    ..pattern
                }));
                continue;
            }
            match pattern::read(text) {
                Ok(pattern) if pattern.regex.is_empty() || text.trim().is_empty() => {
                    let message = "the empty pattern is ignored: it would match everything";
                    reader.report(Code::BadRegex, span.clone(), message).help =
                        "write a regular expression".to_owned();
                }
                Ok(pattern) => {
                    if pattern.engine == Engine::Fallback {
                        let message = format!(
                            "`{}` uses look-around or back-references; it is matched line by line within a bounded window",
                            shown(text)
                        );
                        reader.report(Code::BoundedRegex, span.clone(), message);
                    } else if pattern.matches_empty {
                        let message = format!("`{}` matches empty text, so it always fires", shown(text));
                        reader.report(Code::BadRegex, span.clone(), message).help =
                            "require at least one character".to_owned();
                    }
                    conditions.push(pattern);
                }
                Err(error) => {
                    reader.report(
                        Code::BadRegex,
                        span.clone(),
                        format!("`{}` is ignored: {error}", shown(text)),
                    );
                }
            }
        }
        let lacks_scope = self.given("scope").is_some() && scope.is_empty();
        if lacks_scope {
            conditions.clear();
        }
        let modes = self.modes(reader);
        Some(Trigger { conditions, syntax, scope, modes, gate: None, lacks_scope })
    }

    fn modes(&self, reader: &mut Reader) -> OwnModes {
        OwnModes {
            interrupt: self.mode("interruptMode", InterruptMode::NAMES, reader),
            context: self.mode("contextMode", ContextMode::NAMES, reader),
            repeat: self.mode("repeatMode", RepeatMode::NAMES, reader),
            gap: self.gap(reader),
        }
    }

    fn scope(&self, reader: &mut Reader) -> Vec<StreamScope> {
        let Some(field) = self.given("scope") else { return Vec::new() };
        let (span, base) = (field.node.span.clone(), reader.pattern_base());
        let (mut scopes, mut ignored) = (Vec::new(), Vec::new());
        for word in self.words("scope", reader) {
            match scope::read(&word, &span, &base) {
                Ok(scope) => {
                    if let Some(tool) = scope.unknown_tool() {
                        report_unknown_tool(reader, span.clone(), tool);
                    }
                    scopes.push(scope);
                }
                Err(error) => ignored.push(format!("the scope `{}` is ignored: {error}", shown(&word))),
            }
        }
        if scopes.is_empty() {
            const NEVER: &str = "no scope is valid, so the rule never applies";
            match ignored.last_mut() {
                Some(last) => last.push_str(&format!("; {NEVER}")),
                None => ignored.push(NEVER.to_owned()),
            }
        }
        for message in ignored {
            reader.report(Code::BadScope, span.clone(), message);
        }
        scopes
    }

    fn mode<M: Copy>(&self, key: &str, names: &[(&str, M)], reader: &mut Reader) -> Option<M> {
        let word = self.text(key, reader)?;
        let mode = names.iter().find(|(name, _)| *name == word).map(|(_, mode)| *mode);
        if mode.is_none() {
            let known: Vec<String> = names.iter().map(|(name, _)| format!("`{name}`")).collect();
            let span = self.find(key).expect("read above").node.span.clone();
            let message = format!("`{key}` must be one of {}, found `{}`", known.join(", "), shown(&word));
            reader.report(Code::BadValue, span, message);
        }
        mode
    }

    fn gap(&self, reader: &mut Reader) -> Option<u32> {
        let field = self.given("repeatGap")?;
        let gap = if let Value::Int(gap) = field.node.value { u32::try_from(gap).ok() } else { None };
        if gap.is_none() {
            let span = field.node.span.clone();
            reader.report(Code::WrongType, span, "`repeatGap` must be a whole number of turns, 0 or more");
        }
        gap
    }
}

/// Reports a key that should have a pattern, and has none.
fn report_empty(reader: &mut Reader, field: &Field) {
    let message = format!("`{}` is empty, so the rule never applies", field.key);
    reader.report(Code::BadRegex, field.key_span.clone(), message).help =
        "write a pattern, or remove the stream keys".to_owned();
}

/// Reports a scope that names a tool which no known agent has.
fn report_unknown_tool(reader: &mut Reader, span: Range<usize>, tool: &str) {
    const KINDS: [&str; 6] = ["edit", "write", "read", "shell", "bash", "search"];
    let message = format!("no known agent has a tool named `{}`", shown(tool));
    let near = nearest(tool, KINDS).map(|near| format!("did you mean `tool:{near}`?"));
    reader.report(Code::BadScope, span, message).help = near.unwrap_or_else(|| {
        "use the tool's name, or `edit`, `write`, `read`, `shell` or `search` for the tools of every agent".to_owned()
    });
}
