//! Pages: Markdown files that are both documentation and tests. Fenced blocks set up a stage or contain an answer; `UPDATE=1`
//! rewrites the answers.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test may fail loudly, and reads its pages"
)]

use std::fs;
use std::path::{Path, PathBuf};

/// A part of a page.
enum Piece {
    /// A `## ` heading.
    Section(String),
    Block(Block),
    /// Any other line.
    Prose(String),
}

/// A fenced block: ```` ```word argument… ````.
pub(crate) struct Block {
    fence: String,
    pub(crate) info: String,
    pub(crate) body: String,
}

impl Block {
    /// The first word after the fence, and the rest.
    pub(crate) fn words(&self) -> (&str, &str) {
        let (word, rest) = self.info.split_once(' ').unwrap_or((&self.info, ""));
        (word, rest.trim())
    }
}

/// Runs every page of a folder. `answer` returns the expected body of a block, or `None` if the block is not an answer; after
/// it, `file`, `link` and `evidence` blocks change the stage. Every section starts from the blocks before the first section.
pub(crate) fn run(folder: &Path, mut answer: impl FnMut(&mut Stage, &Block) -> Option<String>) {
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
        let mut stage = Stage::new();
        stage.title = name_of(page);
        for piece in &mut pieces {
            let block = match piece {
                Piece::Section(title) => {
                    stage.section();
                    stage.title = format!("{}: {title}", name_of(page));
                    continue;
                }
                Piece::Block(block) => block,
                Piece::Prose(_) => continue,
            };
            let found = answer(&mut stage, block);
            stage.set(block);
            let Some(found) = found else { continue };
            answers += 1;
            if block.body != found {
                let name = name_of(page);
                wrong.push(format!("{name}: {}\n--- page\n{}--- found\n{found}", block.info, block.body));
                block.body = found;
            }
        }
        assert_eq!(write(&parse(&text)), text, "a page is written as it is read");
        if update && write(&pieces) != text {
            fs::write(page, write(&pieces)).unwrap();
        }
    }
    assert!(answers > 0, "no page has an answer");
    assert!(
        update || wrong.is_empty(),
        "{} of {answers} answers differ\n\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

fn name_of(page: &Path) -> String {
    page.file_name().unwrap().to_string_lossy().into_owned()
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

/// A folder with a workspace, a home, and the evidence.
pub(crate) struct Stage {
    folder: tempfile::TempDir,
    /// The page and the section.
    pub(crate) title: String,
    /// JSON; an empty object unless a page says otherwise.
    pub(crate) evidence: String,
    head: Vec<(String, Vec<u8>)>,
    in_head: bool,
}

impl Stage {
    fn new() -> Stage {
        let folder = tempfile::tempdir().unwrap();
        let mut stage =
            Stage { folder, title: String::new(), evidence: String::new(), head: Vec::new(), in_head: true };
        stage.clear();
        stage
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    fn clear(&mut self) {
        self.evidence = "{}".to_owned();
        for folder in [self.workspace(), self.home()] {
            let _ = fs::remove_dir_all(&folder);
            fs::create_dir_all(&folder).unwrap();
        }
        fs::create_dir(self.workspace().join(".git")).unwrap();
        for (path, bytes) in &self.head {
            self.put(path, bytes);
        }
    }

    /// Restores the stage of the page's head.
    pub(crate) fn section(&mut self) {
        self.in_head = false;
        self.clear();
    }

    fn set(&mut self, block: &Block) {
        match block.words() {
            ("file", path) => self.file(path, &block.body),
            ("link", path) => self.link(path, &block.body),
            ("evidence", _) => self.evidence.clone_from(&block.body),
            _ => {}
        }
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

    /// A `link PATH` block; its body is the target of the link.
    fn link(&self, path: &str, target: &str) {
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
