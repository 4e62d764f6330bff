//! Tool calls being watched: arguments decoded as they grow, each field, and each file of a patch, by itself.

use super::arguments::{Arguments, FieldId, Piece};
use super::characters::Characters;
use super::monitor::Hit;
use super::patch::{Part, Patch};
use super::scope::{Covers, Origin};
use super::watch::{Channel, Watch};
use crate::evidence::{Place, is_path_key};

/// A tool call being watched.
#[derive(Debug)]
pub(super) struct Call {
    tool: String,
    input: Input,
    wire: Option<Channel>,
    /// The field being read; JSON has one leaf open at a time.
    field: Option<Box<Field>>,
    files: Vec<String>,
    /// Found, but the file that would let them through is not known yet.
    pending: Vec<(usize, Hit)>,
}

/// How a call's arguments come.
#[derive(Debug)]
enum Input {
    /// Nothing but white space so far.
    Unknown(Vec<u8>),
    Json {
        arguments: Arguments,
        fed: usize,
    },
    /// Plain text, as some tools take it, or what follows where JSON ended being any.
    Raw(Characters),
}

/// A field of a call's arguments.
#[derive(Debug)]
struct Field {
    path: String,
    /// Where the field may hold a patch.
    patch: Option<Patch>,
    /// The text of a short field that may name a file.
    value: Option<String>,
    plain: Option<Channel>,
    /// The file of a patch being read.
    file: Option<(String, Channel)>,
}

/// The longest file name that is kept, the most files a call is known to be about, and the most hits that wait for one.
const MAX_NAME: usize = 4096;
const MAX_FILES: usize = 1000;
const MAX_PENDING: usize = 1000;
/// The field of arguments that are no JSON.
const RAW: &str = "input";

impl Call {
    pub(super) fn new(tool: &str, wire: Option<Channel>) -> Call {
        let input = Input::Unknown(Vec::new());
        Call { tool: tool.to_owned(), input, wire, field: None, files: Vec::new(), pending: Vec::new() }
    }
}

impl Watch {
    pub(super) fn feed_call(&mut self, call: &mut Call, bytes: &[u8], hits: &mut Vec<Hit>) {
        self.watch_wire(call, Some(bytes), hits);
        if let Input::Unknown(lead) = &mut call.input {
            lead.extend_from_slice(bytes);
            let Some(first) = lead.iter().find(|byte| !byte.is_ascii_whitespace()) else { return };
            let is_json = matches!(first, b'{' | b'[' | b'"');
            let lead = std::mem::take(lead);
            if is_json {
                call.input = Input::Json { arguments: Arguments::new(), fed: 0 };
            } else {
                self.go_raw(call, hits);
            }
            return self.decode(call, &lead, hits);
        }
        self.decode(call, bytes, hits);
    }

    fn decode(&mut self, call: &mut Call, bytes: &[u8], hits: &mut Vec<Hit>) {
        let mut pieces = Vec::new();
        let mut rest = None;
        match &mut call.input {
            Input::Unknown(_) => {}
            Input::Json { arguments, fed } => {
                // What is no JSON from some byte on is watched as it stands.
                if let Err(malformed) = arguments.feed(bytes, &mut pieces) {
                    rest = Some(malformed.at.saturating_sub(*fed).min(bytes.len()));
                }
                *fed += bytes.len();
            }
            Input::Raw(characters) => {
                pieces.push(Piece::Text { field: FieldId(0), text: characters.bytes(bytes) });
            }
        }
        for piece in pieces {
            self.take_piece(call, piece, hits);
        }
        if let Some(rest) = rest {
            self.take_piece(call, Piece::Close { field: FieldId(0) }, hits);
            self.go_raw(call, hits);
            self.decode(call, &bytes[rest..], hits);
        }
    }

    fn go_raw(&mut self, call: &mut Call, hits: &mut Vec<Hit>) {
        call.input = Input::Raw(Characters::default());
        self.take_piece(call, Piece::Open { field: FieldId(0), path: RAW.to_owned() }, hits);
    }

    pub(super) fn finish_call(&mut self, call: &mut Call, hits: &mut Vec<Hit>) {
        let mut pieces = Vec::new();
        match &mut call.input {
            Input::Json { arguments, .. } => drop(arguments.finish(&mut pieces)),
            Input::Raw(_) => pieces.push(Piece::Close { field: FieldId(0) }),
            Input::Unknown(_) => {}
        }
        for piece in pieces {
            self.take_piece(call, piece, hits);
        }
        self.watch_wire(call, None, hits);
    }

    fn watch_wire(&mut self, call: &mut Call, bytes: Option<&[u8]>, hits: &mut Vec<Hit>) {
        let Call { tool, wire, files, pending, .. } = call;
        if let Some(wire) = wire {
            let mut told = Told { files, pending, hits };
            self.watch_for(wire, bytes, Origin::Wire { tool }, None, &mut told);
        }
    }

