//! `remote`: fetches rules from elsewhere, lists what is kept of them, shows what would change.

use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, anyhow};
use rulebook::diagnostic::{Code, Diagnostic, nearest};
use rulebook::format::FormatId;
use rulebook::resolve::Rulebook;
use rulebook::rule::Rule;
use rulebook_workspace::remote::{self, Change, Listed, Preview, RemoteRule};
use rulebook_workspace::settings::Remote;
use rulebook_workspace::{Reach, Workspace};
use serde_json::{Value, json};

use super::sessions::age;
use crate::args::{Args, RemoteTask};
use crate::diff::diff;
use crate::input::open_workspace;
use crate::out::{self, BOLD, DIM, GREEN, PLAIN, RED, Table, VERSION, YELLOW, paint, plural};

pub(super) fn run(args: &Args, task: &RemoteTask) -> anyhow::Result<ExitCode> {
    let workspace = open_workspace(args)?;
    match task {
        RemoteTask::Sync { names } => sync(args, &workspace, &wanted(&workspace, names)?),
        RemoteTask::List => list(args, &workspace),
        RemoteTask::Diff { names } => show_diff(args, &workspace, &wanted(&workspace, names)?),
    }
}

/// Fetches remotes whose copies are too old, beside everything else, for as long as a server runs. How it went is kept
/// with the copy, and told with the rules.
pub(super) fn keep_fresh(open: impl Fn() -> anyhow::Result<Workspace> + Send + 'static) {
    const WAIT: Duration = Duration::from_secs(30);
    std::thread::spawn(move || {
        loop {
            if let Ok(Workspace { settings, homes, .. }) = open() {
                let now = SystemTime::now();
                for remote in settings.remotes.iter().filter(|remote| remote::is_due(remote, &homes, now)) {
                    let _ = remote::sync(remote, &homes, now);
                }
            }
            std::thread::sleep(WAIT);
        }
    });
}

/// The remotes of these names; all of them without any.
fn wanted<'w>(workspace: &'w Workspace, names: &[String]) -> anyhow::Result<Vec<&'w Remote>> {
    let all = &workspace.settings.remotes;
    let known = || all.iter().map(|remote| remote.name.as_str());
    if let Some(unknown) = names.iter().find(|name| !known().any(|known| known == *name)) {
        let help = match nearest(unknown, known()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`rulebook remote list` lists those there are".to_owned(),
        };
        return Err(anyhow!(help).context(format!("there is no remote `{}`", out::clean(unknown))));
    }
    let is_wanted = |remote: &&Remote| names.is_empty() || names.contains(&remote.name);
    Ok(all.iter().filter(is_wanted).collect())
}

fn sync(args: &Args, workspace: &Workspace, remotes: &[&Remote]) -> anyhow::Result<ExitCode> {
    // An entry that could not be read is a remote that was not fetched.
    let mut failed = workspace.settings.remotes_left_out > 0 || has_broken_settings(workspace);
    let mut folders = None;
    let (mut text, mut listed) = (String::new(), Vec::new());
    let mut diagnostics = workspace.diagnostics.clone();
    for remote in remotes {
        let synced = remote::sync(remote, &workspace.homes, SystemTime::now())
            .context("the copy could not be kept; set XDG_CACHE_HOME to a folder that can be written")?;
        failed |= synced.change.is_err();
        let name = paint(BOLD, out::clean(&remote.name));
        let held = Held::of(remote, &synced.listed, workspace, &mut folders);
        let rules = plural(held.rules, "rule");
        let _ = match &synced.change {
            Ok(change) => {
                let (style, word) = words(*change);
                writeln!(text, "{name} {}, {rules}", paint(style, word))
            }
            Err(why) => {
                let kept = if held.rules == 0 { "there is no copy" } else { "the copy from before stays" };
                let kept = paint(DIM, format!("({kept}, {rules})"));
                writeln!(text, "{name} {} {kept}", paint(RED, out::clean(why)))
            }
        };
        listed.push(json!({
            "name": remote.name, "change": synced.change.as_ref().ok().map(|change| words(*change).1),
            "error": synced.change.err(), "rules": held.rules,
        }));
        // Why it was not fetched is told above.
        let is_more = |told: &Diagnostic| !matches!(told.code, Code::RemoteFailed | Code::RemoteMissing);
        diagnostics.extend(synced.listed.diagnostics.into_iter().filter(is_more));
    }
    finish(args, workspace, "synced", &listed, text, &diagnostics)?;
    Ok(ExitCode::from(u8::from(failed)))
}

fn words(change: Change) -> (anstyle::Style, &'static str) {
    match change {
        Change::New => (GREEN, "fetched"),
        Change::Changed => (GREEN, "changed"),
        Change::Same => (DIM, "unchanged"),
        Change::InPlace => (DIM, "read in place"),
    }
}

