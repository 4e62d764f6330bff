//! A snapshot of the disk: each folder is listed once, each path looked up once and each rule file read once, no matter
//! how many views ask for them.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use foldhash::{HashMap, HashSet};
use rulebook::source::{MAX_READ, Unreadable};

use crate::overlay::Overlay;
use crate::read::{FIRST_READ, OpenFolder, reason};
use crate::state::sha256;
use crate::storage::{FileEntry, FileKind, Storage};

/// Device and number of a file, on systems that number files.
pub(crate) type Node = (u64, u64);

/// What was found on disk so far.
#[derive(Debug, Default)]
pub(crate) struct Disk {
    pub(crate) files: Storage,
    small: Memo<Option<Arc<[FileEntry]>>>,
    folders: Memo<Result<Arc<Listing>, String>>,
    kinds: Memo<Option<Kind>>,
    real: Memo<Result<PathBuf, Unreadable>>,
    nodes: Memo<Option<Node>>,
    texts: Mutex<Texts>,
    /// The number of folders that were kept open.
    open_folders: AtomicUsize,
}

/// The texts that were read, and the buffer to read into.
#[derive(Debug, Default)]
struct Texts {
    known: HashMap<FileId, Result<Arc<Text>, Unreadable>>,
    /// The texts of an editor that nothing asked for so far.
    unused: HashMap<FileId, PathBuf>,
    buffer: Vec<u8>,
}

/// The entries of a folder, sorted by name.
#[derive(Debug)]
pub(crate) struct Listing {
    pub(crate) entries: Vec<FileEntry>,
    device: Option<u64>,
    /// The folder itself, unless too many are open.
    open: Option<OpenFolder>,
}

/// A file of a listed folder.
#[derive(Clone, Debug)]
pub(crate) struct ListedFile {
    pub(crate) listing: Arc<Listing>,
    /// The position of its entry.
    pub(crate) at: usize,
}

impl Listing {
    /// The identity of an entry that is not a link.
    pub(crate) fn node(&self, entry: &FileEntry) -> Option<Node> {
        self.device.zip(entry.number)
    }
}

/// What a path leads to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    /// Whether the path is a link.
    pub(crate) is_link: bool,
    /// The kind of file it leads to; `None` for a broken link.
    pub(crate) target: Option<FileKind>,
}

/// Where a link leads that leads nowhere.
#[derive(Debug)]
pub(crate) struct BrokenLink {
    /// As written in the link.
    pub(crate) target: String,
    /// The file in the same folder whose name differs in case only.
    pub(crate) meant: Option<String>,
}

impl Kind {
    /// Whether it leads to a folder.
    pub(crate) fn is_folder(self) -> bool {
        self.target.is_some_and(|kind| kind.is_dir())
    }
}

/// The text of a rule file.
#[derive(Debug)]
pub(crate) struct Text {
    text: Arc<str>,
    sha256: OnceLock<String>,
}

impl Text {
    pub(crate) fn new(text: Arc<str>) -> Text {
        Text { text, sha256: OnceLock::new() }
    }

    pub(crate) fn shared(&self) -> Arc<str> {
        Arc::clone(&self.text)
    }

    /// Its size in bytes.
    pub(crate) fn len(&self) -> u64 {
        self.text.len() as u64
    }

    pub(crate) fn sha256(&self) -> &str {
        self.sha256.get_or_init(|| sha256(self.text.as_bytes()))
    }
}

/// The identity of a file: the same one through any link, where files are numbered.
#[derive(Debug, PartialEq, Eq, Hash)]
enum FileId {
    Node(Node),
    Path(PathBuf),
}

impl Disk {
    /// A snapshot in which some texts replace what the files contain.
    pub(crate) fn over(files: &Storage, overlay: &Overlay) -> Disk {
        let disk = Disk { files: files.clone(), ..Disk::default() };
        for (path, text) in overlay.texts() {
            // A text that is too large is not read from a file either.
            let text = match text.len() as u64 > MAX_READ {
                true => Err(Unreadable::TooLarge { len: text.len() as u64 }),
                false => Ok(Arc::new(Text::new(Arc::clone(text)))),
            };
            let node = disk.node(path);
            let Texts { known, unused, .. } = &mut *lock(&disk.texts);
            known.insert(FileId::new(path, node), text);
            unused.insert(FileId::new(path, node), path.to_owned());
        }
        disk
    }

    /// The entries of a folder of at most `MAX_SMALL` entries, unsorted; `None` for a larger one, or one that cannot be
    /// listed.
    pub(crate) fn small_folder(&self, folder: &Path) -> Option<Arc<[FileEntry]>> {
        const MAX_SMALL: usize = 256;
        self.small.get(folder, || {
            let entries: Vec<FileEntry> = self.files.list(folder).ok()?.take(MAX_SMALL + 1).collect();
            (entries.len() <= MAX_SMALL).then(|| entries.into())
        })
    }

