//! What is told on standard error: a line an event, without secrets and without what was said.

use std::io::{IsTerminal as _, Write as _};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value};

/// Where lines go.
pub(super) struct Log {
    is_json: bool,
    is_on: bool,
}

impl Log {
    /// A log that leaves the terminal to a program that runs on it.
    pub(super) fn new(is_json: bool, is_for_child: bool) -> Log {
        Log { is_json, is_on: !(is_for_child && std::io::stderr().is_terminal()) }
    }

    /// Tells an event.
    pub(super) fn tell(&self, event: &str, about: Value) {
        if !self.is_on {
            return;
        }
        let Value::Object(about) = about else { return };
        let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let line = if self.is_json {
            let mut line = Map::new();
            line.insert("at".to_owned(), u64::try_from(at.as_millis()).unwrap_or(u64::MAX).into());
            line.insert("event".to_owned(), event.into());
            line.extend(about);
            Value::Object(line).to_string()
        } else {
            let fields = about.iter().filter(|(_, value)| !value.is_null()).map(|(key, value)| match value {
                Value::String(text) if !text.contains([' ', '"', '=']) && !text.is_empty() => {
                    format!("{key}={}", crate::out::clean(text))
                }
                other => format!("{key}={other}"),
            });
            format!("{event} {}", fields.collect::<Vec<_>>().join(" "))
        };
        // Nobody who could be told is left where this fails.
        let _ = writeln!(std::io::stderr(), "{line}");
    }
}
