//! Rendering: a rule as a text in the form of a target.

use std::borrow::Cow;

use super::name::marker;
use super::references::as_text;
use super::target::{Form, Line, ListStyle, Target};
use crate::frontmatter::{quoted, scalar};
use crate::rule::{Activation, Rule};
use crate::source::Origin;

/// Renders a rule with these patterns.
pub(super) fn render(
    target: &Target,
    form: Form,
    rule: &Rule,
    [name, source]: [&str; 2],
    origin: &Origin,
    description: Option<&str>,
    patterns: &[String],
) -> String {
    let lines = match form {
        Form::Header(lines) => lines,
        Form::Plain | Form::No => &[],
    };
    let header: String =
        lines.iter().filter_map(|line| header_line(target, *line, name, description, patterns)).collect();
    let fences = if header.is_empty() { String::new() } else { format!("---\n{header}---\n") };
    let text = format!("{fences}{}\n{}\n", marker(source), body(rule, origin));
    if rule.body.contains("\r\n") { with_breaks(&text, "\r\n") } else { text }
}

/// The body of a rule in a copy at a place.
#[must_use]
pub fn body<'r>(rule: &'r Rule, origin: &Origin) -> Cow<'r, str> {
    let text = match super::without_marker(&rule.body) {
        own if own.len() == rule.body.len() => rule.body.with_lead(),
        own => own,
    };
    as_text(text, &rule.origin, origin)
}

/// A text with one kind of line break.
#[must_use]
pub fn with_breaks(text: &str, line_break: &str) -> String {
    let lines = text.replace("\r\n", "\n");
    if line_break == "\n" { lines } else { lines.replace('\n', line_break) }
}

fn header_line(
    target: &Target,
    line: Line,
    name: &str,
    description: Option<&str>,
    patterns: &[String],
) -> Option<String> {
    let line = match line {
        Line::Fixed(key, value) => format!("{key}: {value}\n"),
        Line::Name => format!("name: {}\n", scalar(name, false)),
        Line::Description => format!("description: {}\n", scalar(&one_line(description?), false)),
        Line::Patterns(key) => match target.list {
            ListStyle::Commas => format!("{key}: {}\n", patterns.join(",")),
            ListStyle::Text => format!("{key}: {}\n", quoted(&patterns.join(","))),
            ListStyle::Flow => {
                let items: Vec<String> = patterns.iter().map(|pattern| quoted(pattern)).collect();
                format!("{key}: [{}]\n", items.join(", "))
            }
            ListStyle::Block => {
                let items: String =
                    patterns.iter().map(|pattern| format!("  - {}\n", quoted(pattern))).collect();
                format!("{key}:\n{items}")
            }
        },
    };
    Some(line)
}

/// A text without line breaks, which not every reader of headers understands.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Target {
    /// Renders a text that is always on.
    #[must_use]
    pub fn always_text(&self, source: &str, body: &str) -> String {
        let lines = if let Form::Header(lines) = self.always { lines } else { &[] };
        let header: String =
            lines.iter().filter_map(|line| header_line(self, *line, "", None, &[])).collect();
        let fences = if header.is_empty() { String::new() } else { format!("---\n{header}---\n") };
        format!("{fences}{}\n{body}", marker(source))
    }
}

/// Renders a list of rules that an agent can read on request: their files, what they are about, and when they are meant.
#[must_use]
pub fn index<'r>(rules: impl Iterator<Item = &'r Rule>) -> String {
    let row = |rule: &Rule| {
        let first = || super::without_marker(&rule.body).lines().find(|line| !line.trim().is_empty());
        let about = rule.description.as_deref().or_else(first).unwrap_or_default();
        let about = one_line(about.trim_start_matches('#'));
        let globs: Vec<String> = rule.globs.iter().map(|glob| format!("`{glob}`")).collect();
        let folder = rule.origin.nest().map(|(_, folder)| format!(" in `{folder}`")).unwrap_or_default();
        let when = match (rule.activation, globs.is_empty()) {
            (Activation::Manual, _) => " (only if the user mentions it)".to_owned(),
            (_, true) => String::new(),
            (_, false) => format!(" (for {}{folder})", globs.join(", ")),
        };
        format!("- `{}`: {about}{when}\n", rule.origin.display)
    };
    let rows: String = rules.map(row).collect();
    format!("# More rules\n\nRead one of these files when it fits the work:\n\n{rows}")
}
