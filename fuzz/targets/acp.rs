//! Lines of an editor (after `>`) and of its agent, in the Agent Client Protocol: every line that is no message is passed on.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rulebook_fuzz::{REPO, forget_sessions};

fuzz_target!(|data: &[u8]| {
    rulebook_cli::fuzzing::acp(&REPO, data);
    forget_sessions();
});
