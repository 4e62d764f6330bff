//! The nodes that syntax triggers and conditions match, in code as it is now.

use rulebook::rule::Rule;
use rulebook::syntax::{FileText, LANGUAGES, Language, NodeMatch, SyntaxTrigger};
use rulebook_workspace::Workspace;

/// More files are not searched, and more bytes of one not read.
const MAX_FILES: usize = 200;
const MAX_TEXT: usize = 1 << 20;

/// For each file, as displayed: the first node that the rule matches.
pub(super) fn in_files(workspace: &Workspace, rule: &Rule, files: &[String]) -> Vec<Option<String>> {
    let triggers: Vec<&SyntaxTrigger> = triggers(rule).collect();
    let Some(parser) = workspace.parser().filter(|_| !triggers.is_empty()) else {
        return vec![None; files.len()];
    };
    let roots = &workspace.roots.roots;
    let text = |file: &String| {
        let (root, path) = match file.split_once('/') {
            Some((name, path)) if roots.len() > 1 => (roots.iter().position(|root| root.name == name)?, path),
            _ => (0, file.as_str()),
        };
        if let FileText::Text(text) = parser.0.read(root, path, MAX_TEXT) { Some(text) } else { None }
    };
    let node = |(at, file): (usize, &String)| {
        let text = (at < MAX_FILES).then(|| text(file)).flatten()?;
        triggers.iter().find_map(|trigger| {
            let grammar = trigger.grammar(file).filter(|_| trigger.may_match(&text))?;
            let nodes = parser.0.find(trigger, grammar, &text).ok()?;
            nodes.first().map(|node| shown(&text, node))
        })
    };
    files.iter().enumerate().map(node).collect()
}

/// The first node of some code that a trigger matches: in its language, in those of the files that its rule is about, or in any.
pub(super) fn in_code(
    workspace: &Workspace,
    rule: &Rule,
    trigger: &SyntaxTrigger,
    text: &str,
) -> Option<String> {
    let parser = workspace.parser()?;
    let about = |language: &&Language| {
        let ends = |extension: &&str| rule.globs.iter().any(|glob| glob.ends_with(&format!(".{extension}")));
        language.extensions.iter().any(ends)
    };
    let named: Vec<&Language> = match trigger.language {
        Some(language) => vec![language],
        None => LANGUAGES.iter().filter(about).collect(),
    };
    let languages = if named.is_empty() { LANGUAGES.iter().collect() } else { named };
    // A rule object may be valid in some languages only.
    let found = languages.iter().filter_map(|one| parser.0.find(trigger, one.names[0], text).ok());
    let mut nodes = found.filter_map(|nodes| nodes.into_iter().next());
    nodes.next().map(|node| shown(text, &node))
}

fn triggers(rule: &Rule) -> impl Iterator<Item = &SyntaxTrigger> {
    let stream = rule.stream.iter().flat_map(|trigger| &trigger.syntax);
    stream.chain(rule.conditions.iter().flat_map(|condition| condition.syntax()))
}

/// A node, for people.
fn shown(text: &str, node: &NodeMatch) -> String {
    const MAX: usize = 80;
    let start = node.range.start.min(text.len());
    let code = text.get(node.range.clone()).unwrap_or_default();
    let first = code.lines().next().unwrap_or_default();
    let cut = &first[..first.floor_char_boundary(MAX)];
    let more = if cut.len() < code.len() { "…" } else { "" };
    format!("`{cut}{more}` ({}, line {})", node.kind, text[..start].matches('\n').count() + 1)
}
