//! The pages in `pages/`: each is a small workspace and what the command prints there.

#[allow(dead_code, reason = "shared with the engine's pages")]
#[path = "../../../rulebook/tests/page/mod.rs"]
mod page;

use std::path::Path;
use std::process::{Command, Output};

use page::{Piece, Stage};

use crate::sandbox::{path_with_binary, stderr, stdout};

#[test]
fn the_command_prints_what_the_pages_show() {
    let mut stage = Stage::new();
    let mut current = None;
    page::run(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pages"), |path, piece| {
        if current.as_deref() != Some(path) {
            current = Some(path.to_owned());
            stage = Stage::new();
        }
        match piece {
            Piece::Section(_) => stage.section(),
            Piece::Block(block) => match block.words() {
                ("file", path) => stage.file(path, &block.body),
                ("console", folder) => return Some(session(&stage, folder, &block.body)),
                _ => {}
            },
            Piece::Prose(_) => {}
        }
        None
    });
}

/// Runs every `$ …` line of a session in a folder of the workspace, with an empty environment.
fn session(stage: &Stage, folder: &str, body: &str) -> String {
    let mut text = String::new();
    for line in body.lines().filter_map(|line| line.strip_prefix("$ ")) {
        let output = Command::new("sh")
            .args(["-c", line])
            .current_dir(stage.workspace().join(folder))
            .env_clear()
            .env("HOME", stage.home())
            .env("PATH", path_with_binary())
            .output()
            .unwrap();
        text.push_str(&format!("$ {line}\n{}", shown(stage, &output)));
    }
    text
}

/// Standard output, then standard error, then the exit status if it is not 0.
fn shown(stage: &Stage, output: &Output) -> String {
    let mut text = stdout(output);
    for line in stderr(output).lines() {
        text.push_str(&format!("2> {line}\n"));
    }
    if !output.status.success() {
        text.push_str(&format!(
            "[exit {}]\n",
            output.status.code().map_or("signal".to_owned(), |code| code.to_string())
        ));
    }
    let real = |path: std::path::PathBuf| path.canonicalize().unwrap().to_string_lossy().into_owned();
    let text = text.replace(&real(stage.home()), "/home/you").replace(&real(stage.workspace()), "/repo");
    text.replace(&real(stage.workspace().join("..")), "/elsewhere")
}
