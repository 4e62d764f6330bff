//! Tools that generate rule files: their own folders, read as formats.

use crate::format::place::{MARKDOWN, folder};
use crate::format::table::designs::RULEBOOK;
use crate::format::{
    ActivationKey, Bare, Base, Broken, Confidence, Depth, Format, Keys, SameId, StatedActivation, formats,
};
use crate::frontmatter::{Header, Tier, Value, read};
use crate::source::Origin;

/// A tool that generates rule files from its own.
#[derive(Debug)]
#[non_exhaustive]
pub struct Tool {
    /// Its name in commands.
    pub name: &'static str,
    /// How its files are found and read.
    pub formats: &'static [Format],
}

/// What the files of these tools have in common.
const OF_TOOL: Format = Format {
    user: &[],
    priority: Some(50),
    tier: Some(Tier::Lines),
    broken: Broken::Bare,
    keys: Keys::Plain,
    same_id: SameId::FirstWins,
    paths_key: "globs",
    confidence: Confidence::Medium,
    knowledge: "its documentation",
    ..RULEBOOK
};

/// `root` is its word for "always on".
const RULESYNC: Format = Format {
    agent: "rulesync",
    workspace: &[folder(Base::Root, ".rulesync/rules", MARKDOWN, Depth::Recursive)],
    bare: Bare::OfferedElseAlways,
    aliases: &[("root", "alwaysApply")],
    modes: Some(ActivationKey {
        key: "cursorRuleType",
        words: &[
            ("always", StatedActivation::Always),
            ("specificFiles", StatedActivation::Glob),
            ("intelligently", StatedActivation::Offered),
            ("manual", StatedActivation::Manual),
        ],
        unsaid: None,
        offered_by: &["description"],
    }),
    inert: &["targets"],
    ..OF_TOOL
};

/// It joins all files into one text.
const RULER: Format = Format {
    agent: "ruler",
    workspace: &[folder(Base::Root, ".ruler", MARKDOWN, Depth::Recursive)],
    tier: None,
    bare: Bare::Always,
    ..OF_TOOL
};

/// Every tool, sorted by name.
pub static TOOLS: &[Tool] = &[
    Tool { name: "ruler", formats: formats![RULER] },
    Tool { name: "rulesync", formats: formats![RULESYNC] },
];

impl Tool {
    /// Returns the tool of a name.
    pub fn named(name: &str) -> Option<&'static Tool> {
        TOOLS.iter().find(|tool| tool.name == name)
    }

    /// Returns the tool whose own folder has this file.
    pub fn of_file(path: &str) -> Option<&'static Tool> {
        TOOLS.iter().find(|tool| Origin::at(tool.formats, path).is_some())
    }

    /// What the header of one of its files says about single agents, which no copy says; `None` if nothing.
    pub fn left_behind(&self, text: &str) -> Option<String> {
        let header =
            self.formats.iter().filter_map(|format| format.tier).map(|tier| read(text, tier).header).next();
        let Some(Header::Read { fields, .. }) = header else { return None };
        let is_any = |value: &Value| match value {
            Value::Text(text) => text == "*",
            Value::List(nodes) => nodes.iter().any(|node| node.value == Value::Text("*".to_owned())),
            _ => false,
        };
        let is_left = |value: &Value, key: &str| match key {
            "targets" => !is_any(value),
            _ => matches!(value, Value::Map(_)),
        };
        let keys = fields.iter().filter(|field| is_left(&field.node.value, &field.key));
        let keys: Vec<String> = keys.map(|field| format!("`{}`", field.key)).collect();
        (!keys.is_empty())
            .then(|| format!("the copy is for every agent, without {} of its header", keys.join(" and ")))
    }
}
