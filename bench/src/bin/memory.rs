//! Measures the memory of open streams: each case in a separate process, by its resident pages.

use std::process::Command;

use rulebook::stream::{Monitor, StreamKind};
use rulebook_bench::stream::{arguments, monitor, rules_of, text};

/// The kind of streams, and how many are open at once.
const CASES: &[(&str, usize, fn(&mut Monitor, usize))] = &[
    ("a text of 100 KB", 1000, |monitor, at| {
        feed(monitor, at, &StreamKind::Text, &text(100_000));
    }),
    ("a call, the last of 10 fields open", 1000, |monitor, at| {
        let value = text(2_000).replace(['"', '\\', '\n'], " ");
        let fields: Vec<String> = (0..10).map(|field| format!("\"field{field}\":\"{value}")).collect();
        feed(monitor, at, &StreamKind::Tool("edit".to_owned()), &format!("{{{}", fields.join("\",")));
    }),
    ("one of 64 calls at once, 20 KB each", 64, |monitor, at| {
        let call = arguments(&text(20_000));
        feed(monitor, at, &StreamKind::Tool("write".to_owned()), call.trim_end_matches("\"}"));
    }),
    ("a patch of 50 files, the last open", 1000, |monitor, at| {
        let file =
            |at: usize| format!("*** Update File: src/file{at}.ts\n+{}", text(400).replace('\n', "\n+"));
        let files: Vec<String> = (0..50).map(file).collect();
        let patch = format!("*** Begin Patch\n{}\n", files.join("\n"));
        feed(monitor, at, &StreamKind::Tool("apply_patch".to_owned()), &patch);
    }),
    ("900 KB in which a match stays possible", 20, |monitor, at| {
        feed(monitor, at, &StreamKind::Text, &format!("import {}", "x ".repeat(450_000)));
    }),
    ("4 MB in which a match stays possible", 20, |monitor, at| {
        feed(monitor, at, &StreamKind::Text, &format!("import {}", "x ".repeat(2_000_000)));
    }),
];

fn feed(monitor: &mut Monitor, at: usize, kind: &StreamKind, text: &str) {
    for bytes in text.as_bytes().chunks(6) {
        monitor.feed(&format!("stream {at}"), kind, bytes);
    }
}

fn main() -> std::io::Result<()> {
    let Some(case) = std::env::args().nth(1) else {
        let this = std::env::current_exe()?;
        for (at, (name, ..)) in CASES.iter().enumerate() {
            let output = Command::new(&this).arg(at.to_string()).output()?.stdout;
            println!("{name:<42} {}", String::from_utf8_lossy(&output).trim());
        }
        return Ok(());
    };
    let (_, streams, open) = &CASES[case.parse::<usize>().expect("the number of a case")];
    let mut monitor = monitor(&rules_of(200));
    // The first stream builds the states of the automaton and warms up the allocator.
    open(&mut monitor, 0);
    let before = resident()?;
    (1..=*streams).for_each(|at| open(&mut monitor, at));
    let grown = resident()?.saturating_sub(before);
    println!("{:>9.1} KiB per stream", grown as f64 / *streams as f64);
    drop(monitor);
    Ok(())
}

/// The resident pages of this process in KiB.
fn resident() -> std::io::Result<usize> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    Ok(line.trim().trim_end_matches(" kB").parse().unwrap_or_default())
}
