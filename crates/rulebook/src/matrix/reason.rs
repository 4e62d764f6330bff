//! The reasons in cells: one short phrase each.

use crate::compare::readable_files;
use crate::evaluate::Verdict;
use crate::format::Format;
use crate::resolve::{Off, OffBy};
use crate::rule::Rule;
use crate::source::{Origin, Scope};

use super::subject::Subject;

/// Describes why a rule applies: "always", "paths src/**", "folder packages/web".
pub(super) fn applies(verdict: &Verdict<'_>) -> String {
    let reasons: Vec<String> = verdict
        .because
        .iter()
        .map(|reason| format!("{} {}", reason.condition, reason.matched.join(", ")))
        .collect();
    if reasons.is_empty() { "always".to_owned() } else { reasons.join("; ") }
}

/// Returns the pattern that decided, or the folder.
pub(super) fn pattern(verdict: &Verdict<'_>) -> Option<String> {
    let matched = |key: &str| {
        let reason = verdict.because.iter().find(|reason| reason.condition == key);
        reason.and_then(|reason| reason.matched.first().cloned())
    };
    matched("paths").or_else(|| matched("folder").map(|folder| format!("{folder}/")))
}

/// Describes what switched a rule off.
pub(super) fn off_by(off: &Off) -> String {
    match &off.file {
        _ if matches!(off.by, OffBy::Toggle | OffBy::UserToggle) => "by you".to_owned(),
        Some(file) => format!("by `{}` in {file}", off.by),
        None => format!("by `{}`", off.by),
    }
}

/// Returns the file at the root that keeps an agent from reading another one there.
fn used_instead<'r>(subject: &Subject<'_, 'r>, origin: &Origin) -> Option<&'r Rule> {
    let is_place = |format: &&Format| format.workspace.iter().any(|place| place.path == origin.place.path);
    let formats = subject.agent.formats.iter().filter(is_place);
    let names: Vec<&str> = formats.flat_map(|format| format.unless).copied().collect();
    if names.is_empty() || !origin.folder.is_empty() {
        return None;
    }
    let is_other = |rule: &&Rule| {
        let other = &rule.origin;
        other.root == origin.root && other.folder.is_empty() && names.contains(&other.place.path)
    };
    subject.native.verdicts().iter().map(|verdict| verdict.rule).find(is_other)
}

/// Describes that an agent has the text of a rule from another file.
pub(super) fn same_text(own: &Rule) -> String {
    format!("same text as `{}`", own.origin.display)
}

/// Describes why an agent does not read a file in one of its own places; empty for a place of another agent.
pub(super) fn not_read(subject: &Subject<'_, '_>, origin: &Origin, rule: Option<&Rule>) -> String {
    let agent = subject.agent;
    if origin.scope != Scope::Workspace {
        return String::new();
    }
    if let Some(other) = used_instead(subject, origin) {
        // A link to the file, or a copy of it.
        if rule.is_some_and(|rule| rule.body == other.body) {
            return same_text(other);
        }
        let (name, own) = (&origin.display, &other.origin.display);
        let hint = if other.origin.format.imports > 0 {
            format!("; add `@{name}` to it to import this file")
        } else {
            String::new()
        };
        return format!("`{own}` is read instead{hint}");
    }
    let ignored = agent.ignores.as_ref().filter(|ignored| ignored.format == origin.format.id);
    let files = ignored.map(|ignored| ignored.reads.to_owned()).or_else(|| readable_files(agent, origin));
    files.map(|files| format!("reads {files}")).unwrap_or_default()
}
