//! Adopting: takes the edits of a copy into the rule that it is a copy of.

use std::io;
use std::path::Path;

use rulebook::agent::Agent;
use rulebook::export::{
    Blocks, Meant, TARGETS, Target, as_written, compare_readings, draft, marker, reread, with_breaks,
    without_marker,
};
use rulebook::parse::{Entry, parse};
use rulebook::resolve::Rulebook;
use rulebook::rule::Rule;
use rulebook::source::Source;

use super::files::text_at;
use crate::canonical;
use crate::homes::posix;
use crate::recorded::{Record, RecordedCopies, source_hash};
use crate::sources::Sources;
use crate::storage::Storage;
use crate::write::{self, Kind, Owner};

/// What taking the text of a copy into its rule changed.
#[derive(Debug)]
#[non_exhaustive]
pub struct Adopted {
    /// The rule's file, as shown.
    pub source: String,
    /// If the rule was edited since it was copied: its text before and after. Its own edits are lost.
    pub replaced: Option<(String, String)>,
}

/// Why the edits of a copy were not taken over.
#[derive(Debug)]
#[non_exhaustive]
pub enum AdoptError {
    /// The file is not a recorded copy.
    NotACopy(String),
    /// The file holds the list of rules, which is no copy of a rule.
    List(String),
    /// Its rule is gone.
    NoSource(String),
    /// The rule's file is given.
    Imports(String),
    /// What the copy says cannot be expressed in the rule's own format.
    NoForm(String),
    /// A file cannot be read or written.
    Io(io::Error),
}

impl std::fmt::Display for AdoptError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            AdoptError::NotACopy(path) => {
                write!(f, "`{path}` is not an exported copy")
            }
            AdoptError::List(path) => write!(
                f,
                "the list of rules in `{path}` is no copy of a rule: move text of your own out of it, then use `--keep {path}`"
            ),
            AdoptError::NoSource(path) => write!(f, "the rule that `{path}` is a copy of does not exist"),
            AdoptError::Imports(path) => write!(
                f,
                "`{path}` imports files, whose text is part of the copy: edit the files themselves, then use `--keep {path}`"
            ),
            AdoptError::NoForm(why) => {
                write!(f, "the header of the copy has no form in the rule's own format: {why}")
            }
            AdoptError::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for AdoptError {}

impl From<io::Error> for AdoptError {
    fn from(error: io::Error) -> AdoptError {
        AdoptError::Io(error)
    }
}

impl Sources<'_> {
    /// Replaces the text of a rule by that of its copy, given by its path as shown or on disk. `dir` is the folder that copies
    /// were written to instead of the root.
    ///
    /// # Errors
    /// If the file is no copy, or its edits have no form in the rule's own format.
    pub fn adopt(&self, book: &Rulebook, copy: &str, dir: Option<&Path>) -> Result<Adopted, AdoptError> {
        let shown = copy.trim_start_matches("./");
        let real = canonical(Path::new(copy)).ok();
        let workspace = self.workspace();
        for (root, base) in workspace.export_folders(None).iter().zip(workspace.checked_folders(dir)?) {
            let records = RecordedCopies::read(&Storage::Disk, &base)?;
            let base_path = canonical(&base).unwrap_or_else(|_| base.clone());
            let on_disk = real
                .as_ref()
                .and_then(|path| path.strip_prefix(base_path).ok())
                .map(posix)
                .unwrap_or_default();
            let is_it =
                |record: &&Record| [shown, &on_disk].contains(&&*record.path) && !record.source.is_empty();
            let is_list =
                |record: &Record| [shown, &on_disk].contains(&&*record.path) && record.source.is_empty();
            let Some(record) = records.copies.iter().find(is_it) else {
                match records.copies.iter().find(|record| is_list(record)) {
                    Some(list) => return Err(AdoptError::List(list.path.clone())),
                    None => continue,
                }
            };
            let (copy, source) = (&record.path, root.join(&record.source));
            let rule = book.rules().map(|(rule, _)| rule).find(|rule| Path::new(&rule.origin.path) == source);
            let (Some(rule), Some(target)) = (rule, Target::named(&record.target)) else {
                return Err(AdoptError::NoSource(copy.clone()));
            };
            let file = text_at(&base, copy)?.unwrap_or_default();
            let text = match record.is_block {
                true => Blocks::of(&file).get(&record.source).unwrap_or_default().to_owned(),
                false => file,
            };
            let old = self.text(rule).ok_or_else(|| AdoptError::NoSource(copy.clone()))?;
            if read_back(rule, &old).is_none_or(|own| own.body != rule.body) {
                return Err(AdoptError::Imports(rule.origin.display.clone()));
            }
            let new = adopted(rule, target, copy, &text, &old, record.is_block)?;
            let line_break = if old.contains("\r\n") { "\r\n" } else { "\n" };
            let new = with_breaks(&new, line_break);
            write::rewrite(&source, &new, Kind::Text, Owner::Repository(root))?;
            let was_edited =
                source_hash(&old) != record.source_hash && source_hash(&old) != source_hash(&new);
            return Ok(Adopted {
                source: rule.origin.display.clone(),
                replaced: was_edited.then(|| (old.to_string(), new)),
            });
        }
        Err(AdoptError::NotACopy(copy.to_owned()))
    }
}

