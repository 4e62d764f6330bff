//! Opens a workspace: its roots, its settings, its toggles.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rulebook::diagnostic::{Code, Diagnostic};
use rulebook::evidence::{Root, Roots};

use crate::disk::Text;
use crate::explain::OutsideRoots;
use crate::homes::{Homes, posix};
use crate::overlay::Overlay;
use crate::read;
use crate::settings::{self, Layer, LayerKind, Settings, Trust};
use crate::storage::{Storage, plain};
use crate::team::TEAM_FILE;
use crate::toggles::Switched;
use crate::trust::{Admission, Gate};
use crate::workspace::Workspace;

/// Why a workspace cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpenError {
    /// A root does not exist, or cannot be read.
    Unreadable {
        /// The root as given.
        root: PathBuf,
        /// The operating system's words.
        reason: String,
    },
    /// A root is not a folder.
    NotAFolder {
        /// The root as given.
        root: PathBuf,
    },
    /// The path of a root is not UTF-8.
    NotUtf8 {
        /// The root as given.
        root: PathBuf,
    },
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (OpenError::Unreadable { root, .. }
        | OpenError::NotAFolder { root }
        | OpenError::NotUtf8 { root }) = self;
        let root = root.display();
        match self {
            OpenError::Unreadable { reason, .. } => write!(f, "the root `{root}` cannot be opened: {reason}"),
            OpenError::NotAFolder { .. } => write!(f, "the root `{root}` is not a folder"),
            OpenError::NotUtf8 { .. } => {
                write!(f, "the path of the root `{root}` is not UTF-8; rename the folder")
            }
        }
    }
}

impl std::error::Error for OpenError {}

/// The root of the workspace around a folder: the nearest ancestor with `.git`, else the folder itself.
pub fn find_root(start: &Path) -> &Path {
    start.ancestors().find(|dir| dir.join(".git").exists()).unwrap_or(start)
}

impl Workspace {
    /// Opens the workspace around a folder, with the user's folders from the environment.
    ///
    /// Its root is the nearest ancestor with `.git`, or the folder itself. Settings and toggles are read now, rules when
    /// they are needed.
    ///
    /// # Errors
    /// If the folder cannot be opened, or its path is not UTF-8.
    pub fn open(folder: impl AsRef<Path>) -> Result<Workspace, OpenError> {
        let folder = folder.as_ref();
        let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        Workspace::open_with(&[find_root(&absolute)], Homes::from_environment(), "")
    }

    /// Opens a workspace of exactly these roots. `flags` are settings as TOML, which override those of the files.
    ///
    /// # Errors
    /// If a root cannot be opened, or its path is not UTF-8.
    pub fn open_with(roots: &[impl AsRef<Path>], homes: Homes, flags: &str) -> Result<Workspace, OpenError> {
        Workspace::open_over(roots, homes, flags, Overlay::default())
    }

    /// Opens a workspace with the unsaved texts of an editor, which are read instead of the files on disk.
    ///
    /// # Errors
    /// If a root cannot be opened, or its path is not UTF-8.
    pub fn open_over(
        roots: &[impl AsRef<Path>],
        homes: Homes,
        flags: &str,
        overlay: Overlay,
    ) -> Result<Workspace, OpenError> {
        let files = if overlay.is_empty() { Storage::Disk } else { Storage::over(&overlay) };
        let workspace = Workspace::open_among(files, roots, homes, flags)?;
        Ok(Workspace { overlay, ..workspace })
    }

