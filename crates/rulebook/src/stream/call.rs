//! Tool calls being watched: arguments decoded as they grow, each field, and each file of a patch, by itself.

use super::arguments::{Arguments, Piece};
use super::characters::Characters;
use super::gates::{File, Gates};
use super::monitor::Hit;
use super::patch::{Part, Patch};
use super::scope::{Covers, OutputPart};
use super::watch::{Channel, Watch};
use crate::evidence::is_path_key;

/// A tool call being watched.
#[derive(Debug)]
pub(super) struct Call {
    input: Input,
    body: Body,
}

/// How a call's arguments come.
#[derive(Debug)]
enum Input {
    /// Nothing but white space so far.
    Unknown(Vec<u8>),
    Json(Box<Arguments>),
    /// Plain text, as some tools take it, or what follows where JSON ended being any.
    Raw(Characters),
}

/// What is known of a call.
#[derive(Debug)]
struct Body {
    tool: String,
    /// The field being read; JSON has one leaf open at a time.
    field: Option<Box<Field>>,
    /// What was decoded of it and is not watched yet: a delta is watched as a whole.
    decoded: String,
    gates: Gates,
    /// The call as it comes over the wire, and its gate, which every file of the call may open.
    wire: Option<Box<(Channel, Gates)>>,
}

/// A field of a call's arguments.
#[derive(Debug)]
struct Field {
    path: String,
    /// Where the field may hold a patch.
    patch: Option<Patch>,
    /// The text of a short field that may name a file.
    value: Option<String>,
    texts: Texts,
}

/// The texts in a field.
#[derive(Debug, Default)]
struct Texts {
    plain: Option<Channel>,
    /// The file of a patch being read.
    file: Option<(File, Channel)>,
    /// The files before it that met conditions, and which: a file may come again.
    before: Vec<(File, Vec<bool>)>,
}

/// What goes on over a text of a call, and where its hits go.
struct Ear<'e> {
    watch: &'e mut Watch,
    origin: OutputPart<'e>,
    gates: &'e mut Gates,
    hits: &'e mut Vec<Hit>,
}

/// The longest file name that is kept, and the most files of a patch that are known to have met conditions.
const MAX_NAME: usize = 4096;
const MAX_BEFORE: usize = 1000;
/// How much white space may stand before arguments that are JSON.
const MAX_LEAD: usize = 4096;
/// How much decoded text waits for the rest of its delta.
const MAX_DECODED: usize = 4096;
/// The field of arguments that are no JSON.
const RAW: &str = "input";

impl Call {
    pub(super) fn new(tool: &str, wire: Option<Channel>) -> Call {
        let wire = wire.map(|channel| Box::new((channel, Gates::default())));
        let body = Body {
            tool: tool.to_owned(),
            field: None,
            decoded: String::new(),
            gates: Gates::default(),
            wire,
        };
        Call { input: Input::Unknown(Vec::new()), body }
    }

    pub(super) fn feed(&mut self, watch: &mut Watch, bytes: &[u8], hits: &mut Vec<Hit>) {
        self.body.watch_wire(watch, Some(bytes), hits);
        if !bytes.is_empty() && self.body.is_only_watched() && self.input.passes(bytes) {
            return self.body.watch_text(watch, bytes, hits);
        }
        let Input::Unknown(lead) = &mut self.input else { return self.decode(watch, bytes, hits) };
        let known = lead.len();
        lead.extend_from_slice(bytes);
        let mut within = lead.iter().take(MAX_LEAD).skip(known);
        let first = within.find(|byte| !byte.is_ascii_whitespace());
        if first.is_none() && lead.len() < MAX_LEAD {
            return;
        }
        let is_json = matches!(first, Some(b'{' | b'[' | b'"'));
        let lead = std::mem::take(lead);
        if is_json {
            self.input = Input::Json(Box::default());
        } else {
            self.go_raw(watch, hits);
        }
        self.decode(watch, &lead, hits);
    }

    pub(super) fn finish(&mut self, watch: &mut Watch, hits: &mut Vec<Hit>) {
        let mut take = |piece: Piece<'_>| self.body.take(watch, piece, hits);
        match &mut self.input {
            Input::Json(arguments) => drop(arguments.finish(&mut take)),
            Input::Raw(_) => take(Piece::Close),
            Input::Unknown(_) => {}
        }
        self.body.watch_wire(watch, None, hits);
    }