fn list(args: &Args, workspace: &Workspace) -> anyhow::Result<ExitCode> {
    let mut folders = None;
    let mut table = Table::default();
    table.row(["remote", "rules", "copy", "checked by", "from"].map(|title| (DIM, title)));
    let (mut listed, mut diagnostics) = (Vec::new(), workspace.diagnostics.clone());
    for remote in &workspace.settings.remotes {
        let found = remote::list(remote, &workspace.homes);
        let Held { rules, always } = Held::of(remote, &found, workspace, &mut folders);
        let (style, copy) = copy_words(&found);
        table.row([
            (BOLD, remote.name.as_str()),
            (PLAIN, &rules.to_string()),
            (style, &copy),
            (PLAIN, &checks(remote)),
            (DIM, &remote.url),
        ]);
        listed.push(json!({
            "name": remote.name, "url": remote.url, "rules": rules, "folder": found.is_folder,
            "fetched": found.fetched.and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok()).map(|at| at.as_secs()),
            "alwaysEnabled": always,
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
    workspace.diagnostics.iter().any(|told| told.code == Code::BadSettings)
}

/// What a remote holds.
struct Held {
    rules: usize,
    /// The names of those that nobody may switch off.
    always: Vec<String>,
}

impl Held {
    /// A folder's rules are found with all others; they are looked for once.
    fn of(remote: &Remote, found: &Listed, workspace: &Workspace, folders: &mut Option<Rulebook>) -> Held {
        if !found.is_folder {
            let always = found.rules.iter().filter(|rule| rule.is_mandatory);
            return Held { rules: found.rules.len(), always: always.map(|rule| rule.name.clone()).collect() };
        }
        let is_in =
            |source: &str| source.strip_prefix(&remote.name).is_some_and(|rest| rest.starts_with('/'));
        let book = folders.get_or_insert_with(|| workspace.load(Reach::Above(&[])).book);
        let all = book.rules().map(|(rule, _)| rule).filter(|rule| rule.origin.format.id == FormatId::Remote);
        let rules: Vec<&Rule> = all.filter(|rule| is_in(&rule.origin.display)).collect();
        let always = rules.iter().filter(|rule| rule.is_mandatory);
        Held { always: always.map(|rule| rule.name.clone()).collect(), rules: rules.len() }
    }
}

fn copy_words(found: &Listed) -> (anstyle::Style, String) {
    match (&found.fetched, &found.failed) {
        _ if found.is_folder => (DIM, "read in place".to_owned()),
        (None, _) => (YELLOW, "none".to_owned()),
        (Some(at), None) => (PLAIN, age(*at)),
        (Some(at), Some(_)) => (YELLOW, format!("{}, the last attempt failed", age(*at))),
    }
}

fn checks(remote: &Remote) -> String {
    let pin = remote.sha256.as_ref().map(|_| "hash");
    let key = remote.minisign_key.as_ref().map(|_| "signature");
    let both: Vec<&str> = pin.into_iter().chain(key).collect();
    if both.is_empty() { "–".to_owned() } else { both.join(", ") }
}

fn show_diff(args: &Args, workspace: &Workspace, remotes: &[&Remote]) -> anyhow::Result<ExitCode> {
    let mut failed = false;
    let (mut text, mut listed) = (String::new(), Vec::new());
    for remote in remotes {
        let name = paint(BOLD, out::clean(&remote.name));
        match remote::preview(remote, &workspace.homes) {
            Ok(preview) => {
                let changes = changes(&preview);
                let told = if changes.is_empty() {
                    "no difference".to_owned()
                } else {
                    plural(changes.len(), "change")
                };
                let _ = writeln!(text, "{name}: {told}");
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
                let _ = writeln!(text, "{name} {}", paint(RED, out::clean(&why)));
                listed.push(json!({ "name": remote.name, "changes": [], "error": why }));
            }
        }
    }
    finish(args, workspace, "remotes", &listed, text, &workspace.diagnostics)?;
    Ok(ExitCode::from(u8::from(failed)))
}

/// The rules that differ, by name, with how.
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
            (_, None) => "is gone",
            (Some(before), Some(after)) if before == after => return None,
            _ => "is another",
        };
        Some((name.to_owned(), what, diff(&text(before.as_ref()), &text(after.as_ref()))))
    };
    names.into_iter().filter_map(change).collect()
}

/// Prints as JSON or as text; what to do where there are no remotes at all.
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
        text = "no remotes\n  help: name one with `[[remote]]`, `name` and `url` in your own settings\n"
            .to_owned();
    }
    if !diagnostics.is_empty() && !text.is_empty() {
        text.push('\n');
    }
    diagnostics.iter().for_each(|told| out::write_diagnostic(&mut text, told));
    out::print(&text)
}
