//! What several targets share.

use std::path::PathBuf;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

use rulebook::format::Format;
use rulebook::source::Source;

/// A rule file of a format.
pub fn rule_file(format: &Format, text: String) -> Source {
    Source::text(format.id, "a.md", text)
}

/// A workspace in a temporary home: the same for all inputs of a target.
pub static REPO: LazyLock<PathBuf> = LazyLock::new(|| {
    let home = tempfile::tempdir().expect("the disk has space").keep();
    let repo = home.join("repo");
    for (path, text) in [
        (".rulebook/rules/a.md", "Always."),
        (".rulebook/rules/b.md", "---\npaths: ['src/**']\n---\nFor src."),
        (".rulebook/rules/c.md", "---\ncondition: 'unwrap\\('\nscope: [text, tool]\n---\nNo unwrap."),
        (".rulebook/rules/d.md", "---\ndescription: offered\n---\nOn request."),
        (".rulebook/rules/e.md", "---\nforbids: {command: 'git push*'}\n---\nNo push."),
        (".rulebook/rules/f.md", "---\nrequires: {do: {command: 'lint*'}, before: stop}\n---\nLint."),
        (".cursor/rules/g.mdc", "---\nglobs: *.ts\n---\nTypes."),
        ("src/a.ts", "let a = 1;\n"),
    ] {
        let path = repo.join(path);
        std::fs::create_dir_all(path.parent().expect("the path has a parent")).expect("the disk has space");
        std::fs::write(path, text).expect("the disk has space");
    }
    // SAFETY: nothing else runs yet.
    unsafe {
        std::env::set_var("HOME", &home);
        std::env::remove_var("XDG_STATE_HOME");
        std::env::remove_var("XDG_CONFIG_HOME");
    }
    repo
});

/// Removes the ledgers from time to time: one grows with every event of its session.
pub fn forget_sessions() {
    static RUNS: AtomicU32 = AtomicU32::new(0);
    if RUNS.fetch_add(1, Ordering::Relaxed) % 500 == 0 {
        let _ = std::fs::remove_dir_all(REPO.join("../.local"));
    }
}
