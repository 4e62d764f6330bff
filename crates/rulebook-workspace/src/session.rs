//! Sessions of a workspace: what the disk adds to the engine's session.

use std::fmt;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;

use rulebook::agent::{Agent, Purpose, Wiring};
use rulebook::evaluate::Verdict;
use rulebook::evidence::{Input, ToolCall};
use rulebook::matrix::{evaluate_for, handlings};
use rulebook::session::{
    Event, HostProfile, Moment, PausedTurn, Report, Session, SessionStore as _, Situation, Turn,
};

use crate::hosts::HOSTS;
use crate::ledger::{Keeper, Ledger, SessionName, delivered_by_proxy, family, is_relayed, relayed, together};
use crate::workspace::Workspace;

/// A session of an agent that uses the library, kept in a ledger. The workspace is borrowed or shared.
#[derive(Debug)]
pub struct AgentSession<W> {
    workspace: W,
    name: String,
    /// The agent of this name, if it is a known one: then it reads some rules by itself.
    agent: Option<&'static Agent>,
    /// Whether another program runs the agent's calls: it shows several answers, with what ran between them, as one.
    is_relayed: bool,
    keeper: Keeper,
}

/// Why a session cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionError {
    /// What is wrong with its ledger.
    pub reason: String,
}

impl fmt::Display for SessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for SessionError {}

impl<W: Deref<Target = Workspace>> AgentSession<W> {
    fn open(workspace: W, name: &str, keeper: Keeper) -> Result<AgentSession<W>, SessionError> {
        match keeper.lost() {
            // Without a home there is no ledger to resume: the session is kept in memory.
            Some(reason) if workspace.homes.home.is_some() => Err(SessionError { reason: reason.to_owned() }),
            _ => Ok(AgentSession {
                workspace,
                agent: connected(name),
                name: name.to_owned(),
                is_relayed: false,
                keeper,
            }),
        }
    }

    /// Decides a turn: one request to the model. The input is what is new since the last turn: the user's message, if this
    /// request starts with one, and the tool calls that were made.
    pub fn turn(&mut self, input: Input) -> Turn<'_> {
        let AgentSession { workspace, name, agent, is_relayed, keeper } = self;
        keeper.refresh();
        let workspace: &Workspace = workspace;
        let input = Input { agent: Some(name.clone()), ..input };
        let moment = if input.message.is_some() { Moment::Prompt } else { Moment::After };
        let prepared = workspace.prepare(&keeper.session().input(input.clone()));
        let view = agent.map(|agent| prepared.view(agent, &[Wiring::Hook]));
        let native = view.as_ref().map(|view| view.reading(&prepared.evidence));
        let subject = view.as_ref().zip(native.as_ref()).map(|(view, native)| view.subject(native));
        let evaluation =
            evaluate_for(&prepared.book, &prepared.evidence, subject.as_ref(), workspace.settings.budget);
        let handling = |verdicts: &[&Verdict<'_>]| handlings(subject.as_ref(), verdicts);
        let report = Report {
            paths: input.tools.iter().map(|call| workspace.touched(call)).collect(),
            input,
            ..Report::new(HostProfile::plain(name), moment)
        };
        let has_requirements =
            !*is_relayed && prepared.book.rules().any(|(rule, _)| rule.requirements.is_some());
        let shared = keeper.name().filter(|_| has_requirements);
        let shared = shared.and_then(|(host, session, agent)| workspace.family(host, session, agent));
        let syntax = workspace.watching_parser(&prepared.book);
        let situation = Situation {
            stream: workspace.settings.stream,
            handling: &handling,
            shared: shared.as_ref(),
            follows_order: !*is_relayed,
            syntax: syntax.as_ref(),
            ..Situation::new(&evaluation, &prepared.evidence, &workspace.roots)
        };
        Turn::new(keeper, &report, &situation, workspace.settings.budget)
    }

    /// Records the calls that the agent made since its turn was decided. They belong to that turn, and are evidence for the
    /// next one.
    pub fn called(&mut self, calls: &[ToolCall]) {
        let event = |call| Event::tool(call, self.workspace.touched(call));
        let events: Vec<Event> = calls.iter().map(event).collect();
        self.keeper.record(events, Vec::new());
    }

    /// The context was compacted or cleared: everything is due again.
    pub fn compacted(&mut self) {
        self.keeper.record(vec![Event::Compacted], Vec::new());
    }

    /// Continues a turn that was paused.
    pub fn resume(&mut self, turn: PausedTurn) -> Turn<'_> {
        turn.resume(&mut self.keeper)
    }

    /// Why the session is no longer kept; it continues in memory.
    pub fn lost(&self) -> Option<&str> {
        self.keeper.lost()
    }
}

