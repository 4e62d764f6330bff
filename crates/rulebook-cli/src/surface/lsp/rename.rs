//! Renaming a rule: its id, and every place that names it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use anyhow::{Context as _, anyhow, bail};
use rulebook::fix::Readers;
use rulebook::frontmatter::{self, Header, Tier};
use rulebook::id::{normalize_id, rule_name, rule_uri};
use rulebook::resolve::Rulebook;
use rulebook::rule::Rule;
use rulebook_workspace::team::switches;
use serde_json::{Value, json};

use super::document::Lines;
use super::navigate::body_start;
use super::protocol::{Place, real};
use super::reading::reads_as;
use super::references::{Places, Texts, all_mentions, importing, mention_at, mentions, named};
use super::server::Server;

/// The changes that give a rule another id.
pub(super) fn rename(server: &Server, place: &Place) -> anyhow::Result<Value> {
    let (document, snapshot) = server.open(&place.text_document.uri).context("the file is not open")?;
    let texts = Texts::new(server, snapshot);
    let book = &snapshot.views.meant.book;
    let (rule, _) = subject(server, place)?;
    let new = checked(book, rule, place.new_name.trim())?;
    let mut changes: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let mut edit = |path: &str, text: &str, span: Range<usize>, new: &str| {
        let edit = json!({ "range": Lines::of(text).span(text, span), "newText": new });
        changes.entry(snapshot.uris.of(path)).or_default().push(edit);
    };
    let own = texts.of(&rule.origin.path).context("the rule's file cannot be read")?;
    let written = id_value(&own);
    if let Some(span) = written.clone() {
        let readers = snapshot.readers(Path::new(&rule.origin.path), &real(Path::new(&rule.origin.path)));
        let readers = readers.context("the rule's file is not read")?;
        let (span, value) = spelled(&readers, &own, span, new)
            .with_context(|| format!("`{new}` cannot be written into this header as an id"))?;
        edit(&rule.origin.path, &own, span, &value);
    }
    for Places { path, text, spans } in mentions(&texts, document, &[rule]) {
        let name = rule_uri(new);
        let name = name.trim_start_matches("rule://");
        spans.into_iter().for_each(|span| edit(&path, &text, span, name));
    }
    let moved = if written.is_none() { Some(moved(server, rule, &own, new)?) } else { None };
    let shown = moved.as_ref().map(|path| snapshot.display(Path::new(path)));
    for root in &snapshot.workspace.roots.roots {
        let path = format!("{}/rulebook.toml", root.path);
        let Some(text) = texts.of(&path) else { continue };
        for (span, value) in switched(book, rule, &text, new, shown.as_deref()) {
            edit(&path, &text, span, &value);
        }
    }
    let Some(moved) = moved else { return Ok(json!({ "changes": changes })) };
    let names = [rule.origin.path.as_str(), &moved].map(|path| path.rsplit('/').next().unwrap_or(path));
    for Places { path, text, spans } in importing(&texts, &[rule.origin.path.clone()].into()) {
        // An import through a link has another name.
        for span in spans.into_iter().filter(|span| text[span.clone()].ends_with(names[0])) {
            edit(&path, &text, span.end - names[0].len()..span.end, names[1]);
        }
    }
    let mut all: Vec<Value> = changes
        .into_iter()
        .map(|(uri, edits)| json!({ "textDocument": { "uri": uri, "version": null }, "edits": edits }))
        .collect();
    all.push(json!({ "kind": "rename", "oldUri": snapshot.uris.of(&rule.origin.path), "newUri": snapshot.uris.of(&moved) }));
    Ok(json!({ "documentChanges": all }))
}

/// What would be renamed here, before the user writes a name.
pub(super) fn prepare(server: &Server, place: &Place) -> anyhow::Result<Value> {
    let (document, _) = server.open(&place.text_document.uri).context("the file is not open")?;
    let (rule, span) = subject(server, place)?;
    let offset = document.offset(place.position);
    // In the header, the id may be on another line, or in no line.
    let span = span.unwrap_or(offset..offset);
    Ok(json!({ "range": document.span(span), "placeholder": rule.id }))
}

/// The rule at a place: named by `rule://NAME`, or in a header the rule of the file. The range is that of its name there.
fn subject<'s>(server: &'s Server, place: &Place) -> anyhow::Result<(&'s Rule, Option<Range<usize>>)> {
    let (document, snapshot) = server.open(&place.text_document.uri).context("the file is not open")?;
    let (text, offset) = (&document.text, document.offset(place.position));
    if let Some((span, name)) = mention_at(text, offset) {
        let (rule, _) =
            named(&snapshot.views.meant.book, &name).with_context(|| format!("no rule named `{name}`"))?;
        return Ok((rule, Some(span)));
    }
    let own = snapshot.rules_of(document.name());
    let (_, rule) =
        own.first().context("this is not a rule: rename a rule in its own file, or at `rule://NAME`")?;
    let first_line = text.find('\n').unwrap_or(text.len());
    if offset > first_line && offset >= body_start(rule, text) {
        bail!("this is the text of a rule: rename the rule in its header, or at `rule://NAME`");
    }
    Ok((rule, id_value(text).filter(|span| span.start <= offset && offset <= span.end)))
}

