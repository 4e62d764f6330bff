//! Explains a header: what each key means in its format.

use std::ops::Range;

use super::Entry;
use super::split::split_header;
use crate::agent::AGENTS;
use crate::condition::{self, Condition, PathExpression};
use crate::format::keys::{self, ACTIVATION, PATHS, TRIGGERS};
use crate::format::{Format, Keys, StatedActivation};
use crate::frontmatter::{Header, Value};
use crate::requirement::OnUnknown;
use crate::rule::{Activation, Rule};
use crate::source::{Origin, Source};
use crate::stream::policy::{ContextMode, InterruptMode, RepeatMode};

/// One key of a header.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explained {
    /// The key as written.
    pub key: String,
    /// Its byte range in the file.
    pub span: Range<usize>,
    /// Its lines, counted from 1.
    pub lines: Range<usize>,
    /// What it means in this format.
    pub meaning: String,
}

/// Returns what each key of a header means, in order. A file without a header gives an empty list.
pub fn explain_header(origin: &Origin, text: &str) -> Vec<Explained> {
    let reading = split_header(origin, text, origin.format.tier);
    let Header::Read { fields, .. } = reading.header else { return Vec::new() };
    let rule = match super::parse(Source { origin: origin.clone(), text: Ok(text.into()) }).entry {
        Entry::Rule(rule) => Some(rule),
        Entry::Rejected(_) => None,
    };
    let line = |at: usize| text[..at].bytes().filter(|byte| *byte == b'\n').count() + 1;
    // The closing fence is the last line before the body.
    let end = line(reading.body_start).saturating_sub(1);
    let starts: Vec<usize> = fields.iter().map(|field| line(field.key_span.start)).collect();
    let ends = starts.iter().skip(1).copied().chain([end]);
    let explained = fields.iter().zip(starts.iter().zip(ends)).map(|(field, (start, end))| Explained {
        key: field.key.clone(),
        span: field.key_span.clone(),
        lines: *start..end.max(start + 1),
        meaning: meaning(origin.format, &field.key, &field.node.value, || {
            rule.as_ref().map(|rule| of_paths(rule, &field.node.span))
        }),
    });
    explained.collect()
}

/// Returns the keys that make sense in a header of this format, and what each means: first those that its agents read, then
/// those that only Rulebook uses. Other agents' keys for the same are left out.
pub fn explain_keys(format: &Format) -> Vec<(&'static str, String)> {
    let any = Value::Text(String::new());
    let readings: Vec<&Format> = AGENTS
        .iter()
        .filter(|agent| agent.owns == Some(format.id))
        .flat_map(|agent| agent.formats.iter().filter(|own| own.id == format.id))
        .collect();
    let is_read = |key: &str| {
        let reads =
            |own: &&Format| keys::known(own).any(|known| known == key) && !own.agent_ignores.contains(&key);
        readings.is_empty() || readings.iter().any(|own| reads(own) && !own.inert.contains(&key))
    };
    let decides = |key: &str| PATHS.contains(&key) || ACTIVATION.contains(&key) || key == "alwaysApply";
    let is_useful = |key: &&str| match *key {
        key if format.agent_ignores.contains(&key) => false,
        key if PATHS.contains(&key) => key == format.paths_key,
        key if decides(key) => is_read(key),
        key => !format.inert.contains(&key) || MEANINGS.iter().any(|row| row.0 == key),
    };
    let mut all: Vec<(bool, &str)> =
        format.known_keys().into_iter().filter(is_useful).map(|key| (!is_read(key), key)).collect();
    all.sort_unstable();
    let explained = all.into_iter().map(|(is_unread, key)| {
        let mut text = meaning(format, key, &any, || None);
        if is_unread && !format.inert.contains(&key) {
            text.push_str(&format!("; {} itself ignores it", format.agent));
        }
        (key, text)
    });
    explained.collect()
}

