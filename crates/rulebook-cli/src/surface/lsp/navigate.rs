//! Navigation: from imports and names to rules, and from a rule to those that import, override or mention it.

use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use rulebook::evaluate::rivals;
use rulebook::id::rule_name;
use rulebook::parse::{Import, imports};
use rulebook::resolve::{Off, Rulebook};
use rulebook::rule::Rule;
use rulebook::source::MAX_SOURCE;
use rulebook_workspace::read;
use serde_json::{Value, json};

use super::document::{Document, Lines};
use super::protocol::{Place, Span, real};
use super::server::Server;
use super::snapshot::Snapshot;

/// Where the name under the cursor leads. In a header: the rules that override this one, or that it is a copy of.
pub(super) fn definition(server: &Server, place: &Place) -> Value {
    let Some((document, snapshot)) = server.open(&place.text_document.uri) else { return Value::Null };
    let offset = document.offset(place.position);
    if let Some((_, name)) = mention_at(&document.text, offset) {
        let rules = snapshot.views.meant.book.lookup(&name).into_iter();
        return rules.map(|(rule, _)| start_of(snapshot, &rule.origin.path)).collect();
    }
    let mut imports = imports(&document.text).into_iter();
    if let Some(import) = imports.find(|import| import.span.contains(&offset) || import.span.end == offset) {
        let found = import_target(snapshot, document.name(), &import.path);
        return found.map_or(Value::Null, |path| start_of(snapshot, &snapshot.named(&path)));
    }
    let mut winners = Vec::new();
    for (_, rule) in snapshot.rules_of(document.name()) {
        let body = body_start(rule, &document.text);
        let rivals = rivals(&snapshot.views.meant.book, rule).filter(|rival| rival.wins && offset < body);
        winners.extend(rivals.map(|rival| start_of(snapshot, &rival.rule.origin.path)));
    }
    Value::Array(winners)
}

/// Who imports, overrides, is overridden by or mentions the rule of this file, or the rule under the cursor.
pub(super) fn references(server: &Server, place: &Place) -> Value {
    let Some((document, snapshot)) = server.open(&place.text_document.uri) else { return Value::Null };
    let book = &snapshot.views.meant.book;
    let rules: Vec<&Rule> = match mention_at(&document.text, document.offset(place.position)) {
        Some((_, name)) => book.lookup(&name).into_iter().map(|(rule, _)| rule).collect(),
        None => snapshot.rules_of(document.name()).into_iter().map(|(_, rule)| rule).collect(),
    };
    let mut all = Vec::new();
    for rule in rules {
        all.extend(rivals(book, rule).map(|rival| start_of(snapshot, &rival.rule.origin.path)));
        let places = importing(server, snapshot, rule).into_iter().chain(mentions(server, snapshot, rule));
        for (path, text, spans) in places {
            let lines = Lines::of(&text);
            all.extend(spans.into_iter().map(|span| location(snapshot, &path, lines.span(&text, span))));
        }
    }
    all.sort_by_key(ToString::to_string);
    all.dedup();
    Value::Array(all)
}

/// A file, its text, and ranges in it.
type Places = (String, Arc<str>, Vec<Range<usize>>);

/// The files that import the file of a rule, with their texts and the ranges of the imports.
pub(super) fn importing(server: &Server, snapshot: &Snapshot, rule: &Rule) -> Vec<Places> {
    let book = &snapshot.views.meant.book;
    let importers =
        book.rules().filter(|(other, _)| other.imports.iter().any(|import| import.path == rule.origin.path));
    let places = importers.filter_map(|(other, _)| {
        let text = text_of(server, snapshot, &other.origin.path)?;
        let is_its = |import: &Import| {
            let target = import_target(snapshot, Path::new(&other.origin.path), &import.path);
            target.is_some_and(|target| real(&target) == real(Path::new(&rule.origin.path)))
        };
        let spans = imports(&text).into_iter().filter(is_its).map(|import| import.span).collect();
        Some((other.origin.path.clone(), text, spans))
    });
    places.collect()
}

/// The rule that a name means: an enabled one if there is one, else one that is switched off.
pub(super) fn named<'b>(book: &'b Rulebook, name: &str) -> Option<(&'b Rule, Option<&'b Off>)> {
    let found = book.lookup(name);
    found.iter().find(|(_, off)| off.is_none()).or(found.first()).copied()
}

