//! Rendering: writes the rules that apply as text for the prompt.

mod budget;
mod line;

pub use budget::{Budget, OVER_BUDGET};
pub use line::header;
pub(crate) use line::{OFFERS_LINE, offer_line};

use std::collections::{BTreeMap, HashSet};

use serde::Serialize;

use crate::evaluate::{Evaluation, InactiveReason, State, Verdict};
use crate::format::FormatId;
use crate::html::escape;
use crate::rule::Rule;
use budget::Size;
use line::OFFERS;

/// The text for the prompt, and the rules in it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Rendered<'e, 'r> {
    /// The text for the model.
    pub text: String,
    /// The rules in the text, in the order of delivery.
    pub applied: Vec<&'e Verdict<'r>>,
    /// The rules listed by name, in the order of the text.
    pub offered: Vec<&'e Verdict<'r>>,
    /// Those of them that the budget cut.
    pub omitted: Vec<&'e Verdict<'r>>,
    /// The estimated tokens of the text.
    pub tokens: usize,
}

/// Writes the rules that apply and the offers.
#[must_use]
pub fn render<'e, 'r>(evaluation: &'e Evaluation<'r>) -> Rendered<'e, 'r> {
    let applied: Vec<_> = evaluation.stack().collect();
    let listed = evaluation.offers();

    let headers: HashSet<&str> = applied.iter().map(|verdict| header(verdict.rule)).collect();
    let mut lengths = vec![false; headers.iter().map(|header| header.len() + 1).max().unwrap_or(0)];
    headers.iter().for_each(|header| lengths[header.len()] = true);
    let is_header = |line: &str| lengths.get(line.len()) == Some(&true) && headers.contains(line);
    let size: usize = applied.iter().map(|verdict| block_size(verdict.rule)).sum();
    let mut text = String::with_capacity(size + 64 * listed.len());
    for verdict in &applied {
        push_block(&mut text, verdict.rule, is_header);
    }
    push_offers(&mut text, listed.iter().map(|verdict| verdict.rule));
    push_more_skills(&mut text, evaluation, &listed);
    let omitted = listed.iter().copied().filter(|verdict| verdict.is_cut).collect();
    Rendered { tokens: estimate_tokens(&text), text, applied, offered: listed, omitted }
}

fn block_size(rule: &Rule) -> usize {
    header(rule).len() + rule.readable().len() + 3
}

fn push_block(text: &mut String, rule: &Rule, is_header: impl Fn(&str) -> bool) {
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(header(rule));
    text.push('\n');
    let body = &*rule.readable();
    let mut start = 0;
    let mut written = 0;
    for end in line_ends(body).chain([body.len()]) {
        let line = trimmed(&body[start..end]);
        // A line that is the header of a rule in this text is indented, so that a body cannot pose as that rule.
        if is_header(line) || line == OFFERS_LINE {
            text.push_str(&body[written..start]);
            text.push(' ');
            written = start;
        }
        start = end + 1;
    }
    text.push_str(&body[written..]);
}

/// Trims a line. Most lines need no trimming, and their first and last byte show it.
fn trimmed(line: &str) -> &str {
    match line.as_bytes() {
        [first, .., last] if first.is_ascii_graphic() && last.is_ascii_graphic() => line,
        _ => line.trim(),
    }
}

/// Finds the line ends of a text, including those that only some readers treat as such.
pub(crate) fn line_ends(text: &str) -> impl Iterator<Item = usize> {
    let bytes = text.as_bytes();
    memchr::memchr3_iter(b'\n', b'\r', b'\x0c', bytes).filter(|at| !bytes[*at..].starts_with(b"\r\n"))
}

/// Whether a line looks like the header of some rule: the path of a rule file and nothing else.
pub(crate) fn looks_like_header(line: &str) -> bool {
    const ENDS: [&str; 7] = [".md", ".mdc", ".mdx", ".txt", ".markdown", "rules", "hints"];
    let is_path = line.starts_with(['.', '~']) || line.contains('/') || line.starts_with(char::is_uppercase);
    is_path
        && !line.starts_with('@')
        && line.len() < 256
        && ENDS.iter().any(|end| line.ends_with(end))
        && !line.contains(char::is_whitespace)
}

fn push_offers<'r>(text: &mut String, offers: impl Iterator<Item = &'r Rule>) {
    let mut lines = offers.map(offer_line).peekable();
    if lines.peek().is_none() {
        return;
    }
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(OFFERS);
    for line in lines {
        text.push('\n');
        text.push_str(&line);
    }
}

/// Counts the skills that are not listed because others are.
fn push_more_skills(text: &mut String, evaluation: &Evaluation<'_>, offered: &[&Verdict<'_>]) {
    let is_skill = |verdict: &&Verdict<'_>| verdict.rule.origin.format.id == FormatId::Skill;
    let is_left_out = |verdict: &&Verdict<'_>| matches!(&verdict.state, State::Inactive(why) if why.reason == InactiveReason::NotOffered);
    let count = evaluation.verdicts.iter().filter(is_left_out).count();
    if count > 0 && offered.iter().any(is_skill) {
        text.push_str(&format!("\n- {count} more skills, which are not listed"));
    }
}

