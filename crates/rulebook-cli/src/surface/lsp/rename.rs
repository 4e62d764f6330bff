//! Renaming a rule: its id, and every place that names it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use anyhow::{Context as _, anyhow, bail};
use rulebook::frontmatter::{self, Header, Tier};
use rulebook::id::{normalize_id, percent_encoded};
use rulebook::rule::Rule;
use serde_json::{Value, json};

use super::document::Lines;
use super::navigate::{body_start, importing, mention_at, mentions, named, text_of};
use super::protocol::{Place, uri_of};
use super::server::Server;
use super::snapshot::Snapshot;

/// The changes that give a rule another id.
pub(super) fn rename(server: &Server, place: &Place) -> anyhow::Result<Value> {
    let (_, snapshot) = server.open(&place.text_document.uri).context("the file is not open")?;
    let book = &snapshot.views.meant.book;
    let (rule, _) = subject(server, place)?;
    let new = place.new_name.trim();
    if new.is_empty() || normalize_id(new) != new {
        bail!("`{new}` is not an id: write `{}`", normalize_id(new));
    }
    if let Some((other, _)) = book.rules().find(|(other, _)| other.id == new && other.key() != rule.key()) {
        bail!("`{new}` is the id of {}", other.origin.display);
    }
    let mut changes: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let mut edit = |path: &str, text: &str, span: Range<usize>, new: &str| {
        let edit = json!({ "range": Lines::of(text).span(text, span), "newText": new });
        changes.entry(uri_of(path)).or_default().push(edit);
    };
    let own = text_of(server, snapshot, &rule.origin.path).context("the rule's file cannot be read")?;
    let written = id_value(&own);
    if let Some(span) = written.clone() {
        edit(&rule.origin.path, &own, span, new);
    }
    for (path, text, spans) in mentions(server, snapshot, rule) {
        spans.into_iter().for_each(|span| edit(&path, &text, span, &percent_encoded(new)));
    }
    for (path, text, span) in switches(server, snapshot, rule) {
        edit(&path, &text, span, new);
    }
    if written.is_some() {
        return Ok(json!({ "changes": changes }));
    }
    let moved = moved(server, rule, new)?;
    let names = [rule.origin.path.as_str(), &moved].map(|path| path.rsplit('/').next().unwrap_or(path));
    for (path, text, spans) in importing(server, snapshot, rule) {
        // An import through a link has another name.
        for span in spans.into_iter().filter(|span| text[span.clone()].ends_with(names[0])) {
            edit(&path, &text, span.end - names[0].len()..span.end, names[1]);
        }
    }
    let mut all: Vec<Value> = changes
        .into_iter()
        .map(|(uri, edits)| json!({ "textDocument": { "uri": uri, "version": null }, "edits": edits }))
        .collect();
    all.push(json!({ "kind": "rename", "oldUri": uri_of(&rule.origin.path), "newUri": uri_of(&moved) }));
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

/// The value of `id` in a header.
fn id_value(text: &str) -> Option<Range<usize>> {
    let Header::Read { fields, .. } = frontmatter::read(text, Tier::Lines).header else { return None };
    let field = fields.into_iter().find(|field| field.key == "id")?;
    let value = text.get(field.node.span.clone())?;
    let quotes = usize::from(value.starts_with(['"', '\'']) && value.len() > 1);
    Some(field.node.span.start + quotes..field.node.span.end - quotes)
}

/// The new path of a rule whose id is its file's name.
fn moved(server: &Server, rule: &Rule, new: &str) -> anyhow::Result<String> {
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
    Ok(path.to_string_lossy().into_owned())
}

/// Where the settings of the roots switch this rule off by its id.
fn switches(
    server: &Server,
    snapshot: &Snapshot,
    rule: &Rule,
) -> Vec<(String, std::sync::Arc<str>, Range<usize>)> {
    let mut found = Vec::new();
    for root in &snapshot.workspace.roots.roots {
        let path = format!("{}/rulebook.toml", root.path);
        let Some(text) = text_of(server, snapshot, &path) else { continue };
        let Some(list) = text.find("disabled_ids") else { continue };
        let end = text[list..].find(']').map_or(text.len(), |end| list + end);
        let spans = ['"', '\''].map(|quote| format!("{quote}{}{quote}", rule.id));
        for (at, word) in spans.iter().flat_map(|word| text[list..end].match_indices(word.as_str())) {
            let start = list + at + 1;
            found.push((path.clone(), text.clone(), start..start + word.len() - 2));
        }
    }
    found
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
