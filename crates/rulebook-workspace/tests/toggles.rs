//! Toggles under many writers, and under writers that are killed.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use rulebook_workspace::toggles::{Switch, Toggles};

const ROOT: &str = "/nowhere/root";

/// The variables that make `write` below a writer, in a process of its own.
const STATE: &str = "RULEBOOK_TEST_STATE";
const NAME: &str = "RULEBOOK_TEST_NAME";
const COUNT: &str = "RULEBOOK_TEST_COUNT";

/// Not a test of its own: switches ids off one after the other, and prints each.
#[test]
fn write() {
    let [Ok(state), Ok(name), Ok(count)] = [STATE, NAME, COUNT].map(std::env::var) else { return };
    let toggles = Toggles::at(Path::new(&state));
    for at in 0..count.parse().unwrap() {
        let id = format!("{name}-{at}");
        toggles.switch(Path::new(ROOT), &[(id.clone(), Switch::Off)]).unwrap();
        let mut out = io::stdout().lock();
        writeln!(out, "\ndone {id}").unwrap();
        out.flush().unwrap();
    }
}

fn start_writer(state: &Path, name: &str, count: usize) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["write", "--exact", "--nocapture"])
        .env(STATE, state)
        .env(NAME, name)
        .env(COUNT, count.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// The ids that a writer printed.
fn done(lines: impl Iterator<Item = io::Result<String>>) -> impl Iterator<Item = String> {
    lines.map_while(Result::ok).filter_map(|line| line.strip_prefix("done ").map(str::to_owned))
}

/// The ids that are off, in a file that must be complete.
#[track_caller]
fn off(state: &Path) -> BTreeSet<String> {
    let (switched, fault) = Toggles::at(state).read();
    assert_eq!(fault, None);
    switched.off_ids(Path::new(ROOT)).map(str::to_owned).collect()
}

fn temporary_files(state: &Path) -> usize {
    let names = fs::read_dir(state).unwrap().map(|entry| entry.unwrap().file_name());
    names.filter(|name| name.to_string_lossy().ends_with(".tmp")).count()
}

#[test]
fn fifty_concurrent_processes_lose_nothing() {
    let state = tempfile::tempdir().unwrap();
    let writers: Vec<Child> = (0..50).map(|at| start_writer(state.path(), &format!("w{at}"), 1)).collect();
    for writer in writers {
        assert!(writer.wait_with_output().unwrap().status.success());
    }
    assert_eq!(off(state.path()), (0..50).map(|at| format!("w{at}-0")).collect());
    assert_eq!(temporary_files(state.path()), 0);
}

#[test]
fn killed_writers_lose_nothing_that_they_finished() {
    let state = tempfile::tempdir().unwrap();
    let mut finished = BTreeSet::new();
    let mut seed = 0x9e37_79b9_u64;
    for round in 0..25 {
        let mut writers = Vec::new();
        for at in 0..4 {
            let mut writer = start_writer(state.path(), &format!("r{round}w{at}"), 1000);
            let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines();
            finished.extend(done(&mut lines).next());
            writers.push((writer, lines));
        }
        for (mut writer, lines) in writers {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            sleep(Duration::from_micros((seed >> 33) % 3000));
            writer.kill().unwrap();
            writer.wait().unwrap();
            finished.extend(done(lines));
            let off = off(state.path());
            assert_eq!(finished.difference(&off).collect::<Vec<_>>(), Vec::<&String>::new());
        }
    }
    assert!(finished.len() >= 100);
    Toggles::at(state.path()).switch(Path::new(ROOT), &[("last".to_owned(), Switch::Off)]).unwrap();
    assert_eq!(temporary_files(state.path()), 0);
}
