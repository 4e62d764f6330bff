//! Responses that the server writes itself.

use hyper::header::{self, HeaderValue};
use hyper::{Response, StatusCode};
use serde_json::{Value, json};

use super::metrics::Metrics;
use super::upstream::{Body, full};
use crate::surface::wire::Wire;

/// Answers a request to the server itself.
pub(super) fn own(metrics: &Metrics, path: &str) -> Response<Body> {
    match path {
        "health" => {
            json_answer(StatusCode::OK, &json!({ "status": "ok", "version": env!("CARGO_PKG_VERSION") }))
        }
        "metrics" => plain(StatusCode::OK, metrics.text()),
        _ => plain(StatusCode::NOT_FOUND, "not found: use health or metrics"),
    }
}

/// Returns the response when `--fail-closed` blocks a request.
pub(super) fn closed(wire: &Wire, why: &str) -> Response<Body> {
    failed(wire, &format!("rulebook proxy: {why}, and nothing passes without rules"))
}

/// Returns an error as the wire's own server would write it.
pub(super) fn failed(wire: &Wire, message: &str) -> Response<Body> {
    json_answer(StatusCode::BAD_GATEWAY, &(wire.error_body)(message))
}

fn json_answer(status: StatusCode, body: &Value) -> Response<Body> {
    let mut response = plain(status, body.to_string());
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

pub(super) fn plain(status: StatusCode, text: impl Into<String>) -> Response<Body> {
    let mut response = Response::new(full(text.into()));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

/// Returns an error with its causes.
pub(super) fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(&format!(": {error}"));
        source = error.source();
    }
    text
}
