//! `unknown-script`: a rule names a script that no `package.json`, `Makefile` or `justfile` has.

use std::collections::HashSet;

use super::command::{Command, commands};
use super::page::Page;
use super::surroundings::{Runner, Surroundings};
use crate::diagnostic::{Code, Diagnostic, similar_names};
use crate::format::FormatId;

/// The most unknown scripts that are reported for a file.
const MAX_REPORTED: usize = 100;

pub(super) fn lint(page: &Page<'_>, around: &Surroundings<'_>, diagnostics: &mut Vec<Diagnostic>) {
    // A skill works in many projects.
    if page.rule.origin.format.id == FormatId::Skill {
        return;
    }
    let body = &page.text[page.body..];
    let mut seen = HashSet::new();
    let mut unknown = Vec::new();
    let mut is_about_this_tree = page.rule.is_located() && page.rule.origin.folder.is_empty();
    for command in commands(body) {
        let Some((runner, name)) = script(&command) else { continue };
        let files = || around.scripts.iter().filter(|(known, _)| *known == runner).map(|(_, names)| names);
        if files().next().is_none() || files().any(|names| names.is_open) {
            continue;
        }
        if files().any(|names| names.names.contains(name)) {
            is_about_this_tree |= !USUAL.contains(&name);
        } else if unknown.len() < MAX_REPORTED && seen.insert((runner, name)) {
            /// `test:changed` is no typing error of `test:failed`.
            const MAX_DISTANCE: usize = 2;
            let is_near = |known: &&str| strsim::damerau_levenshtein(name, known) <= MAX_DISTANCE;
            let known = files().flat_map(|names| names.names.iter().map(String::as_str));
            let known: Vec<&str> = known.filter(is_near).collect();
            unknown.push((command.span, runner, name, similar_names(name, known)));
        }
    }
    // Rules that are copied from elsewhere name the scripts of no project in particular.
    if !is_about_this_tree {
        return;
    }
    for (span, runner, name, near) in unknown {
        let place = match runner {
            Runner::Package => "`package.json`",
            Runner::Make => "`Makefile`",
            Runner::Just => "`justfile`",
        };
        let span = page.body + span.start..page.body + span.end;
        let found = page.report(Code::UnknownScript, span, format!("no {place} has a script `{name}`"));
        diagnostics.push(match near {
            Some(near) => found.help(format!("did you mean {near}?")),
            None => found,
        });
    }
}

/// Names of scripts that most projects have.
const USUAL: &[&str] = &["build", "check", "clean", "dev", "format", "install", "lint", "start", "test"];

/// Returns the script that a command runs by name.
fn script<'t>(command: &Command<'t>) -> Option<(Runner, &'t str)> {
    let (runner, name) = match *command.words.as_slice() {
        ["npm" | "pnpm" | "yarn" | "bun", "run" | "run-script", name, ..] => (Runner::Package, name),
        ["make", name, ..] => (Runner::Make, name),
        ["just", name, ..] => (Runner::Just, name),
        _ => return None,
    };
    let is_name = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b":_-".contains(&byte))
        && !name.ends_with(':');
    let is_placeholder =
        matches!(name, "name" | "script" | "script-name" | "target" | "command" | "task" | "recipe" | "sure");
    (is_name && !is_placeholder).then_some((runner, name))
}
