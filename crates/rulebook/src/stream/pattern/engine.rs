//! The engines that run patterns.

/// The engine that runs a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// The automaton: exact and linear.
    Automaton,
    /// For look-around and back-references: line by line in a bounded window.
    Fallback,
}

/// An empty class. No other translation contains `&&`.
pub(in crate::stream) const NEVER: &str = "[a&&b]";

/// The error for a pattern without any match.
pub(in crate::stream) const NEVER_MATCHES: &str = "it can never match";
