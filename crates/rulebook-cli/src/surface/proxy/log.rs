//! The log on standard error: one line per event, without secrets and without the texts of conversations.

use std::io::{IsTerminal as _, Write as _};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value};

pub(super) struct Log {
    is_json: bool,
    is_on: bool,
}

impl Log {
    /// Creates a log that stays silent if a program runs on the terminal.
    pub(super) fn new(is_json: bool, is_for_child: bool) -> Log {
        Log { is_json, is_on: !(is_for_child && std::io::stderr().is_terminal()) }
    }

    /// Writes an event with its fields.
    pub(super) fn report(&self, event: &str, fields: Value) {
        if !self.is_on {
            return;
        }
        let Value::Object(fields) = fields else { return };
        let line = if self.is_json { json_line(event, fields) } else { text_line(event, &fields) };
        // If this fails, nobody is left to read it.
        let _ = std::io::stderr().write_all(format!("{line}\n").as_bytes());
    }
}

fn json_line(event: &str, fields: Map<String, Value>) -> String {
    let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut line = Map::new();
    line.insert("at".to_owned(), u64::try_from(at.as_millis()).unwrap_or(u64::MAX).into());
    line.insert("event".to_owned(), event.into());
    line.extend(fields);
    Value::Object(line).to_string()
}

fn text_line(event: &str, fields: &Map<String, Value>) -> String {
    let fields = fields.iter().filter(|(_, value)| !value.is_null()).map(|(key, value)| match value {
        Value::String(text) if !text.contains([' ', '"', '=']) && !text.is_empty() => {
            format!(" {key}={}", crate::out::clean(text))
        }
        other => format!(" {key}={}", crate::out::clean(&other.to_string())),
    });
    format!("{event}{}", fields.collect::<String>())
}
