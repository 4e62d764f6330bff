//! Decides whether a candidate is a path, and normalizes it.

use super::disk::Disk;
use super::names::{
    extension, is_abbreviation, is_all_caps, is_complete, is_domain, is_familiar, is_filename_word, is_host,
    is_joiner, is_lookalike, is_media, is_unextended,
};
use super::scan::{Candidate, Form};
use crate::work;

/// The path of a candidate, if it counts as one.
pub(super) fn classify(candidate: &Candidate, disk: &mut Disk) -> Option<String> {
    work::count(candidate.text.len());
    let text = without_at(without_position(clean(candidate.text)));
    let written = WrittenPath::read(text);
    if !written.path.contains(char::is_alphanumeric) || is_email(text) || written.path == "/dev/null" {
        return None;
    }
    match candidate.form {
        Form::Spaced => ((is_pathlike(text) && disk.has(&written.path)) || is_one_path(text, disk))
            .then_some(written.path),
        Form::Joined => disk.has(&written.path).then_some(written.path),
        form => written.interpret(form, disk),
    }
}

/// Removes punctuation and Markdown emphasis around a path.
fn clean(text: &str) -> &str {
    let mut text = text;
    loop {
        let length = text.len();
        text = text.trim().trim_start_matches(['-', '+', '!', '#', '&', '^', '=', ':', '?']);
        text = without_emphasis(trim_end(text));
        if text.len() == length {
            return text;
        }
    }
}

fn trim_end(text: &str) -> &str {
    let trimmed = text.trim_end_matches(['.', '!', '?', '-', '&', '^', '=', ':', '#', '\\']);
    let tail = &text[trimmed.len()..];
    let is_parent = tail.starts_with("..") && !tail.starts_with("...");
    let is_segment = trimmed.is_empty() || trimmed.ends_with(['/', '\\']);
    if is_parent && is_segment { &text[..trimmed.len() + 2] } else { trimmed }
}

fn without_emphasis(text: &str) -> &str {
    let emphasized = ['*', '_', '~'].iter().find_map(|&mark| {
        let opening = text.len() - text.trim_start_matches(mark).len();
        let closing = text.len() - text.trim_end_matches(mark).len();
        let depth = opening.min(closing);
        let inner = text.get(depth..text.len() - depth).filter(|inner| depth > 0 && !inner.is_empty())?;
        let is_glob = inner.starts_with(['/', '\\', '*']) || (text.starts_with("*.") && depth == 1);
        // The underscores of `__tests__/__mocks__` are part of the names.
        let is_name = mark == '_' && inner.split(['/', '\\']).next()?.ends_with(&text[..depth]);
        (!is_glob && !is_name).then_some(inner)
    });
    if let Some(inner) = emphasized {
        return inner;
    }
    // Emphasis over several words leaves marks on the first and the last word.
    let opened = text.strip_prefix("**").filter(|rest| rest.starts_with(char::is_alphanumeric));
    let text = opened.unwrap_or(text);
    let closed = text.trim_end_matches(['*', '_', '~']);
    if is_complete(closed) { closed } else { text }
}

/// Removes `:12:5` and `#L10` from quoted text. In prose, the scanner has done so.
fn without_position(text: &str) -> &str {
    let position = text.match_indices([':', '#']).find(|&(at, _)| is_complete(&text[..at]));
    position.map_or(text, |(at, _)| &text[..at])
}

/// Removes an `@` that cannot be part of a name.
fn without_at(text: &str) -> &str {
    let is_located = |rest: &&str| {
        let rest = rest.trim_start_matches('.').trim_start_matches('~');
        rest.len() > 1 && rest.starts_with(['/', '\\']) || is_on_drive(rest)
    };
    text.strip_prefix('@').filter(|rest| !rest.starts_with('/')).filter(is_located).unwrap_or(text)
}

