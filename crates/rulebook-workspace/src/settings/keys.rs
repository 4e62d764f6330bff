//! The table of settings: what each is called, what it takes, who may set it, where it is kept.

use std::time::Duration;

use super::{Remote, Setting, Settings, Trust};
use crate::remote::{Address, SHAPE, is_key};

/// One row of [`KEYS`].
pub(super) struct Key {
    /// The tables it stands in and its name, joined by dots.
    pub(super) path: &'static str,
    /// The name in the other spelling, where both are taken.
    pub(super) also: Option<&'static str>,
    pub(super) who: Who,
    pub(super) takes: Takes,
}

/// Who may set a key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    Anyone,
    /// A workspace too, as long as the paths stay inside it.
    Inside,
    /// The person, in their own file or on the command line.
    Person,
}

/// What a key takes, and how that is kept.
pub(super) enum Takes {
    Flag(fn(&mut Settings, bool)),
    Number(fn(&mut Settings, u32)),
    /// One of a set, handed on by its place in it.
    Word(&'static [&'static str], fn(&mut Settings, usize)),
    /// Text of some shape; `put` says whether it has that shape.
    Text {
        shape: &'static str,
        put: fn(&mut Settings, &str) -> bool,
    },
    /// Handed on when every layer was read.
    List {
        clean: fn(&str) -> String,
        put: fn(&mut Settings, Vec<Setting<String>>),
    },
    /// Tables in a list, each with the keys below this one's path.
    Entries,
}

pub(super) const KEYS: &[Key] = &[
    anyone("rules.enabled", Takes::Flag(|to, on| to.rules.enabled = on)),
    anyone(
        "rules.disabled_ids",
        list(rulebook::id::normalize_id, |to, ids| to.rules.disabled_ids = names(ids)),
    ),
    Key {
        who: Who::Inside,
        ..anyone("rules.extra_paths", list(trimmed, |to, paths| to.rules.extra_paths = names(paths)))
    },
    anyone("rules.formats", list(lower, |to, all| to.rules.formats = names_or_exceptions(all))),
    person("rules.allow_links", list(trimmed, |to, links| to.rules.allow_links = values(links))),
    anyone("workspace.tags", list(trimmed, |to, tags| to.workspace.tags = values(tags))),
    anyone("workspace.env", text("a name", |to, name| put_text(&mut to.workspace.env, name))),
    Key {
        also: Some("interruptMode"),
        ..anyone(
            "stream.interrupt_mode",
            Takes::Word(INTERRUPT, |to, at| to.stream.interrupt_mode = Some(INTERRUPT[at])),
        )
    },
    Key {
        also: Some("contextMode"),
        ..anyone(
            "stream.context_mode",
            Takes::Word(CONTEXT, |to, at| to.stream.context_mode = Some(CONTEXT[at])),
        )
    },
    Key {
        also: Some("repeatMode"),
        ..anyone("stream.repeat_mode", Takes::Word(REPEAT, |to, at| to.stream.repeat_mode = Some(REPEAT[at])))
    },
    Key {
        also: Some("repeatGap"),
        ..anyone("stream.repeat_gap", Takes::Number(|to, turns| to.stream.repeat_gap = turns))
    },
    Key {
        also: Some("maxInterrupts"),
        ..anyone("stream.max_interrupts", Takes::Number(|to, most| to.stream.max_interrupts = most))
    },
    Key {
        also: Some("holdBytes"),
        ..anyone("stream.hold_bytes", Takes::Number(|to, most| to.stream.hold_bytes = most))
    },
    Key {
        also: Some("holdMs"),
        ..anyone("stream.hold_ms", Takes::Number(|to, most| to.stream.hold_ms = most))
    },
    anyone("budget.tokens", Takes::Number(|to, most| to.budget.tokens = usize::try_from(most).ok())),
    person("trust", Takes::Word(&Trust::NAMES, |to, at| to.trust = Trust::ALL[at])),
    person("remote", Takes::Entries),
    person("remote.name", text("a name", |to, name| fill(&mut entry(to).name, name))),
    person(
        "remote.url",
        text(SHAPE, |to, url| Address::parse(url.trim()).is_some() && fill(&mut entry(to).url, url)),
    ),
    person("remote.sha256", text("64 hexadecimal digits", |to, sum| put_sum(&mut entry(to).sha256, sum))),
    person(
        "remote.minisign_key",
        text("a public key of minisign, `RW…`", |to, key| {
            is_key(key.trim()) && put_text(&mut entry(to).minisign_key, key)
        }),
    ),
    person(
        "remote.token_env",
        text("the name of an environment variable", |to, name| {
            is_variable(name.trim()) && put_text(&mut entry(to).token_env, name)
        }),
    ),
    person(
        "remote.ca_file",
        text("a file of certificates", |to, file| put_text(&mut entry(to).ca_file, file)),
    ),
    person(
        "remote.refresh",
        text("a time such as `30m`, `12h` or `7d`", |to, time| {
            entry(to).refresh = duration(time);
            entry(to).refresh.is_some()
        }),
    ),
];

