//! Settings: `rulebook.toml`, the person's own file and flags, merged into one.

mod keys;
mod read;

use std::collections::BTreeMap;
use std::time::Duration;

use rulebook::diagnostic::Diagnostic;
use rulebook::format::FormatId;
use rulebook::session::{StreamLimits, StreamSettings};
use rulebook::stream::policy::{ContextMode, InterruptMode, RepeatMode, StreamModes};

use keys::{KEYS, Takes};

/// What the settings say together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Which rules are read, and which are off.
    pub rules: Rules,
    /// What the workspace is, for conditions.
    pub workspace: WorkspaceFacts,
    /// How stream rules act where they do not say themselves.
    pub stream: Stream,
    /// The same without what workspaces say.
    pub(crate) own_stream: Stream,
    /// How much may be delivered.
    pub budget: Budget,
    /// Rules from elsewhere, in the order they were first named.
    pub remotes: Vec<Remote>,
    /// How many remotes are not among them, for a fault in what was written.
    pub remotes_left_out: usize,
    /// What a workspace that nobody looked at may contribute.
    pub trust: Trust,
    said: BTreeMap<&'static str, String>,
}

/// `[rules]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Off means that no rule applies at all.
    pub enabled: bool,
    /// Ids that are off, normalised.
    pub disabled_ids: Vec<Setting<String>>,
    /// More folders to read rules from. Those a workspace named stay inside it as written; where
    /// links lead is for whoever opens them to see.
    pub extra_paths: Vec<Setting<String>>,
    /// Formats to read; empty for all. Either names, or `!name` each: all but those.
    pub formats: Vec<Setting<String>>,
    /// Places outside the workspace that links in it may lead to.
    pub allow_links: Vec<String>,
}

/// `[workspace]`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkspaceFacts {
    /// For the condition `tags`.
    pub tags: Vec<String>,
    /// For the condition `env`.
    pub env: Option<String>,
}

/// `[stream]`. A mode is one of the words the key takes; `None` says that nobody chose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    /// `always`, `prose-only`, `tool-only` or `never`.
    pub interrupt_mode: Option<&'static str>,
    /// `discard` or `keep`.
    pub context_mode: Option<&'static str>,
    /// `once` or `after-gap`.
    pub repeat_mode: Option<&'static str>,
    /// Completed turns before a rule fires again.
    pub repeat_gap: u32,
    /// How often one turn may be interrupted.
    pub max_interrupts: u32,
    /// How much of a text, and how long, is held back while a match in it is possible.
    pub hold_bytes: u32,
    /// In milliseconds.
    pub hold_ms: u32,
}

/// `[budget]`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// The most tokens to deliver; `None` for no limit.
    pub tokens: Option<usize>,
}

/// One `[[remote]]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remote {
    /// What it is called; a later layer's remote of that name replaces it.
    pub name: String,
    /// Where it is fetched from, as written.
    pub url: String,
    /// What it must hash to: 64 lower-case hexadecimal digits.
    pub sha256: Option<String>,
    /// Whose signature it must carry: a public key of minisign.
    pub minisign_key: Option<String>,
    /// The environment variable that holds the token to ask with.
    pub token_env: Option<String>,
    /// A file of certificates to trust beside the system's.
    pub ca_file: Option<String>,
    /// How old a copy may become before it is fetched again.
    pub refresh: Option<Duration>,
}

/// What a workspace contributes before the person trusted it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// Everything; what is new or changed is told.
    #[default]
    Warn,
    /// Nothing.
    Require,
    /// Everything, and nothing is told.
    Off,
}

impl Trust {
    const ALL: [Trust; 3] = [Trust::Warn, Trust::Require, Trust::Off];
    const NAMES: [&'static str; 3] = ["warn", "require", "off"];

    /// The word it is set with.
    pub fn name(self) -> &'static str {
        Trust::NAMES[self as usize]
    }
}

/// One entry of a list, and who wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting<T> {
    /// The entry.
    pub value: T,
    /// The file that says so, as shown to people.
    pub file: String,
    /// The root whose file said it; `None` for the person's own word.
    pub root: Option<usize>,
}

/// The text of one settings file, or of the flags.
#[derive(Clone, Debug)]
pub struct Layer {
    /// Whose word it is.
    pub kind: LayerKind,
    /// As shown to people: `rulebook.toml`, `~/.config/rulebook/config.toml`.
    pub display: String,
    /// TOML.
    pub text: String,
}

