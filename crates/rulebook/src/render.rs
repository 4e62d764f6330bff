//! Rendering: the stack as the text that goes into the prompt.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use serde::Serialize;

use crate::evaluate::{Evaluation, State, Verdict};
use crate::html::escape;
use crate::rule::{Activation, Rule};
use crate::stream::policy::escape_tags;

/// The text for the prompt, and what went into it.
#[derive(Clone, Debug)]
pub struct Rendered<'e, 'r> {
    /// What the model is given.
    pub text: String,
    /// The rules in the text, in its order: always-on ones first, so that a prompt cache keeps its prefix.
    pub applied: Vec<&'e Verdict<'r>>,
    /// The rules listed by name.
    pub offered: Vec<&'e Verdict<'r>>,
    /// The rules a budget cut; each left its offer line.
    pub omitted: Vec<&'e Verdict<'r>>,
    /// How long the text is, estimated.
    pub tokens: usize,
}

/// How much may go into the prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// At most this many tokens, estimated; no limit unless set.
    pub tokens: Option<usize>,
}

/// Writes the stack and the offers.
pub fn render<'e, 'r>(evaluation: &'e Evaluation<'r>, budget: Budget) -> Rendered<'e, 'r> {
    let stack = || evaluation.verdicts.iter().filter(|verdict| matches!(verdict.state, State::Stack));
    let offered: Vec<_> =
        evaluation.verdicts.iter().filter(|verdict| matches!(verdict.state, State::Offered)).collect();
    let all: Vec<_> = stack().collect();
    let omitted = over_budget(&all, &offered, budget);
    let is_in = |verdict: &&Verdict| !omitted.iter().any(|cut| std::ptr::eq(cut.rule, verdict.rule));
    let (mut applied, conditional): (Vec<_>, Vec<_>) =
        stack().filter(is_in).partition(|verdict| is_stable(verdict.rule));
    applied.extend(conditional);

    let headers: HashSet<&str> = applied.iter().map(|verdict| header(verdict.rule)).collect();
    let mut lengths = vec![false; headers.iter().map(|header| header.len() + 1).max().unwrap_or(0)];
    headers.iter().for_each(|header| lengths[header.len()] = true);
    let is_header = |line: &str| lengths.get(line.len()) == Some(&true) && headers.contains(line);
    let size: usize = applied.iter().map(|verdict| block_size(verdict.rule)).sum();
    let mut text = String::with_capacity(size + 64 * (offered.len() + omitted.len()));
    for verdict in &applied {
        push_block(&mut text, verdict.rule, is_header);
    }
    push_offers(&mut text, offered.iter().chain(&omitted).map(|verdict| verdict.rule));
    Rendered { tokens: estimate_tokens(&text), text, applied, offered, omitted }
}

/// Whether a rule's text is in the prompt whatever the evidence.
fn is_stable(rule: &Rule) -> bool {
    rule.activation == Activation::Always
}

/// The line a rule's text stands under: its file, or a remote entry's name.
pub fn header(rule: &Rule) -> &str {
    &rule.origin.display
}

fn block_size(rule: &Rule) -> usize {
    header(rule).len() + rule.body.len() + 3
}

fn push_block(text: &mut String, rule: &Rule, is_header: impl Fn(&str) -> bool) {
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(header(rule));
    text.push('\n');
    let body = rule.body.as_str();
    let mut start = 0;
    let mut written = 0;
    let mut is_after_blank = false;
    for end in line_ends(body).chain([body.len()]) {
        let line = body[start..end].trim();
        // A line that looks like another rule's header is indented: a body cannot pass for two rules.
        if is_header(line) || is_after_blank && looks_like_header(line) || line == OFFERS_LINE {
            text.push_str(&body[written..start]);
            text.push(' ');
            written = start;
        }
        is_after_blank = line.is_empty();
        start = end + 1;
    }
    text.push_str(&body[written..]);
}

/// Where lines end to whoever reads a text, be it only to some.
pub(crate) fn line_ends(text: &str) -> impl Iterator<Item = usize> {
    let bytes = text.as_bytes();
    memchr::memchr3_iter(b'\n', b'\r', b'\x0c', bytes).filter(|at| !bytes[*at..].starts_with(b"\r\n"))
}

