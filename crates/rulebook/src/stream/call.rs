//! Watches tool calls: arguments are decoded as they arrive, and each field and each file of a patch is searched separately.

use super::arguments::{Arguments, Piece};
use super::characters::Characters;
use super::file::File;
use super::gates::Gates;
use super::hit::Hit;
use super::patch::{Part, Patch};
use super::scope::OutputPart;
use super::shell::Shell;
use super::texts::{Search, Texts};
use super::watch::{Channel, Watch};
use super::written::{EditRole, Replacement, Written};
use crate::evidence::{ToolKind, is_command_key, is_path_key};

/// A tool call being watched.
#[derive(Debug)]
pub(super) struct Call {
    input: Input,
    body: Body,
}

/// The form of a call's arguments.
#[derive(Debug)]
enum Input {
    /// Only white space so far.
    Unknown(Vec<u8>),
    Json(Box<Arguments>),
    /// Plain text, which some tools take, or the rest after invalid JSON.
    Raw(Characters),
}

/// The state of a call.
#[derive(Debug, Default)]
struct Body {
    tool: String,
    /// The open field; JSON has one open leaf at a time.
    field: Option<Box<Field>>,
    /// Its decoded text that is not searched yet: the text of a delta is searched at once.
    decoded: String,
    gates: Gates,
    /// The texts of the open objects that replace each other, those of the outermost object first.
    replacements: Vec<Replacement>,
    /// The arguments as received, with all files of the call.
    wire: Option<Box<(Written, Gates)>>,
}

/// A field of the arguments.
#[derive(Debug)]
struct Field {
    path: String,
    /// Splits the text, if it may contain the texts of files.
    splitter: Option<Splitter>,
    /// The text of a short field that may be a file name.
    value: Option<String>,
    role: EditRole,
    texts: Texts,
}

/// Splits the text of a field into the texts of files and the rest.
#[derive(Debug)]
enum Splitter {
    Patch(Patch),
    Shell(Box<Shell>),
}

impl Splitter {
    /// The splitter for a field of a tool. Elsewhere, text that looks like a patch is plain text.
    fn of(tool: &str, field: &str) -> Option<Splitter> {
        let is_patch = |name: &str| {
            let name = name.to_lowercase();
            name.contains("patch") || name.contains("diff")
        };
        match () {
            () if is_patch(tool) || is_patch(field) => Some(Splitter::Patch(Patch::default())),
            () if is_command_key(field) && ToolKind::of(tool).is_none_or(|kind| kind == ToolKind::Shell) => {
                Some(Splitter::Shell(Box::default()))
            }
            () => None,
        }
    }

    /// Continues the text, or ends it if there is none.
    fn read(&mut self, text: Option<&str>, out: &mut impl FnMut(Part<'_>)) {
        match (self, text) {
            (Splitter::Patch(patch), Some(text)) => patch.feed(text, out),
            (Splitter::Patch(patch), None) => patch.finish(out),
            (Splitter::Shell(shell), Some(text)) => shell.feed(text, out),
            (Splitter::Shell(shell), None) => shell.finish(out),
        }
    }
}

/// The maximum length of a file name.
const MAX_NAME: usize = 4096;
/// The maximum white space before JSON arguments.
const MAX_LEAD: usize = 4096;
/// The maximum decoded text that waits for the rest of its delta.
const MAX_DECODED: usize = 4096;
/// The field name for arguments that are not JSON.
const RAW: &str = "input";

impl Call {
    pub(super) fn new(tool: &str, wire: Option<Channel>) -> Call {
        let wire = wire.map(|channel| Box::new((Written::new(channel, false), Gates::default())));
        let replacements = vec![Replacement::default()];
        let body = Body { tool: tool.to_owned(), wire, replacements, ..Body::default() };
        Call { input: Input::Unknown(Vec::new()), body }
    }

