//! What all requests share: the servers of the models, the rules, the sessions, the log and the counters.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use hyper::{HeaderMap, header};
use rulebook::agent::{Agent, Purpose};
use serde_json::json;

use super::coding::Room;
use super::conversations::{Conversations, agent};
use super::log::Log;
use super::metrics::Metrics;
use super::own_servers::{OwnServer, own_servers, program_name, settings_text};
use super::record::Record;
use super::rules::{Rules, Watch};
use super::scribe::Scribe;
use super::upstream::Upstream;
use crate::args::{Args, Proxy as Options};
use crate::lock::lock;
use crate::surface::wire::{Request, Role};

pub(super) struct Proxy {
    pub(super) upstream: Upstream,
    /// The servers that the settings of the program name.
    pub(super) own_servers: Vec<OwnServer>,
    /// For decompressed requests.
    pub(super) room: Room,
    pub(super) rules: Rules,
    pub(super) conversations: Conversations,
    pub(super) scribe: Scribe,
    pub(super) metrics: Metrics,
    pub(super) log: Log,
    pub(super) record: Option<Record>,
    pub(super) fail_closed: bool,
    /// The secret that clients must know.
    pub(super) token: Option<String>,
    requests: AtomicU64,
    /// The agent that runs with the proxy, for requests that do not name theirs.
    child: Option<&'static Agent>,
    /// The user agents that offered tools.
    with_tools: Mutex<HashSet<String>>,
}

impl Proxy {
    pub(super) fn new(
        args: Args,
        options: &Options,
        token: Option<String>,
        log: Log,
    ) -> anyhow::Result<Proxy> {
        let variable = |name: &str| std::env::var(name).ok();
        let mut upstream = Upstream::new(&options.upstream)?;
        if !options.command.is_empty() {
            upstream.learn(variable);
        }
        let own_servers = own_servers(&options.command, &variable, &settings_text);
        upstream.add_routes(own_servers.iter().map(|server| server.url.as_str()));
        // A missing root is reported now, not with the first request; and so are rules that are kept away, before a program
        // takes over the terminal.
        let child = options.command.first().and_then(|program| child_agent(program));
        let rules = Rules::new(args);
        let book = rules.now(child)?;
        let roots: Vec<PathBuf> =
            book.workspace.roots.roots.iter().map(|root| PathBuf::from(&root.path)).collect();
        let proxy = Proxy {
            upstream,
            own_servers,
            room: Room::default(),
            rules,
            conversations: Conversations::default(),
            scribe: Scribe::new(),
            metrics: Metrics::default(),
            log,
            record: options.record.as_deref().map(|folder| Record::at(folder, &roots)).transpose()?,
            fail_closed: options.fail_closed,
            token,
            requests: AtomicU64::new(0),
            child,
            with_tools: Mutex::default(),
        };
        let lines: String = proxy.rules.news(&book).into_iter().map(|alert| alert + "\n").collect();
        crate::out::print_aside(&lines);
        Ok(proxy)
    }

    /// Returns the agent that sent a request, as far as it is known.
    pub(super) fn agent(&self, headers: &HeaderMap) -> Option<&'static Agent> {
        agent(headers).or(self.child)
    }

    /// Whether a request belongs to an agent's conversation. Agents that offer tools also send requests without them, for
    /// titles and summaries; clients that never offer tools have no other requests.
    pub(super) fn is_main(&self, headers: &HeaderMap, request: &Request) -> bool {
        const MAX: usize = 256;
        let sent = headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let mut with_tools = lock(&self.with_tools);
        if request.has_tools && with_tools.len() < MAX {
            with_tools.insert(sent.to_owned());
        }
        let may_lack_tools = self.agent(headers).is_none_or(|agent| !agent.offers_tools);
        let is_main = request.has_tools || (may_lack_tools && !with_tools.contains(sent));
        is_main && request.entries.iter().any(|entry| entry.role != Role::Assistant)
    }

    /// Returns a number for a request.
    pub(super) fn next_number(&self) -> u64 {
        self.requests.fetch_add(1, Ordering::Relaxed)
    }

    /// Reports triggers that took too much work, each once.
    pub(super) fn report_unwatched(&self, watch: &Watch) {
        for condition in self.rules.unwatched(watch) {
            self.log.report("unwatched", json!({ "condition": condition }));
        }
    }

    /// Reports what cannot be watched, once.
    pub(super) fn report_once(&self, what: &str) {
        for news in self.rules.unreported([what.to_owned()].into_iter()) {
            self.log.report("unwatched", json!({ "condition": news }));
        }
    }

    /// Reports what cannot be read, or what clients read differently; returns whether it must not pass.
    pub(super) fn misread(&self, what: &str) -> bool {
        self.fail(&format!("{what} cannot be read, or clients read it differently: it may not be watched"));
        self.fail_closed
    }

    /// Counts and reports a failure of this server.
    pub(super) fn fail(&self, what: &str) {
        self.metrics.failures.add(1);
        self.log.report("failed", json!({ "what": what }));
    }
}

fn child_agent(program: &OsStr) -> Option<&'static Agent> {
    Agent::find(program_name(program), Purpose::Connect).ok().map(|named| named.agent)
}
