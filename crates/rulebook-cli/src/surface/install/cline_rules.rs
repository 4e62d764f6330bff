//! Moves the conditional rules of Cline. Its command line loads every file directly in `.clinerules` whole, and none in a
//! folder below: there hooks deliver them, and the editor reads them as before.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use anyhow::anyhow;
use rulebook::format::FormatId;
use rulebook::rule::Activation;
use rulebook_workspace::Reach;
use rulebook_workspace::team::{TEAM_FILE, set_team_switch};
use rulebook_workspace::toggles::Switch;

use super::destination::{Destination, HostPath};
use super::file::Change;
use crate::args::Args;
use crate::input::open_workspace;
use crate::out::plural;

/// Where the rules of a workspace are.
const RULES: &str = ".clinerules";

/// Where the conditional ones are moved to.
const FOLDER: &str = ".clinerules/conditional";

/// The names of the moved files, one per line: other files of the folder are the user's own. Cline's editor would read a
/// record in its own folder as a rule.
const RECORD: &str = ".rulebook/moved-cline-rules";

/// The moves of a task.
#[derive(Default)]
pub(super) struct Moves {
    pub(super) changes: Vec<Change>,
    /// The files before and after, as displayed.
    pub(super) renamed: Vec<(String, String)>,
    /// Why files stay where they are.
    pub(super) hints: Vec<String>,
}

/// Plans the moves into the folder.
pub(super) fn into_folder(args: &Args, destination: &Destination) -> anyhow::Result<Moves> {
    let names = conditional(args)?;
    let mut moves = Moves::default();
    for name in &names {
        let (old, new) =
            (destination.path(&format!("{RULES}/{name}")), destination.path(&format!("{FOLDER}/{name}")));
        let failed = |why: &str| {
            anyhow!("nothing was written; move the file, then run the command again")
                .context(format!("cannot move `{}`: {why}", old.shown))
        };
        match moved(old.clone(), new.clone()).map_err(|error| failed(&error.to_string()))? {
            Some(changes) => {
                moves.changes.extend(changes);
                moves.renamed.push((old.shown, new.shown));
            }
            None => return Err(failed(&format!("`{}` exists", new.shown))),
        }
    }
    let mut record = Record::read(destination)?;
    record.names.extend(names);
    moves.changes.extend(record.written());
    Ok(moves)
}

/// Plans the moves back. A file in whose place there is another one stays, and so does the record of it.
pub(super) fn out_of_folder(destination: &Destination) -> anyhow::Result<Moves> {
    let mut moves = Moves::default();
    let mut record = Record::read(destination)?;
    let mut left = BTreeSet::new();
    for name in std::mem::take(&mut record.names) {
        let (old, new) =
            (destination.path(&format!("{FOLDER}/{name}")), destination.path(&format!("{RULES}/{name}")));
        let why = match moved(old.clone(), new.clone()) {
            Ok(Some(changes)) => {
                moves.changes.extend(changes);
                moves.renamed.push((old.shown, new.shown));
                continue;
            }
            Ok(None) => format!("`{}` exists", new.shown),
            Err(error) => error.to_string(),
        };
        moves.hints.push(format!("`{}` stays there: {why}", old.shown));
        left.insert(name);
    }
    record.names = left;
    moves.changes.extend(record.written());
    Ok(moves)
}

/// Lets switches that name a moved file follow it. Those that name its id or key still do.
pub(super) fn switch_renamed(args: &Args, renamed: &[(String, String)]) -> anyhow::Result<()> {
    if renamed.is_empty() {
        return Ok(());
    }
    let workspace = open_workspace(args)?;
    let follow = |off: &[&str]| -> Vec<(String, Switch)> {
        let moved = renamed.iter().filter(|(old, _)| off.contains(&old.as_str()));
        moved.flat_map(|(old, new)| [(old.clone(), Switch::On), (new.clone(), Switch::Off)]).collect()
    };
    if let Some(toggles) = workspace.toggles() {
        let (stored, _) = toggles.read();
        let root = Path::new(&workspace.roots.roots[0].path);
        let here = follow(&stored.off_ids(root).collect::<Vec<_>>());
        if !here.is_empty() {
            toggles.switch(root, &here)?;
        }
        let everywhere = follow(&stored.off_everywhere().collect::<Vec<_>>());
        if !everywhere.is_empty() {
            toggles.switch_everywhere(&everywhere)?;
        }
    }
    let team = workspace.settings.rules.disabled_ids.iter().filter(|id| id.root == Some(0));
    for (name, to) in follow(&team.map(|id| id.value.as_str()).collect::<Vec<_>>()) {
        set_team_switch(&Path::new(&workspace.roots.roots[0].path).join(TEAM_FILE), &name, to)?;
    }
    Ok(())
}

/// The changes that move a file; none if it is gone, `None` if there is another file in its place.
fn moved(old: HostPath, new: HostPath) -> io::Result<Option<Vec<Change>>> {
    let (mut removed, mut created) = (Change::read(old)?, Change::read(new)?);
    if removed.before.is_none() {
        return Ok(Some(Vec::new()));
    }
    if created.before.is_some() {
        return Ok(None);
    }
    created.after = removed.after.take();
    Ok(Some(vec![created, removed]))
}

/// The record of what was moved.
struct Record {
    change: Change,
    names: BTreeSet<String>,
}

impl Record {
    fn read(destination: &Destination) -> anyhow::Result<Record> {
        let change = Change::read(destination.path(RECORD)).map_err(|error| {
            anyhow!("nothing was written; fix or move the file, then run the command again")
                .context(format!("cannot edit `{RECORD}`: {error}"))
        })?;
        // Of a record that strangers wrote, only names of files count.
        let is_name =
            |line: &&str| !line.is_empty() && !line.starts_with('.') && !line.contains(['/', '\\', ':']);
        let names = change.before.iter().flat_map(|text| text.lines()).filter(is_name).map(str::to_owned);
        Ok(Record { names: names.collect(), change })
    }

    /// The change of the record, if it changes. It is removed with its last name.
    fn written(mut self) -> Option<Change> {
        let text: String = self.names.iter().map(|name| format!("{name}\n")).collect();
        self.change.after = (!text.is_empty()).then_some(text);
        (self.change.before != self.change.after).then_some(self.change)
    }
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
