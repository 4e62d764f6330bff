//! The guard: agents may not change what governs them.

use crate::condition::Truth;
use crate::evidence::{ToolCall, call_targets};
use crate::glob::{Dialect, Glob};
use crate::shell::{self, Command, FileUse, Redirect, Touched};
use crate::words::words;

words! {
    /// What the guard does about a call that changes what governs the agent.
    GuardMode {
        /// The user is asked; where the host cannot ask, the call is refused.
        Ask = "ask",
        /// The call is refused.
        Refuse = "refuse",
    }
}

/// What governs an agent: files and folders.
#[derive(Clone, Debug, Default)]
pub struct Governed {
    /// Paths in a workspace, at any depth, with `/` as the separator.
    pub local: Vec<String>,
    /// Absolute paths.
    pub absolute: Vec<String>,
    /// The roots of the workspace, and the home folder.
    pub roots: Vec<String>,
    /// The user's home folder.
    pub home: Option<String>,
}

/// A change of what governs an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Threat {
    /// The file, or the command.
    pub what: String,
    /// Whether it is certain.
    pub truth: Truth,
}

/// Commands of Rulebook that change what governs an agent.
const OWN_COMMANDS: &[&str] = &[
    "disable",
    "enable",
    "export",
    "guard",
    "hook",
    "import",
    "install",
    "pin",
    "trust",
    "uninstall",
    "unpin",
];
/// The names of Rulebook as a program and as a package.
const OWN_NAMES: &[&str] = &["rulebook", "rulebook-cli", "rulebook_cli"];
/// Words and programs that install, remove or stop others.
const OVER_PROGRAMS: &[&str] =
    &["install", "kill", "killall", "pkill", "purge", "remove", "rm", "un", "uninstall", "update", "upgrade"];
/// Agents, and their commands that change their settings.
const AGENTS: &[&str] =
    &["amp", "claude", "codex", "copilot", "cursor-agent", "droid", "gemini", "goose", "opencode", "qwen"];
const AGENT_SETTINGS: &[&str] = &["config", "configure", "extensions", "hooks", "mcp", "plugin", "settings"];
/// How many words of a text that a command reads are looked at.
const MAX_WORDS: usize = 1_000;
/// Extensions of files in the folders of rules and hooks.
const EXTENSIONS: &[&str] = &[
    "cjs", "js", "json", "jsonc", "md", "mdc", "mjs", "py", "rule", "rules", "sh", "toml", "ts", "txt",
    "yaml", "yml",
];

/// Where a path leads from the folder of the call, through its links; `None` if that is where it would lead from the first
/// root without links.
pub type RealPath<'r> = &'r dyn Fn(&str) -> Option<String>;

impl Governed {
    /// What a call would change. Paths are compared under their names and under those that `real` gives them.
    pub fn threats(&self, call: &ToolCall, real: RealPath<'_>) -> Vec<Threat> {
        Judge { governed: self, real }.threats(call)
    }
}

/// What governs an agent, and where links lead.
struct Judge<'j> {
    governed: &'j Governed,
    real: RealPath<'j>,
}

