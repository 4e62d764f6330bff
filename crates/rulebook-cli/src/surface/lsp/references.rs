//! Where rules are named: the files that import them or mention them as `rule://NAME`, among the rule files and the files
//! that these import.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use rulebook::id::rule_name;
use rulebook::parse::{Import, imports};
use rulebook::resolve::{Off, Rulebook};
use rulebook::rule::Rule;
use rulebook::source::MAX_SOURCE;
use rulebook_workspace::read;

use super::document::Document;
use super::protocol::real;
use super::server::Server;
use super::snapshot::Snapshot;

/// How a rule is mentioned.
const SCHEME: &str = "rule://";

/// Ranges in the text of a file.
pub(super) struct Places {
    pub(super) path: String,
    pub(super) text: Arc<str>,
    pub(super) spans: Vec<Range<usize>>,
}

/// The files that import one of these, with the ranges of the imports.
pub(super) fn importing(texts: &Texts<'_>, files: &BTreeSet<String>) -> Vec<Places> {
    let snapshot = texts.snapshot;
    let is_one = |import: &str| files.contains(import);
    let importers = snapshot
        .views
        .meant
        .book
        .rules()
        .map(|(rule, _)| rule)
        .filter(|rule| rule.imports.iter().chain(&rule.inlined).any(|import| is_one(&import.path)));
    let targets: HashSet<PathBuf> = files.iter().map(|path| real(Path::new(path))).collect();
    let paths: BTreeSet<&str> = importers.flat_map(files_of).collect();
    let places = paths.into_iter().filter_map(|path| {
        let text = texts.of(path)?;
        let is_its = |import: &Import| {
            import_target(snapshot, Path::new(path), &import.path)
                .is_some_and(|target| targets.contains(&real(&target)))
        };
        let spans = imports(&text).into_iter().filter(is_its).map(|import| import.span).collect();
        Some(Places { path: path.to_owned(), text, spans })
    });
    places.filter(|places| !places.spans.is_empty()).collect()
}

/// The files that mention one of these rules as `rule://NAME`, with the ranges of the name. `asked` is the document that the
/// user asked in, which need not be a rule.
pub(super) fn mentions(texts: &Texts<'_>, asked: &Document, rules: &[&Rule]) -> Vec<Places> {
    let snapshot = texts.snapshot;
    let book = &snapshot.views.meant.book;
    // The body of a rule contains the texts that it imports.
    let mentioning = book.rules().map(|(rule, _)| rule).filter(|rule| rule.body.contains(SCHEME));
    let asked = snapshot.named(asked.name());
    let paths: BTreeSet<&str> = mentioning.flat_map(files_of).chain([asked.as_str()]).collect();
    let found: Vec<(&str, Arc<str>)> =
        paths.into_iter().filter_map(|path| Some((path, texts.of(path)?))).collect();
    let names: BTreeSet<String> =
        found.iter().flat_map(|(_, text)| all_mentions(text).map(|(_, name)| name)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let meant = book.lookup_all(&names).into_iter().map(|found| first_enabled(&found));
    let is_its = |rule: &Rule| rules.iter().any(|wanted| wanted.origin.path == rule.origin.path);
    let own: HashSet<&str> = names
        .iter()
        .copied()
        .zip(meant)
        .filter(|(_, meant)| meant.is_some_and(|(rule, _)| is_its(rule)))
        .map(|(name, _)| name)
        .collect();
    let places = found.into_iter().map(|(path, text)| {
        let mentions = all_mentions(&text).filter(|(_, name)| own.contains(name.as_str()));
        let spans = mentions.map(|(span, _)| span).collect();
        Places { path: path.to_owned(), text, spans }
    });
    places.filter(|places| !places.spans.is_empty()).collect()
}

/// The file of a rule, and those whose texts are in it.
fn files_of(rule: &Rule) -> impl Iterator<Item = &str> {
    std::iter::once(rule.origin.path.as_str()).chain(rule.inlined.iter().map(|file| file.path.as_str()))
}

/// The rule that a name means: an enabled one if there is one, else one that is switched off.
pub(super) fn named<'b>(book: &'b Rulebook, name: &str) -> Option<(&'b Rule, Option<&'b Off>)> {
    first_enabled(&book.lookup(name))
}

fn first_enabled<'b>(found: &[(&'b Rule, Option<&'b Off>)]) -> Option<(&'b Rule, Option<&'b Off>)> {
    found.iter().find(|(_, off)| off.is_none()).or(found.first()).copied()
}

/// The texts of files: as the editor has them, or as they are on disk.
pub(super) struct Texts<'s> {
    snapshot: &'s Snapshot,
    open: HashMap<String, &'s Arc<str>>,
}

impl<'s> Texts<'s> {
    pub(super) fn new(server: &'s Server, snapshot: &'s Snapshot) -> Texts<'s> {
        let open = server.documents.values();
        Texts {
            snapshot,
            open: open.map(|document| (snapshot.named(document.name()), &document.text)).collect(),
        }
    }

    pub(super) fn of(&self, path: &str) -> Option<Arc<str>> {
        if let Some(text) = self.open.get(path) {
            return Some(Arc::clone(text));
        }
        let limit = usize::try_from(MAX_SOURCE).unwrap_or(usize::MAX);
        read::text(Path::new(path), limit).ok().flatten().map(Into::into)
    }
}

/// The name of a rule at an offset, written as `rule://NAME`, and the range of the name.
pub(super) fn mention_at(text: &str, offset: usize) -> Option<(Range<usize>, String)> {
    let is_here = |(span, _): &(Range<usize>, String)| {
        span.start.saturating_sub(SCHEME.len()) <= offset && offset <= span.end
    };
    all_mentions(text).find(is_here)
}

pub(super) fn all_mentions(text: &str) -> impl Iterator<Item = (Range<usize>, String)> {
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
pub(super) fn import_target(snapshot: &Snapshot, file: &Path, import: &str) -> Option<PathBuf> {
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
