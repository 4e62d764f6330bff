//! What a text brings along: rules that another program of Rulebook added to a message or returned, and the blocks around
//! the user's words.

use super::due::offers_delivery_of;
use super::event::Delivery;
use crate::evidence::without_generated;
use crate::own_text::{INTERRUPT_TAG, OwnText};
use crate::render::{header, offer_line};
use crate::rule::Rule;
use crate::stream::policy::{attribute, escape_tags};

/// Why a rule counts as delivered that came with the message.
const WITH_MESSAGE: &str = "in the message";

/// The deliveries of rules that a message contains because Rulebook added them. Anyone can write such a text, so it does not
/// stand for a mandatory rule unless Rulebook is known to relay the message.
pub fn carried<'r>(message: &str, rules: impl Iterator<Item = &'r Rule>, is_relayed: bool) -> Vec<Delivery> {
    let own = OwnText::of(message);
    if own == OwnText::default() {
        return Vec::new();
    }
    let delivery = |rule: &Rule| {
        let (name, body) = (attribute(rule.address()), rule.readable());
        let body = escape_tags(&body);
        let is_whole = own.rules.iter().any(|(known, text)| *known == name && *text == body);
        let is_listed = || own.listed.contains(&offer_line(rule).as_str());
        (is_whole || is_listed())
            .then(|| Delivery { offered: !is_whole, ..Delivery::of(rule, WITH_MESSAGE.to_owned()) })
    };
    let rules = rules.filter(|rule| is_relayed || !rule.is_mandatory);
    let offers = (!own.offers.is_empty()).then(|| offers_delivery_of(&own.offers));
    rules.filter_map(delivery).chain(offers).collect()
}

/// The deliveries of rules that the answer of a tool of ours contains whole: below their headers, or by themselves if the
/// tool was asked for them by name.
pub fn returned<'r>(
    answer: &str,
    rules: impl Iterator<Item = &'r Rule>,
    is_by_name: bool,
    because: &str,
) -> Vec<Delivery> {
    let has = |rule: &&Rule| {
        let body = rule.readable();
        let mut starts = line_starts(answer);
        let is_below = |line: &str| {
            let below = line.strip_prefix(header(rule)).and_then(|rest| rest.strip_prefix('\n'));
            below.is_some_and(|below| starts_with_lines(below, &body))
        };
        let is_there = |line: &str| if is_by_name { starts_with_lines(line, &body) } else { is_below(line) };
        !body.is_empty() && starts.any(is_there)
    };
    rules.filter(has).map(|rule| Delivery::of(rule, because.to_owned())).collect()
}

/// What follows each start of a line.
fn line_starts(text: &str) -> impl Iterator<Item = &str> {
    std::iter::once(text).chain(text.match_indices('\n').map(|(at, _)| &text[at + 1..]))
}

/// Whether a text starts with the lines of another, of which some may be indented by a space: those that look like headers.
fn starts_with_lines(text: &str, wanted: &str) -> bool {
    let mut lines = text.lines();
    wanted.trim_end().lines().all(|wanted| {
        lines.next().is_some_and(|line| line == wanted || line.strip_prefix(' ') == Some(wanted))
    })
}

/// Whether a message is not the user's, but asks the model again after an interrupt.
pub fn is_retry(message: &str) -> bool {
    message.contains(&format!("<{INTERRUPT_TAG} ")) && without_generated(message).trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::FormatId;
    use crate::own_text::{OFFERS, RULE_TAG};
    use crate::parse::{Entry, parse};
    use crate::source::Source;

    fn rule(name: &str, text: &str) -> Rule {
        match parse(Source::text(FormatId::Rulebook, &format!("{name}.md"), text.to_owned())).entry {
            Entry::Rule(rule) => *rule,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn only_the_whole_text_of_a_rule_counts_and_of_a_mandatory_one_only_from_a_relay() {
        let mut required = rule("b", "B");
        required.is_mandatory = true;
        let rules = [rule("a", "A"), required, rule("c", "C")];
        let block = |name: &str, body: &str| {
            format!("<{RULE_TAG} name=\"{name}\" from=\"x\" because=\"y\">\n{body}\n</{RULE_TAG}>")
        };
        let message = format!("go{}{}{}{OFFERS}\n- d", block("a", "A"), block("b", "B"), block("c", "other"));
        let names = |is_relayed: bool| {
            let deliveries = carried(&message, rules.iter(), is_relayed);
            deliveries.into_iter().map(|delivery| delivery.source).collect::<Vec<_>>()
        };
        assert_eq!(names(false), ["a.md", "offers"]);
        assert_eq!(names(true), ["a.md", "b.md", "offers"]);
        assert_eq!(carried("just words", rules.iter(), true), []);
    }

    #[test]
    fn an_answer_returns_the_rules_whose_whole_text_it_has() {
        let rules = [rule("a", "A\n\nb.md\nend"), rule("b", "two"), rule("c", "C")];
        #[track_caller]
        fn check(rules: &[Rule], answer: &str, is_by_name: bool, want: &[&str]) {
            let found = returned(answer, rules.iter(), is_by_name, "x");
            assert_eq!(found.iter().map(|found| found.source.as_str()).collect::<Vec<_>>(), want, "{answer}");
        }
        let why = "# Why\n- c (c.md): always on; given before";
        check(&rules, &format!("a.md\nA\n\n b.md\nend\n\nb.md\ntwo\n\n{why}"), false, &["a.md", "b.md"]);
        check(&rules, &format!("a.md\nA\n\n{why}"), false, &[]);
        check(&rules[1..2], "no rule named two", true, &[]);
        check(&rules[1..2], "Output:\ntwo\n", true, &["b.md"]);
        check(&rules[1..2], "two more", true, &[]);
    }

    #[test]
    fn a_retry_has_no_words_of_the_user() {
        let block = "<system-interrupt reason=\"x\">\ny\n</system-interrupt>";
        assert!(is_retry(block));
        assert!(!is_retry(&format!("and this {block}")));
        assert!(!is_retry(""));
    }
}
