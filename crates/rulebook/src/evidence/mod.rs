//! Evidence: what is known about the request, in one form for all hosts, with the source of each path.

mod generated;
mod input;
pub mod json;
mod kind;
mod paths;
mod text;
mod tools;

pub(crate) use generated::mode_in;
pub use generated::without_generated;
pub use input::{Input, InputError, ToolCall};
pub use kind::ToolKind;
pub(crate) use kind::plain;
pub use paths::{PathLocation, Root, Roots};
pub(crate) use tools::{is_command_key, is_path_key};

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::{Code, Diagnostic, shown};
use crate::id::rule_name;
use crate::syntax::Parser;
use crate::words::words;
use text::Requests;

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
    /// Who parses these texts.
    pub parser: Option<Parser>,
    /// Rules requested by name for this turn.
    pub requested: Vec<String>,
    /// Words after an `@` in the message: each requests the rule of that name, if there is one.
    pub mentioned: Vec<String>,
    /// Rules that the user pinned in this session.
    pub pinned: Vec<String>,
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
        /// Named on the command line, or in the evidence.
        Argument = "argument",
        /// Mentioned explicitly by the user.
        Mention = "mention",
        /// The target of a tool call in the last turns.
        Tool = "tool",
        /// Path-like text in the user's message.
        Message = "message",
        /// Written by the agent in this task.
        Modified = "modified",
        /// A visible editor.
        Visible = "visible",
        /// An open tab.
        Tab = "tab",
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

    let (message, generated) = input.message.as_deref().map(generated::split).unzip();
    let generated = generated.unwrap_or_default();
    let mut found: Vec<Candidate> = Vec::new();
    let mut add = |age: Age, via: Via, paths: &[String]| {
        found.extend(paths.iter().map(|path| Candidate { age, via, path: path.clone() }));
    };
    add(Age::Turn, Via::Argument, &input.arguments);
    if let Some(message) = &message {
        add(Age::Turn, Via::Mention, &text::mentions(message, &anywhere));
    }
    let mentions: Vec<String> =
        input.mentions.iter().map(|mention| roots.mentioned_path(mention, exists)).collect();
    add(Age::Turn, Via::Mention, &mentions);
    let at_hand = input.tools.last().filter(|call| turn_of(call) == now);
    for call in &input.tools {
        let targets = tools::targets(call, &anywhere);
        let is_at_hand = call.pending || at_hand.is_some_and(|last| std::ptr::eq(last, call));
        if now.saturating_sub(turn_of(call)) < TOOL_TURNS {
            add(if is_at_hand { Age::Now } else { Age::Earlier }, Via::Tool, &targets);
        }
        if !call.pending && tools::writes(call) {
            add(Age::Earlier, Via::Modified, &targets);
        }
    }
    if let Some(message) = &message {
        add(Age::Turn, Via::Message, &text::path_like(message, &anywhere));
    }
    add(Age::Earlier, Via::Modified, &input.modified);
    add(Age::Earlier, Via::Visible, &input.visible_editors);
    add(Age::Earlier, Via::Visible, &generated.visible);
    add(Age::Earlier, Via::Tab, &input.open_tabs);
    add(Age::Earlier, Via::Tab, &generated.tabs);
    // Newest first within each source; later entries are newer.
    found.reverse();
    found.sort_by_key(|candidate| (candidate.age, candidate.via));
    let Requests { addresses, mentions: mentioned } =
        message.as_deref().map(|message| text::requests(message, &anywhere)).unwrap_or_default();

    let mut diagnostics = Vec::new();
    let (paths, cut) = merge(&found, roots, exists, &mut diagnostics);
    let latest = input.tools.iter().map(turn_of).max().unwrap_or(0);
    let just_called = input.tools.iter().filter(|call| call.pending || turn_of(call) == latest);
    let evidence = Evidence {
        paths,
        cut,
        message,
        mode: input.mode.clone().or(generated.mode),
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
        parser: None,
        requested: input.requested.iter().map(|name| rule_name(name)).chain(addresses).collect(),
        mentioned,
        pinned: input.pinned.clone(),
    };
    (evidence, diagnostics)
}

/// The files that a call names in its arguments, as written, whether they exist or not.
pub(crate) fn call_targets(call: &ToolCall) -> Vec<String> {
    tools::targets(call, &|_| false)
}

/// The files of a call, relative to their root, or absolute if there are several roots, for a host without a disk.
pub(crate) fn touched(call: &ToolCall, roots: &Roots) -> Vec<String> {
    let input = Input { tools: vec![call.clone()], ..Input::default() };
    let (evidence, _) = collect(&input, roots, &|_, _| false);
    evidence.paths.iter().map(|seen| roots.address(seen.root, &seen.path)).collect()
}

/// The name of an operating system as rules write it.
pub fn system_name(name: &str) -> &str {
    match name {
        "macos" | "osx" | "mac" => "darwin",
        "win32" | "win" => "windows",
        other => other,
    }
}

/// When a path became known. Under the limit, this turn's paths take precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Age {
    /// By the call at hand.
    Now,
    /// In this turn.
    Turn,
    /// Earlier, or at no particular time.
    Earlier,
}

/// A path as the host names it.
struct Candidate {
    age: Age,
    via: Via,
    path: String,
}

fn merge(
    found: &[Candidate],
    roots: &Roots,
    exists: &dyn Fn(usize, &str) -> bool,
    diagnostics: &mut Vec<Diagnostic>,
) -> (Vec<Seen>, usize) {
    let mut merged: BTreeMap<(String, usize), Vec<Via>> = BTreeMap::new();
    let mut beyond_limit = BTreeSet::new();
    for Candidate { via, path, .. } in found {
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
