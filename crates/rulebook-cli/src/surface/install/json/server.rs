//! The entry of a server with our name: ours, ours with what the user added, or another one.

use jsonc_parser::ast::{StringLit, Value};

use super::document::member;
use crate::surface::install::program::Program;

/// The keys under which hosts pass more to a server than its arguments.
const EXTRAS: [&str; 5] = ["cwd", "env", "envFile", "environment", "headers"];

pub(super) struct ServerEntry<'a, 't> {
    pub(super) program: &'a StringLit<'t>,
    args: Vec<&'a str>,
    has_extras: bool,
}

impl<'a, 't> ServerEntry<'a, 't> {
    /// Reads an entry; `None` if it runs no program.
    pub(super) fn of(value: &'a Value<'t>) -> Option<ServerEntry<'a, 't>> {
        let entry = value.as_object()?;
        let words = |key: &str| member(entry, key).map_or(Vec::new(), strings);
        let mut words = [words("command"), words("args")].concat().into_iter();
        let has_extras = EXTRAS.iter().filter_map(|key| member(entry, key)).any(|extra| !is_empty(extra));
        let program = words.next()?;
        Some(ServerEntry { program, args: words.map(|word| word.value.as_ref()).collect(), has_extras })
    }

    /// Whether it gets what `install` writes, and nothing else.
    pub(super) fn is_plain(&self) -> bool {
        self.args == ["mcp"] && !self.has_extras
    }

    /// Whether it runs our server.
    pub(super) fn is_ours(&self, program: &Program) -> bool {
        self.is_plain() || program.is_ours(&self.program.value) && self.args.contains(&"mcp")
    }
}

fn is_empty(value: &Value<'_>) -> bool {
    match value {
        Value::Object(object) => object.properties.is_empty(),
        Value::NullKeyword(_) => true,
        _ => false,
    }
}

fn strings<'a, 't>(value: &'a Value<'t>) -> Vec<&'a StringLit<'t>> {
    match value {
        Value::StringLit(text) => vec![text],
        Value::Array(array) => array.elements.iter().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}