/// The new id, if it can be one.
fn checked<'n>(book: &Rulebook, rule: &Rule, new: &'n str) -> anyhow::Result<&'n str> {
    let id = normalize_id(new);
    if id.is_empty() {
        bail!("an id cannot be empty");
    }
    if id != new {
        bail!("`{new}` is not an id: write `{id}`");
    }
    let uri = rule_uri(new);
    let is_read = rule_name(&uri) == new && all_mentions(&uri).any(|(_, name)| name == new);
    if !is_read {
        bail!("`{uri}` would not be read as a name: end the id in a letter or a digit");
    }
    if let Some((other, _)) = book.rules().find(|(other, _)| other.id == new && other.key() != rule.key()) {
        bail!("`{new}` is the id of {}", other.origin.display);
    }
    Ok(new)
}

/// The value of `id` in a header, without its quotes.
fn id_value(text: &str) -> Option<Range<usize>> {
    let Header::Read { fields, .. } = frontmatter::read(text, Tier::Lines).header else { return None };
    let field = fields.into_iter().find(|field| field.key == "id")?;
    let value = text.get(field.node.span.clone())?;
    let quotes = usize::from(value.starts_with(['"', '\'']) && value.len() > 1);
    Some(field.node.span.start + quotes..field.node.span.end - quotes)
}

/// The new id as a value that every reader reads as that id, with nothing else changed: as the old one is written, or in
/// quotes.
fn spelled(readers: &Readers, text: &str, span: Range<usize>, new: &str) -> Option<(Range<usize>, String)> {
    let before = reads_as(readers, text);
    let forms = [new.to_owned(), format!("\"{new}\""), format!("'{new}'")];
    forms.into_iter().map(|value| (span.clone(), value)).find(|(span, value)| {
        let now = [&text[..span.start], value, &text[span.end..]].concat();
        let after = reads_as(readers, &now);
        let has_id = readers.meant.iter().zip(&after).all(|(_, read)| read.id.as_deref() == Some(new));
        has_id && before.iter().zip(&after).all(|(one, other)| one.is_same_rule(other))
    })
}

/// The new path of a rule whose id is its file's name.
fn moved(server: &Server, rule: &Rule, text: &str, new: &str) -> anyhow::Result<String> {
    let by_name = || {
        let path = Path::new(&rule.origin.path);
        let name = path.file_name()?.to_str()?;
        let (stem, end) = name.split_once('.')?;
        (normalize_id(stem) == rule.id && !new.contains('/')).then_some((path.parent()?, end))
    };
    let Some((folder, end)) = by_name() else {
        return Err(anyhow!("the id comes from the file's place: add `id: {new}` to its header"));
    };
    if !server.client.renames {
        bail!(
            "the id is the file's name, and this editor cannot rename files: add `id: {new}` to its header"
        );
    }
    let path = folder.join(format!("{new}.{end}"));
    if path.exists() {
        bail!("`{}` exists", path.display());
    }
    // Other systems, and imports, do not allow every name.
    let readers = server.snapshot.as_deref().and_then(|snapshot| snapshot.readers(&path, &path));
    let ids = readers.map(|readers| reads_as(&readers, text)).unwrap_or_default();
    let is_id = ids.first().is_some_and(|read| read.id.as_deref() == Some(new));
    if !is_id || new.contains(|c: char| "\\:*?|#()[]{}`".contains(c)) {
        bail!("the id is the file's name, which `{new}` cannot be: add `id:` to its header");
    }
    Ok(path.to_string_lossy().into_owned())
}

/// The changes of `disabled_ids` in a settings file that keep a rule off, and no other one on. `moved` is the new name of its
/// file, if that changes.
fn switched(
    book: &Rulebook,
    rule: &Rule,
    text: &str,
    new: &str,
    moved: Option<&str>,
) -> Vec<(Range<usize>, String)> {
    let renamed = |entry: &str| match entry {
        entry if rule.is_at(entry) => moved.map(str::to_owned),
        entry if rule.has_key(entry) => Some(format!("{new}@{}", rule.origin.format.id)),
        entry if normalize_id(entry) == rule.id => Some(new.to_owned()),
        _ => None,
    };
    let is_shared =
        |entry: &str| book.lookup(entry).into_iter().any(|(other, _)| other.origin.path != rule.origin.path);
    let changed = switches(text).into_iter().filter_map(|(span, entry)| {
        let name = renamed(&entry)?;
        // A backslash is one only in single quotes.
        let quote = if name.contains('\\') || text[span.clone()].starts_with('\'') { '\'' } else { '"' };
        let written = format!("{quote}{name}{quote}");
        Some(if is_shared(&entry) { (span.end..span.end, format!(", {written}")) } else { (span, written) })
    });
    changed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_is_found_without_its_quotes() {
        #[track_caller]
        fn check(text: &str, wanted: Option<&str>) {
            assert_eq!(id_value(text).map(|span| &text[span]), wanted, "{text:?}");
        }
        check("---\nid: web\n---\nx\n", Some("web"));
        check("---\nid: \"web\"\nglobs: *.ts\n---\nx\n", Some("web"));
        check("---\nname: web\n---\nx\n", None);
        check("x\n", None);
    }
}
