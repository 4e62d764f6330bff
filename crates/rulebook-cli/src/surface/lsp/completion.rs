//! Completion: keys and values of headers, globs from the tree, and names of rules and files in the text.

use std::collections::BTreeMap;
use std::ops::Range;

use rulebook::format::Format;
use rulebook::frontmatter::{self, Field, Header, Tier, Value as Scalar};
use rulebook::id::percent_encoded;
use rulebook::parse::{
    explain_inner_keys, explain_inner_values, explain_keys, explain_terms, explain_values, imports,
    is_inner_glob,
};
use rulebook::rule::Rule;
use serde_json::{Value, json};

use super::cursor::{At, Cursor, in_header};
use super::document::Document;
use super::protocol::Place;
use super::server::Server;
use super::snapshot::Snapshot;
use crate::out::plural;

/// How many proposals are sent.
const MAX_ITEMS: usize = 200;

/// The keys whose values are globs, in any format.
const GLOB_KEYS: &[&str] = &["applyTo", "fileMatchPattern", "globs", "paths", "patterns"];

/// Whether the values of a key are globs.
pub(super) fn is_paths_key(format: &Format, key: &str) -> bool {
    GLOB_KEYS.contains(&key) || key == format.paths_key
}

/// The kinds of proposals that editors show with symbols.
const PROPERTY: u8 = 10;
const VALUE: u8 = 12;
const FILE: u8 = 17;
const REFERENCE: u8 = 18;

pub(super) fn complete(server: &Server, place: &Place) -> Value {
    let Some((document, snapshot)) = server.open(&place.text_document.uri) else { return Value::Null };
    let offset = document.offset(place.position);
    let in_header = || {
        let format = snapshot.origin(document.name())?.format;
        Some((in_header(&document.text, offset)?, format)).filter(|_| format.tier.is_some())
    };
    let items = match in_header() {
        Some((cursor, format)) => header(snapshot, document, format, &cursor, offset),
        None if snapshot.has_rule_text(document.name()) => body(snapshot, document, offset),
        None => return Value::Null,
    };
    let items: Vec<Value> = items.into_iter().enumerate().map(ordered).collect();
    json!({ "isIncomplete": items.len() >= MAX_ITEMS, "items": items })
}

