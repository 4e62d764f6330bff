//! Unread files: text in an agent's rule folder that the agent does not read, and the name under which it would.

use crate::agent::Agent;
use crate::format::{Depth, Files, Format, FormatId, Place, PlaceKind};
use crate::words::words;

words! {
    /// Why an agent does not read a text file in its rule folder.
    UnreadCause {
        /// It reads other extensions.
        Extension = "extension",
        /// It reads that extension in lower case.
        Case = "case",
        /// It does not read sub-folders.
        Depth = "depth",
    }
}

/// A text file that an agent does not read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnreadFile {
    /// Why.
    pub cause: UnreadCause,
    /// The path inside the rule folder under which the agent would read it.
    pub renamed: String,
}

words! {
    /// What a text file beside rules is, if it is not a rule.
    SeenKind {
        /// A README, a licence, a changelog.
        Documentation = "documentation",
        /// A file that a rule links to.
        Linked = "linked",
        /// A command that people call by name.
        Command = "command",
        /// An agent that another one starts.
        SubAgent = "sub-agent",
        /// A workflow.
        Workflow = "workflow",
        /// A hook.
        Hook = "hook",
    }
}

/// Folders of agents that hold text but no rules.
pub const NOT_RULES: &[(&str, SeenKind)] = &[
    (".agent/workflows", SeenKind::Workflow),
    (".agents/workflows", SeenKind::Workflow),
    (".augment/commands", SeenKind::Command),
    (".claude/agents", SeenKind::SubAgent),
    (".claude/commands", SeenKind::Command),
    (".clinerules/hooks", SeenKind::Hook),
    (".clinerules/workflows", SeenKind::Workflow),
    (".codex/prompts", SeenKind::Command),
    (".continue/prompts", SeenKind::Command),
    (".cursor/agents", SeenKind::SubAgent),
    (".cursor/commands", SeenKind::Command),
    (".devin/workflows", SeenKind::Workflow),
    (".factory/commands", SeenKind::Command),
    (".factory/droids", SeenKind::SubAgent),
    (".github/agents", SeenKind::SubAgent),
    (".github/chatmodes", SeenKind::SubAgent),
    (".github/prompts", SeenKind::Command),
    (".kilocode/workflows", SeenKind::Workflow),
    (".opencode/agent", SeenKind::SubAgent),
    (".opencode/agents", SeenKind::SubAgent),
    (".opencode/command", SeenKind::Command),
    (".opencode/commands", SeenKind::Command),
    (".qwen/agents", SeenKind::SubAgent),
    (".qwen/commands", SeenKind::Command),
    (".roo/commands", SeenKind::Command),
    (".windsurf/agents", SeenKind::SubAgent),
    (".windsurf/workflows", SeenKind::Workflow),
];

/// Whether a folder is in one that holds text of an agent but no rules.
pub fn is_not_rules(folder: &str) -> bool {
    let folder = format!("/{folder}/");
    NOT_RULES.iter().any(|(path, _)| folder.contains(&format!("/{path}/")))
}

/// Extensions of text files that people write rules in.
const TEXT: &[&str] = &["md", "mdc", "markdown", "mdx", "txt"];

/// Names of files about a folder, without their extensions.
const DOCUMENTATION: &[&str] = &[
    "authors",
    "changelog",
    "code_of_conduct",
    "codeowners",
    "contributing",
    "copying",
    "licence",
    "license",
    "notice",
    "readme",
];

/// Whether a file is text by its extension, in any case.
pub fn is_text(name: &str) -> bool {
    stem(name).is_some()
}

/// Whether a file is about its folder, and not a rule, by its name.
pub fn is_documentation(name: &str) -> bool {
    let Some(first) = name.bytes().next().map(|byte| byte.to_ascii_lowercase()) else { return false };
    let is_named = |known: &&str| {
        // Nearly every file is decided by its first letter.
        known.as_bytes()[0] == first
            && name.split_at_checked(known.len()).is_some_and(|(start, rest)| {
                start.eq_ignore_ascii_case(known) && !rest.starts_with(|c: char| c.is_alphanumeric())
            })
    };
    DOCUMENTATION.iter().any(is_named)
}

/// Returns the name without the extension of a text file.
fn stem(name: &str) -> Option<&str> {
    let (stem, extension) = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty())?;
    TEXT.iter().any(|text| text.eq_ignore_ascii_case(extension)).then_some(stem)
}

