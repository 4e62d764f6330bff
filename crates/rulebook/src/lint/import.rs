//! `unexpanded-import`: a file imports another one with `@`, and an agent that reads the file does not follow imports.

use super::page::Page;
use super::surroundings::Surroundings;
use crate::agent::{AGENTS, Agent};
use crate::diagnostic::{Code, Diagnostic, Severity, shown};
use crate::frontmatter::{self, Tier};
use crate::parse::{Import, imports};
use crate::rule::Rule;

/// How many agents a message names.
const MAX_NAMED: usize = 3;

pub(super) fn lint(pages: &[Page<'_>], around: &Surroundings<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let rules: Vec<&Rule> = pages.iter().map(|page| page.rule).collect();
    for page in pages.iter().filter(|page| page.rule.is_located()) {
        let page = page.as_written();
        let body = &page.text[page.body..];
        // A line of its own is an import; in a sentence it may be a hint to read the file.
        let is_alone = |import: &Import| {
            let line = body[..import.span.start].rfind('\n').map_or(0, |at| at + 1);
            let before = body[line..import.span.start].trim_matches([' ', '-', '*', '\t']);
            let after = body[import.span.end..].lines().next().unwrap_or_default();
            before.is_empty() && after.trim().is_empty() && import.is_surely_a_file()
        };
        let found: Vec<Import> = imports(body).into_iter().filter(is_alone).collect();
        let (blind, lacking) = blind(page.rule, &found, &rules, around);
        let Some(first) = lacking.first() else { continue };
        let mut names: Vec<&str> = blind.iter().take(MAX_NAMED).map(|agent| agent.title).collect();
        let more = format!("{} more", blind.len().saturating_sub(MAX_NAMED));
        if blind.len() > MAX_NAMED {
            names.push(&more);
        }
        let others = match lacking.len() - 1 {
            0 => String::new(),
            count => format!(" and {count} more"),
        };
        let verb = if blind.len() == 1 { "reads this file and does" } else { "read this file and do" };
        let message = format!(
            "{} {verb} not follow `@{}`{others}: the model sees only the name",
            names.join(", "),
            shown(&first.path)
        );
        let span = page.body + first.span.start..page.body + first.span.end;
        let is_all = lacking.iter().map(|import| import.span.len()).sum::<usize>() * 2 > body.trim().len();
        let severity = if is_all { Severity::Warning } else { Severity::Note };
        diagnostics.push(page.report(Code::UnexpandedImport, span, message).severity(severity));
    }
}

/// Returns the agents that read a file, do not follow its imports, and do not read all that it imports by themselves; and the
/// imports that one of them lacks.
fn blind<'i>(
    rule: &Rule,
    found: &'i [Import],
    rules: &[&Rule],
    around: &Surroundings<'_>,
) -> (Vec<&'static Agent>, Vec<&'i Import>) {
    let used = &around.agents;
    let folder = rule.origin.display.rsplit_once('/').map_or("", |(folder, _)| folder);
    // Each imported file: its path, and its text without a header.
    let imported: Vec<(String, Option<String>)> = found
        .iter()
        .map(|import| {
            let path = import.path.trim_start_matches("./");
            let path = if folder.is_empty() { path.to_owned() } else { format!("{folder}/{path}") };
            let text = (around.text_at)(rule.origin.root, &path);
            let text = text.map(|text| frontmatter::read(&text, Tier::Lines).body.trim().to_owned());
            (path, text.filter(|text| !text.is_empty()))
        })
        .collect();
    let reads = |agent: &Agent, rule: &Rule| {
        let is_here = |place: &crate::format::Place| place.path == rule.origin.place.path;
        let mut own = agent.formats.iter().filter(|format| format.id == rule.origin.format.id);
        own.any(|format| format.workspace.iter().any(is_here))
    };
    let knows = |agent: &Agent, (path, text): &(String, Option<String>)| {
        let is_same =
            |other: &&&Rule| other.origin.display == *path || text.as_deref() == Some(other.body.as_str());
        rules.iter().filter(is_same).any(|other| reads(agent, other))
    };
    let is_blind = |agent: &&'static Agent| {
        let knows_all = imported.iter().all(|file| knows(agent, file));
        // An agent that follows imports elsewhere probably does here.
        let follows_none = agent.formats.iter().all(|format| format.imports == 0);
        let uses_other = around.unused.contains(&(agent.name, rule.origin.display.clone()));
        reads(agent, rule) && !uses_other && follows_none && !knows_all
    };
    let blind: Vec<&'static Agent> = match used.is_empty() {
        true => AGENTS.iter().filter(is_blind).collect(),
        false => used.iter().copied().filter(is_blind).collect(),
    };
    let is_lacking = |file: &(String, Option<String>)| blind.iter().any(|agent| !knows(agent, file));
    let lacking = found.iter().zip(&imported).filter(|(_, file)| is_lacking(file)).map(|(import, _)| import);
    let lacking = lacking.collect();
    (blind, lacking)
}