    fn decode(&mut self, watch: &mut Watch, bytes: &[u8], hits: &mut Vec<Hit>) {
        let mut take = |piece: Piece<'_>| self.body.take(watch, piece, hits);
        match &mut self.input {
            Input::Unknown(_) => {}
            Input::Raw(characters) => characters.bytes(bytes, &mut |text| take(Piece::Text(text))),
            Input::Json(arguments) => {
                let before = arguments.read();
                if let Err(malformed) = arguments.feed(bytes, &mut take) {
                    // What is no JSON from some byte on is watched as it stands.
                    let _ = arguments.finish(&mut take);
                    self.go_raw(watch, hits);
                    return self.decode(watch, &bytes[malformed.at - before..], hits);
                }
            }
        }
        self.body.watch_decoded(watch, hits);
    }

    fn go_raw(&mut self, watch: &mut Watch, hits: &mut Vec<Hit>) {
        self.input = Input::Raw(Characters::default());
        self.body.take(watch, Piece::Open { path: RAW, key: RAW }, hits);
    }
}

impl Input {
    /// Goes over all of `bytes` if they are nothing but text of the open field, which they stand for as they are.
    fn passes(&mut self, bytes: &[u8]) -> bool {
        match self {
            Input::Unknown(_) => false,
            Input::Json(arguments) => arguments.passes(bytes),
            Input::Raw(characters) => characters.is_whole() && std::str::from_utf8(bytes).is_ok(),
        }
    }
}

impl Body {
    fn watch_wire(&mut self, watch: &mut Watch, bytes: Option<&[u8]>, hits: &mut Vec<Hit>) {
        if let Some((channel, gates)) = self.wire.as_deref_mut() {
            Ear { watch, origin: OutputPart::Wire { tool: &self.tool }, gates, hits }
                .hear(channel, None, bytes);
        }
    }

    fn take(&mut self, watch: &mut Watch, piece: Piece<'_>, hits: &mut Vec<Hit>) {
        match piece {
            Piece::Text(text) => {
                if self.decoded.len() + text.len() > MAX_DECODED {
                    self.watch_decoded(watch, hits);
                }
                if text.len() > MAX_DECODED {
                    self.read_text(watch, Some(text), hits);
                } else {
                    self.decoded.push_str(text);
                }
            }
            Piece::Enter => self.gates.enter(),
            Piece::Leave => self.gates.leave(&watch.conditions, hits),
            Piece::Open { path, key } => {
                let value = is_path_key(key).then(String::new);
                let patch = may_be_patch(&self.tool, key).then(Patch::new);
                let path = path.to_owned();
                self.field = Some(Box::new(Field { path, patch, value, texts: Texts::default() }));
            }
            Piece::Close => self.end_field(watch, hits),
        }
    }

    /// Whether nobody has to read the open field's text but the watch.
    fn is_only_watched(&self) -> bool {
        self.field.as_ref().is_some_and(|field| field.patch.is_none() && field.value.is_none())
    }

    /// Goes on over text of a field that is only watched.
    fn watch_text(&mut self, watch: &mut Watch, text: &[u8], hits: &mut Vec<Hit>) {
        let Body { tool, field: Some(field), gates, .. } = self else { return };
        let mut ear = Ear { watch, origin: OutputPart::Field { tool, field: &field.path }, gates, hits };
        field.texts.take_plain(text, &mut ear);
    }

    /// Goes on over what was decoded of the open field.
    fn watch_decoded(&mut self, watch: &mut Watch, hits: &mut Vec<Hit>) {
        if !self.decoded.is_empty() {
            let mut text = std::mem::take(&mut self.decoded);
            self.read_text(watch, Some(&text), hits);
            text.clear();
            self.decoded = text;
        }
    }

