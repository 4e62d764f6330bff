//! The table of settings: the name of each, the values it accepts, who may set it and where it is stored.

use std::time::Duration;

use minisign_verify::PublicKey;
use rulebook::agent::{AddPolicy, Agent, Purpose};
use rulebook::export::{Allow, LossPolicy, Target};
use rulebook::format::FormatId;
use rulebook::id::normalize_id;
use rulebook::resolve::Identity;
use rulebook::stream::policy::{ContextMode, InterruptMode, RepeatMode};

use super::address::{Address, SHAPE};
use super::values::{AgentSettings, Remote, Setting, Settings, Trust};

/// One row of [`KEYS`].
pub(super) struct Key {
    /// Its table and its name, joined by dots.
    pub(super) path: &'static str,
    /// The name in the other spelling, if both are accepted.
    pub(super) also: Option<&'static str>,
    pub(super) writer: Writer,
    pub(super) accepts: Accepts,
}

/// Who may set a key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Writer {
    Anyone,
    /// A workspace too, as long as the paths stay inside it.
    Inside,
    /// The person, in their own file or on the command line.
    Person,
}

/// The values that a key accepts, and how they are stored.
pub(super) enum Accepts {
    Flag(fn(&mut Settings, bool)),
    Number {
        most: u32,
        put: fn(&mut Settings, u32),
    },
    /// One of a set of words; `put` returns whether it is.
    Word {
        words: fn() -> Vec<&'static str>,
        put: fn(&mut Settings, &str) -> bool,
    },
    /// Text of some form; `put` returns whether it has that form.
    Text {
        form: &'static str,
        put: fn(&mut Settings, &str) -> bool,
    },
    /// Stored when every layer was read.
    List {
        clean: fn(&str) -> String,
        put: fn(&mut Settings, Vec<Setting>),
    },
    /// A word, or a list of formats.
    WordOrFormats {
        words: &'static [&'static str],
        put: fn(&mut Settings, WordOrFormats<'_>),
    },
    /// Tables in a list, each with the keys below this path.
    Entries,
}

/// A value of [`Accepts::WordOrFormats`].
pub(super) enum WordOrFormats<'v> {
    Word(&'v str),
    Formats(Vec<FormatId>),
}

/// Other names of tables.
const TABLE_ALIASES: &[(&str, &str)] = &[("ttsr", "stream")];

/// The name of a table that may be written by another name.
pub(super) fn table_name(written: &str) -> &str {
    TABLE_ALIASES.iter().find(|(alias, _)| *alias == written).map_or(written, |(_, name)| name)
}

