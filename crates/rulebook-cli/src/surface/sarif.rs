//! SARIF 2.1.0, for code scanning.

use rulebook::diagnostic::{CODES, Diagnostic, Severity};
use serde_json::{Value, json};

/// The diagnostics as one run of one tool.
pub(super) fn report(diagnostics: &[Diagnostic]) -> Value {
    let rules: Vec<Value> = CODES
        .iter()
        .map(|row| {
            json!({
                "id": row.name,
                "shortDescription": { "text": row.meaning },
                "help": { "text": row.remedy },
                "defaultConfiguration": { "level": row.severity.name() },
            })
        })
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "rulebook", "version": env!("CARGO_PKG_VERSION"), "rules": rules } },
            "columnKind": "unicodeCodePoints",
            "results": diagnostics.iter().map(result).collect::<Vec<_>>(),
        }],
    })
}

fn result(diagnostic: &Diagnostic) -> Value {
    let index = CODES.iter().position(|row| row.code == diagnostic.code);
    let width = diagnostic.excerpt.as_ref().map_or(1, |excerpt| excerpt.width);
    let (line, column) = (diagnostic.line.max(1), diagnostic.column.max(1));
    json!({
        "ruleId": diagnostic.code.row().name,
        "ruleIndex": index,
        "level": match diagnostic.severity { Severity::Note => "note", other => other.name() },
        "message": { "text": format!("{}; {}", diagnostic.message, diagnostic.help) },
        "locations": [{
            "physicalLocation": {
                "artifactLocation": { "uri": super::read::encoded(&diagnostic.path) },
                "region": { "startLine": line, "startColumn": column, "endColumn": column + width },
            },
        }],
    })
}
