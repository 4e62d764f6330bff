//! Gates of a tool call: which of its files a text is for, and the hits that wait to learn it.
//!
//! A field is for the files named in its own object; where that names none, for those named in the nearest object around
//! it that names one. A file may come after the text: its object's end decides.

use super::monitor::Hit;
use super::scope::{Covers, OutputPart};
use super::watch::Conditions;
use crate::evidence::{PathLocation, Roots};

/// The most files that are known of at a time, and the most hits that wait for one.
const MAX_FILES: usize = 1000;
const MAX_WAITING: usize = 1000;

/// The files and hits of all objects that are open, each object's behind those of the one around it.
#[derive(Debug, Default)]
pub(super) struct Gates {
    /// The objects within the arguments.
    objects: Vec<Object>,
    files: Vec<File>,
    /// Conditions that were met, if one of the files lets them through.
    waiting: Vec<(usize, Hit)>,
}

/// A file that a call names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct File {
    /// The root it lies in. A relative path may lie in any of several: which, only the disk knows.
    pub(super) root: Option<usize>,
    /// Relative to its root; as written where it lies in none.
    pub(super) path: String,
}

impl File {
    pub(super) fn new(roots: &Roots, written: &str) -> File {
        let there = |at: usize| roots.locate(written, &|root, _| root == at);
        let place = there(0);
        let is_sure = place == there(roots.roots.len().saturating_sub(1));
        match place {
            PathLocation::Inside { root, path } => File { root: is_sure.then_some(root), path },
            _ => File { root: None, path: written.to_owned() },
        }
    }
}

/// Where an object's files and hits begin.
#[derive(Clone, Copy, Debug, Default)]
struct Object {
    files: usize,
    waiting: usize,
}

impl Gates {
    /// An object begins.
    pub(super) fn enter(&mut self) {
        self.objects.push(Object { files: self.files.len(), waiting: self.waiting.len() });
    }

    /// An object ends: what waits in it and has no file there waits in the one around it.
    pub(super) fn leave(&mut self, conditions: &Conditions, hits: &mut Vec<Hit>) {
        let Some(object) = self.objects.pop() else { return };
        if self.files.len() > object.files {
            self.files.truncate(object.files);
            self.waiting.truncate(object.waiting);
        } else {
            self.settle(conditions, object.waiting, self.innermost().files, hits);
        }
    }

    /// A file is named.
    pub(super) fn learn(&mut self, conditions: &Conditions, file: File, hits: &mut Vec<Hit>) {
        if self.files.len() < MAX_FILES {
            self.files.push(file);
            self.settle(conditions, self.innermost().waiting, self.files.len() - 1, hits);
        }
    }

    /// A condition was met that only a file lets through.
    pub(super) fn wait(&mut self, conditions: &Conditions, condition: usize, hit: Hit, hits: &mut Vec<Hit>) {
        if self.waiting.len() < MAX_WAITING {
            self.waiting.push((condition, hit));
            self.settle(conditions, self.waiting.len() - 1, self.innermost().files, hits);
        }
    }

    fn innermost(&self) -> Object {
        self.objects.last().copied().unwrap_or_default()
    }

    /// Lets through what waits from `waiting` on and one of the files from `files` on opens the gate for.
    fn settle(&mut self, conditions: &Conditions, waiting: usize, files: usize, hits: &mut Vec<Hit>) {
        let files = &self.files[files..];
        if files.is_empty() {
            return;
        }
        let opened = self.waiting.extract_if(waiting.., |(condition, hit)| {
            let opens =
                |file: &&File| conditions.covers(*condition, origin_of(hit), Some(file)) == Covers::Yes;
            hit.file = files.iter().find(opens).map(|file| file.path.clone());
            hit.file.is_some()
        });
        hits.extend(opened.map(|(_, hit)| hit));
    }
}

fn origin_of(hit: &Hit) -> OutputPart<'_> {
    match (hit.scope, &hit.tool, &hit.field) {
        ("tool", Some(tool), Some(field)) => OutputPart::Field { tool, field },
        ("wire", Some(tool), _) => OutputPart::Wire { tool },
        ("thinking", ..) => OutputPart::Thinking,
        _ => OutputPart::Text,
    }
}
