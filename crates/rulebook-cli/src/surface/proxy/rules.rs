//! The current rules, and the monitors made of them.
//!
//! A request reloads them when they may have changed, which includes toggles and settings.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rulebook::agent::{Agent, Wiring};
use rulebook::evaluate::Verdict;
use rulebook::guard::{Governed, GuardMode};
use rulebook::resolve::Rulebook;
use rulebook::rule::Rule;
use rulebook::session::{Situation, StreamRules};
use rulebook::stream::Monitor;
use rulebook::stream::trigger::Trigger;
use rulebook::syntax::Syntax;
use rulebook_workspace::{AgentView, Loaded, Reach, Readings, UsedAgent, Workspace};

use crate::alert::{alert_line, alerts};
use crate::args::Args;
use crate::input::open_workspace;
use crate::lock::lock;
use crate::pace::Pace;

/// How often the rules are reloaded.
const PACE: Pace = Pace { shortest: Duration::from_secs(1), parts: 50 };

/// Longer than any reload takes.
const RELOADING: Duration = Duration::from_secs(3600);

/// How many sets of stream rules are kept.
const MAX_WATCHES: usize = 32;

/// Where the rules come from.
pub(super) struct Rules {
    args: Args,
    readings: Readings,
    now: Mutex<Option<Now>>,
    /// Monitors by what they watch for: rules that do not change keep theirs.
    watches: Mutex<HashMap<u64, Arc<Watch>>>,
    /// What was reported.
    reported: Mutex<HashSet<String>>,
    /// The agents that sent requests: their views are loaded with the rules.
    agents: Mutex<Vec<&'static Agent>>,
}

struct Now {
    book: Arc<Book>,
    reload_at: Instant,
}

/// The rules at one moment.
pub(super) struct Book {
    pub(super) workspace: Workspace,
    pub(super) book: Rulebook,
    /// What agents read by themselves.
    views: Vec<AgentView>,
    /// A hash of each trigger, by the rule's file.
    prints: HashMap<String, (Arc<Trigger>, u64)>,
    /// The last monitor, and the addresses of its rules: most requests watch for the same rules.
    last_watch: Mutex<Option<(Vec<usize>, Arc<Watch>)>>,
    /// What removes rules, one line each.
    alerts: Vec<String>,
    /// Who parses code for syntax triggers.
    pub(super) syntax: Option<Arc<dyn Syntax>>,
    /// What the guard does, if it is on, and what it covers.
    pub(super) guard: Option<(GuardMode, Governed)>,
}

impl Book {
    /// The first root.
    pub(super) fn root(&self) -> &str {
        &self.workspace.roots.roots[0].path
    }

    /// What an agent reads by itself.
    pub(super) fn view(&self, agent: &'static Agent) -> Option<&AgentView> {
        self.views.iter().find(|view| view.used.agent.name == agent.name)
    }

    /// Whether it has the view of an agent.
    fn is_for(&self, agent: Option<&'static Agent>) -> bool {
        agent.is_none_or(|agent| self.view(agent).is_some())
    }

    /// Whether no rule is enabled, and the guard is off.
    pub(super) fn is_empty(&self) -> bool {
        self.guard.is_none() && self.book.rules().all(|(_, off)| off.is_some())
    }
}

/// Stream rules that are watched together.
pub(super) struct Watch {
    pub(super) monitor: Mutex<Monitor>,
    pub(super) rules: StreamRules,
}

impl Rules {
    pub(super) fn new(args: Args) -> Rules {
        Rules {
            args,
            readings: Readings::default(),
            now: Mutex::default(),
            watches: Mutex::default(),
            reported: Mutex::default(),
            agents: Mutex::default(),
        }
    }

    /// The rules for an agent, unless they must be reloaded first.
    pub(super) fn known(&self, agent: Option<&'static Agent>) -> Option<Arc<Book>> {
        let now = self.now.try_lock().ok()?;
        let is_fresh = |now: &&Now| Instant::now() < now.reload_at && now.book.is_for(agent);
        now.as_ref().filter(is_fresh).map(|now| Arc::clone(&now.book))
    }

