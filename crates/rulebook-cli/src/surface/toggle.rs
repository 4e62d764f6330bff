//! `enable` and `disable`: turn rules on and off, for the user or for the team.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context as _, anyhow};
use rulebook::agent::Agent;
use rulebook::diagnostic::{Code, Diagnostic, similar_names};
use rulebook::format::ConfigEffect;
use rulebook::id::normalize_id;
use rulebook::resolve::{Off, Rulebook};
use rulebook::rule::Rule;
use rulebook_workspace::team::{TEAM_FILE, set_team_switch};
pub(super) use rulebook_workspace::toggles::Switch;
use rulebook_workspace::toggles::{Changed, changes};
use rulebook_workspace::{AgentSearch, Loaded, Reach, UsedAgent, Workspace};
use serde_json::{Value, json};

use super::sections::off_words;
use crate::args::{Args, Toggle};
use crate::input::{open_workspace, typed_name};
use crate::out::{self, BOLD, VERSION, paint, plural};

pub(super) fn run(args: &Args, toggle: &Toggle, to: Switch) -> anyhow::Result<()> {
    let workspace = open_workspace(args)?;
    let Loaded { book, diagnostics, .. } = workspace.load(Reach::Tree);
    let switch: Write = match toggle {
        Toggle { team: true, .. } => switch_team,
        Toggle { user: true, .. } => switch_everywhere,
        _ => switch_own,
    };
    let name = typed_name(&workspace, &book, &toggle.id);
    let reopen = || open_workspace(args);
    let switched = Switched::set(&workspace, (&book, &diagnostics), &name, to, switch, reopen)?;
    if args.json {
        return out::print_json(&switched.json(&workspace));
    }
    let mut text = switched.text();
    // A broken file of switches was replaced, and a copy of it was kept.
    workspace.diagnostics.iter().for_each(|diagnostic| out::write_diagnostic(&mut text, diagnostic));
    out::print(&text)
}

/// Writes a switch. Returns whether that changed anything, and the file.
type Write = fn(&Workspace, &Rulebook, &str, Switch) -> anyhow::Result<(Changed, String)>;

/// Rules that were switched, and what follows from it.
pub(super) struct Switched<'r> {
    name: &'r str,
    to: Switch,
    changed: Changed,
    file: String,
    rules: Vec<&'r Rule>,
    /// What still disables them.
    still_off: Option<Off>,
    still_read: Vec<StillRead<'r>>,
}

impl<'r> Switched<'r> {
    /// Switches the rules of a name. `reopen` opens the workspace again: another switch may still disable them.
    pub(super) fn set(
        workspace: &Workspace,
        (book, diagnostics): (&'r Rulebook, &[Diagnostic]),
        name: &'r str,
        to: Switch,
        write: Write,
        reopen: impl FnOnce() -> anyhow::Result<Workspace>,
    ) -> anyhow::Result<Switched<'r>> {
        let found: Vec<&Rule> = book.lookup(name).into_iter().map(|(rule, _)| rule).collect();
        let rules: Vec<&Rule> = found.iter().copied().filter(|rule| !rule.is_mandatory).collect();
        if rules.is_empty() && !found.is_empty() && to == Switch::Off {
            return Err(anyhow!("ask its publisher, or remove its `[[remote]]` from your settings")
                .context(format!("cannot disable `{}`: it is mandatory", out::clean(name))));
        }
        let (changed, file) = write(workspace, book, name, to)?;
        if rules.is_empty() && changed == Changed::No {
            return Err(unknown(name, book, diagnostics));
        }
        let after = reopen()?.load(Reach::Tree);
        let still_off = after.book.lookup(name).into_iter().find_map(|(_, off)| off.cloned());
        let still_read = if to == Switch::Off { still_read(workspace, &rules) } else { Vec::new() };
        Ok(Switched { name, to, changed, file, rules, still_off, still_read })
    }

    fn sources(&self) -> Vec<&str> {
        self.rules.iter().map(|rule| rule.origin.display.as_str()).collect()
    }

