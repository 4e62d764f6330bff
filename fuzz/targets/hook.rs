//! The name of a host, then an event: it is answered or ignored, with a ledger on disk.
#![no_main]

use std::cell::Cell;
use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;

/// A temporary home with the workspace of all events.
static STAGE: LazyLock<PathBuf> = LazyLock::new(|| {
    let stage = tempfile::tempdir().expect("the disk has space").keep();
    for (path, text) in [
        (".rulebook/rules/a.md", "Always."),
        (".rulebook/rules/b.md", "---\npaths: ['src/**']\n---\nFor src."),
        (".rulebook/rules/c.md", "---\ncondition: 'unwrap\\('\nscope: tool:*\n---\nNo unwrap."),
        (".rulebook/rules/d.md", "---\ndescription: offered\n---\nOn request."),
    ] {
        let path = stage.join("repo").join(path);
        std::fs::create_dir_all(path.parent().expect("the path has a parent")).expect("the disk has space");
        std::fs::write(path, text).expect("the disk has space");
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