    /// The rules for an agent, reloaded if stale. If the workspace cannot be opened, the known rules stay. During a reload other
    /// requests get the rules known before, but none that were loaded without the view of their agent.
    pub(super) fn now(&self, agent: Option<&'static Agent>) -> anyhow::Result<Arc<Book>> {
        agent.into_iter().for_each(|agent| self.meet(agent));
        let mut now = lock(&self.now);
        let started = Instant::now();
        let known = now.as_ref().map(|now| Arc::clone(&now.book)).filter(|book| book.is_for(agent));
        if let (Some(known), Some(now)) = (&known, &mut *now) {
            if started < now.reload_at {
                return Ok(Arc::clone(known));
            }
            now.reload_at = started + RELOADING;
        }
        if known.is_some() {
            drop(now);
            let (book, reload_at) = self.reload(started, known)?;
            *lock(&self.now) = Some(Now { book: Arc::clone(&book), reload_at });
            return Ok(book);
        }
        // Requests of this agent that arrive together wait for its view.
        let before = now.as_ref().map(|now| Arc::clone(&now.book));
        let (book, reload_at) = self.reload(started, before)?;
        *now = Some(Now { book: Arc::clone(&book), reload_at });
        Ok(book)
    }

    /// Takes in that an agent sent a request.
    fn meet(&self, agent: &'static Agent) {
        let mut agents = lock(&self.agents);
        if agents.iter().all(|known| known.name != agent.name) {
            agents.push(agent);
        }
    }

    /// The rules on disk, and when to reload them.
    fn reload(&self, started: Instant, known: Option<Arc<Book>>) -> anyhow::Result<(Arc<Book>, Instant)> {
        let opened = open_workspace(&self.args).map(|workspace| {
            let used = |agent: &&'static Agent| UsedAgent::new(agent, &[Wiring::Proxy]);
            let agents = lock(&self.agents).iter().map(used).collect();
            let (loaded, views) = workspace.reload_with(Reach::Tree, &self.readings, agents);
            let Loaded { book, diagnostics, .. } = loaded;
            let alerts = alerts(&diagnostics).map(alert_line).collect();
            let prints = prints(&book, known.as_deref());
            let syntax = workspace.watching_parser(&book);
            let guard = workspace.guard().map(|mode| (mode, workspace.governed()));
            let last_watch = Mutex::default();
            Arc::new(Book { workspace, book, views, prints, last_watch, alerts, syntax, guard })
        });
        let book = match (opened, known) {
            (Ok(book), _) => book,
            (Err(_), Some(known)) => known,
            (Err(error), None) => return Err(error),
        };
        Ok((book, started + PACE.pause(started.elapsed())))
    }

    /// The alerts that were not reported yet.
    pub(super) fn news(&self, book: &Book) -> Vec<String> {
        if book.alerts.is_empty() {
            return Vec::new();
        }
        self.unreported(book.alerts.iter().cloned())
    }

    /// The conditions that are not watched, or not everywhere, and were not reported yet.
    pub(super) fn unwatched(&self, watch: &Watch) -> Vec<String> {
        let monitor = lock(&watch.monitor);
        let left_out = monitor.left_out().iter().map(|(rule, condition)| (rule.as_str(), condition.as_str()));
        let unjudged = monitor.unjudged().iter().map(|(_, why)| why.clone());
        self.unreported(
            left_out
                .chain(monitor.gave_up())
                .map(|(rule, condition)| format!("{rule}: {condition}"))
                .chain(unjudged),
        )
    }

    pub(super) fn unreported(&self, news: impl Iterator<Item = String>) -> Vec<String> {
        let mut reported = lock(&self.reported);
        news.filter(|news| reported.insert(news.clone())).collect()
    }

