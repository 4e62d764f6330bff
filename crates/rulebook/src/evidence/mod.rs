//! Evidence: what is known about the request, in one form for all hosts, with the source of each path.

mod input;
pub mod json;
mod kind;
mod paths;
mod text;
mod tools;

pub use input::{Input, InputError, ToolCall};
pub use kind::ToolKind;
pub(crate) use kind::plain;
pub use paths::{PathLocation, Root, Roots};
pub(crate) use tools::{is_command_key, is_path_key};

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::{Code, Diagnostic, shown};
use crate::id::rule_name;
use crate::words::words;

/// What is known about the request. `None` means not looked up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// Files read, edited, named or open; sorted, without duplicates.
    pub paths: Vec<Seen>,
    /// The number of paths beyond the limit.
    pub cut: usize,
    /// The user's message.
    pub message: Option<String>,
    /// The host's mode.
    pub mode: Option<String>,
    /// The provider of the model.
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
    /// The tags of the workspace.
    pub tags: Option<Vec<String>>,
    /// Tools about to be called or just called.
    pub tools: Vec<String>,
    /// Shell commands about to run.
    pub commands: Vec<String>,
    /// Texts of files in evidence, by position in `paths`.
    pub contents: Vec<(usize, String)>,
    /// Rules requested by name.
    pub requested: Vec<String>,
}

/// A path and its sources.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seen {
    /// Relative to its root, with `/` as the separator.
    pub path: String,
    /// The index of its root.
    pub root: usize,
    /// Its sources, sorted, without duplicates.
    pub sources: Vec<Via>,
}

words! {
    /// The source of a path. Earlier sources take precedence under the limit.
    Via {
        /// Named on the command line.
        Argument = "argument",
        /// Mentioned explicitly by the user.
        Mention = "mention",
        /// The target of a tool call in the last turns.
        Tool = "tool",
        /// Path-like text in the user's message.
        Message = "message",
        /// An open tab.
        Tab = "tab",
        /// A visible editor.
        Visible = "visible",
        /// Written by the agent in this task.
        Modified = "modified",
    }
}

/// The maximum number of paths.
const MAX_PATHS: usize = 100;

/// The maximum length of a path in bytes, as in most file systems.
const MAX_PATH: usize = 4096;

/// How many turns the target of a tool call stays in evidence, including the current one.
const TOOL_TURNS: u64 = 3;

/// Collects evidence from the input of a host. `exists` takes a root and a path relative to it.
pub fn collect(
    input: &Input,
    roots: &Roots,
    exists: &dyn Fn(usize, &str) -> bool,
) -> (Evidence, Vec<Diagnostic>) {
    let anywhere = |path: &str| match roots.locate(path, exists) {
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
        input.mentions.iter().map(|mention| roots.mentioned_path(mention, exists)).collect();
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
    // Newest first within each source; later entries are newer.
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
    let mut beyond_limit = BTreeSet::new();
    for (via, path) in found {
        if path.len() > MAX_PATH {
            let message = format!("a path of {} bytes is ignored, the limit is {MAX_PATH}", path.len());
            diagnostics
                .push(Diagnostic::whole(Code::EvidenceOutside, shown(path), message).help("remove it"));
            continue;
        }
        match roots.locate(path, exists) {
            PathLocation::Root(_) => {}
            PathLocation::Outside => {
                let message = format!("`{}` is outside of every root and is ignored", shown(path));
                diagnostics.push(Diagnostic::whole(Code::EvidenceOutside, path, message));
            }
            PathLocation::Inside { root, path } => {
                let key = (path, root);
                if let Some(sources) = merged.get_mut(&key) {
                    sources.push(*via);
                } else if merged.len() < MAX_PATHS {
                    merged.insert(key, vec![*via]);
                } else {
                    beyond_limit.insert(key);
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
    (paths.collect(), beyond_limit.len())
}

#[cfg(test)]
mod tests;
