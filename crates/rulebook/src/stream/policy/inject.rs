//! The texts of stream rules: the block for the model, and the event for the host.

use std::borrow::Cow;

use serde::Serialize;

use crate::hidden::visible_line;
use crate::id::plain_name;
use crate::own_text::INTERRUPT_TAG;

/// A text that matched, and its location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchedText {
    /// What matched.
    pub text: String,
    /// `text line 3`; `tool edit, field new_string, src/a.ts`.
    pub place: String,
}

/// The block that delivers a rule after its match stopped the output.
pub fn injection(rule: &str, path: &str, body: &str, matched: &[MatchedText]) -> String {
    block(&INTERRUPT, rule, path, body, matched)
}

/// The block that delivers a rule after a match that let the output continue.
pub fn reminder(rule: &str, path: &str, body: &str, matched: &[MatchedText]) -> String {
    block(&REMINDER, rule, path, body, matched)
}

/// The block that delivers a rule whose requirements refused a call: what happened, and what to do now.
pub(crate) fn refusal(rule: &str, path: &str, body: &str, happened: &str, wanted: &str) -> String {
    whole(INTERRUPT.tag, rule, path, body, &format!("{happened}\n{wanted}"))
}

/// Several blocks as one text.
pub fn join(blocks: &[String]) -> String {
    blocks.join("\n\n")
}

/// The event of an interrupt or a reminder; `M` describes a match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename = "ttsr_triggered")]
pub struct Triggered<M> {
    /// The names of the rules.
    pub rules: Vec<String>,
    /// What matched.
    pub matches: Vec<M>,
}

/// Writes the `<` of our own tags as `&lt;`, in any case, so that a text can neither close its block nor open one.
pub fn escape_tags(text: &str) -> Cow<'_, str> {
    let mut escaped = String::new();
    let mut written = 0;
    for at in own_tags(text) {
        escaped.push_str(&text[written..at]);
        escaped.push_str("&lt;");
        written = at + 1;
    }
    if written == 0 {
        return Cow::Borrowed(text);
    }
    escaped.push_str(&text[written..]);
    Cow::Owned(escaped)
}

/// The positions of the `<` of our own tags.
pub(crate) fn own_tags(text: &str) -> impl Iterator<Item = usize> {
    text.match_indices('<').map(|(at, _)| at).filter(|at| is_own_tag(&text[at + 1..]))
}

/// How the two blocks differ.
struct Wording {
    tag: &'static str,
    happened: &'static str,
    wanted: &'static str,
}

const INTERRUPT: Wording = Wording {
    tag: INTERRUPT_TAG,
    happened: "Your output was stopped because it matched the rule below",
    wanted: "The user set up this rule for this work. Redo the stopped part so that it follows the rule, then continue.",
};

const REMINDER: Wording = Wording {
    tag: "system-reminder",
    happened: "Your output matched the rule below and was not stopped",
    wanted: "The user set up this rule for this work. Fix what violates it, and follow it from now on.",
};

/// The starts of our tags. Hosts and pages have more tags that start like this.
const OWN_TAGS: [&str; 3] = [INTERRUPT.tag, REMINDER.tag, "rulebook-"];

/// Longer excerpts are cut: the model knows what it wrote.
const MAX_EXCERPT: usize = 200;

/// Further matches are only counted.
const MAX_MATCHES: usize = 5;

fn block(wording: &Wording, rule: &str, path: &str, body: &str, matched: &[MatchedText]) -> String {
    let Wording { tag, happened, wanted } = wording;
    let mut text = (*happened).to_owned();
    text.push(if matched.is_empty() { '.' } else { ':' });
    for MatchedText { text: found, place } in matched.iter().take(MAX_MATCHES) {
        text.push_str(&format!("\n- {}: `{}`", excerpt(place), excerpt(found)));
    }
    if let more @ 1.. = matched.len().saturating_sub(MAX_MATCHES) {
        text.push_str(&format!("\n- and {more} more"));
    }
    whole(tag, rule, path, body, &format!("{text}\n{wanted}"))
}

fn whole(tag: &str, rule: &str, path: &str, body: &str, lead: &str) -> String {
    let (rule, path) = (attribute(&plain_name(rule)), attribute(&plain_name(path)));
    let body = escape_tags(body.trim());
    format!("<{tag} reason=\"rule_violation\" rule=\"{rule}\" path=\"{path}\">\n{lead}\n\n{body}\n</{tag}>")
}

/// Models read `</ system-reminder` as the tag too.
fn is_own_tag(after: &str) -> bool {
    let name = after.trim_start_matches(|c: char| c == '/' || c.is_whitespace());
    OWN_TAGS.iter().any(|tag| name.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag)))
}

/// Escapes a value for an attribute.
pub(crate) fn attribute(value: &str) -> String {
    let mut escaped = String::with_capacity(value.len());
    for c in value.chars() {
        match c {
            '"' => escaped.push_str("&quot;"),
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            c if c.is_control() => escaped.push_str(&format!("&#{};", u32::from(c))),
            c => escaped.push(c),
        }
    }
    escaped
}

/// A text of somebody else on one line, of bounded length, without our tags.
pub(crate) fn excerpt(text: &str) -> String {
    let mut line = String::new();
    for c in text.chars().take(MAX_EXCERPT) {
        if matches!(c, '\n' | '\r' | '\t') {
            line.extend(c.escape_default());
        } else {
            line.push(c);
        }
    }
    if text.chars().nth(MAX_EXCERPT).is_some() {
        line.push('…');
    }
    escape_tags(&visible_line(&line)).into_owned()
}
