//! Where the files of a workspace are: on the disk, or in memory.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::{fs, io, vec};

use rulebook::source::{MAX_READ, Unreadable};

use crate::canonical::canonical;
use crate::overlay::Overlay;
use crate::read::{self, OpenFolder};

/// The files that are read: those on the disk, or texts that were given.
#[derive(Clone, Debug, Default)]
pub(crate) enum Storage {
    #[default]
    Disk,
    Memory(Arc<Memory>),
    /// Those on the disk, under the unsaved texts of an editor.
    Over(Arc<Unsaved>),
}

/// Unsaved texts of an editor.
#[derive(Debug, Default)]
pub(crate) struct Unsaved {
    /// By canonical path.
    texts: Overlay,
    /// Those of files that are not on the disk yet.
    new: Memory,
}

impl Unsaved {
    /// What is at a path because of an unsaved text alone.
    fn kind(&self, path: &Path) -> Option<FileKind> {
        self.new.kind(&plain(path)?)
    }

    fn text(&self, real: &Path) -> Option<&Arc<str>> {
        self.texts.text(real)
    }
}

/// Storage in memory. They have no links.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    texts: HashMap<PathBuf, Arc<str>>,
    /// The entries of each folder; `/` is one.
    folders: HashMap<PathBuf, BTreeMap<OsString, FileKind>>,
}

/// The kind of what is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    File,
    Folder,
    Link,
    Other,
}

impl FileKind {
    pub(crate) fn is_file(self) -> bool {
        self == FileKind::File
    }

    pub(crate) fn is_dir(self) -> bool {
        self == FileKind::Folder
    }

    pub(crate) fn is_symlink(self) -> bool {
        self == FileKind::Link
    }
}

impl From<fs::FileType> for FileKind {
    fn from(found: fs::FileType) -> FileKind {
        match found {
            found if found.is_file() => FileKind::File,
            found if found.is_dir() => FileKind::Folder,
            found if found.is_symlink() => FileKind::Link,
            _ => FileKind::Other,
        }
    }
}

/// An entry of a folder.
#[derive(Debug)]
pub(crate) struct FileEntry {
    pub(crate) name: OsString,
    /// Of the entry itself, which may be a link.
    pub(crate) kind: FileKind,
    pub(crate) number: Option<u64>,
}

/// The entries of a folder, in no order.
pub(crate) struct Entries {
    disk: Option<fs::ReadDir>,
    memory: vec::IntoIter<FileEntry>,
}

impl Iterator for Entries {
    type Item = FileEntry;

    /// Skips what cannot be looked up.
    fn next(&mut self) -> Option<FileEntry> {
        let on_disk =
            self.disk.as_mut().and_then(|entries| entries.find_map(|entry| disk_entry(&entry.ok()?)));
        on_disk.or_else(|| self.memory.next())
    }
}

impl Storage {
    /// Texts by their absolute paths, below a root. Folders follow from the paths.
    pub(crate) fn of_texts(root: &str, texts: impl IntoIterator<Item = (PathBuf, Arc<str>)>) -> Storage {
        let mut all = Memory::default();
        all.folders.insert(root.into(), BTreeMap::new());
        for (path, text) in texts {
            all.add(&path, text);
        }
        Storage::Memory(Arc::new(all))
    }

    /// The files on the disk, under these unsaved texts.
    pub(crate) fn over(overlay: &Overlay) -> Storage {
        let mut new = Memory::default();
        for (path, text) in overlay.new_texts() {
            new.add(path, Arc::clone(text));
        }
        Storage::Over(Arc::new(Unsaved { texts: overlay.clone(), new }))
    }

    /// Whether the files are on the disk.
    pub(crate) fn are_on_disk(&self) -> bool {
        !matches!(self, Storage::Memory(_))
    }

    /// The kind of a path itself, which may be a link.
    pub(crate) fn own_kind(&self, path: &Path) -> Option<FileKind> {
        match self {
            Storage::Disk => fs::symlink_metadata(path).ok().map(|found| found.file_type().into()),
            Storage::Memory(texts) => texts.kind(&plain(path)?),
            Storage::Over(unsaved) => Storage::Disk.own_kind(path).or_else(|| unsaved.kind(path)),
        }
    }

    /// The kind of what a path leads to; `None` if it leads nowhere.
    pub(crate) fn kind(&self, path: &Path) -> Option<FileKind> {
        match self {
            Storage::Disk => fs::metadata(path).ok().map(|found| found.file_type().into()),
            Storage::Memory(_) => self.own_kind(path),
            Storage::Over(unsaved) => Storage::Disk.kind(path).or_else(|| unsaved.kind(path)),
        }
    }

    pub(crate) fn exists(&self, path: &Path) -> bool {
        self.kind(path).is_some()
    }

