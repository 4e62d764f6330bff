//! The rules as they are now, and the monitors made of them.
//!
//! A request looks whether they changed, at most one part in fifty of the time: that sees switches and settings too.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rulebook::condition::Needs;
use rulebook::resolve::Rulebook;
use rulebook::rule::Rule;
use rulebook::stream::Monitor;
use rulebook::stream::policy::{ContextMode, StreamModes};
use rulebook::stream::scope::StreamScope;
use rulebook_workspace::{Loaded, Reach, Workspace};

use crate::alert::{alert_line, alerts};
use crate::args::Args;
use crate::input::open_workspace;
use crate::lock::lock;
use crate::pace::Pace;

const PACE: Pace = Pace { shortest: Duration::from_secs(1), parts: 50 };

/// Longer than any look takes.
const LOOKING: Duration = Duration::from_secs(3600);

/// More sets of stream rules than this are not kept.
const MAX_WATCHES: usize = 32;

/// Where the rules come from.
pub(super) struct Rules {
    args: Args,
    now: Mutex<Option<Now>>,
    /// Monitors by what they watch for: rules that stay the same keep theirs.
    watches: Mutex<HashMap<u64, Arc<Watch>>>,
    /// What was told.
    told: Mutex<HashSet<String>>,
}

struct Now {
    book: Arc<Book>,
    look_again: Instant,
}

/// The rules of a moment.
pub(super) struct Book {
    pub(super) workspace: Workspace,
    pub(super) book: Rulebook,
    /// What tells the stream rules from what they were or will be, by their files.
    prints: HashMap<String, u64>,
    /// Whether some rule asks for facts that must be read from files.
    pub(super) needs_files: bool,
    /// What keeps rules away, a line each.
    alerts: Vec<String>,
}

impl Book {
    /// Where conversations are kept.
    pub(super) fn state(&self) -> Option<PathBuf> {
        self.workspace.homes.state.as_ref().map(|state| state.join("rulebook"))
    }

    /// Whether no rule is switched on.
    pub(super) fn is_empty(&self) -> bool {
        self.book.rules().all(|(_, off)| off.is_some())
    }
}

/// Stream rules that watch together.
pub(super) struct Watch {
    pub(super) monitor: Mutex<Monitor>,
    pub(super) rules: HashMap<String, Watching>,
    pub(super) hears_thinking: bool,
    /// Whether one of them is a rule that nobody may switch off.
    pub(super) is_mandatory: bool,
    /// Whether what was said before an interrupt may be wanted.
    pub(super) keeps: bool,
}

/// What is needed of a rule when it fires.
#[derive(Clone)]
pub(super) struct Watching {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) path: String,
    pub(super) body: String,
    pub(super) modes: StreamModes,
    /// Nobody may switch it off.
    pub(super) is_mandatory: bool,
}

impl Rules {
    pub(super) fn new(args: Args) -> Rules {
        Rules { args, now: Mutex::new(None), watches: Mutex::default(), told: Mutex::default() }
    }

    /// The rules, where it is not yet time to look anew and nobody does.
    pub(super) fn known(&self) -> Option<Arc<Book>> {
        let now = self.now.try_lock().ok()?;
        now.as_ref().filter(|now| Instant::now() < now.look_again).map(|now| Arc::clone(&now.book))
    }

    /// The rules, looked at anew where that was long ago. What cannot be opened any more stays as it was. Whoever asks while
    /// somebody looks has what was known before.
    pub(super) fn now(&self) -> anyhow::Result<Arc<Book>> {
        let mut now = lock(&self.now);
        let started = Instant::now();
        let Some(known) = now.as_mut() else {
            let (book, look_again) = self.look(started, None)?;
            *now = Some(Now { book: Arc::clone(&book), look_again });
            return Ok(book);
        };
        let before = Arc::clone(&known.book);
        if started < known.look_again {
            return Ok(before);
        }
        known.look_again = started + LOOKING;
        drop(now);
        let (book, look_again) = self.look(started, Some(before))?;
        let mut now = lock(&self.now);
        *now = Some(Now { book: Arc::clone(&book), look_again });
        Ok(book)
    }

