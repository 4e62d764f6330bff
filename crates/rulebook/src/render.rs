//! Rendering: writes the rules that apply as text for the prompt.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::ops::{Add, Sub};

use serde::Serialize;

use crate::evaluate::{Evaluation, InactiveReason, State, Verdict};
use crate::format::FormatId;
use crate::html::escape;
use crate::rule::Rule;
use crate::stream::policy::escape_tags;

/// The text for the prompt, and the rules in it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Rendered<'e, 'r> {
    /// The text for the model.
    pub text: String,
    /// The rules in the text, in the order of delivery.
    pub applied: Vec<&'e Verdict<'r>>,
    /// The rules listed by name.
    pub offered: Vec<&'e Verdict<'r>>,
    /// The rules that the budget cut. Each is listed as an offer instead.
    pub omitted: Vec<&'e Verdict<'r>>,
    /// The estimated tokens of the text.
    pub tokens: usize,
}

/// How much may go into the prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// The most tokens, estimated; no limit if `None`.
    pub tokens: Option<usize>,
}

impl Budget {
    /// The most characters, estimated.
    pub fn characters(self) -> usize {
        self.tokens.map_or(usize::MAX, |tokens| tokens.saturating_mul(4))
    }
}

/// Writes the rules that apply and the offers.
#[must_use]
pub fn render<'e, 'r>(evaluation: &'e Evaluation<'r>, budget: Budget) -> Rendered<'e, 'r> {
    let is_offered = |verdict: &&Verdict<'_>| matches!(verdict.state, State::Offered);
    let offered: Vec<_> = evaluation.verdicts.iter().filter(is_offered).collect();
    let omitted = over_budget(&evaluation.stack_by_rank(), &offered, budget);
    let is_in = |verdict: &&Verdict| !omitted.iter().any(|cut| std::ptr::eq(cut.rule, verdict.rule));
    let applied: Vec<_> = evaluation.stack().filter(is_in).collect();

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
    push_more_skills(&mut text, evaluation, &offered);
    Rendered { tokens: estimate_tokens(&text), text, applied, offered, omitted }
}