pub(super) const KEYS: &[Key] = &[
    anyone("rules.enabled", Accepts::Flag(|to, on| to.rules.enabled = on)),
    anyone("rules.disabled_ids", list(rule_reference, |to, ids| to.rules.disabled_ids = names(ids))),
    Key {
        writer: Writer::Inside,
        ..anyone("rules.extra_paths", list(trimmed, |to, paths| to.rules.extra_paths = names(paths)))
    },
    anyone("rules.formats", list(lower, |to, all| to.rules.formats = names_or_exceptions(all))),
    anyone("rules.strict", list(lower, |to, all| to.rules.strict = names_or_exceptions(all))),
    anyone("agents.skills", Accepts::Flag(|to, on| to.agents.skills = on)),
    anyone("agents.used", list(agent_name, |to, agents| to.agents.used = names(agents))),
    anyone(
        "agents.NAME.add",
        Accepts::WordOrFormats {
            words: &["all", "none"],
            put: |to, value| {
                agent(to).add = match value {
                    WordOrFormats::Word("all") => AddPolicy::All,
                    WordOrFormats::Word(_) => AddPolicy::Nothing,
                    WordOrFormats::Formats(formats) => AddPolicy::Formats(formats),
                }
            },
        },
    ),
    anyone(
        "agents.NAME.version",
        text("a version such as `2.1.277`", |to, version| {
            is_version(version) && put_text(&mut agent(to).version, version)
        }),
    ),
    anyone(
        "rules.identity",
        Accepts::Word {
            words: || words(Identity::NAMES),
            put: |to, word| Identity::named(word).map(|identity| to.rules.identity = identity).is_some(),
        },
    ),
    anyone("export.from", list(trimmed, |to, names| to.export.from = values(names))),
    anyone("export.to", list(target_name, |to, names| to.export.to = values(names))),
    anyone(
        "export.loss",
        Accepts::Word {
            words: || words(LossPolicy::NAMES),
            put: |to, word| set(&mut to.export.loss, LossPolicy::named(word).map(Some)),
        },
    ),
    anyone(
        "export.allow",
        Accepts::Word {
            words: || words(Allow::NAMES),
            put: |to, word| set(&mut to.export.allow, Allow::named(word).map(Some)),
        },
    ),
    person("rules.allow_links", list(trimmed, |to, links| to.rules.allow_links = values(links))),
    anyone("workspace.tags", list(trimmed, |to, tags| to.workspace.tags = values(tags))),
    anyone("workspace.env", text("a name", |to, name| put_text(&mut to.workspace.env, name))),
    word(
        "stream.interrupt_mode",
        "interruptMode",
        || words(InterruptMode::NAMES),
        |to, word| set(&mut to.stream.others.modes.interrupt, InterruptMode::named(word)),
    ),
    word(
        "stream.context_mode",
        "contextMode",
        || words(ContextMode::NAMES),
        |to, word| set(&mut to.stream.others.modes.context, ContextMode::named(word)),
    ),
    word(
        "stream.repeat_mode",
        "repeatMode",
        || words(RepeatMode::NAMES),
        |to, word| set(&mut to.stream.others.modes.repeat, RepeatMode::named(word)),
    ),
    number("stream.repeat_gap", "repeatGap", u32::MAX, |to, turns| to.stream.others.modes.gap = turns),
    // With a repository's settings, neither retries nor what is held back may grow without end.
    number("stream.max_interrupts", "maxInterrupts", 20, |to, most| to.stream.others.max_interrupts = most),
    number("stream.hold_bytes", "holdBytes", 1 << 20, |to, most| to.stream.others.hold_bytes = most as usize),
    number("stream.hold_ms", "holdMs", 10_000, |to, most| to.stream.others.hold_ms = most),
    anyone(
        "budget.tokens",
        Accepts::Number { most: u32::MAX, put: |to, most| to.budget.tokens = usize::try_from(most).ok() },
    ),
    person(
        "trust",
        Accepts::Word {
            words: || words(Trust::NAMES),
            put: |to, word| set(&mut to.trust, Trust::named(word)),
        },
    ),
    person("remote", Accepts::Entries),
    person("remote.name", text("a name", |to, name| fill(&mut entry(to).name, name))),
    person(
        "remote.url",
        text(SHAPE, |to, url| Address::parse(url).is_some() && fill(&mut entry(to).url, url)),
    ),
    person("remote.sha256", text("64 hexadecimal digits", |to, sum| put_sum(&mut entry(to).sha256, sum))),
    person(
        "remote.minisign_key",
        text("a minisign public key, `RW…`", |to, key| {
            PublicKey::from_base64(key).is_ok() && put_text(&mut entry(to).minisign_key, key)
        }),
    ),
    person(
        "remote.token_env",
        text("the name of an environment variable", |to, name| {
            is_variable(name) && put_text(&mut entry(to).token_env, name)
        }),
    ),
    person(
        "remote.ca_file",
        text("a file of certificates", |to, file| put_text(&mut entry(to).ca_file, file)),
    ),
    person(
        "remote.refresh",
        text("a time in `s`, `m`, `h`, `d` or `w`, such as `12h` or `2w`", |to, time| {
            set(&mut entry(to).refresh, duration(time).map(Some))
        }),
    ),
];

/// The units of a time, in seconds.
const UNITS: [(char, u64); 5] = [('s', 1), ('m', 60), ('h', 3600), ('d', 86400), ('w', 604_800)];

const fn anyone(path: &'static str, accepts: Accepts) -> Key {
    Key { path, also: None, writer: Writer::Anyone, accepts }
}

const fn person(path: &'static str, accepts: Accepts) -> Key {
    Key { path, also: None, writer: Writer::Person, accepts }
}

const fn number(path: &'static str, also: &'static str, most: u32, put: fn(&mut Settings, u32)) -> Key {
    Key { path, also: Some(also), writer: Writer::Anyone, accepts: Accepts::Number { most, put } }
}

const fn word(
    path: &'static str,
    also: &'static str,
    words: fn() -> Vec<&'static str>,
    put: fn(&mut Settings, &str) -> bool,
) -> Key {
    Key { path, also: Some(also), writer: Writer::Anyone, accepts: Accepts::Word { words, put } }
}

const fn list(clean: fn(&str) -> String, put: fn(&mut Settings, Vec<Setting>)) -> Accepts {
    Accepts::List { clean, put }
}

const fn text(form: &'static str, put: fn(&mut Settings, &str) -> bool) -> Accepts {
    Accepts::Text { form, put }
}

impl Key {
    /// The names it may be written with, without its table.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        [Some(self.split().1), self.also].into_iter().flatten()
    }

    /// Its table, empty for the top level, and its name.
    pub(super) fn split(&self) -> (&'static str, &'static str) {
        self.path.rsplit_once('.').unwrap_or(("", self.path))
    }
}

