//! Samples of durations.

use std::time::{Duration, Instant};

/// The durations of several runs.
#[derive(Clone, Debug, Default)]
pub struct Sample(Vec<Duration>);

impl Sample {
    /// Adds a duration.
    pub fn push(&mut self, took: Duration) {
        self.0.push(took);
        self.0.sort_unstable();
    }

    /// Measures a number of runs.
    pub fn of<T>(rounds: usize, mut run: impl FnMut() -> T) -> Sample {
        let mut sample = Sample::default();
        for _ in 0..rounds {
            let start = Instant::now();
            let answer = run();
            sample.push(start.elapsed());
            drop(std::hint::black_box(answer));
        }
        sample
    }

    /// The shortest duration, which is the least disturbed one.
    pub fn min(&self) -> Duration {
        self.0.first().copied().unwrap_or_default()
    }

    /// The median.
    pub fn median(&self) -> Duration {
        self.0.get(self.0.len() / 2).copied().unwrap_or_default()
    }
}

/// The shortest duration of each part of a run. Parts are short, so that each is undisturbed at least once.
#[derive(Clone, Debug, Default)]
pub struct Parts(Vec<Duration>);

impl Parts {
    /// Runs all parts once.
    pub fn run<T>(&mut self, parts: impl IntoIterator<Item = T>, mut run: impl FnMut(T)) {
        for (at, part) in parts.into_iter().enumerate() {
            let start = Instant::now();
            run(part);
            let took = start.elapsed();
            match self.0.get_mut(at) {
                Some(best) => *best = took.min(*best),
                None => self.0.push(took),
            }
        }
    }

    /// The sum of all parts.
    pub fn sum(&self) -> Duration {
        self.0.iter().sum()
    }
}

/// A duration in milliseconds.
pub fn ms(took: Duration) -> f64 {
    took.as_secs_f64() * 1e3
}
