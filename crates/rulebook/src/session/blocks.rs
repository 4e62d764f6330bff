//! Blocks: rules handed to the model beside the conversation, as a hook does, within what the host takes.

use crate::evaluate::{Reason, Verdict};
use crate::evidence::Evidence;
use crate::hidden::visible_line;
use crate::render::offer_line;
use crate::rule::Rule;
use crate::source::Scope;
use crate::stream::policy::{RULE_TAG, attribute, escape_tags};

/// A text for the model, and what went into it.
#[derive(Clone, Debug)]
pub struct Blocks<'e, 'r> {
    /// What the model is given: which rules, then each with where it comes from and why.
    pub text: String,
    /// Rules whose text is in it.
    pub whole: Vec<&'e Verdict<'r>>,
    /// Rules that did not fit; each left its offer line.
    pub cut: Vec<&'e Verdict<'r>>,
}

/// How many characters may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cap {
    /// What the host takes: it cuts what is longer.
    Host(usize),
    /// What the settings want: rules that nobody may switch off go beyond it.
    Budget(usize),
}

/// Writes rules, in order, as long as they fit; those that do not leave their offer line, and then come the offers. Lines
/// that do not fit either are counted. What nobody may switch off has its room before all others. Nothing where there is
/// nothing to write.
pub fn blocks<'e, 'r>(
    rules: &[&'e Verdict<'r>],
    offers: &[&'r Rule],
    evidence: &Evidence,
    cap: Cap,
) -> Option<Blocks<'e, 'r>> {
    if rules.is_empty() && offers.is_empty() {
        return None;
    }
    let (Cap::Host(most) | Cap::Budget(most)) = cap;
    let mut left = most.saturating_sub(HEAD);
    let mut texts = Vec::new();
    let (mut whole, mut cut) = (Vec::new(), Vec::new());
    let (held, rest): (Vec<_>, Vec<_>) = rules.iter().copied().partition(|verdict| verdict.rule.is_mandatory);
    for verdict in held {
        let room = if matches!(cap, Cap::Host(_)) { left } else { usize::MAX };
        let Some((text, size)) = fitting(verdict, evidence, room) else {
            cut.push(verdict);
            continue;
        };
        left = left.saturating_sub(size);
        texts.push(text);
        whole.push(verdict);
    }
    // What may be asked for leaves half of the room to what applies.
    let reserved: usize = offers.iter().map(|rule| line_size(&offer_line(rule))).sum();
    let lines: usize = cut.iter().map(|verdict| line_size(&offer_line(verdict.rule))).sum();
    let mut room = (left - reserved.min(left / 2)).saturating_sub(lines);
    for verdict in rest {
        if let Some((text, size)) = fitting(verdict, evidence, room) {
            room -= size;
            left -= size;
            texts.push(text);
            whole.push(verdict);
        } else {
            room = room.saturating_sub(line_size(&offer_line(verdict.rule)));
            cut.push(verdict);
        }
    }
    let mut parts = Vec::new();
    if !whole.is_empty() {
        let names: Vec<&str> = whole.iter().map(|verdict| verdict.rule.name.as_str()).collect();
        parts.push(format!(
            "Rules that the user keeps for this work and that apply now: {}.",
            escape_tags(&names.join(", "))
        ));
        parts.extend(texts);
    }
    parts.extend(further(cut.iter().map(|verdict| verdict.rule).chain(offers.iter().copied()), left));
    let mut text = parts.join("\n\n");
    if let (Cap::Host(_), Some((at, _))) = (cap, text.char_indices().nth(most)) {
        text.truncate(at);
    }
    Some(Blocks { text, whole, cut })
}

/// A rule's block and what it takes, its name at the top counted in, if there is room.
fn fitting(verdict: &Verdict<'_>, evidence: &Evidence, room: usize) -> Option<(String, usize)> {
    // A block is longer than its body: most that do not fit need not be written to know it.
    let text = (length(&verdict.rule.body) < room).then(|| block(verdict, evidence))?;
    let size = length(&text) + length(&verdict.rule.name) + 4;
    (size <= room).then_some((text, size))
}

/// The offer lines that fit, and how many do not.
fn further<'r>(rules: impl Iterator<Item = &'r Rule>, mut room: usize) -> Option<String> {
    let mut rules = rules.peekable();
    rules.peek()?;
    let mut text = OFFERS.to_owned();
    while let Some(rule) = rules.peek() {
        let line = offer_line(rule);
        if line_size(&line) > room {
            let more = rules.count();
            text.push_str(&format!("\n- and {more} more, which `rulebook status` lists"));
            break;
        }
        room -= line_size(&line);
        text.push('\n');
        text.push_str(&line);
        rules.next();
    }
    Some(text)
}