    pub(super) fn feed(&mut self, watch: &mut Watch, bytes: &[u8], hits: &mut Vec<Hit>) {
        self.body.watch_wire(watch, Some(bytes), hits);
        if !bytes.is_empty() && self.body.is_only_watched() && self.input.consume_plain(bytes) {
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
            self.switch_to_raw(watch, hits);
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
        while !self.body.replacements.is_empty() {
            self.body.settle(watch, hits);
        }
        self.body.gates.finish(&watch.conditions, hits);
        if let Some((_, gates)) = self.body.wire.as_deref_mut() {
            gates.finish(&watch.conditions, hits);
        }
    }

    fn decode(&mut self, watch: &mut Watch, bytes: &[u8], hits: &mut Vec<Hit>) {
        let mut take = |piece: Piece<'_>| self.body.take(watch, piece, hits);
        match &mut self.input {
            Input::Unknown(_) => {}
            Input::Raw(characters) => characters.bytes(bytes, &mut |text| take(Piece::Text(text))),
            Input::Json(arguments) => {
                let before = arguments.read();
                if let Err(malformed) = arguments.feed(bytes, &mut take) {
                    // The rest after invalid JSON is searched as received.
                    let _ = arguments.finish(&mut take);
                    self.switch_to_raw(watch, hits);
                    return self.decode(watch, &bytes[malformed.at - before..], hits);
                }
            }
        }
        self.body.watch_decoded(watch, hits);
    }

    fn switch_to_raw(&mut self, watch: &mut Watch, hits: &mut Vec<Hit>) {
        self.input = Input::Raw(Characters::default());
        self.body.take(watch, Piece::Open { path: RAW, key: RAW }, hits);
    }
}

impl Input {
    /// Consumes all of `bytes` if they are unescaped text of the open field.
    fn consume_plain(&mut self, bytes: &[u8]) -> bool {
        match self {
            Input::Unknown(_) => false,
            Input::Json(arguments) => arguments.consume_plain(bytes),
            Input::Raw(characters) => characters.is_complete() && std::str::from_utf8(bytes).is_ok(),
        }
    }
}

impl Body {
    fn watch_wire(&mut self, watch: &mut Watch, bytes: Option<&[u8]>, hits: &mut Vec<Hit>) {
        if let Some((written, gates)) = self.wire.as_deref_mut() {
            Search { watch, part: OutputPart::Wire { tool: &self.tool }, gates, hits }
                .run(written, None, bytes);
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
            Piece::Enter => {
                self.gates.enter();
                self.replacements.push(Replacement::default());
            }
            Piece::Leave => {
                if self.replacements.len() > 1 {
                    self.settle(watch, hits);
                }
                self.gates.leave(&watch.conditions, hits);
            }
            Piece::Open { path, key } => {
                let value = is_path_key(key).then(String::new);
                let splitter = Splitter::of(&self.tool, key);
                let (path, role) = (path.to_owned(), EditRole::of(key));
                let is_compared = splitter.is_some() || role != EditRole::Other;
                let texts = Texts::new(is_compared);
                self.field = Some(Box::new(Field { path, splitter, value, role, texts }));
            }
            Piece::Close => self.end_field(watch, hits),
        }
    }

    /// Decides about the texts of the innermost object.
    fn settle(&mut self, watch: &mut Watch, hits: &mut Vec<Hit>) {
        if let Some(replacement) = self.replacements.pop() {
            replacement.settle(watch, &mut self.gates, hits);
        }
    }

    /// Whether the text of the open field is only searched, and not parsed.
    fn is_only_watched(&self) -> bool {
        self.field.as_ref().is_some_and(|field| field.splitter.is_none() && field.value.is_none())
    }

    /// Searches text of a field that is not parsed.
    fn watch_text(&mut self, watch: &mut Watch, text: &[u8], hits: &mut Vec<Hit>) {
        let Body { tool, field: Some(field), gates, .. } = self else { return };
        let mut search = Search { watch, part: OutputPart::Field { tool, field: &field.path }, gates, hits };
        field.texts.take_plain(text, &mut search);
    }

    /// Searches the decoded text of the open field.
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
        let Some(mut field) = self.field.take() else { return };
        if let (Some(mut text), Some(replacement)) = (field.texts.plain.take(), self.replacements.last_mut())
        {
            match field.role {
                EditRole::New => replacement.new.push(text),
                _ => {
                    text.settle(false, watch, &mut self.gates, hits);
                    if let (EditRole::Old, Some((text, _))) = (field.role, text.compared) {
                        replacement.old = text;
                    }
                }
            }
        }
        let value = field.value;
        if let Some(name) = value.filter(|value| !value.trim().is_empty()) {
            let file = File::new(&watch.roots, &name);
            if let Some((_, gates)) = self.wire.as_deref_mut() {
                gates.add_file(&watch.conditions, file.clone(), hits);
            }
            self.gates.add_file(&watch.conditions, file, hits);
        }
    }

    /// Continues the text of the field, or ends it if there is none.
    fn read_text(&mut self, watch: &mut Watch, text: Option<&str>, hits: &mut Vec<Hit>) {
        let Body { tool, field: Some(field), gates, wire, .. } = self else { return };
        let Field { path, splitter, value, texts, .. } = field.as_mut();
        if let (Some(text), Some(name)) = (text, value.as_mut()) {
            name.push_str(text);
            value.take_if(|name| name.len() > MAX_NAME);
        }
        let mut search = Search { watch, part: OutputPart::Field { tool, field: path }, gates, hits };
        if let Some(splitter) = splitter {
            let mut take = |part: Part<'_>| {
                if let (Part::File(path), Some((_, gates))) = (part, wire.as_deref_mut()) {
                    gates.add_file(
                        &search.watch.conditions,
                        File::new(&search.watch.roots, path),
                        search.hits,
                    );
                }
                texts.take(part, &mut search);
            };
            splitter.read(text, &mut take);
        } else if let Some(text) = text {
            texts.take_plain(text.as_bytes(), &mut search);
        }
        if text.is_none() {
            texts.end(&mut search);
        }
    }
}
