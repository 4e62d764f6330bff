//! Responses that the server writes itself.

use hyper::header::{self, HeaderValue};
use hyper::{Response, StatusCode};
use rulebook_workspace::certificates;
use serde_json::{Value, json};

use super::metrics::Metrics;
use super::upstream::{Body, full};
use crate::surface::wire::{Failure, Wire};

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
    failed(wire, Failure::Unavailable, &format!("rulebook proxy: {why}, and nothing passes without rules"))
}

/// Returns an error as the wire's own server would write it.
pub(super) fn failed(wire: &Wire, failure: Failure, message: &str) -> Response<Body> {
    let status = StatusCode::from_u16(failure.status()).unwrap_or(StatusCode::BAD_GATEWAY);
    json_answer(status, &(wire.error_body)(failure, message))
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

/// Returns an error with its causes; of a connection that is not secure, the reason alone.
pub(super) fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let causes: Vec<_> = std::iter::successors(Some(error), |error| error.source()).collect();
    match causes.iter().find_map(|error| insecure(*error)) {
        Some(error) => format!("it {}", certificates::refusal(error)),
        None => causes.iter().map(ToString::to_string).collect::<Vec<_>>().join(": "),
    }
}

/// The error of TLS in an error of input and output, which does not name it as its cause.
fn insecure<'e>(error: &'e (dyn std::error::Error + 'static)) -> Option<&'e rustls::Error> {
    let within = || insecure(error.downcast_ref::<std::io::Error>()?.get_ref()?);
    error.downcast_ref().or_else(within)
}
