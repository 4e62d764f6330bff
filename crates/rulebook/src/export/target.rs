//! One row of the table of targets: how an agent expresses each kind of rule.

use crate::agent::{Agent, Nested};
use crate::condition::PathExpression;
use crate::format::{FormatId, Place};
use crate::rule::{Activation, Rule};
use crate::source::Origin;
use crate::words::words;

/// A form that rules can be written in.
#[derive(Debug)]
#[non_exhaustive]
pub struct Target {
    /// The name of its agent, or `rulebook`.
    pub name: &'static str,
    /// What holds the rules.
    pub holder: Holder,
    /// How patterns are written.
    pub list: ListStyle,
    /// How it expresses a rule for every request.
    pub always: Form,
    /// How it expresses a rule for some files.
    pub paths: Form,
    /// How it expresses a rule that the model requests by its description.
    pub offered: Form,
    /// How it expresses a rule that applies only when mentioned by name.
    pub manual: Form,
}

/// What holds the rules of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// One file per rule.
    Files {
        /// The rule folder.
        folder: &'static str,
        /// The extension, without the dot in front.
        extension: &'static str,
    },
    /// A file for a whole folder, with one block per rule.
    Blocks {
        /// The name of the file.
        file: &'static str,
    },
}

/// How a target expresses a kind of rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Not at all.
    No,
    /// By the place of the file alone, without a header.
    Plain,
    /// By these lines of the header.
    Header(&'static [Line]),
}

/// A line of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// The name of the copy.
    Name,
    /// The description, if the rule has one.
    Description,
    /// The patterns, with this key.
    Patterns(&'static str),
    /// A fixed key and value.
    Fixed(&'static str, &'static str),
}

/// How patterns are written in a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListStyle {
    /// `a/**,b/**` without quotes.
    Commas,
    /// `"a/**,b/**"`.
    Text,
    /// `["a/**", "b/**"]`.
    Flow,
    /// One per line.
    Block,
}

words! {
    /// The kinds of rules that targets express.
    Kind {
        /// For every request.
        Always = "always",
        /// For some files.
        Paths = "paths",
        /// Requested by the model.
        Offered = "offered",
        /// Mentioned by name.
        Manual = "manual",
    }
}

impl Kind {
    /// Returns the kind of a rule; `None` if it has other conditions, watches the stream, or can never apply.
    pub fn of(rule: &Rule) -> Option<Kind> {
        let is_paths = |expression: PathExpression<'_>| matches!(expression, PathExpression::Paths(_));
        let on_paths = rule.conditions.iter().all(|condition| is_paths(condition.path_expression()));
        match rule.activation {
            _ if rule.stream.is_some() || !on_paths || rule.conditions.len() > 1 => None,
            Activation::Always => Some(Kind::Always),
            Activation::When if rule.conditions.is_empty() => Some(Kind::Always),
            Activation::When => Some(Kind::Paths),
            Activation::OnRequest => Some(Kind::Offered),
            Activation::Manual => Some(Kind::Manual),
            Activation::Stream | Activation::Never => None,
        }
    }
}

impl Target {
    /// Returns its agent; `None` for Rulebook's own form.
    pub fn agent(&self) -> Option<&'static Agent> {
        Agent::named(self.name)
    }

    /// Returns the name that people know.
    pub fn title(&self) -> &'static str {
        self.agent().map_or("Rulebook", |agent| agent.title)
    }

    /// Whether its rules are blocks in files that people write too.
    pub fn is_block(&self) -> bool {
        matches!(self.holder, Holder::Blocks { .. })
    }

    /// Returns how it expresses a kind.
    pub fn form(&self, kind: Kind) -> Form {
        match kind {
            Kind::Always => self.always,
            Kind::Paths => self.paths,
            Kind::Offered => self.offered,
            Kind::Manual => self.manual,
        }
    }

    /// Returns how the target reads a file at a path of the workspace.
    pub fn reads(&self, path: &str) -> Option<Origin> {
        match self.agent() {
            Some(agent) => Origin::at(agent.formats, path),
            None => self.is_path(path).then(|| Origin::named(FormatId::Rulebook, path)),
        }
    }

    /// Whether it is known to read its rules in folders below the root.
    pub fn is_nested(&self) -> bool {
        let Some(agent) = self.agent() else { return true };
        let below = Origin::at(agent.formats, &self.path("x", "x"));
        below.is_some_and(|below| agent.nested_at(below.place) == Nested::Read)
    }

    /// Whether its agent reads a file of this name in the rule folder as a rule of that folder.
    pub(super) fn takes(&self, name: &str) -> bool {
        let Holder::Files { folder, .. } = self.holder else { return true };
        self.reads(&self.path("", name)).is_some_and(|origin| is_in(origin.place, folder))
    }

    /// Whether sub-folders of its rule folder are read.
    pub(super) fn is_recursive(&self) -> bool {
        let Holder::Files { folder, extension } = self.holder else { return false };
        let path = format!("{folder}/a/b.{extension}");
        self.reads(&path).is_some_and(|origin: Origin| is_in(origin.place, folder))
    }

    /// Whether a file at this path of the workspace could hold its rules.
    pub fn is_path(&self, path: &str) -> bool {
        let reads_below = |agent: &Agent| matches!(agent.nested, Nested::Read | Nested::Located);
        let may_be_nested = self.agent().is_none_or(reads_below);
        let is_plain = |part: &str| !matches!(part, "" | "." | "..") && !part.contains(['\\', ':', '\0']);
        let (folder, is_named) = match self.holder {
            Holder::Blocks { file } => match path.strip_suffix(file) {
                Some(folder) => (folder, true),
                None => (path, false),
            },
            Holder::Files { folder: place, extension } => {
                let is_named = path.strip_suffix(extension).is_some_and(|stem| stem.ends_with('.'));
                let at = [place, "/"].concat();
                match path.strip_prefix(&at).map(|_| "") {
                    Some(root) => (root, is_named),
                    None => match path.find(&["/", &at].concat()) {
                        Some(end) => (&path[..=end], is_named),
                        None => (path, false),
                    },
                }
            }
        };
        is_named
            && path.split('/').all(is_plain)
            && (folder.is_empty() || may_be_nested && folder.ends_with('/'))
    }

    /// Returns the path of the file that holds a rule, in a folder of the workspace.
    pub fn path(&self, folder: &str, name: &str) -> String {
        let inner = match self.holder {
            Holder::Files { folder, extension } => format!("{folder}/{name}.{extension}"),
            Holder::Blocks { file } => file.to_owned(),
        };
        if folder.is_empty() { inner } else { format!("{folder}/{inner}") }
    }
}

fn is_in(place: &Place, folder: &str) -> bool {
    place.path == folder
}
