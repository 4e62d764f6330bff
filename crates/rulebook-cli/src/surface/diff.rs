//! `diff`: what a change to the rules does to what each agent has in context.

mod changes;
mod show;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{anyhow, bail};
use rulebook::agent::Agent;
use rulebook::change::{Files, Sighting, always_tokens, changes, sightings};
use rulebook::coverage::Extent;
use rulebook::evidence::{Evidence, Seen};
use rulebook_workspace::revision::{Revision, RevisionError, merge_base};
use rulebook_workspace::{AgentSearch, Homes, Reach, UsedAgent, Views, Wanted, Workspace, find_root};
use serde_json::{Value, json};

use changes::AgentChanges;

use crate::args::{Args, Diff, DiffFormat};
use crate::code;
use crate::input::{current_folder, settings_of};
use crate::out::{self, VERSION};

/// One version of the files. The folder of a revision is removed when this is dropped.
struct Version {
    workspace: Workspace,
    revision: Option<Revision>,
}

pub(super) fn run(args: &Args, options: &Diff) -> anyhow::Result<ExitCode> {
    let root = root(args)?;
    let Range { base, parted, head } = Range::read(&root, &options.range).map_err(explained)?;
    let before = version(&root, Some(parted.as_ref().unwrap_or(&base)), args)?;
    let after = version(&root, head.as_deref(), args)?;
    let files = after.workspace.tree(Wanted::Files, &|_| ()).paths();
    let agents = match options.agents.as_slice() {
        [] => used(&[&before, &after]),
        named => named.to_vec(),
    };
    let skipped = Skipped::of([&before, &after]);
    let (before, after) = (views(&before.workspace, &agents), views(&after.workspace, &agents));
    let per_agent: Vec<AgentChanges<'_>> = match agents.as_slice() {
        [] => vec![compare(None, (&before, &after), &files)],
        agents => (0..agents.len()).map(|at| compare(Some(at), (&before, &after), &files)).collect(),
    };
    let label = match (&parted, &head) {
        (Some(parted), Some(head)) => {
            format!("{} (merge base of {base} and {head})", parted.get(..8).unwrap_or(parted))
        }
        _ => base.clone(),
    };
    let head = head.unwrap_or_else(|| "the working tree".to_owned());
    match options.format {
        _ if args.json => out::print_json(&as_json(&base, &head, &per_agent, &skipped))?,
        DiffFormat::Json => out::print_json(&as_json(&base, &head, &per_agent, &skipped))?,
        DiffFormat::Text => out::print(&show::text(&label, &head, &per_agent))?,
        DiffFormat::Markdown => out::print_raw(show::markdown(&per_agent).as_bytes())?,
    }
    skipped.show();
    let is_changed = per_agent.iter().any(|agent| !agent.changes.is_empty());
    Ok(if options.exit_code && is_changed { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// What is not compared.
struct Skipped {
    /// The working tree has the files of submodules, a revision has not.
    submodules: BTreeSet<String>,
    /// Files whose text this clone does not have.
    missing: BTreeSet<String>,
}

impl Skipped {
    fn of(versions: [&Version; 2]) -> Skipped {
        let revisions: Vec<&Revision> =
            versions.iter().filter_map(|version| version.revision.as_ref()).collect();
        Skipped {
            submodules: revisions.iter().flat_map(|revision| revision.submodules().iter().cloned()).collect(),
            missing: revisions.iter().flat_map(|revision| revision.missing().iter().cloned()).collect(),
        }
    }

    fn show(&self) {
        /// The others are counted.
        const MOST: usize = 10;
        let what = [
            ("submodules are not compared", &self.submodules),
            ("not compared, because git does not have their text", &self.missing),
        ];
        for (what, names) in what.into_iter().filter(|(_, names)| !names.is_empty()) {
            let shown: Vec<String> = names.iter().take(MOST).map(|name| out::clean(name)).collect();
            let more = names.len().saturating_sub(MOST);
            let more = if more == 0 { String::new() } else { format!(" and {more} more") };
            out::print_aside(&format!("{what}: {}{more}\n", shown.join(", ")));
        }
    }
}

/// Returns the one root: a revision belongs to one repository.
fn root(args: &Args) -> anyhow::Result<PathBuf> {
    match args.root.as_slice() {
        [] => Ok(find_root(&current_folder()?).to_owned()),
        [root] => Ok(root.clone()),
        _ => bail!("`diff` compares one repository: give `--root` once"),
    }
}

/// The two versions to compare.
struct Range {
    base: String,
    /// Where the branches parted, if the change since then is wanted.
    parted: Option<String>,
    /// `None` for the working tree.
    head: Option<String>,
}

impl Range {
    /// Reads `BASE..HEAD`, `BASE...HEAD` (since the branches parted) or `BASE`.
    fn read(root: &Path, range: &str) -> Result<Range, RevisionError> {
        let or_head = |name: &str| if name.is_empty() { "HEAD".to_owned() } else { name.to_owned() };
        let (base, head, is_parted) = match (range.split_once("..."), range.split_once("..")) {
            (Some((base, head)), _) => (or_head(base), Some(or_head(head)), true),
            (_, Some((base, head))) => (or_head(base), Some(or_head(head)), false),
            _ => (range.to_owned(), None, false),
        };
        let parted = match &head {
            Some(head) if is_parted => Some(merge_base(root, &base, head)?),
            _ => None,
        };
        Ok(Range { base, parted, head })
    }
}

#[allow(clippy::needless_pass_by_value, reason = "it is the last use of an error")]
fn explained(error: RevisionError) -> anyhow::Error {
    let help = match error {
        RevisionError::NoRepository => {
            "run `rulebook diff` in a repository, or name its folder with `--root DIR`"
        }
        RevisionError::NoCommits => "commit the rules, and run `rulebook diff` after the next change",
        RevisionError::Unknown { .. } => {
            "name two revisions that git knows, such as `rulebook diff main..HEAD`; in CI, fetch the history first"
        }
        _ => "`diff` needs git on the PATH and space in the temporary folder",
    };
    anyhow!(help).context(error.to_string())
}

/// Opens one version. The user's own files are left out: the answer is the same for everyone.
fn version(root: &Path, name: Option<&str>, args: &Args) -> anyhow::Result<Version> {
    let revision = name.map(|name| Revision::checkout(root, name)).transpose().map_err(explained)?;
    let folder = revision.as_ref().map_or(root, Revision::folder);
    let workspace = Workspace::open_with(&[folder], Homes::default(), &settings_of(&args.set)?)?;
    let workspace = code::parsing(workspace);
    Ok(Version { workspace, revision })
}

/// Returns the agents that either version is used with.
fn used(versions: &[&Version]) -> Vec<&'static Agent> {
    let used = versions.iter().flat_map(|version| version.workspace.agents_used(AgentSearch::Workspace));
    let mut agents: Vec<&Agent> = used.map(|used: UsedAgent| used.agent).collect();
    agents.sort_by_key(|agent| agent.name);
    agents.dedup_by_key(|agent| agent.name);
    agents
}

fn views(workspace: &Workspace, agents: &[&'static Agent]) -> Views {
    let agents = agents.iter().map(|agent| workspace.agent(agent, AgentSearch::Workspace)).collect();
    workspace.sources(Reach::Tree).views(agents)
}

fn compare<'r>(
    at: Option<usize>,
    (before, after): (&'r Views, &'r Views),
    files: &[Seen],
) -> AgentChanges<'r> {
    let (was, now) = (seen(before, at, files), seen(after, at, files));
    AgentChanges {
        agent: at.map(|at| after.agents[at].used.agent),
        always: (always_tokens(&was), always_tokens(&now)),
        changes: changes(&was, &now),
    }
}