/// Whether a line could stand above a rule's text, of a rule that is there or not: a rule file's path and nothing else.
pub(crate) fn looks_like_header(line: &str) -> bool {
    const ENDS: [&str; 7] = [".md", ".mdc", ".mdx", ".txt", ".markdown", "rules", "hints"];
    let is_path = line.starts_with(['.', '~']) || line.contains('/') || line.starts_with(char::is_uppercase);
    is_path
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

/// What stands above the offers.
const OFFERS: &str = "# Rules\nRead rule://<name> when working in a matching domain.";

/// Its second line, by which people and models know it.
pub(crate) const OFFERS_LINE: &str = "Read rule://<name> when working in a matching domain.";

/// `- name (glob, glob): description`, on one line.
pub fn offer_line(rule: &Rule) -> String {
    let mut line = format!("- {}", rule.name);
    if !rule.globs.is_empty() {
        line.push_str(&format!(" ({})", one_line(&rule.globs.join(", "))));
    }
    if let Some(description) = &rule.description {
        line.push_str(": ");
        line.push_str(&one_line(description));
    }
    match escape_tags(&line) {
        Cow::Borrowed(_) => line,
        Cow::Owned(escaped) => escaped,
    }
}

fn one_line(text: &str) -> String {
    text.split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// The rules to cut, lowest rank first, until the rest fits. Each leaves its offer line, which counts too. What nobody may
/// switch off is not cut either.
fn over_budget<'e, 'r>(
    stack: &[&'e Verdict<'r>],
    offered: &[&'e Verdict<'r>],
    budget: Budget,
) -> Vec<&'e Verdict<'r>> {
    let Some(limit) = budget.tokens else { return Vec::new() };
    let cost =
        |verdict: &&Verdict| estimate_tokens(&verdict.rule.body) + estimate_tokens(header(verdict.rule)) + 1;
    let offer = |verdict: &&Verdict| estimate_tokens(&offer_line(verdict.rule)) + 1;
    let mut total: usize = stack.iter().map(cost).sum::<usize>() + offered.iter().map(offer).sum::<usize>();
    let mut omitted = Vec::new();
    for verdict in stack.iter().rev().filter(|verdict| !verdict.rule.is_mandatory) {
        let heading = if offered.is_empty() && omitted.is_empty() { 0 } else { estimate_tokens(OFFERS) };
        if total + heading <= limit {
            break;
        }
        total = total.saturating_sub(cost(verdict)) + offer(verdict);
        omitted.push(*verdict);
    }
    omitted.reverse();
    omitted
}

/// An estimate of the tokens of a text: four ASCII characters make one, any other character counts whole.
pub fn estimate_tokens(text: &str) -> usize {
    if text.is_ascii() {
        return text.len().div_ceil(4);
    }
    let ascii = text.bytes().filter(u8::is_ascii).count();
    let others = text.bytes().filter(|byte| *byte >= 0xc0).count();
    ascii.div_ceil(4) + others
}

/// What the user is told when conditional rules came on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Notice {
    /// Always `conditional_rules_applied`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Which rules, in the order of the text.
    pub rules: Vec<NoticeRule>,
}

/// A rule in a notice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NoticeRule {
    /// The rule's name.
    pub name: String,
    /// A key per condition that held, with what of it matched.
    pub matched_conditions: BTreeMap<&'static str, Vec<String>>,
}

impl Notice {
    /// The notice of a rendered prompt; nothing if no conditional rule was applied.
    pub fn of(rendered: &Rendered<'_, '_>) -> Option<Notice> {
        Notice::of_rules(&rendered.applied)
    }

    /// The notice of applied rules; nothing if none of them is conditional.
    pub fn of_rules(applied: &[&Verdict<'_>]) -> Option<Notice> {
        let conditional = applied.iter().filter(|verdict| !verdict.because.is_empty());
        let rule = |verdict: &&Verdict<'_>| NoticeRule {
            name: verdict.rule.name.clone(),
            matched_conditions: matched(verdict),
        };
        let rules: Vec<NoticeRule> = conditional.map(rule).collect();
        (!rules.is_empty()).then_some(Notice { kind: "conditional_rules_applied", rules })
    }

    /// One line for people.
    pub fn line(&self) -> String {
        let names: Vec<&str> = self.rules.iter().map(|rule| rule.name.as_str()).collect();
        format!("📋 Conditional rules applied: {}", names.join(", "))
    }

    /// A fragment for a host's web view: closed it is the line, open it shows the conditions that held. It brings no
    /// style and no script; nothing in it comes from a rule unescaped.
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

/// A key per condition that held, with what of it matched.
pub fn matched(verdict: &Verdict<'_>) -> BTreeMap<&'static str, Vec<String>> {
    verdict.because.iter().map(|reason| (reason.condition, reason.matched.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_as_html_shows_every_condition_and_no_markup_of_a_rule() {
        let conditions = [("mode", vec!["act".to_owned()]), ("paths", vec!["a/**".into(), "<i>".into()])];
        let rule = NoticeRule { name: "<b>web".to_owned(), matched_conditions: conditions.into() };
        let notice = Notice { kind: "conditional_rules_applied", rules: vec![rule] };
        let html = "<details class=\"rulebook-notice\"><summary>📋 Conditional rules applied: &lt;b&gt;web</summary>\
            <dl><dt><bdi>&lt;b&gt;web</bdi></dt><dd>mode: <code>act</code></dd>\
            <dd>paths: <code>a/**</code>, <code>&lt;i&gt;</code></dd></dl></details>";
        assert_eq!(notice.html(), html);
    }
}
