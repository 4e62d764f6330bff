//! Opening a workspace: its roots, its settings, its switches.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use rulebook::diagnostic::{Code, Diagnostic};
use rulebook::evidence::{Root, Roots};

use crate::homes::{Homes, posix};
use crate::settings::{self, Layer, LayerKind, Settings, Trust};
use crate::toggles::Switched;
use crate::trust::{Entrance, Gate};
use crate::{Workspace, bounded, discover};

/// Why a workspace cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenError {
    /// The folder as given.
    pub root: PathBuf,
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the root `{}` {}", self.root.display(), self.reason)
    }
}

impl std::error::Error for OpenError {}

/// The root of a workspace started anywhere below it: the nearest folder with `.git`, else the start itself.
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
        let mut paths = Vec::new();
        for root in roots {
            let root = root.as_ref();
            let fail = |reason: String| OpenError { root: root.to_owned(), reason };
            let real = fs::canonicalize(root)
                .map_err(|error| fail(format!("cannot be opened: {}", discover::reason(&error))))?;
            if !real.is_dir() {
                return Err(fail("is not a folder".to_owned()));
            }
            if real.to_str().is_none() {
                return Err(fail("has a name that is not UTF-8; rename the folder".to_owned()));
            }
            let path = posix(&real);
            let also =
                std::path::absolute(root).ok().map(|given| posix(&given)).filter(|given| *given != path);
            if !paths.iter().any(|root: &Root| root.path == path) {
                paths.push(Root { name: String::new(), path, alias: also });
            }
        }
        // Sorted: the order in which roots are given decides nothing.
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
            offered: Vec::new(),
            shut: Vec::new(),
        };
        workspace.read_settings(flags, None);
        if let Some(toggles) = workspace.toggles() {
            let (switched, told) = toggles.read();
            workspace.switched = switched;
            workspace.diagnostics.extend(told);
        }
        Ok(workspace)
    }

    /// Reads the settings, the workspace's through the gate: as the person's own want it, or as `mode` says.
    pub(crate) fn read_settings(&mut self, flags: &str, mode: Option<Trust>) {
        let mut own = Vec::new();
        if let Some(config) = &self.homes.config {
            let path = config.join("rulebook/config.toml");
            own.extend(read_layer(LayerKind::User, self.homes.shown(&path), &path, &mut self.diagnostics));
        }
        if !flags.is_empty() {
            own.push(Layer { kind: LayerKind::Flags, display: "--set".to_owned(), text: flags.to_owned() });
        }
        let person = if own.is_empty() { Settings::default() } else { settings::merge(&own).0 };
        self.close_gate(mode.unwrap_or(person.trust));
        let mut layers = Vec::new();
        let several = self.roots.roots.len() > 1;
        for (root, Root { name, path, .. }) in self.roots.roots.iter().enumerate() {
            let display = if several { format!("{name}/rulebook.toml") } else { "rulebook.toml".to_owned() };
            let path = Path::new(path).join("rulebook.toml");
            let kind = LayerKind::Workspace { root };
            let Some(layer) = read_layer(kind, display, &path, &mut self.diagnostics) else { continue };
            self.offered.push((root, layer.text.clone()));
            match self.gate.judge(root, &posix(&path), &layer.text) {
                Entrance::Open => layers.push(layer),
                Entrance::Told(what) => {
                    self.diagnostics.push(Diagnostic::whole(Code::Changed, &layer.display, what));
                    layers.push(layer);
                }
                Entrance::Shut => self.shut.push(root),
            }
        }
        layers.extend(own);
        if !layers.is_empty() {
            let (settings, told) = settings::merge(&layers);
            self.settings = settings;
            self.settings.own_stream = person.stream;
            self.diagnostics.extend(told);
        }
    }

    /// Learns what was trusted before anything of the workspace is read.
    fn close_gate(&mut self, mode: Trust) {
        let store = self.trust_store().filter(|_| mode != Trust::Off);
        let (known, told) = store.map(|store| store.read(&self.roots)).unwrap_or_default();
        self.gate = Gate::new(mode, known, &self.roots);
        self.diagnostics.extend(told);
    }
}

/// Names each root by its folder; where two are alike, by as much of the path as tells them apart.
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

/// Reads a settings file. A repository's must really lie in it: a link could lead anywhere.
fn read_layer(
    kind: LayerKind,
    display: String,
    path: &Path,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Layer> {
    let is_inside = |root: &Path| fs::canonicalize(path).is_ok_and(|real| real.starts_with(root));
    let leads_out = matches!(kind, LayerKind::Workspace { .. }) && !path.parent().is_some_and(is_inside);
    let told = match bounded::read(path, settings::MAX_TEXT) {
        Ok(None) => return None,
        Ok(Some(_)) if leads_out => "is a link that leads out of the workspace, and is left out".to_owned(),
        Ok(Some(bytes)) => match String::from_utf8(bytes) {
            Ok(text) => return Some(Layer { kind, display, text }),
            Err(_) => "is not UTF-8 text".to_owned(),
        },
        Err(error) => format!("cannot be read: {}", discover::reason(&error)),
    };
    diagnostics.push(Diagnostic::whole(Code::BadSettings, display, told));
    None
}
