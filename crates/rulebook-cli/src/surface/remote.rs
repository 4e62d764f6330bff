//! `remote`: fetches remote rules, lists their copies, and shows what fetching would change.

use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::SystemTime;

use anyhow::{Context as _, anyhow};
use rulebook::diagnostic::{Code, Diagnostic};
use rulebook::format::FormatId;
use rulebook::resolve::Rulebook;
use rulebook::rule::Rule;
use rulebook_workspace::remote::{self, CopyChange, Preview, RemoteCopy, RemoteRule};
use rulebook_workspace::settings::Remote;
use rulebook_workspace::{Reach, Workspace};
use serde_json::{Value, json};

use crate::args::{Args, RemoteTask};
use crate::diff::diff;
use crate::input::open_workspace;
use crate::out::{self, BOLD, DIM, GREEN, PLAIN, RED, Table, VERSION, YELLOW, paint, plural};

pub(super) fn run(args: &Args, task: &RemoteTask) -> anyhow::Result<ExitCode> {
    let workspace = open_workspace(args)?;
    match task {
        RemoteTask::Sync { names } => {
            // An invalid entry in the settings counts as a remote that was not fetched, unless others are named.
            let is_incomplete = workspace.settings.remotes_left_out > 0 || has_broken_settings(&workspace);
            let failed = names.is_empty() && is_incomplete;
            sync(args, &workspace, &Selected::new(&workspace, names)?, failed)
        }
        RemoteTask::List => list(args, &workspace),
        RemoteTask::Diff { names } => show_diff(args, &workspace, &Selected::new(&workspace, names)?),
    }
}

/// The remotes that a command is about.
struct Selected<'w> {
    remotes: Vec<&'w Remote>,
    /// The problems of their settings. Those of others are left out if remotes are named.
    diagnostics: Vec<Diagnostic>,
}

impl Selected<'_> {
    /// The remotes with these names, or all if there are no names.
    fn new<'w>(workspace: &'w Workspace, names: &[String]) -> anyhow::Result<Selected<'w>> {
        let all = &workspace.settings.remotes;
        let known = || all.iter().map(|remote| remote.name.as_str());
        if let Some(unknown) = names.iter().find(|name| !known().any(|known| known == *name)) {
            let help = out::suggestion(unknown, known(), "`rulebook remote list` lists the remotes");
            return Err(anyhow!(help).context(format!("no remote named `{}`", out::clean(unknown))));
        }
        if names.is_empty() {
            return Ok(Selected {
                remotes: all.iter().collect(),
                diagnostics: workspace.diagnostics.clone(),
            });
        }
        let remotes: Vec<&Remote> = all.iter().filter(|remote| names.contains(&remote.name)).collect();
        let mut diagnostics: Vec<_> = remotes.iter().flat_map(|remote| remote.faults.clone()).collect();
        diagnostics.sort();
        diagnostics.dedup();
        Ok(Selected { remotes, diagnostics })
    }
}

fn sync(
    args: &Args,
    workspace: &Workspace,
    selected: &Selected<'_>,
    mut failed: bool,
) -> anyhow::Result<ExitCode> {
    let mut folders = None;
    let (mut text, mut listed) = (String::new(), Vec::new());
    let mut diagnostics = selected.diagnostics.clone();
    for remote in &selected.remotes {
        let synced = remote::sync(remote, &workspace.homes, SystemTime::now())
            .context("cannot write the copy; set XDG_CACHE_HOME to a writable folder")?;
        failed |= synced.change.is_err();
        let name = paint(BOLD, out::clean(&remote.name));
        let held = RemoteRules::of(remote, &synced.copy, workspace, &mut folders);
        let rules = plural(held.rules, "rule");
        let _ = match &synced.change {
            Ok(change) => {
                let (style, word) = words(*change);
                writeln!(text, "{name}: {}, {rules}", paint(style, word))
            }
            Err(why) => {
                let kept = match (held.rules, synced.copy.fetched) {
                    (1.., _) => "keeping the previous copy",
                    (0, Some(_)) => "its copy is not used",
                    (0, None) => "no copy",
                };
                let kept = paint(DIM, format!("({kept}, {rules})"));
                writeln!(text, "{name} {} {kept}", paint(RED, out::clean(&why.to_string())))
            }
        };
        listed.push(json!({
            "name": remote.name, "change": synced.change.as_ref().ok().map(|change| words(*change).1),
            "error": synced.change.err().map(|why| why.to_string()), "rules": held.rules,
        }));
        // The reason why fetching failed is printed above.
        let is_other =
            |diagnostic: &Diagnostic| !matches!(diagnostic.code, Code::RemoteFailed | Code::RemoteMissing);
        diagnostics.extend(synced.copy.diagnostics.into_iter().filter(is_other));
    }
    finish(args, workspace, "synced", &listed, text, &diagnostics)?;
    Ok(ExitCode::from(u8::from(failed)))
}

