//! Completion: keys and values of headers, globs from the tree, and names of rules and files in the text.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use rulebook::format::Format;
use rulebook::parse::{explain_keys, explain_values};
use serde_json::{Value, json};

use super::document::Document;
use super::protocol::Place;
use super::server::Server;
use super::snapshot::Snapshot;
use crate::out::plural;

/// How many proposals are sent.
const MAX_ITEMS: usize = 200;

/// The keys whose values are globs, in any format.
const GLOB_KEYS: &[&str] = &["applyTo", "fileMatchPattern", "globs", "paths", "patterns"];

/// The kinds of proposals that editors show with symbols.
const PROPERTY: u8 = 10;
const VALUE: u8 = 12;
const FILE: u8 = 17;
const REFERENCE: u8 = 18;

pub(super) fn complete(server: &Server, place: &Place) -> Value {
    let Some((document, snapshot)) = server.open(&place.text_document.uri) else { return Value::Null };
    let Some(origin) = snapshot.origin(document.name()) else { return Value::Null };
    let offset = document.offset(place.position);
    let items = match (in_header(&document.text, offset), origin.format.tier) {
        (Some(cursor), Some(_)) => header(snapshot, document, origin.format, &cursor, offset),
        _ => body(snapshot, document, origin.root, offset),
    };
    json!({ "isIncomplete": items.len() >= MAX_ITEMS, "items": items })
}

/// Where in a header somebody types.
#[derive(Debug, PartialEq)]
enum Cursor<'t> {
    /// A key, as far as it is written.
    Key(&'t str),
    /// A value of a key, as far as it is written.
    Value { key: &'t str, typed: &'t str },
}

/// The place of an offset in the header; `None` outside of it. A header that is not closed yet ends at the offset.
fn in_header(text: &str, offset: usize) -> Option<Cursor<'_>> {
    let mut lines = text[..offset].split('\n');
    let first = lines.next().filter(|line| line.trim_start_matches('\u{feff}').trim_end() == "---")?;
    let before = &text[first.len()..offset];
    if before.lines().any(|line| line.trim_end() == "---") {
        return None;
    }
    let line = before.rsplit('\n').next()?;
    let is_nested = line.starts_with([' ', '\t', '-']);
    if let Some((key, value)) = line.split_once(':').filter(|_| !is_nested) {
        let typed = value.rsplit([',', '[']).next().unwrap_or(value).trim_start();
        return Some(Cursor::Value { key: key.trim(), typed });
    }
    if is_nested {
        let item = line.trim_start().strip_prefix('-')?.trim_start();
        let above = before.lines().rev().skip(1).find(|line| !line.starts_with([' ', '\t', '-']));
        let key = above?.split_once(':')?.0.trim();
        return Some(Cursor::Value { key, typed: item });
    }
    Some(Cursor::Key(line))
}

fn header(
    snapshot: &Snapshot,
    document: &Document,
    format: &Format,
    cursor: &Cursor<'_>,
    offset: usize,
) -> Vec<Value> {
    match cursor {
        Cursor::Key(typed) => {
            let keys = explain_keys(format).into_iter();
            let item = |(key, meaning): (&str, String)| {
                item(document, offset - typed.len()..offset, PROPERTY, key, &format!("{key}: "), &meaning)
            };
            keys.map(item).collect()
        }
        Cursor::Value { key, typed } if GLOB_KEYS.contains(key) || *key == format.paths_key => {
            let quote = typed.chars().next().filter(|c| matches!(c, '"' | '\''));
            let bare = typed.trim_start_matches(['"', '\'']);
            let range = offset - bare.len()..offset;
            let written = |glob: &str| match quote {
                None if !format.unquoted && glob.starts_with(['*', '!', '{', '[']) => format!("\"{glob}\""),
                _ => glob.to_owned(),
            };
            let globs = globs(snapshot, bare).into_iter();
            globs
                .map(|(glob, note)| item(document, range.clone(), FILE, &glob, &written(&glob), &note))
                .collect()
        }
        Cursor::Value { key, typed } => {
            let range = offset - typed.len()..offset;
            let values = explain_values(format, key).into_iter();
            values
                .map(|(value, meaning)| item(document, range.clone(), VALUE, value, value, &meaning))
                .collect()
        }
    }
}

