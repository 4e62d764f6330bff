//! The guard: agents may not change what governs them.

use crate::condition::Truth;
use crate::evidence::{ToolCall, call_targets};
use crate::glob::{Dialect, Glob};
use crate::shell::{self, Command, FileUse, Touched};
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
const OWN_COMMANDS: &[&str] =
    &["disable", "enable", "export", "guard", "import", "install", "pin", "trust", "uninstall", "unpin"];

impl Governed {
    /// What a call would change.
    pub fn threats(&self, call: &ToolCall) -> Vec<Threat> {
        let mut threats = Vec::new();
        let mut add = |what: &str, truth| {
            if truth != Truth::No && !threats.iter().any(|known: &Threat| known.what == what) {
                threats.push(Threat { what: what.to_owned(), truth });
            }
        };
        if call.is_write() {
            for target in call_targets(call) {
                add(&target, if self.holds(&target, false) { Truth::Yes } else { Truth::No });
            }
        }
        if let Some(line) = call.shell_command() {
            let script = shell::parse(&line);
            for command in &script.commands {
                let is_own = self.is_own(command) || command.may_run(&|text| is_own_line(text));
                let unnamed = command.writes_unnamed() || command.cleans_all();
                let runs = !is_own && command.may_run(&|text| self.may_change(text));
                let truth = match () {
                    () if is_own => Truth::Yes,
                    () if unnamed || runs => Truth::Unknown,
                    () => Truth::No,
                };
                add(&command.line().text, truth);
                for FileUse { file, .. } in
                    command.files().into_iter().filter(|one| one.touched == Touched::Written)
                {
                    add(&file.text, self.writes(command, &file));
                }
            }
            for doubt in &script.doubts {
                let what = if doubt.command.is_empty() { &line } else { &doubt.command };
                add(what, Truth::Unknown);
            }
        }
        threats
    }

    /// Whether a command is one of Rulebook that switches something.
    fn is_own(&self, command: &Command) -> bool {
        let words: Vec<&str> = command.words.iter().skip(1).map(|word| word.text.as_str()).collect();
        command.name().is_some_and(|name| name == "rulebook") && switches(&words)
    }

    /// Whether a text, taken as a command, writes something governed: a program may run it.
    fn may_change(&self, text: &str) -> bool {
        let script = shell::parse(text);
        script.commands.iter().any(|command| {
            let mut written = command.files().into_iter().filter(|one| one.touched == Touched::Written);
            written.any(|one| self.writes(command, &one.file) == Truth::Yes)
        })
    }

    /// Whether a command that writes a file changes what governs the agent.
    fn writes(&self, command: &Command, file: &shell::Word) -> Truth {
        let is_git = command.name().is_some_and(|name| name == "git");
        let hole = file.holes.first().map(|hole| hole.start);
        let star = file.text.find(['*', '?', '[']);
        // Some characters of patterns are holes too.
        if star.is_some() && !file.text.contains(['$', '`']) && self.is_matched(&file.text) {
            return Truth::Yes;
        }
        match [hole, star].into_iter().flatten().min() {
            None if self.holds(&file.text, !is_git) => Truth::Yes,
            // Git may restore or remove what is in a folder.
            None if is_git && self.holds(&file.text, true) => Truth::Unknown,
            None => Truth::No,
            // What follows a variable or a wildcard is not known.
            Some(end) => {
                let known = &file.text[..end];
                let rest = &file.text[end..];
                let after_home =
                    ["$HOME/", "${HOME}/", "\"$HOME\"/"].iter().find_map(|home| rest.strip_prefix(home));
                if let (0, Some(home), Some(rest)) = (end, &self.home, after_home) {
                    return if self.holds(&format!("{home}/{rest}"), true) { Truth::Yes } else { Truth::No };
                }
                let folder = known.rsplit_once('/').map_or("", |(folder, _)| folder);
                let is_below = !folder.is_empty() && self.holds(folder, true);
                let names_it = self.local.iter().any(|local| rest.contains(local.as_str()));
                match () {
                    () if is_below || names_it => Truth::Yes,
                    () if hole == Some(end) && known.is_empty() => Truth::Unknown,
                    () => Truth::No,
                }
            }
        }
    }

    /// Whether a pattern of the shell matches something governed at the root, or a folder above it.
    fn is_matched(&self, pattern: &str) -> bool {
        let Ok(glob) = Glob::new(&normal(pattern), Dialect::Picomatch) else { return false };
        let above = |entry: &str| {
            let ends = entry.match_indices('/').map(|(at, _)| at).chain([entry.len()]);
            ends.map(|end| entry[..end].to_owned()).collect::<Vec<_>>()
        };
        self.local
            .iter()
            .chain(&self.absolute)
            .any(|entry| above(entry).iter().any(|path| glob.is_match(path)))
    }

    /// Whether a path is governed, or, if it counts, is a folder above something governed.
    fn holds(&self, path: &str, counts_above: bool) -> bool {
        let path = path.replace('\\', "/");
        let path = match (&self.home, path.strip_prefix("~/")) {
            (Some(home), Some(rest)) => format!("{home}/{rest}"),
            _ => path,
        };
        let path = normal(&path);
        let root = self
            .roots
            .iter()
            .filter_map(|root| path.strip_prefix(&normal(root)))
            .min_by_key(|rest| rest.len());
        let relative = root.map_or(path.as_str(), |rest| rest.trim_start_matches('/')).to_lowercase();
        let slashed = format!("/{relative}/");
        let is_local = |entry: &String| {
            let entry = format!("/{}/", entry.to_lowercase());
            slashed.contains(&entry) || counts_above && (relative.is_empty() || entry.starts_with(&slashed))
        };
        let is_absolute = |entry: &String| {
            let (entry, whole) = (normal(entry).to_lowercase(), path.to_lowercase());
            whole == entry
                || whole.starts_with(&format!("{entry}/"))
                || counts_above && entry.starts_with(&format!("{whole}/"))
        };
        self.local.iter().any(is_local) || path.starts_with('/') && self.absolute.iter().any(is_absolute)
    }
}

/// Whether words after `rulebook` switch something.
fn switches(words: &[&str]) -> bool {
    let changes = |word: &&str| OWN_COMMANDS.contains(word) || *word == "--fix";
    words.iter().any(changes) && !words.contains(&"status")
}

/// Whether a text, taken as a command, is one of Rulebook that switches something.
fn is_own_line(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.first() == Some(&"rulebook") && switches(&words[1..])
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
