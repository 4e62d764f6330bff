//! The number of a wire, then a request, a response or its events: texts fit in, chunks do not matter, parts make up the whole.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((number, bytes)) = data.split_first() else { return };
    rulebook_cli::fuzzing::wire(usize::from(number.wrapping_sub(b'0')), bytes);
});
