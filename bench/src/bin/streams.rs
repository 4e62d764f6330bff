//! Measures stream rules: `streams FOLDER write` writes the input for the peer, `streams FOLDER` measures.

use std::fs;
use std::path::Path;

use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::util::syntax;
use regex_automata::{Input, MatchKind};
use rulebook::parse::{Parsed, parse};
use rulebook::rule::Rule;
use rulebook::source::Source;
use rulebook::stream::{Monitor, StreamKind};
use rulebook_bench::sample::{Parts, Sample, ms};
use rulebook_bench::stream::{arguments, conditions, in_lines, monitor, rules_of, source, text};

const ROUNDS: usize = 15;
const DELTA: usize = 6;
/// The length of text per measurement.
const PART: usize = 48_000;
/// The length of short lines.
const WIDTH: usize = 60;
const LENGTHS: [usize; 5] = [50_000, 100_000, 400_000, 1_000_000, 4_000_000];
/// The numbers of rules and bytes for the peer.
const PEER_RULES: usize = 20;
const PEER_LENGTH: usize = 100_000;

fn main() -> std::io::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let folder = Path::new(args.first().expect("streams FOLDER [write]"));
    if args.get(1).is_some_and(|word| word == "write") {
        fs::write(folder.join("conditions.txt"), conditions(PEER_RULES).join("\n"))?;
        return fs::write(folder.join("text.txt"), text(PEER_LENGTH));
    }
    let mut at_peer = None;
    for rules in [20, 200] {
        let rows = watching(&rules_of(rules));
        print_rows(rules, &rows);
        at_peer = at_peer.or_else(|| rows.into_iter().find(|row| row.length == PEER_LENGTH));
    }
    starting();
    reading();
    peer(&folder.join("peer.txt"), &at_peer.expect("the peer uses one of the lengths"));
    Ok(())
}

/// The results for one length of text.
#[derive(Default)]
struct Row {
    length: usize,
    cold: Parts,
    warm: Parts,
    whole: Parts,
    bare: Parts,
    /// The length of the arguments and their duration: for the text, for short lines, and for one line.
    calls: [(usize, Parts); 3],
}

/// Each round measures every length and every way once, so that other load affects all of them.
fn watching(rules: &[Rule]) -> Vec<Row> {
    let text = text(LENGTHS[LENGTHS.len() - 1]);
    let texts = LENGTHS.map(|length| &text[..text.floor_char_boundary(length)]);
    let calls = texts.map(|text| {
        [arguments(text), arguments(&in_lines(text, WIDTH)), arguments(&in_lines(text, usize::MAX))]
    });
    let mut bare = Bare::new(rules);
    let mut rows = LENGTHS.map(|length| Row { length, ..Row::default() });
    let tool = StreamKind::Tool("write".to_owned());
    for _ in 0..ROUNDS {
        for (row, (text, calls)) in rows.iter_mut().zip(std::iter::zip(&texts, &calls)) {
            let mut monitor = monitor(rules);
            stream(&mut row.cold, &mut monitor, &StreamKind::Text, text, DELTA);
            stream(&mut row.warm, &mut monitor, &StreamKind::Text, text, DELTA);
            stream(&mut row.whole, &mut monitor, &StreamKind::Text, text, PART);
            for ((length, took), call) in row.calls.iter_mut().zip(calls) {
                *length = call.len();
                // Other lines need other states.
                stream(&mut Parts::default(), &mut monitor, &tool, call, DELTA);
                stream(took, &mut monitor, &tool, call, DELTA);
            }
            row.bare.run(text.as_bytes().chunks(PART), |part| bare.search(part));
        }
    }
    rows.into()
}

/// One stream from its first delta to its end. There must be no hits, which would cost extra.
fn stream(took: &mut Parts, monitor: &mut Monitor, kind: &StreamKind, text: &str, delta: usize) {
    let mut hits = 0;
    took.run(text.as_bytes().chunks(PART), |part| {
        for bytes in part.chunks(delta) {
            hits += monitor.feed("message/0", kind, bytes).len();
        }
    });
    hits += monitor.finish("message/0").len();
    assert_eq!(hits, 0, "the text meets no condition");
}

/// The lower bound: the same patterns in the same automaton, one search over the whole text.
struct Bare {
    dfa: DFA,
    cache: Cache,
}

impl Bare {
    fn new(rules: &[Rule]) -> Bare {
        let patterns: Vec<&str> = rules
            .iter()
            .flat_map(|rule| &rule.stream.as_ref().expect("a trigger").conditions)
            .map(|pattern| pattern.regex.as_str())
            .collect();
        let dfa = DFA::builder()
            .configure(DFA::config().match_kind(MatchKind::All).cache_capacity(8 << 20))
            .syntax(syntax::Config::new().utf8(false))
            .build_many(&patterns)
            .expect("the monitor compiles the same patterns");
        let cache = dfa.create_cache();
        Bare { dfa, cache }
    }

