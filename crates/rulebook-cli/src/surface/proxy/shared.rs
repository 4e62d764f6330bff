//! What all requests share: the servers of the models, the rules, the sessions, the log and the counters.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::json;

use super::conversations::Conversations;
use super::log::Log;
use super::metrics::Metrics;
use super::record::Record;
use super::rules::{Rules, Watch};
use super::scribe::Scribe;
use super::upstream::Upstream;
use crate::args::{Args, Proxy as Options};

pub(super) struct Proxy {
    pub(super) upstream: Upstream,
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
}

impl Proxy {
    pub(super) fn new(
        args: Args,
        options: &Options,
        token: Option<String>,
        log: Log,
    ) -> anyhow::Result<Proxy> {
        let mut upstream = Upstream::new(&options.upstream)?;
        if !options.command.is_empty() {
            upstream.learn(|name| std::env::var(name).ok());
        }
        let proxy = Proxy {
            upstream,
            rules: Rules::new(args),
            conversations: Conversations::default(),
            scribe: Scribe::new(),
            metrics: Metrics::default(),
            log,
            record: options.record.as_deref().map(Record::at).transpose()?,
            fail_closed: options.fail_closed,
            token,
            requests: AtomicU64::new(0),
        };
        // A missing root is reported now, not with the first request; and so are rules that are kept away, before a program
        // takes over the terminal.
        let book = proxy.rules.now()?;
        let lines: String = proxy.rules.news(&book).into_iter().map(|alert| alert + "\n").collect();
        crate::out::print_aside(&lines);
        Ok(proxy)
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

    /// Counts and reports a failure of this server.
    pub(super) fn fail(&self, what: &str) {
        self.metrics.failures.add(1);
        self.log.report("failed", json!({ "what": what }));
    }
}
