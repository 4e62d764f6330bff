//! Starts and exits: the minimum cost of a Rust process.

fn main() {}