fn words(change: CopyChange) -> (anstyle::Style, &'static str) {
    match change {
        CopyChange::New => (GREEN, "fetched"),
        CopyChange::Changed => (GREEN, "changed"),
        CopyChange::Same => (DIM, "unchanged"),
        CopyChange::InPlace => (DIM, "read in place"),
    }
}

fn list(args: &Args, workspace: &Workspace) -> anyhow::Result<ExitCode> {
    let mut folders = None;
    let mut table = Table::default();
    table.row(["remote", "rules", "age", "verified by", "url"].map(|title| (DIM, title)));
    let (mut listed, mut diagnostics) = (Vec::new(), workspace.diagnostics.clone());
    for remote in &workspace.settings.remotes {
        let found = remote::list(remote, &workspace.homes);
        let RemoteRules { rules, mandatory } = RemoteRules::of(remote, &found, workspace, &mut folders);
        let (style, copy) = copy_words(&found);
        table.row([
            (BOLD, remote.name.as_str()),
            (PLAIN, &rules.to_string()),
            (style, &copy),
            (PLAIN, &checks(remote, &found)),
            (DIM, &remote.url),
        ]);
        listed.push(json!({
            "name": remote.name, "url": remote.url, "rules": rules, "folder": found.is_folder,
            "fetched": found.fetched.map(out::seconds),
            "alwaysEnabled": mandatory,
            "sha256": remote.sha256, "signed": remote.minisign_key.is_some(), "error": found.failed,
        }));
        diagnostics.extend(found.diagnostics);
    }
    let mut text = String::new();
    table.write(&mut text, 0, &table.widths());
    finish(args, workspace, "remotes", &listed, text, &diagnostics)?;
    Ok(ExitCode::SUCCESS)
}

fn has_broken_settings(workspace: &Workspace) -> bool {
    workspace.diagnostics.iter().any(|diagnostic| diagnostic.code == Code::BadSettings)
}

/// The rules of a remote.
struct RemoteRules {
    rules: usize,
    /// The names of the mandatory ones.
    mandatory: Vec<String>,
}

impl RemoteRules {
    /// The rules of a folder are loaded with all others, at most once.
    fn of(
        remote: &Remote,
        found: &RemoteCopy,
        workspace: &Workspace,
        folders: &mut Option<Rulebook>,
    ) -> RemoteRules {
        if !found.is_folder {
            let mandatory = found.rules.iter().filter(|rule| rule.is_mandatory);
            let mandatory = mandatory.map(|rule| rule.name.clone()).collect();
            return RemoteRules { rules: found.rules.len(), mandatory };
        }
        let is_in =
            |source: &str| source.strip_prefix(&remote.name).is_some_and(|rest| rest.starts_with('/'));
        let book = folders.get_or_insert_with(|| workspace.load(Reach::Above(&[])).book);
        let all = book.rules().map(|(rule, _)| rule).filter(|rule| rule.origin.format.id == FormatId::Remote);
        let rules: Vec<&Rule> = all.filter(|rule| is_in(&rule.origin.display)).collect();
        let mandatory = rules.iter().filter(|rule| rule.is_mandatory);
        RemoteRules { mandatory: mandatory.map(|rule| rule.name.clone()).collect(), rules: rules.len() }
    }
}

