//! The table of targets: how to express always / paths / offered / manual in each agent's own files.

use super::target::Form::{Header, No, Plain};
use super::target::Line::{Description, Fixed, Name, Patterns};
use super::target::{Form, Holder, ListStyle, Target};
use crate::agent::Agent;

/// Every form that rules can be written in, sorted by name.
pub static TARGETS: &[Target] = &[
    text_files("amazonq", ".amazonq/rules"),
    blocks("amp", "AGENTS.md"),
    triggers("antigravity", ".agents/rules"),
    Target {
        always: Header(&[Description, Fixed("type", "always_apply")]),
        offered: Header(&[Description, Fixed("type", "agent_requested")]),
        manual: Header(&[Description, Fixed("type", "manual")]),
        ..files("augment", ".augment/rules", "md")
    },
    Target {
        paths: Header(&[Patterns("paths")]),
        list: ListStyle::Block,
        ..files("claude", ".claude/rules", "md")
    },
    Target {
        paths: Header(&[Patterns("paths")]),
        list: ListStyle::Block,
        ..files("cline", ".clinerules", "md")
    },
    files("cline-cli", ".cline/rules", "md"),
    like_cursor("codebuddy", ".codebuddy/rules", "md"),
    blocks("codex", "AGENTS.md"),
    Target {
        always: Header(&[Description, Fixed("alwaysApply", "true")]),
        paths: Header(&[Description, Patterns("globs")]),
        offered: Header(&[Description, Fixed("alwaysApply", "false")]),
        list: ListStyle::Flow,
        ..files("continue", ".continue/rules", "md")
    },
    copilot("copilot-cli", No),
    copilot("copilot-github", No),
    copilot("copilot-vscode", Header(&[Description])),
    blocks("crush", "AGENTS.md"),
    like_cursor("cursor", ".cursor/rules", "mdc"),
    like_cursor("cursor-cli", ".cursor/rules", "mdc"),
    triggers("devin", ".devin/rules"),
    blocks("factory", "AGENTS.md"),
    Target {
        always: Header(&[Fixed("alwaysApply", "true")]),
        ..like_cursor("firebender", ".firebender/rules", "mdc")
    },
    blocks("gemini", "GEMINI.md"),
    blocks("goose", "AGENTS.md"),
    text_files("grok", ".grok/rules"),
    Target {
        always: Header(&[Fixed("apply", "always")]),
        paths: Header(&[Fixed("apply", "by file patterns"), Patterns("patterns")]),
        manual: Header(&[Fixed("apply", "manually")]),
        list: ListStyle::Commas,
        ..files("jetbrains", ".aiassistant/rules", "md")
    },
    blocks("jules", "AGENTS.md"),
    blocks("junie", "AGENTS.md"),
    text_files("kilo", ".kilocode/rules"),
    Target {
        always: Header(&[Fixed("inclusion", "always")]),
        paths: Header(&[Fixed("inclusion", "fileMatch"), Patterns("fileMatchPattern")]),
        offered: Header(&[Fixed("inclusion", "auto"), Name, Description]),
        manual: Header(&[Fixed("inclusion", "manual")]),
        list: ListStyle::Flow,
        ..files("kiro", ".kiro/steering", "md")
    },
    triggers("lingma", ".lingma/rules"),
    pipeline("omp", ".omp/rules"),
    blocks("opencode", "AGENTS.md"),
    blocks("pi", "AGENTS.md"),
    triggers("qoder", ".qoder/rules"),
    Target {
        paths: Header(&[Description, Patterns("paths")]),
        list: ListStyle::Block,
        ..files("qwen", ".qwen/rules", "md")
    },
    text_files("roo", ".roo/rules"),
    Target {
        always: Header(&[Description, Fixed("alwaysApply", "true")]),
        paths: Header(&[Description, Patterns("paths")]),
        offered: Header(&[Description]),
        list: ListStyle::Block,
        ..files("rulebook", ".rulebook/rules", "md")
    },
    text_files("tabnine", ".tabnine/guidelines"),
    like_cursor("trae", ".trae/rules", "md"),
    blocks("warp", "AGENTS.md"),
    triggers("windsurf", ".windsurf/rules"),
    pipeline("xcsh", ".xcsh/rules"),
    blocks("zed", "AGENTS.md"),
];

/// A folder of files that are always on without a header.
const fn files(name: &'static str, folder: &'static str, extension: &'static str) -> Target {
    Target {
        name,
        holder: Holder::Files { folder, extension },
        list: ListStyle::Flow,
        always: Plain,
        paths: No,
        offered: No,
        manual: No,
    }
}

/// A folder of text files without headers, which are always on.
const fn text_files(name: &'static str, folder: &'static str) -> Target {
    files(name, folder, "md")
}

/// A file without a header, which applies to its folder.
const fn blocks(name: &'static str, file: &'static str) -> Target {
    Target { holder: Holder::Blocks { file }, ..files(name, "", "") }
}

/// Cursor's four kinds of rules, in Cursor's keys.
const fn like_cursor(name: &'static str, folder: &'static str, extension: &'static str) -> Target {
    Target {
        always: Header(&[Description, Fixed("alwaysApply", "true")]),
        paths: Header(&[Description, Patterns("globs"), Fixed("alwaysApply", "false")]),
        offered: Header(&[Description, Fixed("alwaysApply", "false")]),
        manual: Header(&[Fixed("alwaysApply", "false")]),
        list: ListStyle::Commas,
        ..files(name, folder, extension)
    }
}

/// Windsurf's key for the activation, and its words.
const fn triggers(name: &'static str, folder: &'static str) -> Target {
    Target {
        always: Header(&[Fixed("trigger", "always_on")]),
        paths: Header(&[Fixed("trigger", "glob"), Patterns("globs")]),
        offered: Header(&[Fixed("trigger", "model_decision"), Description]),
        manual: Header(&[Fixed("trigger", "manual")]),
        list: ListStyle::Commas,
        ..files(name, folder, "md")
    }
}

/// The three surfaces of Copilot read the same files.
const fn copilot(name: &'static str, offered: Form) -> Target {
    Target {
        always: Header(&[Fixed("applyTo", "\"**\"")]),
        paths: Header(&[Description, Patterns("applyTo")]),
        offered,
        list: ListStyle::Text,
        ..files(name, ".github/instructions", "instructions.md")
    }
}

/// Agents that show paths to the model and do not match them.
const fn pipeline(name: &'static str, folder: &'static str) -> Target {
    Target {
        always: Header(&[Fixed("alwaysApply", "true")]),
        offered: Header(&[Description]),
        ..files(name, folder, "md")
    }
}

impl Target {
    /// Returns the target of a name; of an agent or a product, the one that is written for it.
    pub fn named(name: &str) -> Option<&'static Target> {
        let agent = Agent::named(name).map_or(name, |agent| agent.name);
        TARGETS.iter().find(|target| target.name == agent)
    }
}
