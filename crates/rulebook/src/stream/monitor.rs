//! The monitor: takes deltas of the model's output and returns matches of stream rules as soon as they are certain.
//!
//! A stream is one block of one message, or one tool call. Streams are independent. The arguments of a tool call are
//! decoded, and each field and each file of a patch is watched separately. Each condition is reported once per stream.

use std::sync::Arc;

use foldhash::HashMap;

use super::call::Call;
use super::changes::{Change, Changes};
use super::file::File;
use super::hit::Hit;
use super::notebook::is_notebook;
use super::scope::OutputPart;
use super::trigger::StreamRule;
use super::watch::{Channel, Watch};
use crate::condition::Paths;
use crate::evidence::Roots;
use crate::syntax::{MAX_TEXT, Syntax, SyntaxTrigger};

/// Watches streams for matches of stream rules.
#[derive(Debug)]
pub struct Monitor {
    watch: Watch,
    streams: Streams,
    /// The rules with syntax triggers, and who parses.
    syntax: Vec<SyntaxRule>,
    parser: Option<Arc<dyn Syntax>>,
    /// What was not judged, for people.
    unjudged: Vec<(String, String)>,
}

/// A rule with syntax triggers.
#[derive(Debug)]
struct SyntaxRule {
    name: String,
    source: String,
    gate: Option<Arc<Paths>>,
    other_roots: Vec<usize>,
    triggers: Vec<SyntaxTrigger>,
}

impl SyntaxRule {
    fn admits(&self, file: &File) -> bool {
        !file.is_in(&self.other_roots)
            && self.gate.as_ref().is_none_or(|gate| gate.is_match(file.root, &file.path))
    }
}

/// How many reasons are kept.
const MAX_UNJUDGED: usize = 200;

/// The most arguments of a call that are kept for syntax triggers, in bytes.
const MAX_ARGUMENTS: usize = 4 << 20;

/// The content of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamKind {
    /// The model's text.
    Text,
    /// The model's thinking.
    Thinking,
    /// The arguments of a call of this tool, as received.
    Tool(String),
}

/// One stream.
#[derive(Debug)]
enum Stream {
    Prose {
        kind: StreamKind,
        channel: Box<Channel>,
    },
    Call {
        call: Box<Call>,
        tool: String,
        /// The arguments as received, for syntax triggers.
        arguments: Vec<u8>,
    },
}

/// Streams by name. Consecutive deltas usually belong to one stream, so the last one is checked first.
#[derive(Debug, Default)]
struct Streams {
    slots: Vec<Option<(String, Stream)>>,
    /// The slots without a stream.
    free: Vec<usize>,
    names: HashMap<String, usize>,
    last: usize,
}

impl Streams {
    fn find(&mut self, name: &str) -> Option<usize> {
        let is_last = matches!(self.slots.get(self.last), Some(Some((other, _))) if other == name);
        if !is_last {
            self.last = *self.names.get(name)?;
        }
        Some(self.last)
    }

    fn add(&mut self, name: &str, stream: Stream) -> usize {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        self.slots[slot] = Some((name.to_owned(), stream));
        self.names.insert(name.to_owned(), slot);
        self.last = slot;
        slot
    }

    fn take(&mut self, name: &str) -> Option<Stream> {
        let slot = self.names.remove(name)?;
        self.free.push(slot);
        self.slots[slot].take().map(|(_, stream)| stream)
    }
}

