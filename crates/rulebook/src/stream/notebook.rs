//! Notebooks: the code in their cells, which is what syntax triggers judge.

use serde_json::{Map, Value};

use crate::evidence::plain;
use crate::syntax::Language;

/// What a call does to one cell of a notebook.
#[derive(Debug)]
pub(super) struct CellEdit {
    /// The code of the cell before and after the call.
    pub(super) before: String,
    pub(super) after: String,
}

/// Whether a file is a notebook.
pub(super) fn is_notebook(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, extension)| extension.eq_ignore_ascii_case("ipynb"))
}

/// The code of all cells of a notebook; nothing if the text is none.
pub(super) fn code(text: &str) -> String {
    let notebook = serde_json::from_str::<Value>(text).unwrap_or_default();
    let code = cells(&notebook).iter().filter(|cell| is_code(cell)).map(source);
    code.map(|source| source + "\n").collect()
}

/// The extension of files with the code of a notebook: that of its language. Most are in Python.
pub(super) fn extension(text: &str) -> &'static str {
    let notebook = serde_json::from_str::<Value>(text).unwrap_or_default();
    let named = |pointer: &str| notebook.pointer(pointer).and_then(Value::as_str);
    let name = named("/metadata/language_info/name").or_else(|| named("/metadata/kernelspec/language"));
    let language = name.and_then(|name| Language::named(&name.to_lowercase()));
    language.and_then(|language| language.extensions.first()).unwrap_or(&"py")
}

/// What a call with these arguments does to a cell, whose new text is given.
pub(super) fn cell_edit(notebook: &str, arguments: &Map<String, Value>, new: &str) -> CellEdit {
    let given = |keys: &[&str]| {
        arguments.iter().find(|(key, _)| keys.contains(&plain(key).as_str())).map(|(_, value)| value)
    };
    let text = |keys: &[&str]| given(keys).and_then(Value::as_str).unwrap_or_default();
    let notebook = serde_json::from_str::<Value>(notebook).unwrap_or_default();
    let cells = cells(&notebook);
    let mode = text(&["editmode", "edittype"]);
    // A cell without an id is named by its place: `cell-3`.
    let id = text(&["cellid"]);
    let place = id.strip_prefix("cell-").and_then(|place| place.parse::<usize>().ok());
    let place = place.or_else(|| usize::try_from(given(&["cellnumber", "cellidx"])?.as_u64()?).ok());
    let by_id = || cells.iter().find(|cell| cell.get("id").and_then(Value::as_str) == Some(id));
    let cell = by_id().or_else(|| cells.get(place?)).filter(|_| mode != "insert");
    let kind = text(&["celltype"]);
    let is_code = if kind.is_empty() { cell.is_none_or(is_code) } else { kind == "code" };
    CellEdit {
        before: cell.map(source).unwrap_or_default(),
        after: if is_code && mode != "delete" { new.to_owned() } else { String::new() },
    }
}

fn cells(notebook: &Value) -> &[Value] {
    notebook.get("cells").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn is_code(cell: &Value) -> bool {
    cell.get("cell_type").and_then(Value::as_str) == Some("code")
}

/// The text of a cell: one text, or a list of lines.
fn source(cell: &Value) -> String {
    match cell.get("source") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(lines)) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}
