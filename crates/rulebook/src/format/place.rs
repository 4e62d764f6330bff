//! Places: where an agent's rule files are, and what is expected there.

/// A place where a format's files are.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// What the path is relative to.
    pub base: Base,
    /// The folder or file.
    pub path: &'static str,
    /// What is expected there.
    pub shape: PlaceKind,
    /// How many characters of a file there the agent reads, if that differs from its other files.
    pub limit: Option<usize>,
    /// The mode that a file there is for, if its name gives one.
    pub mode: Option<&'static str>,
    /// Paths at the root that show that the agent is used, if the name alone does not: a file of that name is common.
    pub shown_by: &'static [&'static str],
}

impl Place {
    pub(crate) const fn new(base: Base, path: &'static str, shape: PlaceKind) -> Place {
        Place { base, path, shape, limit: None, mode: None, shown_by: &[] }
    }

    /// Restricts the place to one mode.
    pub(crate) const fn in_mode(self, mode: &'static str) -> Place {
        Place { mode: Some(mode), ..self }
    }

    /// Makes files there rules only if one of these paths shows that the agent is used.
    pub(crate) const fn if_used(self, shown_by: &'static [&'static str]) -> Place {
        Place { shown_by, ..self }
    }

    /// Sets a limit for files at this place.
    pub(crate) const fn within(self, limit: usize) -> Place {
        Place { limit: Some(limit), ..self }
    }

    /// Returns the first segment of its path.
    pub fn head(&self) -> &'static str {
        self.path.split('/').next().unwrap_or(self.path)
    }

    /// Returns which files of a folder are rules; `None` for a single file.
    pub fn files(&self) -> Option<Files> {
        match self.shape {
            PlaceKind::Folder { files, .. } | PlaceKind::Modes { files, .. } => Some(files),
            PlaceKind::Skills => Some(Files::Named(SKILL_FILE)),
            PlaceKind::File { .. } | PlaceKind::Located { .. } | PlaceKind::Imported | PlaceKind::Named => {
                None
            }
        }
    }

    /// Whether a file of that name in the folder is a rule file.
    pub fn takes(&self, name: &str) -> bool {
        self.files().is_some_and(|files| files.take(name))
    }

    /// Returns the sub-folders that do not hold rules.
    pub fn skipped(&self) -> &'static [&'static str] {
        if let PlaceKind::Folder { skip, .. } = self.shape { skip } else { &[] }
    }

    /// Whether files there have no header.
    pub fn is_raw(&self) -> bool {
        matches!(self.shape, PlaceKind::Located { is_raw: true, .. } | PlaceKind::Imported | PlaceKind::Named)
    }

    /// Splits the path of a file at this place of the workspace: the folder that holds the place, and the path inside it.
    pub(crate) fn split<'p>(&self, path: &'p str) -> Option<(&'p str, &'p str)> {
        let name = path.rsplit('/').next().unwrap_or_default();
        path.match_indices(self.path).find_map(|(at, _)| {
            let folder = if at == 0 { "" } else { path[..at].strip_suffix('/')? };
            let rest = &path[at + self.path.len()..];
            let inner = match self.shape {
                PlaceKind::File { .. } | PlaceKind::Located { .. } => rest.is_empty().then_some(name)?,
                PlaceKind::Folder { depth, .. } => {
                    let is_read = |inner: &&str| depth == Depth::Recursive || *inner == name;
                    rest.strip_prefix('/').filter(is_read)?
                }
                PlaceKind::Modes { prefix, .. } => {
                    rest.strip_prefix('/').filter(|inner| inner.starts_with(prefix))?
                }
                PlaceKind::Skills => {
                    let is_skill = |inner: &&str| inner.split('/').count() == 2;
                    rest.strip_prefix('/').filter(is_skill)?
                }
                PlaceKind::Imported | PlaceKind::Named => return None,
            };
            let is_rule = self.files().is_none() || self.takes(name);
            (is_rule && (folder.is_empty() || self.base == Base::Root)).then_some((folder, inner))
        })
    }

    /// Returns the place as people write it: `.cursor/rules/**/*.{md,mdc}`.
    pub fn shown(&self) -> String {
        let base = match self.base {
            Base::Root | Base::Top => "",
            Base::Home => "~/",
            Base::Config => "~/.config/",
            Base::System => "/",
        };
        let inner = match self.shape {
            PlaceKind::File { .. } | PlaceKind::Located { .. } | PlaceKind::Imported | PlaceKind::Named => {
                String::new()
            }
            PlaceKind::Folder { files, depth: Depth::Flat, .. } => format!("/{}", files.shown()),
            PlaceKind::Folder { files, depth: Depth::Recursive, .. } => format!("/**/{}", files.shown()),
            PlaceKind::Skills => format!("/*/{SKILL_FILE}"),
            PlaceKind::Modes { prefix, files } => format!("/{prefix}MODE/**/{}", files.shown()),
        };
        format!("{base}{}{inner}", self.path)
    }
}