impl Judge<'_> {
    fn threats(&self, call: &ToolCall) -> Vec<Threat> {
        let mut threats: Vec<Threat> = Vec::new();
        let mut add = |what: &str, truth| match threats.iter_mut().find(|known| known.what == what) {
            Some(known) => known.truth = known.truth.max(truth),
            None if truth == Truth::No => {}
            None => threats.push(Threat { what: what.to_owned(), truth }),
        };
        if call.is_write() {
            for target in call_targets(call) {
                let truth = if self.holds(&target, false) { Truth::Yes } else { Truth::No };
                add(&self.shown(&target), truth);
            }
        }
        if let Some(line) = call.shell_command() {
            let script = shell::parse(&line);
            for command in &script.commands {
                let own = self.is_own(command);
                let is_own = own == Truth::Yes || command.may_run(&|text| is_own_line(text));
                let unnamed = command.writes_unnamed() || command.cleans_all() || changes_programs(command);
                let runs = !is_own && self.may_run_change(command);
                let truth = match () {
                    () if is_own => Truth::Yes,
                    () if unnamed || runs => Truth::Unknown,
                    () => own,
                };
                add(&command.line().text, truth);
                let is_known = command.is_well_known();
                for FileUse { file, touched } in command.files() {
                    match touched {
                        Touched::Moved | Touched::Written | Touched::Created => {
                            add(&self.shown(&file.text), self.writes_any(command, &file));
                        }
                        // What other programs do with a file is not known.
                        Touched::Opened if self.names(&file) => add(&command.line().text, Truth::Unknown),
                        Touched::Named if !is_known && self.names(&file) => {
                            add(&command.line().text, Truth::Unknown);
                        }
                        Touched::Named | Touched::Opened => {}
                    }
                }
                if !is_known && self.is_read(command) {
                    add(&command.line().text, Truth::Unknown);
                }
            }
            for doubt in &script.doubts {
                let what = if doubt.command.is_empty() { &line } else { &doubt.command };
                add(what, Truth::Unknown);
            }
        }
        threats
    }

    /// Whether a command is one of Rulebook that switches something; unknown if its words are.
    fn is_own(&self, command: &Command) -> Truth {
        let Some((program, words)) = command.words.split_first() else { return Truth::No };
        let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        let is_program = command.name().is_some_and(|name| OWN_NAMES.contains(&&*name))
            || self.governed.absolute.contains(&program.text);
        match () {
            () if !is_program => Truth::No,
            () if switches(&texts) => Truth::Yes,
            () if words.first().is_some_and(|word| !word.holes.is_empty()) => Truth::Unknown,
            () => Truth::No,
        }
    }

    /// Whether the text that a command reads from the line names something governed.
    fn is_read(&self, command: &Command) -> bool {
        let texts = command.redirects.iter().filter_map(Redirect::text);
        texts
            .flat_map(|text| text.text.split_whitespace().take(MAX_WORDS))
            .any(|word| self.governed.holds(word, false))
    }

    /// A path, with the name of the file to which its links lead, if only that is governed.
    fn shown(&self, path: &str) -> String {
        let real =
            || (self.real)(&self.governed.at_home(path)).filter(|real| self.governed.holds(real, true));
        let is_plain = self.governed.holds(path, true);
        if is_plain { None } else { real() }
            .map_or_else(|| path.to_owned(), |real| format!("{path} -> {real}"))
    }

    /// Whether a path or the file to which its links lead is governed, or, if it counts, is a folder above something governed.
    fn holds(&self, path: &str, counts_above: bool) -> bool {
        let real = || (self.real)(&self.governed.at_home(path));
        self.governed.holds(path, counts_above)
            || real().is_some_and(|real| self.governed.holds(&real, counts_above))
    }

    /// Whether a word is something governed, or a folder of the workspace around it.
    fn names(&self, word: &shell::Word) -> bool {
        let around = |path: &str| {
            let folder = format!("{}/", normal(path).to_lowercase());
            folder.len() > 1
                && self.governed.local.iter().any(|entry| entry.to_lowercase().starts_with(&folder))
        };
        word.as_known().is_some_and(|path| self.holds(path, false) || around(path))
    }

    /// Whether a command that a program may run writes something governed.
    fn may_run_change(&self, command: &Command) -> bool {
        command.suspected.iter().any(|inner| {
            let mut written = inner.files().into_iter().filter(|one| one.touched.is_write());
            written.any(|one| self.writes_any(inner, &one.file) == Truth::Yes)
        })
    }

    /// The same as [`Judge::writes`], for each word that a file may be.
    fn writes_any(&self, command: &Command, file: &shell::Word) -> Truth {
        let possible = file.possible().unwrap_or_else(|| vec![file.clone()]);
        possible.iter().map(|file| self.writes(command, file)).max().unwrap_or(Truth::No)
    }

    /// Whether a command that writes a file changes what governs the agent.
    fn writes(&self, command: &Command, file: &shell::Word) -> Truth {
        let is_git = command.name().is_some_and(|name| name == "git");
        let hole = file.holes.first().map(|hole| hole.start);
        let star = file.text.find(['*', '?', '[']);
        // Git has marks for paths: `:/a`, `:(top)a`.
        if let Some(rest) = file.text.strip_prefix(':').filter(|_| is_git) {
            let (magic, rest) = match rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
                Some((magic, rest)) => (magic, rest),
                None => {
                    rest.split_at(rest.find(|c| !matches!(c, '/' | '!' | '^' | ':')).unwrap_or(rest.len()))
                }
            };
            // All others.
            let rest = if magic.contains(['!', '^']) || magic.contains("exclude") { "" } else { rest };
            return self.writes(command, &shell::Word::known(if rest.is_empty() { "." } else { rest }));
        }
        // Some characters of patterns are holes too.
        if star.is_some()
            && !file.text.contains(['$', '`'])
            && self.governed.is_matched(&self.governed.at_home(&file.text))
        {
            return Truth::Yes;
        }
        match [hole, star].into_iter().flatten().min() {
            None if self.holds(&file.text, !is_git && !command.formats()) => Truth::Yes,
            // Git may restore or remove what is in a folder.
            None if is_git && self.holds(&file.text, true) => Truth::Unknown,
            None => Truth::No,
            // What follows a variable or a wildcard is not known.
            Some(end) => {
                let known = &file.text[..end];
                let rest = &file.text[end..];
                let after_home =
                    ["$HOME/", "${HOME}/", "\"$HOME\"/"].iter().find_map(|home| rest.strip_prefix(home));
                if let (0, Some(home), Some(rest)) = (end, &self.governed.home, after_home) {
                    return if self.holds(&format!("{home}/{rest}"), true) { Truth::Yes } else { Truth::No };
                }
                let folder = known.rsplit_once('/').map_or("", |(folder, _)| folder);
                let is_below = !folder.is_empty() && self.holds(folder, hole == Some(end));
                let names_it = self.governed.local.iter().any(|local| rest.contains(local.as_str()));
                let may_be = || {
                    let known = known.trim_start_matches("./").to_lowercase();
                    let Governed { local, absolute, .. } = self.governed;
                    local.iter().chain(absolute).any(|entry| entry.to_lowercase().starts_with(&known))
                };
                match () {
                    () if is_below || names_it => Truth::Yes,
                    () if hole == Some(end) && may_be() => Truth::Unknown,
                    () => Truth::No,
                }
            }
        }
    }
}