fn header(
    snapshot: &Snapshot,
    document: &Document,
    format: &Format,
    cursor: &Cursor<'_>,
    offset: usize,
) -> Vec<Value> {
    let Cursor { parents, at } = cursor;
    let propose = |typed: &str, kind, end: &str, all: Vec<(String, String)>| {
        let range = offset - typed.len()..offset;
        let items = all
            .into_iter()
            .map(|(text, note)| item(document, range.clone(), kind, &text, &format!("{text}{end}"), &note));
        items.collect()
    };
    let is_known = parents.first().is_none_or(|first| format.known_keys().contains(first));
    let is_top = parents.is_empty();
    // A key may be written once.
    let new = |mut keys: Vec<(String, String)>| {
        let written = keys_beside(&document.text, parents, offset);
        keys.retain(|(key, _)| !written.contains(key));
        keys
    };
    match *at {
        _ if !is_known => Vec::new(),
        At::Key(typed) if is_top => propose(typed, PROPERTY, ": ", new(named(explain_keys(format)))),
        At::Key(typed) => propose(typed, PROPERTY, ": ", new(named(explain_inner_keys(parents)))),
        At::Value { key, typed } if is_inner_glob(parents, key) || is_top && is_paths_key(format, key) => {
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
        At::Value { key: "when", typed } if is_top => {
            let word = typed.rsplit([' ', '(', '"', '\'']).next().unwrap_or(typed);
            match word.split_once(':') {
                None => propose(word, PROPERTY, "", explain_terms()),
                Some(("paths", typed)) => propose(typed, FILE, "", globs(snapshot, typed)),
                Some((key, typed)) => propose(typed, VALUE, "", named(explain_values(format, key))),
            }
        }
        At::Value { key, typed } if is_top => propose(typed, VALUE, "", named(explain_values(format, key))),
        At::Value { key, typed } => {
            let words = explain_inner_values(parents, key).into_iter();
            propose(typed, VALUE, "", words.map(|word| (word.to_owned(), String::new())).collect())
        }
    }
}

/// The other keys of the map in which somebody types, at an offset below these keys.
fn keys_beside(text: &str, parents: &[&str], offset: usize) -> Vec<String> {
    let Header::Read { mut fields, .. } = frontmatter::read(text, Tier::Lines).header else {
        return Vec::new();
    };
    for parent in parents {
        let Some(field) = fields.into_iter().find(|field| field.key == *parent) else { return Vec::new() };
        let value = match field.node.value {
            Scalar::List(nodes) => {
                nodes.into_iter().find(|node| node.span.contains(&offset)).map(|node| node.value)
            }
            value => Some(value),
        };
        let Some(Scalar::Map(inner)) = value else { return Vec::new() };
        fields = inner;
    }
    let is_beside = |field: &Field| offset < field.key_span.start || field.key_span.end < offset;
    fields.into_iter().filter(is_beside).map(|field| field.key).collect()
}

fn named(all: Vec<(&str, impl Into<String>)>) -> Vec<(String, String)> {
    all.into_iter().map(|(name, meaning)| (name.to_owned(), meaning.into())).collect()
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
fn body(snapshot: &Snapshot, document: &Document, offset: usize) -> Vec<Value> {
    let start = document.text[..offset].rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let word = &document.text[start..offset];
    if let Some(at) = word.rfind("rule://") {
        let range = start + at + "rule://".len()..offset;
        // What an address reads is the enabled rule that has it.
        let mut names: BTreeMap<&str, &Rule> = BTreeMap::new();
        let (off, on): (Vec<_>, Vec<_>) =
            snapshot.views.meant.book.rules().partition(|(_, off)| off.is_some());
        names.extend(
            off.into_iter().rev().chain(on.into_iter().rev()).map(|(rule, _)| (rule.address(), rule)),
        );
        let items = names.into_iter().take(MAX_ITEMS).map(|(name, rule)| {
            // The `@` of a key is read as it is.
            let written = percent_encoded(name).replace("%40", "@");
            item(document, range.clone(), REFERENCE, name, &written, &rule.origin.display)
        });
        return items.collect();
    }
    let Some(start) = import_start(&document.text, offset) else { return Vec::new() };
    let typed = document.text[start..offset].replace("\\ ", " ");
    let Some((root, path)) = snapshot.located(document.name()) else { return Vec::new() };
    let own = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let (folder, name) = typed.rfind('/').map_or(("", &*typed), |at| typed.split_at(at + 1));
    let Some(below) = resolved(own, folder) else { return Vec::new() };
    let is_text = |path: &str| [".md", ".mdc", ".txt"].iter().any(|end| path.ends_with(end));
    let files = snapshot.files.evidence.paths.iter().filter(|seen| seen.root == root);
    let mut found: Vec<&str> = files
        .filter_map(|seen| seen.path.strip_prefix(&below))
        .filter(|path| path.starts_with(name))
        .collect();
    // Most imports are of texts.
    found.sort_by_key(|path| !is_text(path));
    let paths = found.into_iter().take(MAX_ITEMS).map(|path| format!("{folder}{path}").replace(' ', "\\ "));
    paths.map(|path| item(document, start..offset, FILE, &path, &path, "")).collect()
}

/// Where the path of an import starts that ends at an offset, as if one more character of it were written.
fn import_start(text: &str, offset: usize) -> Option<usize> {
    let (before, after) = text.split_at(offset);
    let import =
        imports(&[before, "x", after].concat()).into_iter().find(|import| import.span.contains(&offset));
    Some(import?.span.start + 1)
}

/// A folder that is written relative to another one, with a `/` at its end; `None` outside of the root.
fn resolved(own: &str, written: &str) -> Option<String> {
    if written.starts_with(['/', '~']) {
        return None;
    }
    let mut names: Vec<&str> = own.split('/').filter(|name| !name.is_empty()).collect();
    for name in written.split('/').filter(|name| !name.is_empty()) {
        match name {
            "." => {}
            ".." => {
                names.pop()?;
            }
            name => names.push(name),
        }
    }
    Some(names.into_iter().map(|name| format!("{name}/")).collect())
}

/// A proposal that stays in its place.
fn ordered((at, mut item): (usize, Value)) -> Value {
    item["sortText"] = format!("{at:04}").into();
    item
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
    fn imports_are_completed_where_they_are_read() {
        #[track_caller]
        fn check(before: &str, wanted: Option<&str>) {
            let start = import_start(before, before.len());
            assert_eq!(start.map(|start| &before[start..]), wanted, "{before:?}");
        }
        check("@", Some(""));
        check("See @docs/", Some("docs/"));
        check("(@./", Some("./"));
        check("a@b", None);
        check("plain", None);
        check("`@docs/", None);
        check("`x @docs/` @", Some(""));
        let code = "```\n@docs/\n```\n";
        assert_eq!(import_start(code, code.find("/\n").unwrap() + 1), None);
    }

    #[test]
    fn folders_are_resolved_inside_the_root() {
        #[track_caller]
        fn check(own: &str, written: &str, wanted: Option<&str>) {
            assert_eq!(resolved(own, written).as_deref(), wanted, "{own} {written}");
        }
        check("", "", Some(""));
        check("", "./", Some(""));
        check("", "../", None);
        check(".claude/rules", "../../docs/", Some("docs/"));
        check("a", "../../", None);
        check("a", "b/./c/", Some("a/b/c/"));
        check("", "/etc/", None);
    }
}