/// Whether the text is like `me@example.com`, and not like the file name `icon@2x.png`.
fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.split_once('@') else { return false };
    let domain = domain.split('/').next().unwrap_or(domain);
    let is_scale = domain.split('.').next().and_then(|first| first.strip_suffix('x')).is_some_and(is_number);
    let is_domain = domain.rsplit_once('.').is_some_and(|(stem, last)| {
        !stem.is_empty() && last.len() > 1 && last.chars().all(char::is_alphabetic)
    });
    !local.is_empty() && !local.contains(['/', '\\']) && is_domain && !is_scale
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether quoted text with spaces can be a path.
fn is_pathlike(text: &str) -> bool {
    text.contains(['/', '\\']) || is_complete(text)
}

/// Whether quoted text with spaces is one path to create, and not a command or a sentence with paths.
fn is_one_path(text: &str, disk: &mut Disk) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [first, between @ .., last] = words.as_slice() else { return false };
    let is_part = |word: &&str| {
        !is_complete(word)
            && !is_joiner(word)
            && !word.starts_with('-')
            && !word.contains(['|', '&', ';', ','])
    };
    first.contains(['/', '\\'])
        && is_complete(last)
        && is_part(first)
        && between.iter().all(is_part)
        && !disk.has(&WrittenPath::read(first).path)
}

/// A candidate with normalized separators.
struct WrittenPath {
    path: String,
    /// The text ends in `/`.
    is_folder: bool,
    /// The text starts with `./`.
    is_explicit: bool,
}

impl WrittenPath {
    fn read(text: &str) -> Self {
        let is_share = text.starts_with(r"\\") && !text.starts_with(r"\\\");
        let mut path = String::with_capacity(text.len());
        for c in text.chars().map(|c| if c == '\\' { '/' } else { c }) {
            if c != '/' || !path.ends_with('/') || (is_share && path == "/") {
                path.push(c);
            }
        }
        // `//src/a.ts` is a comment or a label relative to the root.
        let is_comment = text.starts_with("//");
        let mut rest = if is_comment { &path[1..] } else { &path[..] };
        let is_explicit = rest.starts_with("./");
        while let Some(inner) = rest.strip_prefix("./") {
            rest = inner;
        }
        let is_folder = rest.ends_with('/');
        let rest = rest.strip_suffix("/.").unwrap_or(rest);
        let path = rest.trim_end_matches(|c: char| c == '/' || c.is_whitespace()).trim_start().to_owned();
        Self { path, is_folder, is_explicit }
    }

    /// Chooses an interpretation: one that exists, otherwise one whose first folder exists, otherwise one that looks like
    /// a file.
    fn interpret(self, form: Form, disk: &mut Disk) -> Option<String> {
        let path = self.path.as_str();
        if path.starts_with("../") || path.starts_with("~/") || path.starts_with("//") || is_on_drive(path) {
            return Some(self.path);
        }
        let readings = interpretations(path);
        if let [only] = readings[..]
            && self.looks_like_file(only)
        {
            return Some(only.to_owned());
        }
        if !is_worth_checking(path, form) {
            return None;
        }
        let existing = readings.iter().find(|reading| disk.has(reading));
        let in_existing_folder =
            || readings.iter().find(|reading| first_folder(reading).is_some_and(|dir| disk.has(dir)));
        let plausible = || readings.iter().find(|reading| self.looks_like_file(reading));
        existing.or_else(in_existing_folder).or_else(plausible).map(|&reading| reading.to_owned())
    }

    /// Whether the path counts even if nothing exists.
    fn looks_like_file(&self, path: &str) -> bool {
        let segments: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        let (Some(&first), Some(&name)) = (segments.first(), segments.last()) else { return false };
        if is_foreign(first) && segments.len() > 1 || first.starts_with('@') || is_abbreviation(name) {
            return false;
        }
        let is_relative = !path.starts_with('/');
        if path.contains('*') || is_alternation(path) {
            return is_relative && is_glob(&segments);
        }
        if segments.len() == 1 && is_relative && !self.is_folder && !self.is_explicit {
            return is_bare_file(name);
        }
        let is_name = name.starts_with(|c: char| c.is_uppercase()) && is_lookalike(name);
        let is_folder = self.is_folder
            && !self.path.starts_with('/')
            && path.contains(char::is_alphabetic)
            && path.len() > 1;
        is_folder || self.is_explicit || is_unextended(name) || (has_extension(name) && !is_name)
    }
}

/// The interpretations of a path, most likely first. `@` may be a mention or part of the name; a leading `/` may mean the
/// file system or the repository.
fn interpretations(path: &str) -> Vec<&str> {
    if let Some(rest) = path.strip_prefix("@/") {
        return vec![rest, &path[1..]];
    }
    if let Some(rest) = path.strip_prefix('@') {
        return vec![path, rest];
    }
    match path.strip_prefix('/') {
        // A single `/test` is usually a command or a route and not a folder of the repository.
        Some(rest) if rest.contains('/') || extension(rest).is_some() => vec![path, rest],
        _ => vec![path],
    }
}

/// Whether to check the existence of a path that does not look like a file.
fn is_worth_checking(path: &str, form: Form) -> bool {
    form != Form::Prose || path.contains(['/', '.', '@']) || is_filename_word(path) || is_all_caps(path)
}

fn is_on_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [drive, b':', b'/' | b'\\', ..] if drive.is_ascii_alphabetic())
}

