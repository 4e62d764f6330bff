//! Brackets: `[id]` is one of two characters in most dialects, and in picomatch's the name `[id]` too.

use std::ops::Range;

use crate::fix::split_class;
use crate::glob::Dialect;

/// How many classes of a pattern are read in both ways, each for itself.
const MAX_CLASSES: usize = 3;

/// The largest class that is written as alternatives.
const MAX_MEMBERS: usize = 64;

/// Whether a dialect reads `[id]` as a name too.
fn reads_names(dialect: Dialect) -> bool {
    matches!(dialect, Dialect::Picomatch | Dialect::Amp)
}

/// Returns the patterns with brackets that mean the same in another dialect; `None` if nothing would change.
pub(super) fn with_both_readings(patterns: &[String], from: Dialect, to: Dialect) -> Option<Vec<String>> {
    let written: Vec<String> = match (reads_names(from), reads_names(to)) {
        (true, false) => patterns.iter().flat_map(|pattern| readings(pattern)).collect(),
        (false, true) => patterns.iter().map(|pattern| spelled_out(pattern)).collect(),
        _ => return None,
    };
    (written != patterns).then_some(written)
}

/// Where the classes of a pattern are, brackets included.
fn classes(pattern: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while let Some(next) = pattern[at..].find(['[', '\\']).map(|next| at + next) {
        at = next + 1;
        if pattern[next..].starts_with('\\') {
            at += pattern[at..].chars().next().map_or(0, char::len_utf8);
            continue;
        }
        let (class, rest) = split_class(&pattern[at..]);
        let end = pattern.len() - rest.len();
        if at + class.len() < end {
            found.push(next..end);
        }
        at = end;
    }
    found
}

/// Returns a pattern, and those in which some of its classes are names.
fn readings(pattern: &str) -> Vec<String> {
    let classes = classes(pattern);
    let all = (1_usize << classes.len().min(usize::BITS as usize - 1)) - 1;
    let choices: Vec<usize> = match classes.len() {
        0..=MAX_CLASSES => (0..=all).collect(),
        _ => vec![0, all],
    };
    let name = |class: &str| format!("\\[{}\\]", &class[1..class.len() - 1]);
    let read = |choice: &usize| {
        let is_name = |at: usize| choice >> at & 1 == 1;
        replaced(pattern, &classes, |at, class| if is_name(at) { name(class) } else { class.to_owned() })
    };
    choices.iter().map(read).collect()
}

/// Writes the classes of a pattern as alternatives, which are no name.
fn spelled_out(pattern: &str) -> String {
    replaced(pattern, &classes(pattern), |_, class| match members(&class[1..class.len() - 1]).as_deref() {
        Some([one]) => one.to_string(),
        Some(all) => {
            let all: Vec<String> = all.iter().map(char::to_string).collect();
            format!("{{{}}}", all.join(","))
        }
        None => class.to_owned(),
    })
}

/// The characters of a class; `None` if it is not a short list of characters that mean nothing in patterns.
fn members(class: &str) -> Option<Vec<char>> {
    let is_plain = |c: &char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let all: Vec<char> = class.chars().collect();
    if all.is_empty() || !all.iter().all(is_plain) {
        return None;
    }
    let mut members = Vec::new();
    let mut rest = all.as_slice();
    while let [first, after @ ..] = rest {
        rest = match after {
            ['-', last, after @ ..] => {
                members.extend((*first..=*last).take(MAX_MEMBERS + 1));
                after
            }
            after => {
                members.push(*first);
                after
            }
        };
    }
    members.sort_unstable();
    members.dedup();
    (members.len() <= MAX_MEMBERS && members.iter().all(is_plain)).then_some(members)
}

/// Replaces parts of a text.
fn replaced(text: &str, parts: &[Range<usize>], by: impl Fn(usize, &str) -> String) -> String {
    let mut new = String::new();
    let mut from = 0;
    for (at, part) in parts.iter().enumerate() {
        new.push_str(&text[from..part.start]);
        new.push_str(&by(at, &text[part.clone()]));
        from = part.end;
    }
    new + &text[from..]
}