/// Returns a number with its digits in groups of three: `12,345`.
pub fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let parts: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|part| std::str::from_utf8(part).unwrap_or_default())
        .collect();
    parts.join(",")
}

/// Estimates the tokens of a text: four ASCII characters are one token, and so is any other character.
pub fn estimate_tokens(text: &str) -> usize {
    if text.is_ascii() {
        return text.len().div_ceil(4);
    }
    Size::of(text).estimate()
}

/// What the user sees when conditional rules apply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Notice {
    /// Always `conditional_rules_applied`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The rules, in the order of the text.
    pub rules: Vec<NoticeRule>,
}

/// A rule in a notice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct NoticeRule {
    /// The rule's name; its key or file if several rules of the notice have that name.
    pub name: String,
    /// The conditions that held, each with the parts that matched.
    pub matched_conditions: BTreeMap<&'static str, Vec<String>>,
}

impl Notice {
    /// Returns the notice of a rendered prompt, or `None` if no conditional rule applies.
    #[must_use]
    pub fn of(rendered: &Rendered<'_, '_>) -> Option<Notice> {
        Notice::of_rules(&rendered.applied)
    }

    /// Returns the notice of applied rules, or `None` if none of them is conditional.
    pub(crate) fn of_rules(applied: &[&Verdict<'_>]) -> Option<Notice> {
        let conditional: Vec<&Verdict<'_>> =
            applied.iter().copied().filter(|verdict| !verdict.because.is_empty()).collect();
        let is_one = |same: &dyn Fn(&Rule) -> bool| {
            conditional.iter().filter(|verdict| same(verdict.rule)).count() == 1
        };
        let name = |rule: &Rule| match () {
            () if is_one(&|other| other.name == rule.name) => rule.name.clone(),
            () if is_one(&|other| other.key() == rule.key()) => rule.key(),
            () => rule.origin.display.clone(),
        };
        let rule = |verdict: &&Verdict<'_>| NoticeRule {
            name: name(verdict.rule),
            matched_conditions: matched(verdict),
        };
        let rules: Vec<NoticeRule> = conditional.iter().map(rule).collect();
        (!rules.is_empty()).then_some(Notice { kind: "conditional_rules_applied", rules })
    }

    /// Returns the notice as one line.
    pub fn line(&self) -> String {
        let names: Vec<&str> = self.rules.iter().map(|rule| rule.name.as_str()).collect();
        format!("📋 Conditional rules applied: {}", names.join(", "))
    }

    /// Returns the notice with the conditions that held: a line for each rule follows the first one.
    pub fn text(&self) -> String {
        let mut text = self.line();
        for NoticeRule { name, matched_conditions } in &self.rules {
            let held: Vec<String> = matched_conditions
                .iter()
                .map(|(condition, matched)| format!("{condition} {}", matched.join(", ")))
                .collect();
            text.push_str(&format!("\n  {name}: {}", held.join("; ")));
        }
        text
    }

    /// Returns the notice as an HTML fragment. Closed, it shows the line; open, the conditions that held. It has no
    /// styles and no scripts, and everything from a rule is escaped.
    pub fn html(&self) -> String {
        let mut html =
            format!("<details class=\"rulebook-notice\"><summary>{}</summary><dl>", escape(&self.line()));
        for NoticeRule { name, matched_conditions } in &self.rules {
            html.push_str(&format!("<dt><bdi>{}</bdi></dt>", escape(name)));
            for (condition, matched) in matched_conditions {
                let matched: Vec<String> =
                    matched.iter().map(|word| format!("<code>{}</code>", escape(word))).collect();
                html.push_str(&format!("<dd>{condition}: {}</dd>", matched.join(", ")));
            }
        }
        html.push_str("</dl></details>");
        html
    }
}

/// Returns the conditions that held, each with the parts that matched.
pub fn matched(verdict: &Verdict<'_>) -> BTreeMap<&'static str, Vec<String>> {
    verdict.because.iter().map(|reason| (reason.condition, reason.matched.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_as_html_shows_every_condition_and_escapes_markup() {
        let conditions = [("mode", vec!["act".to_owned()]), ("paths", vec!["a/**".into(), "<i>".into()])];
        let rule = NoticeRule { name: "<b>web".to_owned(), matched_conditions: conditions.into() };
        let notice = Notice { kind: "conditional_rules_applied", rules: vec![rule] };
        let html = "<details class=\"rulebook-notice\"><summary>📋 Conditional rules applied: &lt;b&gt;web</summary>\
            <dl><dt><bdi>&lt;b&gt;web</bdi></dt><dd>mode: <code>act</code></dd>\
            <dd>paths: <code>a/**</code>, <code>&lt;i&gt;</code></dd></dl></details>";
        assert_eq!(notice.html(), html);
    }
}
