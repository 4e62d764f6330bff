//! Moves the conditional rules of Cline. Its command line loads every file directly in `.clinerules` whole, and none in a
//! folder below: there hooks deliver them, and the editor reads them as before.

use anyhow::anyhow;
use rulebook::format::FormatId;
use rulebook::rule::Activation;
use rulebook_workspace::{Reach, read};

use super::destination::{Destination, HostPath};
use super::file::Change;
use super::plan::Task;
use crate::args::Args;
use crate::input::open_workspace;
use crate::out::plural;

/// Where the rules of a workspace are.
const RULES: &str = ".clinerules";

/// Where the conditional ones are moved to.
const FOLDER: &str = ".clinerules/conditional";

/// Plans the moves: into the folder, or back out of it.
pub(super) fn moves(args: &Args, destination: &Destination, task: Task) -> anyhow::Result<Vec<Change>> {
    let (names, from, to) = match task {
        Task::Install => (conditional(args)?, RULES, FOLDER),
        Task::Uninstall => (moved(destination), FOLDER, RULES),
    };
    let mut changes = Vec::new();
    for name in names {
        let at = |folder: &str| destination.path(&format!("{folder}/{name}"));
        let failed = |path: &HostPath, why: &str| {
            anyhow!("nothing was written; move the file, then run the command again")
                .context(format!("cannot move `{}`: {why}", path.shown))
        };
        let (old, new) = (at(from), at(to));
        let mut removed = Change::read(old.clone()).map_err(|error| failed(&old, &error.to_string()))?;
        let mut created = Change::read(new.clone()).map_err(|error| failed(&new, &error.to_string()))?;
        if created.before.is_some() {
            return Err(failed(&old, &format!("`{}` exists", new.shown)));
        }
        created.after = removed.after.take();
        changes.extend([created, removed]);
    }
    Ok(changes)
}

/// Says how many conditional rules Cline CLI loads whole.
pub(super) fn hint(args: &Args) -> Option<String> {
    let count = conditional(args).ok()?.len();
    let (rules, them) = (plural(count, "rule"), if count == 1 { "it" } else { "them" });
    (count > 0).then(|| {
        format!("Cline CLI ignores the conditions of {rules} and loads {them} in full; `--move-rules` moves {them} to `{FOLDER}`, from where hooks deliver {them}")
    })
}

/// The files directly in `.clinerules` that have conditions.
fn conditional(args: &Args) -> anyhow::Result<Vec<String>> {
    let workspace = open_workspace(args)?;
    let book = workspace.load(Reach::Tree).book;
    let here = book.rules().map(|(rule, _)| rule).filter(|rule| {
        rule.origin.format.id == FormatId::Cline
            && rule.origin.root == 0
            && rule.activation == Activation::When
    });
    let path = format!("{}/{RULES}/", workspace.roots.roots[0].path);
    let name = here.filter_map(|rule| Some(rule.origin.path.strip_prefix(&path)?.to_owned()));
    Ok(name.filter(|name| !name.contains('/')).collect())
}

/// The files that were moved, sorted.
fn moved(destination: &Destination) -> Vec<String> {
    let entries = read::folder(&destination.base.join(FOLDER)).into_iter().flatten().flatten();
    let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    let mut names: Vec<String> = files.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}