/// The files that mention a rule as `rule://NAME`, with their texts and the ranges of the name.
pub(super) fn mentions(server: &Server, snapshot: &Snapshot, rule: &Rule) -> Vec<Places> {
    let book = &snapshot.views.meant.book;
    let mut found = Vec::new();
    for (other, _) in book.rules().filter(|(other, _)| other.body.contains("rule://")) {
        let Some(text) = text_of(server, snapshot, &other.origin.path) else { continue };
        let is_its =
            |name: &str| named(book, name).is_some_and(|(named, _)| named.origin.path == rule.origin.path);
        let spans: Vec<Range<usize>> =
            all_mentions(&text).filter(|(_, name)| is_its(name)).map(|(span, _)| span).collect();
        if !spans.is_empty() {
            found.push((other.origin.path.clone(), text, spans));
        }
    }
    found
}

/// The text of a file: as the editor has it, or as it is on disk.
pub(super) fn text_of(server: &Server, snapshot: &Snapshot, path: &str) -> Option<Arc<str>> {
    let is_it = |document: &&Document| snapshot.named(document.name()) == path;
    if let Some(document) = server.documents.values().find(is_it) {
        return Some(Arc::clone(&document.text));
    }
    let limit = usize::try_from(MAX_SOURCE).unwrap_or(usize::MAX);
    read::text(Path::new(path), limit).ok().flatten().map(Into::into)
}

/// The name of a rule at an offset, written as `rule://NAME`, and the range of the name.
pub(super) fn mention_at(text: &str, offset: usize) -> Option<(Range<usize>, String)> {
    const SCHEME: &str = "rule://";
    let is_here = |(span, _): &(Range<usize>, String)| {
        span.start.saturating_sub(SCHEME.len()) <= offset && offset <= span.end
    };
    all_mentions(text).find(is_here)
}

pub(super) fn all_mentions(text: &str) -> impl Iterator<Item = (Range<usize>, String)> {
    const SCHEME: &str = "rule://";
    text.match_indices(SCHEME).filter_map(move |(at, _)| {
        let start = at + SCHEME.len();
        let is_end = |c: char| c.is_whitespace() || "()[]<>\"'`,;*|".contains(c);
        let end = text[start..].find(is_end).map_or(text.len(), |length| start + length);
        // The end of a sentence is not part of a name.
        let name = text[start..end].trim_end_matches(['.', ':', '!', '?']);
        (!name.is_empty()).then(|| (start..start + name.len(), rule_name(&format!("{SCHEME}{name}"))))
    })
}

/// The file of an import: relative to the file that has it, to the root, or to the home.
fn import_target(snapshot: &Snapshot, file: &Path, import: &str) -> Option<PathBuf> {
    let home = snapshot.workspace.homes.home.as_deref();
    let path = match import.strip_prefix("~/") {
        Some(rest) => return Some(without_dots(&home?.join(rest))).filter(|path| path.is_file()),
        None => Path::new(import),
    };
    let (root, _) = snapshot.located(file)?;
    let root = Path::new(&snapshot.workspace.roots.roots[root].path);
    let folders = [file.parent()?, root];
    let found = folders.iter().map(|folder| folder.join(path)).find(|path| path.is_file())?;
    Some(without_dots(&found))
}

/// The same file without `.` and `..` in its path; through a link, its canonical path.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    if real(&plain) == real(path) { plain } else { real(path) }
}

/// Where the body of a rule starts in a text that may have changed since.
pub(super) fn body_start(rule: &Rule, text: &str) -> usize {
    text.split_inclusive('\n').take(rule.body_line.saturating_sub(1)).map(str::len).sum()
}

fn start_of(snapshot: &Snapshot, path: &str) -> Value {
    location(snapshot, path, Span::default())
}

fn location(snapshot: &Snapshot, path: &str, range: Span) -> Value {
    json!({ "uri": snapshot.uris.of(path), "range": range })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_a_text_are_found() {
        #[track_caller]
        fn check(text: &str, wanted: &[&str]) {
            let found: Vec<String> = all_mentions(text).map(|(_, name)| name).collect();
            assert_eq!(found, wanted, "{text}");
        }
        check("see rule://web, rule://a%20b.", &["web", "a b"]);
        check("[x](rule://skill/y) `rule://db@cursor`", &["skill/y", "db@cursor"]);
        check("rule:// rule://.", &[]);
        assert_eq!(mention_at("see rule://web now", 5).map(|(_, name)| name).as_deref(), Some("web"));
        assert_eq!(mention_at("see rule://web now", 16), None);
    }
}