impl Governed {
    /// Whether a pattern of the shell matches something governed at the root, a folder above it or something in it.
    fn is_matched(&self, pattern: &str) -> bool {
        let pattern = normal(pattern).to_lowercase();
        let entries = if pattern.starts_with('/') { &self.absolute } else { &self.local };
        let pattern: Vec<&str> = pattern.split('/').collect();
        entries.iter().any(|entry| {
            let entry = entry.to_lowercase();
            may_reach(&pattern, &entry.split('/').collect::<Vec<_>>())
        })
    }

    /// A path with the home folder in place of `~`.
    fn at_home(&self, path: &str) -> String {
        match (&self.home, path.strip_prefix('~')) {
            (Some(home), Some(rest)) if rest.is_empty() || rest.starts_with('/') => format!("{home}{rest}"),
            _ => path.to_owned(),
        }
    }

    /// Whether a path is governed, or, if it counts, is a folder above something governed.
    fn holds(&self, path: &str, counts_above: bool) -> bool {
        let path = path.replace('\\', "/");
        let mut path = normal(&self.at_home(&path));
        if let Some(root) = self.roots.first().filter(|_| path.starts_with("..")) {
            path = normal(&format!("{root}/{path}"));
        }
        let root = self
            .roots
            .iter()
            .filter_map(|root| path.strip_prefix(&normal(root)))
            .min_by_key(|rest| rest.len());
        let relative = root.map_or(path.as_str(), |rest| rest.trim_start_matches('/')).to_lowercase();
        let slashed = format!("/{relative}/");
        // No agent reads its files from the top of the file system.
        let is_outside = root.is_none() && path.starts_with('/');
        let below = &slashed[if is_outside { 2 } else { 0 }..];
        let is_local = |entry: &String| {
            let entry = format!("/{}/", entry.to_lowercase());
            below.contains(&entry) || counts_above && (relative.is_empty() || entry.starts_with(&slashed))
        };
        let whole = match self.roots.first().filter(|_| !path.starts_with('/')) {
            Some(root) => normal(&format!("{root}/{path}")),
            None => path.clone(),
        }
        .to_lowercase();
        let is_absolute = |entry: &String| {
            let entry = normal(entry).to_lowercase();
            whole == entry
                || whole.starts_with(&format!("{entry}/"))
                || counts_above && entry.starts_with(&format!("{whole}/"))
        };
        self.local.iter().any(is_local) || whole.starts_with('/') && self.absolute.iter().any(is_absolute)
    }
}

