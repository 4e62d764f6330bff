//! A home and a workspace in a temporary folder, and the command run there.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A safety net: ends a test that would hang. No test passes or fails by how long something takes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(600);

/// The program under test: what was built with the tests, or the program named `rulebook` that `RULEBOOK_TEST_BINARY` names.
/// So the tests run against a binary for another system, or against one that was installed from a package.
pub(crate) fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        let named = std::env::var_os("RULEBOOK_TEST_BINARY").map(PathBuf::from);
        let binary = named.unwrap_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_rulebook")));
        assert_eq!(binary.file_stem(), Some("rulebook".as_ref()), "pages call it by name");
        binary
    })
}

/// Waits for a state.
#[track_caller]
pub(crate) fn until(mut holds: impl FnMut() -> bool, wanted: impl Fn() -> String) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < PATIENCE, "waited in vain for {}", wanted());
        thread::sleep(Duration::from_millis(10));
    }
}

/// The workspace is the folder `repo`, the home is `home`.
pub(crate) struct Sandbox {
    folder: PathBuf,
    _owner: tempfile::TempDir,
}

impl Sandbox {
    pub(crate) fn new(files: &[(&str, &str)]) -> Sandbox {
        let owner = tempfile::tempdir().unwrap();
        let sandbox = Sandbox { folder: owner.path().canonicalize().unwrap(), _owner: owner };
        sandbox.write("repo/.git/HEAD", "ref: refs/heads/main\n");
        sandbox.settings("");
        files.iter().for_each(|(path, text)| sandbox.write(path, text));
        sandbox
    }

    /// Writes a file. It is renamed into place: a process that watches it never sees half of it.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let (path, draft) = (self.path(path), self.path("draft"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&draft, text).unwrap();
        fs::rename(draft, path).unwrap();
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.join(path)
    }

    /// Writes the user's settings.
    pub(crate) fn settings(&self, text: &str) {
        self.write("home/.config/rulebook/config.toml", text);
    }

    /// Writes the user's settings: one remote, at a path of the sandbox, for each name.
    pub(crate) fn remotes(&self, remotes: &[(&str, &str)]) {
        let remote = |(name, path): &(&str, &str)| remote(name, &self.path(path).display().to_string());
        self.settings(&remotes.iter().map(remote).collect::<String>());
    }

    /// A file or folder below the state folder.
    pub(crate) fn state(&self, path: &str) -> PathBuf {
        self.path("home/.local/state/rulebook").join(path)
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = self.program(binary());
        command.args(words);
        command
    }

    /// Any program in the workspace, with nothing but `HOME` in its environment.
    pub(crate) fn program(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.current_dir(self.path("repo")).env_clear().env("HOME", self.path("home"));
        command.stdin(Stdio::null());
        command
    }

    /// The command, ended by `timeout` should it hang.
    pub(crate) fn limited(&self, words: &[&str]) -> Command {
        let mut command = self.program("timeout");
        command.arg(PATIENCE.as_secs().to_string()).arg(binary()).args(words);
        command
    }

    pub(crate) fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    pub(crate) fn json(&self, words: &[&str]) -> Value {
        let output = self.run(&[words, &["--json"]].concat());
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
    }

    /// The text that `prompt` prints.
    pub(crate) fn prompt(&self) -> String {
        self.json(&["prompt"])["text"].as_str().unwrap().to_owned()
    }

    /// The codes of the diagnostics that `prompt` reports.
    pub(crate) fn codes(&self) -> Vec<String> {
        texts(&self.json(&["prompt"])["diagnostics"], "code")
    }

    /// Runs a host's hook with one event.
    pub(crate) fn hook(&self, host: &str, event: &Value) -> Output {
        feed(&mut self.command(&["hook", host]), event.to_string().as_bytes())
    }

    /// An event of a Claude Code session: the user sends a message.
    pub(crate) fn prompt_event(&self, session: &str, prompt: &str) -> Value {
        json!({ "hook_event_name": "UserPromptSubmit", "session_id": session, "cwd": self.path("repo"), "prompt": prompt })
    }
}

/// A `PATH` on which the command comes first.
pub(crate) fn path_with_binary() -> String {
    let folder = binary().parent().unwrap();
    format!("{}:/usr/bin:/bin", folder.display())
}

/// The settings of one remote.
pub(crate) fn remote(name: &str, url: &str) -> String {
    format!("[[remote]]\nname = \"{name}\"\nurl = \"{url}\"\n")
}

/// A document of rules, as a remote serves it.
pub(crate) fn document(rules: &[(&str, &str)]) -> String {
    let rule = |(name, contents): &(&str, &str)| json!({ "name": name, "contents": contents });
    json!({ "remoteGlobalRules": rules.iter().map(rule).collect::<Vec<_>>() }).to_string()
}

/// One field, a text, of every object in a list.
pub(crate) fn texts(list: &Value, key: &str) -> Vec<String> {
    let list = list.as_array().unwrap_or_else(|| panic!("no list: {list}"));
    list.iter().map(|item| item[key].as_str().unwrap().to_owned()).collect()
}

/// Runs a command with this on its standard input.
pub(crate) fn feed(command: &mut Command, input: &[u8]) -> Output {
    start(command, input).wait_with_output().unwrap()
}

/// Starts a command with this on its standard input. A thread writes it: a process may end without reading everything.
pub(crate) fn start(command: &mut Command, input: &[u8]) -> Child {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    thread::spawn(move || drop(stdin.write_all(&input)));
    child
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
