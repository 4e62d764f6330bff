//! Conditions on one named fact of the evidence: mode, provider, model, agent, tags, os, env, branch.

use super::{
    Condition, ConditionKind, ConditionResult, Facts, Needs, PatternBase, Tell, Test, name_glob, words,
};
use crate::diagnostic::{Code, nearest};
use crate::evidence::{Evidence, system_name};
use crate::frontmatter::Node;
use crate::glob::Glob;

pub(super) const MODE: ConditionKind = ConditionKind {
    key: "mode",
    holds: "the current mode is one of those named",
    build: |node, _, tell| build("mode", node, tell, exactly, |e| e.mode.as_slice()),
};
pub(super) const PROVIDER: ConditionKind = ConditionKind {
    key: "provider",
    holds: "any glob matches the model's provider",
    build: |node, _, tell| build("provider", node, tell, name_glob, |e| e.provider.as_slice()),
};
pub(super) const MODEL: ConditionKind = ConditionKind {
    key: "model",
    holds: "any glob matches the model's name",
    build: |node, _, tell| build("model", node, tell, name_glob, |e| e.model.as_slice()),
};
pub(super) const AGENT: ConditionKind = ConditionKind {
    key: "agent",
    holds: "any glob matches the agent's name",
    build: |node, _, tell| build("agent", node, tell, name_glob, |e| e.agent.as_slice()),
};
pub(super) const TAGS: ConditionKind = ConditionKind {
    key: "tags",
    holds: "the workspace carries any of the tags, by its settings or by what it is made of",
    build: |node, _, tell| build("tags", node, tell, exactly, |e| e.tags.as_deref().unwrap_or_default()),
};
pub(super) const OS: ConditionKind = ConditionKind {
    key: "os",
    holds: "the operating system is one of `darwin`, `linux`, `windows` named",
    build: build_os,
};
pub(super) const ENV: ConditionKind = ConditionKind {
    key: "env",
    holds: "the environment's name equals one of those given",
    build: |node, _, tell| build("env", node, tell, exactly, |e| e.env.as_slice()),
};
pub(super) const BRANCH: ConditionKind = ConditionKind {
    key: "branch",
    holds: "any glob matches the git branch",
    build: |node, _, tell| build("branch", node, tell, name_glob, |e| e.branch.as_slice()),
};

#[derive(Debug)]
struct Named {
    key: &'static str,
    wanted: Vec<String>,
    globs: Vec<Option<Glob>>,
    fact: fn(&Evidence) -> &[String],
}

type Compile = fn(&str, &Node, &mut Tell<'_>) -> Option<Glob>;

/// A name that stands for itself.
fn exactly(_: &str, _: &Node, _: &mut Tell<'_>) -> Option<Glob> {
    None
}

fn build(
    key: &'static str,
    node: &Node,
    tell: &mut Tell<'_>,
    compile: Compile,
    fact: fn(&Evidence) -> &[String],
) -> Option<Condition> {
    let wanted = words(node, tell);
    let globs = wanted.iter().map(|name| compile(name, node, tell)).collect();
    (!wanted.is_empty()).then(|| Condition::new(key, Named { key, wanted, globs, fact }))
}

const SYSTEMS: &[&str] = &["darwin", "linux", "windows"];

fn build_os(node: &Node, _: &PatternBase, tell: &mut Tell<'_>) -> Option<Condition> {
    let mut wanted: Vec<String> =
        words(node, tell).iter().map(|name| system_name(&name.to_lowercase()).to_owned()).collect();
    wanted.retain(|name| {
        let known = SYSTEMS.contains(&name.as_str());
        if !known {
            let near = nearest(name, SYSTEMS.iter().copied()).map(|near| format!("; did you mean `{near}`?"));
            let message =
                format!("`{name}` is not one of `darwin`, `linux`, `windows`{}", near.unwrap_or_default());
            tell(Code::BadValue, node.span.clone(), message);
        }
        known
    });
    let globs = wanted.iter().map(|_| None).collect();
    (!wanted.is_empty())
        .then(|| Condition::new("os", Named { key: "os", wanted, globs, fact: |e| e.os.as_slice() }))
}

impl Test for Named {
    fn ask(&self, facts: &Facts<'_>) -> ConditionResult {
        let known = (self.fact)(facts.evidence);
        if known.is_empty() && !(self.key == "tags" && facts.evidence.tags.is_some()) {
            return ConditionResult::unknown(self.key);
        }
        let holds = |name: &str, glob: &Option<Glob>| {
            known.iter().any(|fact| fact == name || glob.as_ref().is_some_and(|glob| glob.is_match(fact)))
        };
        let matched: Vec<String> = self
            .wanted
            .iter()
            .zip(&self.globs)
            .filter(|(name, glob)| holds(name, glob))
            .map(|(name, _)| name.clone())
            .collect();
        if matched.is_empty() {
            let known =
                if known.is_empty() { "nothing".to_owned() } else { format!("`{}`", known.join("`, `")) };
            return ConditionResult::no(format!(
                "{} is {known}, wanted `{}`",
                self.key,
                self.wanted.join("`, `")
            ));
        }
        ConditionResult::yes(matched)
    }

    fn needs(&self) -> Needs {
        Needs { branch: self.key == "branch", tags: self.key == "tags", ..Needs::default() }
    }
}
