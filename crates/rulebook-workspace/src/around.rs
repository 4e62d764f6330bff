//! The files around the rules: what scripts there are, which package manager, and whether a file exists.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::{MAIN_SEPARATOR, Path};

use rulebook::agent::Agent;
use rulebook::diagnostic::Diagnostic;
use rulebook::evaluate::State;
use rulebook::evidence::{Evidence, Seen};
use rulebook::lint::{LockFile, Names, Runner, Surroundings, lint_surroundings};
use rulebook::matrix::NativeReading;
use rulebook::resolve::Rulebook;
use rulebook::rule::Rule;
use serde_json::Value;

use crate::agents::AgentSearch;
use crate::sources::Sources;
use crate::storage::FileKind;
use crate::tree::Tree;

/// Lock files and their package managers.
const LOCK_FILES: &[(&str, &str)] = &[
    ("bun.lock", "bun"),
    ("bun.lockb", "bun"),
    ("npm-shrinkwrap.json", "npm"),
    ("package-lock.json", "npm"),
    ("pnpm-lock.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
];

/// Storage that define scripts.
const SCRIPT_FILES: &[(&str, Runner)] = &[
    ("Makefile", Runner::Make),
    ("makefile", Runner::Make),
    ("GNUmakefile", Runner::Make),
    ("justfile", Runner::Just),
    ("Justfile", Runner::Just),
    (".justfile", Runner::Just),
    ("package.json", Runner::Package),
];

/// How many files with scripts are read, and how many bytes of each.
const MAX_FILES: usize = 500;
const MAX_BYTES: usize = 1 << 20;

impl Sources<'_> {
    /// Compares the rules with the files around them.
    pub(crate) fn around(&self, book: &Rulebook, tree: &Tree) -> Vec<Diagnostic> {
        let workspace = self.workspace();
        let root = |root: usize| workspace.roots.roots.get(root).map(|root| Path::new(&root.path));
        let (mut locks, mut script_files) = (Vec::new(), Vec::new());
        for file in tree.named(|name| manager_of(name).is_some() || runner_of(name).is_some()) {
            let name = file.path.rsplit('/').next().unwrap_or_default();
            locks.extend(manager_of(name).map(|manager| {
                let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
                LockFile { folder: (file.root, folder.to_owned()), manager, is_declared: false }
            }));
            script_files.extend(runner_of(name).map(|runner| (runner, file)));
        }
        script_files.sort_by(|(_, one), (_, other)| (one.root, &one.path).cmp(&(other.root, &other.path)));
        let is_cut = script_files.len() > MAX_FILES;
        let mut scripts = Vec::new();
        for (runner, file) in script_files.iter().take(MAX_FILES) {
            let text = root(file.root).and_then(|root| {
                workspace.files.text_within(&root.join(&file.path), root, MAX_BYTES).ok()?
            });
            let Some(text) = text else { continue };
            let names = names(*runner, &text);
            scripts.push((*runner, Names { is_open: names.is_open || is_cut, ..names }));
            if *runner == Runner::Package
                && let Some(manager) = declared_manager(&text)
            {
                let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
                locks.push(LockFile { folder: (file.root, folder.to_owned()), manager, is_declared: true });
            }
        }
        let parser = workspace.parser();
        let agents: Vec<&'static Agent> =
            workspace.agents_used(AgentSearch::Workspace).iter().map(|used| used.agent).collect();
        // Few trees have links to nothing.
        let files: OnceCell<HashMap<String, Vec<Seen>>> = OnceCell::new();
        let by_name = || {
            let mut files: HashMap<String, Vec<Seen>> = HashMap::new();
            for file in tree.named(|_| true) {
                let name = file.path.rsplit('/').next().unwrap_or_default().to_owned();
                files.entry(name).or_default().push(file);
            }
            files
        };
        let around = Surroundings {
            ending: &|root, end| {
                let name = end.rsplit('/').next().unwrap_or(end);
                let same = files.get_or_init(by_name).get(name).into_iter().flatten();
                let ends = |path: &str| {
                    path.strip_suffix(end).is_some_and(|start| start.is_empty() || start.ends_with('/'))
                };
                let found = same.filter(|file| file.root == root && ends(&file.path));
                found.take(2).map(|file| file.path.clone()).collect()
            },
            text_of: &|rule: &Rule| self.text(rule).map(|text| text.to_string()),
            exists: &|at, path| {
                root(at).is_some_and(|root| {
                    // A link to a page of a website has no extension.
                    let path = root.join(path);
                    let is_there = |path: &Path| workspace.files.exists(path);
                    is_there(&path)
                        || ["md", "mdx", "mdc"].iter().any(|end| is_there(&path.with_extension(end)))
                })
            },
            text_at: &|at, path| {
                let root = root(at)?;
                workspace.files.text_within(&root.join(path), root, MAX_BYTES).ok()?
            },
            real_path: &|rule: &Rule| {
                let root = self.disk.real(root(rule.origin.root)?).ok()?;
                let path = self.disk.real(Path::new(&rule.origin.path)).ok()?;
                Some(path.strip_prefix(root).ok()?.to_str()?.replace(MAIN_SEPARATOR, "/"))
            },
            is_link: &|rule: &Rule| {
                let own = workspace.files.own_kind(Path::new(&rule.origin.path));
                own.is_some_and(FileKind::is_symlink)
            },
            scripts,
            locks,
            unused: agents.iter().flat_map(|agent| self.unused(agent)).collect(),
            agents,
            parser: parser.as_ref().map(|parser| &*parser.0),
        };
        lint_surroundings(book, &around)
    }
}