    /// All entries of a folder; the operating system's words if it cannot be listed.
    pub(crate) fn folder(&self, folder: &Path) -> Result<Arc<Listing>, String> {
        self.folders.get(folder, || {
            let mut entries: Vec<FileEntry> =
                self.files.list(folder).map_err(|error| reason(&error))?.collect();
            entries.sort_unstable_by(|one, other| one.name.cmp(&other.name));
            // Each holds a descriptor, of which a process has few.
            const MAX_OPEN: usize = 64;
            let is_kept = entries.len() > 1 && self.open_folders.fetch_add(1, Ordering::Relaxed) < MAX_OPEN;
            let open = if is_kept { self.files.open_folder(folder) } else { None };
            Ok(Arc::new(Listing { entries, device: self.files.device(folder), open }))
        })
    }

    /// Whether a folder may contain a name: `false` only if its listing shows that it does not.
    pub(crate) fn may_contain(&self, folder: &Path, name: &str) -> bool {
        self.small_folder(folder).is_none_or(|entries| entries.iter().any(|entry| entry.name == name))
    }

    /// What is at a path; `None` if nothing is.
    pub(crate) fn kind(&self, path: &Path) -> Option<Kind> {
        self.kinds.get(path, || {
            let kind = match self.listed_kind(path) {
                Some(kind) => kind,
                // Also for a name that was not listed: some disks ignore case.
                None => self.files.own_kind(path)?,
            };
            let is_link = kind.is_symlink();
            let target = if is_link { self.files.kind(path) } else { Some(kind) };
            Some(Kind { is_link, target })
        })
    }

    /// The kind of an entry, if its folder was listed.
    fn listed_kind(&self, path: &Path) -> Option<FileKind> {
        let entries = self.small.known(path.parent()?)??;
        entries.iter().find(|entry| Some(entry.name.as_os_str()) == path.file_name()).map(|entry| entry.kind)
    }

    /// The canonical path.
    pub(crate) fn real(&self, path: &Path) -> Result<PathBuf, Unreadable> {
        self.real.get(path, || {
            self.files.canonical(path).map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => {
                    let target = self.files.link(path).unwrap_or_default();
                    Unreadable::BrokenLink { target: target.to_string_lossy().into_owned() }
                }
                _ => Unreadable::Refused(reason(&error)),
            })
        })
    }

    /// Where a broken link leads; `None` if it cannot be read.
    pub(crate) fn broken_link(&self, path: &Path) -> Option<BrokenLink> {
        let target = self.files.link(path)?;
        let target = target.to_string_lossy().into_owned();
        // Only in the same folder: a link may lead anywhere.
        let folder = self.folder(path.parent()?).ok()?;
        let mut names = folder.entries.iter().filter_map(|entry| entry.name.to_str());
        let meant = names.find(|other| *other != target && other.eq_ignore_ascii_case(&target));
        Some(BrokenLink { meant: meant.map(str::to_owned), target })
    }

    /// The identity of the file that a path leads to: the device of its folder, which numbers its entries, and its
    /// number. On a layered file system the file itself may report another device.
    pub(crate) fn node(&self, path: &Path) -> Option<Node> {
        self.nodes.get(path, || {
            let real = self.real(path).ok()?;
            Some((self.files.device(real.parent()?)?, self.files.number(&real)?))
        })
    }

    /// The text of a file. `allows` decides whether what was opened may be read, by its canonical path or its folder's.
    pub(crate) fn text(
        &self,
        path: &Path,
        node: Option<Node>,
        listed: Option<&ListedFile>,
        allows: &dyn Fn(&Path) -> bool,
    ) -> Result<Arc<Text>, Unreadable> {
        let Texts { known, unused, buffer } = &mut *lock(&self.texts);
        let read = || {
            buffer.resize(FIRST_READ, 0);
            let listed = listed.and_then(|ListedFile { listing, at }| {
                Some((listing.open.as_ref()?, listing.entries[*at].name.as_os_str()))
            });
            self.files.rule_text(path, listed, buffer, allows).map(|text| Arc::new(Text::new(text)))
        };
        let file = FileId::new(path, node);
        if !unused.is_empty() {
            unused.remove(&file);
        }
        known.entry(file).or_insert_with(read).clone()
    }

    /// The files whose texts an editor has, and no rule, import or setting is in.
    pub(crate) fn unused_texts(&self) -> HashSet<PathBuf> {
        lock(&self.texts).unused.values().cloned().collect()
    }

    /// The text of a file that was read.
    pub(crate) fn known_text(&self, path: &Path) -> Option<Arc<str>> {
        let listed = || {
            let listing = self.folders.known(path.parent()?)?.ok()?;
            let name = path.file_name()?;
            let at = listing.entries.binary_search_by(|entry| entry.name.as_os_str().cmp(name)).ok()?;
            listing.node(&listing.entries[at])
        };
        let node = self.nodes.known(path).flatten();
        let text = lock(&self.texts).known.get(&FileId::new(path, node.or_else(listed)))?.clone();
        text.ok().map(|text| text.shared())
    }
}

