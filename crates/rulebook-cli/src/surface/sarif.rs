//! Diagnostics as SARIF 2.1.0, for code scanning.

use rulebook::diagnostic::{CODES, CodeRow, Diagnostic, Fix};
use rulebook::evidence::Roots;
use rulebook::id::percent_encoded;
use serde_json::{Map, Value, json};

use super::baseline::fingerprints;
use super::checkout::{Checkouts, Location};

/// The project's address; empty until the packages name a repository.
const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

/// Returns a SARIF log with one run.
pub(super) fn report(roots: &Roots, diagnostics: &[Diagnostic]) -> Value {
    let checkouts = Checkouts::of(roots);
    let uri = |at| format!("file://{}/", percent_encoded(checkouts.top(at)));
    let bases: Map<String, Value> = (0..roots.roots.len())
        .map(|at| (base_id(roots, &checkouts, at), json!({ "uri": uri(at) })))
        .collect();
    let results = diagnostics.iter().zip(fingerprints(diagnostics));
    let mut driver = json!({
        "name": "rulebook",
        "version": env!("CARGO_PKG_VERSION"),
        "rules": CODES.iter().map(rule).collect::<Vec<_>>(),
    });
    if !REPOSITORY.is_empty() {
        driver["informationUri"] = REPOSITORY.into();
    }
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": driver },
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": bases,
            "results": results
                .map(|(diagnostic, print)| result(diagnostic, &artifact(roots, &checkouts, &diagnostic.path), &print))
                .collect::<Vec<_>>(),
        }],
    })
}

fn rule(row: &CodeRow) -> Value {
    let mut rule = json!({
        "id": row.name,
        "shortDescription": { "text": row.meaning },
        "help": { "text": row.remedy },
        "defaultConfiguration": { "level": row.severity.name() },
    });
    if !REPOSITORY.is_empty() {
        rule["helpUri"] = format!("{REPOSITORY}/blob/HEAD/docs/diagnostics.md").into();
    }
    rule
}

fn result(diagnostic: &Diagnostic, artifact: &Value, fingerprint: &str) -> Value {
    let width = diagnostic.excerpt.as_ref().map_or(1, |excerpt| excerpt.width);
    let (line, column) = (diagnostic.line.max(1), diagnostic.column.max(1));
    let mut result = json!({
        "ruleId": diagnostic.code.row().name,
        "ruleIndex": diagnostic.code as usize,
        "level": diagnostic.severity.name(),
        "message": { "text": format!("{}; {}", diagnostic.message, diagnostic.help) },
        "locations": [{
            "physicalLocation": {
                "artifactLocation": artifact,
                "region": { "startLine": line, "startColumn": column, "endColumn": column + width },
            },
        }],
        "partialFingerprints": { "problem/v1": fingerprint },
    });
    if let Some(Fix { start, end, replacement }) = &diagnostic.fix {
        result["fixes"] = json!([{
            "description": { "text": diagnostic.help },
            "artifactChanges": [{
                "artifactLocation": artifact,
                "replacements": [{
                    "deletedRegion": { "byteOffset": start, "byteLength": end - start },
                    "insertedContent": { "text": replacement },
                }],
            }],
        }]);
    }
    result
}

/// Returns the `uriBaseId` of a root.
fn base_id(roots: &Roots, checkouts: &Checkouts<'_>, at: usize) -> String {
    if checkouts.is_one() { "%SRCROOT%".to_owned() } else { roots.roots[at].name.clone() }
}

/// Converts a displayed path into a location relative to its checkout, or an absolute one.
fn artifact(roots: &Roots, checkouts: &Checkouts<'_>, path: &str) -> Value {
    match checkouts.locate(path) {
        Location::Inside(at, path) => {
            json!({ "uri": percent_encoded(&path), "uriBaseId": base_id(roots, checkouts, at) })
        }
        Location::Absolute(path) => json!({ "uri": format!("file://{}", percent_encoded(&path)) }),
    }
}

#[cfg(test)]
mod tests;