impl Sources<'_> {
    /// The files that an agent finds and does not use, because it uses another one.
    fn unused(&self, agent: &'static Agent) -> Vec<(&'static str, String)> {
        let book = self.native(agent).book;
        let verdicts = NativeReading::evaluate(&book, &Evidence::default()).verdicts;
        let unused = verdicts.iter().filter(|verdict| matches!(verdict.state, State::Overridden { .. }));
        unused.map(|verdict| (agent.name, verdict.rule.origin.display.clone())).collect()
    }
}

impl Tree {
    /// The files with a name like this.
    fn named(&self, is_wanted: impl Fn(&str) -> bool + Sync) -> Vec<Seen> {
        let name = |file: &Seen| is_wanted(file.path.rsplit('/').next().unwrap_or_default());
        self.fold(Vec::new, |all: &mut Vec<Seen>, files| all.extend(files.into_iter().filter(&name))).concat()
    }
}

fn manager_of(name: &str) -> Option<&'static str> {
    LOCK_FILES.iter().find(|(file, _)| *file == name).map(|(_, manager)| *manager)
}

/// Returns the package manager that a `package.json` declares.
fn declared_manager(text: &str) -> Option<&'static str> {
    let file = serde_json::from_str::<Value>(text).ok()?;
    let declared = file.get("packageManager")?.as_str()?.split('@').next()?;
    LOCK_FILES.iter().find(|(_, manager)| *manager == declared).map(|(_, manager)| *manager)
}

fn runner_of(name: &str) -> Option<Runner> {
    SCRIPT_FILES.iter().find(|(file, _)| *file == name).map(|(_, runner)| *runner)
}

/// Reads the names of scripts. A file that cannot be read may have any.
fn names(runner: Runner, text: &str) -> Names {
    match runner {
        Runner::Package => match serde_json::from_str::<Value>(text) {
            Ok(file) => {
                let scripts = file.get("scripts").and_then(Value::as_object);
                Names { names: scripts.into_iter().flat_map(|s| s.keys().cloned()).collect(), is_open: false }
            }
            Err(_) => Names { is_open: true, ..Names::default() },
        },
        Runner::Make | Runner::Just => {
            let is_open = |line: &str| {
                ["include", "-include", "sinclude", "import", "mod ", "define"]
                    .iter()
                    .any(|word| line.starts_with(word))
                    || line
                        .split(':')
                        .next()
                        .is_some_and(|target| target.contains(['%', '$']) && line.contains(':'))
            };
            let targets =
                text.lines().filter(|line| !line.starts_with([' ', '\t', '#'])).filter_map(|line| {
                    let (targets, rest) = line.split_once(':')?;
                    (!rest.starts_with('=')).then_some(targets)
                });
            let targets =
                targets.flat_map(str::split_whitespace).map(|name| name.trim_start_matches('@').to_owned());
            let aliases =
                text.lines().filter_map(|line| line.strip_prefix("alias ")?.split_whitespace().next());
            Names {
                is_open: text.lines().any(is_open),
                names: targets.chain(aliases.map(str::to_owned)).collect(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_read_from_their_files() {
        #[track_caller]
        fn check(runner: Runner, text: &str, want: &[&str], is_open: bool) {
            let found = names(runner, text);
            assert_eq!(found.names.iter().map(String::as_str).collect::<Vec<_>>(), want);
            assert_eq!(found.is_open, is_open);
        }
        check(Runner::Package, "{\"scripts\": {\"b\": \"x\", \"a\": \"y\"}}", &["a", "b"], false);
        check(Runner::Package, "{", &[], true);
        check(Runner::Make, "X := 1\nall: a b\n\techo x: y\n.PHONY: all\n", &[".PHONY", "all"], false);
        check(Runner::Make, "include x.mk\na:\n", &["a"], true);
        check(Runner::Make, "%.o: %.c\n", &["%.o"], true);
        check(
            Runner::Just,
            "alias b := build\nbuild target='x':\n  cargo build\n@quiet:\n",
            &["b", "build", "quiet", "target='x'"],
            false,
        );
    }
}