/// The first folder of a path; if it exists, the path counts. `None` for paths of numbers such as the date `2026/11/15`.
fn first_folder(path: &str) -> Option<&str> {
    let root = usize::from(path.starts_with('/'));
    let length = path[root..].find('/')?;
    path.contains(char::is_alphabetic).then_some(&path[..root + length])
}

/// Whether a first segment is not a folder: a host, a variable, an ellipsis.
fn is_foreign(first: &str) -> bool {
    is_host(first) || first.starts_with(['$', '%']) || first.starts_with("...") || first.starts_with("{{")
}

fn is_bare_file(name: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || " ._-+@$[]~".contains(c);
    let stem = name.rsplit_once('.').map_or("", |(stem, _)| stem);
    extension(name)
        .is_some_and(|extension| (is_familiar(extension) || stem == ".env") && !is_sentence_start(extension))
        && stem.contains(char::is_alphanumeric)
        && !name.contains("..")
        && !is_lookalike(name)
        && name.chars().all(is_plain)
}

fn has_extension(name: &str) -> bool {
    let is_version = |extension: &str| {
        let stem = &name[..name.len() - extension.len() - 1];
        extension == "x" && stem.ends_with(|c: char| c.is_ascii_digit())
    };
    // `Dockerfile.dev` is not a domain.
    let is_address = is_domain(name) && name.starts_with(char::is_lowercase);
    extension(name).is_some_and(|extension| {
        let is_sentence = is_sentence_start(extension) && !is_familiar(extension);
        !is_sentence && !is_version(extension) && !is_address
    })
}

/// Whether the extension is a word, as in `done.Then`, where a space is missing.
fn is_sentence_start(extension: &str) -> bool {
    let mut letters = extension.chars();
    letters.next().is_some_and(char::is_uppercase) && letters.next().is_some_and(char::is_lowercase)
}

fn is_alternation(path: &str) -> bool {
    path.find('{').is_some_and(|open| path[open..].contains(',') && path[open..].contains('}'))
}

/// Whether the path is like `packages/*/lib` or `*.{ts,tsx}`, and not like `2*3/4`, `*/5` or `image/*`.
fn is_glob(segments: &[&str]) -> bool {
    let is_wild = |segment: &&str| {
        segment.starts_with(['*', '{']) || segment.ends_with(['*', '}']) || segment.contains("*.")
    };
    let has_word = |segment: &&str| {
        segment.chars().zip(segment.chars().skip(1)).any(|(a, b)| a.is_alphabetic() && b.is_alphabetic())
    };
    match segments {
        [name] => {
            let is_alternative = name.contains("*.{") && name.ends_with('}');
            is_alternative || extension(name).is_some_and(is_familiar)
        }
        [media, "*"] if is_media(media) => false,
        _ => {
            segments.iter().any(is_wild)
                && segments.iter().any(|segment| has_word(segment) || extension(segment).is_some())
                && !segments.iter().any(|segment| is_number(segment))
        }
    }
}
