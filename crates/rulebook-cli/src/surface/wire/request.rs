//! Conversations: what a request says, and the places in its bytes where something can be added.
//!
//! A request is never written anew. What is added is put between its bytes, so that everything else stays as the client
//! wrote it, and a prompt cache keeps its prefix.

use std::collections::HashMap;
use std::ops::Range;

use rulebook::session::TextHash;
use serde_json::Value;
use serde_json::value::RawValue;

/// What a request says.
#[derive(Debug)]
pub(in crate::surface) struct Request {
    pub(in crate::surface) model: Option<String>,
    /// Whether the model may call tools: an agent's main requests offer some.
    pub(in crate::surface) has_tools: bool,
    /// The client's name for the conversation, where the body says one.
    pub(in crate::surface) key: Option<String>,
    /// The answer it goes on from, where the provider keeps the conversation, and where that is said.
    pub(in crate::surface) follows: Option<(String, Range<usize>)>,
    /// The end of what stands before the conversation.
    pub(in crate::surface) prefix: Slot,
    /// The texts that stand there.
    pub(in crate::surface) standing: Vec<String>,
    pub(in crate::surface) entries: Vec<Entry>,
    /// Behind the last entry.
    pub(in crate::surface) end: Slot,
}

/// One entry of the conversation.
#[derive(Debug)]
pub(in crate::surface) struct Entry {
    pub(in crate::surface) role: Role,
    pub(in crate::surface) texts: Vec<String>,
    pub(in crate::surface) calls: Vec<Call>,
    /// The calls whose results it brings, and what they say.
    pub(in crate::surface) results: Vec<String>,
    pub(in crate::surface) told: Vec<String>,
    /// Where something is added behind it.
    pub(in crate::surface) slot: Slot,
}

/// A tool call of the model.
#[derive(Debug)]
pub(in crate::surface) struct Call {
    pub(in crate::surface) id: String,
    pub(in crate::surface) name: String,
    pub(in crate::surface) input: Value,
}

/// Whose entry it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::surface) enum Role {
    User,
    Assistant,
    System,
    Tool,
}

impl Role {
    pub(super) fn named(name: &str) -> Role {
        match name {
            "assistant" | "model" => Role::Assistant,
            "system" | "developer" => Role::System,
            "tool" | "function" => Role::Tool,
            _ => Role::User,
        }
    }
}

/// Names an entry in every request of its conversation, whatever the client changes about how it is written.
pub(in crate::surface) type Anchor = String;

/// A place in a request where texts can be put.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::surface) enum Slot {
    /// Behind the last part of a list, which may have none.
    Parts { at: usize, is_empty: bool },
    /// A text that becomes a list of parts.
    Text(Range<usize>),
    /// At the end of a text.
    Inside(usize),
    /// Behind an entry.
    Behind(usize),
    /// Before the first entry.
    Before(usize),
    /// A key that is not there, behind the brace that opens the request.
    Key(usize),
}

/// How texts are written.
pub(in crate::surface) struct Shapes {
    /// As a part of an entry.
    pub(super) part: fn(&str) -> Value,
    /// As an entry for the model.
    pub(super) told: fn(&str) -> Value,
    /// As an entry of the model's.
    pub(super) said: fn(&str) -> Value,
    /// As an entry before the conversation.
    pub(super) standing: fn(&str) -> Value,
    /// As a key before the conversation.
    pub(super) key: fn(&str) -> (&'static str, Value),
}

/// A change of a request: some bytes replaced, or put between two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::surface) struct Edit {
    pub(in crate::surface) range: Range<usize>,
    pub(in crate::surface) text: String,
}

impl Edit {
    fn at(at: usize, text: String) -> Edit {
        Edit { range: at..at, text }
    }
}

