//! OpenAI's Chat Completions.

use rulebook::stream::StreamKind;
use serde_json::{Value, json};

use super::reader::tool;
use super::request::{Call, Node};
use super::splice::Spent;
use super::{COMMENT, Deltas, Entry, Reader, Request, Role, Shapes, Slot, Splice, Step, Waits, Wire, text};

pub(super) const WIRE: Wire = Wire {
    name: "openai-chat",
    provider: "openai",
    home: "https://api.openai.com",
    variables: &[("OPENAI_BASE_URL", "/v1"), ("OPENAI_API_BASE", "/v1")],
    is_for: |path| path.ends_with("/chat/completions"),
    request,
    shapes: Shapes {
        part: |text| json!({ "type": "text", "text": text }),
        told: |text| json!({ "role": "user", "content": text }),
        said: |text| json!({ "role": "assistant", "content": text }),
        standing: |text| json!({ "role": "system", "content": text }),
        key: |text| ("system", json!(text)),
    },
    whole,
    usage: "usage",
    deltas: Deltas {
        texts: &[
            "/choices/0/delta/content",
            "/choices/0/delta/refusal",
            "/choices/0/delta/reasoning_content",
            "/choices/0/delta/reasoning",
        ],
        once: &["/choices/1", "/choices/0/logprobs"],
    },
    splice: || Box::new(Tail::default()),
    ping: COMMENT,
    error: super::openai_error,
};

