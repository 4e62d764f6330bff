//! The disk side of Rulebook.
