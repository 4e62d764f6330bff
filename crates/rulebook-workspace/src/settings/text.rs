//! Values and names as they are written in a settings file.

use toml::de::DeInteger;

/// The most bytes of quoted text in a message.
const MAX_SHOWN: usize = 60;

pub(super) fn whole(number: &DeInteger<'_>) -> Option<u32> {
    u32::from_str_radix(number.as_str(), number.radix()).ok()
}

/// Whether a path, as written, stays in the folder it starts from, on any system.
pub(super) fn stays_inside(path: &str) -> bool {
    let is_rooted = path.starts_with(['/', '\\', '~']) || path.as_bytes().get(1) == Some(&b':');
    let mut depth = 0;
    !is_rooted
        && path.split(['/', '\\']).all(|part| {
            depth += match part {
                "" | "." => 0,
                ".." => -1,
                _ => 1,
            };
            depth >= 0
        })
}

pub(super) fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// Text for a message: the start of its first line.
pub(super) fn cut(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let end = line.floor_char_boundary(MAX_SHOWN);
    if end == text.len() { line.to_owned() } else { format!("{}…", &line[..end]) }
}
