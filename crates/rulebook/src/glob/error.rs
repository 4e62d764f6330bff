//! Why a pattern could not become a [`Glob`](super::Glob).

use std::fmt;

/// The longest pattern accepted, in bytes.
pub const MAX_LEN: usize = 4096;
/// The most brace alternatives a pattern may write down.
pub const MAX_ALTERNATIVES: usize = 1000;
/// The deepest nesting of groups.
pub const MAX_DEPTH: usize = 64;
/// The most steps a pattern may take once it is spelled out.
pub const MAX_STEPS: usize = 16_384;
/// The same for all patterns of a list that have alternatives.
pub const MAX_TOGETHER: usize = MAX_STEPS;

/// A pattern that is refused, and the limit it passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GlobError {
    /// There is nothing to match.
    Empty,
    /// More than [`MAX_LEN`] bytes.
    TooLong {
        /// The bytes found.
        len: usize,
    },
    /// More than [`MAX_ALTERNATIVES`] in braces.
    TooManyAlternatives,
    /// Groups nested deeper than [`MAX_DEPTH`].
    TooDeep,
    /// More than [`MAX_STEPS`] steps, by repetition counts.
    TooLarge,
    /// The patterns with alternatives of its list take more than [`MAX_TOGETHER`] steps with it.
    TooLargeTogether,
    /// A back-reference, which no linear matcher can follow.
    BackReference,
    /// A regular expression's look-behind, which is not supported.
    LookBehind,
    /// A range in braces that cuts a group in two.
    Torn,
}

impl fmt::Display for GlobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GlobError::Empty => write!(f, "the pattern is empty"),
            GlobError::TooLong { len } => {
                write!(f, "the pattern has {len} bytes, at most {MAX_LEN} are allowed")
            }
            GlobError::TooManyAlternatives => {
                write!(f, "the pattern lists more alternatives in braces than the {MAX_ALTERNATIVES} allowed")
            }
            GlobError::TooDeep => write!(f, "the pattern nests groups deeper than the {MAX_DEPTH} allowed"),
            GlobError::TooLarge => {
                write!(f, "the pattern spells out to more than the {MAX_STEPS} steps allowed")
            }
            GlobError::TooLargeTogether => {
                write!(
                    f,
                    "with the alternatives before it, the pattern spells out to more than the {MAX_TOGETHER} steps allowed for a list; no alternatives behind it are read"
                )
            }
            GlobError::BackReference => {
                write!(
                    f,
                    "the pattern refers back to a group as in `\\1`, only groups themselves are allowed"
                )
            }
            GlobError::LookBehind => {
                write!(f, "the pattern looks behind with `(?<`, only `(?=` and `(?!` are allowed")
            }
            GlobError::Torn => write!(f, "a `..` range in braces ends inside a group opened within it"),
        }
    }
}

impl std::error::Error for GlobError {}
