//! The budget of a prompt: which rules are only offered by name, so that the text fits.

use std::ops::{Add, Sub};

use super::line::{OFFERS, header, offer_line};
use crate::evaluate::{Evaluation, Verdict};
use crate::rule::Rule;

/// How much may go into the prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// The most tokens, estimated; no limit if `None`.
    pub tokens: Option<usize>,
}

/// Why a rule that applies is only offered.
pub const OVER_BUDGET: &str = "over the budget";

impl Evaluation<'_> {
    /// Cuts rules that exceed a budget: each is offered by name instead. Only what `is_delivered` counts, and only that is
    /// cut: the rest is in an agent's context without Rulebook.
    #[must_use]
    pub fn within(mut self, budget: Budget, is_delivered: impl Fn(&Verdict<'_>) -> bool) -> Self {
        let Some(limit) = budget.tokens else { return self };
        let stack = self.stack_by_rank();
        let stack: Vec<usize> = stack.into_iter().filter(|at| is_delivered(&self.verdicts[*at])).collect();
        let rules: Vec<&Rule> = stack.iter().map(|at| self.verdicts[*at].rule).collect();
        let offers = self.offers().into_iter().filter(|offer| is_delivered(offer)).map(|offer| offer.rule);
        let cut: Vec<usize> = over(limit, &rules, &offers.collect::<Vec<_>>());
        self.cut(cut.into_iter().map(|at| stack[at]));
        self
    }
}

/// Selects the rules to cut, lowest rank first, until the text fits. The offers count, and a rule that fits in the room that
/// is left is not cut. Mandatory rules are never cut.
fn over(limit: usize, stack: &[&Rule], offered: &[&Rule]) -> Vec<usize> {
    let offer = |rule: &&Rule| Size::of(&offer_line(rule)) + Size::of("\n");
    let blocks: Vec<Size> = stack.iter().map(|rule| Size::of_block(rule)).collect();
    let offers: Vec<Size> = stack.iter().map(offer).collect();
    let listed = offered.iter().map(offer);
    let mut total = listed.chain(blocks.iter().copied()).fold(Size::default(), |sum, size| sum + size);
    let mut cut: Vec<usize> = Vec::new();
    let fits = |total: Size, cut: usize| {
        let has_offers = !offered.is_empty() || cut > 0;
        let heading = if has_offers { Size::of(OFFERS) + Size::of("\n\n") } else { Size::default() };
        (total + heading).tokens() <= limit
    };
    for at in (0..stack.len()).rev().filter(|at| !stack[*at].is_mandatory) {
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
    cut
}

/// The size of a text, which can be added without rounding.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Size {
    ascii: usize,
    others: usize,
}

impl Size {
    pub(super) fn of(text: &str) -> Size {
        let ascii = text.bytes().filter(u8::is_ascii).count();
        Size { ascii, others: text.bytes().filter(|byte| *byte >= 0xc0).count() }
    }

    /// The size of a rule's block, with the space before it.
    fn of_block(rule: &Rule) -> Size {
        Size::of(header(rule)) + Size::of(&rule.readable()) + Size::of("\n\n\n")
    }

    /// The tokens of a text of blocks.
    fn tokens(self) -> usize {
        // There is no space before the first block.
        Size { ascii: self.ascii.saturating_sub(2), ..self }.estimate()
    }

    /// The tokens of a text: four ASCII characters are one token, and so is any other character.
    pub(super) fn estimate(self) -> usize {
        self.ascii.div_ceil(4) + self.others
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::{Audience, evaluate};
    use crate::evidence::Evidence;
    use crate::format::FormatId;
    use crate::parse::{Entry, parse};
    use crate::render::render;
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
        let whole = render(&evaluation).tokens;
        for tokens in 0..=whole {
            let evaluation = evaluation.clone().within(Budget { tokens: Some(tokens) }, |_| true);
            let rendered = render(&evaluation);
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
    fn only_what_is_delivered_counts_and_mandatory_rules_are_not_cut() {
        let rule = |name: &str, is_mandatory: bool| {
            let text = format!("---\nalwaysApply: true\n---\n{name} {}", "x".repeat(400));
            let mut entry = parse(Source::text(FormatId::Rulebook, &format!("{name}.md"), text)).entry;
            let Entry::Rule(rule) = &mut entry else { panic!("{entry:?}") };
            rule.is_mandatory = is_mandatory;
            entry
        };
        let rules = [rule("own", false), rule("required", true), rule("rest", false)];
        let book = resolve(rules, &Switches::default());
        let evaluation = evaluate(&book, &Evidence::default(), Audience::any());
        let check = |tokens, want: &[&str]| {
            let is_added = |verdict: &Verdict<'_>| verdict.rule.id != "own";
            let within = evaluation.clone().within(Budget { tokens: Some(tokens) }, is_added);
            let stack: Vec<&str> = within.stack().map(|verdict| verdict.rule.id.as_str()).collect();
            assert_eq!(stack, want, "{tokens}");
        };
        check(300, &["own", "required", "rest"]);
        check(150, &["own", "required"]);
        check(0, &["own", "required"]);
    }
}