/// Returns the words that a key of this format accepts, and what each means; none for a key of free text.
pub fn explain_values(format: &Format, key: &str) -> Vec<(&'static str, String)> {
    let Some(known) = keys::canonical(format, key) else { return Vec::new() };
    if let Some(modes) = format.modes.filter(|modes| modes.key == known) {
        return modes.words.iter().map(|(word, stated)| (*word, stated.meaning().to_owned())).collect();
    }
    if let Some((_, on, off)) = SWITCHES.iter().find(|row| row.0 == known) {
        return vec![("true", (*on).to_owned()), ("false", (*off).to_owned())];
    }
    if let Some((_, words)) = format.sets.iter().find(|(key, _)| *key == known) {
        return words.iter().map(|word| (*word, String::new())).collect();
    }
    let row = WORDS.iter().find(|(key, _)| *key == known);
    row.map_or_else(Vec::new, |(_, words)| words().into_iter().map(|word| (word, String::new())).collect())
}

/// A list of words.
type Words = fn() -> Vec<&'static str>;

/// The words of keys that accept only some, or usually have one of these.
const WORDS: &[(&str, Words)] = &[
    ("agent", || AGENTS.iter().map(|agent| agent.name).collect()),
    ("contextMode", || ContextMode::NAMES.iter().map(|(name, _)| *name).collect()),
    ("interruptMode", || InterruptMode::NAMES.iter().map(|(name, _)| *name).collect()),
    ("match", || vec!["all", "any"]),
    ("mode", || vec!["act", "plan"]),
    ("on-unknown", || OnUnknown::NAMES.iter().map(|(name, _)| *name).collect()),
    ("os", || vec!["darwin", "linux", "windows"]),
    ("repeatMode", || RepeatMode::NAMES.iter().map(|(name, _)| *name).collect()),
    ("scope", || vec!["text", "thinking", "tool", "tool:edit", "tool:write", "tool:shell"]),
];

/// The meaning of keys that are `true` or `false`, for each of the two.
const SWITCHES: &[(&str, &str, &str)] = &[
    (
        "alwaysApply",
        "applies to every request, regardless of paths",
        "does not apply to every request: its paths decide, or the agent or user asks for it",
    ),
    (
        "alwaysEnabled",
        "mandatory: it cannot be disabled, overridden or cut",
        "not mandatory: it can be disabled",
    ),
    (
        "enabled",
        "on, as without this key",
        "switches off this rule and every rule of the same id and lower rank",
    ),
];

/// The meaning of keys that are not conditions.
const MEANINGS: &[(&str, &str)] = &[
    ("allowed-tools", "tools that the agent may use without asking while it follows the skill"),
    ("alwaysApply", "`true` or `false`: whether it applies to every request"),
    ("alwaysEnabled", "`true` or `false`: whether it is mandatory"),
    ("ast", "fires when a call adds code whose syntax matches"),
    ("called", "a command: applies when the user calls it by name"),
    ("condition", "regular expressions to find in the model's output; one match is enough"),
    ("contextMode", "whether an interrupted answer stays in the context"),
    ("description", "what the rule is for; an inactive rule is offered to the agent with it"),
    ("enabled", "`true` or `false`: whether the rule is on"),
    ("examples", "paths and texts that it must and must not match, checked by `rulebook test`"),
    ("excludeAgent", "the agent of Copilot that does not read the file"),
    ("forbids", "refuses these events every time"),
    ("id", "the id, instead of the file's name"),
    ("interruptMode", "which matches interrupt the model"),
    ("language_filters", "regular expressions for the file's language, which Rulebook does not know"),
    ("license", "the license of the skill"),
    ("match", "`any`: one condition is enough; otherwise all must hold"),
    ("name", "the name that is shown; that of a skill is its folder's name"),
    ("on-unknown", "what happens if it is not known whether a requirement concerns a call"),
    ("path_filters", "regular expressions: a path must match one, and none that is excluded"),
    ("priority", "0 to 100; higher values come first and win"),
    ("repeat", "delivers the text again after this many turns"),
    ("repeatGap", "the number of turns after which it may fire again"),
    ("repeatMode", "whether it fires once, or again after a gap"),
    ("repo_filters", "regular expressions for the repository's name, which Rulebook does not know"),
    ("requires", "refuses something until something else was done"),
    ("scope", "the parts of the output to watch: text, thinking, tools and their fields"),
    ("tags", "labels for reports; they have no effect"),
    ("text_content_filters", "regular expressions: a file's text must match one, and none that is excluded"),
];