impl Workspace {
    /// Opens or resumes a session of an agent. The id is the agent's own name for the conversation.
    pub fn session(&self, agent: &str, id: &str) -> Result<AgentSession<&Workspace>, SessionError> {
        AgentSession::open(self, agent, self.keeper(agent, id, None))
    }

    /// The same for an agent that another program is connected to. The session is listed under the name of that program.
    pub fn relayed_session(
        &self,
        host: &str,
        agent: &str,
        id: &str,
    ) -> Result<AgentSession<&Workspace>, SessionError> {
        let mut opened = AgentSession::open(self, agent, self.keeper(host, id, None))?;
        for received in self.received_by_hooks(opened.agent, id) {
            opened.keeper.session().adopt(&received);
        }
        Ok(AgentSession { is_relayed: true, ..opened })
    }

    /// What the hooks of an agent delivered in the session of this name.
    fn received_by_hooks(&self, agent: Option<&'static Agent>, id: &str) -> Vec<Session> {
        let Some((agent, state)) = agent.zip(self.state_folder()) else { return Vec::new() };
        let hosts = HOSTS.iter().filter(|host| host.agent == agent.name && host.context_limit.is_some());
        let kept =
            hosts.filter_map(|host| Ledger::of(&state, host.name, id, None).recall(self.root_paths()).ok());
        kept.map(|kept| kept.session).collect()
    }

    /// The same for a host that cannot hold a borrow, such as a binding.
    pub fn shared_session(
        self: &Arc<Self>,
        agent: &str,
        id: &str,
    ) -> Result<AgentSession<Arc<Workspace>>, SessionError> {
        AgentSession::open(Arc::clone(self), agent, self.keeper(agent, id, None))
    }

    /// The same for a sub-agent, which has a context of its own.
    pub fn sub_agent_session(
        &self,
        agent: &str,
        id: &str,
        sub_agent: &str,
    ) -> Result<AgentSession<&Workspace>, SessionError> {
        AgentSession::open(self, agent, self.keeper(agent, id, Some(sub_agent)))
    }

    /// The folder below which Rulebook keeps its state.
    pub fn state_folder(&self) -> Option<PathBuf> {
        self.homes.state.as_ref().map(|state| state.join("rulebook"))
    }

    /// The session of a host, with the ledger that keeps it.
    pub fn keeper(&self, host: &str, session: &str, agent: Option<&str>) -> Keeper {
        let (first, others) = self.roots.roots.split_first().expect("a workspace has a root");
        let (root, more_roots) = (&first.path, others.iter().map(|root| root.path.clone()).collect());
        Keeper::open(self.state_folder().as_deref(), &SessionName { host, session, agent, root, more_roots })
    }

    /// A session together with its sub-agents, which share the state of requirements, and with what the proxy refused in it;
    /// `None` if the ledger of this agent is all there is.
    pub fn family(&self, host: &str, session: &str, agent: Option<&str>) -> Option<Session> {
        family(&self.state_folder()?, host, session, agent, &self.root_paths())
    }

    /// Whether the proxy or `rulebook acp` relays the session of this name.
    pub fn is_relayed(&self, session: &str) -> bool {
        self.state_folder().is_some_and(|state| is_relayed(&state, session))
    }

    /// What the proxy delivered in the session of this name, if it relays the present turn.
    pub fn delivered_by_proxy(&self, host: &str, session: &str, agent: Option<&str>) -> Option<Session> {
        delivered_by_proxy(&self.state_folder()?, host, session, agent, &self.root_paths())
    }

    /// A session of a host, with what the proxy and `rulebook acp` stopped in it; `None` if neither relays it.
    pub fn relayed(&self, host: &str, session: &str, agent: Option<&str>) -> Option<Session> {
        relayed(&self.state_folder()?, host, session, agent, &self.root_paths())
    }

    /// The state of requirements in a session with its sub-agents.
    pub fn order_of(&self, host: &str, session: &str) -> Session {
        let state = self.state_folder();
        state.map(|state| together(&state, host, session, &self.root_paths())).unwrap_or_default()
    }

    fn root_paths(&self) -> Vec<String> {
        self.roots.roots.iter().map(|root| root.path.clone()).collect()
    }

    /// The files a tool call is about, relative to their root, or absolute if there are several roots.
    pub fn touched(&self, call: &ToolCall) -> Vec<String> {
        let (evidence, _) = self.evidence(&Input { tools: vec![call.clone()], ..Input::default() });
        evidence.paths.iter().map(|seen| self.roots.address(seen.root, &seen.path)).collect()
    }
}

/// The agent that a program connects as.
fn connected(name: &str) -> Option<&'static Agent> {
    Agent::find(name, Purpose::Connect).ok().map(|named| named.agent)
}
