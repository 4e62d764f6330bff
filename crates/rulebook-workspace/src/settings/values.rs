//! The merged settings, by table of the file.

use std::collections::BTreeMap;
use std::time::Duration;

use rulebook::agent::{AddPolicy, Agent};
use rulebook::diagnostic::Diagnostic;
use rulebook::export::{Allow, LossPolicy};
use rulebook::format::FormatId;
use rulebook::render::Budget;
use rulebook::resolve::Identity;
use rulebook::session::StreamSettings;

/// The settings of all layers together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settings {
    /// Which rules are read, and which are off.
    pub rules: Rules,
    /// Which agents are used, and what each one gets.
    pub agents: Agents,
    /// Facts about the workspace, for conditions.
    pub workspace: WorkspaceFacts,
    /// How stream rules act unless they state it themselves. A workspace's settings do not apply to mandatory rules.
    pub stream: StreamSettings,
    /// How much may be delivered.
    pub budget: Budget,
    /// Copies in the forms of other agents.
    pub export: Export,
    /// Remote rules, in the order they were first named.
    pub remotes: Vec<Remote>,
    /// How many remotes were left out because of an error in their settings.
    pub remotes_left_out: usize,
    /// What an untrusted workspace may contribute.
    pub trust: Trust,
    /// The file that set each single value last.
    pub(super) set_by: BTreeMap<&'static str, String>,
}

/// `[rules]`
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rules {
    /// `false`: no rule applies at all.
    pub enabled: bool,
    /// Rules that are off, each by file, key or id.
    pub disabled_ids: Vec<Setting>,
    /// More folders to read rules from. Those of a workspace stay inside it as written; links are checked when they are
    /// opened.
    pub extra_paths: Vec<Setting>,
    /// Formats to read; empty for all. Either names, or `!name` each: all but those.
    pub formats: Vec<Setting>,
    /// Formats whose schema is enforced, or `!name` each: those that are read leniently. Others are decided by folder.
    pub strict: Vec<Setting>,
    /// Folders outside the workspace that links in it may point to.
    pub allow_links: Vec<String>,
    /// What identifies a rule.
    pub identity: Identity,
}

/// `[agents]`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Agents {
    /// The names of the agents that answers are for; empty if they are detected.
    pub used: Vec<Setting>,
    /// Whether skills are offered to agents that do not read them.
    pub skills: bool,
    /// The settings of single agents, by name.
    pub(super) each: Vec<(&'static str, AgentSettings)>,
}

/// `[agents.NAME]`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentSettings {
    /// Which of the rules that the agent does not read are added for it.
    pub add: AddPolicy,
    /// The version of the agent; `None` for the newest known one.
    pub version: Option<String>,
}

impl Agents {
    /// The formats that belong to agents named as used.
    pub(crate) fn owned_formats(&self) -> Vec<FormatId> {
        let named = |name: &str| Agent::named(name).and_then(|agent| agent.owns);
        self.used.iter().filter_map(|setting| named(&setting.value)).collect()
    }

    /// Sets the version of an agent.
    pub(crate) fn set_version(&mut self, agent: &Agent, version: String) {
        let known = self.each.iter().position(|(name, _)| *name == agent.name);
        let at = known.unwrap_or_else(|| {
            self.each.push((agent.name, AgentSettings::default()));
            self.each.len() - 1
        });
        self.each[at].1.version = Some(version);
    }

    /// The settings of one agent.
    pub fn of(&self, agent: &Agent) -> AgentSettings {
        let found = self.each.iter().find(|(name, _)| *name == agent.name);
        found.map(|(_, settings)| settings.clone()).unwrap_or_default()
    }
}

/// `[export]`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Export {
    /// The formats and rules that are copied.
    pub from: Vec<String>,
    /// The agents that they are written for.
    pub to: Vec<String>,
    /// What happens to rules that an agent cannot express.
    pub loss: Option<LossPolicy>,
    /// Whether a copy may apply to more than was meant.
    pub allow: Option<Allow>,
}

/// `[workspace]`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkspaceFacts {
    /// For the condition `tags`.
    pub tags: Vec<String>,
    /// For the condition `env`.
    pub env: Option<String>,
}

/// One `[[remote]]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Remote {
    /// Its name; a remote of a later layer with the same name replaces it.
    pub name: String,
    /// Its address, as written.
    pub url: String,
    /// The required hash: 64 lower-case hexadecimal digits.
    pub sha256: Option<String>,
    /// The minisign public key of the required signature.
    pub minisign_key: Option<String>,
    /// The environment variable with the token for the server.
    pub token_env: Option<String>,
    /// A file of certificates to trust in addition to the system's.
    pub ca_file: Option<String>,
    /// The age at which a copy is fetched again.
    pub refresh: Option<Duration>,
    /// Whether a key of the entry cannot be read: nothing is fetched, and the copy stays in use.
    pub is_held: bool,
    /// The problems of its entry.
    pub faults: Vec<Diagnostic>,
}

rulebook::words! {
    /// What a workspace contributes before the person trusts it.
    #[derive(Default)]
    Trust {
        /// Everything; new and changed files are reported.
        #[default]
        Warn = "warn",
        /// Nothing.
        Require = "require",
        /// Everything, without a report.
        Off = "off",
    }
}

/// One entry of a list, and the file it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Setting {
    /// The entry.
    pub value: String,
    /// The file, as shown to people.
    pub file: String,
    /// The root whose file it is; `None` for the person's own settings.
    pub root: Option<usize>,
    /// The format of a folder in `rules.extra_paths`, if the entry names one.
    pub format: Option<FormatId>,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules {
            enabled: true,
            disabled_ids: Vec::new(),
            extra_paths: Vec::new(),
            formats: Vec::new(),
            strict: Vec::new(),
            allow_links: Vec::new(),
            identity: Identity::Format,
        }
    }
}

impl Settings {
    /// The file that set a single value last, as shown to people; `None` for a default.
    pub(crate) fn set_by(&self, key: &str) -> Option<&str> {
        self.set_by.get(key).map(String::as_str)
    }
}

impl Rules {
    /// Whether the schema of a format is enforced, and the file that says so; `None` if nothing says it.
    pub(crate) fn strictness(&self, format: FormatId) -> Option<(bool, &str)> {
        let named = |entry: &&Setting| entry.value.trim_start_matches('!') == format.name();
        let entry = self.strict.iter().rev().find(named)?;
        Some((!entry.value.starts_with('!'), &entry.file))
    }

    /// Whether files of a format are read.
    pub fn reads(&self, format: FormatId) -> bool {
        let exceptions = self.formats.iter().all(|entry| entry.value.starts_with('!'));
        let named = self.formats.iter().any(|entry| entry.value.trim_start_matches('!') == format.name());
        named != exceptions
    }
}
