//! Recorded server-sent events: taken apart, and each event read by the wire it comes from.

use serde_json::Value;

use super::Step;
use super::wires::Reader;

/// The fields an event may have.
const FIELDS: &[&str] = &["data:", "event:", "id:", "retry:", ":"];

/// The steps of a recording; nothing where it is none: a text may begin like one, but has no event that can be read.
pub(super) fn steps(bytes: &[u8]) -> Option<Vec<Step>> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start_matches('\u{feff}');
    let is_field = |line: &str| FIELDS.iter().any(|field| line.starts_with(field));
    if !text.lines().find(|line| !line.trim().is_empty()).is_some_and(is_field) {
        return None;
    }
    let mut reader = Reader::default();
    let mut steps = Vec::new();
    let mut events = 0;
    let mut data = String::new();
    // Events end at an empty line, which the last may lack; so do those of a log that left the empty lines out.
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    for line in text.split('\n').chain([""]) {
        let value = line.strip_prefix("data:").map(|value| value.strip_prefix(' ').unwrap_or(value));
        let is_whole = line.is_empty() || value.is_some();
        if is_whole && let Ok(event) = serde_json::from_str::<Value>(&data) {
            events += usize::from(event.is_object());
            reader.read(&event, &mut steps);
            data.clear();
        }
        if line.is_empty() {
            data.clear();
        } else if let Some(value) = value {
            if !data.is_empty() {
                data.push('\n');
            }
            data.push_str(value);
        }
    }
    reader.end(&mut steps);
    (events > 0).then_some(steps)
}
