//! Conditions on one fact of the evidence: mode, provider, model, agent, tags, os, env, tools, branch.

use super::facts::Facts;
use super::kind::{Condition, ConditionKind, ConditionResult, Needs, Test};
use super::value::{PatternBase, Report, name_glob, words};
use crate::diagnostic::{Code, nearest};
use crate::evidence::{Evidence, system_name};
use crate::frontmatter::Node;
use crate::glob::Glob;

pub(super) const MODE: ConditionKind = ConditionKind {
    key: "mode",
    holds: "the current mode is one of those named",
    build: |node, _, report| build("mode", node, report, exactly, |e| e.mode.as_slice()),
};
pub(super) const PROVIDER: ConditionKind = ConditionKind {
    key: "provider",
    holds: "any glob matches the model's provider",
    build: |node, _, report| build("provider", node, report, name_glob, |e| e.provider.as_slice()),
};
pub(super) const MODEL: ConditionKind = ConditionKind {
    key: "model",
    holds: "any glob matches the model's name",
    build: |node, _, report| build("model", node, report, name_glob, |e| e.model.as_slice()),
};
pub(super) const AGENT: ConditionKind = ConditionKind {
    key: "agent",
    holds: "any glob matches the agent's name",
    build: |node, _, report| build("agent", node, report, name_glob, |e| e.agent.as_slice()),
};
pub(super) const TAGS: ConditionKind = ConditionKind {
    key: "tags",
    holds: "the workspace has any of the tags, from its settings or detected from its files",
    build: |node, _, report| build("tags", node, report, exactly, |e| e.tags.as_deref().unwrap_or_default()),
};
pub(super) const OS: ConditionKind = ConditionKind {
    key: "os",
    holds: "the operating system is one of those named: `darwin`, `linux`, `windows`",
    build: build_os,
};
pub(super) const ENV: ConditionKind = ConditionKind {
    key: "env",
    holds: "the name of the environment is one of those named",
    build: |node, _, report| build("env", node, report, exactly, |e| e.env.as_slice()),
};
pub(super) const TOOLS: ConditionKind = ConditionKind {
    key: "tools",
    holds: "any glob matches the tool about to be called or just called",
    build: |node, _, report| build("tools", node, report, name_glob, |e| &e.tools),
};
pub(super) const BRANCH: ConditionKind = ConditionKind {
    key: "branch",
    holds: "any glob matches the git branch",
    build: |node, _, report| build("branch", node, report, name_glob, |e| e.branch.as_slice()),
};

#[derive(Debug)]
struct Named {
    key: &'static str,
    wanted: Vec<String>,
    globs: Vec<Option<Glob>>,
    fact: fn(&Evidence) -> &[String],
}

impl Named {
    fn name(&self) -> &'static str {
        if self.key == "tools" { "tool" } else { self.key }
    }
}

type Compile = fn(&str, &Node, &mut Report<'_>) -> Option<Glob>;

/// For names that are compared exactly.
fn exactly(_: &str, _: &Node, _: &mut Report<'_>) -> Option<Glob> {
    None
}

fn build(
    key: &'static str,
    node: &Node,
    report: &mut Report<'_>,
    compile: Compile,
    fact: fn(&Evidence) -> &[String],
) -> Option<Condition> {
    let wanted = words(node, report);
    let globs = wanted.iter().map(|name| compile(name, node, report)).collect();
    (!wanted.is_empty()).then(|| Condition::new(key, Named { key, wanted, globs, fact }))
}

const SYSTEMS: &[&str] = &["darwin", "linux", "windows"];

fn build_os(node: &Node, _: &PatternBase, report: &mut Report<'_>) -> Option<Condition> {
    let mut wanted: Vec<String> =
        words(node, report).iter().map(|name| system_name(&name.to_lowercase()).to_owned()).collect();
    wanted.retain(|name| {
        let known = SYSTEMS.contains(&name.as_str());
        if !known {
            let near = nearest(name, SYSTEMS.iter().copied()).map(|near| format!("; did you mean `{near}`?"));
            let message =
                format!("`{name}` is not one of `darwin`, `linux`, `windows`{}", near.unwrap_or_default());
            report(Code::BadValue, node.span.clone(), message);
        }
        known
    });
    let globs = wanted.iter().map(|_| None).collect();
    (!wanted.is_empty())
        .then(|| Condition::new("os", Named { key: "os", wanted, globs, fact: |e| e.os.as_slice() }))
}

impl Test for Named {
    fn evaluate(&self, facts: &Facts<'_>) -> ConditionResult {
        let known = (self.fact)(facts.evidence);
        if known.is_empty() && !(self.key == "tags" && facts.evidence.tags.is_some()) {
            return ConditionResult::not_known(self.name());
        }
        let holds = |name: &str, glob: &Option<Glob>| {
            known.iter().any(|fact| fact == name || glob.as_ref().is_some_and(|glob| glob.is_match(fact)))
        };
        let patterns = self.wanted.iter().zip(&self.globs);
        let patterns = patterns.map(|(name, glob)| (name.as_str(), holds(name, glob)));
        ConditionResult::of_patterns(self.name(), known, patterns)
    }

    fn needs(&self) -> Needs {
        Needs { branch: self.key == "branch", tags: self.key == "tags", ..Needs::default() }
    }
}
