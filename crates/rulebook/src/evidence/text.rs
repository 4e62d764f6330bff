//! Finds the paths in a user's message.

mod classify;
mod disk;
mod names;
mod requests;
mod scan;
#[cfg(test)]
mod tests;

pub(super) use requests::{Requests, requests};

use crate::markdown::outside_code;
use crate::work;
use classify::classify;
use disk::Disk;
use scan::{Candidate, scan};

/// The maximum number of bytes read of a message. Longer messages are pasted text rather than a request.
const MAX_TEXT: usize = 256 * 1024;
/// The maximum number of paths in a message.
const MAX_PATHS: usize = 2000;

/// Finds the paths in a user's message, in order of appearance and without duplicates.
///
/// Fenced code, URLs and e-mail addresses are not searched. A path that exists counts. A path that does not exist
/// counts if it looks like a file to create: it has an extension, its first folder exists, it ends in `/`, it starts
/// with `./`, or it is a glob. A bare name that does not exist counts only with a common extension (`utils.ts`). A bare
/// name without a dot is checked for existence only if it is quoted, in capitals, or ends in `file` (`Makefile`), so
/// that prose does not cost one check per word.
///
/// Results use `/` and have no trailing slash. They are relative to a root unless they start with `/`, `~/` or a drive.
/// `..` is not resolved, and a glob stays as written.
///
/// `exists` takes a path relative to a root or an absolute path, of a file or a folder. It is called once per distinct
/// path, and a limited number of times.
pub(super) fn path_like(text: &str, exists: &dyn Fn(&str) -> bool) -> Vec<String> {
    find(text, exists, |_| true)
}

/// Finds the files and folders mentioned with `@`: `@src/a.ts`, `@/src/a.ts`, `@"a b.ts"`, `@docs/`.
///
/// A leading `/` means the root, unless only the absolute path exists. Names that do not look like a path, such as
/// `@Component` or the package `@scope/name`, count only if they exist, with or without their `@`.
pub(super) fn mentions(text: &str, exists: &dyn Fn(&str) -> bool) -> Vec<String> {
    find(text, exists, |candidate| candidate.is_mention())
}

fn find(text: &str, exists: &dyn Fn(&str) -> bool, is_wanted: fn(&Candidate) -> bool) -> Vec<String> {
    let mut disk = Disk::new(exists);
    let mut found: Vec<String> = Vec::new();
    let mut take = |candidate: Candidate| {
        if found.len() == MAX_PATHS || !is_wanted(&candidate) {
            return false;
        }
        let Some(path) = classify(&candidate, &mut disk) else { return false };
        work::count(found.len());
        if !found.contains(&path) {
            found.push(path);
        }
        true
    };
    for visible in outside_code(&text[..text.floor_char_boundary(MAX_TEXT)]) {
        scan(visible, &mut take);
    }
    found
}
