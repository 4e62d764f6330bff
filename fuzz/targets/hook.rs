//! A host's name, then an event of it: answered in the host's words or passed over, with a ledger on disk.
#![no_main]

use std::cell::Cell;
use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;

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
    let Ok(host) = std::str::from_utf8(name) else { return };
    let _ = rulebook_cli::answer_hook(&STAGE.join("repo"), host, event);
    // A ledger grows with every event of its session.
    if RUNS.get() % 500 == 0 {
        let _ = std::fs::remove_dir_all(STAGE.join(".local"));
    }
    RUNS.set(RUNS.get().wrapping_add(1));
});
