//! What OpenAI's two wires share.

use rulebook::evidence::json as lenient;
use serde_json::{Value, json};

use super::protocol::{Failure, message};
use super::request::Role;

pub(super) fn role(name: &str) -> Role {
    match name {
        "assistant" => Role::Assistant,
        "system" | "developer" => Role::System,
        "tool" | "function" => Role::Tool,
        _ => Role::User,
    }
}

/// Returns the arguments of a call, which may be written as a text.
pub(super) fn arguments(value: &Value) -> Value {
    value.as_str().and_then(|text| lenient::read(text.as_bytes()).ok()).unwrap_or_else(|| value.clone())
}

pub(super) fn error(error: &Value) -> Value {
    match error.get("error") {
        Some(_) => error.clone(),
        None => error_body(Failure::Unavailable, &message(error)),
    }
}

pub(super) fn error_body(failure: Failure, message: &str) -> Value {
    let kind = match failure {
        Failure::NoToken | Failure::Forbidden => "invalid_request_error",
        Failure::Unavailable => "server_error",
    };
    json!({ "error": { "type": kind, "message": message, "param": null, "code": null } })
}
