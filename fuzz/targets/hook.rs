//! The name of a host, then an event: it is answered or ignored, with a ledger on disk.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rulebook_fuzz::{REPO, forget_sessions};

fuzz_target!(|data: &[u8]| {
    let Some(end) = data.iter().position(|byte| *byte == b'\n') else { return };
    let (name, event) = (&data[..end], &data[end + 1..]);
    let Ok(host) = std::str::from_utf8(name) else { return };
    let _ = rulebook_cli::answer_hook(Some(&REPO), host, event);
    forget_sessions();
});
