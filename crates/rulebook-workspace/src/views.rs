//! Views: the rules as meant and as each agent reads them, loaded once for many targets.

use rulebook::agent::{AddPolicy, Agent};
use rulebook::compare::Difference;
use rulebook::evidence::Evidence;
use rulebook::matrix::{Matrix, NativeReading, Subject, matrix};
use rulebook::render::Budget;
use rulebook::rule::Rule;

use crate::agents::UsedAgent;
use crate::hosts::Host;
use crate::load::Readings;
use crate::sources::{Loaded, Reach, Sources};
use crate::workspace::Workspace;

/// The rules as meant, and as some agents read them by themselves.
#[derive(Debug)]
#[non_exhaustive]
pub struct Views {
    /// The rules as meant.
    pub meant: Loaded,
    /// One per agent.
    pub agents: Vec<AgentView>,
    /// How much Rulebook adds to what an agent has in context.
    budget: Budget,
}

/// The rules as one agent reads them by itself, and how it is connected to Rulebook.
#[derive(Debug)]
#[non_exhaustive]
pub struct AgentView {
    /// The agent.
    pub used: UsedAgent,
    /// What it reads by itself.
    pub native: Loaded,
    add: AddPolicy,
    /// The positions of the rules of its own format that it treats differently than they are meant.
    differences: Vec<(usize, Difference)>,
}

impl Sources<'_> {
    /// Reads the files as meant, and as each of these agents does.
    pub fn views(&self, agents: Vec<UsedAgent>) -> Views {
        self.views_with(self.meant(), agents)
    }

    /// Adds the views of agents to rules that are loaded as meant.
    pub fn views_with(&self, meant: Loaded, agents: Vec<UsedAgent>) -> Views {
        let view = |used: UsedAgent| {
            let (native, differences) = self.native_and_differences(used.agent, &meant.book);
            AgentView { add: self.add(&used), used, native, differences }
        };
        Views {
            agents: agents.into_iter().map(view).collect(),
            meant,
            budget: self.workspace().settings.budget,
        }
    }

    /// Reads the files as one agent does.
    pub fn view(&self, used: UsedAgent) -> AgentView {
        AgentView { native: self.native(used.agent), add: self.add(&used), used, differences: Vec::new() }
    }

    fn add(&self, used: &UsedAgent) -> AddPolicy {
        self.workspace().settings.agents.of(used.agent).add
    }
}

impl Workspace {
    /// Reads the rules as [`Workspace::reload`] does, and as each of these agents does by itself.
    pub fn reload_with<'w>(
        &'w self,
        reach: Reach<'w>,
        readings: &'w Readings,
        agents: Vec<UsedAgent>,
    ) -> (Loaded, Vec<AgentView>) {
        let sources = self.sources_since(reach, readings);
        let loaded = (sources.meant(), agents.into_iter().map(|used| sources.view(used)).collect());
        readings.drop_unused();
        loaded
    }
}

impl Views {
    /// Evaluates every rule for every agent.
    pub fn matrix(&self, evidence: &Evidence) -> Matrix<'_> {
        let natives: Vec<NativeReading<'_>> = self.agents.iter().map(|view| view.reading(evidence)).collect();
        let subjects: Vec<Subject<'_, '_>> =
            self.agents.iter().zip(&natives).map(|(view, native)| view.subject(native)).collect();
        matrix(&self.meant.book, evidence, &subjects, self.budget)
    }

    /// The rules of the agents' own formats that they treat differently than they are meant.
    pub fn differences(&self) -> Vec<(&Rule, &'static Agent, &Difference)> {
        let rules: Vec<&Rule> = self.meant.book.rules().map(|(rule, _)| rule).collect();
        let mut all = Vec::new();
        for view in &self.agents {
            let own =
                view.differences.iter().map(|(at, difference)| (rules[*at], view.used.agent, difference));
            all.extend(own);
        }
        all
    }
}

impl AgentView {
    /// The agent, with what it reads by itself for some evidence.
    pub fn subject<'v, 'r>(&'v self, native: &'v NativeReading<'r>) -> Subject<'v, 'r> {
        Subject {
            agent: self.used.agent,
            name: condition_name(self.used.agent),
            native,
            wired: &self.used.wired,
            add: &self.add,
            started_in: None,
        }
    }

    /// What it does by itself for some evidence.
    pub fn reading(&self, evidence: &Evidence) -> NativeReading<'_> {
        NativeReading::new(&self.native.book, evidence)
    }
}

/// The name that conditions on the agent match: the one its hooks report.
fn condition_name(agent: &Agent) -> &'static str {
    Host::of(agent).filter(|host| host.agent == agent.name).map_or(agent.name, |host| host.name)
}
