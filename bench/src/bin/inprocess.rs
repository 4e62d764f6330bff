//! Measures the engine without disk or process: parsing, building globs, evaluating.

use std::time::Duration;

use rulebook::evaluate::{Audience, evaluate};
use rulebook::evidence::{Evidence, Seen, Via};
use rulebook::format::{FORMATS, Place};
use rulebook::frontmatter;
use rulebook::glob::{Dialect, Glob};
use rulebook::parse::{Parsed, parse};
use rulebook::resolve::{Rulebook, Switches, resolve};
use rulebook::source::Source;
use rulebook_bench::corpus::{self, RuleFile};
use rulebook_bench::sample::Sample;

const RULES: usize = 5000;
const ROUNDS: usize = 7;

fn main() {
    let files = corpus::rule_files(RULES);
    let sources: Vec<Source> = files.iter().map(source).collect();
    reading(&sources);
    let book = book(&sources);
    globs(&book);
    let paths = corpus::paths();
    println!(
        "\n{:<24} {:>9} {:>9} {:>14} {:>16}",
        "evaluate", "min ms", "median", "ns per pattern", "ns per (p, path)"
    );
    for rules in [625, 1250, 2500, 5000] {
        evaluating(&self::book(&sources[..rules]), &paths);
    }
    for count in [12, 25, 50, 100] {
        evaluating(&book, &paths[..count]);
    }
}

/// A rule file as discovery returns it.
fn source(file: &RuleFile) -> Source {
    let is_in = |place: &Place| file.path.strip_prefix(place.path).is_some_and(|rest| rest.starts_with('/'));
    let format = FORMATS.iter().find(|format| format.workspace.iter().any(is_in));
    Source::text(format.expect("every rule file is in a known folder").id, &file.path, file.text.clone())
}

fn book(sources: &[Source]) -> Rulebook {
    resolve(sources.iter().cloned().map(|source| parse(source).entry), &Switches::default())
}

fn evidence(paths: &[String]) -> Evidence {
    let seen = |path: &String| Seen { path: path.clone(), root: 0, sources: vec![Via::Tab] };
    let mut paths: Vec<Seen> = paths.iter().map(seen).collect();
    paths.sort();
    Evidence { paths, ..Evidence::default() }
}

fn reading(sources: &[Source]) {
    let copies = || Sample::of(ROUNDS, || sources.to_vec());
    let headers = Sample::of(ROUNDS, || {
        let read = |source: &Source| {
            let text = source.text.as_deref().unwrap_or_default();
            source.origin.format.tier.map_or(0, |tier| frontmatter::read(text, tier).problems.len())
        };
        sources.iter().map(read).sum::<usize>()
    });
    // Parsing consumes its source; the cost of the copy is subtracted.
    let whole = Sample::of(ROUNDS, || sources.iter().cloned().map(parse).collect::<Vec<Parsed>>());
    let copies = copies();
    let each = |took: Duration| took.as_nanos() / sources.len() as u128;
    println!("{:<24} {:>9} {:>9}", "parse", "min ns", "median per file");
    for (name, min, median) in [
        (
            "whole file",
            whole.min().saturating_sub(copies.min()),
            whole.median().saturating_sub(copies.median()),
        ),
        ("  header only", headers.min(), headers.median()),
    ] {
        println!("{name:<24} {:>9} {:>9}", each(min), each(median));
    }
}

fn patterns(book: &Rulebook) -> Vec<&str> {
    book.rules().flat_map(|(rule, _)| &rule.globs).map(String::as_str).collect()
}

fn globs(book: &Rulebook) {
    let patterns = patterns(book);
    let built = Sample::of(ROUNDS, || {
        patterns.iter().map(|pattern| Glob::new(pattern, Dialect::Picomatch)).collect::<Vec<_>>()
    });
    let each = |took: Duration| took.as_nanos() / patterns.len() as u128;
    println!("{:<24} {:>9} {:>9}", "build a glob", each(built.min()), each(built.median()));
}

fn evaluating(book: &Rulebook, paths: &[String]) {
    let evidence = evidence(paths);
    let took = Sample::of(ROUNDS, || evaluate(book, &evidence, Audience::any()));
    let patterns = patterns(book).len();
    let name = format!("{} rules x {} paths", book.rules().len(), paths.len());
    let per = |count: usize| took.min().as_nanos() as f64 / count as f64;
    println!(
        "{name:<24} {:>9.3} {:>9.3} {:>14.1} {:>16.2}",
        took.min().as_secs_f64() * 1e3,
        took.median().as_secs_f64() * 1e3,
        per(patterns),
        per(patterns * paths.len())
    );
}