/// The meaning of a key. `paths` is what a key for paths does in its rule, if that is known.
fn meaning(format: &Format, key: &str, value: &Value, paths: impl FnOnce() -> Option<String>) -> String {
    let Some(known) = keys::canonical(format, key) else {
        return match keys::owner(key) {
            Some(owner) => format!("{owner} key; ignored here"),
            None => "not a key of this format; ignored".to_owned(),
        };
    };
    let is_paths = PATHS.contains(&known) && *value != Value::Null;
    let own = if is_paths { paths() } else { None };
    let mut meaning = own.unwrap_or_else(|| of_known(format, known, value));
    if format.agent_ignores.contains(&known) {
        meaning.push_str(&format!("; {} itself ignores it", format.agent));
    }
    meaning
}

/// What a key for paths, whose value is in this range, does in a rule.
fn of_paths(rule: &Rule, span: &Range<usize>) -> String {
    let (mut decides, mut excludes) = (false, false);
    let mut look = |shape: &PathExpression<'_>| {
        let PathExpression::Paths(paths) = shape else { return };
        // A list that never matches is empty.
        let is_own = paths.spans.iter().all(|own| span.start <= own.start && own.end <= span.end);
        decides |= is_own;
        excludes |= is_own && paths.including().count() < paths.patterns().count();
    };
    let gate = rule.stream.as_ref().and_then(|trigger| trigger.path_expression());
    let conditions = rule.conditions.iter().map(Condition::path_expression);
    conditions.chain(gate).for_each(|shape| shape.visit(&mut look));
    decides &= matches!(rule.activation, Activation::When | Activation::Stream);
    let outcome = rule.activation.outcome();
    match (decides, excludes) {
        (true, true) => format!("{IF_MATCHED} and no `!pattern`"),
        (true, false) => IF_MATCHED.to_owned(),
        (false, _) => format!("does not decide when the rule applies: {outcome}"),
    }
}

/// What a key for paths means where it decides.
const IF_MATCHED: &str = "applies when a file of the request matches one of these";

