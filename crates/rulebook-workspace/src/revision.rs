//! A revision of a repository as a folder, which can be opened like any workspace.
//!
//! Only files that could be rules or settings get their text. All others are empty: patterns need their names alone.

use std::fmt;
use std::io::{self, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use rulebook::source::MAX_SOURCE;

use crate::disk::lock;
use crate::write::Scratch;

/// A revision, written to a temporary folder that is removed when this is dropped.
#[derive(Debug)]
pub struct Revision {
    folder: Scratch,
    submodules: Vec<String>,
    missing: Vec<String>,
}

/// Why a revision cannot be read.
#[derive(Debug)]
#[non_exhaustive]
pub enum RevisionError {
    /// The folder is not in a repository.
    NoRepository,
    /// The repository has no commits.
    NoCommits,
    /// Git has no such revision, or cannot read the repository.
    Unknown {
        /// The name as given.
        name: String,
        /// The words of git.
        reason: String,
    },
    /// Git cannot be started, or a file cannot be written.
    Io(io::Error),
}

impl fmt::Display for RevisionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RevisionError::NoRepository => f.write_str("this folder is not in a git repository"),
            RevisionError::NoCommits => f.write_str("the repository has no commits yet"),
            RevisionError::Unknown { name, reason } => {
                write!(f, "git does not know the revision `{name}`: {reason}")
            }
            RevisionError::Io(error) => write!(f, "the revision cannot be read: {error}"),
        }
    }
}

impl std::error::Error for RevisionError {}

impl From<io::Error> for RevisionError {
    fn from(error: io::Error) -> RevisionError {
        RevisionError::Io(error)
    }
}

/// One file of a revision.
struct TreeEntry {
    path: PathBuf,
    id: String,
    is_link: bool,
    /// Whether its text is needed.
    is_read: bool,
    /// Its length, if it is too large to be read: such a file is reported.
    large: Option<u64>,
}

impl Revision {
    /// Writes the files of a revision, below the folder `root`, to a temporary folder.
    ///
    /// # Errors
    /// If git does not know the revision, or a file cannot be written.
    pub fn checkout(root: &Path, name: &str) -> Result<Revision, RevisionError> {
        let commit = resolve(root, name)?;
        let folder = Scratch::new()?;
        let (entries, submodules) = entries(root, &commit)?;
        let (mut links, files): (Vec<TreeEntry>, Vec<TreeEntry>) =
            entries.into_iter().partition(|entry| entry.is_link);
        // A tree made by hand may have a link and files below it: links come last, so no file is written through one.
        for entry in files.iter().filter(|entry| !entry.is_read) {
            folder.create(&entry.path)?.set_len(entry.large.unwrap_or(0))?;
        }
        let read: Vec<TreeEntry> = files.into_iter().filter(|entry| entry.is_read).collect();
        let mut missing = texts(root, &read, |entry, text| folder.create(&entry.path)?.write_all(text))?;
        links.retain(|entry| !folder.path().join(&entry.path).exists());
        missing.extend(texts(root, &links, |entry, target| folder.link(&entry.path, target))?);
        Ok(Revision { folder, submodules, missing })
    }

    /// The paths of its submodules, whose files are not in the repository.
    pub fn submodules(&self) -> &[String] {
        &self.submodules
    }

    /// The paths of its files whose text this clone does not have. They are not in the folder.
    pub fn missing(&self) -> &[String] {
        &self.missing
    }