/// What stands above the offers.
const OFFERS: &str = "Further rules, by name: `rulebook read NAME`, or rule://NAME, gives the text of one.";

/// Room for the lines that are not rules.
const HEAD: usize = 250;

/// What a line takes, with its end.
fn line_size(line: &str) -> usize {
    length(line) + 1
}

fn length(text: &str) -> usize {
    text.chars().count()
}

fn block(verdict: &Verdict<'_>, evidence: &Evidence) -> String {
    let rule = verdict.rule;
    let whose = match rule.origin.scope {
        Scope::Workspace => "this repository",
        Scope::Extra => "a folder named in the settings",
        Scope::Remote => "the organisation",
        Scope::User => "the user",
    };
    let from = attribute(&format!("{} of {whose}", rule.origin.display));
    let because = attribute(&because(verdict, evidence));
    let name = attribute(&rule.name);
    let body = escape_tags(&rule.body);
    format!("<{RULE_TAG} name=\"{name}\" from=\"{from}\" because=\"{because}\">\n{body}\n</{RULE_TAG}>")
}

/// Why a rule without conditions came on.
pub(super) const ALWAYS: &str = "always on";

/// Why a rule came on, in a few words: `apps/web/a.tsx matches apps/web/**`.
pub fn because(verdict: &Verdict<'_>, evidence: &Evidence) -> String {
    if verdict.because.is_empty() {
        return ALWAYS.to_owned();
    }
    let one = |reason: &Reason| {
        let wanted = reason.matched.join(", ");
        match reason.seen.first().map(|at| visible_line(&evidence.paths[*at].path)) {
            Some(path) if reason.condition == "folder" => format!("{path} lies in {wanted}"),
            Some(path) => format!("{path} matches {wanted}"),
            None => format!("{} {wanted}", reason.condition),
        }
    };
    verdict.because.iter().map(one).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::{State, evaluate};
    use crate::format::FormatId;
    use crate::parse::{Entry, parse};
    use crate::resolve::{Switches, resolve};
    use crate::source::Source;

    fn entry(name: &str, header: &str, body: &str) -> Entry {
        let text = format!("---\n{header}\n---\n{body}");
        parse(Source::text(FormatId::Rulebook, &format!("{name}.md"), text)).entry
    }

    /// Gives the sizes of rules that apply, how many can be asked for, and a cap; wants how many are whole, how many are
    /// cut, and how the text ends.
    #[track_caller]
    fn check(sizes: &[usize], offered: usize, cap: usize, whole: usize, cut: usize, end: &str) {
        let body = |at: usize, size: &usize| format!("{at:03}").repeat(*size)[..*size].to_owned();
        let applied = sizes
            .iter()
            .enumerate()
            .map(|(at, size)| entry(&format!("r{at:03}"), "alwaysApply: true", &body(at, size)));
        let offers = (0..offered)
            .map(|at| entry(&format!("o{at:03}"), "description: \"for: one\"", &format!("text {at}")));
        let book = resolve(applied.chain(offers), &Switches::default());
        let evidence = Evidence::default();
        let verdicts = evaluate(&book, &evidence).verdicts;
        let rules: Vec<_> = verdicts.iter().filter(|verdict| matches!(verdict.state, State::Stack)).collect();
        let offers = verdicts.iter().filter(|verdict| matches!(verdict.state, State::Offered));
        let offers: Vec<&Rule> = offers.map(|verdict| verdict.rule).collect();
        assert_eq!((rules.len(), offers.len()), (sizes.len(), offered));
        let blocks = blocks(&rules, &offers, &evidence, Cap::Host(cap)).unwrap();
        assert_eq!((blocks.whole.len(), blocks.cut.len()), (whole, cut), "{}", blocks.text);
        assert!(length(&blocks.text) <= cap, "{} of {cap}", length(&blocks.text));
        assert!(blocks.text.ends_with(end), "{}", blocks.text);
    }

    #[test]
    fn rules_that_do_not_fit_leave_a_line_and_what_has_no_line_is_counted() {
        check(&[10, 10], 0, 10_000, 2, 0, "0010010010\n</rulebook-rule>");
        check(&[10, 10], 1, 10_000, 2, 0, "\n- o000: for: one");
        check(&[10, 9_990, 10], 0, 10_000, 2, 1, "gives the text of one.\n- r001");
        check(&[10, 9_990, 10], 1, 10_000, 2, 1, "\n- r001\n- o000: for: one");
        check(&[1_000; 30], 0, 2_000, 1, 29, "\n- r029");
        check(&[1_000; 300], 0, 2_000, 1, 299, "more, which `rulebook status` lists");
    }

    #[test]
    fn what_may_be_asked_for_leaves_room_to_what_applies() {
        check(&[300; 4], 1_000, 4_000, 4, 0, "more, which `rulebook status` lists");
    }

    #[test]
    fn what_nobody_may_switch_off_has_its_room_first_and_no_budget() {
        #[track_caller]
        fn check(cap: Cap, want: &[&str]) {
            let mut held = entry("held", "alwaysApply: true", &"h".repeat(6_000));
            let Entry::Rule(rule) = &mut held else { panic!("{held:?}") };
            rule.is_mandatory = true;
            let offers = (0..60).map(|at| {
                entry(&format!("o{at}"), &format!("description: {}", "d".repeat(150)), &format!("text {at}"))
            });
            let other = entry("other", "alwaysApply: true", "Short.");
            let book = resolve(offers.chain([other, held]), &Switches::default());
            let evidence = Evidence::default();
            let verdicts = evaluate(&book, &evidence).verdicts;
            let rules: Vec<_> =
                verdicts.iter().filter(|verdict| matches!(verdict.state, State::Stack)).collect();
            let offers = verdicts.iter().filter(|verdict| matches!(verdict.state, State::Offered));
            let offers: Vec<&Rule> = offers.map(|verdict| verdict.rule).collect();
            let blocks = blocks(&rules, &offers, &evidence, cap).unwrap();
            let whole: Vec<&str> = blocks.whole.iter().map(|verdict| verdict.rule.name.as_str()).collect();
            assert_eq!(whole, want, "{}", blocks.text);
            assert!(
                blocks.text.ends_with("which `rulebook status` lists") || cap == Cap::Host(100),
                "{}",
                blocks.text
            );
        }
        check(Cap::Host(10_000), &["held", "other"]);
        check(Cap::Host(6_500), &["held"]);
        check(Cap::Host(100), &[]);
        check(Cap::Budget(10_000), &["held", "other"]);
        check(Cap::Budget(4), &["held"]);
        check(Cap::Budget(0), &["held"]);
    }

    #[test]
    fn no_cap_is_too_small() {
        for cap in 0..400 {
            check(&[1_000], 0, cap, 0, 1, if cap < 257 { "" } else { "- r000" });
            let is_between = (257..270).contains(&cap);
            check(
                &[1_000],
                1,
                cap,
                0,
                1,
                if is_between { "and 1 more, which `rulebook status` lists" } else { "" },
            );
        }
    }
}