fn copy_words(found: &RemoteCopy) -> (anstyle::Style, String) {
    let has = |code| found.diagnostics.iter().any(|found| found.code == code);
    match (&found.fetched, &found.failed) {
        _ if found.is_folder && has(Code::RemoteMissing) => (YELLOW, "no folder".to_owned()),
        _ if found.is_folder && has(Code::RemoteRefused) => (RED, "not used".to_owned()),
        _ if found.is_folder => (DIM, "read in place".to_owned()),
        (None, _) => (YELLOW, "none".to_owned()),
        (Some(at), _) if !found.is_verified => (RED, format!("{}, not used", out::age(*at))),
        (Some(at), None) => (PLAIN, out::age(*at)),
        (Some(at), Some(_)) => (YELLOW, format!("{}, the last attempt failed", out::age(*at))),
    }
}

/// What the copy was verified by; nothing if it is not used. A folder is used as it is.
fn checks(remote: &Remote, found: &RemoteCopy) -> String {
    let pin = remote.sha256.as_ref().map(|_| "hash");
    let key = remote.minisign_key.as_ref().map(|_| "signature");
    let both: Vec<&str> = pin.into_iter().chain(key).filter(|_| found.is_verified).collect();
    if both.is_empty() { "–".to_owned() } else { both.join(", ") }
}

fn show_diff(args: &Args, workspace: &Workspace, selected: &Selected<'_>) -> anyhow::Result<ExitCode> {
    let mut failed = false;
    let (mut text, mut listed) = (String::new(), Vec::new());
    for remote in &selected.remotes {
        let name = paint(BOLD, out::clean(&remote.name));
        match remote::preview(remote, &workspace.homes) {
            Ok(preview) => {
                let changes = changes(&preview);
                let count = match changes.len() {
                    0 => "no changes".to_owned(),
                    count => plural(count, "change"),
                };
                let _ = writeln!(text, "{name}: {count}");
                for (rule, what, lines) in &changes {
                    let _ = writeln!(text, "  {} {what}\n{lines}", out::clean(rule));
                }
                let shown = changes
                    .iter()
                    .map(|(rule, what, lines)| json!({ "rule": rule, "change": what, "diff": lines }));
                listed.push(
                    json!({ "name": remote.name, "changes": shown.collect::<Vec<_>>(), "error": null }),
                );
            }
            Err(why) => {
                failed = true;
                let _ = writeln!(text, "{name} {}", paint(RED, out::clean(&why.to_string())));
                listed.push(json!({ "name": remote.name, "changes": [], "error": why.to_string() }));
            }
        }
    }
    finish(args, workspace, "remotes", &listed, text, &selected.diagnostics)?;
    Ok(ExitCode::from(u8::from(failed)))
}

/// Returns the rules that differ: name, kind of change, and diff.
fn changes(preview: &Preview) -> Vec<(String, &'static str, String)> {
    let mut names: Vec<&str> =
        preview.before.iter().chain(&preview.after).map(|rule| rule.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let find = |rules: &'_ [RemoteRule], name: &str| rules.iter().find(|rule| rule.name == name).cloned();
    let text = |rule: Option<&RemoteRule>| {
        rule.map_or_else(String::new, |rule| {
            let mark = if rule.is_mandatory { "alwaysEnabled\n" } else { "" };
            format!("{mark}{}", rule.contents)
        })
    };
    let change = |name: &str| {
        let (before, after) = (find(&preview.before, name), find(&preview.after, name));
        let what = match (&before, &after) {
            (None, _) => "is new",
            (_, None) => "was removed",
            (Some(before), Some(after)) if before == after => return None,
            _ => "changed",
        };
        Some((name.to_owned(), what, diff(&text(before.as_ref()), &text(after.as_ref()))))
    };
    names.into_iter().filter_map(change).collect()
}

/// Prints the result as JSON or as text.
fn finish(
    args: &Args,
    workspace: &Workspace,
    key: &str,
    listed: &[Value],
    mut text: String,
    diagnostics: &[Diagnostic],
) -> anyhow::Result<()> {
    if args.json {
        return out::print_json(&json!({ "version": VERSION, key: listed, "diagnostics": diagnostics }));
    }
    if workspace.settings.remotes.is_empty() && workspace.settings.remotes_left_out == 0 {
        text =
            "no remotes\n  help: add a `[[remote]]` with `name` and `url` to your own settings\n".to_owned();
    }
    if !diagnostics.is_empty() && !text.is_empty() {
        text.push('\n');
    }
    diagnostics.iter().for_each(|diagnostic| out::write_diagnostic(&mut text, diagnostic));
    out::print(&text)
}
