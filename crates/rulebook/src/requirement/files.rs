//! Whether a command of a shell line reads or writes files that patterns match.

use crate::condition::{Paths, Truth};
use crate::evidence::{PathLocation, Roots};
use crate::glob::{Dialect, Glob};
use crate::shell::{Command, FileUse, Touched, Word};

/// Where a shell line runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'p> {
    pub(crate) roots: &'p Roots,
    /// The folder in which it starts, if it is not the first root.
    pub(crate) folder: Option<&'p str>,
}

/// Whether a command writes such a file. What an editor does, or a program that may run its words, is not known.
pub(super) fn writes(paths: &Paths, command: &Command, place: Place<'_>) -> Truth {
    let truth = |one: FileUse| match one.touched {
        Touched::Moved | Touched::Written => touches(paths, &one, Some(command), place),
        Touched::Opened => touches(paths, &one, Some(command), place).min(Truth::Unknown),
        Touched::Named | Touched::Created => Truth::No,
    };
    let written = command.files().into_iter().map(truth).max().unwrap_or(Truth::No);
    if written == Truth::No && (command.writes_unnamed() || may_run(paths, command, place)) {
        Truth::Unknown
    } else {
        written
    }
}

/// Whether a command that it may run writes such a file.
fn may_run(paths: &Paths, command: &Command, place: Place<'_>) -> bool {
    command.suspected.iter().any(|inner| {
        let written = inner.files().into_iter().filter(|one| one.touched.is_write());
        written.map(|one| touches(paths, &one, Some(inner), place)).max() == Some(Truth::Yes)
    })
}

/// Whether a command reads or names such a file. What becomes of a file that it opens or moves is not known.
pub(super) fn reads(paths: &Paths, command: &Command, place: Place<'_>) -> Truth {
    let is_printed = command.prints();
    let files = command.files().into_iter().filter(|one| !is_printed || one.file.holes.is_empty());
    let truth = |one: FileUse| match one.touched {
        Touched::Named => touches(paths, &one, None, place),
        Touched::Opened | Touched::Moved => touches(paths, &one, None, place).min(Truth::Unknown),
        Touched::Created | Touched::Written => Truth::No,
    };
    files.map(truth).max().unwrap_or(Truth::No)
}

fn touches(paths: &Paths, one: &FileUse, writer: Option<&Command>, place: Place<'_>) -> Truth {
    if let Some(possible) = one.file.possible() {
        let truth = |file| touches(paths, &FileUse { file, ..*one }, writer, place);
        return possible.into_iter().map(truth).max().unwrap_or(Truth::No);
    }
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
    let is_named = |pattern: &str| {
        !pattern.contains(SPECIAL)
            && Glob::new(&path, Dialect::Picomatch).is_ok_and(|glob| glob.is_match(pattern))
    };
    if is_wild && paths.patterns().any(is_named) {
        return Truth::Yes;
    }
    if is_wild && paths.patterns().any(|pattern| may_overlap(&path, pattern, writer.is_some())) {
        return Truth::Unknown;
    }
    writer.map_or(Truth::No, |writer| covers(paths, &path, writer))
}

/// Whether a command changes what is below a folder, and the patterns match files there.
fn covers(paths: &Paths, folder: &str, writer: &Command) -> Truth {
    if writer.is_shallow() {
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
    // `a/**/b` is below a folder, and ends in a name.
    if let Some((folder, name)) = path.split_once("**/") {
        let (fixed, name) = (fixed_folder(pattern), name.rsplit('/').next().unwrap_or(name));
        let last = pattern.rsplit('/').next().unwrap_or(pattern);
        return (fixed.starts_with(folder) || folder.starts_with(fixed)) && part_may_overlap(name, last);
    }
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
