//! Finds the paths a person's message speaks of.

mod judge;
mod names;
mod scan;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use crate::markdown::outside_code;
use judge::judge;
use scan::{Candidate, scan};

/// Bytes of a message that are read; the rest is a paste, not a request.
const MAX_TEXT: usize = 256 * 1024;
/// Paths one message can yield.
const MAX_PATHS: usize = 2000;
/// Bytes of the longest path.
const MAX_PATH: usize = 300;
/// Questions about the disk one message can cost. Once they are spent, a path counts by its looks alone.
const MAX_QUESTIONS: usize = 600;

/// Finds the paths a person's message speaks of, in order of appearance and each once.
///
/// Fenced code, URLs and e-mail addresses are not searched. A path that exists counts. One that does not
/// counts too when it looks like a file to create: it has an extension, its first folder exists, it ends in
/// `/`, it starts with `./`, or it is a glob. A bare name counts by its looks only with a familiar extension
/// (`utils.ts`), otherwise only if it exists; a bare name without any dot is asked about only if it is quoted,
/// written in capitals, or ends in `file` (`Makefile`), so that prose does not cost a question a word.
///
/// Results use `/` and carry no trailing one. They are relative to a root unless they start with `/`, `~/` or
/// a drive; `..` is left for the caller to resolve, and a glob stays as it was written.
///
/// `exists` answers for a path relative to a root, or an absolute one, file or folder. It is asked once for
/// each distinct path, and a bounded number of times.
pub fn path_like(text: &str, exists: &dyn Fn(&str) -> bool) -> Vec<String> {
    seek(text, exists, |_| true)
}

/// Finds the files and folders a person named with `@`: `@src/a.ts`, `@/src/a.ts`, `@"a b.ts"`, `@docs/`.
///
/// A leading `/` means the root, unless only the absolute path exists. Names that are no path, such as
/// `@Component` or the package `@scope/name`, count only if they exist, with or without their `@`.
pub fn mentions(text: &str, exists: &dyn Fn(&str) -> bool) -> Vec<String> {
    seek(text, exists, |candidate| candidate.is_mention())
}

fn seek(text: &str, exists: &dyn Fn(&str) -> bool, is_wanted: fn(&Candidate) -> bool) -> Vec<String> {
    let mut disk = Disk { exists, answers: HashMap::new() };
    let mut found: Vec<String> = Vec::new();
    let mut take = |candidate: Candidate| {
        if found.len() == MAX_PATHS || !is_wanted(&candidate) {
            return false;
        }
        let Some(path) = judge(&candidate, &mut disk) else { return false };
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

/// The caller's knowledge of what exists, asked once a path.
struct Disk<'a> {
    exists: &'a dyn Fn(&str) -> bool,
    answers: HashMap<String, bool>,
}

impl Disk<'_> {
    fn has(&mut self, path: &str) -> bool {
        if let Some(&answer) = self.answers.get(path) {
            return answer;
        }
        if self.answers.len() == MAX_QUESTIONS {
            return false;
        }
        let answer = (self.exists)(path);
        self.answers.insert(path.to_owned(), answer);
        answer
    }
}
