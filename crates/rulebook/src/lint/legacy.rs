//! `legacy-place`: a file in a place that its agent has replaced by another.

use super::page::Page;
use super::surroundings::Surroundings;
use crate::diagnostic::{Code, Diagnostic};

/// Old places, where to move a file from each, and the header that keeps it always on.
const PLACES: &[(&str, &str, &str, &str)] = &[
    (".cursorrules", "Cursor", ".cursor/rules/project.mdc", "alwaysApply: true"),
    (".windsurfrules", "Windsurf", ".windsurf/rules/project.md", "trigger: always_on"),
];

pub(super) fn lint(page: &Page<'_>, around: &Surroundings<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let rule = page.rule;
    let name = rule.origin.display.rsplit('/').next().unwrap_or_default();
    let found = PLACES.iter().find(|(place, ..)| *place == name && rule.origin.place.path == *place);
    // A nested one is often part of a template.
    let has_words = rule.body.contains(char::is_alphanumeric);
    let is_own = rule.origin.folder.is_empty() && has_words && !(around.is_link)(rule);
    let Some((place, agent, new, header)) = found.filter(|_| is_own) else { return };
    let folder = new.rsplit_once('/').map_or("", |(folder, _)| folder);
    let message = format!("`{place}` is the old place of {agent} rules");
    let then = match page.is_whole() && page.body > 0 {
        true => "its header counts there".to_owned(),
        false => format!("start the file with the header `{header}`"),
    };
    let help = format!("`mkdir -p {folder} && git mv {place} {new}`; {then}");
    diagnostics.push(Diagnostic::whole(Code::LegacyPlace, &rule.origin.display, message).help(help));
}
