//! Existence checks, cached and limited.

use std::collections::HashMap;

/// The maximum number of existence checks per message. Beyond it, the form of a path decides alone.
pub(super) const MAX_CHECKS: usize = 600;

/// Checks each path for existence once.
pub(super) struct Disk<'a> {
    exists: &'a dyn Fn(&str) -> bool,
    known: HashMap<String, bool>,
}

impl<'a> Disk<'a> {
    pub(super) fn new(exists: &'a dyn Fn(&str) -> bool) -> Disk<'a> {
        Disk { exists, known: HashMap::new() }
    }

    pub(super) fn has(&mut self, path: &str) -> bool {
        if let Some(&exists) = self.known.get(path) {
            return exists;
        }
        if self.known.len() == MAX_CHECKS {
            return false;
        }
        let exists = (self.exists)(path);
        self.known.insert(path.to_owned(), exists);
        exists
    }
}
