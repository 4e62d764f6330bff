//! The log: a JSON line a request, without secrets.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::sync::Mutex;
use std::time::Instant;

use serde_json::{Map, Value, json};

use crate::http::Request;

/// Headers that are logged by name alone.
const SECRET: &[&str] =
    &["authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie", "proxy-authorization"];

/// Where requests are written down.
pub(crate) struct Log {
    file: Option<Mutex<(File, u64)>>,
    started: Instant,
}

impl Log {
    pub(crate) fn open(path: Option<&str>) -> Result<Log, String> {
        let open = |path: &str| {
            let file = OpenOptions::new().append(true).create(true).open(path);
            file.map(|file| Mutex::new((file, 0))).map_err(|error| format!("{path}: {error}"))
        };
        Ok(Log { file: path.map(open).transpose()?, started: Instant::now() })
    }

    /// Writes a request down, with what it was taken for.
    pub(crate) fn write(&self, request: &Request, body: &Value, role: &str, turn: Option<usize>) {
        let Some(file) = &self.file else { return };
        let Ok(mut file) = file.lock() else { return };
        let header = |(name, value): &(String, String)| {
            let is_secret = SECRET.contains(&name.as_str());
            (name.clone(), json!(if is_secret { "(removed)" } else { value.as_str() }))
        };
        let headers: Map<String, Value> = request.headers.iter().map(header).collect();
        file.1 += 1;
        let line = json!({
            "n": file.1, "ms": self.started.elapsed().as_millis() as u64, "role": role, "turn": turn,
            "method": request.method, "path": without_key(&request.target), "headers": headers, "body": body,
        });
        let _ = file.0.write_all(format!("{line}\n").as_bytes());
    }
}

/// A target whose query holds no key.
fn without_key(target: &str) -> String {
    let Some((path, query)) = target.split_once('?') else { return target.to_owned() };
    let kept: Vec<&str> =
        query.split('&').map(|part| if part.starts_with("key=") { "key=(removed)" } else { part }).collect();
    format!("{path}?{}", kept.join("&"))
}
