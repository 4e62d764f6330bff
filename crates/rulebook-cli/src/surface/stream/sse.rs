//! Recorded server-sent events: taken apart, and each event read by the wire it comes from.

use serde_json::Value;

use super::Step;
use super::wires::Reader;

/// The steps of a recording; nothing where it is none.
pub(super) fn steps(bytes: &[u8]) -> Option<Vec<Step>> {
    let text = std::str::from_utf8(bytes).ok()?.trim_start_matches('\u{feff}');
    let starts =
        |line: &str| line.starts_with("data:") || line.starts_with("event:") || line.starts_with(':');
    if !text.lines().find(|line| !line.trim().is_empty()).is_some_and(starts) {
        return None;
    }
    let mut reader = Reader::default();
    let mut steps = Vec::new();
    let mut data = String::new();
    // Events end at an empty line; the last may lack it.
    for line in text.lines().chain([""]) {
        if let Some(value) = line.strip_prefix("data:") {
            if !data.is_empty() {
                data.push('\n');
            }
            data.push_str(value.strip_prefix(' ').unwrap_or(value));
        } else if line.is_empty() && !data.is_empty() {
            // `[DONE]` and whatever else is no JSON says nothing.
            if let Ok(event) = serde_json::from_str::<Value>(&data) {
                reader.read(&event, &mut steps);
            }
            data.clear();
        }
    }
    reader.end(&mut steps);
    Some(steps)
}
