//! Conditions on one fact of the evidence: mode, provider, model, agent, tags, os, env, tools, branch.

use super::facts::Facts;
use super::kind::{Build, Condition, ConditionKind, ConditionResult, Fact, Needs, Test};
use super::value::{PatternBase, Report, name_glob, words};
use crate::diagnostic::{Code, nearest};
use crate::evidence::{Evidence, system_name};
use crate::frontmatter::Node;
use crate::glob::Glob;

pub(super) const MODE: ConditionKind = exact("mode", Fact::Mode, "the current mode is one of those named");
pub(super) const PROVIDER: ConditionKind =
    glob("provider", Fact::Provider, "any glob matches the model's provider");
pub(super) const MODEL: ConditionKind = glob("model", Fact::Model, "any glob matches the model's name");
pub(super) const AGENT: ConditionKind = glob("agent", Fact::Agent, "any glob matches the agent's name");
pub(super) const TAGS: ConditionKind = exact(
    "tags",
    Fact::Tags,
    "the workspace has any of the tags, from its settings or detected from its files",
);
pub(super) const OS: ConditionKind = ConditionKind {
    build: build_os,
    ..exact("os", Fact::Os, "the operating system is one of those named: `darwin`, `linux`, `windows`")
};
pub(super) const ENV: ConditionKind = exact("env", Fact::Env, "the environment has one of these names");
pub(super) const TOOLS: ConditionKind =
    glob("tools", Fact::Tools, "any glob matches the tool about to be called or just called");
pub(super) const BRANCH: ConditionKind = glob("branch", Fact::Branch, "any glob matches the git branch");

/// A condition with words that must equal the fact.
const fn exact(key: &'static str, fact: Fact, holds: &'static str) -> ConditionKind {
    let build: Build = |kind, node, _, report| build(kind, words(node, report), |_| None);
    ConditionKind { key, holds, fact: Some(fact), build }
}

/// A condition with globs for the fact.
const fn glob(key: &'static str, fact: Fact, holds: &'static str) -> ConditionKind {
    let build: Build =
        |kind, node, _, report| build(kind, words(node, report), |name| name_glob(name, node, report));
    ConditionKind { key, holds, fact: Some(fact), build }
}

#[derive(Debug)]
struct Named {
    key: &'static str,
    fact: Fact,
    wanted: Vec<String>,
    globs: Vec<Option<Glob>>,
}

fn build(
    kind: &ConditionKind,
    wanted: Vec<String>,
    compile: impl FnMut(&str) -> Option<Glob>,
) -> Option<Condition> {
    let globs = wanted.iter().map(String::as_str).map(compile).collect();
    let named = Named { key: kind.key, fact: kind.fact?, wanted, globs };
    (!named.wanted.is_empty()).then(|| Condition::new(kind.key, named))
}

const SYSTEMS: &[&str] = &["darwin", "linux", "windows"];

fn build_os(
    kind: &ConditionKind,
    node: &Node,
    _: &PatternBase,
    report: &mut Report<'_>,
) -> Option<Condition> {
    let mut wanted: Vec<String> =
        words(node, report).iter().map(|name| system_name(&name.to_lowercase()).to_owned()).collect();
    wanted.retain(|name| {
        let known = SYSTEMS.contains(&name.as_str());
        if !known {
            let near = nearest(name, SYSTEMS.iter().copied()).map(|near| format!("; did you mean `{near}`?"));
            let near = near.unwrap_or_default();
            let message = format!("must be `darwin`, `linux` or `windows`, found `{name}`{near}");
            report(Code::BadValue, node.span.clone(), message);
        }
        known
    });
    build(kind, wanted, |_| None)
}

impl Fact {
    /// The known values; `None` if the fact is not known.
    fn values(self, evidence: &Evidence) -> Option<&[String]> {
        let values = match self {
            Fact::Mode => evidence.mode.as_slice(),
            Fact::Provider => evidence.provider.as_slice(),
            Fact::Model => evidence.model.as_slice(),
            Fact::Agent => evidence.agent.as_slice(),
            Fact::Tags => return evidence.tags.as_deref(),
            Fact::Os => evidence.os.as_slice(),
            Fact::Env => evidence.env.as_slice(),
            Fact::Tools => &evidence.tools,
            Fact::Branch => evidence.branch.as_slice(),
        };
        Some(values).filter(|values| !values.is_empty())
    }
}

impl Test for Named {
    fn evaluate(&self, facts: &Facts<'_>) -> ConditionResult {
        let name = if self.fact == Fact::Tools { "tool" } else { self.key };
        let Some(known) = self.fact.values(facts.evidence) else { return ConditionResult::not_known(name) };
        let holds = |name: &str, glob: &Option<Glob>| {
            known.iter().any(|fact| fact == name || glob.as_ref().is_some_and(|glob| glob.is_match(fact)))
        };
        let patterns = self.wanted.iter().zip(&self.globs);
        let patterns = patterns.map(|(name, glob)| (name.as_str(), holds(name, glob)));
        ConditionResult::of_patterns(name, known, patterns)
    }

    fn wanted(&self) -> Vec<&str> {
        self.wanted.iter().map(String::as_str).collect()
    }

    fn needs(&self) -> Needs {
        let (branch, tags) = (self.fact == Fact::Branch, self.fact == Fact::Tags);
        Needs { branch, tags, ..Needs::default() }
    }
}
