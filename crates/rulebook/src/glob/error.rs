//! The limits of patterns, and the errors for exceeding them.

use std::fmt;

/// The maximum length of a pattern in bytes.
pub(super) const MAX_LEN: usize = 4096;
/// The maximum number of brace alternatives in a pattern.
pub(super) const MAX_ALTERNATIVES: usize = 1000;
/// The maximum nesting depth of groups.
pub(super) const MAX_DEPTH: usize = 64;
/// The maximum number of steps that a pattern compiles to.
pub(super) const MAX_STEPS: usize = 16_384;
/// As [`MAX_STEPS`], for all patterns with alternatives in a list.
pub(super) const MAX_LIST_STEPS: usize = MAX_STEPS;

/// Why a pattern was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GlobError {
    /// The pattern is empty.
    Empty,
    /// More than 4096 bytes.
    TooLong {
        /// The length in bytes.
        len: usize,
    },
    /// More than 1000 alternatives in braces.
    TooManyAlternatives,
    /// Groups nested more than 64 levels deep.
    TooDeep,
    /// The pattern compiles to more than 16,384 steps.
    TooLarge,
    /// The patterns with alternatives up to this one in the list compile to more than 16,384 steps.
    ListTooLarge,
    /// A back-reference, which cannot be matched in linear time.
    BackReference,
    /// A look-behind, which is not supported.
    LookBehind,
    /// A range in braces that ends inside a group.
    SplitGroup,
}

impl fmt::Display for GlobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GlobError::Empty => write!(f, "the pattern is empty"),
            GlobError::TooLong { len } => {
                write!(f, "the pattern has {len} bytes, the limit is {MAX_LEN}")
            }
            GlobError::TooManyAlternatives => {
                write!(f, "the pattern has more than {MAX_ALTERNATIVES} alternatives in braces")
            }
            GlobError::TooDeep => write!(f, "the pattern nests groups more than {MAX_DEPTH} levels deep"),
            GlobError::TooLarge => {
                write!(f, "the pattern expands to more than {MAX_STEPS} steps")
            }
            GlobError::ListTooLarge => {
                write!(
                    f,
                    "the patterns with alternatives in this list expand to more than {MAX_LIST_STEPS} steps; this one and those after it are ignored"
                )
            }
            GlobError::BackReference => {
                write!(f, "the pattern has a back-reference such as `\\1`, which is not supported")
            }
            GlobError::LookBehind => {
                write!(f, "the pattern has a look-behind `(?<`, only `(?=` and `(?!` are supported")
            }
            GlobError::SplitGroup => write!(f, "a `..` range in braces ends inside a group opened within it"),
        }
    }
}

impl std::error::Error for GlobError {}
