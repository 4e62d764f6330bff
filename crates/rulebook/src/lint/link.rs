//! `missing-link`: a link in the text of a rule to a file that does not exist.

use std::ops::Range;

use super::fence::Nested;
use super::page::Page;
use super::surroundings::Surroundings;
use crate::diagnostic::{Code, Diagnostic, report_first, shown};
use crate::markdown::outside_code;

pub(super) fn lint(page: &Page<'_>, around: &Surroundings<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let origin = &page.rule.origin;
    // Links are Markdown: in other files they are part of a template.
    if origin.display.rsplit_once('.').is_some_and(|(_, end)| OTHER_TEXTS.contains(&end)) {
        return;
    }
    let body = &page.text[page.body..];
    let folder_of = |path: &str| path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
    let own = &*folder_of(&origin.display);
    // People write links for the file that a link leads to.
    let real = (around.real_path)(page.rule).map(|path| folder_of(&path));
    let bases = [own, real.as_deref().unwrap_or(own), origin.folder.as_str(), ""];
    let is_missing = |(path, _): &(String, Range<usize>)| {
        !bases.iter().filter_map(|base| resolve(base, path)).any(|path| (around.exists)(origin.root, &path))
            // A link that leaves the root is not looked up.
            && resolve(own, path).is_some()
    };
    let found: Vec<_> = links(body).into_iter().filter(is_missing).collect();
    let report = |(path, span): (String, Range<usize>)| {
        let span = page.body + span.start..page.body + span.end;
        let message = format!("the link target `{}` does not exist", shown(&path));
        let found = page.report(Code::MissingLink, span, message);
        let moved = telling_end(&path).map(|end| (around.ending)(origin.root, end));
        match moved.as_deref() {
            Some([only]) => found.help(format!("link to `{only}`, which has this name, or remove the link")),
            _ => found,
        }
    };
    report_first(found.into_iter(), report, diagnostics);
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