impl Accepts {
    /// The accepted values in words, as they follow `must be`.
    pub(super) fn wanted(&self) -> String {
        match self {
            Accepts::Flag(_) => "true or false".to_owned(),
            Accepts::Number { most: u32::MAX, .. } => format!("a whole number from 0 to {}", u32::MAX),
            Accepts::Number { most, .. } => format!("a whole number, in a workspace at most {most}"),
            Accepts::Word { words, .. } => format!("one of {}", quoted(words().into_iter())),
            Accepts::Text { form, .. } => format!("{form}, in quotes"),
            Accepts::List { .. } => "a list of strings".to_owned(),
            Accepts::WordOrFormats { words, .. } => {
                format!("{} or a list of formats", quoted(words.iter().copied()))
            }
            Accepts::Entries => "a list of tables, each under `[[…]]`".to_owned(),
        }
    }
}

/// Names for a message: each in backticks, joined by commas.
pub(super) fn quoted<'n>(names: impl Iterator<Item = &'n str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The words of an enum's variants.
fn words<T>(names: &[(&'static str, T)]) -> Vec<&'static str> {
    names.iter().map(|(name, _)| *name).collect()
}

/// Stores a value if there is one, and returns whether there is.
fn set<T>(slot: &mut T, value: Option<T>) -> bool {
    value.map(|value| *slot = value).is_some()
}

/// The agent whose settings are read: the last one.
fn agent(settings: &mut Settings) -> &mut AgentSettings {
    &mut settings.agents.each.last_mut().expect("an agent is pushed before its keys are read").1
}

/// The entry being read: the last one.
fn entry(settings: &mut Settings) -> &mut Remote {
    settings.remotes.last_mut().expect("an entry is pushed before its keys are read")
}

fn is_name(setting: &Setting) -> bool {
    !setting.value.starts_with('!')
}

fn names(mut list: Vec<Setting>) -> Vec<Setting> {
    list.retain(is_name);
    list
}

/// Exceptions apply only if nothing is named.
fn names_or_exceptions(list: Vec<Setting>) -> Vec<Setting> {
    if list.iter().any(is_name) { names(list) } else { list }
}

fn values(list: Vec<Setting>) -> Vec<String> {
    names(list).into_iter().map(|setting| setting.value).collect()
}

/// The own name of an agent or product; one that is not known is reported when the list is read.
fn agent_name(text: &str) -> String {
    let found = Agent::find(text, Purpose::View);
    found.map_or_else(
        |_| lower(text),
        |found| found.product.map_or(found.agent.name, |product| product.name).to_owned(),
    )
}

/// The own name of a target; one that is not known is reported when the list is read.
fn target_name(text: &str) -> String {
    Target::named(text.trim()).map_or_else(|| lower(text), |target| target.name.to_owned())
}

/// A rule's file as written, or its key or id, normalised.
fn rule_reference(text: &str) -> String {
    if text.contains(['/', '.']) { trimmed(text) } else { normalize_id(text) }
}

fn trimmed(text: &str) -> String {
    text.trim().to_owned()
}

fn lower(text: &str) -> String {
    text.trim().to_lowercase()
}

fn fill(slot: &mut String, text: &str) -> bool {
    text.clone_into(slot);
    !slot.is_empty()
}

fn put_text(slot: &mut Option<String>, text: &str) -> bool {
    set(slot, (!text.is_empty()).then(|| Some(text.to_owned())))
}

fn put_sum(slot: &mut Option<String>, text: &str) -> bool {
    let is_sum = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_sum && put_text(slot, &text.to_lowercase())
}

/// Whether it starts with numbers between dots, as in `2.1.277` and `v3.0-beta`.
fn is_version(text: &str) -> bool {
    let numbers = text.trim_start_matches('v').split(['-', '+']).next().unwrap_or_default();
    numbers.split('.').all(|number| number.parse::<u64>().is_ok())
}

/// Whether it can be a variable's name. A token pasted here by mistake mostly cannot.
fn is_variable(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

fn duration(text: &str) -> Option<Duration> {
    let unit = text.chars().next_back()?;
    let (_, seconds) = UNITS.into_iter().find(|(name, _)| *name == unit)?;
    let count: u64 = text[..text.len() - unit.len_utf8()].parse().ok()?;
    count.checked_mul(seconds).map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_one_row() {
        let mut paths: Vec<_> = KEYS.iter().map(|key| key.path).collect();
        paths.sort_unstable();
        assert!(paths.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn a_time_has_a_count_and_a_unit() {
        #[track_caller]
        fn check(text: &str, seconds: Option<u64>) {
            assert_eq!(duration(text), seconds.map(Duration::from_secs));
        }
        check("30s", Some(30));
        check("12h", Some(43200));
        check("7d", Some(604_800));
        check("2w", Some(1_209_600));
        check("7", None);
        check("h", None);
        check("", None);
        check("1 h", None);
        check("18446744073709551615d", None);
        check("3é", None);
    }
}
