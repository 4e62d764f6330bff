//! Tool calls being watched: arguments decoded as they grow, each field, and each file of a patch, by itself.

use std::collections::HashMap;

use super::arguments::{Arguments, FieldId, Piece};
use super::monitor::{Channel, Hit, Monitor};
use super::patch::{Part, Patch};
use super::scope::{Covers, Origin};
use crate::evidence::{Place, is_path_key};

/// A tool call being watched.
#[derive(Debug)]
pub(super) struct Call {
    tool: String,
    arguments: Option<Arguments>,
    has_begun: bool,
    wire: Option<Channel>,
    fields: HashMap<FieldId, Field>,
    files: Vec<String>,
    /// Found, but the file that would let them through is not known yet.
    pending: Vec<(usize, Hit)>,
}

/// A field of a call's arguments.
#[derive(Debug)]
struct Field {
    path: String,
    patch: Patch,
    /// The text of a short field that may name a file.
    value: Option<String>,
    channels: Vec<(Option<String>, Channel)>,
}

/// The longest file name that is kept.
const MAX_NAME: usize = 4096;
/// The field of arguments that are no JSON.
const RAW: &str = "input";

impl Call {
    pub(super) fn new(tool: &str, wire: Option<Channel>) -> Call {
        Call {
            tool: tool.to_owned(),
            arguments: Some(Arguments::new()),
            has_begun: false,
            wire,
            fields: HashMap::new(),
            files: Vec::new(),
            pending: Vec::new(),
        }
    }
}

impl Monitor {
    pub(super) fn feed_call(&mut self, call: &mut Call, bytes: &[u8], hits: &mut Vec<(usize, Hit)>) {
        if let Some(mut wire) = call.wire.take() {
            let tool = call.tool.clone();
            self.watch_call(call, &mut wire, Some(bytes), Origin::Wire { tool: &tool }, None, hits);
            call.wire = Some(wire);
        }
        if !call.has_begun
            && let Some(first) = bytes.iter().find(|byte| !byte.is_ascii_whitespace())
        {
            call.has_begun = true;
            if !matches!(first, b'{' | b'[' | b'"') {
                call.arguments = None;
                let raw = Piece::Open { field: FieldId(0), path: RAW.to_owned() };
                self.take_piece(call, raw, hits);
            }
        }
        let mut pieces = Vec::new();
        match &mut call.arguments {
            // What is malformed from some byte on was watched up to there; the call itself will fail.
            Some(arguments) => drop(arguments.feed(bytes, &mut pieces)),
            None if call.has_begun => {
                let text = String::from_utf8_lossy(bytes).into_owned();
                pieces.push(Piece::Text { field: FieldId(0), text });
            }
            None => {}
        }
        for piece in pieces {
            self.take_piece(call, piece, hits);
        }
    }

    pub(super) fn finish_call(&mut self, call: &mut Call, hits: &mut Vec<(usize, Hit)>) {
        let mut pieces = Vec::new();
        match &mut call.arguments {
            Some(arguments) => drop(arguments.finish(&mut pieces)),
            None => pieces.push(Piece::Close { field: FieldId(0) }),
        }
        for piece in pieces {
            self.take_piece(call, piece, hits);
        }
        if let Some(mut wire) = call.wire.take() {
            let tool = call.tool.clone();
            self.watch_call(call, &mut wire, None, Origin::Wire { tool: &tool }, None, hits);
        }
    }

