//! `bad-syntax-rule`: a pattern on syntax trees that cannot match: it is invalid, or the rule is about files without a grammar.

use std::collections::HashSet;

use super::page::Page;
use super::surroundings::Surroundings;
use crate::diagnostic::{Code, Diagnostic};
use crate::rule::Rule;
use crate::syntax::{LANGUAGES, SyntaxTrigger};

pub(super) fn lint(page: &Page<'_>, around: &Surroundings<'_>, diagnostics: &mut Vec<Diagnostic>) {
    // Without the file, it is not known where the header is.
    if !page.is_whole() {
        return;
    }
    for trigger in triggers(page.rule) {
        let report = |message| page.report(Code::BadSyntaxRule, trigger.span.clone(), message);
        let wanted = extensions(page.rule);
        let mut grammars: Vec<&str> = match &wanted {
            Some(wanted) => wanted.iter().filter_map(|one| trigger.grammar(&format!("x.{one}"))).collect(),
            None => trigger.grammars(),
        };
        let mut seen = HashSet::new();
        grammars.retain(|grammar| seen.insert(*grammar));
        if grammars.is_empty() {
            let wanted = wanted.unwrap_or_default().join("`, `.");
            let message = match trigger.language {
                Some(language) => format!(
                    "files that end in `.{wanted}` are not read as {}: it never matches",
                    language.names[0]
                ),
                None => format!(
                    "there is no grammar for files that end in `.{wanted}`: this trigger never matches"
                ),
            };
            let known: Vec<&str> = LANGUAGES.iter().map(|one| one.names[0]).collect();
            diagnostics.push(report(message).help(format!("there are grammars for {}", known.join(", "))));
            continue;
        }
        let Some(parser) = around.parser else { continue };
        // A pattern for one of several languages is fine.
        let problems: Vec<String> =
            grammars.iter().filter_map(|grammar| parser.problem(trigger, grammar)).collect();
        if problems.len() == grammars.len() {
            let mut problem = problems[0].trim_end_matches('.').chars();
            let first = problem.next().map(|first| first.to_lowercase().to_string()).unwrap_or_default();
            let message = format!("this trigger never matches: {first}{}", problem.as_str());
            diagnostics.push(report(message).help(
                "write a `pattern` that is valid code by itself, in which `$A` is any node and `$$$` any number of them, or a `kind` of the grammar",
            ));
        }
    }
}

fn triggers(rule: &Rule) -> impl Iterator<Item = &SyntaxTrigger> {
    let stream = rule.stream.iter().flat_map(|trigger| &trigger.syntax);
    stream.chain(rule.conditions.iter().flat_map(|condition| condition.syntax()))
}

/// The extensions of the files that a rule is about, if its patterns name them all.
fn extensions(rule: &Rule) -> Option<Vec<&str>> {
    let included = rule.globs.iter().filter(|glob| !glob.starts_with('!'));
    let mut extensions: Vec<&str> = Vec::new();
    for glob in included {
        let (_, end) = glob.rsplit('/').next()?.rsplit_once('.')?;
        let inner = end.strip_prefix('{').and_then(|end| end.strip_suffix('}')).unwrap_or(end);
        for extension in inner.split(',').map(str::trim) {
            if extension.is_empty() || !extension.chars().all(char::is_alphanumeric) {
                return None;
            }
            extensions.push(extension);
        }
    }
    (!extensions.is_empty()).then_some(extensions)
}