    /// A workspace of texts instead of files, by their paths in it. It reads nothing of the disk, and writes nothing.
    ///
    /// `flags` are settings as TOML, which override those of a `rulebook.toml` among the texts.
    ///
    /// # Errors
    /// If a path leads out of the workspace.
    pub fn of_texts<'t>(
        texts: impl IntoIterator<Item = (&'t str, &'t str)>,
        flags: &str,
    ) -> Result<Workspace, OutsideRoots> {
        /// Shown only for paths outside of it.
        const ROOT: &str = "/workspace";
        let mut all = Vec::new();
        for (path, text) in texts {
            let at =
                plain(&Path::new(ROOT).join(path)).filter(|at| at.starts_with(ROOT) && at != Path::new(ROOT));
            let outside = || OutsideRoots { path: path.to_owned(), roots: vec![ROOT.to_owned()] };
            all.push((at.ok_or_else(outside)?, Arc::from(text)));
        }
        let opened = Workspace::open_among(Storage::of_texts(ROOT, all), &[ROOT], Homes::default(), flags);
        Ok(opened.expect("the root is a folder with a name in UTF-8"))
    }

    fn open_among(
        files: Storage,
        roots: &[impl AsRef<Path>],
        homes: Homes,
        flags: &str,
    ) -> Result<Workspace, OpenError> {
        let mut paths = Vec::new();
        for root in roots {
            let root = root.as_ref();
            let real = files.canonical(root).map_err(|error| OpenError::Unreadable {
                root: root.to_owned(),
                reason: read::reason(&error),
            })?;
            if !files.is_folder(&real) {
                return Err(OpenError::NotAFolder { root: root.to_owned() });
            }
            if real.to_str().is_none() {
                return Err(OpenError::NotUtf8 { root: root.to_owned() });
            }
            let path = posix(&real);
            let also =
                std::path::absolute(root).ok().map(|given| posix(&given)).filter(|given| *given != path);
            if !paths.iter().any(|root: &Root| root.path == path) {
                paths.push(Root { name: String::new(), path, aliases: also.into_iter().collect() });
            }
        }
        // Sorted, so that the order in which roots are given has no effect.
        paths.sort_by(|a, b| a.path.cmp(&b.path));
        let home = homes.home.as_ref().map(|home| posix(home));
        let roots = Roots { roots: name_roots(paths), home };
        let mut workspace = Workspace {
            roots,
            homes,
            settings: Settings::default(),
            diagnostics: Vec::new(),
            switched: Switched::default(),
            gate: Gate::default(),
            settings_texts: Vec::new(),
            untrusted_settings: Vec::new(),
            files,
            overlay: Overlay::default(),
            open_parser: None,
            parser: OnceLock::new(),
        };
        workspace.read_settings(flags, None);
        if let Some(toggles) = workspace.toggles() {
            let (switched, reported) = toggles.read();
            workspace.switched = switched;
            workspace.diagnostics.extend(reported);
        }
        Ok(workspace)
    }

    /// Reads the settings. Those of the workspace must be trusted, as `mode` or else the person's own settings demand.
    pub(crate) fn read_settings(&mut self, flags: &str, mode: Option<Trust>) {
        let (mut own, mut is_unreadable) = (Vec::new(), false);
        if let Some(config) = &self.homes.config {
            let path = config.join("rulebook/config.toml");
            match read_layer(&self.files, LayerKind::User, self.homes.shown(&path), &path) {
                Ok(layer) => own.extend(layer),
                Err(mut fault) => {
                    fault.protect("`trust` counts as `require`");
                    self.diagnostics.push(*fault);
                    is_unreadable = true;
                }
            }
        }
        if !flags.is_empty() {
            own.push(Layer { kind: LayerKind::Flags, display: "--set".to_owned(), text: flags.to_owned() });
        }
        let mut person = if own.is_empty() { Settings::default() } else { settings::merge(&own).0 };
        if is_unreadable && person.set_by("trust").is_none() {
            person.trust = Trust::Require;
        }
        self.read_trust(mode.unwrap_or(person.trust));
        let mut layers = Vec::new();
        let several = self.roots.roots.len() > 1;
        for (root, Root { name, path, .. }) in self.roots.roots.iter().enumerate() {
            let display = if several { format!("{name}/{TEAM_FILE}") } else { TEAM_FILE.to_owned() };
            let path = Path::new(path).join(TEAM_FILE);
            let kind = LayerKind::Workspace { root };
            let layer = match read_layer(&self.files, kind, display, &path) {
                Ok(Some(layer)) => layer,
                Ok(None) => continue,
                Err(fault) => {
                    self.diagnostics.push(*fault);
                    continue;
                }
            };
            let text: Arc<str> = layer.text.as_str().into();
            self.settings_texts.push((root, Arc::clone(&text)));
            match self.gate.check(root, &posix(&path), &Text::new(text)) {
                Admission::Accepted => layers.push(layer),
                Admission::Reported(message) => {
                    self.diagnostics.push(Diagnostic::whole(Code::Changed, &layer.display, message));
                    layers.push(layer);
                }
                Admission::Refused => self.untrusted_settings.push(root),
            }
        }
        layers.extend(own);
        if !layers.is_empty() {
            let (settings, reported) = settings::merge(&layers);
            self.settings = settings;
            self.settings.stream.mandatory = person.stream.others;
            self.diagnostics.extend(reported);
        }
    }

    /// Reads which files are trusted, before any file of the workspace is used.
    fn read_trust(&mut self, mode: Trust) {
        let store = self.trust_store().filter(|_| mode != Trust::Off);
        let (known, reported) = store.map(|store| store.read(&self.roots)).unwrap_or_default();
        self.gate = Gate::new(mode, known, &self.roots);
        self.diagnostics.extend(reported);
    }
}

/// Names each root by its folder, or by as much of the path as makes the name unique.
fn name_roots(mut roots: Vec<Root>) -> Vec<Root> {
    let tail = |path: &str, parts: usize| {
        let all: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        all[all.len().saturating_sub(parts)..].join("/")
    };
    for at in 0..roots.len() {
        let path = &roots[at].path;
        let is_unique = |parts: &usize| {
            roots.iter().filter(|other| tail(&other.path, *parts) == tail(path, *parts)).count() == 1
        };
        let parts = (1..=path.split('/').count()).find(is_unique).unwrap_or(1);
        roots[at].name = tail(path, parts);
    }
    roots
}

/// Reads a settings file. A repository's file must be inside it: a link could lead anywhere.
fn read_layer(
    files: &Storage,
    kind: LayerKind,
    display: String,
    path: &Path,
) -> Result<Option<Layer>, Box<Diagnostic>> {
    let text = match (&kind, path.parent()) {
        (LayerKind::Workspace { .. }, Some(root)) => files.text_within(path, root, settings::MAX_TEXT),
        _ => files.text(path, settings::MAX_TEXT),
    };
    let message = match text {
        Ok(None) if files.own_kind(path).is_some() => {
            "these settings cannot be read: the file is a link to a missing file".to_owned()
        }
        Ok(None) => return Ok(None),
        Err(error) if error.to_string() == read::LEADS_OUT => {
            "these settings are not used: the file is a link to a file outside the workspace".to_owned()
        }
        Ok(Some(text)) => return Ok(Some(Layer { kind, display, text })),
        Err(error) => format!("these settings cannot be read: {}", read::reason(&error)),
    };
    Err(Box::new(Diagnostic::whole(Code::BadSettings, display, message)))
}