    pub(crate) fn is_folder(&self, path: &Path) -> bool {
        self.kind(path).is_some_and(FileKind::is_dir)
    }

    pub(crate) fn is_file(&self, path: &Path) -> bool {
        self.kind(path).is_some_and(FileKind::is_file)
    }

    /// The canonical path.
    pub(crate) fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        match self {
            Storage::Disk => canonical(path),
            Storage::Memory(texts) => {
                let real = plain(path).filter(|path| texts.kind(path).is_some());
                real.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
            }
            // The folders above a new text are canonical.
            Storage::Over(unsaved) => canonical(path).or_else(|error| {
                let new = plain(path).filter(|path| unsaved.new.kind(path).is_some());
                new.ok_or(error)
            }),
        }
    }

    /// What is written in a link.
    pub(crate) fn link(&self, path: &Path) -> Option<PathBuf> {
        self.are_on_disk().then(|| fs::read_link(path).ok()).flatten()
    }

    /// The entries of a folder.
    pub(crate) fn list(&self, folder: &Path) -> io::Result<Entries> {
        let missing = || io::Error::from(io::ErrorKind::NotFound);
        let (disk, memory) = match self {
            Storage::Disk => (Some(read::folder(folder)?), Vec::new()),
            Storage::Memory(texts) => (None, texts.entries(folder).ok_or_else(missing)?),
            Storage::Over(unsaved) => match (read::folder(folder), unsaved.new.entries(folder)) {
                (Ok(disk), new) => {
                    let mut new = new.unwrap_or_default();
                    new.retain(|entry| fs::symlink_metadata(folder.join(&entry.name)).is_err());
                    (Some(disk), new)
                }
                (Err(error), None) => return Err(error),
                (Err(_), Some(new)) => (None, new),
            },
        };
        Ok(Entries { disk, memory: memory.into_iter() })
    }

    /// Reads a file of at most `limit` bytes; `None` if it does not exist.
    pub(crate) fn bytes(&self, path: &Path, limit: usize) -> io::Result<Option<Vec<u8>>> {
        match self {
            Storage::Disk | Storage::Over(_) => read::bytes(path, limit),
            Storage::Memory(_) => Ok(self.text(path, limit)?.map(String::into_bytes)),
        }
    }

    /// Reads a UTF-8 file of at most `limit` bytes; `None` if it does not exist.
    pub(crate) fn text(&self, path: &Path, limit: usize) -> io::Result<Option<String>> {
        let known = match self {
            Storage::Disk => return read::text(path, limit),
            Storage::Memory(texts) => texts.text(path),
            Storage::Over(unsaved) => match self.canonical(path).ok().and_then(|real| unsaved.text(&real)) {
                None => return read::text(path, limit),
                known => known,
            },
        };
        match known {
            Some(text) if text.len() > limit => Err(io::Error::from(io::ErrorKind::FileTooLarge)),
            found => Ok(found.map(|text| text.to_string())),
        }
    }

    /// Reads a UTF-8 file that a repository may have replaced by a link: as [`Storage::text`], if it is in the folder.
    pub(crate) fn text_within(&self, path: &Path, folder: &Path, limit: usize) -> io::Result<Option<String>> {
        match self {
            Storage::Disk => read::text_within(path, folder, limit),
            Storage::Memory(_) => self.text(path, limit),
            Storage::Over(unsaved) => match self.canonical(path) {
                Ok(real) if real.starts_with(folder) && unsaved.text(&real).is_some() => {
                    self.text(path, limit)
                }
                _ => read::text_within(path, folder, limit),
            },
        }
    }

    /// Reads the first `limit` bytes of a file; `None` if it does not exist, or if `allows` refuses its canonical path.
    pub(crate) fn allowed_prefix(
        &self,
        path: &Path,
        limit: usize,
        allows: impl FnOnce(&Path) -> bool,
    ) -> io::Result<Option<Vec<u8>>> {
        let text = match self {
            Storage::Disk => return read::allowed_prefix(path, limit, allows),
            Storage::Memory(texts) => {
                plain(path).filter(|real| allows(real)).and_then(|real| texts.text(&real))
            }
            Storage::Over(unsaved) => {
                let known = self.canonical(path).ok().filter(|real| unsaved.text(real).is_some());
                let Some(real) = known else { return read::allowed_prefix(path, limit, allows) };
                if allows(&real) { unsaved.text(&real) } else { None }
            }
        };
        Ok(text.map(|text| text.as_bytes()[..text.len().min(limit)].to_vec()))
    }

    /// Reads a rule file. `listed` is its folder and name, `buffer` holds the first read.
    pub(crate) fn rule_text(
        &self,
        path: &Path,
        listed: Option<(&OpenFolder, &std::ffi::OsStr)>,
        buffer: &mut [u8],
        allows: &dyn Fn(&Path) -> bool,
    ) -> Result<Arc<str>, Unreadable> {
        let Storage::Memory(texts) = self else { return read::rule_text(path, listed, buffer, allows) };
        match texts.text(path) {
            Some(text) if text.len() as u64 > MAX_READ => {
                Err(Unreadable::TooLarge { len: text.len() as u64 })
            }
            Some(text) => Ok(Arc::clone(text)),
            None => Err(Unreadable::Refused("not found".to_owned())),
        }
    }

    /// Keeps a folder open, to open its files relative to it.
    pub(crate) fn open_folder(&self, folder: &Path) -> Option<OpenFolder> {
        self.are_on_disk().then(|| OpenFolder::open(folder)).flatten()
    }

    /// The device of a folder, where devices are numbered.
    pub(crate) fn device(&self, folder: &Path) -> Option<u64> {
        self.are_on_disk().then(|| device(folder)).flatten()
    }

    /// The number of a file, where files are numbered.
    pub(crate) fn number(&self, file: &Path) -> Option<u64> {
        self.are_on_disk().then(|| number(file)).flatten()
    }
}

