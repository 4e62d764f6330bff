//! Review: every file of a workspace beside the version that was trusted.

use std::sync::{Arc, Mutex};

use crate::settings::Trust;
use crate::sources::{Loaded, Reach};
use crate::state::sha256;
use crate::trust::Texts;
use crate::workspace::Workspace;

/// A file of a workspace, compared with its trusted version.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Reviewed {
    /// Its root.
    pub root: usize,
    /// Its path in the root.
    pub path: String,
    /// Its text.
    pub text: Arc<str>,
    /// How it compares with the trusted version.
    pub standing: Standing,
}

/// How a file compares with its trusted version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It was never trusted.
    New,
    /// It changed; with the trusted text, if that is still known.
    Changed(Option<String>),
    /// It is the trusted version.
    Same,
}

/// Every file of a workspace that trust covers, and the trusted files that are gone.
#[derive(Debug)]
#[non_exhaustive]
pub struct Review {
    /// By root and path.
    pub files: Vec<Reviewed>,
    /// Root and path.
    pub gone: Vec<(usize, String)>,
    /// Which roots were trusted before.
    pub trusted: Vec<bool>,
    /// The rules as they are with everything trusted.
    pub loaded: Loaded,
}

impl Workspace {
    /// Reads everything, trusted or not, and compares it with the trusted versions. `flags` are those it was opened
    /// with.
    pub fn review(mut self, flags: &str) -> Review {
        (self.settings_texts, self.untrusted_settings, self.diagnostics) = Default::default();
        self.read_settings(flags, Some(Trust::Off));
        self.gate.seen = Some(Mutex::default());
        let loaded = self.load(Reach::Tree);
        let store = self.trust_store();
        let (mut known, _) = store.as_ref().map(|store| store.read(&self.roots)).unwrap_or_default();
        known.resize(self.roots.roots.len(), None);
        let trusted = known.iter().map(Option::is_some).collect();
        let mut seen: Texts =
            self.gate.seen.take().map(|seen| seen.into_inner().unwrap_or_default()).unwrap_or_default();
        let settings = self.settings_texts.drain(..);
        seen.extend(settings.map(|(root, text)| ((root, "rulebook.toml".to_owned()), text)));
        let review = |((root, path), text): ((usize, String), Arc<str>)| {
            let hash = known[root].as_mut().and_then(|known| known.remove(&path));
            let standing = match hash {
                None => Standing::New,
                Some(hash) if hash == sha256(text.as_bytes()) => Standing::Same,
                Some(hash) => Standing::Changed(store.as_ref().and_then(|store| store.text(&hash))),
            };
            Reviewed { root, path, text, standing }
        };
        let files = seen.into_iter().map(review).collect();
        let gone = known.into_iter().enumerate().flat_map(|(root, known)| {
            known.into_iter().flat_map(move |known| known.into_keys().map(move |path| (root, path)))
        });
        Review { files, gone: gone.collect(), trusted, loaded }
    }
}
