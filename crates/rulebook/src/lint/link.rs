//! `missing-link`: a link in the text of a rule to a file that does not exist.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;

use super::fence::Nested;
use super::page::Page;
use super::surroundings::Surroundings;
use crate::diagnostic::{Code, Diagnostic, Severity, report_first, shown};
use crate::markdown::outside_code;

/// How many links to missing files of one folder are one problem.
const FEW: usize = 5;

/// A link to a file that does not exist.
struct Missing {
    path: String,
    span: Range<usize>,
    /// The folder of the file that is missing, from the root; empty for the root.
    folder: String,
}

pub(super) fn lint(pages: &[Page<'_>], around: &Surroundings<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let found = distinct(pages, around).into_iter().map(|page| (page, missing(page, around)));
    let found = found.filter(|(_, missing)| !missing.is_empty());
    // The links of a generated file are fixed in its source, all of them at once.
    let (generated, written): (Vec<_>, Vec<_>) = found.partition(|(page, _)| is_generated(&page.text));
    diagnostics.extend(generated.into_iter().map(|(page, missing)| report_generated(page, &missing)));
    let causes = Causes::new(&written, around);
    let mut by_folder: BTreeMap<(usize, &str), Vec<(&Page<'_>, &Missing)>> = BTreeMap::new();
    for (page, missing) in &written {
        for link in missing {
            by_folder.entry(causes.of(page, link)).or_default().push((page, link));
        }
    }
    by_folder.retain(|(_, folder), links| !folder.is_empty() && links.len() >= FEW);
    for (page, missing) in &written {
        let alone = missing.iter().filter(|link| !by_folder.contains_key(&causes.of(page, link)));
        // A file is missing once, however many links lead to it.
        let mut counts: HashMap<&str, usize> = HashMap::new();
        alone.clone().for_each(|link| *counts.entry(&link.path).or_default() += 1);
        let mut known = HashSet::new();
        let first = alone.filter(|link| known.insert(&link.path));
        report_first(first, |link| report(page, link, counts[link.path.as_str()], around), diagnostics);
    }
    let folders = by_folder.iter();
    diagnostics.extend(folders.filter_map(|((_, folder), links)| report_folder(folder, links, around)));
}

/// The folders that missing files would be in, and whether each exists.
struct Causes<'m>(HashMap<(usize, &'m str), bool>);

impl<'m> Causes<'m> {
    fn new(pages: &'m [(&Page<'_>, Vec<Missing>)], around: &Surroundings<'_>) -> Causes<'m> {
        let mut folders = HashMap::new();
        for (page, missing) in pages {
            let root = page.rule.origin.root;
            for link in missing {
                folders
                    .entry((root, link.folder.as_str()))
                    .or_insert_with(|| (around.exists)(root, &link.folder));
            }
        }
        Causes(folders)
    }

    /// The folder of a missing file, or the outermost one above it that does not exist and that other links lead into.
    fn of<'l: 'm>(&self, page: &Page<'_>, link: &'l Missing) -> (usize, &'m str) {
        let root = page.rule.origin.root;
        let above = link.folder.match_indices('/').map(|(end, _)| &link.folder[..end]);
        let is_missing = |folder: &&str| self.0.get(&(root, *folder)) == Some(&false);
        (root, above.into_iter().find(is_missing).unwrap_or(&link.folder))
    }
}

/// Returns the pages, each file under one name: its canonical path, if that is a rule too.
fn distinct<'p, 'r>(pages: &'p [Page<'r>], around: &Surroundings<'_>) -> Vec<&'p Page<'r>> {
    let real = |page: &Page<'_>| (around.real_path)(page.rule).map(|path| (page.rule.origin.root, path));
    let mut own: HashMap<(usize, String), bool> = HashMap::new();
    for page in pages {
        if let Some(real) = real(page) {
            *own.entry(real.clone()).or_default() |= page.rule.origin.display == real.1;
        }
    }
    let mut known = HashSet::new();
    let is_first = |page: &&Page<'_>| {
        let Some(real) = real(page) else { return true };
        (page.rule.origin.display == real.1 || !own[&real]) && known.insert(real)
    };
    pages.iter().filter(is_first).collect()
}

