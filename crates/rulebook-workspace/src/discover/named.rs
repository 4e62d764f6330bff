//! Files that agents' settings name, and files that they exclude.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

use rulebook::diagnostic::{Code, Diagnostic};
use rulebook::format::{ConfigEffect, FORMATS, Format, FormatId, NAMED, PlaceKind};
use rulebook::glob::{Dialect, Glob, PathIndex, PatternSet};
use rulebook::source::Scope;

use super::config::{ConfigValue, LoadedConfig};
use super::finder::{Finder, Item, Spot, not_a_file};
use super::nested::Within;
use super::search::Found;
use crate::homes::posix;
use crate::tree::NEVER_WALKED;

/// The most folders that are listed below one folder, and for all patterns of a setting.
const MAX_FOLDERS: usize = 2_000;
const MAX_ALL_FOLDERS: usize = 20_000;

/// The files that patterns match, by root and pattern.
type Matched = HashMap<(usize, String), Vec<String>>;

impl Finder<'_> {
    /// Adds the files that agents' settings name.
    pub(super) fn named(&mut self, within: Within<'_>) {
        for config in std::mem::take(&mut self.configs) {
            match config.effect {
                ConfigEffect::Files => self.named_files(&config, within),
                ConfigEffect::Names | ConfigEffect::OnlyNames | ConfigEffect::Fallbacks => {
                    self.named_everywhere(&config, within);
                }
                ConfigEffect::Folders => self.named_folders(&config),
                ConfigEffect::Excludes | ConfigEffect::Switch => {}
            }
            self.configs.push(config);
        }
    }

    fn named_files(&mut self, config: &LoadedConfig, within: Within<'_>) {
        let roots = match config.scope {
            Scope::User => 0..self.search.roots.roots.len(),
            _ => config.root..config.root + 1,
        };
        let matched = self.matched(config.value.texts(), &roots, within);
        for entry in config.value.texts() {
            if entry.contains("://") {
                let message = format!("`{entry}` is not read: {} fetches it", config.format.agent);
                self.diagnostics.push(Diagnostic::whole(Code::NamedRemote, &config.shown, message));
                continue;
            }
            let is_own = entry.starts_with("~/") || Path::new(entry).is_absolute();
            let mut count = 0;
            for root in roots.clone() {
                count += if is_own {
                    self.own_file(config, entry, root)
                } else {
                    self.files(config, entry, root, &matched)
                };
                if is_own {
                    break;
                }
            }
            if count == 0 && config.scope == Scope::Workspace {
                let message =
                    format!("no file matches `{entry}`, which is named for {}", config.format.agent);
                self.diagnostics.push(Diagnostic::whole(Code::NamedMissing, &config.shown, message));
            }
        }
    }

    /// Adds a file given by its whole path. A workspace can only name files inside it.
    fn own_file(&mut self, config: &LoadedConfig, entry: &str, root: usize) -> usize {
        let path = self.search.homes.expand(entry);
        let base = PathBuf::from(&self.search.roots.roots[root].path);
        let is_inside = path.starts_with(&base);
        if !is_inside && config.scope == Scope::Workspace {
            let message = format!("names `{entry}`, which is outside its root and is not read");
            self.diagnostics.push(Diagnostic::whole(Code::OutsideRoot, &config.shown, message));
            return 1;
        }
        let scope = if is_inside { Scope::Workspace } else { config.scope };
        let within = if is_inside { &base } else { &path };
        self.add_named(config.format, scope, root, &path, within)
    }

    /// Adds the files that a path or pattern relative to a root matches.
    fn files(&mut self, config: &LoadedConfig, entry: &str, root: usize, matched: &Matched) -> usize {
        let base = PathBuf::from(&self.search.roots.roots[root].path);
        let entry = entry.trim_start_matches("./");
        if is_outside(entry) {
            let message = format!("names `{entry}`, which is outside its root and is not read");
            self.diagnostics.push(Diagnostic::whole(Code::OutsideRoot, &config.shown, message));
            return 1;
        }
        if !is_pattern(entry) {
            return self.add_named(config.format, Scope::Workspace, root, &base.join(entry), &base);
        }
        let mut count = 0;
        for path in matched.get(&(root, entry.to_owned())).into_iter().flatten() {
            count += self.add_named(config.format, Scope::Workspace, root, &base.join(path), &base);
        }
        count
    }

    /// Finds the files that the patterns of a setting match. Patterns with the same folder share one listing.
    fn matched(&self, entries: &[String], roots: &Range<usize>, within: Within<'_>) -> Matched {
        let mut listings: BTreeMap<(usize, String, Option<usize>), Vec<Glob>> = BTreeMap::new();
        let entries = entries.iter().map(|entry| entry.trim_start_matches("./"));
        for entry in entries.filter(|entry| is_pattern(entry) && !is_outside(entry)) {
            let Ok(glob) = Glob::new(entry, Dialect::Picomatch) else { continue };
            let prefix: Vec<&str> = entry.split('/').take_while(|part| !is_pattern(part)).collect();
            let depth = (!entry.contains("**")).then(|| entry.split('/').count() - prefix.len());
            for root in roots.clone() {
                listings.entry((root, prefix.join("/"), depth)).or_default().push(glob.clone());
            }
        }
        let mut matched = Matched::new();
        let mut left = MAX_ALL_FOLDERS;
        for ((root, prefix, depth), globs) in listings {
            let paths = match (prefix.as_str(), depth, within) {
                // The tree is not walked for a pattern that could match anywhere.
                ("", None, Within::Above(paths)) => self.beside(root, paths),
                _ => self.below(Path::new(&self.search.roots.roots[root].path), &prefix, depth, &mut left),
            };
            let index = PathIndex::new(paths.iter().map(String::as_str));
            for glob in globs {
                let files = index.matches(&glob).into_iter().map(|at| paths[at].clone()).collect();
                matched.insert((root, glob.pattern().to_owned()), files);
            }
        }
        matched
    }

    /// The files of a root in the folders above some paths.
    fn beside(&self, root: usize, paths: &[(usize, String)]) -> Vec<String> {
        let mut folders = BTreeSet::from([String::new()]);
        for (_, path) in paths.iter().filter(|(at, _)| *at == root) {
            folders.extend(path.match_indices('/').map(|(at, _)| path[..at].to_owned()));
        }
        let base = Path::new(&self.search.roots.roots[root].path);
        folders.iter().flat_map(|folder| self.below(base, folder, Some(1), &mut 1)).collect()
    }

    /// The files below a folder of a root, down to a depth, from as many folders as are left.
    fn below(&self, base: &Path, folder: &str, depth: Option<usize>, left: &mut usize) -> Vec<String> {
        let mut files = Vec::new();
        let mut open = vec![(folder.to_owned(), 1)];
        let mut count = 0;
        while let Some((inner, level)) = open.pop().filter(|_| count < MAX_FOLDERS && *left > 0) {
            (count, *left) = (count + 1, *left - 1);
            let Ok(listing) = self.search.disk.folder(&base.join(&inner)) else { continue };
            for entry in &listing.entries {
                let Some(name) = entry.name.to_str() else { continue };
                let path = if inner.is_empty() { name.to_owned() } else { format!("{inner}/{name}") };
                if !entry.kind.is_dir() {
                    files.push(path);
                } else if depth.is_none_or(|depth| level < depth) && !NEVER_WALKED.contains(&name) {
                    open.push((path, level + 1));
                }
            }
        }
        files.sort();
        files
    }

    /// Adds the files of these names in every folder that is searched.
    fn named_everywhere(&mut self, config: &LoadedConfig, within: Within<'_>) {
        let places = || FORMATS.iter().flat_map(|format| format.workspace).map(|place| place.path);
        let is_known = |name: &str| {
            let is_own = config.format.workspace.iter().any(|place| place.path == name);
            is_own || !self.search.is_native() && places().any(|path| path == name)
        };
        let names: Vec<&String> = config.value.texts().iter().filter(|name| !is_known(name)).collect();
        if names.is_empty() {
            return;
        }
        let roots = match config.scope {
            Scope::User => (0..self.search.roots.roots.len()).collect(),
            _ => vec![config.root],
        };
        let mut folders: BTreeSet<(usize, String)> =
            roots.iter().map(|root| (*root, String::new())).collect();
        match within {
            Within::Above(paths) => {
                for (root, path) in paths.iter().filter(|(root, _)| roots.contains(root)) {
                    let above = path.match_indices('/').map(|(at, _)| (*root, path[..at].to_owned()));
                    folders.extend(above);
                }
            }
            Within::Tree(tree) => {
                let paths = tree.paths().into_iter().filter(|seen| roots.contains(&seen.root));
                folders.extend(paths.filter_map(|seen| {
                    let (folder, name) = seen.path.rsplit_once('/')?;
                    names.iter().any(|known| *known == name).then(|| (seen.root, folder.to_owned()))
                }));
            }
        }
        for (root, folder) in &folders {
            let base = PathBuf::from(&self.search.roots.roots[*root].path);
            let at = base.join(folder);
            if config.effect == ConfigEffect::Fallbacks && self.has_own_file(config.format.id, &at) {
                continue;
            }
            for name in &names {
                let added = self.add_in_folder(
                    config.format,
                    Scope::Workspace,
                    (*root, folder),
                    &at.join(name),
                    &base,
                );
                if added > 0 && config.effect == ConfigEffect::Fallbacks {
                    break;
                }
            }
        }
        if config.effect != ConfigEffect::Fallbacks {
            self.named_at_home(config, &names);
        }
    }

    /// Whether a folder has AGENTS.md, or a file of the format that is found by its location.
    fn has_own_file(&self, format: FormatId, folder: &Path) -> bool {
        let own = self.search.formats.iter().filter(|own| [format, FormatId::AgentsMd].contains(&own.id));
        let places = own.flat_map(|format| format.workspace);
        let mut located = places.filter(|place| matches!(place.shape, PlaceKind::Located { .. }));
        located.any(|place| self.search.disk.kind(&folder.join(place.path)).is_some())
    }

    /// Adds the user's own files of these names, beside the one that the format names.
    fn named_at_home(&mut self, config: &LoadedConfig, names: &[&String]) {
        for place in
            config.format.user.iter().filter(|place| matches!(place.shape, PlaceKind::Located { .. }))
        {
            let Some(base) = self.search.homes.base(place.base) else { continue };
            let Some(folder) = base.join(place.path).parent().map(Path::to_owned) else { continue };
            for name in names {
                self.add_named(config.format, Scope::User, 0, &folder.join(name), &folder);
            }
        }
    }

    /// Adds the rule files of the folders that a setting switches on.
    fn named_folders(&mut self, config: &LoadedConfig) {
        let ConfigValue::Switches(folders) = &config.value else { return };
        let Some(place) = config.format.workspace.first() else { return };
        for (folder, _) in folders.iter().filter(|(_, is_on)| *is_on) {
            let folder = folder.trim_start_matches("./").trim_end_matches('/');
            let is_known =
                FORMATS.iter().flat_map(|format| format.workspace).any(|place| place.path == folder);
            let is_inside = !folder.starts_with(['/', '~']) && !folder.contains("..");
            if is_known || !is_inside || folder.is_empty() {
                continue;
            }
            let base = PathBuf::from(&self.search.roots.roots[config.root].path);
            let shown = format!("{}{folder}", self.search.prefix(config.root));
            let at = base.join(folder);
            let spot = Spot {
                format: config.format,
                place,
                scope: Scope::Workspace,
                root: config.root,
                folder: "",
                shown,
                within: base.into(),
            };
            self.place(&spot, &at);
        }
    }

    fn add_named(
        &mut self,
        format: &'static Format,
        scope: Scope,
        root: usize,
        file: &Path,
        within: &Path,
    ) -> usize {
        self.add_in_folder(format, scope, (root, ""), file, within)
    }

    /// Adds one file, if it exists. Returns how many were added.
    fn add_in_folder(
        &mut self,
        format: &'static Format,
        scope: Scope,
        (root, folder): (usize, &str),
        file: &Path,
        within: &Path,
    ) -> usize {
        let Some(kind) = self.search.disk.kind(file) else { return 0 };
        let Some(target) = kind.target.filter(|target| !target.is_dir()) else { return 0 };
        let shown = self.search.shown(root, file);
        let base = Path::new(&self.search.roots.roots[root].path).join(folder);
        let inner = file.strip_prefix(&base).map_or_else(|_| shown.clone(), posix);
        // The schema of a format is for its own folder.
        let format = format.lenient().unwrap_or(format);
        let spot = Spot { format, place: &NAMED, scope, root, folder, shown, within: within.into() };
        let refused = self.allowed(&spot, file).err().or_else(|| not_a_file(target));
        let node = self.search.disk.node(file);
        self.add(
            &spot,
            Item { file: file.to_owned(), inner, node, listed: None, is_link: kind.is_link, refused },
        );
        1
    }

    /// Drops files that the agent's settings exclude, and named files that are found otherwise too.
    pub(super) fn drop_excluded(&self, found: &mut Vec<Found>) {
        if self.configs.is_empty() {
            return;
        }
        let is_named = |found: &Found| found.origin.place.shape == PlaceKind::Named;
        let others: HashSet<PathBuf> =
            found.iter().filter(|found| !is_named(found)).map(|found| found.file.clone()).collect();
        let mut named = HashSet::new();
        let is_excluding = |config: &&LoadedConfig| {
            config.effect == ConfigEffect::Excludes
                && self.search.is_native()
                && !config.value.texts().is_empty()
        };
        // Compiled once for all files.
        let globs: Vec<(&'static Format, Vec<Glob>)> = self
            .configs
            .iter()
            .filter(is_excluding)
            .map(|config| {
                let globs = config.value.texts().iter();
                (config.format, globs.filter_map(|glob| Glob::new(glob, Dialect::Picomatch).ok()).collect())
            })
            .collect();
        let mut sets: Vec<(&'static Format, PatternSet<'_>)> =
            globs.iter().map(|(format, globs)| (*format, PatternSet::new(globs))).collect();
        let mut matching = Vec::new();
        found.retain(|found| {
            let is_excluded = sets.iter_mut().any(|(format, set)| {
                std::ptr::eq(*format, found.origin.format) && {
                    set.matches(&found.origin.path, &mut matching);
                    !matching.is_empty()
                }
            });
            if is_excluded {
                return false;
            }
            let is_twice =
                is_named(found) && (others.contains(&found.file) || !named.insert(found.file.clone()));
            !is_twice && !self.configs.iter().any(|config| self.excludes(config, found))
        });
    }

    fn excludes(&self, config: &LoadedConfig, found: &Found) -> bool {
        if !self.search.is_native() || !std::ptr::eq(config.format, found.origin.format) {
            return false;
        }
        let name = found.file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        match (&config.value, config.effect) {
            (ConfigValue::Texts(names), ConfigEffect::OnlyNames) => {
                let is_located = matches!(found.origin.place.shape, PlaceKind::Located { .. });
                is_located && !names.is_empty() && !names.iter().any(|known| known == name)
            }
            (ConfigValue::Switches(folders), ConfigEffect::Folders) => {
                let root = Path::new(&self.search.roots.roots[config.root].path);
                let is_off = |(folder, is_on): &(String, bool)| {
                    !is_on && found.file.starts_with(root.join(folder.trim_end_matches('/')))
                };
                folders.iter().any(is_off)
            }
            (ConfigValue::Flag(is_on), ConfigEffect::Switch) => !is_on,
            _ => false,
        }
    }
}

fn is_pattern(part: &str) -> bool {
    part.contains(['*', '?', '[', '{'])
}

fn is_outside(entry: &str) -> bool {
    Path::new(entry).components().any(|part| part == Component::ParentDir)
}