    /// The folder with its files.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

/// The last commit that two revisions have in common.
///
/// # Errors
/// If git does not know one of them, or they have none in common.
pub fn merge_base(root: &Path, base: &str, head: &str) -> Result<String, RevisionError> {
    let (base, head) = (resolve(root, base)?, resolve(root, head)?);
    let name = format!("{base}...{head}");
    run(root, &name, &["merge-base", &base, &head])
}

fn resolve(root: &Path, name: &str) -> Result<String, RevisionError> {
    let commit = format!("{name}^{{commit}}");
    run(root, name, &["rev-parse", "--verify", "--quiet", "--end-of-options", &commit])
}

/// Runs git for one line of output.
fn run(root: &Path, name: &str, arguments: &[&str]) -> Result<String, RevisionError> {
    let words = match ask(root, arguments)? {
        Ok(output) => return Ok(output),
        Err(words) => words,
    };
    let reason = words.lines().next().unwrap_or("it does not exist here").trim_start_matches("fatal: ");
    if reason.starts_with("not a git repository") {
        return Err(RevisionError::NoRepository);
    }
    if ask(root, &["rev-list", "--all", "--max-count=1"])?.is_ok_and(|commit| commit.is_empty()) {
        return Err(RevisionError::NoCommits);
    }
    Err(RevisionError::Unknown { name: name.to_owned(), reason: reason.to_owned() })
}

/// What git prints, or what it reports on standard error.
fn ask(root: &Path, arguments: &[&str]) -> io::Result<Result<String, String>> {
    let mut git = Git::start(&mut git(root, arguments), SHORT)?;
    let mut output = Vec::new();
    git.output.read_to_end(&mut output)?;
    let words = git.words()?;
    let succeeded = git.wait()?.success();
    Ok(if succeeded { Ok(String::from_utf8_lossy(&output).trim().to_owned()) } else { Err(words) })
}

fn git(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(root).args(arguments).stdin(Stdio::null()).stderr(Stdio::piped());
    // One kind of failure is known by git's words.
    command.env("LC_ALL", "C");
    // The repository's own settings may name programs for fetching what is missing: nothing is fetched.
    command.env("GIT_NO_LAZY_FETCH", "1").env("GIT_ALLOW_PROTOCOL", "").env("GIT_OPTIONAL_LOCKS", "0");
    command
}

/// How long git may take to find a commit, and to read its files. It waits for good for a FIFO in place of a file of the
/// repository.
const SHORT: Duration = Duration::from_secs(60);
const LONG: Duration = Duration::from_secs(600);

/// A git that runs, and is ended if it takes too long.
struct Git {
    child: Arc<Mutex<Child>>,
    output: ChildStdout,
    errors: Option<ChildStderr>,
    is_late: Arc<AtomicBool>,
    /// Dropped when it has ended.
    _running: Sender<()>,
}

impl Git {
    fn start(command: &mut Command, limit: Duration) -> io::Result<Git> {
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let errors = child.stderr.take();
        let output = child.stdout.take().ok_or_else(|| io::Error::other("git has no pipes"))?;
        let (child, is_late) = (Arc::new(Mutex::new(child)), Arc::new(AtomicBool::new(false)));
        let (running, ended) = channel();
        let git = Git {
            child: Arc::clone(&child),
            output,
            errors,
            is_late: Arc::clone(&is_late),
            _running: running,
        };
        thread::spawn(move || {
            if ended.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                is_late.store(true, Ordering::Relaxed);
                let _ = lock(&child).kill();
            }
        });
        Ok(git)
    }

    /// What it reports on standard error.
    fn words(&mut self) -> io::Result<String> {
        let mut words = Vec::new();
        self.errors.iter_mut().try_for_each(|errors| errors.read_to_end(&mut words).map(drop))?;
        Ok(String::from_utf8_lossy(&words).into_owned())
    }

    fn input(&self) -> Option<ChildStdin> {
        lock(&self.child).stdin.take()
    }

    /// Waits until it has ended, after its output was read.
    fn wait(&self) -> io::Result<ExitStatus> {
        let status = lock(&self.child).wait()?;
        match self.is_late.load(Ordering::Relaxed) {
            true => Err(io::Error::other(
                "git did not answer in time; check that every file in `.git` is a regular file",
            )),
            false => Ok(status),
        }
    }
}

/// The longest list of files: about a million. A few trees that contain each other name billions.
const MAX_LISTING: u64 = 128 << 20;