impl Shapes {
    /// Puts texts into a slot, in order.
    pub(in crate::surface) fn put(&self, slot: &Slot, texts: &[&str]) -> Vec<Edit> {
        let parts = || texts.iter().map(|text| (self.part)(text).to_string()).collect::<Vec<_>>().join(",");
        match slot {
            _ if texts.is_empty() => Vec::new(),
            Slot::Parts { at, is_empty } => {
                vec![Edit::at(*at, format!("{}{}", if *is_empty { "" } else { "," }, parts()))]
            }
            Slot::Text(range) => {
                // The text as a part, around the text as it stands.
                let shape = (self.part)("").to_string();
                let (before, behind) = shape.split_once("\"\"").unwrap_or_default();
                vec![
                    Edit::at(range.start, format!("[{before}")),
                    Edit::at(range.end, format!("{behind},{}]", parts())),
                ]
            }
            Slot::Inside(at) => {
                let written = Value::from(format!("\n\n{}", texts.join("\n\n"))).to_string();
                vec![Edit::at(*at, written[1..written.len() - 1].to_owned())]
            }
            Slot::Behind(at) => vec![Edit::at(*at, entries(texts, self.told))],
            Slot::Before(at) => {
                vec![Edit::at(*at, format!("{},", (self.standing)(&texts.join("\n\n"))))]
            }
            Slot::Key(at) => {
                let (key, value) = (self.key)(&texts.join("\n\n"));
                vec![Edit::at(*at, format!("\"{key}\":{value},"))]
            }
        }
    }

    /// What the model said, and what it is told then, behind the last entry.
    pub(in crate::surface) fn answer(&self, end: &Slot, said: &str, told: &str) -> Vec<Edit> {
        let Slot::Behind(at) = end else { return Vec::new() };
        vec![Edit::at(*at, format!("{}{}", entries(&[said], self.said), entries(&[told], self.told)))]
    }
}

fn entries(texts: &[&str], shape: fn(&str) -> Value) -> String {
    texts.iter().map(|text| format!(",{}", shape(text))).collect()
}

/// A body with changes made. Of two at one place the first comes first.
pub(in crate::surface) fn apply(body: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|edit| edit.range.start);
    let mut changed =
        String::with_capacity(body.len() + edits.iter().map(|edit| edit.text.len()).sum::<usize>());
    let mut written = 0;
    for edit in edits {
        changed.push_str(&body[written..edit.range.start.max(written)]);
        changed.push_str(&edit.text);
        written = edit.range.end.max(written);
    }
    changed.push_str(&body[written..]);
    changed
}

impl Request {
    /// The names of all entries: of two that say the same the later has another number.
    pub(in crate::surface) fn anchors(&self) -> Vec<Anchor> {
        let mut seen: HashMap<String, usize> = HashMap::new();
        let mut name = |entry: &Entry| {
            let says = entry.says();
            let count = seen.entry(says.clone()).or_default();
            *count += 1;
            format!("{says}#{count}")
        };
        self.entries.iter().map(&mut name).collect()
    }

    /// Every text of the conversation but the model's.
    pub(in crate::surface) fn texts(&self) -> impl Iterator<Item = &str> {
        let others = self.entries.iter().filter(|entry| entry.role != Role::Assistant);
        let texts = others.flat_map(|entry| entry.texts.iter().chain(&entry.told));
        self.standing.iter().chain(texts).map(String::as_str)
    }

    /// The last entry that something can be said behind.
    pub(in crate::surface) fn last(&self) -> Option<usize> {
        self.entries.iter().rposition(|entry| entry.role != Role::Assistant)
    }
}

impl Entry {
    pub(super) fn new(role: Role, slot: Slot) -> Entry {
        Entry { role, texts: Vec::new(), calls: Vec::new(), results: Vec::new(), told: Vec::new(), slot }
    }

    /// What the user said in it, without what clients put around that.
    pub(in crate::surface) fn spoken(&self) -> Option<String> {
        if self.role != Role::User {
            return None;
        }
        let said: Vec<String> = self.texts.iter().map(|text| unwrapped(text)).collect();
        let said = said.join("\n").trim().to_owned();
        (!said.is_empty()).then_some(said)
    }

    /// What tells it from others: the calls it makes or answers, else what the user says, else its text.
    fn says(&self) -> String {
        let ids: Vec<&str> =
            self.calls.iter().map(|call| &call.id).chain(&self.results).map(String::as_str).collect();
        if !ids.is_empty() && ids.iter().all(|id| !id.is_empty()) {
            return format!("{:?}:{}", self.role, ids.join(","));
        }
        let text = self.spoken().unwrap_or_else(|| self.texts.iter().chain(&self.told).cloned().collect());
        format!("{:?}:{}", self.role, TextHash::of(&text))
    }
}

/// What clients put into the user's words without the user having said it.
const WRAPPERS: &[&str] = &[
    "system-reminder",
    "system_reminder",
    "environment_context",
    "environment_details",
    "user_instructions",
    "INSTRUCTIONS",
    "current_datetime",
    "hook_context",
    "permissions instructions",
    "reminder",
];

