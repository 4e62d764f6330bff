//! A host's name, then an event of it: answered in the host's words or passed over, with a ledger on disk.
#![no_main]
#![allow(dead_code, reason = "the command is taken in whole, and one door of it is used")]

#[path = "../../crates/rulebook-cli/src/args/mod.rs"]
mod args;
#[path = "../../crates/rulebook-cli/src/out.rs"]
mod out;
#[path = "../../crates/rulebook-cli/src/surface/mod.rs"]
mod surface;

use std::cell::Cell;
use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use surface::hook::Caller;

/// A home and a workspace of its own, which every event is about.
static STAGE: LazyLock<PathBuf> = LazyLock::new(|| {
    let stage = tempfile::tempdir().expect("there is room").keep();
    for (path, text) in [
        (".rulebook/rules/a.md", "Always."),
        (".rulebook/rules/b.md", "---\npaths: ['src/**']\n---\nFor src."),
        (".rulebook/rules/c.md", "---\ncondition: 'unwrap\\('\nscope: tool:*\n---\nNo unwrap."),
        (".rulebook/rules/d.md", "---\ndescription: offered\n---\nOn request."),
    ] {
        let path = stage.join("repo").join(path);
        std::fs::create_dir_all(path.parent().expect("it has one")).expect("there is room");
        std::fs::write(path, text).expect("there is room");
    }
    // SAFETY: nothing else runs yet.
    unsafe {
        std::env::set_var("HOME", &stage);
        std::env::remove_var("XDG_STATE_HOME");
        std::env::remove_var("XDG_CONFIG_HOME");
    }
    stage
});

thread_local! {
    static RUNS: Cell<u32> = const { Cell::new(0) };
}

fuzz_target!(|data: &[u8]| {
    let Some(end) = data.iter().position(|byte| *byte == b'\n') else { return };
    let (name, event) = (&data[..end], &data[end + 1..]);
    let args = args::Args { root: vec![STAGE.join("repo")], set: Vec::new(), json: false, command: None };
    let Some(host) = surface::HOSTS.iter().find(|host| host.name.as_bytes() == name) else { return };
    let _ = surface::hook::reply(&args, host, event, Caller::Server);
    // A ledger grows with every event of its session.
    if RUNS.get() % 500 == 0 {
        let _ = std::fs::remove_dir_all(STAGE.join(".local"));
    }
    RUNS.set(RUNS.get().wrapping_add(1));
});