/// The files of a commit below the root, and its submodules. Names that would leave the folder are left out.
fn entries(root: &Path, commit: &str) -> Result<(Vec<TreeEntry>, Vec<String>), RevisionError> {
    let mut git = Git::start(&mut git(root, &["ls-tree", "-r", "-z", "-l", commit]), LONG)?;
    let mut listing = Vec::new();
    git.output.by_ref().take(MAX_LISTING + 1).read_to_end(&mut listing)?;
    if listing.len() as u64 > MAX_LISTING {
        let _ = lock(&git.child).kill();
        let _ = git.wait();
        return Err(io::Error::other("it has too many files").into());
    }
    let words = git.words()?;
    if !git.wait()?.success() {
        return Err(RevisionError::Unknown { name: commit.to_owned(), reason: words.trim().to_owned() });
    }
    let lines = || listing.split(|byte| *byte == 0).filter_map(TreeLine::read);
    let submodules = lines().filter(|line| line.kind == "commit");
    let submodules = submodules.map(|line| String::from_utf8_lossy(line.path).into_owned()).collect();
    Ok((lines().filter_map(|line| entry(&line)).collect(), submodules))
}

/// A line of `git ls-tree -l`: mode, kind, id, size, then a tab and the path.
struct TreeLine<'l> {
    mode: &'l str,
    kind: &'l str,
    id: &'l str,
    size: &'l str,
    /// Any bytes but zero.
    path: &'l [u8],
}