/// Returns the line above a rule's text: its file, or the name of a remote entry.
pub fn header(rule: &Rule) -> &str {
    if rule.origin.format.id == FormatId::Remote { &rule.name } else { &rule.origin.display }
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

/// The heading of the offers.
const OFFERS: &str = "# Rules\nRead rule://<name> when working in a matching domain.";

/// Its second line, which identifies it.
pub(crate) const OFFERS_LINE: &str = "Read rule://<name> when working in a matching domain.";

/// Returns the offer of a rule on one line: `- name (glob, glob): description`. Reading that name returns this rule.
pub(crate) fn offer_line(rule: &Rule) -> String {
    let mut line = format!("- {}", rule.address());
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

/// Selects the rules to cut, lowest rank first, until the text fits. The offers count, and a rule that fits in the room that
/// is left is not cut. Mandatory rules are never cut.
fn over_budget<'e, 'r>(
    stack: &[&'e Verdict<'r>],
    offered: &[&'e Verdict<'r>],
    budget: Budget,
) -> Vec<&'e Verdict<'r>> {
    let Some(limit) = budget.tokens else { return Vec::new() };
    let offer = |verdict: &&Verdict<'_>| Size::of(&offer_line(verdict.rule)) + Size::of("\n");
    let blocks: Vec<Size> = stack.iter().map(|verdict| Size::of_block(verdict.rule)).collect();
    let offers: Vec<Size> = stack.iter().map(offer).collect();
    let listed = offered.iter().map(offer);
    let mut total = listed.chain(blocks.iter().copied()).fold(Size::default(), |sum, size| sum + size);
    let mut cut: Vec<usize> = Vec::new();
    let fits = |total: Size, cut: usize| {
        let has_offers = !offered.is_empty() || cut > 0;
        let heading = if has_offers { Size::of(OFFERS) + Size::of("\n\n") } else { Size::default() };
        (total + heading).tokens() <= limit
    };
    for at in (0..stack.len()).rev().filter(|at| !stack[*at].rule.is_mandatory) {
        if fits(total, cut.len()) {
            break;
        }
        total = total + offers[at] - blocks[at];
        cut.push(at);
    }
    // Highest rank first: what fits in the room that is left comes back.
    for at in cut.clone().into_iter().rev() {
        let whole = total + blocks[at] - offers[at];
        if fits(whole, cut.len() - 1) {
            total = whole;
            cut.retain(|other| *other != at);
        }
    }
    cut.iter().rev().map(|at| stack[*at]).collect()
}

/// The size of a text, which can be added without rounding.
#[derive(Clone, Copy, Debug, Default)]
struct Size {
    ascii: usize,
    others: usize,
}

impl Size {
    fn of(text: &str) -> Size {
        let ascii = text.bytes().filter(u8::is_ascii).count();
        Size { ascii, others: text.bytes().filter(|byte| *byte >= 0xc0).count() }
    }

    /// The size of a rule's block, with the space before it.
    fn of_block(rule: &Rule) -> Size {
        Size::of(header(rule)) + Size::of(&rule.readable()) + Size::of("\n\n\n")
    }

    fn tokens(self) -> usize {
        // There is no space before the first block.
        self.ascii.saturating_sub(2).div_ceil(4) + self.others
    }
}

impl Add for Size {
    type Output = Size;

    fn add(self, other: Size) -> Size {
        Size { ascii: self.ascii + other.ascii, others: self.others + other.others }
    }
}

impl Sub for Size {
    type Output = Size;

    fn sub(self, other: Size) -> Size {
        Size { ascii: self.ascii - other.ascii, others: self.others - other.others }
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
    let Size { ascii, others } = Size::of(text);
    ascii.div_ceil(4) + others
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
    /// The rule's name.
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
        let conditional = applied.iter().filter(|verdict| !verdict.because.is_empty());
        let rule = |verdict: &&Verdict<'_>| NoticeRule {
            name: verdict.rule.name.clone(),
            matched_conditions: matched(verdict),
        };
        let rules: Vec<NoticeRule> = conditional.map(rule).collect();
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
    use crate::evaluate::{Audience, evaluate};
    use crate::evidence::Evidence;
    use crate::parse::parse;
    use crate::resolve::{Switches, resolve};
    use crate::source::Source;

    #[test]
    fn nothing_is_cut_that_fits() {
        let rule = |name: &str, header: &str, size: usize| {
            let text = format!("---\n{header}\n---\n{}", "x".repeat(size));
            parse(Source::text(FormatId::Rulebook, &format!("{name}.md"), text)).entry
        };
        let rules = [
            rule("a", "alwaysApply: true\npriority: 90", 90),
            rule("b", "alwaysApply: true\npriority: 80", 400),
            rule("c", "alwaysApply: true\npriority: 70", 30),
            rule("d", "description: one", 10),
        ];
        let book = resolve(rules, &Switches::default());
        let evidence = Evidence::default();
        let evaluation = evaluate(&book, &evidence, Audience::any());
        let whole = render(&evaluation, Budget::default()).tokens;
        for tokens in 0..=whole {
            let rendered = render(&evaluation, Budget { tokens: Some(tokens) });
            let ids: Vec<&str> = rendered.omitted.iter().map(|verdict| verdict.rule.id.as_str()).collect();
            assert!(
                rendered.tokens <= tokens || ids == ["a", "b", "c"],
                "{tokens}: {} {ids:?}",
                rendered.tokens
            );
            if tokens == whole {
                assert!(ids.is_empty(), "{ids:?}");
            }
            // The large rule leaves its room to the small one below it.
            if tokens == whole - 50 {
                assert_eq!(ids, ["b"], "{}", rendered.text);
            }
        }
    }

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
