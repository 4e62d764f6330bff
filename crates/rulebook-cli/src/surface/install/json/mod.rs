//! Edits JSON with comments: adds our entries and removes them again, without touching any other byte.
//!
//! The layout alone shows what we added, so removal needs no record: a container that we created has white space after its
//! opening bracket, and one that existed but was empty gets its first entry without white space.

mod document;
mod merge;
mod server;
mod strip;

#[cfg(test)]
mod tests;

use jsonc_parser::common::Ranged as _;
use serde_json::Value as Json;

use super::fault::Fault;
use super::print;
use super::program::Program;
use document::{Document, Edit};
use merge::merge;
use strip::strip;

/// Returns the text with the patch's entries; a new file consists of them. Objects are merged, lists get our entry at their
/// end, and an entry of ours that runs another program is corrected in place.
pub(super) fn add(text: Option<&str>, patch: &Json, program: &Program) -> Result<String, Fault> {
    let Some(text) = text else { return Ok(print::broken(patch, "  ", "") + "\n") };
    let document = Document::parse(text)?;
    let mut edits = Vec::new();
    merge(&document, patch, program, &mut edits)?;
    let added = apply(text, edits);
    Document::parse(&added)?;
    Ok(added)
}

/// Returns the text without our entries; `None` if it contained nothing else.
pub(super) fn remove(text: &str, patch: &Json, program: &Program) -> Result<Option<String>, Fault> {
    let document = Document::parse(text)?;
    let mut edits = Vec::new();
    let is_emptied = strip(&document, patch, program, &mut edits);
    let range = document.root.range();
    let around = [&text[..range.start], &text[range.end..]];
    if is_emptied && around.iter().all(|text| text.trim().is_empty()) {
        return Ok(None);
    }
    let left = apply(text, edits);
    Document::parse(&left)?;
    Ok(Some(left))
}

fn apply(text: &str, mut edits: Vec<Edit>) -> String {
    // The sort is stable: insertions at the same place keep their order.
    edits.sort_by_key(|(range, _)| range.start);
    let (mut edited, mut done) = (String::new(), 0);
    for (range, new) in edits {
        edited.push_str(&text[done..range.start]);
        edited.push_str(&new);
        done = range.end;
    }
    edited + &text[done..]
}
