//! The `rulebook` command.

fn main() {}
