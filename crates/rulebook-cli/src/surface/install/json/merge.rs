//! Adds entries to a JSON file, laid out as the file is.

use std::ops::Range;

use jsonc_parser::ast::{StringLit, Value};
use jsonc_parser::common::Ranged;
use rulebook_workspace::wiring::SERVER;
use serde_json::{Map, Value as Json};

use super::document::{Document, Edit, is_container, is_listed, items, member, own_lines};
use super::server::ServerEntry;
use crate::surface::install::fault::Fault;
use crate::surface::install::print;
use crate::surface::install::program::Program;

/// Collects the edits that add the patch's entries to the document.
pub(super) fn merge(
    document: &Document<'_>,
    patch: &Json,
    program: &Program,
    edits: &mut Vec<Edit>,
) -> Result<(), Fault> {
    Merge { document, program, edits }.merge(&document.root, patch, "the file")
}

struct Merge<'a, 't> {
    document: &'a Document<'t>,
    program: &'a Program,
    edits: &'a mut Vec<Edit>,
}

impl Merge<'_, '_> {
    fn merge(&mut self, value: &Value<'_>, patch: &Json, name: &str) -> Result<(), Fault> {
        let wants = |what: &str| Fault::new(value.range().start, format!("{name} must be {what}"));
        match patch {
            Json::Object(parts) => {
                let object = value.as_object().ok_or_else(|| wants("an object"))?;
                let mut missing = Map::new();
                for (key, part) in parts {
                    match member(object, key) {
                        None => {
                            missing.insert(key.clone(), part.clone());
                        }
                        Some(own) if key == SERVER => self.correct_server(own)?,
                        Some(below) if is_container(part) => {
                            self.merge(below, part, &format!("`{key}`"))?;
                        }
                        Some(_) => {}
                    }
                }
                // A scalar such as the version number is only written together with a container.
                if missing.values().any(is_container) {
                    self.insert(value, &Json::Object(missing));
                }
            }
            Json::Array(_) => {
                let array = value.as_array().ok_or_else(|| wants("a list"))?;
                let program = self.program;
                let ours = array.elements.iter().flat_map(handlers);
                let ours: Vec<(&Value<'_>, Vec<(&str, &StringLit<'_>)>)> = ours
                    .map(|handler| (handler, own_lines(handler, program)))
                    .filter(|(_, lines)| !lines.is_empty())
                    .collect();
                if ours.is_empty() && !array.elements.iter().any(|element| is_listed(element, patch)) {
                    self.insert(value, patch);
                }
                let wanted = patch.get(0).map(|group| group.pointer("/hooks/0").unwrap_or(group));
                for (handler, lines) in ours {
                    for (key, own) in lines {
                        let line = program.line_like(key, &own.value);
                        if own.value != line {
                            self.edits.push((span(own), Json::from(line).to_string()));
                        }
                    }
                    // The variables of a command of this version.
                    self.merge(handler, wanted.unwrap_or(&Json::Null), "the hook")?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Writes our program into our server's entry; what the user added to it stays.
    fn correct_server(&mut self, own: &Value<'_>) -> Result<(), Fault> {
        let server = ServerEntry::of(own).filter(|server| server.is_ours(self.program));
        let Some(server) = server else { return Err(Fault::other_server(own.range().start)) };
        if server.program.value != self.program.path {
            self.edits.push((span(server.program), Json::from(self.program.path.as_str()).to_string()));
        }
        Ok(())
    }

    /// Inserts the patch's items after the last item of `value`.
    fn insert(&mut self, value: &Value<'_>, patch: &Json) {
        let document = self.document;
        let (range, items) = (value.range(), items(value));
        let close = range.end - 1;
        let Some(before) = document.token_before(close) else { return };
        let at = before.range.end;
        let breaks = |from: usize, to: usize| document.text[from..to].contains('\n');
        let is_spread = breaks(at, close)
            || match items.first() {
                Some(first) => breaks(range.start, first.start),
                None => {
                    breaks(0, document.text.trim_end().len())
                        || at == range.start + 1 && range == document.root.range()
                }
            };
        let layout = if is_spread { Layout::Lines } else { Layout::Line };
        let own_line = items.last().and_then(|last| document.indent_of_line(last.start));
        let indent =
            own_line.map_or_else(|| document.indent_at(range.start) + &document.unit(), str::to_owned);
        let lead = match layout {
            Layout::Lines => format!("{}{indent}", document.line_end()),
            Layout::Line => " ".to_owned(),
        };
        let written = |part: &Json| self.written(part, &indent, layout);
        let parts: Vec<String> = match patch {
            Json::Object(parts) => print::pairs(parts, written),
            Json::Array(parts) => parts.iter().map(written).collect(),
            _ => Vec::new(),
        };
        let new = parts.join(&format!(",{lead}"));
        match items.last().map(|last| (last.end(), document.comma_after(last.end()))) {
            Some((end, None)) => self.edits.extend([(end..end, ",".to_owned()), (at..at, lead + &new)]),
            Some((_, Some(_))) => self.edits.push((at..at, format!("{lead}{new},"))),
            // Without white space, which marks containers that we created.
            None if at == range.start + 1 => self.edits.push((at..at, new)),
            None => self.edits.push((at..at, lead + &new)),
        }
    }

    fn written(&self, value: &Json, indent: &str, layout: Layout) -> String {
        match layout {
            Layout::Lines => {
                print::lines(value, &self.document.unit(), indent).replace('\n', self.document.line_end())
            }
            Layout::Line => print::line(value),
        }
    }
}

#[derive(Clone, Copy)]
enum Layout {
    Line,
    Lines,
}

/// Returns the handlers of a list's element: those of its group, or the element itself.
fn handlers<'a, 't>(element: &'a Value<'t>) -> Vec<&'a Value<'t>> {
    let group = element.as_object().and_then(|element| member(element, "hooks"));
    match group.and_then(Value::as_array) {
        Some(group) => group.elements.iter().collect(),
        None => vec![element],
    }
}

fn span(value: &impl Ranged) -> Range<usize> {
    value.start()..value.end()
}
