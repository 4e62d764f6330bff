//! The pages in `pages/`: each is a small workspace and what the command prints there.

#[allow(dead_code, reason = "shared with the engine's pages")]
#[path = "../../../rulebook/tests/page/mod.rs"]
mod page;

use std::path::Path;
use std::process::{Command, Output};

use page::Stage;

use crate::sandbox::{path_with_binary, stderr, stdout};

#[test]
fn the_command_prints_what_the_pages_show() {
    page::run(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pages"), |stage, block| {
        match block.words() {
            ("console", folder) => Some(session(stage, folder, &block.body)),
            _ => None,
        }
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