impl<'l> TreeLine<'l> {
    fn read(line: &'l [u8]) -> Option<TreeLine<'l>> {
        let tab = line.iter().position(|byte| *byte == b'\t')?;
        let mut fields = std::str::from_utf8(&line[..tab]).ok()?.split_whitespace();
        let (mode, kind, id, size) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
        Some(TreeLine { mode, kind, id, size, path: &line[tab + 1..] })
    }
}

/// A file of a line. Anything else, and a name that would leave the folder, is none.
fn entry(line: &TreeLine<'_>) -> Option<TreeEntry> {
    let shown = String::from_utf8_lossy(line.path);
    let is_safe = |part: &str| !matches!(part, "" | "." | "..") && !part.eq_ignore_ascii_case(".git");
    if line.kind != "blob" || !shown.split('/').all(is_safe) || shown.contains('\\') && cfg!(windows) {
        return None;
    }
    let is_link = line.mode == "120000";
    let large = line.size.parse().ok().filter(|size| *size > MAX_SOURCE);
    Some(TreeEntry {
        is_read: is_link || (large.is_none() && may_matter(&shown)),
        large,
        path: path_of(line.path),
        id: line.id.to_owned(),
        is_link,
    })
}

#[cfg(unix)]
fn path_of(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

/// Whether a file could be a rule, be imported by one, or hold settings.
fn may_matter(path: &str) -> bool {
    const EXTENSIONS: [&str; 10] =
        ["json", "jsonc", "markdown", "md", "mdc", "mdx", "toml", "txt", "yaml", "yml"];
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_hidden = path.split('/').any(|part| part.starts_with('.'));
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    is_hidden || extension.is_none_or(|extension| EXTENSIONS.contains(&extension.as_str()))
}

/// Reads the texts of some files from one git process. Returns the paths of those that git does not have.
fn texts(
    root: &Path,
    entries: &[TreeEntry],
    mut each: impl FnMut(&TreeEntry, &[u8]) -> io::Result<()>,
) -> io::Result<Vec<String>> {
    if entries.is_empty() {
        return Ok(Vec::new());
    }
    let mut git =
        Git::start(git(root, &["cat-file", "--batch"]).stdin(Stdio::piped()).stderr(Stdio::null()), LONG)?;
    let mut input = git.input().ok_or_else(|| io::Error::other("git has no pipes"))?;
    let requests: String = entries.iter().map(|entry| format!("{}\n", entry.id)).collect();
    let read = thread::scope(|scope| {
        // Git answers while it is still being asked: a single thread would fill both pipes and wait forever.
        scope.spawn(move || input.write_all(requests.as_bytes()));
        let mut output = BufReader::new(&mut git.output);
        let mut missing = Vec::new();
        for entry in entries {
            let read = blob(&mut output).and_then(|text| match text {
                Some(text) => each(entry, &text),
                None => {
                    missing.push(entry.path.to_string_lossy().into_owned());
                    Ok(())
                }
            });
            if let Err(error) = read {
                // The thread ends once git has ended.
                let _ = lock(&git.child).kill();
                return Err(error);
            }
        }
        Ok(missing)
    });
    git.wait()?;
    read
}

/// Reads one answer of `git cat-file --batch`: a line with the size, the text, a line feed; `None` if git does not have
/// the text.
fn blob(output: &mut impl io::BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = String::new();
    output.read_line(&mut line)?;
    if line.trim_end().ends_with(" missing") {
        return Ok(None);
    }
    let size = line.trim_end().rsplit(' ').next().and_then(|size| size.parse::<u64>().ok());
    let size = size.ok_or_else(|| io::Error::other(format!("git answered `{}`", line.trim_end())))?;
    let mut text = Vec::new();
    output.by_ref().take(size).read_to_end(&mut text)?;
    output.read_exact(&mut [0])?;
    Ok(Some(text))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_text_that_git_does_not_have_is_named_and_the_others_are_read() {
        let repository = tempfile::tempdir().unwrap();
        let root = repository.path();
        let git = |arguments: &[&str]| {
            let identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
            let output = git(root, &[&identity, arguments].concat()).output().unwrap();
            String::from_utf8(output.stdout).unwrap().trim().to_owned()
        };
        git(&["init", "--quiet"]);
        // So many that the answers do not fit into a pipe.
        for number in 0..3_000 {
            fs::write(root.join(format!("{number:04}.md")), format!("{number} {}", "x".repeat(50))).unwrap();
        }
        git(&["add", "."]);
        git(&["commit", "--quiet", "--message", "first"]);
        let id = git(&["rev-parse", "HEAD:0000.md"]);
        fs::remove_file(root.join(".git/objects").join(&id[..2]).join(&id[2..])).unwrap();
        let revision = Revision::checkout(root, "HEAD").unwrap();
        assert_eq!(revision.missing(), ["0000.md"]);
        assert!(!revision.folder().join("0000.md").exists());
        assert!(fs::read_to_string(revision.folder().join("2999.md")).unwrap().starts_with("2999 "));
    }

    #[test]
    fn a_git_that_waits_is_ended() {
        let mut command = Command::new("sleep");
        let mut git = Git::start(command.arg("600"), Duration::from_millis(10)).unwrap();
        git.output.read_to_end(&mut Vec::new()).unwrap();
        assert!(git.wait().unwrap_err().to_string().contains("did not answer in time"));
    }

    #[test]
    fn trees_that_multiply_are_not_unpacked() {
        let repository = tempfile::tempdir().unwrap();
        let run = |arguments: &[&str], input: &str| {
            let identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
            let mut command = git(repository.path(), &[&identity, arguments].concat());
            let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
            child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
            String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap().trim().to_owned()
        };
        run(&["init", "--quiet"], "");
        let mut entry = format!("100644 blob {}", run(&["hash-object", "-w", "--stdin"], "x"));
        // Ten folders in ten folders: a hundred thousand million files.
        for _ in 0..11 {
            let lines: String = (0..10).map(|at| format!("{entry}\t{}{at}\n", "n".repeat(200))).collect();
            entry = format!("040000 tree {}", run(&["mktree"], &lines));
        }
        let tree = entry.rsplit(' ').next().unwrap();
        let commit = run(&["commit-tree", "-m", "x", tree], "");
        let error = Revision::checkout(repository.path(), &commit).unwrap_err();
        assert_eq!(error.to_string(), "the revision cannot be read: it has too many files");
    }
}
