//! Counts the steps of loops over untrusted text, so that tests compare costs without a clock.

#[cfg(test)]
thread_local! {
    static STEPS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Counts steps. Does nothing outside of tests.
#[inline(always)]
pub(crate) fn count(_steps: usize) {
    #[cfg(test)]
    STEPS.set(STEPS.get() + _steps);
}

/// Asserts that the steps of `run` grow no faster than the length of its text.
#[cfg(test)]
#[track_caller]
pub(crate) fn assert_linear(short: &str, long: &str, run: impl Fn(&str)) {
    let steps = |text: &str| {
        STEPS.set(0);
        run(text);
        STEPS.get()
    };
    let (few, many) = (steps(short), steps(long));
    let start: String = short.chars().take(20).collect();
    assert!(few >= short.len() / 2, "{few} steps for {} bytes of {start:?} are not all steps", short.len());
    // Quadratic cost would be twice as much for a text of twice the length.
    let limit = few * long.len() / short.len() * 3 / 2;
    assert!(many <= limit, "{few} steps for {} bytes, {many} for {} of {start:?}", short.len(), long.len());
}
