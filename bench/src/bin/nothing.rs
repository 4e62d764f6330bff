//! Starts and ends: what any process of this kind costs before it does anything.

fn main() {}