/// Whose word a layer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayerKind {
    /// That of a repository, which may come from a stranger.
    Workspace {
        /// Which of the workspace's roots, counted from 0.
        root: usize,
    },
    /// The person's own file.
    User,
    /// The command line.
    Flags,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules {
            enabled: true,
            disabled_ids: Vec::new(),
            extra_paths: Vec::new(),
            formats: Vec::new(),
            allow_links: Vec::new(),
        }
    }
}

impl Default for Stream {
    fn default() -> Stream {
        Stream {
            interrupt_mode: None,
            context_mode: None,
            repeat_mode: None,
            repeat_gap: 10,
            max_interrupts: 3,
            hold_bytes: 4096,
            hold_ms: 2000,
        }
    }
}

/// The largest settings file that is read, in bytes.
pub(crate) const MAX_TEXT: usize = 1 << 20;

/// Merges layers, later over earlier, with everything that is wrong in them.
///
/// A later single value replaces an earlier one. Lists add up without repeating; an entry `!x` takes
/// out an `x` that came before it.
pub fn merge(layers: &[Layer]) -> (Settings, Vec<Diagnostic>) {
    let mut settings = Settings::default();
    let mut lists = Lists::new();
    let mut diagnostics = Vec::new();
    for layer in layers {
        diagnostics.extend(read::read(layer, &mut settings, &mut lists));
    }
    for key in KEYS {
        if let (Takes::List { put, .. }, Some(items)) = (&key.takes, lists.remove(key.path)) {
            put(&mut settings, settle(items));
        }
    }
    (settings, diagnostics)
}

impl Stream {
    /// The modes of every rule that does not say otherwise.
    fn limits(&self) -> StreamLimits {
        let base = StreamModes::default();
        StreamLimits {
            modes: StreamModes {
                interrupt: self.interrupt_mode.and_then(InterruptMode::named).unwrap_or(base.interrupt),
                context: self.context_mode.and_then(ContextMode::named).unwrap_or(base.context),
                repeat: self.repeat_mode.and_then(RepeatMode::named).unwrap_or(base.repeat),
                gap: self.repeat_gap,
            },
            max_interrupts: self.max_interrupts,
            hold_bytes: self.hold_bytes as usize,
        }
    }
}

impl Budget {
    /// About how many characters that is.
    pub fn characters(&self) -> usize {
        self.tokens.map_or(usize::MAX, |tokens| tokens.saturating_mul(4))
    }
}

impl Settings {
    /// Who set a single value last, for people: `rulebook.toml`. `None` when it is the default.
    pub fn said_by(&self, key: &str) -> Option<&str> {
        self.said.get(key).map(String::as_str)
    }

    /// How stream rules act: no workspace has a say where one of them is held, so that nobody may switch it off.
    pub fn stream_for(&self, is_mandatory: bool) -> &Stream {
        if is_mandatory { &self.own_stream } else { &self.stream }
    }

    /// How stream rules act where they do not say so themselves.
    pub fn stream_settings(&self) -> StreamSettings {
        StreamSettings { mandatory: self.own_stream.limits(), others: self.stream.limits() }
    }
}

impl Rules {
    /// Whether files of a format are read.
    pub fn reads(&self, format: FormatId) -> bool {
        let exceptions = self.formats.iter().all(|entry| entry.value.starts_with('!'));
        let named = self.formats.iter().any(|entry| entry.value.trim_start_matches('!') == format.name());
        named != exceptions
    }
}

/// What every layer wrote into each list, in order, by the key's path.
type Lists = BTreeMap<&'static str, Vec<Setting<String>>>;

/// Lets each `!x` take out the `x` before it, and each `x` the `!x`; an entry keeps its first place.
///
/// The same words in two roots' files are two entries: relative paths differ by their root.
fn settle(items: Vec<Setting<String>>) -> Vec<Setting<String>> {
    let mut kept: Vec<Option<Setting<String>>> = Vec::new();
    let mut places: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for item in items {
        let opposite = item.value.strip_prefix('!').map_or_else(|| format!("!{}", item.value), str::to_owned);
        for at in places.remove(&opposite).into_iter().flatten() {
            kept[at] = None;
        }
        let same = places.entry(item.value.clone()).or_default();
        let roots = same.iter().filter_map(|&at| kept[at].as_ref()).map(|earlier| earlier.root);
        if !roots.into_iter().any(|root| root.is_none() || item.root.is_none() || root == item.root) {
            same.push(kept.len());
            kept.push(Some(item));
        }
    }
    kept.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests;