/// How a text begins that says what the client read.
const HEADINGS: &[&str] = &["# AGENTS.md instructions", "This is the Gemini CLI"];

fn unwrapped(text: &str) -> String {
    let mut rest = text.to_owned();
    if HEADINGS.iter().any(|heading| text.trim_start().starts_with(heading)) {
        return String::new();
    }
    for tag in WRAPPERS {
        let (open, close) = (format!("<{tag}"), format!("</{tag}>"));
        while let Some(from) = rest.find(&open) {
            let Some(to) = rest[from..].find(&close) else { break };
            rest.replace_range(from..from + to + close.len(), "");
        }
    }
    rest.trim().to_owned()
}

/// A value in a body, known by its bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<'b> {
    raw: &'b RawValue,
    body: &'b str,
}

impl<'b> Node<'b> {
    pub(super) fn root(body: &'b str) -> Option<Node<'b>> {
        Some(Node { raw: serde_json::from_str(body).ok()?, body })
    }

    fn with(&self, raw: &'b RawValue) -> Node<'b> {
        Node { raw, body: self.body }
    }

    /// Where it stands in the body.
    pub(super) fn range(&self) -> Range<usize> {
        let at = self.raw.get().as_ptr() as usize - self.body.as_ptr() as usize;
        at..at + self.raw.get().len()
    }

    pub(super) fn fields(&self) -> Option<HashMap<String, Node<'b>>> {
        let fields: HashMap<String, &'b RawValue> = serde_json::from_str(self.raw.get()).ok()?;
        Some(fields.into_iter().map(|(key, raw)| (key, self.with(raw))).collect())
    }

    pub(super) fn items(&self) -> Option<Vec<Node<'b>>> {
        let items: Vec<&'b RawValue> = serde_json::from_str(self.raw.get()).ok()?;
        Some(items.into_iter().map(|raw| self.with(raw)).collect())
    }

    /// What stands where a JSON pointer says.
    pub(super) fn at(&self, pointer: &str) -> Option<Node<'b>> {
        pointer.split('/').skip(1).try_fold(*self, |node, key| match key.parse::<usize>() {
            Ok(at) => node.items()?.into_iter().nth(at),
            Err(_) => node.fields()?.remove(key),
        })
    }

    pub(super) fn value(&self) -> Value {
        serde_json::from_str(self.raw.get()).unwrap_or_default()
    }

    pub(super) fn text(&self) -> Option<String> {
        serde_json::from_str(self.raw.get()).ok()
    }

    pub(super) fn is_null(&self) -> bool {
        self.raw.get() == "null"
    }

    /// Behind what opens it.
    pub(super) fn inside(&self) -> usize {
        self.range().start + 1
    }

    /// Where parts are added to it: to a list behind its last one, to a text by making it a list.
    pub(super) fn slot(&self) -> Slot {
        match self.items() {
            Some(items) => {
                let at = items.last().map_or(self.inside(), |last| last.range().end);
                Slot::Parts { at, is_empty: items.is_empty() }
            }
            None => Slot::Text(self.range()),
        }
    }

    /// Where text is added to it: to a list as a part, to a text at its end.
    pub(super) fn standing(&self) -> Slot {
        match self.slot() {
            Slot::Text(range) => Slot::Inside(range.end - 1),
            list => list,
        }
    }

    /// Its text, or those of its parts under a key.
    pub(super) fn texts(&self, key: &str) -> Vec<String> {
        let parts = self.items().unwrap_or_default();
        let texts = parts.iter().filter_map(|part| part.value()[key].as_str().map(str::to_owned));
        self.text().into_iter().chain(texts).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_clients_put_around_the_users_words_is_not_the_users() {
        let entry = |text: &str| {
            let mut entry = Entry::new(Role::User, Slot::Behind(0));
            entry.texts.push(text.to_owned());
            entry.spoken()
        };
        assert_eq!(entry("<system-reminder>x</system-reminder>\nfix it").as_deref(), Some("fix it"));
        assert_eq!(
            entry("<current_datetime>1</current_datetime>\n\nhi\n\n<reminder>x</reminder>").as_deref(),
            Some("hi")
        );
        assert_eq!(entry("<environment_context>\n<cwd>/x</cwd></environment_context>"), None);
        assert_eq!(entry("<system-reminder> open").as_deref(), Some("<system-reminder> open"));
        assert_eq!(entry("# AGENTS.md instructions for /repo\n\nx"), None);
    }
}
