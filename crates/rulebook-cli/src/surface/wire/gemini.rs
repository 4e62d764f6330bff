//! Gemini's `generateContent` and `streamGenerateContent`.

use rulebook::stream::StreamKind;
use serde_json::{Value, json};

use super::cut::Deltas;
use super::edit::{Shapes, Slot};
use super::json::Json;
use super::node::Node;
use super::protocol::{COMMENT, Failure, Wire, message, text};
use super::reader::{Reader, Step, Waits};
use super::request::{Call, Entry, Request, Role};
use super::splice::{Splice, Usage};

pub(super) const WIRE: Wire = Wire {
    name: "gemini",
    provider: "gemini",
    home: "https://generativelanguage.googleapis.com",
    variables: &[("GOOGLE_GEMINI_BASE_URL", "")],
    headers: &["x-goog-api-key"],
    paths: Some("/v1beta"),
    is_for: |path| path.ends_with(":streamGenerateContent") || path.ends_with(":generateContent"),
    parse,
    shapes: Shapes {
        part: |text| json!({ "text": text }),
        to_model: |text| json!({ "role": "user", "parts": [{ "text": text }] }),
        from_model: |text| json!({ "role": "model", "parts": [{ "text": text }] }),
        system_entry: |text| json!({ "role": "user", "parts": [{ "text": text }] }),
        system_key: |text| ("systemInstruction", json!({ "parts": [{ "text": text }] })),
    },
    read,
    read_whole: |reader, response, steps| {
        // Without events, a stream of responses is one list.
        let responses = if response.is_list() { response.items() } else { std::slice::from_ref(response) };
        for response in responses {
            read(reader, response, steps);
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
        number: None,
    },
    splice: || Box::new(Tail::default()),
    ping: COMMENT,
    error: |error| match error.get("error") {
        // Without a code, clients do not take it for an error.
        Some(inner) if inner["code"].is_number() => error.clone(),
        Some(inner) => error_body(Failure::Unavailable, &message(inner.get("message").unwrap_or(inner))),
        None => error_body(Failure::Unavailable, &message(error)),
    },
    error_is_chunk: true,
    error_body,
};

fn error_body(failure: Failure, message: &str) -> Value {
    let status = match failure {
        Failure::NoToken => "UNAUTHENTICATED",
        Failure::Forbidden => "PERMISSION_DENIED",
        Failure::Unavailable => "UNAVAILABLE",
    };
    json!({ "error": { "code": failure.status(), "message": message, "status": status } })
}

fn read(reader: &mut Reader, event: &Json<'_>, steps: &mut Vec<Step>) -> Option<Waits> {
    if event["candidates"].is_null() {
        return event["error"].is_object().then(|| reader.end_response(steps));
    }
    let mut waits = Waits::Nothing;
    for (position, candidate) in reader.items(&event["candidates"]).enumerate() {
        let at = reader.choice(position, &candidate["index"]);
        for part in reader.items(&candidate["content"]["parts"]) {
            if let Some(text) = reader.text(&part["text"]) {
                let (kind, name) = match reader.is_true(&part["thought"]) {
                    true => (StreamKind::Thinking, "thought"),
                    false => (StreamKind::Text, "text"),
                };
                reader.feed(format!("{at}/{name}"), kind, Some(&text), steps);
            }
            for call in ["functionCall", "function_call"].map(|key| &part[key]) {
                if !call.is_null() {
                    waits = waits.max(Waits::End);
                    feed_call(reader, call, steps);
                }
            }
            // The provider runs it.
            for code in ["executableCode", "executable_code"].map(|key| &part[key]) {
                let Some(code) = reader.object(code) else { continue };
                reader.count += 1;
                let stream = format!("code {}", reader.count);
                reader.feed_whole(&stream, StreamKind::Tool("executableCode".to_owned()), &code, steps);
            }
        }
        // Clients in Python read both spellings.
        if ["finishReason", "finish_reason"].iter().any(|key| candidate[*key].as_str().is_some()) {
            reader.end_partial(steps);
            reader.close_below(&format!("{at}/"), steps);
            waits = Waits::Last;
        }
    }
    Some(waits)
}

/// Reads a call. Usually it arrives whole; with streamed arguments, each part has paths and values.
fn feed_call(reader: &mut Reader, call: &Json<'_>, steps: &mut Vec<Step>) {
    reader.has_odd_fields |= !call.is_object();
    let continues = ["willContinue", "will_continue"].iter().any(|key| reader.is_true(&call[*key]));
    let has_parts = ["partialArgs", "partial_args"].iter().any(|key| !call[*key].is_empty());
    if !has_parts && !continues && reader.partial.is_none() {
        reader.count += 1;
        let stream = format!("call {}", reader.count);
        let (kind, args) = (reader.tool(&call["name"]), reader.object(&call["args"]));
        return reader.feed_whole(&stream, kind, args.as_deref().unwrap_or("{}"), steps);
    }
    // Parts have values of every type; paths and names are texts.
    for key in ["name", "args"] {
        reader.has_odd_fields |= !matches!(
            (key, &call[key]),
            (_, Json::Null) | ("name", Json::Text(_)) | ("args", Json::Object(_))
        );
    }
    if reader.partial.as_ref().is_some_and(|open| !call.text("name").is_empty() && open.has_name()) {
        reader.end_partial(steps);
    }
    reader.partial.get_or_insert_default().add(call);
    if !continues {
        reader.end_partial(steps);
    }
}

/// One response: its text continues.
#[derive(Default)]
struct Tail {
    id: Value,
    has_text: bool,
    usage: Usage,
}

impl Tail {
    fn follow(&mut self, event: &Json<'_>) {
        self.usage.report(&event["usageMetadata"]);
        let candidate = event["candidates"].items().first();
        let mut parts = candidate.into_iter().flat_map(|candidate| candidate["content"]["parts"].items());
        self.has_text |= parts.any(|part| !part["thought"].is_true() && !part.text("text").is_empty());
    }
}

impl Splice for Tail {
    fn sent(&mut self, event: &Json<'_>) {
        if self.id.is_null() {
            self.id = (&event["responseId"]).into();
        }
        self.follow(event);
    }

    fn close(&mut self) -> Vec<Value> {
        self.usage.close();
        let separator = std::mem::take(&mut self.has_text).then(|| {
            let content = json!({ "role": "model", "parts": [{ "text": "\n\n" }] });
            json!({ "candidates": [{ "content": content, "index": 0 }], "responseId": self.id })
        });
        separator.into_iter().collect()
    }

    fn rewrite(&mut self, mut event: Value) -> Option<Value> {
        self.follow(&Json::from(&event));
        if !self.id.is_null() {
            event["responseId"] = self.id.clone();
        }
        if event["usageMetadata"].is_object() {
            event["usageMetadata"] = self.usage.total();
        }
        Some(event)
    }
}

fn parse(path: &str, body: &str) -> Option<Request> {
    let root = Node::root(body)?;
    let fields = root.fields()?;
    let contents = fields.get("contents")?.items()?;
    let system = ["systemInstruction", "system_instruction"].iter().find_map(|key| fields.get(*key));
    let parts = system.and_then(Node::fields).and_then(|fields| fields.get("parts").copied());
    let entries: Option<Vec<Entry>> = contents.iter().map(entry).collect();
    let model =
        path.rsplit_once("/models/").map(|(_, rest)| rest.split(':').next().unwrap_or(rest).to_owned());
    Some(Request {
        model,
        has_tools: fields.get("tools").is_some_and(Node::has_items),
        has_choices: ["generationConfig", "generation_config"]
            .iter()
            .find_map(|key| fields.get(*key)?.fields()?.get("candidateCount").copied())
            .is_some_and(|count| count.value().as_u64() != Some(1)),
        key: None,
        follows: None,
        prefix: parts.as_ref().map_or(Slot::Key(root.inside()), Node::parts_slot),
        system: parts.map(|parts| parts.texts("text")).unwrap_or_default(),
        entries: entries?,
        end: Slot::After(contents.last()?.range().end),
    })
}

fn entry(content: &Node<'_>) -> Option<Entry> {
    let fields = content.fields()?;
    let role = match fields.get("role").and_then(Node::text).as_deref() {
        Some("model") => Role::Assistant,
        Some("system") => Role::System,
        Some("function" | "tool") => Role::Tool,
        _ => Role::User,
    };
    let parts = fields.get("parts")?;
    let mut entry = Entry::new(role, parts.parts_slot());
    for part in parts.items()? {
        let part = part.value();
        entry.texts.extend(part["text"].as_str().map(str::to_owned));
        let either =
            |camel: &str, snake: &str| if part[camel].is_object() { &part[camel] } else { &part[snake] };
        let call = either("functionCall", "function_call");
        if call.is_object() {
            entry.calls.push(Call {
                id: text(call, "id").to_owned(),
                name: text(call, "name").to_owned(),
                input: call["args"].clone(),
            });
        }
        let response = either("functionResponse", "function_response");
        if response.is_object() {
            entry.add_result(text(response, "id"), [response["response"].to_string()], false);
        }
    }
    Some(entry)
}
