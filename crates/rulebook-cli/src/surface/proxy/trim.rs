//! Returns memory to the system after many clients have disconnected, and while nothing happens: the C library keeps free
//! memory until it is asked.

use std::time::Duration;

/// The most connections since memory was last returned, and the requests.
#[derive(Default)]
pub(super) struct Trim {
    most: usize,
    /// How many requests there were at the last look, and when memory was last returned.
    seen: u64,
    trimmed: u64,
}

impl Trim {
    /// Fewer connections than this leave too little behind.
    const MANY: usize = 64;

    /// The time between two looks. Without a request from one to the next, the proxy is quiet.
    pub(super) const QUIET: Duration = Duration::from_secs(5);

    /// Takes the number of requests and of responses under way, at a look. Returns whether memory should be returned.
    pub(super) fn look(&mut self, requests: u64, running: u64) -> bool {
        let is_quiet = requests == self.seen && running == 0;
        self.seen = requests;
        let is_due = is_quiet && requests != self.trimmed;
        if is_due {
            self.trimmed = requests;
        }
        is_due
    }

    /// Takes the current number of connections.
    pub(super) fn is_at(&mut self, count: usize) {
        self.most = self.most.max(count);
        if self.most >= Trim::MANY && count <= self.most / 4 {
            self.most = count;
            trim();
        }
    }
}

/// Lets the C library return memory as soon as this much is free at the end of a heap. By default it learns from large texts
/// to keep 64 MiB of each thread's heap, and `trim` returns only what is between texts in use.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(super) fn return_early() {
    const TRIM_THRESHOLD: std::ffi::c_int = -1;
    c::mallopt(TRIM_THRESHOLD, 1 << 20);
}

/// Other C libraries have no such function. That of the static binaries for Linux keeps free memory for later connections.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(super) fn return_early() {}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(super) fn trim() {
    c::malloc_trim(0);
}

/// Other C libraries have no such function. That of the static binaries for Linux keeps free memory for later connections.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(super) fn trim() {}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "two functions of the C library, which are safe to call")]
mod c {
    use std::ffi::c_int;

    // SAFETY: <malloc.h> declares them this way; they may be called with any numbers, at any time, on any thread.
    unsafe extern "C" {
        pub(super) safe fn malloc_trim(pad: usize) -> c_int;
        pub(super) safe fn mallopt(parameter: c_int, value: c_int) -> c_int;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_returned_once_when_the_proxy_gets_quiet() {
        let mut trim = Trim::default();
        let looks = [(0, 0), (3, 0), (3, 0), (3, 0), (4, 1), (4, 1), (4, 0), (4, 0)];
        let trimmed = looks.map(|(requests, running)| trim.look(requests, running));
        assert_eq!(trimmed, [false, false, true, false, false, false, true, false]);
    }
}
