//! A header explained: what each of its keys means in its format.

use std::ops::Range;

use super::split::split_header;
use crate::condition;
use crate::format::keys::{self, PATHS, TRIGGERS};
use crate::format::{Format, Keys, StatedActivation};
use crate::frontmatter::{Header, Value};
use crate::source::Origin;

/// One key of a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// As written.
    pub key: String,
    /// The lines it takes, counted from 1.
    pub lines: Range<usize>,
    /// What it means here.
    pub meaning: String,
}

/// What each key of a file's header means, in the order of the file; nothing where no header is read.
pub fn explain_header(origin: &Origin, text: &str) -> Vec<Explained> {
    let reading = split_header(origin, text);
    let Header::Read { fields, .. } = reading.header else { return Vec::new() };
    let line = |at: usize| text[..at].bytes().filter(|byte| *byte == b'\n').count() + 1;
    // The closing fence is the last line before the body.
    let end = line(reading.body_start).saturating_sub(1);
    let starts: Vec<usize> = fields.iter().map(|field| line(field.key_span.start)).collect();
    let ends = starts.iter().skip(1).copied().chain([end]);
    let explained = fields.iter().zip(starts.iter().zip(ends)).map(|(field, (start, end))| Explained {
        key: field.key.clone(),
        lines: *start..end.max(start + 1),
        meaning: meaning(origin.format, &field.key, &field.node.value),
    });
    explained.collect()
}

/// What people read of keys that are no conditions.
const MEANINGS: &[(&str, &str)] = &[
    ("alwaysApply", "`true`: on with every request, whatever the paths say"),
    ("alwaysEnabled", "`true`: it cannot be switched off, overridden or cut"),
    ("called", "it is a command: on when the user calls it by name"),
    ("condition", "regular expressions watched for in what the model writes; any of them fires"),
    ("contextMode", "whether an interrupted answer stays in the context"),
    ("description", "what the rule is for; where it is not on, the agent may ask for it by this"),
    ("enabled", "`false` switches it off, and every rule of its id below it"),
    ("examples", "paths and texts it must and must not match, checked by `rulebook test`"),
    ("id", "what it is told apart and overridden by, instead of the file's name"),
    ("interruptMode", "which matches interrupt the model"),
    ("language_filters", "regular expressions for the file's language, which is not known here"),
    ("match", "`any`: one condition that holds is enough; else all must"),
    ("path_filters", "regular expressions of which a file's path must have one, and none of the excluded"),
    ("priority", "its place in the order, 0 to 100; higher goes first and wins"),
    ("repeatGap", "after how many turns it may fire again"),
    ("repeatMode", "whether it fires once, or again after a gap"),
    ("repo_filters", "regular expressions for the repository's name, which is not known here"),
    ("scope", "which parts of the output are watched: text, thinking, tools and their fields"),
    ("tags", "labels for reports; they decide nothing"),
    (
        "text_content_filters",
        "regular expressions of which a file's text must have one, and none of the excluded",
    ),
];

fn meaning(format: &Format, key: &str, value: &Value) -> String {
    let Some(known) = keys::canonical(format, key) else {
        return match keys::owner(key) {
            Some(owner) => format!("{owner} key; ignored here"),
            None => "not a key of this format; ignored".to_owned(),
        };
    };
    let mut told = of_known(format, known, value);
    if format.agent_ignores.contains(&known) {
        told.push_str(&format!("; {} itself ignores it", format.agent));
    }
    told
}

fn of_known(format: &Format, known: &'static str, value: &Value) -> String {
    if let Some(modes) = format.modes.filter(|modes| modes.key == known) {
        let word = if let Value::Text(word) = value { word.as_str() } else { "" };
        let said = modes.words.iter().find(|(name, _)| *name == word).map(|(_, said)| *said);
        return said.map_or("how it comes on", StatedActivation::meaning).to_owned();
    }
    if PATHS.contains(&known) {
        return "comes on when a file of the request matches one of these and no `!pattern`".to_owned();
    }
    let is_label = known == "tags" && format.keys != Keys::Conditions;
    if let Some(kind) = condition::all().find(|kind| kind.key == known && !is_label) {
        return format!("holds when {}", kind.holds);
    }
    let known = if TRIGGERS.contains(&known) { "condition" } else { known };
    let row = MEANINGS.iter().find(|(key, _)| *key == known);
    row.map_or_else(|| format!("a key of {} that changes nothing here", format.agent), |row| row.1.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{FORMATS, FormatId};

    #[track_caller]
    fn check(format: &str, text: &str, wanted: &[(&str, Range<usize>, &str)]) {
        let explained = explain_header(&Origin::named(FormatId::named(format).unwrap(), "a.md"), text);
        let found: Vec<_> = explained
            .iter()
            .map(|line| (line.key.as_str(), line.lines.clone(), line.meaning.as_str()))
            .collect();
        assert_eq!(found, wanted);
    }

    #[test]
    fn every_key_has_its_lines_and_its_meaning() {
        let paths = "comes on when a file of the request matches one of these and no `!pattern`";
        check(
            "cline",
            "---\npaths:\n  - a/**\n  - b/**\nmode: act\n---\nBe brief.\n",
            &[("paths", 2..5, paths), ("mode", 5..6, "holds when the current mode is one of those named")],
        );
        check(
            "windsurf",
            "---\ntrigger: model_decision\nwhatever: 1\n---\n",
            &[
                ("trigger", 2..3, "applies when the agent requests it by its description"),
                ("whatever", 3..4, "not a key of this format; ignored"),
            ],
        );
        check("cursor", "---\ntrigger: x\n---\n", &[("trigger", 2..3, "Windsurf's key; ignored here")]);
        check("claude", "no header\n", &[]);
    }

    #[test]
    fn every_key_of_every_format_says_something() {
        for format in FORMATS {
            for key in format.known_keys().into_iter().filter(|key| !format.inert.contains(key)) {
                let told = meaning(format, key, &Value::Null);
                assert!(!told.contains("changes nothing"), "{} {key}: {told}", format.name());
            }
        }
    }

    #[test]
    fn the_table_is_sorted() {
        assert!(MEANINGS.is_sorted());
    }
}