fn of_known(format: &Format, known: &'static str, value: &Value) -> String {
    if let Some(modes) = format.modes.filter(|modes| modes.key == known) {
        let word = if let Value::Text(word) = value { word.as_str() } else { "" };
        let stated = modes.words.iter().find(|(name, _)| *name == word).map(|(_, stated)| *stated);
        return stated.map_or("when the rule applies", StatedActivation::meaning).to_owned();
    }
    if let (Value::Bool(is_on), Some(row)) = (value, SWITCHES.iter().find(|row| row.0 == known)) {
        return if *is_on { row.1 } else { row.2 }.to_owned();
    }
    if PATHS.contains(&known) && *value == Value::Null {
        return "empty: the same as if it were absent".to_owned();
    }
    if PATHS.contains(&known) {
        return IF_MATCHED.to_owned();
    }
    let is_label = known == "tags" && format.keys != Keys::Conditions;
    if let Some(kind) = condition::all().find(|kind| kind.key == known && !is_label) {
        return format!("holds when {}", kind.holds);
    }
    let known = if TRIGGERS.contains(&known) { "condition" } else { known };
    let row = MEANINGS.iter().find(|(key, _)| *key == known);
    row.map_or_else(|| format!("a key of {} that has no effect here", format.agent), |row| row.1.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::Agent;
    use crate::diagnostic::Code;
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
        let paths = "applies when a file of the request matches one of these";
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
    fn the_value_that_is_written_is_explained() {
        let never = "does not apply to every request: its paths decide, or the agent or user asks for it";
        let always = "applies to every request, regardless of paths";
        let empty = "empty: the same as if it were absent";
        check(
            "cursor",
            "---\nglobs:\nalwaysApply: false\n---\n",
            &[("globs", 2..3, empty), ("alwaysApply", 3..4, never)],
        );
        let beside = "does not decide when the rule applies: it is in every request";
        check(
            "cursor",
            "---\nglobs: a\nalwaysApply: true\n---\nx\n",
            &[("globs", 2..3, beside), ("alwaysApply", 3..4, always)],
        );
        check("copilot", "---\napplyTo: \"**\"\n---\nx\n", &[("applyTo", 2..3, beside)]);
        let excluding = "applies when a file of the request matches one of these and no `!pattern`";
        check("rulebook", "---\npaths: [a, \"!b\"]\n---\nx\n", &[("paths", 2..3, excluding)]);
        check("cursor", "---\nalwaysApply: true\n---\n", &[("alwaysApply", 2..3, always)]);
        let neither = "`true` or `false`: whether it applies to every request";
        check("cursor", "---\nalwaysApply: maybe\n---\n", &[("alwaysApply", 2..3, neither)]);
    }

    #[test]
    fn every_key_of_every_format_has_a_meaning() {
        for format in FORMATS {
            for key in format.known_keys().into_iter().filter(|key| !format.inert.contains(key)) {
                let found = meaning(format, key, &Value::Null, || None);
                assert!(!found.contains("has no effect here"), "{} {key}: {found}", format.name());
            }
        }
    }

    #[test]
    fn agents_read_paths_as_their_rules_apply() {
        let xcsh = Agent::named("xcsh").unwrap();
        let origin = Origin::at(xcsh.formats, ".xcsh/rules/x.md").unwrap();
        let found = explain_header(&origin, "---\ndescription: X\nglobs: src/**\n---\nx\n");
        let wanted = "does not decide when the rule applies: it is offered to the agent";
        assert_eq!(found[1].meaning, wanted);
    }

    #[test]
    fn no_format_proposes_the_keys_of_another_agent() {
        const TEXT: &[&str] = &["id", "name"];
        for format in FORMATS.iter().filter(|format| format.tier.is_some()) {
            for (key, _) in explain_keys(format) {
                let value = match explain_values(format, key).first() {
                    Some((word, _)) => word,
                    None if TEXT.contains(&key) => "a",
                    None => "[\"a/**\"]",
                };
                let text = format!("---\n{key}: {value}\n---\nBe brief.\n");
                let parsed = crate::parse::parse(Source::text(format.id, "a.md", text.as_str()));
                let is_wrong = |code| matches!(code, Code::ForeignKey | Code::UnknownKey);
                let wrong = parsed.diagnostics.into_iter().find(|found| is_wrong(found.code));
                assert_eq!(wrong.map(|found| found.message), None, "{} {key}", format.name());
            }
        }
        let keys = |format: &str| -> Vec<&str> {
            explain_keys(Format::named(format).unwrap()).into_iter().map(|(key, _)| key).collect()
        };
        assert_eq!(keys("claude")[0], "paths");
        assert_eq!(keys("cursor")[..3], ["alwaysApply", "description", "globs"]);
        assert_eq!(keys("copilot")[..2], ["applyTo", "description"]);
        assert!(keys("copilot").contains(&"excludeAgent") && keys("skill").contains(&"name"));
        for (format, other) in
            [("claude", "globs"), ("cursor", "paths"), ("copilot", "globs"), ("kiro", "alwaysApply")]
        {
            assert!(!keys(format).contains(&other), "{format} {other}");
        }
    }

    #[test]
    fn every_key_that_accepts_words_lists_them() {
        #[track_caller]
        fn check(format: &str, key: &str, wanted: &[&str]) {
            let found = explain_values(Format::named(format).unwrap(), key);
            assert_eq!(found.iter().map(|(word, _)| *word).collect::<Vec<_>>(), wanted);
        }
        check("windsurf", "trigger", &["always_on", "glob", "model_decision", "manual"]);
        check("cursor", "alwaysApply", &["true", "false"]);
        check("rulebook", "interruptMode", &["always", "prose-only", "tool-only", "never"]);
        check("cursor", "interruptMode", &["always", "prose-only", "tool-only", "never"]);
        check("cursor", "description", &[]);
        check("claude", "trigger", &[]);
        let keys = explain_keys(Format::named("claude").unwrap());
        assert!(keys.iter().any(|(key, meaning)| *key == "paths" && meaning.starts_with("applies when")));
    }

    #[test]
    fn the_tables_are_sorted() {
        assert!(MEANINGS.is_sorted());
        assert!(WORDS.is_sorted_by(|a, b| a.0 < b.0));
    }
}
