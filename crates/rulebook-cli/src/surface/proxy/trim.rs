//! Returns memory to the system after many clients have disconnected: the C library keeps free memory until it is asked.

/// The most connections since memory was last returned.
#[derive(Default)]
pub(super) struct Trim {
    most: usize,
}

impl Trim {
    /// Fewer connections than this leave too little behind.
    const MANY: usize = 64;

    /// Takes the current number of connections.
    pub(super) fn is_at(&mut self, count: usize) {
        self.most = self.most.max(count);
        if self.most >= Trim::MANY && count <= self.most / 4 {
            self.most = count;
            trim();
        }
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn trim() {
    c::malloc_trim(0);
}

/// Other systems return memory by themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn trim() {}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "one function of the C library, which is safe to call")]
mod c {
    // SAFETY: <malloc.h> declares it this way; it may be called with any number, at any time, on any thread.
    unsafe extern "C" {
        pub(super) safe fn malloc_trim(pad: usize) -> std::ffi::c_int;
    }
}
