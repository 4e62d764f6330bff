//! Evidence: what is known about the work at hand, from whichever host, with where each path came from.

mod input;
pub mod json;
mod paths;
pub mod text;
mod tools;

pub use input::{Input, ToolCall};
pub use paths::{PathLocation, Root, Roots};
pub use tools::is_path_key;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::diagnostic::{Code, Diagnostic, shown};
use crate::id::rule_name;

/// What is known about the request. `None` says that nobody looked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// Files read, edited, named or open; sorted, each once.
    pub paths: Vec<Seen>,
    /// How many paths did not fit under the cap.
    pub cut: usize,
    /// The user's message.
    pub message: Option<String>,
    /// The host's mode.
    pub mode: Option<String>,
    /// Who serves the model.
    pub provider: Option<String>,
    /// The model's name.
    pub model: Option<String>,
    /// The agent's name.
    pub agent: Option<String>,
    /// The environment's name.
    pub env: Option<String>,
    /// `darwin`, `linux` or `windows`.
    pub os: Option<String>,
    /// The git branch.
    pub branch: Option<String>,
    /// What the workspace is made of.
    pub tags: Option<Vec<String>>,
    /// Tools about to be called or just called.
    pub tools: Vec<String>,
    /// Shell commands about to run.
    pub commands: Vec<String>,
    /// Texts of files in evidence, by position in `paths`.
    pub contents: Vec<(usize, String)>,
    /// Rules asked for by name.
    pub requested: Vec<String>,
}

/// A path and everybody who spoke of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seen {
    /// Relative to its root, POSIX.
    pub path: String,
    /// Which root, counted from 0.
    pub root: usize,
    /// Where it came from, each once, in the order of [`Via`].
    pub sources: Vec<Via>,
}

/// Where a path came from. Earlier fills the cap first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Via {
    /// Named on the command line.
    Argument,
    /// Named by the user explicitly.
    Mention,
    /// A tool call's target in the last turns.
    Tool,
    /// Path-like text in the user's message.
    Message,
    /// An open tab.
    Tab,
    /// A visible editor.
    Visible,
    /// Written by the agent in this task.
    Modified,
}

impl Via {
    /// The word shown to people.
    pub fn name(self) -> &'static str {
        match self {
            Via::Argument => "argument",
            Via::Mention => "mention",
            Via::Tool => "tool",
            Via::Message => "message",
            Via::Tab => "tab",
            Via::Visible => "visible",
            Via::Modified => "modified",
        }
    }
}

/// At most this many paths are considered.
pub const MAX_PATHS: usize = 100;

/// The longest path that is considered, in bytes: what the systems that files live on take.
const MAX_PATH: usize = 4096;

/// How many turns a tool call's target lasts, the current one included.
const TOOL_TURNS: u64 = 3;

/// Makes evidence of what a host says. `exists` answers for a path relative to a root.
pub fn collect(
    input: &Input,
    roots: &Roots,
    exists: &dyn Fn(usize, &str) -> bool,
) -> (Evidence, Vec<Diagnostic>) {
    let anywhere = |path: &str| match roots.place(path, exists) {
        PathLocation::Inside { root, path } => exists(root, &path),
        PathLocation::Root(_) => true,
        PathLocation::Outside => false,
    };
    let now = input.turn.or_else(|| input.tools.iter().filter_map(|call| call.turn).max()).unwrap_or(0);
    let turn_of = |call: &ToolCall| call.turn.unwrap_or(now);

    let mut found: Vec<(Via, String)> = Vec::new();
    let mut add = |via: Via, paths: &[String]| found.extend(paths.iter().map(|path| (via, path.clone())));
    add(Via::Argument, &input.arguments);
    if let Some(message) = &input.message {
        add(Via::Mention, &text::mentions(message, &anywhere));
    }
    let mentions: Vec<String> =
        input.mentions.iter().map(|mention| roots.mentioned(mention, exists)).collect();
    add(Via::Mention, &mentions);
    for call in &input.tools {
        let targets = tools::targets(call, &anywhere);
        if now.saturating_sub(turn_of(call)) < TOOL_TURNS {
            add(Via::Tool, &targets);
        }
        if !call.pending && tools::writes(call) {
            add(Via::Modified, &targets);
        }
    }
    if let Some(message) = &input.message {
        add(Via::Message, &text::path_like(message, &anywhere));
    }
    add(Via::Tab, &input.open_tabs);
    add(Via::Visible, &input.visible_editors);
    add(Via::Modified, &input.modified);
    // Newest first within each source: later entries are newer.
    found.reverse();
    found.sort_by_key(|(via, _)| *via);

    let mut diagnostics = Vec::new();
    let (paths, cut) = merge(&found, roots, exists, &mut diagnostics);
    let latest = input.tools.iter().map(turn_of).max().unwrap_or(0);
    let just_called = input.tools.iter().filter(|call| call.pending || turn_of(call) == latest);
    let evidence = Evidence {
        paths,
        cut,
        message: input.message.clone(),
        mode: input.mode.clone(),
        provider: input.provider.clone(),
        model: input.model.clone(),
        agent: input.agent.clone(),
        env: input.env.clone(),
        os: input.os.as_deref().map(|os| system_name(&os.to_lowercase()).to_owned()),
        branch: input.branch.clone(),
        tags: input.tags.clone(),
        tools: just_called.map(|call| call.name.clone()).filter(|name| !name.is_empty()).collect(),
        commands: input.tools.iter().filter(|call| call.pending).filter_map(tools::command).collect(),
        contents: Vec::new(),
        requested: input.requested.iter().map(|name| rule_name(name)).collect(),
    };
    (evidence, diagnostics)
}

/// The name of an operating system as rules write it.
pub fn system_name(name: &str) -> &str {
    match name {
        "macos" | "osx" | "mac" => "darwin",
        "win32" | "win" => "windows",
        other => other,
    }
}

fn merge(
    found: &[(Via, String)],
    roots: &Roots,
    exists: &dyn Fn(usize, &str) -> bool,
    diagnostics: &mut Vec<Diagnostic>,
) -> (Vec<Seen>, usize) {
    let mut merged: BTreeMap<(String, usize), Vec<Via>> = BTreeMap::new();
    let mut left_out = std::collections::BTreeSet::new();
    for (via, path) in found {
        if path.len() > MAX_PATH {
            let told = format!("a path of {} bytes is not considered, at most {MAX_PATH} are", path.len());
            diagnostics
                .push(Diagnostic::whole(Code::EvidenceOutside, shown(path), told).help("leave it out"));
            continue;
        }
        match roots.place(path, exists) {
            PathLocation::Root(_) => {}
            PathLocation::Outside => {
                let told = format!("`{}` lies outside every root and is not considered", shown(path));
                diagnostics.push(Diagnostic::whole(Code::EvidenceOutside, path, told));
            }
            PathLocation::Inside { root, path } => {
                let key = (path, root);
                if let Some(sources) = merged.get_mut(&key) {
                    sources.push(*via);
                } else if merged.len() < MAX_PATHS {
                    merged.insert(key, vec![*via]);
                } else {
                    left_out.insert(key);
                }
            }
        }
    }
    diagnostics.sort();
    diagnostics.dedup();
    let paths = merged.into_iter().map(|((path, root), mut sources)| {
        sources.sort_unstable();
        sources.dedup();
        Seen { path, root, sources }
    });
    (paths.collect(), left_out.len())
}

#[cfg(test)]
mod tests;
