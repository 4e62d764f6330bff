//! Pages: Markdown files that are documentation and tests at once. Fenced blocks set a stage or state an answer;
//! `UPDATE=1` writes the answers anew.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test may fail loudly, and reads its pages"
)]

use std::fs;
use std::path::{Path, PathBuf};

/// A part of a page.
pub(crate) enum Piece {
    /// A `## ` heading: the stage is cleared down to what the page's head set.
    Section(String),
    /// A fenced block.
    Block(Block),
    /// Anything else, as it stands.
    Prose(String),
}

/// A fenced block: ```` ```word argument… ````.
pub(crate) struct Block {
    pub(crate) fence: String,
    pub(crate) info: String,
    pub(crate) body: String,
}

impl Block {
    /// The first word behind the fence, and the rest.
    pub(crate) fn words(&self) -> (&str, &str) {
        let (word, rest) = self.info.split_once(' ').unwrap_or((&self.info, ""));
        (word, rest.trim())
    }
}

/// Runs every page of a folder. `answer` says what a block should hold, or nothing where it is not an answer.
pub(crate) fn run(folder: &Path, mut answer: impl FnMut(&Path, &Piece) -> Option<String>) {
    let mut pages: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    pages.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    pages.sort();
    assert!(!pages.is_empty(), "no pages in {}", folder.display());
    let update = std::env::var_os("UPDATE").is_some();
    let mut wrong = Vec::new();
    let mut answers = 0;
    for page in &pages {
        let text = fs::read_to_string(page).unwrap();
        let mut pieces = parse(&text);
        for piece in &mut pieces {
            let found = answer(page, piece);
            let (Piece::Block(block), Some(found)) = (piece, found) else { continue };
            answers += 1;
            if block.body != found {
                let name = page.file_name().unwrap().to_string_lossy().into_owned();
                wrong.push(format!("{name}: {}\n--- page\n{}--- found\n{found}", block.info, block.body));
                block.body = found;
            }
        }
        if update {
            fs::write(page, write(&pieces)).unwrap();
        } else {
            assert_eq!(write(&parse(&text)), text, "a page is written as it is read");
        }
    }
    assert!(answers > 0, "no page states an answer");
    assert!(
        update || wrong.is_empty(),
        "{} of {answers} answers differ\n\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

fn parse(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut lines = text.split_inclusive('\n');
    while let Some(line) = lines.next() {
        let fence = line.len() - line.trim_start_matches('`').len();
        if fence >= 3 {
            let fence = line[..fence].to_owned();
            let info = line[fence.len()..].trim().to_owned();
            let body = lines.by_ref().take_while(|line| line.trim_end() != fence).collect();
            pieces.push(Piece::Block(Block { fence, info, body }));
        } else if let Some(title) = line.strip_prefix("## ") {
            pieces.push(Piece::Section(title.trim().to_owned()));
        } else {
            pieces.push(Piece::Prose(line.to_owned()));
        }
    }
    pieces
}

fn write(pieces: &[Piece]) -> String {
    let mut text = String::new();
    for piece in pieces {
        match piece {
            Piece::Section(title) => text.push_str(&format!("## {title}\n")),
            Piece::Prose(line) => text.push_str(line),
            Piece::Block(Block { fence, info, body }) => {
                text.push_str(&format!("{fence}{info}\n{body}{fence}\n"));
            }
        }
    }
    text
}

/// A folder with a workspace, a home beside it, and what the page put there.
pub(crate) struct Stage {
    folder: tempfile::TempDir,
    head: Vec<(String, Vec<u8>)>,
    in_head: bool,
}

impl Stage {
    pub(crate) fn new() -> Stage {
        let folder = tempfile::tempdir().unwrap();
        let stage = Stage { folder, head: Vec::new(), in_head: true };
        stage.clear();
        stage
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    fn clear(&self) {
        for folder in [self.workspace(), self.home()] {
            let _ = fs::remove_dir_all(&folder);
            fs::create_dir_all(&folder).unwrap();
        }
        fs::create_dir(self.workspace().join(".git")).unwrap();
        for (path, bytes) in &self.head {
            self.put(path, bytes);
        }
    }

    /// A section starts with what stands before the first one.
    pub(crate) fn section(&mut self) {
        self.in_head = false;
        self.clear();
    }

    /// A `file PATH [crlf] [bom] [bare]` block; `~/` is the home, a path that ends in `/` is a folder.
    pub(crate) fn file(&mut self, argument: &str, body: &str) {
        let mut path = argument;
        let mut text = body.to_owned();
        while let Some((rest, word)) = path.rsplit_once(' ') {
            match word {
                "crlf" => text = text.replace('\n', "\r\n"),
                "bom" => text.insert(0, '\u{feff}'),
                "bare" => drop(text.pop()),
                _ => break,
            }
            path = rest;
        }
        self.put(path, text.as_bytes());
        if self.in_head {
            self.head.push((path.to_owned(), text.into_bytes()));
        }
    }

    /// A `link PATH` block; its body is what the link leads to.
    pub(crate) fn link(&self, path: &str, target: &str) {
        #[cfg(unix)]
        use std::os::unix::fs::symlink;
        #[cfg(windows)]
        use std::os::windows::fs::symlink_file as symlink;
        symlink(target.trim_end(), self.workspace().join(path)).unwrap();
    }

    fn put(&self, path: &str, bytes: &[u8]) {
        let at = match path.strip_prefix("~/") {
            Some(rest) => self.home().join(rest),
            None => self.workspace().join(path),
        };
        if path.ends_with('/') {
            return fs::create_dir_all(at).unwrap();
        }
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        fs::write(at, bytes).unwrap();
    }
}