    /// The rules as the disk has them, and when to look again.
    fn look(&self, started: Instant, known: Option<Arc<Book>>) -> anyhow::Result<(Arc<Book>, Instant)> {
        let opened = open_workspace(&self.args).map(|workspace| {
            let Loaded { book, diagnostics } = workspace.load(Reach::Tree);
            let alerts = alerts(&diagnostics).map(alert_line).collect();
            let stream = book.rules().map(|(rule, _)| rule).filter(|rule| rule.stream.is_some());
            let prints = stream.map(|rule| (rule.origin.display.clone(), fingerprint(rule))).collect();
            let needs_files = book.needs() != Needs::default();
            Arc::new(Book { workspace, book, prints, needs_files, alerts })
        });
        let book = match (opened, known) {
            (Ok(book), _) => book,
            (Err(_), Some(known)) => known,
            (Err(error), None) => return Err(error),
        };
        Ok((book, started + PACE.pause(started.elapsed())))
    }

    /// The alerts that nobody was told of.
    pub(super) fn news(&self, book: &Book) -> Vec<String> {
        if book.alerts.is_empty() {
            return Vec::new();
        }
        self.untold(book.alerts.iter().cloned())
    }

    /// The rules that are not watched for, or not everywhere, and nobody was told of.
    pub(super) fn unwatched(&self, watch: &Watch) -> Vec<String> {
        let monitor = lock(&watch.monitor);
        let left_out = monitor.left_out().iter().map(|(rule, condition)| (rule.as_str(), condition.as_str()));
        self.untold(left_out.chain(monitor.gave_up()).map(|(rule, condition)| format!("{rule}: {condition}")))
    }

    fn untold(&self, news: impl Iterator<Item = String>) -> Vec<String> {
        let mut told = lock(&self.told);
        news.filter(|news| told.insert(news.clone())).collect()
    }

    /// What watches for these rules; nothing where there are none.
    pub(super) fn watch(&self, book: &Book, rules: &[&Rule]) -> Result<Option<Arc<Watch>>, String> {
        if rules.is_empty() {
            return Ok(None);
        }
        let workspace = &book.workspace;
        let settings = &workspace.settings;
        let mut hasher = DefaultHasher::new();
        for rule in rules {
            (book.prints.get(&rule.origin.display), settings.stream_settings().modes_of(rule))
                .hash(&mut hasher);
        }
        let key = hasher.finish();
        let mut watches = lock(&self.watches);
        if let Some(known) = watches.get(&key) {
            return Ok(Some(Arc::clone(known)));
        }
        let monitor =
            Monitor::new(rules.iter().copied().filter_map(Rule::stream_rule), workspace.roots.clone())?;
        let watching = |rule: &&Rule| Watching {
            id: rule.id.clone(),
            name: rule.name.clone(),
            path: rule.origin.display.clone(),
            body: rule.body.clone(),
            modes: settings.stream_settings().modes_of(rule),
            is_mandatory: rule.is_mandatory,
        };
        let rules_of: HashMap<String, Watching> =
            rules.iter().map(watching).map(|rule| (rule.name.clone(), rule)).collect();
        let watch = Arc::new(Watch {
            monitor: Mutex::new(monitor),
            hears_thinking: rules.iter().any(|rule| hears_thinking(rule)),
            is_mandatory: rules.iter().any(|rule| rule.is_mandatory),
            keeps: rules_of.values().any(|rule| rule.modes.context == ContextMode::Keep),
            rules: rules_of,
        });
        if watches.len() >= MAX_WATCHES {
            watches.clear();
        }
        watches.insert(key, Arc::clone(&watch));
        Ok(Some(watch))
    }
}

fn fingerprint(rule: &Rule) -> u64 {
    let mut hasher = DefaultHasher::new();
    (&rule.name, &rule.body, rule.is_mandatory, format!("{:?}", rule.stream)).hash(&mut hasher);
    hasher.finish()
}

fn hears_thinking(rule: &Rule) -> bool {
    rule.stream.as_ref().is_some_and(|trigger| {
        let own = trigger.conditions.iter().filter_map(|pattern| pattern.scope.as_ref());
        own.chain(&trigger.scope).any(|scope| matches!(scope, StreamScope::Thinking))
    })
}
