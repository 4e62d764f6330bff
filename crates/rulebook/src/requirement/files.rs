//! Whether a command of a shell line reads or writes files that patterns match.

use crate::condition::{Paths, Truth};
use crate::evidence::{PathLocation, Roots};
use crate::shell::{Command, FileUse, Touched, Word};

/// Where a shell line runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'p> {
    pub(crate) roots: &'p Roots,
    /// The folder in which it starts, if it is not the first root.
    pub(crate) folder: Option<&'p str>,
}

/// Programs that print or compare their words: a variable among them is no file.
const PRINTERS: &[&str] =
    &[":", "[", "[[", "declare", "echo", "export", "local", "printf", "read", "set", "test", "unset"];

/// Whether a command writes such a file.
pub(super) fn writes(paths: &Paths, command: &Command, place: Place<'_>) -> Truth {
    let files = command.files().into_iter().filter(|one| one.touched == Touched::Written);
    let written = files.map(|one| touches(paths, &one, Some(command), place)).max().unwrap_or(Truth::No);
    if command.writes_unnamed() { written.max(Truth::Unknown) } else { written }
}

/// Whether a command reads or names such a file.
pub(super) fn reads(paths: &Paths, command: &Command, place: Place<'_>) -> Truth {
    let is_printed = command.name().is_some_and(|name| PRINTERS.contains(&&*name));
    let files = command.files().into_iter().filter(|one| one.touched == Touched::Named);
    let files = files.filter(|one| !is_printed || one.file.holes.is_empty());
    files.map(|one| touches(paths, &one, None, place)).max().unwrap_or(Truth::No)
}

fn touches(paths: &Paths, one: &FileUse, writer: Option<&Command>, place: Place<'_>) -> Truth {
    let Word { text, holes, .. } = &one.file;
    if !holes.iter().all(|hole| matches!(&text[hole.clone()], "?" | "[")) {
        return Truth::Unknown;
    }
    let Some(path) = place.relative(text) else {
        return if paths.is_match(None, text) { Truth::Yes } else { Truth::No };
    };
    if paths.is_match(None, &path) || paths.is_match(None, text) {
        return Truth::Yes;
    }
    let is_wild = text.contains('*') || !holes.is_empty();
    if is_wild && paths.patterns().any(|pattern| may_overlap(&path, pattern, writer.is_some())) {
        return Truth::Unknown;
    }
    writer.map_or(Truth::No, |writer| covers(paths, &path, writer))
}

/// Whether a command changes what is below a folder, and the patterns match files there.
fn covers(paths: &Paths, folder: &str, writer: &Command) -> Truth {
    let name = writer.name();
    if matches!(name.as_deref(), Some("mkdir" | "touch" | "chmod" | "chown" | "chgrp")) {
        return Truth::No;
    }
    let below = |pattern: &str| {
        let fixed = fixed_folder(pattern);
        folder.is_empty() || fixed.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
    };
    let removes = writer.removes_folders();
    let is_folder = || folder.rsplit('/').next().is_some_and(|last| !last.contains('.'));
    match paths.patterns().any(below) {
        true if removes => Truth::Yes,
        true => Truth::Unknown,
        // A pattern such as `**/*.go` may match below any folder.
        false
            if removes && is_folder() && paths.patterns().any(|pattern| fixed_folder(pattern).is_empty()) =>
        {
            Truth::Unknown
        }
        false => Truth::No,
    }
}

/// The folders with which a pattern starts, each followed by `/`.
fn fixed_folder(pattern: &str) -> &str {
    let fixed = &pattern[..pattern.find(SPECIAL).unwrap_or(pattern.len())];
    &fixed[..fixed.rfind('/').map_or(0, |at| at + 1)]
}

const SPECIAL: [char; 7] = ['*', '?', '[', '{', '(', '!', '\\'];

/// Whether a path with wildcards may be a file that a pattern matches, or a folder around one.
fn may_overlap(path: &str, pattern: &str, is_writer: bool) -> bool {
    let path = if pattern.contains('/') { path } else { path.rsplit('/').next().unwrap_or(path) };
    let mut wanted = pattern.split('/');
    for part in path.split('/') {
        match wanted.next() {
            Some("**") => {
                let (last, wanted) = (path.rsplit('/').next(), pattern.rsplit('/').next());
                return wanted == Some("**")
                    || part_may_overlap(last.unwrap_or(path), wanted.unwrap_or(pattern));
            }
            Some(pattern) if part_may_overlap(part, pattern) => {}
            _ => return false,
        }
    }
    is_writer || wanted.next().is_none_or(|rest| rest == "**")
}

/// Whether a part of a path with wildcards and a part of a pattern may be the same: what is fixed at their starts and ends
/// must agree. In a shell, a wildcard does not match a dot at the start.
fn part_may_overlap(part: &str, pattern: &str) -> bool {
    if part.starts_with(['*', '?']) && pattern.starts_with('.') {
        return false;
    }
    let ends = |text: &str| {
        let start = text.find(SPECIAL).unwrap_or(text.len());
        let end = text.rfind([']', ')', '}']).max(text.rfind(SPECIAL)).map_or(0, |at| at + 1);
        (text[..start].to_owned(), text[end..].to_owned())
    };
    let ((start, end), (wanted_start, wanted_end)) = (ends(part), ends(pattern));
    (start.starts_with(&wanted_start) || wanted_start.starts_with(&start))
        && (end.ends_with(&wanted_end) || wanted_end.ends_with(&end))
}

impl Place<'_> {
    /// A file of the line, relative to its root; `None` if it is outside of every root.
    fn relative(&self, file: &str) -> Option<String> {
        let is_whole = file.starts_with(['/', '~']) || file.get(1..3) == Some(":\\");
        let whole = self.folder.filter(|_| !is_whole).map(|folder| format!("{folder}/{file}"));
        match self.roots.locate(whole.as_deref().unwrap_or(file), &|_, _| false) {
            PathLocation::Inside { path, .. } => Some(path),
            PathLocation::Root(_) => Some(String::new()),
            PathLocation::Outside => None,
        }
    }
}

#[cfg(test)]
mod tests;
