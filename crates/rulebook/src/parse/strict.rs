//! The strict schema: `description` and `priority` are required, and wrong types reject the rule.

use super::fields::Fields;
use super::reader::Reader;
use crate::diagnostic::Code;
use crate::frontmatter::Value;

/// Whether the header conforms to the schema. Every violation is reported.
pub(super) fn validate(reader: &mut Reader<'_>, header: &Fields) -> bool {
    let before = reader.diagnostics.len();
    match header.find("description").map(|field| (&field.node.value, field.node.span.clone())) {
        Some((Value::Text(text), _)) if !text.trim().is_empty() => {}
        Some((Value::Null | Value::Text(_), span)) => {
            reader.report(Code::MissingDescription, span, "`description` is empty");
        }
        Some((other, span)) => {
            reader
                .report(Code::WrongType, span, format!("`description` must be text, found {}", other.kind()))
                .help = "put the description in quotes".to_owned();
        }
        None => {
            reader.report(Code::MissingDescription, 0..3, "`description` is required");
        }
    }
    if header.find("priority").is_none() {
        reader.report(Code::MissingPriority, 0..3, "`priority` is required");
    }
    header.priority(reader);
    if let Some(field) = header.find("globs") {
        let wrong = match &field.node.value {
            Value::List(items) => items.iter().find(|item| !matches!(item.value, Value::Text(_))),
            _ => Some(&field.node),
        };
        if let Some(node) = wrong {
            let message = format!("`globs` must be a list of strings, found {}", node.value.kind());
            reader.report(Code::WrongType, node.span.clone(), message).help =
                "write `globs: [\"src/**\"]`".to_owned();
        }
    }
    header.always_apply(reader);
    reader.diagnostics.len() == before
}

/// Reports a file without a header. A README is not meant to be a rule.
pub(super) fn report_headless(reader: &mut Reader<'_>) {
    let name = reader.origin.inner.rsplit('/').next().unwrap_or_default();
    if name.eq_ignore_ascii_case("readme.md") {
        reader.report(Code::NotARule, 0..0, "has no header and is treated as documentation");
    } else {
        reader.report(Code::MissingHeader, 0..0, format!("{} rules require a header", reader.format().agent));
    }
}
