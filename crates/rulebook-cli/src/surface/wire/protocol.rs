//! What a wire is: a provider's protocol, as functions that read and write it.

use rulebook::evidence::json;
use serde_json::Value;

use super::cut::Deltas;
use super::edit::Shapes;
use super::json::Json;
use super::reader::{Reader, Step, Waits};
use super::request::Request;
use super::splice::Splice;

/// A provider's protocol.
pub(in crate::surface) struct Wire {
    pub(in crate::surface) name: &'static str,
    /// The provider that defines it.
    pub(in crate::surface) provider: &'static str,
    /// The address of that provider.
    pub(in crate::surface) home: &'static str,
    /// The variables that give clients another address, and the path that each expects after the address.
    pub(in crate::surface) variables: &'static [(&'static str, &'static str)],
    /// Headers that only requests to this provider have.
    pub(in crate::surface) headers: &'static [&'static str],
    /// How every path of this provider begins, if that tells it from others.
    pub(in crate::surface) paths: Option<&'static str>,
    /// Whether requests to this path are conversations of this wire.
    pub(in crate::surface) is_for: fn(&str) -> bool,
    /// Reads the conversation of a request: its path, then its body.
    pub(super) parse: fn(&str, &str) -> Option<Request>,
    pub(in crate::surface) shapes: Shapes,
    /// Reads an event of a response; `None` if it is not an event of this wire.
    pub(super) read: fn(&mut Reader, &Json<'_>, &mut Vec<Step>) -> Option<Waits>,
    /// Reads a response that is not a stream.
    pub(super) read_whole: fn(&mut Reader, &Json<'_>, &mut Vec<Step>),
    /// The key of a response's usage.
    pub(in crate::surface) usage: &'static str,
    pub(in crate::surface) deltas: Deltas,
    /// Creates what continues one response with another.
    pub(in crate::surface) splice: fn() -> Box<dyn Splice>,
    /// An event that keeps a client waiting.
    pub(in crate::surface) ping: &'static str,
    /// Creates the event for an error in the middle of a response.
    pub(in crate::surface) error: fn(&Value) -> Value,
    /// Whether clients read that error only as a chunk of the response by itself, without `data:`.
    pub(in crate::surface) error_is_chunk: bool,
    /// Creates the body of an error response.
    pub(in crate::surface) error_body: fn(Failure, &str) -> Value,
}

/// Why a request gets an error from somebody other than the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::surface) enum Failure {
    /// It lacks the token.
    NoToken,
    /// It may not be made from there.
    Forbidden,
    /// The provider did not answer, or nothing passes.
    Unavailable,
}

impl Failure {
    /// The status of the response.
    pub(in crate::surface) fn status(self) -> u16 {
        match self {
            Failure::NoToken => 401,
            Failure::Forbidden => 403,
            Failure::Unavailable => 502,
        }
    }
}

impl Wire {
    /// Reads the conversation of a request; returns `None` if the body is not one. Slots are positions in the body as it is.
    pub(in crate::surface) fn request(&self, path: &str, body: &[u8]) -> Option<Request> {
        (self.parse)(path, &json::repaired(body)).map(Request::identified)
    }

    /// Returns the steps of a response that is not a stream, and whether all clients read its fields alike.
    pub(in crate::surface) fn steps(&self, response: &Json<'_>) -> (Vec<Step>, bool) {
        let (mut reader, mut steps) = (Reader::default(), Vec::new());
        (self.read_whole)(&mut reader, response, &mut steps);
        (steps, !reader.take_odd_fields())
    }
}

/// A comment, which every reader of events skips.
pub(super) const COMMENT: &str = ": rulebook\n\n";

/// Returns a text field of a JSON value; empty if it has none.
pub(super) fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Returns an error as text.
pub(super) fn message(error: &Value) -> String {
    error.as_str().map_or_else(|| error.to_string(), str::to_owned)
}