impl Monitor {
    /// Creates a monitor for these stream rules; [`left_out`](Monitor::left_out) has those that cannot be watched. `roots` make the files of tool calls relative.
    pub fn new<'r>(rules: impl IntoIterator<Item = StreamRule<'r>>, roots: Roots) -> Monitor {
        let mut syntax = Vec::new();
        let rules = rules.into_iter().inspect(|rule| {
            let StreamRule { name, source, trigger, other_roots, .. } = *rule;
            if !trigger.syntax.is_empty() {
                syntax.push(SyntaxRule {
                    name: name.to_owned(),
                    source: source.to_owned(),
                    gate: trigger.gate.clone(),
                    other_roots: other_roots.to_vec(),
                    triggers: trigger.syntax.clone(),
                });
            }
        });
        let watch = Watch::new(rules, roots);
        Monitor { watch, streams: Streams::default(), syntax, parser: None, unjudged: Vec::new() }
    }

    /// Judges syntax triggers too.
    pub fn with_syntax(mut self, parser: Option<Arc<dyn Syntax>>) -> Monitor {
        self.parser = parser;
        self
    }

    /// What syntax triggers did not judge: the file of the rule, or the file that is written, and why.
    pub fn unjudged(&self) -> &[(String, String)] {
        &self.unjudged
    }

    /// Whether there is nothing to watch for.
    pub fn is_empty(&self) -> bool {
        self.watch.is_empty() && self.syntax.is_empty()
    }

    /// Rule and condition of the patterns that could not be compiled and are not watched.
    pub fn left_out(&self) -> &[(String, String)] {
        &self.watch.left_out
    }

    /// Rule and condition of the patterns that exceeded their limit on some text and may have missed a match.
    pub fn gave_up(&self) -> impl Iterator<Item = (&str, &str)> {
        self.watch.gave_up()
    }

    /// Continues a stream. The first bytes start it.
    pub fn feed(&mut self, stream: &str, kind: &StreamKind, bytes: &[u8]) -> Vec<Hit> {
        if self.is_empty() {
            return Vec::new();
        }
        let slot = match self.streams.find(stream) {
            Some(slot) => slot,
            None => self.streams.add(stream, start(kind, &mut self.watch)),
        };
        let mut hits = Vec::new();
        match &mut self.streams.slots[slot] {
            Some((_, Stream::Prose { kind, channel })) => {
                self.watch.prose(channel, Some(bytes), part(kind), &mut hits);
            }
            Some((_, Stream::Call { call, arguments, .. })) => {
                call.feed(&mut self.watch, bytes, &mut hits);
                if !self.syntax.is_empty() && arguments.len() <= MAX_ARGUMENTS {
                    arguments.extend_from_slice(bytes);
                }
            }
            None => {}
        }
        hits
    }

    /// The offset below which no future hit can start: the text before it is safe to show. A tool call is settled only at
    /// its end.
    pub fn settled(&mut self, stream: &str) -> usize {
        let Some(slot) = self.streams.find(stream) else { return usize::MAX };
        match &mut self.streams.slots[slot] {
            Some((_, Stream::Prose { kind, channel })) => self.watch.settled(channel, part(kind)),
            Some((_, Stream::Call { .. })) => 0,
            None => usize::MAX,
        }
    }

    /// Ends a stream. Returns the hits that only the end decides.
    pub fn finish(&mut self, stream: &str) -> Vec<Hit> {
        let mut hits = Vec::new();
        match self.streams.take(stream) {
            None => {}
            Some(Stream::Prose { kind, mut channel }) => {
                self.watch.prose(&mut channel, None, part(&kind), &mut hits);
            }
            Some(Stream::Call { mut call, tool, arguments }) => {
                call.finish(&mut self.watch, &mut hits);
                self.judge_syntax(&tool, &arguments, &mut hits);
            }
        }
        hits
    }

    /// Judges the texts that a complete call changes.
    fn judge_syntax(&mut self, tool: &str, arguments: &[u8], hits: &mut Vec<Hit>) {
        let Some(parser) = self.parser.clone() else { return };
        let Monitor { syntax: rules, unjudged, watch, .. } = self;
        if rules.is_empty() || arguments.is_empty() {
            return;
        }
        // A monitor that lives long names each reason once.
        unjudged.truncate(MAX_UNJUDGED);
        if arguments.len() > MAX_ARGUMENTS {
            return unjudged
                .push((String::new(), format!("a call of {tool} is too large for syntax triggers")));
        }
        let wants = |file: &File| {
            let is_of = |one: &SyntaxTrigger| is_notebook(&file.path) || one.grammar(&file.path).is_some();
            rules.iter().any(|rule| rule.admits(file) && rule.triggers.iter().any(is_of))
        };
        let wire = String::from_utf8_lossy(arguments);
        for change in Changes::of(tool, &wire, &watch.roots, &*parser, &wants) {
            hits.extend(self.judge_change(&*parser, tool, &change, 1));
        }
    }

    /// Every node of a file's text that a syntax trigger matches, as if the whole file were new; at most `limit` for each
    /// trigger. `path` is absolute.
    pub fn nodes(&mut self, parser: &dyn Syntax, path: &str, text: &str, limit: usize) -> Vec<Hit> {
        if self.syntax.is_empty() {
            return Vec::new();
        }
        let file = File::new(&self.watch.roots, path);
        let change = Change::new(file, String::new(), text.to_owned()).into_code();
        self.judge_change(parser, "Write", &change, limit)
    }

    fn judge_change(&mut self, parser: &dyn Syntax, tool: &str, change: &Change, limit: usize) -> Vec<Hit> {
        let Monitor { syntax: rules, unjudged, .. } = self;
        let mut hits = Vec::new();
        if change.is_too_long || change.after.len() > MAX_TEXT {
            let path = &change.file.path;
            let why = format!("`{path}` is over 1 MiB and is not judged by syntax triggers");
            unjudged.push((path.clone(), why));
            return hits;
        }
        for rule in rules.iter().filter(|rule| rule.admits(&change.file)) {
            let triggers = rule.triggers.iter().filter(|one| one.may_match(&change.after));
            for trigger in triggers {
                let Some(grammar) = trigger.grammar(&change.name) else { continue };
                match trigger.added(parser, grammar, &change.before, &change.after) {
                    Ok(nodes) => hits.extend(nodes.iter().take(limit).map(|node| {
                        Hit::of_node((&rule.name, &rule.source, &trigger.written), tool, change, node)
                    })),
                    Err(why) => {
                        let why = format!("the `ast` of {} is not used: {why}", rule.name);
                        unjudged.push((rule.source.clone(), why));
                    }
                }
            }
        }
        hits
    }

    /// Discards a stream that was interrupted.
    pub fn forget(&mut self, stream: &str) {
        self.streams.take(stream);
    }
}

fn start(kind: &StreamKind, watch: &mut Watch) -> Stream {
    match kind {
        StreamKind::Text | StreamKind::Thinking => {
            Stream::Prose { kind: kind.clone(), channel: Box::new(watch.channel(&part(kind), None)) }
        }
        StreamKind::Tool(tool) => {
            let wire = watch.watches_wire.then(|| watch.channel(&OutputPart::Wire { tool }, None));
            let call = Box::new(Call::new(tool, wire));
            Stream::Call { call, tool: tool.clone(), arguments: Vec::new() }
        }
    }
}

fn part(kind: &StreamKind) -> OutputPart<'static> {
    if *kind == StreamKind::Thinking { OutputPart::Thinking } else { OutputPart::Text }
}