    fn json(&self, workspace: &Workspace) -> Value {
        let id = self.rules.first().map_or_else(|| normalize_id(self.name), |rule| rule.id.clone());
        let keys: BTreeSet<String> = self.rules.iter().map(|rule| rule.key()).collect();
        let still_read = self.still_read.iter();
        let still_read: Vec<_> = still_read
            .map(|read| json!({ "agent": read.agent.name, "source": read.source, "help": read.help }))
            .collect();
        json!({
            "version": VERSION, "id": id, "keys": keys, "enabled": self.still_off.is_none(),
            "changed": self.changed == Changed::Yes, "file": self.file, "sources": self.sources(),
            "stillRead": still_read, "by": self.still_off.as_ref().map(|off| off.by),
            "diagnostics": workspace.diagnostics,
        })
    }

    /// Whether agents still apply the rules that were disabled.
    #[cfg(feature = "lsp")]
    pub(super) fn is_still_applied(&self) -> bool {
        !self.still_read.is_empty()
    }

    /// What was done, and which agents still apply the rules, in one line.
    #[cfg(feature = "lsp")]
    pub(super) fn notice(&self) -> String {
        let agents: BTreeSet<&str> = self.still_read.iter().map(|read| read.agent.title).collect();
        let still = match agents.len() {
            0 => String::new(),
            _ => {
                let agents: Vec<&str> = agents.into_iter().collect();
                format!("; these agents still read it: {}", agents.join(", "))
            }
        };
        format!("{} {}{still}", out::clean(self.name), self.what())
    }

    fn what(&self) -> String {
        match (self.to, self.changed, &self.still_off) {
            (Switch::Off, Changed::Yes, _) => {
                let files = plural(self.sources().len(), "rule file");
                format!("is disabled: Rulebook no longer adds it ({files})")
            }
            (Switch::Off, Changed::No, _) => "was already disabled".to_owned(),
            (Switch::On, _, Some(off)) => {
                format!("is still disabled, {}", off_words(self.name, off.by, off.file.as_deref()))
            }
            (Switch::On, Changed::Yes, None) => "is enabled; it applies when its conditions hold".to_owned(),
            (Switch::On, Changed::No, None) => {
                "was already enabled; it applies when its conditions hold".to_owned()
            }
        }
    }

    /// What was done, and which agents still apply the rules.
    pub(super) fn text(&self) -> String {
        let sources = self.sources();
        let mut text = format!("{} {}\n", paint(BOLD, out::clean(self.name)), self.what());
        sources.iter().for_each(|source| text.push_str(&format!("  {}\n", out::clean(source))));
        if self.changed == Changed::Yes {
            text.push_str(&format!("stored in {}\n", self.file));
        }
        write_still_read(&mut text, &self.still_read);
        text
    }
}

/// Returns the error for a name that only a rejected file has; `None` if none has it.
pub(super) fn rejected(name: &str, book: &Rulebook, diagnostics: &[Diagnostic]) -> Option<anyhow::Error> {
    let rejected = book.rejected().iter().find(|rejected| rejected.is_called(name))?;
    let path = &rejected.origin.display;
    let is_why = |found: &&Diagnostic| &found.path == path && rejected.codes.contains(&found.code);
    // That files are not trusted is reported once for all of them.
    let (why, help) = match (diagnostics.iter().find(is_why), rejected.codes.first()) {
        (Some(why), _) => (why.message.as_str(), why.help.as_str()),
        (None, Some(Code::Untrusted)) => {
            let help = Code::Untrusted.row().remedy;
            return Some(anyhow!(help).context(format!("{} is not trusted", out::clean(path))));
        }
        (None, Some(code)) => (code.row().name, code.row().remedy),
        (None, None) => ("it cannot be used", "`rulebook check` shows why"),
    };
    let what = format!("{} is rejected: {}", out::clean(path), out::clean(why));
    Some(anyhow!(out::clean(help)).context(what))
}

/// Returns the error for a name that no rule has.
pub(super) fn unknown(name: &str, book: &Rulebook, diagnostics: &[Diagnostic]) -> anyhow::Error {
    if let Some(error) = rejected(name, book, diagnostics) {
        return error;
    }
    let help = match similar_names(name, book.ids()) {
        Some(similar) => format!("did you mean {}?", out::clean(&similar)),
        None => "`rulebook status` lists the rules; name one by its file, key or id".to_owned(),
    };
    anyhow!(help).context(format!("no rule named `{}`", out::clean(name)))
}