/// Whether the parts of a pattern match the parts of a path, of a folder above it, or of something in it.
fn may_reach(pattern: &[&str], path: &[&str]) -> bool {
    let Some((part, rest)) = pattern.split_first() else { return true };
    if *part == "**" {
        // Several in a row are one: trying each split of the path between them would take exponential time.
        let again = rest.iter().take_while(|part| **part == "**").count();
        let rest = &rest[again..];
        return may_reach(rest, path) || !path.is_empty() && may_reach(pattern, &path[1..]);
    }
    let Some((name, below)) = path.split_first() else {
        // A file in a governed folder.
        let last = pattern.last().unwrap_or(part);
        let extension = last.rsplit_once('.').map(|(_, extension)| extension.to_lowercase());
        let is_wild = last.contains(['*', '?', '[', '{']);
        return extension.map_or(is_wild, |extension| {
            extension.contains(['*', '?', '[', '{']) || EXTENSIONS.contains(&&*extension)
        });
    };
    let is_hidden = name.starts_with('.') && !part.starts_with(['.', '{']);
    let matches =
        || part == name || Glob::new(part, Dialect::Picomatch).is_ok_and(|glob| glob.is_match(name));
    !is_hidden && matches() && may_reach(rest, below)
}

/// Whether a command installs, removes or stops Rulebook, or changes the settings of an agent.
fn changes_programs(command: &Command) -> bool {
    let words = || command.words.iter().map(|word| word.text.as_str());
    // A name among others: `pkill -f 'rulebook hook'`, `kill $(pgrep rulebook)`.
    let is_own = |word: &str| {
        let mut parts = word.split(|c: char| c.is_whitespace() || "$()`\"'|;&".contains(c));
        parts.any(|part| OWN_NAMES.contains(&part.split(['@', '=']).next().unwrap_or(part)))
    };
    let is_agent = command.name().is_some_and(|name| AGENTS.contains(&&*name));
    words().any(|word| OVER_PROGRAMS.contains(&word)) && words().skip(1).any(is_own)
        || is_agent && words().any(|word| AGENT_SETTINGS.contains(&word.trim_start_matches('-')))
}

/// Whether words after `rulebook` switch something.
fn switches(words: &[&str]) -> bool {
    let command = words.iter().position(|word| OWN_COMMANDS.contains(word));
    let is_shown = command.is_some_and(|at| words[at] == "guard" && words.get(at + 1) == Some(&"status"));
    command.is_some() && !is_shown || words.contains(&"--fix")
}

/// Whether a text, taken as a command, is one of Rulebook that switches something.
fn is_own_line(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.first().is_some_and(|name| OWN_NAMES.contains(name)) && switches(&words[1..])
}

/// A path without `.`, `..` and doubled separators; nothing is looked up.
fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    if path.starts_with('/') { format!("/{joined}") } else { joined }
}

#[cfg(test)]
mod tests;