    /// What watches for the stream rules; nothing if there are none.
    pub(super) fn watch(&self, book: &Book, situation: &Situation<'_, '_>) -> Option<Arc<Watch>> {
        let rules = situation.stream_rules();
        let ordered = situation.ordered_rules();
        if rules.is_empty() && ordered.is_empty() && book.guard.is_none() {
            return None;
        }
        let address = |rule: &Rule| std::ptr::from_ref(rule).addr();
        let watched = rules.iter().flat_map(|verdict| {
            [address(verdict.rule)].into_iter().chain(verdict.other_roots.iter().copied())
        });
        let addresses: Vec<usize> = watched.chain(ordered.iter().copied().map(address)).collect();
        let mut last = lock(&book.last_watch);
        if let Some((known, watch)) = &*last
            && *known == addresses
        {
            return Some(Arc::clone(watch));
        }
        let watch = self.find_watch(book, situation, &rules, &ordered);
        *last = Some((addresses, Arc::clone(&watch)));
        Some(watch)
    }

    /// What watches for these rules, or for others with the same content.
    fn find_watch(
        &self,
        book: &Book,
        situation: &Situation<'_, '_>,
        rules: &[&Verdict<'_>],
        ordered: &[&Rule],
    ) -> Arc<Watch> {
        let mut hasher = DefaultHasher::new();
        for Verdict { rule, other_roots, .. } in rules {
            let print = book.prints.get(&rule.origin.display).map(|(_, print)| print);
            let Rule { name, body, is_mandatory, .. } = rule;
            (print, name, body, is_mandatory, other_roots, situation.stream.modes_of(rule)).hash(&mut hasher);
        }
        for Rule { name, body, origin, requirements, .. } in ordered {
            (name, body, &origin.display, format!("{requirements:?}")).hash(&mut hasher);
        }
        book.guard.is_some().hash(&mut hasher);
        let key = hasher.finish();
        let mut watches = lock(&self.watches);
        if let Some(known) = watches.get(&key) {
            return Arc::clone(known);
        }
        let triggers = rules.iter().filter_map(|verdict| verdict.stream_rule());
        let watch = Arc::new(Watch {
            monitor: Mutex::new(
                Monitor::new(triggers, situation.roots.clone()).with_syntax(situation.syntax.cloned()),
            ),
            rules: StreamRules::new(rules.iter().map(|verdict| verdict.rule), &situation.stream)
                .with_order(ordered.iter().copied(), situation.roots)
                .keeping_calls(book.guard.is_some()),
        });
        if watches.len() >= MAX_WATCHES {
            watches.clear();
        }
        watches.insert(key, Arc::clone(&watch));
        watch
    }
}

/// Hashes each trigger. Triggers that did not change since the last load keep their hash.
fn prints(book: &Rulebook, last: Option<&Book>) -> HashMap<String, (Arc<Trigger>, u64)> {
    let print = |rule: &Rule| {
        let trigger = rule.stream.as_ref()?;
        let source = &rule.origin.display;
        let known = last.and_then(|last| last.prints.get(source));
        let print = match known.filter(|(known, _)| Arc::ptr_eq(known, trigger)) {
            Some((_, print)) => *print,
            None => BuildHasherDefault::<DefaultHasher>::default().hash_one(format!("{trigger:?}")),
        };
        Some((source.clone(), (Arc::clone(trigger), print)))
    };
    book.rules().filter_map(|(rule, _)| print(rule)).collect()
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[test]
    fn no_request_gets_rules_without_the_view_of_its_agent() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_str().unwrap();
        let rules = Rules::new(Args::parse_from(["rulebook", "--root", root, "status"]));
        rules.now(None).unwrap();
        let agent = Agent::named("goose");
        // Another request of the agent is loading its view.
        agent.into_iter().for_each(|agent| rules.meet(agent));
        lock(&rules.now).as_mut().unwrap().reload_at = Instant::now() + RELOADING;
        assert!(rules.known(agent).is_none());
        assert!(rules.now(agent).unwrap().view(agent.unwrap()).is_some());
        assert!(rules.known(agent).is_some());
    }
}