/// Returns the links of a page to files that do not exist.
fn missing(page: &Page<'_>, around: &Surroundings<'_>) -> Vec<Missing> {
    let origin = &page.rule.origin;
    // Links are Markdown: in other files they are part of a template.
    if origin.display.rsplit_once('.').is_some_and(|(_, end)| OTHER_TEXTS.contains(&end)) {
        return Vec::new();
    }
    let folder_of = |path: &str| path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
    let own = &*folder_of(&origin.display);
    // People write links for the file that a link leads to.
    let real = (around.real_path)(page.rule).map(|path| folder_of(&path));
    let bases = [own, real.as_deref().unwrap_or(own), origin.folder.as_str(), ""];
    let exists = |path: &str| (around.exists)(origin.root, path);
    let find = |(path, span): (String, Range<usize>)| {
        // A link that leaves the root is not looked up.
        let target = resolve(own, &path)?;
        if bases.iter().filter_map(|base| resolve(base, &path)).any(|path| exists(&path)) {
            return None;
        }
        let folder = target.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
        Some(Missing { path, span: page.body + span.start..page.body + span.end, folder })
    };
    links(&page.text[page.body..]).into_iter().filter_map(find).collect()
}

fn report(page: &Page<'_>, link: &Missing, count: usize, around: &Surroundings<'_>) -> Diagnostic {
    let times = if count > 1 { format!(" ({count} links)") } else { String::new() };
    let message = format!("the link target `{}` does not exist{times}", shown(&link.path));
    let found = page.report(Code::MissingLink, link.span.clone(), message);
    match moved(page, link, around) {
        Some(moved) => found.help(moved),
        None => found,
    }
}

/// Returns what to do if one other file has the name of a missing one.
fn moved(page: &Page<'_>, link: &Missing, around: &Surroundings<'_>) -> Option<String> {
    let files = (around.ending)(page.rule.origin.root, telling_end(&link.path)?);
    let [only] = files.as_slice() else { return None };
    Some(format!("link to `{only}`, which has this name, or remove the link"))
}

