//! Places: where an agent's rule files lie, and what is expected there.

/// A place where a format's files lie.
#[derive(Debug)]
pub struct Place {
    /// What the path is relative to.
    pub base: Base,
    /// The folder or file.
    pub path: &'static str,
    /// What is expected there.
    pub shape: PlaceKind,
    /// How many characters the agent takes of a file there, where it is not what it takes of its others.
    pub limit: Option<usize>,
    /// The mode a file there is for, where its name says so.
    pub mode: Option<&'static str>,
}

impl Place {
    pub(crate) const fn new(base: Base, path: &'static str, shape: PlaceKind) -> Place {
        Place { base, path, shape, limit: None, mode: None }
    }

    /// The same, for one mode.
    pub(crate) const fn in_mode(self, mode: &'static str) -> Place {
        Place { mode: Some(mode), ..self }
    }

    /// The same, with a limit of its own.
    pub(crate) const fn within(self, limit: usize) -> Place {
        Place { limit: Some(limit), ..self }
    }

    /// The first name of its path.
    pub fn head(&self) -> &'static str {
        self.path.split('/').next().unwrap_or(self.path)
    }

    /// The extensions of a folder's files; nothing for a single file.
    pub fn extensions(&self) -> Option<&'static [&'static str]> {
        match self.shape {
            PlaceKind::Folder { extensions, .. } | PlaceKind::Modes { extensions, .. } => Some(extensions),
            PlaceKind::File { .. } | PlaceKind::Located { .. } | PlaceKind::Imported => None,
        }
    }

    /// Whether a file name in the folder is a rule file's.
    pub fn takes(&self, name: &str) -> bool {
        let ends_in = |extension: &&str| {
            name.strip_suffix(*extension)
                .and_then(|stem| stem.strip_suffix('.'))
                .is_some_and(|stem| !stem.is_empty())
        };
        self.extensions().is_some_and(|extensions| extensions.iter().any(ends_in))
    }

    /// Whether files there are text from the first byte on, whatever the format's other places hold.
    pub fn is_raw(&self) -> bool {
        matches!(self.shape, PlaceKind::Located { is_raw: true, .. } | PlaceKind::Imported)
    }

    /// The place as people write it: `.cursor/rules/**/*.{md,mdc}`.
    pub fn shown(&self) -> String {
        let base = match self.base {
            Base::Root | Base::Top => "",
            Base::Home => "~/",
            Base::Config => "~/.config/",
            Base::System => "/",
        };
        let one_of = |extensions: &[&str]| match extensions {
            [one] => (*one).to_owned(),
            many => format!("{{{}}}", many.join(",")),
        };
        let inner = match self.shape {
            PlaceKind::File { .. } | PlaceKind::Located { .. } | PlaceKind::Imported => String::new(),
            PlaceKind::Folder { extensions, depth: Depth::Flat, .. } => format!("/*.{}", one_of(extensions)),
            PlaceKind::Folder { extensions, depth: Depth::Recursive, .. } => {
                format!("/**/*.{}", one_of(extensions))
            }
            PlaceKind::Modes { prefix, extensions } => format!("/{prefix}MODE/**/*.{}", one_of(extensions)),
        };
        format!("{base}{}{inner}", self.path)
    }
}

/// What a place's path is relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    /// A workspace root, or a folder below it.
    Root,
    /// A workspace root alone.
    Top,
    /// The user's home.
    Home,
    /// The user's configuration folder, `~/.config` unless `XDG_CONFIG_HOME` says otherwise.
    Config,
    /// The file system's root: what an administrator put on the machine.
    System,
}

/// What lies at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceKind {
    /// A folder of rule files.
    Folder {
        /// Which files are rules.
        extensions: &'static [&'static str],
        /// Whether sub-folders are read.
        depth: Depth,
        /// Sub-folders of the folder that hold something else.
        skip: &'static [&'static str],
    },
    /// Sub-folders that each hold the rules of one mode.
    Modes {
        /// What the name of a mode's folder starts with.
        prefix: &'static str,
        /// Which files are rules.
        extensions: &'static [&'static str],
    },
    /// One file.
    File {
        /// Its id.
        id: &'static str,
        /// Whether it is on whatever it says.
        always: bool,
    },
    /// One file in any folder, for what lies below that folder.
    Located {
        /// Its id at the root; deeper, the folder follows behind `@`.
        id: &'static str,
        /// Whether it has no header.
        is_raw: bool,
    },
    /// A file another one imports.
    Imported,
}

/// Where imported files lie: anywhere.
pub static IMPORTED: Place = Place::new(Base::Root, "", PlaceKind::Imported);

/// Where fetched rules lie: nowhere, or in a folder that the settings name.
pub static FETCHED: Place = Place::new(
    Base::Root,
    "",
    PlaceKind::Folder { extensions: &["md", "mdc"], depth: Depth::Recursive, skip: &[] },
);

/// Whether sub-folders are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// The folder's own files only.
    Flat,
    /// All the way down.
    Recursive,
}