impl Memory {
    fn add(&mut self, path: &Path, text: Arc<str>) {
        let Some(path) = plain(path) else { return };
        let mut kind = FileKind::File;
        for (above, at) in path.ancestors().skip(1).zip(path.ancestors()) {
            let Some(name) = at.file_name() else { break };
            self.folders.entry(above.to_owned()).or_default().insert(name.to_owned(), kind);
            kind = FileKind::Folder;
        }
        self.texts.insert(path, text);
    }

    fn text(&self, path: &Path) -> Option<&Arc<str>> {
        self.texts.get(&plain(path)?)
    }

    /// The entries of a folder; `None` if it does not exist.
    fn entries(&self, folder: &Path) -> Option<Vec<FileEntry>> {
        let known = self.folders.get(&plain(folder)?)?.iter();
        Some(known.map(|(name, kind)| FileEntry { name: name.clone(), kind: *kind, number: None }).collect())
    }

    fn kind(&self, plain: &Path) -> Option<FileKind> {
        match (self.folders.contains_key(plain), self.texts.contains_key(plain)) {
            (true, _) => Some(FileKind::Folder),
            (_, true) => Some(FileKind::File),
            _ => None,
        }
    }
}

/// A path without `.` and `..`; `None` if it leads above the top.
pub(crate) fn plain(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop().then_some(())?;
            }
            part => plain.push(part),
        }
    }
    Some(plain)
}

fn disk_entry(entry: &fs::DirEntry) -> Option<FileEntry> {
    let kind = entry.file_type().ok()?.into();
    Some(FileEntry { name: entry.file_name(), kind, number: entry_number(entry) })
}

#[cfg(unix)]
fn device(folder: &Path) -> Option<u64> {
    fs::metadata(folder).ok().map(|metadata| std::os::unix::fs::MetadataExt::dev(&metadata))
}

#[cfg(unix)]
fn number(file: &Path) -> Option<u64> {
    fs::metadata(file).ok().map(|metadata| std::os::unix::fs::MetadataExt::ino(&metadata))
}

#[cfg(unix)]
fn entry_number(entry: &fs::DirEntry) -> Option<u64> {
    Some(std::os::unix::fs::DirEntryExt::ino(entry))
}

#[cfg(not(unix))]
fn device(_: &Path) -> Option<u64> {
    None
}

#[cfg(not(unix))]
fn number(_: &Path) -> Option<u64> {
    None
}

#[cfg(not(unix))]
fn entry_number(_: &fs::DirEntry) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_files_in_folders() {
        let files =
            Storage::of_texts("/w", ["/w/a/x.md", "/w/y.md"].map(|path| (path.into(), Arc::from(path))));
        let kinds = ["/w", "/w/a/../y.md", "/w/z", "/w/a/", "/../w", "/w/y.md/more"]
            .map(|path| files.kind(Path::new(path)));
        let (file, folder) = (Some(FileKind::File), Some(FileKind::Folder));
        assert_eq!(kinds, [folder, file, None, folder, None, None]);
        let names: Vec<_> =
            files.list(Path::new("/w")).unwrap().map(|entry| (entry.name, entry.kind)).collect();
        assert_eq!(names, [("a".into(), FileKind::Folder), ("y.md".into(), FileKind::File)]);
        assert_eq!(files.text(Path::new("/w/./y.md"), 100).unwrap().as_deref(), Some("/w/y.md"));
        assert!(files.text(Path::new("/w/y.md"), 3).is_err());
        assert!(files.list(Path::new("/w/y.md")).is_err());
    }
}
