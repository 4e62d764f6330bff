//! `enable` and `disable`: turn rules on and off, for the user or for the team.

use std::path::Path;

use anyhow::{Context as _, anyhow};
use rulebook::diagnostic::nearest;
use rulebook::id::normalize_id;
use rulebook_workspace::team::set_team_switch;
pub(super) use rulebook_workspace::toggles::Switch;
use rulebook_workspace::{Reach, Workspace, toggles::Changed};
use serde_json::json;

use super::explain::off_words;
use crate::args::{Args, Toggle};
use crate::input::open_workspace;
use crate::out::{self, BOLD, VERSION, paint, plural};

pub(super) fn run(args: &Args, toggle: &Toggle, to: Switch) -> anyhow::Result<()> {
    let workspace = open_workspace(args)?;
    let loaded = workspace.load(Reach::Tree);
    let id = normalize_id(toggle.id.trim_start_matches("rule://"));
    let rules = || loaded.book.rules().map(|(rule, _)| rule).filter(|rule| rule.id == id);
    let sources: Vec<&str> =
        rules().filter(|rule| !rule.is_mandatory).map(|rule| rule.origin.display.as_str()).collect();
    if sources.is_empty() && to == Switch::Off && rules().next().is_some() {
        return Err(anyhow!("ask its publisher, or remove its `[[remote]]` from your settings")
            .context(format!("cannot disable `{}`: it is mandatory", out::clean(&id))));
    }
    if sources.is_empty() && to == Switch::Off {
        let near = nearest(&id, loaded.book.ids()).map(|near| match near == id {
            true => "its file is not used; `rulebook status` shows why".to_owned(),
            false => format!("did you mean `{}`?", out::clean(near)),
        });
        let help = near.unwrap_or_else(|| "`rulebook status` lists the ids".to_owned());
        return Err(anyhow!(help).context(format!("no rule has the id `{}`", out::clean(&id))));
    }
    let (changed, file) =
        if toggle.team { switch_team(&workspace, &id, to)? } else { switch_own(&workspace, &id, to)? };
    // Load again: another switch may still disable the rule.
    let after = open_workspace(args)?;
    let still_off = after
        .load(Reach::Tree)
        .book
        .rules()
        .find(|(rule, off)| rule.id == id && off.is_some())
        .and_then(|(_, off)| off.cloned());
    if args.json {
        return out::print_json(&json!({
            "version": VERSION, "id": id, "enabled": still_off.is_none(), "changed": changed == Changed::Yes,
            "file": file, "sources": sources, "by": still_off.as_ref().map(|off| off.by),
            "diagnostics": workspace.diagnostics,
        }));
    }
    let what = match (to, changed, &still_off) {
        (Switch::Off, Changed::Yes, _) => format!("is now off ({})", plural(sources.len(), "rule file")),
        (Switch::Off, Changed::No, _) => "was already off".to_owned(),
        (Switch::On, _, Some(off)) => {
            format!("is still off, {}", off_words(off.by, off.file.as_deref()))
        }
        (Switch::On, Changed::Yes, None) => "is on again; its conditions decide".to_owned(),
        (Switch::On, Changed::No, None) => "was already on; its conditions decide".to_owned(),
    };
    let mut text = format!("{} {what}\n  {file}\n", paint(BOLD, out::clean(&id)));
    // A broken file of switches was replaced, and a copy of it was kept.
    workspace.diagnostics.iter().for_each(|diagnostic| out::write_diagnostic(&mut text, diagnostic));
    out::print(&text)
}

/// Writes the user's own switch for every root.
pub(super) fn switch_own(workspace: &Workspace, id: &str, to: Switch) -> anyhow::Result<(Changed, String)> {
    let toggles = workspace
        .toggles()
        .context("no home folder found to store the toggle in: set HOME, or use `--team`")?;
    let mut changed = Changed::No;
    for root in &workspace.roots.roots {
        if toggles.switch(Path::new(&root.path), id, to).context("cannot write the toggle")? == Changed::Yes {
            changed = Changed::Yes;
        }
    }
    Ok((changed, workspace.homes.shown(toggles.file())))
}

fn switch_team(workspace: &Workspace, id: &str, to: Switch) -> anyhow::Result<(Changed, String)> {
    let path = Path::new(&workspace.roots.roots[0].path).join("rulebook.toml");
    let changed = set_team_switch(&path, id, to).context("cannot write the team's settings")?;
    Ok((changed, workspace.homes.shown(&path)))
}
