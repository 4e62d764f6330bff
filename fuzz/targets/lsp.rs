//! Messages of an editor, one per line, each its method and its parameters as JSON: they are answered with the open texts.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rulebook_fuzz::REPO;

fuzz_target!(|text: &str| {
    let read = |line: &str| {
        let (method, params) = line.split_once(' ')?;
        // Addresses are in the workspace.
        let params = params.replace("$ROOT", &REPO.to_string_lossy());
        Some((method.to_owned(), serde_json::from_str(&params).ok()?))
    };
    let messages: Vec<_> = text.lines().filter_map(read).take(20).collect();
    if !messages.is_empty() {
        rulebook_cli::fuzzing::lsp(&REPO, messages);
    }
});
