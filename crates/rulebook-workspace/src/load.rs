//! Loading: reads and parses the files that discovery found, each real file once.
//!
//! It runs on one thread: for five hundred files a second one took a third more processor time and saved nothing
//! reliable.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use foldhash::HashMap;
use rulebook::diagnostic::Diagnostic;
use rulebook::format::FormatId;
use rulebook::parse::{Entry, Parsed, parse};
use rulebook::source::{Origin, Scope, Source, Unreadable};

use crate::discover::{Found, Search};
use crate::disk::{Node, Text, lock};
use crate::trust::Gate;

/// The most bytes that are read of one scope, so that a repository's files leave room for a person's own.
const MAX_BYTES: usize = 64 << 20;

/// Reads and parses rule files.
pub(crate) struct Loader<'l> {
    pub(crate) search: &'l Search<'l>,
    pub(crate) gate: &'l Gate,
    /// Earlier readings, for views that may share them.
    pub(crate) readings: Option<&'l Readings>,
    /// Whether a file that two formats read is a rule of each: their agents read it differently.
    pub(crate) is_meant: bool,
    /// Whether files count whether or not the user trusts them: an agent reads its own.
    pub(crate) ignores_trust: bool,
}

impl Loader<'_> {
    /// Reads and parses every file. A file that was found by two names counts once, by the first; as meant, once for each
    /// format.
    ///
    /// `twin_of` names the file in the repository that a file is a checkout of, if several roots are checkouts of it.
    pub(crate) fn load(&self, found: Vec<Found>, twin_of: &dyn Fn(&Origin) -> Option<String>) -> Vec<Parsed> {
        let mut first: HashMap<Identity, usize> = HashMap::default();
        let mut all: Vec<Parsed> = Vec::with_capacity(found.len());
        let mut sizes: BTreeMap<Scope, usize> = BTreeMap::new();
        for found in found {
            let size = sizes.entry(found.origin.scope).or_default();
            let text = if *size >= MAX_BYTES && found.refused.is_none() {
                Err(Unreadable::TooMany)
            } else {
                self.search.text(&found)
            };
            let (text, reported) = self.admit(&found.origin, text);
            let mut identities = [None, None];
            if let Ok(text) = &text {
                *size += text.len();
                let Origin { root, folder, .. } = &found.origin;
                let folder = (!folder.is_empty()).then(|| (*root, folder.clone()));
                // The format makes a file another rule than the same file by another name.
                let format = self.is_meant.then_some(found.origin.format.id);
                identities[0] = found.node.map(|node| Identity::Node(node, folder, format));
                identities[1] = twin_of(&found.origin).map(|twin| Identity::Twin(twin, text.to_string()));
            }
            let mut parsed = self.parse(Source { origin: found.origin, text });
            parsed.diagnostics.extend(reported);
            let known = identities.iter().flatten().find_map(|identity| first.get(identity)).copied();
            if let Some(other) = known {
                // A second name must not switch a mandatory rule off.
                if is_mandatory(&parsed) && !is_mandatory(&all[other]) {
                    std::mem::swap(&mut all[other], &mut parsed);
                }
            } else {
                first.extend(identities.into_iter().flatten().map(|identity| (identity, all.len())));
                all.push(parsed);
            }
        }
        all
    }

    /// Checks whether a text may be used: its text or why not, and what is reported about it.
    pub(crate) fn admit(
        &self,
        origin: &Origin,
        text: Result<Arc<Text>, Unreadable>,
    ) -> (Result<Arc<str>, Unreadable>, Option<Diagnostic>) {
        match text {
            Ok(text) if self.ignores_trust => (Ok(text.shared()), None),
            text => self.gate.admit(origin, text),
        }
    }

    /// The text of a file that may be read.
    pub(crate) fn text(&self, found: &Found) -> Option<Arc<str>> {
        self.admit(&found.origin, self.search.text(found)).0.ok()
    }

    /// Parses a source, or reuses an earlier reading that is the same.
    pub(crate) fn parse(&self, source: Source) -> Parsed {
        match self.readings {
            Some(readings) => readings.parse(source),
            None => parse(source),
        }
    }
}

/// Readings of rule files. A file is parsed again only if its text changed, or for an agent that reads it differently.
#[derive(Debug, Default)]
pub struct Readings(Mutex<HashMap<String, Vec<Reading>>>);

#[derive(Debug)]
struct Reading {
    text: Arc<str>,
    parsed: Parsed,
    is_used: bool,
}

impl Readings {
    fn parse(&self, source: Source) -> Parsed {
        let Ok(text) = source.text.clone() else { return parse(source) };
        let mut known = lock(&self.0);
        let readings = known.entry(source.origin.path.clone()).or_default();
        for known in readings.iter_mut().filter(|known| known.text == text) {
            if let Some(same) = known.parsed.reread(&source.origin) {
                known.is_used = true;
                return same;
            }
        }
        let parsed = parse(source);
        readings.push(Reading { text, parsed: parsed.clone(), is_used: true });
        parsed
    }

    /// Drops the readings that were not used since the last call.
    pub(crate) fn drop_unused(&self) {
        lock(&self.0).retain(|_, readings| {
            readings.retain_mut(|known| std::mem::take(&mut known.is_used));
            !readings.is_empty()
        });
    }

    /// The number of different readings of a file.
    #[cfg(test)]
    pub(crate) fn count(&self, path: &std::path::Path) -> usize {
        path.to_str().and_then(|path| lock(&self.0).get(path).map(Vec::len)).unwrap_or_default()
    }
}

fn is_mandatory(parsed: &Parsed) -> bool {
    matches!(&parsed.entry, Entry::Rule(rule) if rule.is_mandatory)
}

/// What makes two names one file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Identity {
    /// The same file on disk, for the same folder: for another folder it is another rule, and so it may be for another
    /// format.
    Node(Node, Option<(usize, String)>, Option<FormatId>),
    /// The same path in another worktree, with the same text.
    Twin(String, String),
}
