//! The error of fetching or checking remote rules.

use std::fmt;

/// Why a remote cannot be used, in one line that follows its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteError(String);

impl RemoteError {
    pub(super) fn new(reason: impl Into<String>) -> RemoteError {
        RemoteError(reason.into())
    }
}

impl fmt::Display for RemoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for RemoteError {}
