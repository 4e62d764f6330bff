//! The counters, in the text format of Prometheus.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

/// One counter or gauge.
pub(super) struct Count {
    name: &'static str,
    kind: &'static str,
    help: &'static str,
    value: AtomicU64,
}

impl Count {
    const fn new(name: &'static str, kind: &'static str, help: &'static str) -> Count {
        Count { name, kind, help, value: AtomicU64::new(0) }
    }

    pub(super) fn add(&self, number: u64) {
        self.value.fetch_add(number, Ordering::Relaxed);
    }

    pub(super) fn get(&self) -> u64 {
        self.value.load(Ordering::Relaxed)
    }

    pub(super) fn is_zero(&self) -> bool {
        self.get() == 0
    }

    pub(super) fn sub(&self, number: u64) {
        self.value.fetch_sub(number, Ordering::Relaxed);
    }
}

pub(super) struct Metrics {
    pub(super) connections: Count,
    pub(super) requests: Count,
    pub(super) streams: Count,
    pub(super) added: Count,
    pub(super) events: Count,
    pub(super) matches: Count,
    pub(super) interrupts: Count,
    pub(super) reminders: Count,
    pub(super) released: Count,
    pub(super) failures: Count,
    pub(super) upstream_errors: Count,
}

impl Default for Metrics {
    fn default() -> Metrics {
        let counter = |name, help| Count::new(name, "counter", help);
        let gauge = |name, help| Count::new(name, "gauge", help);
        Metrics {
            connections: gauge("rulebook_connections", "Open client connections."),
            requests: counter("rulebook_requests_total", "Client requests."),
            streams: gauge("rulebook_streams", "Responses being watched."),
            added: counter("rulebook_rules_added_total", "Rules added to requests."),
            events: counter("rulebook_events_total", "Watched response events."),
            matches: counter("rulebook_matches_total", "Matches of stream rules."),
            interrupts: counter("rulebook_interrupts_total", "Responses stopped and requested again."),
            reminders: counter(
                "rulebook_reminders_total",
                "Matches reported to the model in the next request.",
            ),
            released: counter("rulebook_released_total", "Texts forwarded because they were held too long."),
            failures: counter("rulebook_failures_total", "Internal failures."),
            upstream_errors: counter(
                "rulebook_upstream_errors_total",
                "Requests that did not reach the model's server.",
            ),
        }
    }
}

impl Metrics {
    pub(super) fn text(&self) -> String {
        let all = [
            &self.connections,
            &self.requests,
            &self.streams,
            &self.added,
            &self.events,
            &self.matches,
            &self.interrupts,
            &self.reminders,
            &self.released,
            &self.failures,
            &self.upstream_errors,
        ];
        let mut text = String::new();
        for Count { name, kind, help, value } in all {
            let value = value.load(Ordering::Relaxed);
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}");
        }
        text
    }
}
