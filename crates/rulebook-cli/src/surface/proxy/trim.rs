//! Memory goes back to the system when many clients have left: the C library keeps what is free until it is asked.

/// How many connections there were at most since memory was last given back.
#[derive(Default)]
pub(super) struct Trim {
    most: usize,
}

impl Trim {
    /// What fewer than this many leave behind is not worth the asking.
    const MANY: usize = 64;

    /// Takes in how many there are now.
    pub(super) fn is_at(&mut self, count: usize) {
        self.most = self.most.max(count);
        if self.most >= Trim::MANY && count <= self.most / 4 {
            self.most = count;
            give_back();
        }
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn give_back() {
    c::malloc_trim(0);
}

/// Other systems do so by themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn give_back() {}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "one function of the C library, which asks nothing of its caller")]
mod c {
    // SAFETY: this is how <malloc.h> declares it; any number will do, at any time, on any thread.
    unsafe extern "C" {
        pub(super) safe fn malloc_trim(pad: usize) -> std::ffi::c_int;
    }
}