/// A text without blank lines in front, which are part of the rule's header here.
fn without_blank_lines(text: &str) -> &str {
    let blank = text.len() - text.trim_start().len();
    let first = text[..blank].rfind('\n').map_or(0, |at| at + 1);
    &text[first..]
}

/// What a text says in the place of a rule.
fn read_back(rule: &Rule, text: &str) -> Option<Rule> {
    match parse(Source { origin: rule.origin.clone(), text: Ok(text.into()) }).entry {
        Entry::Rule(rule) => Some(*rule),
        Entry::Rejected(_) => None,
    }
}

/// The text of a rule with the edits of its copy: its body and, if the copy now applies to something else, its header.
fn adopted(
    rule: &Rule,
    target: &Target,
    path: &str,
    text: &str,
    old: &str,
    is_block: bool,
) -> Result<String, AdoptError> {
    let no_form = |why: String| AdoptError::NoForm(why);
    let body_at = old.match_indices('\n').nth(rule.body_line.saturating_sub(2)).map_or(0, |(at, _)| at + 1);
    let header = if rule.body_line <= 1 { "" } else { &old[..body_at] };
    if is_block {
        let inner = text.lines().skip(1);
        let count = inner.clone().count().saturating_sub(1);
        let body: Vec<&str> = inner.take(count).collect();
        let body = body.join("\n");
        let body = without_blank_lines(&body).to_owned();
        let body = match target.reads(path) {
            Some(origin) => as_written(&body, &rule.body, &rule.origin, &origin),
            None => body,
        };
        return Ok(format!("{header}{body}\n"));
    }
    let meant = Meant::of(rule);
    let edited =
        reread(&meant, target, path, text).ok_or_else(|| no_form("the agent rejects it".to_owned()))?;
    let body = without_blank_lines(without_marker(&edited.rule.body));
    let body = as_written(body, &rule.body, &rule.origin, &edited.rule.origin);
    let before = draft(&meant, target, "x", "x").map_err(|loss| no_form(loss.to_string()))?;
    if compare_readings(&Meant::of(&before.rule), &edited.rule).is_same() {
        return Ok(format!("{header}{body}\n"));
    }
    let owner = Agent::owner_of(rule.origin.format.id).map_or(rule.origin.format.name(), |agent| agent.name);
    let own = TARGETS.iter().find(|target| target.name == owner);
    let own = own.ok_or_else(|| no_form(format!("{} files are not written", rule.origin.format.name())))?;
    let new = draft(&Meant::of(&edited.rule), own, "x", "x").map_err(|loss| no_form(loss.to_string()))?;
    if new.proof.is_wider() {
        return Err(no_form("it would apply to more".to_owned()));
    }
    let text = new.text.replacen(&(marker("x") + "\n"), "", 1);
    // What no copy says would be lost with the header.
    let parts = |rule: &Rule| {
        (rule.id.clone(), rule.description.clone(), rule.priority, rule.tags.clone(), rule.repeat)
    };
    match read_back(rule, &text) {
        Some(own) if parts(&own) == parts(rule) && own.examples.is_some() == rule.examples.is_some() => {
            Ok(text)
        }
        _ => Err(no_form("the header of the rule says more than the copy".to_owned())),
    }
}
