//! Lists the rules that always apply in Aider's settings: it has no hooks and no servers, but reads the files that `read` names.

use anyhow::{Context as _, anyhow};
use rulebook::agent::{Agent, Wiring};
use rulebook::evaluate::Verdict;
use rulebook::evidence::Input;
use rulebook::matrix::{Handling, evaluate_for, handlings};
use serde_json::Value as Json;

use super::destination::Destination;
use super::file::Change;
use super::plan::Task;
use super::yaml::{self, MARK};
use crate::args::Args;
use crate::input::open_workspace;

/// Aider's settings in a workspace.
const FILE: &str = ".aider.conf.yml";

/// The key that lists files.
const KEY: &str = "read";

/// Plans the change of Aider's settings.
pub(super) fn changes(args: &Args, destination: &Destination, task: Task) -> anyhow::Result<Vec<Change>> {
    if !destination.is_shared() {
        return Err(anyhow!("omit `--user`").context("Aider's list of files is for one workspace"));
    }
    let path = destination.path(FILE);
    let help = "nothing was written; fix the file, then run the command again";
    let mut change = Change::read(path)
        .map_err(|error| anyhow!(help).context(format!("cannot edit `{FILE}`: {error}")))?;
    let before = change.before.clone();
    let text = before.as_deref();
    change.after = match task {
        Task::Uninstall => text.and_then(|text| yaml::remove_entries(text, KEY, &is_ours)),
        Task::Install => {
            let lines = lines(args, text)?;
            let own = text.and_then(|text| yaml::remove_entries(text, KEY, &is_ours));
            match (lines.is_empty(), own) {
                (true, own) => own,
                (false, own) => {
                    let written = yaml::add_lines(own.as_deref(), KEY, &lines);
                    let at = |fault: super::fault::Fault| {
                        let at = fault.position(own.as_deref().unwrap_or_default());
                        anyhow!(help).context(format!("{FILE}:{at}: {}", fault.message))
                    };
                    Some(written.map_err(at)?)
                }
            }
        }
    };
    Ok((change.before != change.after).then_some(change).into_iter().collect())
}

/// Whether an entry of the list is ours.
fn is_ours(entry: &str) -> bool {
    entry.ends_with(MARK)
}

/// The entries for the rules that always apply, in their order, without those that the user lists.
fn lines(args: &Args, text: Option<&str>) -> anyhow::Result<Vec<String>> {
    let workspace = open_workspace(args)?;
    let agent = Agent::named("aider").context("the table of agents has no Aider")?;
    let prepared = workspace.prepare(&Input::default());
    let view = prepared.view(agent, &[Wiring::Proxy]);
    let native = view.reading(&prepared.evidence);
    let subject = view.subject(&native);
    let evaluation =
        evaluate_for(&prepared.book, &prepared.evidence, Some(&subject), workspace.settings.budget);
    let applied: Vec<&Verdict<'_>> =
        evaluation.stack().filter(|verdict| verdict.because.is_empty()).collect();
    let root = format!("{}/", workspace.roots.roots[0].path);
    let line = |(verdict, handled): (&&Verdict<'_>, Handling)| {
        let path = verdict.rule.origin.path.strip_prefix(&root)?;
        let line = format!("- {} {MARK}", quoted(path));
        let is_listed = || text.is_some_and(|text| text.lines().any(|other| other.trim() == line));
        (handled.is_by_rulebook() || is_listed()).then_some(line)
    };
    Ok(applied.iter().zip(handlings(Some(&subject), &applied)).filter_map(line).collect())
}

/// A path as YAML: in quotes unless it is plain.
fn quoted(path: &str) -> String {
    let is_plain =
        path.chars().all(|c| c.is_ascii_alphanumeric() || "._/-".contains(c)) && !path.starts_with('-');
    if is_plain { path.to_owned() } else { Json::from(path).to_string() }
}