    fn take_piece(&mut self, call: &mut Call, piece: Piece, hits: &mut Vec<Hit>) {
        match piece {
            Piece::Open { path, .. } => {
                let name = path.rsplit(['.', ']']).find(|part| !part.is_empty()).unwrap_or_default();
                let name = name.split('[').next().unwrap_or_default();
                let value = is_path_key(name).then(String::new);
                let patch = may_be_patch(&call.tool, name).then(Patch::new);
                call.field = Some(Box::new(Field { path, patch, value, plain: None, file: None }));
            }
            Piece::Text { text, .. } => {
                let Some(mut field) = call.field.take() else { return };
                let fits = |value: &String| value.len() + text.len() <= MAX_NAME;
                field.value = field.value.filter(fits).map(|value| value + &text);
                match &mut field.patch {
                    None => self.take_plain(call, &mut field, text.as_bytes(), hits),
                    Some(patch) => {
                        let mut parts = Vec::new();
                        patch.feed(&text, &mut parts);
                        self.take_parts(call, &mut field, parts, hits);
                    }
                }
                call.field = Some(field);
            }
            Piece::Close { .. } => {
                let Some(mut field) = call.field.take() else { return };
                if let Some(mut patch) = field.patch.take() {
                    let mut parts = Vec::new();
                    patch.finish(&mut parts);
                    self.take_parts(call, &mut field, parts, hits);
                }
                self.end_file(call, &mut field, hits);
                if let Some(mut plain) = field.plain.take() {
                    let Call { tool, files, pending, .. } = call;
                    let mut told = Told { files, pending, hits };
                    self.watch_for(
                        &mut plain,
                        None,
                        Origin::Field { tool, field: &field.path },
                        None,
                        &mut told,
                    );
                }
                if let Some(name) = field.value.filter(|value| !value.trim().is_empty()) {
                    self.learn_file(call, &name, hits);
                }
            }
        }
    }

    fn take_parts(&mut self, call: &mut Call, field: &mut Field, parts: Vec<Part>, hits: &mut Vec<Hit>) {
        for part in parts {
            match part {
                Part::File { path } => {
                    let path = self.relative(&path);
                    self.learn_file(call, &path, hits);
                    if field.file.as_ref().is_none_or(|(other, _)| *other != path) {
                        self.end_file(call, field, hits);
                        field.file = Some((path, self.channel()));
                    }
                }
                Part::Added { text } if field.file.is_some() => {
                    let Some((file, channel)) = &mut field.file else { continue };
                    let Call { tool, files, pending, .. } = call;
                    let mut told = Told { files, pending, hits };
                    let origin = Origin::Field { tool, field: &field.path };
                    self.watch_for(channel, Some(text.as_bytes()), origin, Some(file), &mut told);
                }
                Part::Added { text } | Part::Plain { text } => {
                    self.take_plain(call, field, text.as_bytes(), hits);
                }
            }
        }
    }

    fn take_plain(&mut self, call: &mut Call, field: &mut Field, bytes: &[u8], hits: &mut Vec<Hit>) {
        let Call { tool, files, pending, .. } = call;
        let channel = field.plain.get_or_insert_with(|| self.channel());
        let mut told = Told { files, pending, hits };
        self.watch_for(channel, Some(bytes), Origin::Field { tool, field: &field.path }, None, &mut told);
    }

    /// The text of one file of a patch ends where the next begins.
    fn end_file(&mut self, call: &mut Call, field: &mut Field, hits: &mut Vec<Hit>) {
        if let Some((file, mut channel)) = field.file.take() {
            let Call { tool, files, pending, .. } = call;
            let mut told = Told { files, pending, hits };
            let origin = Origin::Field { tool, field: &field.path };
            self.watch_for(&mut channel, None, origin, Some(&file), &mut told);
        }
    }

    fn relative(&self, path: &str) -> String {
        match self.roots.place(path, &|_, _| false) {
            Place::Inside { path, .. } => path,
            _ => path.to_owned(),
        }
    }

    /// A file the call is about may let through what was found before it was known.
    fn learn_file(&mut self, call: &mut Call, path: &str, hits: &mut Vec<Hit>) {
        let path = [self.relative(path)];
        if call.files.len() >= MAX_FILES || call.files.contains(&path[0]) {
            return;
        }
        for (condition, hit) in std::mem::take(&mut call.pending) {
            match self.covers(condition, origin_of(&hit), &path) {
                Covers::Yes => hits.push(hit),
                _ => call.pending.push((condition, hit)),
            }
        }
        let [path] = path;
        call.files.push(path);
    }

    /// Goes on over a text of a call. What only a file could let through waits for one; the text of a patch's file is
    /// for that file alone.
    fn watch_for(
        &mut self,
        channel: &mut Channel,
        bytes: Option<&[u8]>,
        origin: Origin<'_>,
        file: Option<&str>,
        told: &mut Told<'_>,
    ) {
        let own: Option<[String; 1]> = file.map(|file| [file.to_owned()]);
        let files: &[String] = own.as_ref().map_or(told.files, |own| own);
        let Told { pending, hits, .. } = told;
        self.watch(channel, bytes, origin, file, files, &mut |(condition, covered, hit)| match covered {
            Covers::Yes => hits.push(hit),
            _ if file.is_none() && pending.len() < MAX_PENDING => pending.push((condition, hit)),
            _ => {}
        });
    }
}

/// What is known of a call while one of its texts is watched, and where hits go.
struct Told<'c> {
    files: &'c [String],
    pending: &'c mut Vec<(usize, Hit)>,
    hits: &'c mut Vec<Hit>,
}

/// Whether a tool's field may hold a patch: elsewhere a text that opens like one is a text.
fn may_be_patch(tool: &str, field: &str) -> bool {
    let is_patch = |name: &str| {
        let name = name.to_lowercase();
        name.contains("patch") || name.contains("diff")
    };
    is_patch(tool) || is_patch(field)
}

fn origin_of(hit: &Hit) -> Origin<'_> {
    match (hit.scope, &hit.tool, &hit.field) {
        ("tool", Some(tool), Some(field)) => Origin::Field { tool, field },
        ("wire", Some(tool), _) => Origin::Wire { tool },
        ("thinking", ..) => Origin::Thinking,
        _ => Origin::Text,
    }
}