fn seen<'r>(views: &'r Views, at: Option<usize>, files: &[Seen]) -> Vec<Sighting<'r>> {
    let Some(view) = at.map(|at| &views.agents[at]) else {
        return sightings(&views.meant.book, None, Files { seen: files, roots: 1 });
    };
    let nothing = Evidence::default();
    let reading = view.reading(&nothing);
    let agent = (&view.native.book, &view.subject(&reading));
    sightings(&views.meant.book, Some(agent), Files { seen: files, roots: 1 })
}

fn as_json(base: &str, head: &str, agents: &[AgentChanges<'_>], skipped: &Skipped) -> Value {
    let Skipped { submodules, missing } = skipped;
    let extent = |sighting: &Option<Sighting<'_>>| {
        sighting.as_ref().map(|sighting| {
            let (word, files) = match &sighting.extent {
                Extent::Files(files) => ("files", Some(files.count())),
                Extent::Always => ("always", None),
                Extent::Output => ("stream", None),
                Extent::Nowhere => ("files", Some(0)),
                _ => ("offered", None),
            };
            json!({
                "key": sighting.rule.key(),
                "source": sighting.rule.origin.display,
                "reach": word,
                "files": files,
                "undocumentedFiles": sighting.doubtful.count(),
                "tokens": sighting.tokens,
                "by": sighting.by,
            })
        })
    };
    let one = |agent: &AgentChanges<'_>| {
        let changes: Vec<Value> = agent
            .changes
            .iter()
            .map(|change| {
                json!({
                    "change": change.kind,
                    "source": change.source(),
                    "before": extent(&change.before),
                    "after": extent(&change.after),
                })
            })
            .collect();
        let always = json!({ "before": agent.always.0, "after": agent.always.1 });
        (agent.name().to_owned(), json!({ "alwaysTokens": always, "changes": changes }))
    };
    let agents: serde_json::Map<String, Value> = agents.iter().map(one).collect();
    json!({
        "version": VERSION, "base": base, "head": head, "agents": agents, "submodules": submodules, "missing": missing,
    })
}
