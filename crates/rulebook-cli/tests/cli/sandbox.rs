//! A person with a home and a workspace, who runs the command there.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

pub(crate) struct Sandbox {
    folder: tempfile::TempDir,
}

impl Sandbox {
    /// With these files: the workspace is in `repo`, the home in `home`.
    pub(crate) fn with(files: &[(&str, &str)]) -> Sandbox {
        let person = Sandbox { folder: tempfile::tempdir().unwrap() };
        fs::create_dir_all(person.path("repo/.git")).unwrap();
        person.write("home/.config/rulebook/config.toml", "");
        files.iter().for_each(|(path, text)| person.write(path, text));
        person
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        fs::write(self.path(path), text).unwrap();
    }

    pub(crate) fn settings(&self, text: &str) -> &Sandbox {
        self.write("home/.config/rulebook/config.toml", text);
        self
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rulebook"));
        command.args(words).current_dir(self.path("repo")).env_clear().env("HOME", self.path("home"));
        command.stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    pub(crate) fn json(&self, words: &[&str]) -> Value {
        let output = self.run(&[words, &["--json"]].concat());
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
    }

    pub(crate) fn prompt(&self) -> String {
        self.json(&["prompt"])["text"].as_str().unwrap().to_owned()
    }

    /// The codes of what `prompt` tells.
    pub(crate) fn codes(&self) -> Vec<String> {
        let told = self.json(&["prompt"])["diagnostics"].as_array().unwrap().clone();
        told.iter().map(|told| told["code"].as_str().unwrap().to_owned()).collect()
    }
}
