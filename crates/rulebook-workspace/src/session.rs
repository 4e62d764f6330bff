//! Sessions of a workspace: what the disk adds to the engine's session.

use std::path::PathBuf;

use rulebook::agent::Agent;
use rulebook::diagnostic::Code;
use rulebook::evaluate::Verdict;
use rulebook::evidence::{Input, ToolCall};
use rulebook::rule::Rule;
use rulebook::session::Native;

use crate::ask::Asked;
use crate::ledger::{Keeper, SessionName};
use crate::workspace::Workspace;

impl Workspace {
    /// The folder below which Rulebook keeps its state.
    pub fn state_folder(&self) -> Option<PathBuf> {
        self.homes.state.as_ref().map(|state| state.join("rulebook"))
    }

    /// The session of a host, with the ledger that keeps it.
    pub fn keeper(&self, host: &str, session: &str, agent: Option<&str>) -> Keeper {
        let root = &self.roots.roots[0].path;
        Keeper::open(self.state_folder().as_deref(), &SessionName { host, session, agent, root })
    }

    /// The files a tool call is about, relative to their root.
    pub fn touched(&self, call: &ToolCall) -> Vec<String> {
        let (evidence, _) = self.gather(&Input { tools: vec![call.clone()], ..Input::default() });
        evidence.paths.into_iter().map(|seen| seen.path).collect()
    }

    /// How an agent treats the file of a rule.
    pub fn native_state(&self, agent: &Agent, rule: &Rule) -> Native {
        Native::of(agent, rule, &|format| self.takes(format))
    }

    /// How an agent treats the files of rules that apply.
    pub fn native_view(&self, agent: &Agent, verdicts: &[&Verdict<'_>], asked: &Asked<'_>) -> Vec<Native> {
        let mut view: Vec<Native> =
            verdicts.iter().map(|verdict| self.native_state(agent, verdict.rule)).collect();
        if view.contains(&Native::Read) {
            let differences = asked.differences_of(agent);
            let never = |rule: &Rule| {
                differences.iter().any(|(other, difference)| {
                    difference.code() == Code::AgentNever && other.origin.display == rule.origin.display
                })
            };
            for (native, verdict) in view.iter_mut().zip(verdicts) {
                if *native == Native::Read && never(verdict.rule) {
                    *native = Native::Never;
                }
            }
        }
        view
    }
}
