//! Imports: files that a rule includes with `@path`.

use std::ops::Range;

use crate::markdown::outside_code;
use crate::unread::is_text;

/// A file named after an `@`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Import {
    /// The path without the `@` and with its escaped spaces decoded.
    pub path: String,
    /// Its byte range in the text, including the `@`.
    pub span: Range<usize>,
}

impl Import {
    /// Whether it can only be a file: `@team`, `@example.com` and `@scope/package@1.2` may be something else.
    pub fn is_surely_a_file(&self) -> bool {
        const DOMAINS: &[&str] = &["ai", "app", "com", "dev", "io", "net", "org"];
        let name = self.path.rsplit('/').next().unwrap_or_default();
        let has_extension = name.rsplit_once('.').is_some_and(|(stem, extension)| {
            !stem.is_empty()
                && extension.starts_with(|c: char| c.is_ascii_alphabetic())
                && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
                && !DOMAINS.contains(&extension)
        });
        // `@/` is the source folder in the imports of many languages.
        if self.is_absolute() {
            return is_text(name);
        }
        ["./", "../", "~/"].iter().any(|start| self.path.starts_with(start)) || has_extension
    }

    /// Whether it is a path from the root of the disk.
    pub fn is_absolute(&self) -> bool {
        self.path.starts_with('/')
    }
}

/// Finds the imports of a text, in order. Code and the middle of words have none.
pub fn imports(text: &str) -> Vec<Import> {
    let mut found = Vec::new();
    for part in outside_code(text) {
        let base = part.as_ptr() as usize - text.as_ptr() as usize;
        let mut at = 0;
        for line in part.split_inclusive('\n') {
            in_line(line, base + at, &mut found);
            at += line.len();
        }
    }
    found
}

/// Finds the imports of a text as Gemini CLI does: a word that starts with `@`, up to the next white space. Only backticks
/// make code.
pub fn imports_in_gemini(text: &str) -> Vec<Import> {
    let is_space = |c: char| matches!(c, ' ' | '\t' | '\n' | '\r');
    let mut found = Vec::new();
    let mut code_end = 0;
    let mut at = 0;
    while let Some(here) = text[at..].find(['`', '@']).map(|step| at + step) {
        if text[here..].starts_with('`') {
            at = after_ticks(text, here);
            code_end = at;
            continue;
        }
        if !text[..here].chars().next_back().is_none_or(is_space) {
            at = here + 1;
            continue;
        }
        let word = text[here + 1..].split(is_space).next().unwrap_or_default();
        let is_path = word.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '.' | '/'));
        if is_path && here >= code_end {
            found.push(Import { path: word.to_owned(), span: here..here + 1 + word.len() });
        }
        at = here + 1 + word.find('`').unwrap_or(word.len());
    }
    found
}

/// Returns the end of the code that the backticks at `start` open. If as many do not follow, fewer open it.
fn after_ticks(text: &str, start: usize) -> usize {
    let run = text[start..].len() - text[start..].trim_start_matches('`').len();
    let close = |run: usize| {
        let ticks = &text[start..start + run];
        text[start + run..].find(ticks).map(|at| start + run + at + run)
    };
    (1..=run).rev().find_map(close).unwrap_or(start + run)
}

fn in_line(line: &str, base: usize, found: &mut Vec<Import>) {
    let mut at = 0;
    while let Some(step) = line[at..].find(['`', '@']) {
        let here = at + step;
        if line[here..].starts_with('`') {
            at = after_code(line, here);
            continue;
        }
        let is_start =
            line[..here].chars().next_back().is_none_or(|c| c.is_whitespace() || "([{\"'*_>".contains(c));
        let len = path_len(&line[here + 1..]);
        let written = &line[here + 1..here + 1 + len];
        if is_start && !written.trim_matches('/').is_empty() {
            let path = written.replace("\\ ", " ");
            found.push(Import { path, span: base + here..base + here + 1 + len });
        }
        at = here + 1 + len;
    }
}

/// Returns the end of the code span that opens at `start`, or of its backticks if it is not closed.
fn after_code(line: &str, start: usize) -> usize {
    let run = line[start..].len() - line[start..].trim_start_matches('`').len();
    let ticks = &line[start..start + run];
    line[start + run..].find(ticks).map_or(start + run, |close| start + run + close + run)
}

/// Returns the length of the path: up to an unescaped space, without trailing punctuation.
fn path_len(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text
        .char_indices()
        .find(|(_, c)| {
            let ends = (c.is_whitespace() && !is_escaped) || "`\"'<>|)]}".contains(*c);
            is_escaped = *c == '\\';
            ends
        })
        .map_or(text.len(), |(at, _)| at);
    text[..end].trim_end_matches(['.', ',', ';', ':', '!', '?', '*', '_']).len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, wanted: &[&str]) {
        let found = imports(text);
        let paths: Vec<&str> = found.iter().map(|import| import.path.as_str()).collect();
        assert_eq!(paths, wanted, "{text}");
        for import in &found {
            let written = text[import.span.clone()].replace("\\ ", " ");
            assert_eq!(written.strip_prefix('@'), Some(import.path.as_str()));
        }
    }

    #[test]
    fn a_path_after_an_at_sign_is_an_import() {
        check("@docs/style.md", &["docs/style.md"]);
        check("See @README.md and @~/.claude/own.md.", &["README.md", "~/.claude/own.md"]);
        check("- *@./a.md*\n- (@/abs/b.md)", &["./a.md", "/abs/b.md"]);
        check(r"@my\ docs/a.md b", &["my docs/a.md"]);
        check("é@a.md, ä @b.md", &["b.md"]);
    }

    #[test]
    fn code_and_addresses_are_not_imports() {
        check("`@docs/style.md` and ``a ` @b.md``", &[]);
        check("```\n@a.md\n```\n@b.md", &["b.md"]);
        check("me@example.com", &[]);
        check("@ nothing, @", &[]);
        check("### @/ Alias\n@// and (@/)", &[]);
        check("`unclosed @a.md", &["a.md"]);
    }

    #[test]
    fn gemini_imports_words() {
        #[track_caller]
        fn check(text: &str, wanted: &[&str]) {
            let paths: Vec<String> = imports_in_gemini(text).into_iter().map(|import| import.path).collect();
            assert_eq!(paths, wanted, "{text}");
        }
        check("@a.md\n- @./b.md\n\t@c/(d).md", &["a.md", "./b.md", "c/(d).md"]);
        check("See @a.md, and (@b.md) and *@c.md*", &["a.md,"]);
        check("@~/a.md @é.md @@a.md x@a.md", &[]);
        check("~~~\n@a.md\n~~~\n    @b.md", &["a.md", "b.md"]);
        check("```\n@a.md\n``` @b.md `@c.md` `` ` @d.md``", &["b.md"]);
        check("`unclosed @a.md", &["a.md"]);
    }

    #[test]
    fn names_and_packages_are_not_certainly_files() {
        let is_file = |path: &str| Import { path: path.to_owned(), span: 0..0 }.is_surely_a_file();
        for path in ["a.md", "./a", "../x/y", "~/a", "/etc/a.md", "docs/a.txt"] {
            assert!(is_file(path), "{path}");
        }
        for path in [
            "team",
            "scope/package",
            "team/v1.",
            ".hidden",
            "a.b c",
            "example.com",
            "scope/package==1.2.3",
            "/components/x",
            "/lib/a.ts",
        ] {
            assert!(!is_file(path), "{path}");
        }
    }
}
