//! The conversation in a request: its entries, what identifies each, and where texts can be added.

use std::collections::HashMap;
use std::ops::Range;

use rulebook::evidence::without_generated;
use rulebook::session::TextHash;
use serde_json::Value;

use super::edit::Slot;
use crate::surface::hook::has_failed_text;

/// What a request contains.
#[derive(Debug)]
pub(in crate::surface) struct Request {
    pub(in crate::surface) model: Option<String>,
    /// Whether the model may call tools: an agent's main requests offer some.
    pub(in crate::surface) has_tools: bool,
    /// Whether it asks for several choices, which are told apart by their indexes.
    pub(in crate::surface) has_choices: bool,
    /// The client's name for the conversation, if the body has one.
    pub(in crate::surface) key: Option<String>,
    /// The response it continues, if the provider keeps the conversation, and where the body names it.
    pub(in crate::surface) follows: Option<(String, Range<usize>)>,
    /// The end of what precedes the conversation.
    pub(in crate::surface) prefix: Slot,
    /// The texts that precede the conversation.
    pub(in crate::surface) system: Vec<String>,
    pub(in crate::surface) entries: Vec<Entry>,
    /// After the last entry.
    pub(in crate::surface) end: Slot,
}

/// One entry of the conversation.
#[derive(Debug)]
pub(in crate::surface) struct Entry {
    pub(in crate::surface) role: Role,
    pub(in crate::surface) texts: Vec<String>,
    pub(in crate::surface) calls: Vec<Call>,
    /// The ids of the calls whose results it contains, and the results.
    pub(in crate::surface) result_ids: Vec<String>,
    results: Vec<String>,
    /// For each of these ids: how many of the results come before it, and whether the protocol says that the call failed.
    result_starts: Vec<(usize, bool)>,
    /// Where texts are added after it.
    pub(in crate::surface) slot: Slot,
    identity: Identity,
}

/// What [`Request::identified`] finds out about an entry.
#[derive(Debug, Default)]
struct Identity {
    anchor: Anchor,
    user_text: Option<String>,
}

/// A tool call of the model.
#[derive(Debug)]
pub(in crate::surface) struct Call {
    pub(in crate::surface) id: String,
    pub(in crate::surface) name: String,
    pub(in crate::surface) input: Value,
}

/// Who wrote an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::surface) enum Role {
    User,
    Assistant,
    System,
    Tool,
}

/// Identifies an entry in every request of its conversation, regardless of how the client writes it.
pub(in crate::surface) type Anchor = String;

impl Request {
    /// Identifies every entry. Of two entries with the same content the later gets a higher number.
    pub(super) fn identified(mut self) -> Request {
        let mut seen: HashMap<String, usize> = HashMap::new();
        for entry in &mut self.entries {
            let user_text = entry.find_user_text();
            let content = entry.content_name(user_text.as_deref());
            let count = seen.entry(content.clone()).or_default();
            *count += 1;
            entry.identity = Identity { anchor: format!("{content}#{count}"), user_text };
        }
        self
    }

    /// Returns every text of the conversation except the model's.
    pub(in crate::surface) fn texts(&self) -> impl Iterator<Item = &str> {
        let others = self.entries.iter().filter(|entry| entry.role != Role::Assistant);
        let texts = others.flat_map(|entry| entry.texts.iter().chain(&entry.results));
        self.system.iter().chain(texts).map(String::as_str)
    }

    /// Returns the user's last message with what clients report around it: the mode, the open files. A later entry without
    /// words of the user has the newer report.
    pub(in crate::surface) fn message(&self) -> Option<String> {
        let own = |entry: &Entry| {
            let texts = entry.texts.iter().filter(|text| !is_headed(text));
            texts.map(|text| without_tail(text)).collect::<Vec<_>>().join("\n")
        };
        let mut users = self.entries.iter().rev().filter(|entry| entry.role == Role::User);
        let newest = users.clone().find(|entry| own(entry).contains("<environment_details"));
        let said = users.find(|entry| entry.user_text().is_some());
        match (said, newest) {
            (Some(said), Some(newest)) if !std::ptr::eq(said, newest) && newest.user_text().is_none() => {
                Some(format!("{}\n{}", said.user_text().unwrap_or_default(), own(newest)))
            }
            (said, _) => said.map(own),
        }
    }

    /// Returns the files that the user added to the conversation, as Aider lists them.
    pub(in crate::surface) fn added_files(&self) -> Vec<String> {
        let mut texts = self.entries.iter().rev().flat_map(|entry| &entry.texts);
        texts.find(|text| text.starts_with(ADDED_FILES)).map(|text| fenced_files(text)).unwrap_or_default()
    }

    /// Returns the last entry after which a text can be added.
    pub(in crate::surface) fn last(&self) -> Option<&Entry> {
        self.entries.iter().rfind(|entry| entry.role != Role::Assistant)
    }
}

impl Entry {
    pub(super) fn new(role: Role, slot: Slot) -> Entry {
        Entry {
            role,
            texts: Vec::new(),
            calls: Vec::new(),
            result_ids: Vec::new(),
            results: Vec::new(),
            result_starts: Vec::new(),
            slot,
            identity: Identity::default(),
        }
    }