    fn end_field(&mut self, watch: &mut Watch, hits: &mut Vec<Hit>) {
        self.watch_decoded(watch, hits);
        self.read_text(watch, None, hits);
        let value = self.field.take().and_then(|field| field.value);
        if let Some(name) = value.filter(|value| !value.trim().is_empty()) {
            let file = File::new(&watch.roots, &name);
            if let Some((_, gates)) = self.wire.as_deref_mut() {
                gates.learn(&watch.conditions, file.clone(), hits);
            }
            self.gates.learn(&watch.conditions, file, hits);
        }
    }

    /// Goes on over the field's text, or ends it where there is none.
    fn read_text(&mut self, watch: &mut Watch, text: Option<&str>, hits: &mut Vec<Hit>) {
        let Body { tool, field: Some(field), gates, wire, .. } = self else { return };
        let Field { path, patch, value, texts } = field.as_mut();
        if let (Some(text), Some(name)) = (text, value.as_mut()) {
            name.push_str(text);
            value.take_if(|name| name.len() > MAX_NAME);
        }
        let mut ear = Ear { watch, origin: OutputPart::Field { tool, field: path }, gates, hits };
        if let Some(patch) = patch {
            let mut take = |part: Part<'_>| {
                if let (Part::File(path), Some((_, gates))) = (part, wire.as_deref_mut()) {
                    gates.learn(&ear.watch.conditions, File::new(&ear.watch.roots, path), ear.hits);
                }
                texts.take(part, &mut ear);
            };
            match text {
                Some(text) => patch.feed(text, &mut take),
                None => patch.finish(&mut take),
            }
        } else if let Some(text) = text {
            texts.take_plain(text.as_bytes(), &mut ear);
        }
        if text.is_none() {
            texts.end(&mut ear);
        }
    }
}

impl Texts {
    fn take(&mut self, part: Part<'_>, ear: &mut Ear<'_>) {
        match (part, &mut self.file) {
            (Part::File(path), _) => {
                let file = File::new(&ear.watch.roots, path);
                if self.file.as_ref().is_none_or(|(other, _)| *other != file) {
                    self.end_file(ear);
                    let at = self.before.iter().position(|(other, _)| *other == file);
                    let met = at.map(|at| self.before.swap_remove(at).1);
                    self.file = Some((file, ear.watch.channel(met)));
                }
            }
            (Part::Added(text), Some((file, channel))) => {
                ear.hear(channel, Some(file), Some(text.as_bytes()));
            }
            (Part::Added(text) | Part::Plain(text), _) => self.take_plain(text.as_bytes(), ear),
        }
    }

    fn take_plain(&mut self, text: &[u8], ear: &mut Ear<'_>) {
        let channel = self.plain.get_or_insert_with(|| ear.watch.channel(None));
        ear.hear(channel, None, Some(text));
    }

    /// The text of one file of a patch ends where the next begins.
    fn end_file(&mut self, ear: &mut Ear<'_>) {
        let Some((file, mut channel)) = self.file.take() else { return };
        ear.hear(&mut channel, Some(&file), None);
        if channel.met.contains(&true) && self.before.len() < MAX_BEFORE {
            self.before.push((file, channel.met));
        }
    }

    fn end(&mut self, ear: &mut Ear<'_>) {
        self.end_file(ear);
        if let Some(mut channel) = self.plain.take() {
            ear.hear(&mut channel, None, None);
        }
    }
}

impl Ear<'_> {
    /// Goes on over a text, or ends it. What only a file could let through waits for one; the text of a patch's file
    /// is for that file alone.
    fn hear(&mut self, channel: &mut Channel, file: Option<&File>, bytes: Option<&[u8]>) {
        let Ear { watch, origin, gates, hits } = self;
        watch.watch(channel, bytes, origin, file, &mut |conditions, condition, covers, hit| match covers {
            Covers::Yes => hits.push(hit),
            _ if file.is_none() => gates.wait(conditions, condition, hit, hits),
            _ => {}
        });
    }
}

/// Whether a tool's field may hold a patch: elsewhere a text that opens like one is a text.
fn may_be_patch(tool: &str, field: &str) -> bool {
    let is_patch = |name: &str| {
        let name = name.to_lowercase();
        name.contains("patch") || name.contains("diff")
    };
    // No command is a patch, but one of its arguments may be: `["apply_patch", "*** Begin Patch…"]`.
    is_patch(tool) || is_patch(field) || field == "command"
}