/// Globs that match files of the tree and start with what is written: folders, and patterns for the extensions in them.
fn globs(snapshot: &Snapshot, typed: &str) -> Vec<(String, String)> {
    let folder = typed.rfind('/').map_or("", |at| &typed[..=at]);
    let plain =
        folder.split_inclusive('/').take_while(|part| !part.contains(['*', '{', '['])).collect::<String>();
    let rest = &folder[plain.len()..];
    let mut folders: BTreeMap<&str, usize> = BTreeMap::new();
    let mut extensions: BTreeMap<&str, usize> = BTreeMap::new();
    for seen in &snapshot.files.evidence.paths {
        let Some(inside) = seen.path.strip_prefix(&plain) else { continue };
        if let Some((next, _)) = inside.split_once('/') {
            *folders.entry(next).or_default() += 1;
        }
        let name = inside.rsplit('/').next().unwrap_or(inside);
        if let Some((_, extension)) = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()) {
            *extensions.entry(extension).or_default() += 1;
        }
    }
    let files = |count: usize| plural(count, "file");
    let mut all: Vec<(usize, String)> = Vec::new();
    if rest.is_empty() {
        all.extend(folders.iter().map(|(name, count)| (*count, format!("{plain}{name}/**"))));
        all.extend(extensions.iter().map(|(end, count)| (*count, format!("{plain}**/*.{end}"))));
    } else {
        all.extend(extensions.iter().map(|(end, count)| (*count, format!("{folder}*.{end}"))));
    }
    all.sort_by(|a, b| (b.0, &a.1).cmp(&(a.0, &b.1)));
    all.truncate(MAX_ITEMS);
    all.into_iter().map(|(count, glob)| (glob, files(count))).collect()
}

/// Names after `@` and `rule://` in the text.
fn body(snapshot: &Snapshot, document: &Document, root: usize, offset: usize) -> Vec<Value> {
    let start = document.text[..offset].rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let word = &document.text[start..offset];
    let rules = || snapshot.views.meant.book.rules().map(|(rule, _)| rule);
    if let Some(at) = word.rfind("rule://") {
        let range = start + at + "rule://".len()..offset;
        let mut names: BTreeSet<(&str, &str)> = BTreeSet::new();
        names.extend(rules().map(|rule| (rule.name.as_str(), rule.origin.display.as_str())));
        let items = names.into_iter().take(MAX_ITEMS);
        return items
            .map(|(name, note)| item(document, range.clone(), REFERENCE, name, name, note))
            .collect();
    }
    let Some(typed) = word.strip_prefix('@') else { return Vec::new() };
    let is_text = |path: &str| [".md", ".mdc", ".txt"].iter().any(|end| path.ends_with(end));
    // Imports are relative to the file that has them.
    let own = document.name().parent().and_then(|folder| snapshot.located(folder)).map(|(_, folder)| folder);
    let own = own.unwrap_or_default();
    let up = typed.split_inclusive('/').take_while(|part| *part == "../").count();
    let folder = own.split('/').rev().skip(up).collect::<Vec<_>>();
    let folder = folder.into_iter().rev().filter(|name| !name.is_empty()).map(|name| format!("{name}/"));
    let folder = folder.collect::<String>();
    let (up, typed) = typed.split_at(up * "../".len());
    let files = snapshot.files.evidence.paths.iter().filter(|seen| seen.root == root && is_text(&seen.path));
    let below =
        files.filter_map(|seen| seen.path.strip_prefix(&folder)).filter(|path| path.starts_with(typed));
    let range = start + 1..offset;
    let paths = below.take(MAX_ITEMS).map(|path| format!("{up}{path}"));
    paths.map(|path| item(document, range.clone(), FILE, &path, &path, "")).collect()
}

fn item(document: &Document, range: Range<usize>, kind: u8, label: &str, text: &str, note: &str) -> Value {
    json!({
        "label": label, "kind": kind, "detail": note, "filterText": label,
        "textEdit": { "range": document.span(range), "newText": text },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_in_a_header_is_known() {
        #[track_caller]
        fn check(before: &str, wanted: &Option<Cursor<'_>>) {
            assert_eq!(&in_header(before, before.len()), wanted, "{before:?}");
        }
        let value = |key, typed| Some(Cursor::Value { key, typed });
        check("---\n", &Some(Cursor::Key("")));
        check("---\nglo", &Some(Cursor::Key("glo")));
        check("---\na: 1\nglobs: src/", &value("globs", "src/"));
        check("---\nglobs: a, b/", &value("globs", "b/"));
        check("---\nglobs: [\"a\", \"b", &value("globs", "\"b"));
        check("---\nglobs:\n  - a\n  - \"s", &value("globs", "\"s"));
        check("---\nglobs:\n- s", &value("globs", "s"));
        check("---\na: 1\n---\nx", &None);
        check("x", &None);
        check("", &None);
        check("---\r\nglo", &Some(Cursor::Key("glo")));
    }
}