/// Writes the user's own switches for every root.
pub(super) fn switch_own(
    workspace: &Workspace,
    book: &Rulebook,
    name: &str,
    to: Switch,
) -> anyhow::Result<(Changed, String)> {
    let toggles = workspace
        .toggles()
        .context("no home folder found to store the toggle in: set HOME, or use `--team`")?;
    let (stored, _) = toggles.read();
    let mut changed = Changed::No;
    for root in &workspace.roots.roots {
        let root = Path::new(&root.path);
        let changes = changes(book, stored.off_ids(root), name, to);
        if toggles.switch(root, &changes).context("cannot write the toggle")? == Changed::Yes {
            changed = Changed::Yes;
        }
    }
    Ok((changed, workspace.homes.shown(toggles.file())))
}

/// Writes the user's own switches for every workspace.
fn switch_everywhere(
    workspace: &Workspace,
    book: &Rulebook,
    name: &str,
    to: Switch,
) -> anyhow::Result<(Changed, String)> {
    let toggles = workspace.toggles().context("no home folder found to store the toggle in: set HOME")?;
    let (stored, _) = toggles.read();
    let changes = changes(book, stored.off_everywhere(), name, to);
    let changed = toggles.switch_everywhere(&changes).context("cannot write the toggle")?;
    Ok((changed, workspace.homes.shown(toggles.file())))
}

/// A file that an agent reads by itself although the rule is off.
struct StillRead<'r> {
    agent: &'static Agent,
    source: &'r str,
    help: String,
}

/// Writes which agents still apply a disabled rule, by file, and what to do about it.
fn write_still_read(text: &mut String, still_read: &[StillRead<'_>]) {
    let mut files: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for StillRead { agent, source, help } in still_read {
        files.entry((help, source)).or_default().push(agent.title);
    }
    if !files.is_empty() {
        text.push_str("these agents still read the file by themselves:\n");
    }
    let helps: BTreeSet<&str> = files.keys().map(|(help, _)| *help).collect();
    for help in helps {
        for ((_, source), agents) in files.iter().filter(|((own, _), _)| *own == help) {
            text.push_str(&format!("  {}  {}\n", out::clean(source), agents.join(", ")));
        }
        text.push_str(&format!("  help: {help}\n"));
    }
}

/// Returns which of the agents used here read these files by themselves: a toggle is Rulebook's, not theirs.
fn still_read<'r>(workspace: &Workspace, rules: &[&'r Rule]) -> Vec<StillRead<'r>> {
    let used = workspace.agents_used(AgentSearch::WorkspaceAndHome);
    let sources = workspace.sources(Reach::Tree);
    let mut found = Vec::new();
    for UsedAgent { agent, .. } in used {
        let book = sources.native(agent).book;
        for rule in rules {
            let path = rule.origin.path.as_str();
            let own = book.rules().map(|(own, _)| own).find(|own| own.origin.path == path);
            if let Some(own) = own {
                found.push(StillRead { agent, source: &rule.origin.display, help: remedy(own) });
            }
        }
    }
    found
}

/// What to do so that an agent does not read a file: its setting for that, or the file's place.
fn remedy(own: &Rule) -> String {
    let excludes = own.origin.format.configs.iter().filter(|config| config.effect == ConfigEffect::Excludes);
    let local = excludes.max_by_key(|config| config.at.path.contains(".local."));
    match local.and_then(|config| Some((config.at.path, config.at.key.last()?))) {
        Some((file, key)) => format!("to stop them, add the file to `{key}` in {file}"),
        None => "to stop them, move the file out of its folder; this affects everyone".to_owned(),
    }
}

fn switch_team(
    workspace: &Workspace,
    book: &Rulebook,
    name: &str,
    to: Switch,
) -> anyhow::Result<(Changed, String)> {
    let path = Path::new(&workspace.roots.roots[0].path).join(TEAM_FILE);
    let stored = workspace.settings.rules.disabled_ids.iter().filter(|id| id.root == Some(0));
    let mut changed = Changed::No;
    for (name, to) in changes(book, stored.map(|id| id.value.as_str()), name, to) {
        if set_team_switch(&path, &name, to).context("cannot write the team's settings")? == Changed::Yes {
            changed = Changed::Yes;
        }
    }
    Ok((changed, workspace.homes.shown(&path)))
}
