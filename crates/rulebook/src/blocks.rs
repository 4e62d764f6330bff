//! Blocks: rules handed to the model beside the conversation, as a hook does, within what the host takes.

use crate::evaluate::{Reason, Verdict};
use crate::evidence::Evidence;
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

/// Writes rules, in order, as long as they fit `cap` characters; those that do not leave their offer line, and then come
/// the offers. Nothing where there is nothing to write.
pub fn blocks<'e, 'r>(
    rules: &[&'e Verdict<'r>],
    offers: &[&'r Rule],
    evidence: &Evidence,
    cap: usize,
) -> Option<Blocks<'e, 'r>> {
    if rules.is_empty() && offers.is_empty() {
        return None;
    }
    let mut lines: Vec<String> = offers.iter().map(|rule| offer_line(rule)).collect();
    let mut room = cap.saturating_sub(HEAD + lines.iter().map(|line| length(line) + 1).sum::<usize>());
    let mut texts = Vec::new();
    let (mut whole, mut cut) = (Vec::new(), Vec::new());
    // What nobody may switch off has its room before the rest.
    let (mut ordered, rest): (Vec<_>, Vec<_>) =
        rules.iter().copied().partition(|verdict| verdict.rule.always_enabled);
    ordered.extend(rest);
    for verdict in ordered {
        let text = block(verdict, evidence);
        let size = length(&text) + length(&verdict.rule.name) + 4;
        if size <= room {
            room -= size;
            texts.push(text);
            whole.push(verdict);
        } else {
            let line = offer_line(verdict.rule);
            room = room.saturating_sub(length(&line) + 1);
            lines.push(line);
            cut.push(verdict);
        }
    }
    let mut parts = Vec::new();
    if !whole.is_empty() {
        let names: Vec<&str> = whole.iter().map(|verdict| verdict.rule.name.as_str()).collect();
        parts.push(format!(
            "Rules that the user keeps for this work and that apply now: {}.",
            names.join(", ")
        ));
        parts.extend(texts);
    }
    if !lines.is_empty() {
        parts.push(format!("{OFFERS}\n{}", lines.join("\n")));
    }
    let text = parts.join("\n\n");
    let text = text[..text.char_indices().nth(cap).map_or(text.len(), |(at, _)| at)].to_owned();
    Some(Blocks { text, whole, cut })
}

/// What stands above the offers.
const OFFERS: &str = "Further rules, by name: `rulebook read NAME`, or rule://NAME, gives the text of one.";

/// Room for the lines that are not rules.
const HEAD: usize = 200;

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
pub const ALWAYS: &str = "always on";

/// Why a rule came on, in a few words: `apps/web/a.tsx matches apps/web/**`.
pub fn because(verdict: &Verdict<'_>, evidence: &Evidence) -> String {
    if verdict.because.is_empty() {
        return ALWAYS.to_owned();
    }
    let one = |reason: &Reason| {
        let wanted = reason.matched.join(", ");
        match reason.seen.first().map(|at| evidence.paths[*at].path.as_str()) {
            Some(path) if reason.condition == "folder" => format!("{path} lies in {wanted}"),
            Some(path) => format!("{path} matches {wanted}"),
            None => format!("{} {wanted}", reason.condition),
        }
    };
    verdict.because.iter().map(one).collect::<Vec<_>>().join("; ")
}
