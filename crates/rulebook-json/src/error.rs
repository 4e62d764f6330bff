//! Why a call has no answer.

use std::fmt;

/// The kind of an error, which bindings pass on as a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorCode {
    /// The request is not JSON of the expected shape.
    BadRequest,
    /// A root cannot be opened.
    CannotOpen,
    /// A path is in none of the roots.
    OutsideRoot,
    /// The ledger of a session cannot be used.
    SessionLost,
    /// No agent has that name.
    UnknownAgent,
    /// No rule has that name.
    UnknownRule,
    /// A step of a turn was made while no turn is open.
    NoTurn,
    /// Another call of the session is running.
    Busy,
    /// The book or the session was closed.
    Closed,
}

impl ErrorCode {
    /// The code as text.
    pub fn name(self) -> &'static str {
        match self {
            ErrorCode::BadRequest => "BAD_REQUEST",
            ErrorCode::CannotOpen => "CANNOT_OPEN",
            ErrorCode::OutsideRoot => "OUTSIDE_ROOT",
            ErrorCode::SessionLost => "SESSION_LOST",
            ErrorCode::UnknownAgent => "UNKNOWN_AGENT",
            ErrorCode::UnknownRule => "UNKNOWN_RULE",
            ErrorCode::NoTurn => "NO_TURN",
            ErrorCode::Busy => "BUSY",
            ErrorCode::Closed => "CLOSED",
        }
    }
}

/// Why a call has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct JsonError {
    /// The kind.
    pub code: ErrorCode,
    /// What is wrong, and what to do.
    pub message: String,
}

impl JsonError {
    /// Returns an error.
    pub fn new(code: ErrorCode, message: impl fmt::Display) -> JsonError {
        JsonError { code, message: message.to_string() }
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for JsonError {}
