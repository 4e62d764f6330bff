//! `content`: a regular expression matches in the text of a file in evidence, or a node of its syntax tree does.

use super::facts::{Facts, TOO_MUCH};
use super::kind::{Condition, ConditionKind, ConditionResult, Needs, Test};
use super::regexes::{Pattern, RegexBudget};
use super::value::Report;
use crate::diagnostic::{Code, shown};
use crate::frontmatter::{Node, Value};
use crate::syntax::{self, MAX_TEXT, NodeMatch, SyntaxTrigger};

pub(super) const KIND: ConditionKind = ConditionKind {
    key: "content",
    holds: "a regular expression or an `{ast: …}` pattern matches in the first MiB of a file in evidence",
    fact: None,
    build: |kind, node, _, report| {
        let mut content = Content::default();
        content.read(node, &mut RegexBudget::default(), report);
        let is_empty = content.patterns.is_empty() && content.triggers.is_empty();
        (!is_empty).then(|| Condition::new(kind.key, content))
    },
};

#[derive(Debug, Default)]
struct Content {
    patterns: Vec<Pattern>,
    triggers: Vec<SyntaxTrigger>,
}

impl Content {
    /// Reads a regular expression, a map with `ast`, or a list of both.
    fn read(&mut self, node: &Node, budget: &mut RegexBudget, report: &mut Report<'_>) {
        match &node.value {
            Value::List(items) => {
                for item in items {
                    match &item.value {
                        Value::Text(_) | Value::Map(_) => self.read(item, budget, report),
                        other => {
                            let message =
                                format!("each item must be text or `{{ast: …}}`, found {}", other.kind());
                            report(Code::WrongType, item.span.clone(), message);
                        }
                    }
                }
            }
            Value::Map(fields) => {
                for field in fields {
                    match (field.key.as_str(), &field.node.value) {
                        ("ast", Value::List(items)) => {
                            items.iter().for_each(|item| self.trigger(item, report));
                        }
                        ("ast", _) => self.trigger(&field.node, report),
                        (key, _) => {
                            let message = format!("there is no key `{}`; it is ignored", shown(key));
                            report(Code::UnknownKey, field.key_span.clone(), message);
                        }
                    }
                }
            }
            _ => self.patterns.extend(Pattern::read_all(node, budget, report)),
        }
    }

    fn trigger(&mut self, node: &Node, report: &mut Report<'_>) {
        match syntax::read(node) {
            Ok(trigger) => self.triggers.push(trigger),
            Err(problem) => report(problem.code, problem.span, problem.message),
        }
    }

    /// The first node that a trigger matches in each file, as positions in the evidence with what is shown; and why some file
    /// was not judged.
    fn nodes(&self, facts: &Facts<'_>, trigger: &SyntaxTrigger) -> (Vec<(usize, String)>, Option<String>) {
        let evidence = facts.evidence;
        let (mut found, mut unknown) = (Vec::new(), None);
        for (at, text) in &evidence.contents {
            let path = &evidence.paths[*at].path;
            let Some(grammar) = trigger.grammar(path) else { continue };
            if !facts.may_inspect(text.len()) {
                unknown = Some(TOO_MUCH.to_owned());
                continue;
            }
            if !trigger.may_match(text) {
                continue;
            }
            let Some(parser) = &evidence.parser else {
                unknown = Some("nothing parses code here".to_owned());
                continue;
            };
            // Only the beginning of a longer file was read.
            if text.len() >= MAX_TEXT {
                unknown = Some(format!("`{path}` is over 1 MiB and is not judged"));
                continue;
            }
            match parser.0.find(trigger, grammar, text) {
                Ok(nodes) => found.extend(nodes.first().map(|node| (*at, shown_node(trigger, text, node)))),
                Err(why) => unknown = Some(why),
            }
        }
        (found, unknown)
    }
}

/// A node, for people: what it was to match, and what it is.
fn shown_node(trigger: &SyntaxTrigger, text: &str, node: &NodeMatch) -> String {
    let line = text[..node.range.start.min(text.len())].matches('\n').count() + 1;
    format!("{} ({}, line {line})", trigger.written, node.kind)
}

impl Test for Content {
    fn evaluate(&self, facts: &Facts<'_>) -> ConditionResult {
        let texts = &facts.evidence.contents;
        if texts.is_empty() {
            return ConditionResult::not_known("file content");
        }
        let (mut seen, mut matched, mut unknown) = (Vec::new(), Vec::new(), None);
        for pattern in &self.patterns {
            let before = seen.len();
            for (at, text) in texts {
                if !facts.may_inspect(text.len()) {
                    unknown = Some(TOO_MUCH.to_owned());
                } else if pattern.is_match(text) {
                    seen.push(*at);
                }
            }
            if seen.len() > before {
                matched.push(pattern.as_str().to_owned());
            }
        }
        for trigger in &self.triggers {
            let (nodes, why) = self.nodes(facts, trigger);
            matched.extend(nodes.first().map(|(_, shown)| shown.clone()));
            seen.extend(nodes.iter().map(|(at, _)| *at));
            unknown = unknown.or(why);
        }
        seen.sort_unstable();
        seen.dedup();
        match unknown {
            _ if !seen.is_empty() => ConditionResult { seen, ..ConditionResult::yes(matched) },
            Some(why) => ConditionResult::unknown(why),
            None => {
                let wanted = self.wanted().join("`, `");
                ConditionResult::no(format!("no file in evidence contains `{wanted}`"))
            }
        }
    }

    fn needs(&self) -> Needs {
        Needs { content: true, syntax: !self.triggers.is_empty(), ..Needs::default() }
    }

    fn wanted(&self) -> Vec<&str> {
        let triggers = self.triggers.iter().map(|trigger| trigger.written.as_str());
        self.patterns.iter().map(Pattern::as_str).chain(triggers).collect()
    }

    fn syntax(&self) -> &[SyntaxTrigger] {
        &self.triggers
    }
}