impl Place {
    /// Returns why the text file at a path inside this folder is not read; `None` if it is, or if it is not text.
    pub fn unread(&self, inner: &str) -> Option<UnreadFile> {
        let PlaceKind::Folder { files: Files::Ending(extensions), depth, .. } = self.shape else {
            return None;
        };
        let (folder, name) = inner.rsplit_once('/').map_or(("", inner), |(folder, name)| (folder, name));
        let is_deep = !folder.is_empty() && depth == Depth::Flat;
        let stem = stem(name)?;
        let is_taken = self.takes(name);
        if is_taken && !is_deep {
            return None;
        }
        let in_other_case = |extension: &&&str| {
            let end = name.len().checked_sub(extension.len() + 1);
            let end = end.and_then(|end| name.get(end..)?.strip_prefix('.'));
            end.is_some_and(|end| end.eq_ignore_ascii_case(extension))
        };
        let other_case = extensions.iter().find(in_other_case).filter(|_| !is_taken);
        let renamed = match other_case {
            _ if is_taken => name.to_owned(),
            Some(extension) => format!("{}{extension}", &name[..name.len() - extension.len()]),
            None => format!("{stem}.{}", extensions.first()?),
        };
        Some(match (is_deep, other_case) {
            (true, _) => UnreadFile { cause: UnreadCause::Depth, renamed },
            (_, case) => {
                let cause = if case.is_some() { UnreadCause::Case } else { UnreadCause::Extension };
                let slash = if folder.is_empty() { "" } else { "/" };
                UnreadFile { cause, renamed: format!("{folder}{slash}{renamed}") }
            }
        })
    }
}

/// Returns the agent that a format belongs to, and the ways in which it reads the folder of a place.
pub fn owner_places(
    format: &'static Format,
    place: &Place,
) -> (Option<&'static Agent>, Vec<(&'static Format, &'static Place)>) {
    let agent = Agent::owner_of(format.id);
    let formats = agent.map_or(std::slice::from_ref(format), |agent| agent.formats);
    let of_folder = |own: &'static Format| {
        let places = own.workspace.iter().filter(|other| other.path == place.path);
        places.map(move |place| (own, place))
    };
    (agent, formats.iter().flat_map(of_folder).collect())
}

/// Whether a file at a path inside a rule folder is documentation that the folder's agent does not read.
pub fn is_unread_documentation(format: FormatId, place: &'static Place, inner: &str) -> bool {
    let name = inner.rsplit('/').next().unwrap_or(inner);
    if !is_documentation(name) {
        return false;
    }
    let (agent, places) = owner_places(format.row(), place);
    agent.is_some() && places.iter().all(|(_, place)| place.unread(inner).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Base;
    use crate::format::place::{MARKDOWN, folder};

    #[test]
    fn an_unread_file_has_a_cause_and_a_name_that_works() {
        static FLAT: Place = folder(Base::Root, ".windsurf/rules", MARKDOWN, Depth::Flat);
        static DEEP: Place = folder(Base::Root, ".cursor/rules", &["mdc"], Depth::Recursive);
        static LONG: Place =
            folder(Base::Root, ".github/instructions", &["instructions.md"], Depth::Recursive);
        #[track_caller]
        fn check(place: &Place, inner: &str, want: Option<(UnreadCause, &str)>) {
            let found = place.unread(inner);
            let found = found.as_ref().map(|found| (found.cause, found.renamed.as_str()));
            assert_eq!(found, want, "{inner}");
        }
        check(&DEEP, "a.mdc", None);
        check(&DEEP, "a.md", Some((UnreadCause::Extension, "a.mdc")));
        check(&DEEP, "sub/a.txt", Some((UnreadCause::Extension, "sub/a.mdc")));
        check(&DEEP, "l.MDC", Some((UnreadCause::Case, "l.mdc")));
        check(&DEEP, "a.json", None);
        check(&DEEP, ".md", None);
        check(&FLAT, "a.md", None);
        check(&FLAT, "sub/c.md", Some((UnreadCause::Depth, "c.md")));
        check(&FLAT, "sub/c.mdc", Some((UnreadCause::Depth, "c.md")));
        check(&LONG, "testing.md", Some((UnreadCause::Extension, "testing.instructions.md")));
        check(&LONG, "a.Instructions.MD", Some((UnreadCause::Case, "a.instructions.md")));
        check(&LONG, "a.instructions.md", None);
        check(&LONG, "my-instructions.md", Some((UnreadCause::Extension, "my-instructions.instructions.md")));
    }

    #[test]
    fn documentation_is_recognised_by_its_name() {
        for name in ["README.md", "readme.txt", "README.de.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md"]
        {
            assert!(is_documentation(name), "{name}");
        }
        for name in ["readmes.md", "licensing.md", "style.md"] {
            assert!(!is_documentation(name), "{name}");
        }
    }

    #[test]
    fn the_table_of_folders_is_sorted() {
        assert!(NOT_RULES.is_sorted_by(|a, b| a.0 < b.0));
    }
}