/// Reports many links to missing files of one folder.
fn report_folder(
    folder: &str,
    links: &[(&Page<'_>, &Missing)],
    around: &Surroundings<'_>,
) -> Option<Diagnostic> {
    let at = |(page, link): &&(&Page<'_>, &Missing)| (page.rule.origin.display.clone(), link.span.start);
    let (page, link) = links.iter().min_by_key(at)?;
    let files: BTreeSet<&str> = links.iter().map(|(page, _)| page.rule.origin.display.as_str()).collect();
    let others = files.iter().filter(|file| **file != page.rule.origin.display);
    let others = others.map(|file| ((*file).to_owned(), FIX_LINKS.to_owned()));
    let of_files = if files.len() > 1 { format!(" in {} files", files.len()) } else { String::new() };
    let (count, target) = (links.len(), shown(&link.path));
    let is_there = (around.exists)(page.rule.origin.root, folder);
    let message = match is_there {
        true => format!(
            "{count} links{of_files} lead to files that are not in `{folder}`, the first to `{target}`"
        ),
        false => format!("the folder `{folder}` does not exist, and {count} links{of_files} lead into it"),
    };
    let found = page.report(Code::MissingLink, link.span.clone(), message).others(others);
    Some(found.help(if is_there { FIX_LINKS } else { "fix or remove the links, or create the folder" }))
}

const FIX_LINKS: &str = "fix or remove the links";

fn report_generated(page: &Page<'_>, missing: &[Missing]) -> Diagnostic {
    let link = &missing[0];
    let path = shown(&link.path);
    let message = match missing.len() {
        1 => format!("this generated file links to `{path}`, which does not exist"),
        count => {
            format!("this generated file has {count} links to files that do not exist, the first to `{path}`")
        }
    };
    let found = page.report(Code::MissingLink, link.span.clone(), message);
    found.severity(Severity::Note).help("fix the links in the source that the file is generated from")
}

/// Whether a text says in its first lines that a tool wrote it.
fn is_generated(text: &str) -> bool {
    const LINES: usize = 12;
    const MARKS: &[&str] = &[
        "auto-generated",
        "autogenerated",
        "automatically generated",
        "do not edit",
        "don't edit",
        "@generated",
    ];
    let is_mark = |line: &str| {
        let line = line.trim_start().to_lowercase();
        let is_title = line.starts_with(['#', '<', '>', '/', '*', '_']);
        is_title && line.contains("generated") && MARKS.iter().any(|mark| line.contains(mark))
    };
    text.lines().take(LINES).any(is_mark)
}

/// Names that many files have.
const COMMON: &[&str] =
    &["changelog", "config", "contributing", "index", "license", "main", "readme", "skill"];

/// Returns the end of a path that names one file: its name or, if many files have that, its folder and name.
fn telling_end(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next().filter(|name| !name.is_empty())?;
    let stem = name.split('.').next().unwrap_or(name);
    if !COMMON.iter().any(|common| stem.eq_ignore_ascii_case(common)) {
        return Some(name);
    }
    let folder = path[..path.len() - name.len()].trim_end_matches('/').rsplit('/').next()?;
    let is_named = folder.chars().any(char::is_alphanumeric) && !folder.starts_with('.');
    is_named.then(|| &path[path.len() - name.len() - folder.len() - 1..])
}

/// Extensions of rule files that are not Markdown.
const OTHER_TEXTS: &[&str] = &["html", "json", "toml", "xml", "yaml", "yml"];

/// The longest line that is searched, in bytes: longer ones are data.
const MAX_LINE: usize = 4_096;

/// Finds the links of a text to files of the repository.
fn links(text: &str) -> Vec<(String, Range<usize>)> {
    let mut found = Vec::new();
    let code = code_in_code(text);
    for part in outside_code(text) {
        let mut start = part.as_ptr() as usize - text.as_ptr() as usize;
        for line in part.split_inclusive('\n') {
            let next = code.partition_point(|code| code.end <= start);
            let is_code = code.get(next).is_some_and(|code| code.contains(&start));
            if !is_code && line.len() <= MAX_LINE {
                links_in_line(line, start, &mut found);
            }
            start += line.len();
        }
    }
    found
}

fn links_in_line(line: &str, start: usize, found: &mut Vec<(String, Range<usize>)>) {
    if is_example(line) {
        return;
    }
    for (at, _) in line.match_indices("](") {
        let Some(end) = line[at + 2..].find(')') else { return };
        let target = &line[at + 2..at + 2 + end];
        // A link in inline code is an example.
        let is_code = line[..at].matches('`').count() % 2 == 1;
        found.extend(
            file(target)
                .filter(|_| !is_code)
                .map(|path| (path, start + at + 2..start + at + 2 + target.len())),
        );
    }
}

/// Whether a line says that it is an example.
fn is_example(line: &str) -> bool {
    let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '.');
    words.any(|word| ["e.g.", "example", "examples"].iter().any(|known| word.eq_ignore_ascii_case(known)))
}

/// Returns the code of blocks in blocks, of which Markdown sees only a part as code.
fn code_in_code(text: &str) -> Vec<Range<usize>> {
    let mut nested = Nested::default();
    let mut code = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        nested.add(line);
        if nested.is_inside() {
            code.push(at..at + line.len());
        }
        at += line.len();
    }
    // A block that is never closed hides nothing.
    if nested.is_inside() { Vec::new() } else { code }
}

/// Returns the path of a link to a file of the repository.
fn file(target: &str) -> Option<String> {
    let target = target.trim();
    let target = target.strip_prefix("mdc:").unwrap_or(target);
    // A title may follow.
    let target = target.split(" \"").next().unwrap_or(target).trim_matches(['<', '>']);
    let path = target.split(['#', '?']).next().unwrap_or_default();
    let path = match path.rsplit_once(':') {
        Some((path, line)) if !line.is_empty() && line.bytes().all(|b| b.is_ascii_digit()) => path,
        _ => path,
    };
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let is_path = path.contains('/') || name.rsplit_once('.').is_some_and(|(_, end)| !end.is_empty());
    let is_plain = |c: char| c.is_alphanumeric() || "-_./@+~%".contains(c);
    let is_usual = !path.is_empty() && path.chars().all(is_plain) && !path.starts_with(['~', '@']);
    (is_path && is_usual && !path.contains("...") && !is_placeholder(path) && !is_page(path))
        .then(|| path.replace("%20", " "))
}

/// Pages that a hosting service shows beside the files: `../blob/main/a.md` and `../../issues` are links from one page to another.
const PAGES: &[&str] = &[
    "actions",
    "blob",
    "commit",
    "compare",
    "discussions",
    "issues",
    "pull",
    "pulls",
    "releases",
    "tree",
    "wiki",
];

fn is_page(path: &str) -> bool {
    let page = path.trim_start_matches("../");
    page.len() < path.len() && PAGES.contains(&page.split('/').next().unwrap_or(page))
}

/// Words of paths that stand for another path.
const PLACEHOLDERS: &[&str] = &[
    "absolute",
    "another",
    "bar",
    "baz",
    "dir",
    "example",
    "examples",
    "file",
    "filename",
    "folder",
    "foo",
    "image",
    "link",
    "my",
    "name",
    "other",
    "path",
    "placeholder",
    "relative",
    "some",
    "to",
    "url",
    "xxx",
    "xxxx",
    "your",
];

/// Whether a path is an example: `path/to/file.md`, `./image.png`, `NNN-title.md`.
fn is_placeholder(path: &str) -> bool {
    let is_word = |part: &str| {
        let stem = part.split('.').next().unwrap_or(part).to_lowercase();
        let mut words = stem.split(['-', '_']).filter(|word| !word.is_empty()).peekable();
        let is_upper = part.len() > 2 && part.chars().all(|c| c.is_uppercase() || "-_".contains(c));
        words.peek().is_some() && words.any(|word| PLACEHOLDERS.contains(&word))
            || is_upper && part.contains("XX")
    };
    path.split('/').any(is_word)
}

/// Resolves a path against a folder; `None` if it leaves the root.
fn resolve(base: &str, path: &str) -> Option<String> {
    let base = if path.starts_with('/') { "" } else { base };
    let mut parts: Vec<&str> = base.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_files_are_found_and_examples_are_not() {
        #[track_caller]
        fn check(text: &str, want: &[&str]) {
            let found: Vec<String> = links(text).into_iter().map(|(path, _)| path).collect();
            assert_eq!(found, want);
        }
        check("See [a](docs/a.md), [b](mdc:src/b.ts) and [c](../c/).", &["docs/a.md", "src/b.ts", "../c/"]);
        check(
            "[a](docs/a.md#part) [b](docs/b.md:12) [c](docs/c.md \"Title\")",
            &["docs/a.md", "docs/b.md", "docs/c.md"],
        );
        check("[a](https://x.y/z.md) [b](#part) [c](mailto:a@b.c) [d](<url>) [e](link)", &[]);
        check(
            "[a](path/to/file.md) [b](./image.png) [c](your-guide.md) [d](docs/{name}.md) [e](a/*.md)",
            &[],
        );
        check("[a](../blob/main/a.md) [b](../../issues) [c](../../pulls/) [d](../wiki.md)", &["../wiki.md"]);
        check("- Example: [a](docs/a.md)\nE.g. [b](docs/b.md)\nSee [c](docs/example-c.md)", &[]);
        check("`[a](docs/a.md)` and\n```md\n[b](docs/b.md)\n```\n", &[]);
        check("```md\n```sh\nx\n```\n[b](docs/b.md)\n```\n[c](docs/c.md)", &["docs/c.md"]);
    }

    #[test]
    fn a_path_is_resolved_inside_its_root() {
        assert_eq!(resolve("a/b", "../c.md").as_deref(), Some("a/c.md"));
        assert_eq!(resolve("a/b", "/c.md").as_deref(), Some("c.md"));
        assert_eq!(resolve("a", "../../c.md"), None);
    }
}