    /// Takes in the result of a call: its texts, and whether the protocol says that it failed.
    pub(super) fn add_result(&mut self, id: &str, texts: impl IntoIterator<Item = String>, has_failed: bool) {
        self.result_starts.push((self.results.len(), has_failed));
        self.results.extend(texts);
        self.result_ids.push(id.to_owned());
    }

    /// The ids of the calls that failed, where the protocol or the result says so.
    pub(in crate::surface) fn failed_ids(&self) -> impl Iterator<Item = &String> {
        let ends = self.result_starts.iter().skip(1).map(|(start, _)| *start).chain([self.results.len()]);
        let results = self.result_starts.iter().zip(ends).zip(&self.result_ids);
        results.filter_map(|(((start, has_failed), end), id)| {
            let texts = &self.results[*start..end];
            (*has_failed || texts.iter().any(|text| has_failed_text(text))).then_some(id)
        })
    }

    pub(in crate::surface) fn anchor(&self) -> &Anchor {
        &self.identity.anchor
    }

    /// Returns what the user wrote in it, without what clients put around that.
    pub(in crate::surface) fn user_text(&self) -> Option<&str> {
        self.identity.user_text.as_deref()
    }

    fn find_user_text(&self) -> Option<String> {
        if self.role != Role::User {
            return None;
        }
        let texts: Vec<String> = self.texts.iter().map(|text| without_wrappers(text)).collect();
        let text = texts.join("\n").trim().to_owned();
        (!text.is_empty()).then_some(text)
    }

    /// Names its content: the calls it makes or answers, else what the user wrote, else its text.
    fn content_name(&self, user_text: Option<&str>) -> String {
        let ids: Vec<&str> =
            self.calls.iter().map(|call| &call.id).chain(&self.result_ids).map(String::as_str).collect();
        if !ids.is_empty() && ids.iter().all(|id| !id.is_empty()) {
            return format!("{:?}:{}", self.role, ids.join(","));
        }
        let hash = match user_text {
            Some(text) => TextHash::of(text),
            None => TextHash::of(&self.texts.iter().chain(&self.results).cloned().collect::<String>()),
        };
        format!("{:?}:{hash}", self.role)
    }
}

/// How a text begins that clients write themselves.
const HEADINGS: &[&str] =
    &["# AGENTS.md instructions", "This is the Gemini CLI", ADDED_FILES, "Here are some READ ONLY files"];

/// How the text begins in which Aider lists the files that the user added.
const ADDED_FILES: &str = "I have *added these files to the chat*";

/// How the text begins that Aider puts after the user's.
const TAIL: &str = "\n# *SEARCH/REPLACE block* Rules:";

fn without_tail(text: &str) -> &str {
    text.split_once(TAIL).map_or(text, |(own, _)| own)
}

/// The names of files whose content follows in a fenced block: each is the line before its block.
fn fenced_files(text: &str) -> Vec<String> {
    let (mut files, mut fence, mut above) = (Vec::new(), None, "");
    for line in text.lines() {
        let backticks = &line[..line.len() - line.trim_start_matches('`').len()];
        match fence {
            Some(open) if line == open => fence = None,
            Some(_) => {}
            None if backticks.len() >= 3 => {
                files.extend((!above.is_empty()).then(|| above.to_owned()));
                fence = Some(backticks);
            }
            None => {}
        }
        above = line;
    }
    files
}

fn is_headed(text: &str) -> bool {
    HEADINGS.iter().any(|heading| text.trim_start().starts_with(heading))
}

fn without_wrappers(text: &str) -> String {
    if is_headed(text) {
        return String::new();
    }
    without_generated(without_tail(text)).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_clients_put_around_the_users_text_is_not_the_users() {
        let entry = |text: &str| {
            let mut entry = Entry::new(Role::User, Slot::After(0));
            entry.texts.push(text.to_owned());
            entry.find_user_text()
        };
        assert_eq!(entry("<system-reminder>x</system-reminder>\nfix it").as_deref(), Some("fix it"));
        assert_eq!(
            entry("<current_datetime>1</current_datetime>\n\nhi\n\n<reminder>x</reminder>").as_deref(),
            Some("hi")
        );
        // Gemini CLI.
        assert_eq!(entry("<session_context>\nThis is the Gemini CLI.\n</session_context>"), None);
        // goose moves this block to another message later.
        assert_eq!(entry("<info-msg>\nIt is 10:00\n</info-msg>\nfix it").as_deref(), Some("fix it"));
        assert_eq!(entry("<environment_context>\n<cwd>/x</cwd></environment_context>"), None);
        assert_eq!(entry("<system-reminder> open").as_deref(), Some("<system-reminder> open"));
        assert_eq!(entry("# AGENTS.md instructions for /repo\n\nx"), None);
        // Aider.
        assert_eq!(entry("fix it\n\n# *SEARCH/REPLACE block* Rules:\n\n1. a/b").as_deref(), Some("fix it"));
        assert_eq!(entry("I have *added these files to the chat* so you can\n\na.py\n```\nx\n```"), None);
    }

    #[test]
    fn files_in_fenced_blocks_are_named_by_the_line_above() {
        let text = "I have *added these files to the chat*.\n\nsrc/a b.py\n````python\n```\nno.py\n```\n````\n\nb.py\n```\n```\n";
        assert_eq!(fenced_files(text), ["src/a b.py", "b.py"]);
        assert_eq!(fenced_files("a\n```\nopen"), ["a"]);
        assert!(fenced_files("no files").is_empty());
    }
}
