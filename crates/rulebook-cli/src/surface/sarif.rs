//! SARIF 2.1.0, for code scanning.

use rulebook::diagnostic::{CODES, CodeRow, Diagnostic, Fix};
use rulebook::evidence::Roots;
use rulebook::id::percent_encoded;
use serde_json::{Map, Value, json};

use super::baseline::fingerprints;

/// Where the project's pages are read; nothing until the packages name a repository.
const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

/// The diagnostics as one run of one tool.
pub(super) fn report(roots: &Roots, diagnostics: &[Diagnostic]) -> Value {
    let bases: Map<String, Value> = (0..roots.roots.len())
        .map(|at| {
            (
                base_id(roots, at),
                json!({ "uri": format!("file://{}/", percent_encoded(&roots.roots[at].path)) }),
            )
        })
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
            "results": results.map(|(told, print)| result(roots, told, &print)).collect::<Vec<_>>(),
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

fn result(roots: &Roots, told: &Diagnostic, fingerprint: &str) -> Value {
    let width = told.excerpt.as_ref().map_or(1, |excerpt| excerpt.width);
    let (line, column) = (told.line.max(1), told.column.max(1));
    let artifact = artifact(roots, &told.path);
    let mut result = json!({
        "ruleId": told.code.row().name,
        "ruleIndex": told.code as usize,
        "level": told.severity.name(),
        "message": { "text": format!("{}; {}", told.message, told.help) },
        "locations": [{
            "physicalLocation": {
                "artifactLocation": &artifact,
                "region": { "startLine": line, "startColumn": column, "endColumn": column + width },
            },
        }],
        "partialFingerprints": { "problem/v1": fingerprint },
    });
    if let Some(Fix { start, end, replacement }) = &told.fix {
        result["fixes"] = json!([{
            "description": { "text": told.help },
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

/// What a root's paths are relative to.
fn base_id(roots: &Roots, at: usize) -> String {
    match roots.roots.len() {
        1 => "%SRCROOT%".to_owned(),
        _ => roots.roots[at].name.clone(),
    }
}

/// A file as shown, as a location: below the root it lies in, or below home.
fn artifact(roots: &Roots, path: &str) -> Value {
    if let (Some(rest), Some(home)) = (path.strip_prefix("~/"), &roots.home) {
        return json!({ "uri": format!("file://{}", percent_encoded(&format!("{home}/{rest}"))) });
    }
    if path.starts_with('/') {
        return json!({ "uri": format!("file://{}", percent_encoded(path)) });
    }
    // With several roots a path begins with the name of its own.
    let below = |root: &str| path.strip_prefix(root).and_then(|rest| rest.strip_prefix('/'));
    let named = roots.roots.iter().enumerate().find_map(|(at, root)| Some((at, below(&root.name)?)));
    let (at, path) = named.filter(|_| roots.roots.len() > 1).unwrap_or((0, path));
    json!({ "uri": percent_encoded(path), "uriBaseId": base_id(roots, at) })
}

#[cfg(test)]
mod tests;