/// What an answer says, and how.
fn said() -> [(StreamKind, &'static str); 4] {
    [
        (StreamKind::Text, "content"),
        (StreamKind::Text, "refusal"),
        (StreamKind::Thinking, "reasoning_content"),
        (StreamKind::Thinking, "reasoning"),
    ]
}

pub(super) fn read(reader: &mut Reader, event: &Value, steps: &mut Vec<Step>) -> Waits {
    let id = text(event, "id");
    let mut waits = Waits::Nothing;
    for choice in event["choices"].as_array().into_iter().flatten() {
        let (delta, at) = (&choice["delta"], format!("{id}/{}", choice["index"]));
        for (kind, key) in said() {
            if let Some(text) = delta[key].as_str() {
                reader.feed(format!("{at}/{key}"), kind, Some(text), steps);
            }
        }
        let calls = delta["tool_calls"].as_array().into_iter().flatten();
        for (place, call) in calls.enumerate() {
            waits = waits.max(Waits::End);
            let number = if call["index"].is_null() { &call["id"] } else { &call["index"] };
            let number = if number.is_null() { place.to_string() } else { number.to_string() };
            let stream = format!("{at}/call {number}");
            // Some give every call the same index.
            if let Some(id) = call["id"].as_str().filter(|id| !id.is_empty())
                && reader.calls.insert(stream.clone(), id.to_owned()).is_some_and(|other| other != id)
            {
                reader.close(&stream, steps);
            }
            feed_function(reader, stream, &call["function"], steps);
        }
        if delta["function_call"].is_object() {
            waits = waits.max(Waits::End);
            feed_function(reader, format!("{at}/call"), &delta["function_call"], steps);
        }
        if choice["finish_reason"].as_str().is_some_and(|reason| !reason.is_empty()) {
            reader.close_below(&format!("{at}/"), steps);
            // Another choice may go on.
            waits = if reader.open.is_empty() { Waits::Last } else { Waits::End };
        }
    }
    waits
}

fn feed_function(reader: &mut Reader, stream: String, function: &Value, steps: &mut Vec<Step>) {
    reader.feed(stream, tool(&function["name"]), function["arguments"].as_str(), steps);
}

fn whole(answer: &Value, reader: &mut Reader, steps: &mut Vec<Step>) {
    for choice in answer["choices"].as_array().into_iter().flatten() {
        let (message, at) = (&choice["message"], &choice["index"]);
        for (kind, key) in said() {
            if let Some(text) = message[key].as_str() {
                reader.whole(&format!("{at}/{key}"), kind, text, steps);
            }
        }
        let calls = message["tool_calls"].as_array().into_iter().flatten();
        for (place, call) in
            calls.map(|call| &call["function"]).chain([&message["function_call"]]).enumerate()
        {
            reader.whole(&format!("{at}/call {place}"), tool(&call["name"]), text(call, "arguments"), steps);
        }
    }
}

/// One completion, whose text goes on.
#[derive(Default)]
struct Tail {
    /// What every chunk says of the completion.
    head: Vec<(&'static str, Value)>,
    has_said: bool,
    spent: Spent,
}

impl Tail {
    fn follow(&mut self, event: &Value) {
        self.spent.saw(&event["usage"]);
        let delta = &event["choices"][0]["delta"];
        self.has_said |= delta["content"].as_str().is_some_and(|text| !text.is_empty());
    }
}

impl Splice for Tail {
    fn went(&mut self, event: &Value) {
        if self.head.is_empty() {
            let keys = ["id", "object", "created", "model"];
            self.head = keys.iter().map(|key| (*key, event[*key].clone())).collect();
        }
        self.follow(event);
    }

    fn close(&mut self) -> Vec<Value> {
        self.spent.close();
        // There is one text; what was said and what is said now are apart in it.
        let parts = std::mem::take(&mut self.has_said).then(|| {
            let mut chunk =
                json!({ "choices": [{ "index": 0, "delta": { "content": "\n\n" }, "finish_reason": null }] });
            self.head.iter().for_each(|(key, value)| chunk[*key] = value.clone());
            chunk
        });
        parts.into_iter().collect()
    }

    fn rewrite(&mut self, mut event: Value) -> Option<Value> {
        self.follow(&event);
        for (key, value) in self.head.iter().filter(|(_, value)| !value.is_null()) {
            event[*key] = value.clone();
        }
        if event["usage"].is_object() {
            event["usage"] = self.spent.total();
        }
        Some(event)
    }
}

fn request(_: &str, body: &str) -> Option<Request> {
    let root = Node::root(body)?;
    let fields = root.fields()?;
    let messages = fields.get("messages")?.items()?;
    let mut entries = Vec::new();
    let mut prefix = Slot::Before(messages.first()?.range().start);
    let mut standing = Vec::new();
    for message in &messages {
        let (entry, content) = entry(message)?;
        // The system's words stand before the conversation, and may be several.
        if entry.role == Role::System && entries.is_empty() {
            prefix = content.map_or(Slot::Behind(message.range().end), |content| content.standing());
            standing.extend(entry.texts);
        } else {
            entries.push(entry);
        }
    }
    let tools = |key: &str| fields.get(key).and_then(Node::items).is_some_and(|tools| !tools.is_empty());
    Some(Request {
        model: fields.get("model").and_then(Node::text),
        has_tools: tools("tools") || tools("functions"),
        key: fields.get("prompt_cache_key").and_then(Node::text),
        follows: None,
        prefix,
        standing,
        entries,
        end: Slot::Behind(messages.last()?.range().end),
    })
}

fn entry<'b>(message: &Node<'b>) -> Option<(Entry, Option<Node<'b>>)> {
    let fields = message.fields()?;
    let mut entry = Entry::new(Role::named(&fields.get("role")?.text()?), Slot::Behind(message.range().end));
    let content = fields.get("content").filter(|content| !content.is_null()).copied();
    entry.texts = content.map(|content| content.texts("text")).unwrap_or_default();
    entry.results.extend(fields.get("tool_call_id").and_then(Node::text));
    for call in fields.get("tool_calls").and_then(Node::items).into_iter().flatten() {
        let call = call.value();
        entry.calls.push(Call {
            id: text(&call, "id").to_owned(),
            name: text(&call["function"], "name").to_owned(),
            input: super::arguments(&call["function"]["arguments"]),
        });
    }
    Some((entry, content))
}
