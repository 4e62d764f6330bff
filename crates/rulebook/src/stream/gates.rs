//! The files of a tool call, and the hits that wait for one.
//!
//! A field is for the files named in its object or, if there are none, in the nearest enclosing object that names one. A
//! file may follow the text, so the end of the object decides.

use super::conditions::Conditions;
use super::file::File;
use super::hit::Hit;
use super::scope::Covers;
use crate::work;

/// The maximum number of files at a time, and of hits that wait for one.
const MAX_FILES: usize = 1000;
const MAX_WAITING: usize = 1000;

/// The files and hits of all open objects, those of an inner object after those of the outer one.
#[derive(Debug, Default)]
pub(super) struct Gates {
    /// The open objects inside the arguments.
    objects: Vec<Object>,
    files: Vec<File>,
    /// Conditions with hits that need a matching file.
    waiting: Vec<(usize, Hit)>,
}

/// Where the files and hits of an object start.
#[derive(Clone, Copy, Debug, Default)]
struct Object {
    files: usize,
    waiting: usize,
}

impl Gates {
    /// Starts an object.
    pub(super) fn enter(&mut self) {
        self.objects.push(Object { files: self.files.len(), waiting: self.waiting.len() });
    }

    /// Ends an object. If it names no file, its waiting hits move to the enclosing object.
    pub(super) fn leave(&mut self, conditions: &Conditions, hits: &mut Vec<Hit>) {
        let Some(object) = self.objects.pop() else { return };
        if self.files.len() > object.files {
            self.files.truncate(object.files);
            self.waiting.truncate(object.waiting);
        } else {
            self.release(conditions, object.waiting, self.innermost().files, hits);
        }
    }

    /// Ends the call. Hits that need no file count if the call names none.
    pub(super) fn finish(&mut self, conditions: &Conditions, hits: &mut Vec<Hit>) {
        while !self.objects.is_empty() {
            self.leave(conditions, hits);
        }
        if self.files.is_empty() {
            let is_open =
                |(condition, hit): &mut (usize, Hit)| conditions.covers_without_file(*condition, hit.part());
            hits.extend(self.waiting.extract_if(.., is_open).map(|(_, hit)| hit));
        }
    }

    /// Adds a file to the current object.
    pub(super) fn add_file(&mut self, conditions: &Conditions, file: File, hits: &mut Vec<Hit>) {
        if self.files.len() < MAX_FILES {
            self.files.push(file);
            self.release(conditions, self.innermost().waiting, self.files.len() - 1, hits);
        }
    }

    /// Adds a hit that needs a matching file.
    pub(super) fn add_hit(
        &mut self,
        conditions: &Conditions,
        condition: usize,
        hit: Hit,
        hits: &mut Vec<Hit>,
    ) {
        if self.waiting.len() < MAX_WAITING {
            self.waiting.push((condition, hit));
            self.release(conditions, self.waiting.len() - 1, self.innermost().files, hits);
        }
    }

    fn innermost(&self) -> Object {
        self.objects.last().copied().unwrap_or_default()
    }

    /// Releases the hits from index `waiting` for which one of the files from index `files` matches.
    fn release(&mut self, conditions: &Conditions, waiting: usize, files: usize, hits: &mut Vec<Hit>) {
        let files = &self.files[files..];
        if files.is_empty() {
            return;
        }
        let released = self.waiting.extract_if(waiting.., |(condition, hit)| {
            let is_match = |file: &&File| {
                work::count(1);
                conditions.covers(*condition, hit.part(), Some(file)) == Covers::Yes
            };
            hit.file = files.iter().find(is_match).map(|file| file.path.clone());
            hit.file.is_some()
        });
        hits.extend(released.map(|(_, hit)| hit));
    }
}
