//! Paths on which readings of a file may differ: what its patterns match, and what they almost match.

use std::collections::BTreeSet;

use crate::evidence::Seen;
use crate::parse::{Entry, Parsed};

/// How many patterns are probed.
const MAX_PATTERNS: usize = 50;

/// Paths that patterns for something else do not match.
pub(crate) const OTHERS: &[&str] = &["zz", "zz/zz/zz.zz", ".zz/zz.zz", "zz.ts"];

/// Returns paths that the patterns of the readings match or almost match.
pub(super) fn paths<'p>(readings: impl Iterator<Item = &'p Parsed>) -> Vec<Seen> {
    let mut roots: BTreeSet<(usize, &str)> = BTreeSet::new();
    let mut globs: BTreeSet<&str> = BTreeSet::new();
    for parsed in readings {
        let origin = parsed.entry.origin();
        roots.insert((origin.root, origin.folder.as_str()));
        if let Entry::Rule(rule) = &parsed.entry {
            globs.extend(rule.globs.iter().map(String::as_str));
        }
    }
    let mut inner: BTreeSet<String> = OTHERS.iter().map(|&path| path.to_owned()).collect();
    globs.into_iter().take(MAX_PATTERNS).for_each(|glob| inner.extend(near(glob)));
    let mut paths = BTreeSet::new();
    for (root, folder) in roots {
        for path in &inner {
            paths.insert((root, path.clone()));
            if !folder.is_empty() {
                paths.insert((root, format!("{folder}/{path}")));
            }
        }
    }
    paths.into_iter().map(|(root, path)| Seen { path, root, sources: Vec::new() }).collect()
}

/// How the brackets of a pattern are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Brackets {
    /// `[a-c]` stands for one of its characters.
    Class,
    /// `[slug]` is part of a name, as in Next.js.
    Name,
    /// What is between them is a name, which no agent reads so.
    Bare,
}

/// Returns a path that the pattern probably matches, and its neighbours.
pub(crate) fn near(glob: &str) -> Vec<String> {
    let mut near = neighbours(&example(glob, Brackets::Class));
    if glob.contains('[') {
        near.extend(neighbours(&example(glob, Brackets::Name)));
        near.extend(neighbours(&example(glob, Brackets::Bare)).into_iter().next());
    }
    near
}

/// Returns a path that the pattern probably matches.
fn example(glob: &str, brackets: Brackets) -> String {
    let plain = glob.trim_start_matches('!');
    let mut path = String::new();
    let mut rest = plain;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '\\' => match rest.chars().next().filter(|next| is_escaped(plain, *next)) {
                Some(next) => {
                    path.push(next);
                    rest = &rest[next.len_utf8()..];
                }
                None => path.push('/'),
            },
            '!' | '@' | '+' | '?' | '*' if rest.starts_with('(') => {
                let (group, after) = split_group(&rest[1..], ')');
                path.push_str(if c == '!' { "zz" } else { first(group) });
                rest = after;
            }
            '*' => {
                rest = rest.trim_start_matches('*');
                path.push('z');
            }
            '?' => path.push('z'),
            '[' => {
                let (class, after) = split_class(rest);
                match brackets {
                    Brackets::Class => path.push(member(class)),
                    Brackets::Name => path.extend(["[", class, "]"]),
                    Brackets::Bare => path.push_str(class),
                }
                rest = after;
            }
            // The first alternative stands for all of them.
            '{' | '(' => {
                let (group, after) = split_group(rest, if c == '{' { '}' } else { ')' });
                path.push_str(first(group));
                rest = after;
            }
            c => path.push(c),
        }
    }
    path
}

/// Whether a backslash escapes the next character. In a pattern without slashes it may be a separator of Windows.
fn is_escaped(glob: &str, next: char) -> bool {
    "[]{}()!+@".contains(next) || "*?\\".contains(next) && glob.contains('/')
}

fn split_group(text: &str, end: char) -> (&str, &str) {
    text.split_once(end).unwrap_or((text, ""))
}

fn first(group: &str) -> &str {
    group.split([',', '|']).next().unwrap_or_default()
}

/// Splits what follows a bracket at the end of its class, which may start with a bracket.
pub(crate) fn split_class(text: &str) -> (&str, &str) {
    let mut start = text.len() - text.trim_start_matches(['!', '^']).len();
    start += usize::from(text[start..].starts_with(']'));
    // A named class, such as `[[:alpha:]]`.
    while text[start..].starts_with("[:")
        && let Some(end) = text[start..].find(":]")
    {
        start += end + 2;
    }
    match text[start..].find(']') {
        Some(end) => (&text[..start + end], &text[start + end + 1..]),
        None => (text, ""),
    }
}

/// A character that a class matches.
fn member(class: &str) -> char {
    let is_negated = class.starts_with(['!', '^']);
    let inner = class.trim_start_matches(['!', '^']);
    let named = [("[:digit:]", '0'), ("[:upper:]", 'A')];
    if inner.starts_with("[:") {
        return named.iter().find(|(name, _)| inner.starts_with(name)).map_or('a', |(_, c)| *c);
    }
    if is_negated {
        let is_in = |c: &char| contains(inner, *c);
        return ('a'..='z').rev().chain('0'..='9').find(|c| !is_in(c)).unwrap_or('Z');
    }
    // No name is a dot.
    inner.chars().find(|c| c.is_alphanumeric()).or_else(|| inner.chars().next()).unwrap_or('z')
}

/// Whether a class without its negation lists a character.
fn contains(class: &str, c: char) -> bool {
    let all: Vec<char> = class.chars().collect();
    let is_in = |three: &[char]| three[1] == '-' && (three[0]..=three[2]).contains(&c);
    all.contains(&c) || all.windows(3).any(is_in)
}

/// Returns a path, and those that a reader with other rules may take for it.
fn neighbours(path: &str) -> Vec<String> {
    let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | "." | "..")).collect();
    let path = parts.join("/");
    if path.is_empty() {
        return Vec::new();
    }
    let name = parts.last().copied().unwrap_or_default();
    let stem = path.rsplit_once('.').map_or(path.as_str(), |(stem, _)| stem);
    let inner = parts.get(1..).unwrap_or_default().join("/");
    let mut near = vec![
        path.clone(),
        name.to_owned(),
        format!("{stem}.zz"),
        format!("zz/{path}"),
        format!(".zz/{path}"),
        format!("{path}/zz"),
        format!("{path}zz"),
        inner,
    ];
    near.retain(|path| !path.is_empty());
    near
}