    fn take_piece(&mut self, call: &mut Call, piece: Piece, hits: &mut Vec<(usize, Hit)>) {
        match piece {
            Piece::Open { field, path } => {
                let name = path.rsplit(['.', ']']).find(|part| !part.is_empty()).unwrap_or_default();
                let name = name.split('[').next().unwrap_or_default();
                let value = is_path_key(name).then(String::new);
                call.fields.insert(field, Field { path, patch: Patch::new(), value, channels: Vec::new() });
            }
            Piece::Text { field, text } => {
                let Some(mut open) = call.fields.remove(&field) else { return };
                open.value = open
                    .value
                    .filter(|value| value.len() + text.len() <= MAX_NAME)
                    .map(|value| value + &text);
                let mut parts = Vec::new();
                open.patch.feed(&text, &mut parts);
                self.take_parts(call, &mut open, parts, hits);
                call.fields.insert(field, open);
            }
            Piece::Close { field } => {
                let Some(mut open) = call.fields.remove(&field) else { return };
                let mut parts = Vec::new();
                open.patch.finish(&mut parts);
                self.take_parts(call, &mut open, parts, hits);
                let tool = call.tool.clone();
                for (file, mut channel) in std::mem::take(&mut open.channels) {
                    let origin = Origin::Field { tool: &tool, field: &open.path };
                    self.watch_call(call, &mut channel, None, origin, file.as_deref(), hits);
                }
                if let Some(name) = open.value.filter(|value| !value.trim().is_empty()) {
                    self.learn_file(call, &name, hits);
                }
            }
        }
    }

    fn take_parts(
        &mut self,
        call: &mut Call,
        field: &mut Field,
        parts: Vec<Part>,
        hits: &mut Vec<(usize, Hit)>,
    ) {
        let tool = call.tool.clone();
        let Field { path: name, channels, .. } = field;
        for part in parts {
            let (file, text) = match part {
                Part::File { path } => {
                    let path = self.relative(&path);
                    self.learn_file(call, &path, hits);
                    channels.push((Some(path), self.channel()));
                    continue;
                }
                Part::Added { text } => (channels.last().and_then(|(file, _)| file.clone()), text),
                Part::Plain { text } => (None, text),
            };
            if !channels.iter().any(|(other, _)| *other == file) {
                channels.push((file.clone(), self.channel()));
            }
            let (_, channel) = channels.iter_mut().rfind(|(other, _)| *other == file).expect("just there");
            let origin = Origin::Field { tool: &tool, field: name };
            self.watch_call(call, channel, Some(text.as_bytes()), origin, file.as_deref(), hits);
        }
    }

    fn relative(&self, path: &str) -> String {
        match self.roots.place(path, &|_, _| false) {
            Place::Inside { path, .. } => path,
            _ => path.to_owned(),
        }
    }

    /// A file the call is about may let through what was found before it was known.
    fn learn_file(&mut self, call: &mut Call, path: &str, hits: &mut Vec<(usize, Hit)>) {
        let path = self.relative(path);
        if call.files.contains(&path) {
            return;
        }
        call.files.push(path);
        for (condition, hit) in std::mem::take(&mut call.pending) {
            let files = hit.file.as_ref().map_or_else(|| call.files.clone(), |file| vec![file.clone()]);
            match self.covers(condition, origin_of(&hit), &files) {
                Covers::Yes => hits.push((condition, hit)),
                Covers::IfFile => call.pending.push((condition, hit)),
                Covers::No => {}
            }
        }
    }

    fn watch_call(
        &mut self,
        call: &mut Call,
        channel: &mut Channel,
        bytes: Option<&[u8]>,
        origin: Origin<'_>,
        file: Option<&str>,
        hits: &mut Vec<(usize, Hit)>,
    ) {
        // The text of one file is for that file alone.
        let files = file.map_or_else(|| call.files.clone(), |file| vec![file.to_owned()]);
        let mut found = Vec::new();
        self.watch(channel, bytes, origin, file, &files, &mut found);
        for (condition, hit) in found {
            match self.covers(condition, origin, &files) {
                Covers::Yes => hits.push((condition, hit)),
                _ => call.pending.push((condition, hit)),
            }
        }
    }
}

fn origin_of(hit: &Hit) -> Origin<'_> {
    match (hit.scope, &hit.tool, &hit.field) {
        ("tool", Some(tool), Some(field)) => Origin::Field { tool, field },
        ("wire", Some(tool), _) => Origin::Wire { tool },
        ("thinking", ..) => Origin::Thinking,
        _ => Origin::Text,
    }
}