/// What a place's path is relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    /// A workspace root, or a folder below it.
    Root,
    /// A workspace root only.
    Top,
    /// The user's home.
    Home,
    /// The user's configuration folder: `XDG_CONFIG_HOME`, or `~/.config`.
    Config,
    /// The file system's root: files an administrator installs.
    System,
}

/// What is at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceKind {
    /// A folder of rule files.
    Folder {
        /// Which files are rules.
        files: Files,
        /// Whether sub-folders are read.
        depth: Depth,
        /// Sub-folders that do not hold rules.
        skip: &'static [&'static str],
    },
    /// Sub-folders that each hold the rules of one mode.
    Modes {
        /// What the name of a mode's folder starts with.
        prefix: &'static str,
        /// Which files are rules.
        files: Files,
    },
    /// Sub-folders that each hold one skill.
    Skills,
    /// One file.
    File {
        /// Its id.
        id: &'static str,
        /// Whether it is always on, regardless of its header.
        always: bool,
    },
    /// One file in any folder, which applies to that folder.
    Located {
        /// Its id at the root; below it, `@` and the folder follow.
        id: &'static str,
        /// Whether it has no header.
        is_raw: bool,
    },
    /// A file that another one imports.
    Imported,
    /// A file that the agent's settings name.
    Named,
}

/// Which files of a folder are rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Files {
    /// Those with one of these extensions.
    Ending(&'static [&'static str]),
    /// All but those whose names end like this.
    AllBut(&'static [&'static str]),
    /// The one of this name.
    Named(&'static str),
}

impl Files {
    /// Whether a file of that name is a rule.
    pub fn take(self, name: &str) -> bool {
        match self {
            Files::Ending(extensions) => extensions.iter().any(|extension| {
                let stem = name.strip_suffix(*extension).and_then(|stem| stem.strip_suffix('.'));
                stem.is_some_and(|stem| !stem.is_empty())
            }),
            Files::AllBut(ends) => !ends.iter().any(|end| name.ends_with(end)),
            Files::Named(known) => name == known,
        }
    }

    /// Returns the names as people write them: `*.{md,mdc}`.
    pub fn shown(self) -> String {
        match self {
            Files::Ending([one]) => format!("*.{one}"),
            Files::Ending(many) => format!("*.{{{}}}", many.join(",")),
            Files::AllBut(_) => "*".to_owned(),
            Files::Named(name) => name.to_owned(),
        }
    }
}

/// Whether sub-folders are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Only the folder's own files.
    Flat,
    /// Files of all sub-folders too.
    Recursive,
}

/// The place of imported files, which can be anywhere.
pub static IMPORTED: Place = Place::new(Base::Root, "", PlaceKind::Imported);

/// The place of fetched rules, which have no folder, or one that the settings name.
pub static FETCHED: Place = folder(Base::Root, "", MD_AND_MDC, Depth::Recursive);

/// The file of a skill in its folder.
pub(crate) const SKILL_FILE: &str = "SKILL.md";

/// A folder of skills.
pub(crate) const fn skills(base: Base, path: &'static str) -> Place {
    Place::new(base, path, PlaceKind::Skills)
}

pub(crate) const MARKDOWN: &[&str] = &["md"];
pub(crate) const MD_AND_MDC: &[&str] = &["md", "mdc"];

/// A folder of rule files.
pub(crate) const fn folder(
    base: Base,
    path: &'static str,
    extensions: &'static [&'static str],
    depth: Depth,
) -> Place {
    Place::new(base, path, PlaceKind::Folder { files: Files::Ending(extensions), depth, skip: &[] })
}

/// A file that is always on.
pub(crate) const fn file(base: Base, path: &'static str, id: &'static str) -> Place {
    Place::new(base, path, PlaceKind::File { id, always: true })
}

/// A file whose header decides when it applies.
pub(crate) const fn file_with_header(base: Base, path: &'static str, id: &'static str) -> Place {
    Place::new(base, path, PlaceKind::File { id, always: false })
}

/// A file found by location, in a folder of the workspace or of the user: text without a header.
pub(crate) const fn located(base: Base, path: &'static str, id: &'static str) -> Place {
    Place::new(base, path, PlaceKind::Located { id, is_raw: true })
}
