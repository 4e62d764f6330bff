//! `package-manager`: rules that use different package managers for one project.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::command::{Command, commands};
use super::page::Page;
use super::surroundings::Surroundings;
use crate::diagnostic::{Code, Diagnostic};
use crate::format::FormatId;
use crate::rule::Rule;
use crate::source::enclosing_folders;
use crate::work;

/// The package managers that exclude each other.
const MANAGERS: &[&str] = &["bun", "npm", "pnpm", "yarn"];

/// What people do with a package manager in a project. Other commands are about the registry, or have no rival.
const IN_PROJECT: &[&str] =
    &["add", "build", "ci", "dev", "i", "install", "lint", "remove", "run", "start", "test", "uninstall"];

/// What needs the package manager of the project. Others run its scripts, whoever installs.
const INSTALLS: &[&str] = &["add", "ci", "i", "install", "remove", "uninstall"];

/// Words of sentences and headings that say what not to use.
const NEGATIONS: &[&str] =
    &["avoid", "don't", "instead", "neither", "never", "no", "nor", "not", "rather", "than", "without"];

/// The same in a script that has no spaces between words.
const NEGATIONS_WITHIN: &[&str] = &["不", "勿", "禁止", "避免", "しない"];

pub(super) fn lint(pages: &[Page<'_>], around: &Surroundings<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let used: Vec<(&Page<'_>, Used)> = pages
        .iter()
        .filter(|page| page.rule.origin.format.id != FormatId::Skill)
        .map(|page| (page, managers(&page.text[page.body..])))
        .filter(|(_, managers)| !managers.is_empty())
        .collect();
    let locked: BTreeSet<&str> = around.locks.iter().map(|lock| lock.manager).collect();
    let (allowed, because) = match locked.is_empty() {
        false if around.locks.iter().all(|lock| lock.is_declared) => {
            (locked, "`packageManager` in `package.json` is".to_owned())
        }
        false => (locked, "the lock file is that of".to_owned()),
        true => match majority(&used) {
            Some((manager, file)) => (BTreeSet::from([manager]), format!("`{file}` uses")),
            None => return,
        },
    };
    for (page, managers) in used {
        // A rule that names the right one too gives a choice.
        if managers.keys().any(|manager| allowed.contains(manager)) {
            continue;
        }
        for (manager, span) in managers.iter().filter_map(|(manager, span)| Some((manager, span.as_ref()?))) {
            let span = page.body + span.start..page.body + span.end;
            let own = nearest(around, page.rule);
            let names = if own.is_empty() { &allowed } else { &own };
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            let message = format!("uses `{manager}`, but {because} {}", names.join(" and "));
            diagnostics.push(page.report(Code::PackageManager, span, message));
        }
    }
}

/// Returns the package managers whose lock files are in the folder of a rule or, if there are none, in the nearest folder
/// above it.
fn nearest(around: &Surroundings<'_>, rule: &Rule) -> BTreeSet<&'static str> {
    let root = rule.origin.root;
    let locked_in = |folder: &str| -> BTreeSet<&'static str> {
        let own = around.locks.iter().filter(|lock| lock.folder.0 == root && lock.folder.1 == folder);
        own.map(|lock| lock.manager).collect()
    };
    let mut folders: Vec<&str> = enclosing_folders(&rule.origin.folder).collect();
    folders.sort_by_key(|folder| std::cmp::Reverse(folder.len()));
    folders.into_iter().map(locked_in).find(|locked| !locked.is_empty()).unwrap_or_default()
}

/// The package managers that a text uses in a project, each with its first command that installs or removes packages.
type Used = BTreeMap<&'static str, Option<Range<usize>>>;

fn managers(text: &str) -> Used {
    let mut found = Used::new();
    let commands = commands(text);
    let manager_of =
        |command: &Command<'_>| MANAGERS.iter().copied().find(|manager| command.words[0] == *manager);
    let mut in_blocks: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
    for command in &commands {
        if let (Some(block), Some(manager)) = (command.block, manager_of(command)) {
            in_blocks.entry(block).or_default().insert(manager);
        }
    }
    // A line may have many commands.
    let mut line: Option<Line<'_>> = None;
    for command in &commands {
        work::count(1);
        let Some(manager) = manager_of(command) else { continue };
        let verbs = if manager == "bun" { INSTALLS } else { IN_PROJECT };
        let is_in_project = verbs.contains(&command.words[1])
            && !command.words.iter().any(|word| matches!(*word, "-g" | "--global"));
        let line = match &mut line {
            Some(line) if std::ptr::eq(line.text, command.line) => line,
            other => other.insert(Line::of(command.line)),
        };
        let is_choice = line.managers.iter().any(|other| *other != manager);
        // `npm install x`, or `yarn add x`, in one block.
        let in_block = command.block.and_then(|block| in_blocks.get(&block));
        let is_offered = in_block.is_some_and(|managers| managers.iter().any(|other| *other != manager));
        let is_negated =
            line.is_negated || command.block.is_some() && command.above.into_iter().any(is_negated);
        if is_in_project && !is_choice && !is_offered && !is_negated {
            let installs = INSTALLS.contains(&command.words[1]).then(|| command.span.clone());
            let first = found.entry(manager).or_default();
            *first = first.take().or(installs);
        }
    }
    found
}

/// Whether a line says what not to use.
fn is_negated(line: &str) -> bool {
    Line::of(line).is_negated
}

/// A line with what its words say about the commands in it.
struct Line<'t> {
    text: &'t str,
    managers: BTreeSet<&'static str>,
    is_negated: bool,
}

impl Line<'_> {
    fn of(text: &str) -> Line<'_> {
        work::count(text.len());
        let is_negated = NEGATIONS_WITHIN.iter().any(|word| text.contains(word));
        let mut line = Line { text, managers: BTreeSet::new(), is_negated };
        for word in text.split(|c: char| !c.is_alphanumeric() && c != '\'').map(str::to_lowercase) {
            line.managers.extend(MANAGERS.iter().find(|manager| **manager == word));
            line.is_negated |= NEGATIONS.contains(&word.as_str());
        }
        line
    }
}

/// Returns the manager that most rules use, and the first of them; `None` if they agree or are even.
fn majority<'p>(used: &[(&Page<'p>, Used)]) -> Option<(&'static str, &'p str)> {
    let mut counts: BTreeMap<&'static str, (usize, &str)> = BTreeMap::new();
    for (page, managers) in used {
        for manager in managers.keys() {
            counts.entry(manager).or_insert((0, page.rule.origin.display.as_str())).0 += 1;
        }
    }
    let (most, (count, file)) = counts.iter().max_by_key(|(_, (count, _))| *count)?;
    let rivals = counts.iter().filter(|(manager, _)| *manager != most);
    let is_clear = counts.len() > 1 && rivals.clone().all(|(_, (other, _))| other < count);
    is_clear.then_some((most, file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_commands_take_linear_time() {
        for piece in ["Run `npm run a`.\n", "`npm run a` `npm run b` ", "```sh\nnpm run a\n```\n"] {
            let text = |count: usize| format!("{}\n", piece.repeat(count));
            work::assert_linear(&text(80), &text(160), |text| drop(managers(text)));
        }
        let block = |count: usize| format!("```sh\n{}```\n", "npm run a\n".repeat(count));
        work::assert_linear(&block(2_000), &block(4_000), |text| drop(managers(text)));
    }
}