impl FileId {
    fn new(path: &Path, node: Option<Node>) -> FileId {
        node.map_or_else(|| FileId::Path(path.to_owned()), FileId::Node)
    }
}

/// Values by path, each computed once. Paths are compared as written: hashing their components costs more.
#[derive(Debug)]
struct Memo<V>(Mutex<HashMap<OsString, V>>);

impl<V> Default for Memo<V> {
    fn default() -> Memo<V> {
        Memo(Mutex::default())
    }
}

impl<V: Clone> Memo<V> {
    fn known(&self, path: &Path) -> Option<V> {
        lock(&self.0).get(path.as_os_str()).cloned()
    }

    fn get(&self, path: &Path, make: impl FnOnce() -> V) -> V {
        if let Some(known) = self.known(path) {
            return known;
        }
        let value = make();
        lock(&self.0).insert(path.as_os_str().to_owned(), value.clone());
        value
    }
}

/// Locks a mutex. A panic of another thread leaves the values whole: each is inserted in one step.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    struct Repository {
        _folder: tempfile::TempDir,
        root: PathBuf,
        outside: PathBuf,
    }

    impl Repository {
        fn new() -> Repository {
            let folder = tempfile::tempdir().unwrap();
            let real = fs::canonicalize(folder.path()).unwrap();
            let (root, outside) = (real.join("root"), real.join("outside"));
            for (folder, text) in [(root.join("rules"), "inside"), (outside.clone(), "secret")] {
                fs::create_dir_all(&folder).unwrap();
                fs::write(folder.join("a.md"), text).unwrap();
                fs::write(folder.join("b.md"), text).unwrap();
            }
            Repository { _folder: folder, root, outside }
        }

        fn read(&self, disk: &Disk, path: &str) -> Result<String, Unreadable> {
            let allows = |real: &Path| real.starts_with(&self.root);
            let path = self.root.join(path);
            let listing = disk.folders.known(path.parent().unwrap()).and_then(Result::ok);
            let listed = listing.and_then(|listing| {
                let at = listing.entries.iter().position(|entry| Some(&*entry.name) == path.file_name())?;
                Some(ListedFile { listing, at })
            });
            disk.text(&path, None, listed.as_ref(), &allows).map(|text| text.shared().to_string())
        }
    }

    #[test]
    fn a_folder_that_was_swapped_for_a_link_brings_nothing_from_outside() {
        let repository = Repository::new();
        let Repository { root, outside, .. } = &repository;
        let (listed, unlisted) = (Disk::default(), Disk::default());
        listed.folder(&root.join("rules")).unwrap();
        fs::rename(root.join("rules"), root.join("old")).unwrap();
        symlink(outside, root.join("rules")).unwrap();
        assert_eq!(repository.read(&listed, "rules/a.md").as_deref(), Ok("inside"));
        assert!(matches!(repository.read(&unlisted, "rules/a.md"), Err(Unreadable::OutsideRoot { .. })));
        unlisted.folder(&root.join("rules")).unwrap();
        assert!(matches!(repository.read(&unlisted, "rules/b.md"), Err(Unreadable::OutsideRoot { .. })));
    }

    #[test]
    fn a_file_that_was_swapped_for_a_link_brings_nothing_from_outside() {
        let repository = Repository::new();
        let file = repository.root.join("rules/a.md");
        let disk = Disk::default();
        disk.folder(&repository.root.join("rules")).unwrap();
        fs::remove_file(&file).unwrap();
        symlink(repository.outside.join("a.md"), &file).unwrap();
        assert!(matches!(repository.read(&disk, "rules/a.md"), Err(Unreadable::OutsideRoot { .. })));
    }

    /// A FIFO without a writer would block whoever opens it.
    #[test]
    fn a_file_that_was_swapped_for_a_fifo_is_not_waited_for() {
        let repository = Repository::new();
        let disk = Disk::default();
        disk.folder(&repository.root.join("rules")).unwrap();
        for name in ["rules/a.md", "AGENTS.md"] {
            let file = repository.root.join(name);
            let _ = fs::remove_file(&file);
            let mode = rustix::fs::Mode::RUSR;
            rustix::fs::mknodat(rustix::fs::CWD, &file, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        }
        assert_eq!(repository.read(&disk, "rules/a.md").as_deref(), Ok(""));
        assert!(matches!(repository.read(&disk, "AGENTS.md"), Err(Unreadable::Refused(_))));
    }
}
