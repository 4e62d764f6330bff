mod calls;
mod chunks;
mod limits;
mod text;

use proptest::prelude::*;

use super::*;
use crate::evidence::{Root, Roots};
use crate::format::FormatId;
use crate::parse::{Entry, parse};
use crate::rule::Rule;
use crate::source::{Origin, Source};
use crate::work;

/// A native rule with a trigger and further lines of its header.
fn rule(name: &str, condition: &str, more: &str) -> Rule {
    nested("", name, condition, more)
}

fn nested(folder: &str, name: &str, condition: &str, more: &str) -> Rule {
    rule_in(0, folder, name, condition, more)
}

fn rule_in(root: usize, folder: &str, name: &str, condition: &str, more: &str) -> Rule {
    let path = format!(".rulebook/rules/{name}.md");
    let origin = Origin { root, folder: folder.to_owned(), ..Origin::named(FormatId::Rulebook, &path) };
    let condition = condition.replace('\'', "''");
    let text = Ok(format!("---\ncondition: '{condition}'\n{more}---\nbody").into());
    match parse(Source { origin, text }).entry {
        Entry::Rule(rule) if rule.stream.is_some() => *rule,
        other => panic!("{other:?}"),
    }
}

fn monitor(rules: &[Rule]) -> Monitor {
    let roots = Roots { roots: vec![Root { path: "/repo".to_owned(), ..Root::default() }], home: None };
    Monitor::new(rules.iter().filter_map(Rule::stream_rule), roots)
}

fn shown(hits: &[Hit]) -> Vec<String> {
    let place = |hit: &Hit| {
        let parts = [Some(hit.scope.name()), hit.tool.as_deref(), hit.field.as_deref(), hit.file.as_deref()];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
    };
    hits.iter()
        .map(|hit| {
            format!("{} {}..{} l{} {:?} {}", hit.rule, hit.start, hit.end, hit.line, hit.text, place(hit))
        })
        .collect()
}

/// Feeds chunks and finishes the stream.
fn run(rules: &[Rule], kind: &StreamKind, chunks: &[&[u8]]) -> Vec<Hit> {
    let mut monitor = monitor(rules);
    let mut hits: Vec<Hit> = chunks.iter().flat_map(|chunk| monitor.feed("s", kind, chunk)).collect();
    hits.extend(monitor.finish("s"));
    hits
}

fn tool(rules: &[Rule], name: &str, arguments: &str) -> Vec<String> {
    shown(&run(rules, &StreamKind::Tool(name.to_owned()), &[arguments.as_bytes()]))
}

/// The sizes of chunks.
pub(super) fn sizes() -> impl Strategy<Value = Vec<usize>> {
    prop_oneof![
        Just(vec![1]),
        prop::collection::vec(0..6usize, 1..9),
        prop::collection::vec(0..80usize, 1..9)
    ]
}