const INTERRUPT: &[&str] = &["always", "prose-only", "tool-only", "never"];
const CONTEXT: &[&str] = &["discard", "keep"];
const REPEAT: &[&str] = &["once", "after-gap"];

/// The units of a time, in seconds.
const UNITS: [(char, u64); 4] = [('s', 1), ('m', 60), ('h', 3600), ('d', 86400)];

const fn anyone(path: &'static str, takes: Takes) -> Key {
    Key { path, also: None, who: Who::Anyone, takes }
}

const fn person(path: &'static str, takes: Takes) -> Key {
    Key { path, also: None, who: Who::Person, takes }
}

const fn list(clean: fn(&str) -> String, put: fn(&mut Settings, Vec<Setting<String>>)) -> Takes {
    Takes::List { clean, put }
}

const fn text(shape: &'static str, put: fn(&mut Settings, &str) -> bool) -> Takes {
    Takes::Text { shape, put }
}

impl Key {
    /// The names it may be written with, without its tables.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        [Some(self.split().1), self.also].into_iter().flatten()
    }

    /// The table it stands in, empty for the top, and its name.
    pub(super) fn split(&self) -> (&'static str, &'static str) {
        self.path.rsplit_once('.').unwrap_or(("", self.path))
    }
}

impl Takes {
    /// What to write, as it goes on after `must be`.
    pub(super) fn wanted(&self) -> String {
        match self {
            Takes::Flag(_) => "true or false".to_owned(),
            Takes::Number(_) => format!("a whole number from 0 to {}", u32::MAX),
            Takes::Word(words, _) => format!("one of {}", quoted(words.iter().copied())),
            Takes::Text { shape, .. } => format!("{shape}, in quotes"),
            Takes::List { .. } => "a list of strings".to_owned(),
            Takes::Entries => "a list of tables, each under `[[…]]`".to_owned(),
        }
    }
}

/// Names for a message: each in backticks, joined by commas.
pub(super) fn quoted<'n>(names: impl Iterator<Item = &'n str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The entry being read: the last one.
fn entry(settings: &mut Settings) -> &mut Remote {
    settings.remotes.last_mut().expect("an entry is pushed before its keys are read")
}

fn is_name(setting: &Setting<String>) -> bool {
    !setting.value.starts_with('!')
}

fn names(mut list: Vec<Setting<String>>) -> Vec<Setting<String>> {
    list.retain(is_name);
    list
}

/// Exceptions count only where nothing is named.
fn names_or_exceptions(list: Vec<Setting<String>>) -> Vec<Setting<String>> {
    if list.iter().any(is_name) { names(list) } else { list }
}

fn values(list: Vec<Setting<String>>) -> Vec<String> {
    names(list).into_iter().map(|setting| setting.value).collect()
}

fn trimmed(text: &str) -> String {
    text.trim().to_owned()
}

fn lower(text: &str) -> String {
    text.trim().to_lowercase()
}

fn fill(slot: &mut String, text: &str) -> bool {
    text.trim().clone_into(slot);
    !slot.is_empty()
}

fn put_text(slot: &mut Option<String>, text: &str) -> bool {
    let text = text.trim();
    if !text.is_empty() {
        *slot = Some(text.to_owned());
    }
    !text.is_empty()
}

fn put_sum(slot: &mut Option<String>, text: &str) -> bool {
    let is_sum = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_sum && put_text(slot, &text.to_lowercase())
}

/// Whether it can be a variable's name; a token itself, written here by a slip, mostly cannot.
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
        check("7", None);
        check("h", None);
        check("", None);
        check("1 h", None);
        check("18446744073709551615d", None);
        check("3é", None);
    }
}
