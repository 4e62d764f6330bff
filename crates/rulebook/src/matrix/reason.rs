//! The reasons in cells: one short phrase each.

use crate::agent::Agent;
use crate::compare::readable_files;
use crate::evaluate::Verdict;
use crate::resolve::{Off, OffBy};
use crate::source::{Origin, Scope};

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

/// Describes why an agent does not read a file in one of its own places; empty for a place of another agent.
pub(super) fn not_read(agent: &Agent, origin: &Origin) -> String {
    if origin.scope != Scope::Workspace {
        return String::new();
    }
    let ignored = agent.ignores.as_ref().filter(|ignored| ignored.format == origin.format.id);
    let files = ignored.map(|ignored| ignored.reads.to_owned()).or_else(|| readable_files(agent, origin));
    files.map(|files| format!("reads {files}")).unwrap_or_default()
}
