//! A workspace: its roots, its settings and its toggles. Rules are read when they are needed.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rulebook::diagnostic::Diagnostic;
use rulebook::evidence::Roots;
use rulebook::resolve::{Off, OffBy, Rulebook, Switches};
use rulebook::rule::Rule;
use rulebook::source::{MAX_SOURCE, Origin, Scope};
use rulebook::syntax::{Parser, Syntax};

use crate::facts::FileTexts;
use crate::homes::Homes;
use crate::overlay::Overlay;
use crate::settings::Settings;
use crate::storage::Storage;
use crate::toggles::{Switched, Toggles};
use crate::trust::{Gate, TrustStore};

/// One or more roots with their settings and toggles, read once.
#[derive(Debug)]
#[non_exhaustive]
pub struct Workspace {
    /// Its roots, by their canonical paths.
    pub roots: Roots,
    /// The user's folders.
    pub homes: Homes,
    /// The merged settings.
    pub settings: Settings,
    /// The problems in settings and toggles.
    pub diagnostics: Vec<Diagnostic>,
    pub(crate) switched: Switched,
    pub(crate) gate: Gate,
    /// The settings files of the roots, trusted or not.
    pub(crate) settings_texts: Vec<(usize, Arc<str>)>,
    /// The roots whose settings are not used because they are not trusted.
    pub(crate) untrusted_settings: Vec<usize>,
    pub(crate) files: Storage,
    /// The unsaved texts of an editor.
    pub(crate) overlay: Overlay,
    pub(crate) open_parser: Option<OpenParser>,
    pub(crate) parser: OnceLock<Option<Parser>>,
}

/// Opens what parses code, and reads files of a workspace for it.
pub type OpenParser = fn(FileTexts) -> Arc<dyn Syntax>;

impl Workspace {
    /// The person's toggles; `None` without a home.
    pub fn toggles(&self) -> Option<Toggles> {
        self.homes.state.as_ref().map(|state| Toggles::at(&state.join("rulebook")))
    }

    /// The files that the person trusts; `None` without a home.
    pub fn trust_store(&self) -> Option<TrustStore> {
        self.homes.state.as_ref().map(|state| TrustStore::at(&state.join("rulebook")))
    }

    /// Parses code with this, for conditions and triggers on syntax trees.
    #[must_use]
    pub fn parsing_with(mut self, open: OpenParser) -> Workspace {
        self.open_parser = Some(open);
        self
    }

    /// Who parses code here; nobody by default.
    pub fn parser(&self) -> Option<Parser> {
        let open = || self.open_parser.map(|open| Parser(open(self.texts())));
        self.parser.get_or_init(open).clone()
    }

    /// The same, if some rule watches for nodes.
    pub fn watching_parser(&self, book: &Rulebook) -> Option<Arc<dyn Syntax>> {
        let watches = |rule: &Rule| rule.stream.as_ref().is_some_and(|one| !one.syntax.is_empty());
        book.rules().any(|(rule, _)| watches(rule)).then(|| self.parser()).flatten().map(|parser| parser.0)
    }

    /// The rules that settings and toggles switch off.
    pub(crate) fn switches(&self) -> Switches {
        let rules = &self.settings.rules;
        let all = (!rules.enabled).then(|| Off {
            by: OffBy::Enabled,
            file: self.settings.set_by("rules.enabled").map(str::to_owned),
        });
        let roots = self.roots.roots.iter();
        let toggled = roots
            .flat_map(|root| self.switched.off_ids(Path::new(&root.path)))
            .map(|id| (id.to_owned(), Off { by: OffBy::Toggle, file: None }));
        let everywhere = self.switched.off_everywhere();
        let everywhere = everywhere.map(|id| (id.to_owned(), Off { by: OffBy::UserToggle, file: None }));
        let team = rules
            .disabled_ids
            .iter()
            .map(|id| (id.value.clone(), Off { by: OffBy::DisabledIds, file: Some(id.file.clone()) }));
        Switches { all, ids: toggled.chain(everywhere).chain(team).collect() }
    }

    /// The text of a rule file as it is now, to show it; `None` if it cannot be read, or leads to where it must not.
    pub fn rule_file(&self, origin: &Origin) -> Option<String> {
        let path = Path::new(&origin.path);
        let is_inside = |real: &Path| {
            let own = self.homes.rule_places().filter_map(|path| self.files.canonical(&path).ok());
            real == path
                || self.readable_folders().into_iter().chain(own).any(|folder| real.starts_with(folder))
        };
        let allows = |real: &Path| origin.scope != Scope::Workspace || is_inside(real);
        let bytes = self.files.allowed_prefix(path, MAX_SOURCE as usize + 1, allows).ok()??;
        String::from_utf8(bytes).ok().filter(|text| text.len() as u64 <= MAX_SOURCE)
    }

    /// The folders outside the roots that links may lead to.
    pub(crate) fn allow_links(&self) -> Vec<PathBuf> {
        self.settings.rules.allow_links.iter().map(|path| self.homes.expand(path)).collect()
    }

    /// The canonical folders whose files may be looked at: the roots, and those that links may lead to.
    pub(crate) fn readable_folders(&self) -> Vec<PathBuf> {
        let roots = self.roots.roots.iter().map(|root| PathBuf::from(&root.path));
        // The roots too: the spelling of canonical paths on Windows differs from theirs.
        roots.chain(self.allow_links()).filter_map(|path| self.files.canonical(&path).ok()).collect()
    }
}