    fn search(&mut self, text: &[u8]) {
        let found = self.dfa.try_search_fwd(&mut self.cache, &Input::new(text)).expect("it never gives up");
        assert!(found.is_none());
    }
}

fn print_rows(rules: usize, rows: &[Row]) {
    println!(
        "{rules} rules, ns a byte   cold    warm   whole    bare    JSON   short     one   warm/whole   JSON/warm   one/short"
    );
    let per = |took: &Parts, length: usize| took.sum().as_nanos() as f64 / length as f64;
    let call = |row: &Row, at: usize| per(&row.calls[at].1, row.calls[at].0);
    for row in rows {
        let [cold, warm, whole, bare] =
            [&row.cold, &row.warm, &row.whole, &row.bare].map(|took| per(took, row.length));
        let [json, short, one] = [0, 1, 2].map(|at| call(row, at));
        println!(
            "{:>13} KB {cold:>11.2} {warm:>7.2} {whole:>7.2} {bare:>7.2} {json:>7.2} {short:>7.2} {one:>7.2} {:>12.2} {:>11.2} {:>11.2}",
            row.length / 1000,
            warm / whole,
            json / warm,
            one / short
        );
    }
    let flat = |per_row: &dyn Fn(&Row) -> f64| {
        let all: Vec<f64> = rows.iter().map(per_row).collect();
        all.iter().copied().fold(0.0, f64::max) / all.iter().copied().fold(f64::MAX, f64::min) - 1.0
    };
    let worst = |per_row: &dyn Fn(&Row) -> f64| rows.iter().map(per_row).fold(0.0, f64::max);
    let spreads: [(&str, f64); 3] = [
        ("warm", flat(&|row| per(&row.warm, row.length))),
        ("JSON", flat(&|row| call(row, 0))),
        ("one line of JSON", flat(&|row| call(row, 2))),
    ];
    for (what, spread) in spreads {
        let what = format!("{what}, slowest over fastest length");
        goal(&what, &format!("+{:.0} %", spread * 1e2), "at most +20 %", spread <= 0.2);
    }
    let chunked = worst(&|row| per(&row.warm, 1) / per(&row.whole, 1));
    let lines = worst(&|row| call(row, 2) / call(row, 1));
    goal("deltas over one whole pass, worst", &format!("{chunked:.2} x"), "at most 1.5 x", chunked <= 1.5);
    goal("one line of JSON over short ones, worst", &format!("{lines:.2} x"), "at most 1.1 x", lines <= 1.1);
    println!();
}

fn goal(what: &str, is: &str, wanted: &str, met: bool) {
    println!("{what:<42} {is:>12}   {:<7} {wanted}", if met { "met" } else { "MISSED" });
}

fn starting() {
    let rules = rules_of(200);
    let took = Sample::of(ROUNDS, || monitor(&rules));
    let is = format!("{:.2} ms", ms(took.median()));
    goal("a monitor for 200 rules", &is, "at most 50 ms", ms(took.median()) <= 50.0);
}

/// Measures what a trigger adds to parsing a rule file.
fn reading() {
    let all = conditions(200);
    let each = |key: &str| {
        let sources: Vec<Source> = all.iter().enumerate().map(|(at, text)| source(at, key, text)).collect();
        // Parsing consumes its source; the cost of the copy is subtracted.
        let whole = Sample::of(ROUNDS, || sources.iter().cloned().map(parse).collect::<Vec<Parsed>>());
        let copies = Sample::of(ROUNDS, || sources.to_vec());
        whole.min().saturating_sub(copies.min()).as_nanos() / all.len() as u128
    };
    let (with, without) = (each("condition"), each("description"));
    println!("parse a rule file, ns: {with} with a trigger, {without} with a description in its place");
}

/// Shows the results of the peer, if it has run.
fn peer(file: &Path, row: &Row) {
    let Ok(told) = fs::read_to_string(file) else { return };
    let (warm, cold) = (ms(row.warm.sum()), ms(row.cold.sum()));
    println!(
        "\nNode, {PEER_RULES} rules, ms; rulebook at {} KB: {warm:.2} warm, {cold:.2} cold",
        PEER_LENGTH / 1000
    );
    for line in told.lines() {
        let [way, length, took] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let length: usize = length.parse().expect("a length");
        let took: f64 = took.parse().expect("milliseconds");
        let what = format!("{way}, {} KB: {took:.0} ms", length / 1000);
        let wanted = if way == "tail" { 100.0 } else { 5000.0 };
        if length == PEER_LENGTH {
            let is = format!("{:.0} x", took / warm);
            goal(
                &what,
                &is,
                &format!("at least {wanted} x; cold {:.0} x", took / cold),
                took / warm >= wanted,
            );
        } else {
            println!("{what}");
        }
    }
}
