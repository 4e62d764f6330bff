//! Gemini's `generateContent` and `streamGenerateContent`.

use rulebook::stream::StreamKind;
use serde_json::{Value, json};

use super::reader::tool;
use super::request::{Call, Node};
use super::splice::Spent;
use super::{COMMENT, Deltas, Entry, Reader, Request, Role, Shapes, Slot, Splice, Step, Waits, Wire, text};

pub(super) const WIRE: Wire = Wire {
    name: "gemini",
    provider: "gemini",
    home: "https://generativelanguage.googleapis.com",
    variables: &[("GOOGLE_GEMINI_BASE_URL", "")],
    is_for: |path| path.ends_with(":streamGenerateContent") || path.ends_with(":generateContent"),
    request,
    shapes: Shapes {
        part: |text| json!({ "text": text }),
        told: |text| json!({ "role": "user", "parts": [{ "text": text }] }),
        said: |text| json!({ "role": "model", "parts": [{ "text": text }] }),
        standing: |text| json!({ "role": "user", "parts": [{ "text": text }] }),
        key: |text| ("systemInstruction", json!({ "parts": [{ "text": text }] })),
    },
    whole: |answer, reader, steps| {
        // Without events a stream of answers is one list.
        let answers = answer.as_array().map_or(std::slice::from_ref(answer), Vec::as_slice);
        for answer in answers {
            read(reader, answer, steps);
        }
        reader.end(steps);
    },
    usage: "usageMetadata",
    deltas: Deltas {
        texts: &["/candidates/0/content/parts/0/text"],
        once: &[
            "/candidates/1",
            "/candidates/0/content/parts/1",
            "/candidates/0/content/parts/0/thoughtSignature",
        ],
    },
    splice: || Box::new(Tail::default()),
    ping: COMMENT,
    error: |error| match error.get("error") {
        Some(_) => error.clone(),
        None => json!({ "error": { "code": 502, "message": error.to_string(), "status": "UNAVAILABLE" } }),
    },
};

pub(super) fn read(reader: &mut Reader, event: &Value, steps: &mut Vec<Step>) -> Waits {
    let mut waits = Waits::Nothing;
    for candidate in event["candidates"].as_array().into_iter().flatten() {
        let at = format!("gemini/{}", candidate["index"].as_u64().unwrap_or(0));
        for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
            if let Some(said) = part["text"].as_str() {
                let is_thought = part["thought"] == true;
                let (kind, name) =
                    if is_thought { (StreamKind::Thinking, "thought") } else { (StreamKind::Text, "text") };
                reader.feed(format!("{at}/{name}"), kind, Some(said), steps);
            }
            let call = &part["functionCall"];
            if call.is_object() {
                waits = waits.max(Waits::End);
                // A call comes whole.
                reader.messages += 1;
                let stream = format!("{at}/call {}", reader.messages);
                reader.whole(&stream, tool(&call["name"]), &call["args"].to_string(), steps);
            }
        }
        if candidate["finishReason"].is_string() {
            reader.close_below(&format!("{at}/"), steps);
            waits = Waits::Last;
        }
    }
    waits
}

/// One response, whose text goes on.
#[derive(Default)]
struct Tail {
    id: Value,
    has_said: bool,
    spent: Spent,
}

impl Tail {
    fn follow(&mut self, event: &Value) {
        self.spent.saw(&event["usageMetadata"]);
        let mut parts = event["candidates"][0]["content"]["parts"].as_array().into_iter().flatten();
        self.has_said |= parts.any(|part| part["thought"] != true && !text(part, "text").is_empty());
    }
}

impl Splice for Tail {
    fn went(&mut self, event: &Value) {
        if self.id.is_null() {
            self.id = event["responseId"].clone();
        }
        self.follow(event);
    }

    fn close(&mut self) -> Vec<Value> {
        self.spent.close();
        let parts = std::mem::take(&mut self.has_said).then(|| {
            let content = json!({ "role": "model", "parts": [{ "text": "\n\n" }] });
            json!({ "candidates": [{ "content": content, "index": 0 }], "responseId": self.id })
        });
        parts.into_iter().collect()
    }

    fn rewrite(&mut self, mut event: Value) -> Option<Value> {
        self.follow(&event);
        if !self.id.is_null() {
            event["responseId"] = self.id.clone();
        }
        if event["usageMetadata"].is_object() {
            event["usageMetadata"] = self.spent.total();
        }
        Some(event)
    }
}

fn request(path: &str, body: &str) -> Option<Request> {
    let root = Node::root(body)?;
    let fields = root.fields()?;
    let contents = fields.get("contents")?.items()?;
    let standing = ["systemInstruction", "system_instruction"].iter().find_map(|key| fields.get(*key));
    let parts = standing.and_then(Node::fields).and_then(|fields| fields.get("parts").copied());
    let entries: Option<Vec<Entry>> = contents.iter().map(entry).collect();
    let model =
        path.rsplit_once("/models/").map(|(_, rest)| rest.split(':').next().unwrap_or(rest).to_owned());
    Some(Request {
        model,
        has_tools: fields.get("tools").and_then(Node::items).is_some_and(|tools| !tools.is_empty()),
        key: None,
        follows: None,
        prefix: parts.as_ref().map_or(Slot::Key(root.inside()), Node::slot),
        standing: parts.map(|parts| parts.texts("text")).unwrap_or_default(),
        entries: entries?,
        end: Slot::Behind(contents.last()?.range().end),
    })
}

fn entry(content: &Node<'_>) -> Option<Entry> {
    let fields = content.fields()?;
    let role = fields.get("role").and_then(Node::text).unwrap_or_default();
    let parts = fields.get("parts")?;
    let mut entry = Entry::new(Role::named(&role), parts.slot());
    for part in parts.items()? {
        let part = part.value();
        entry.texts.extend(part["text"].as_str().map(str::to_owned));
        let call = &part["functionCall"];
        if call.is_object() {
            entry.calls.push(Call {
                id: text(call, "id").to_owned(),
                name: text(call, "name").to_owned(),
                input: call["args"].clone(),
            });
        }
        if part["functionResponse"].is_object() {
            entry.results.push(text(&part["functionResponse"], "id").to_owned());
            entry.told.push(part["functionResponse"]["response"].to_string());
        }
    }
    Some(entry)
}
