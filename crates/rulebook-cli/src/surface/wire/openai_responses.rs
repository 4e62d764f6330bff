//! OpenAI's Responses.

use rulebook::stream::StreamKind;
use serde_json::{Value, json};

use super::cut::Deltas;
use super::edit::{Shapes, Slot};
use super::json::Json;
use super::node::Node;
use super::openai;
use super::protocol::{COMMENT, Wire, text};
use super::reader::{Reader, Step, Waits, tool};
use super::request::{Call, Entry, Request, Role};
use super::splice::{Splice, Usage};

pub(super) const WIRE: Wire = Wire {
    name: "openai-responses",
    provider: "openai",
    home: "https://api.openai.com",
    variables: &[],
    headers: &[],
    paths: None,
    is_for: |path| path.ends_with("/responses"),
    parse,
    shapes: Shapes {
        part: |text| json!({ "type": "message", "role": "user", "content": text }),
        to_model: |text| message("developer", "input_text", text),
        from_model: |text| message("assistant", "output_text", text),
        system_entry: |text| message("developer", "input_text", text),
        system_key: |text| ("instructions", json!(text)),
    },
    read,
    read_whole,
    usage: "usage",
    deltas: Deltas { texts: &["/delta"], once: &["/logprobs"], number: Some("/sequence_number") },
    splice: || Box::new(Tail::default()),
    ping: COMMENT,
    error: |error| {
        let error = &openai::error(error)["error"];
        json!({ "type": "error", "message": error["message"], "code": error["type"], "param": null })
    },
    error_body: openai::error_body,
};

fn message(role: &str, kind: &str, text: &str) -> Value {
    json!({ "type": "message", "role": role, "content": [{ "type": kind, "text": text }] })
}

/// The calls that the provider runs itself.
const RUN_BY_PROVIDER: &[&str] =
    &["web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_call"];

/// What a call does, in the fields of its item: of a function, a tool that takes text, a tool of the provider.
const INPUTS: &[&str] = &["arguments", "input", "action", "operation", "code", "queries"];

/// The events that carry a text in pieces and end with the whole: the key of their index, and of the whole.
const TEXTS: &[(&str, StreamKind, &str, &str)] = &[
    ("response.output_text", StreamKind::Text, "content_index", "text"),
    ("response.refusal", StreamKind::Text, "content_index", "refusal"),
    ("response.reasoning_text", StreamKind::Thinking, "content_index", "text"),
    ("response.reasoning_summary_text", StreamKind::Thinking, "summary_index", "text"),
];

/// The same for what calls do, and whether the provider runs the call.
const CALLS: &[(&str, &str, bool)] = &[
    ("response.function_call_arguments", "arguments", false),
    ("response.custom_tool_call_input", "input", false),
    ("response.mcp_call_arguments", "arguments", true),
    ("response.code_interpreter_call_code", "code", true),
];

fn read(reader: &mut Reader, event: &Json<'_>, steps: &mut Vec<Step>) -> Option<Waits> {
    let kind = event["type"].as_str().filter(|kind| kind.starts_with("response.") || *kind == "error")?;
    let item = &event["item"];
    let name = event["item_id"].as_str().unwrap_or_else(|| item.text("id"));
    let id = match &event["output_index"] {
        Json::Null if !name.is_empty() => name.to_owned(),
        index => reader.index("output", index).to_string(),
    };
    let (what, end) = kind.rsplit_once('.').unwrap_or_default();
    if let Some((_, kind, index, whole)) = TEXTS.iter().find(|(name, ..)| *name == what) {
        let part = reader.index(&format!("{id} {index}"), &event[*index]);
        let stream = format!("{id}/{index} {part}");
        match end {
            "delta" => reader.feed(stream, kind.clone(), event["delta"].as_str(), steps),
            _ => reader.feed_complete(&stream, kind.clone(), event.text(whole), steps),
        }
        return Some(if *kind == StreamKind::Thinking { Waits::Next } else { Waits::Nothing });
    }
    if let Some((_, whole, is_run)) = CALLS.iter().find(|(name, ..)| *name == what) {
        let stream = format!("{id}/call");
        let kind = reader.open.get(&stream).cloned().unwrap_or_else(|| tool(&event["name"]));
        match end {
            "delta" => reader.feed(stream, kind, event["delta"].as_str(), steps),
            _ => reader.feed_complete(&stream, kind, event.text(whole), steps),
        }
        return Some(if *is_run { Waits::Nothing } else { Waits::End });
    }
    Some(match kind {
        "response.output_item.added" => {
            let kind = item.text("type");
            if is_call(kind) {
                reader.feed(format!("{id}/call"), tool(tool_name(item)), input(item).as_deref(), steps);
            }
            feed_texts(reader, &id, item, steps);
            if is_call(kind) { waits_of_call(kind) } else { Waits::Next }
        }
        "response.content_part.added" | "response.content_part.done" => {
            let part = reader.index(&format!("{id} content_index"), &event["content_index"]);
            let kind = StreamKind::Text;
            reader.feed_complete(
                &format!("{id}/content_index {part}"),
                kind,
                part_text(&event["part"]),
                steps,
            );
            if end == "added" { Waits::Next } else { Waits::Nothing }
        }
        "response.reasoning_summary_part.added" | "response.reasoning_summary_part.done" => {
            let part = reader.index(&format!("{id} summary_index"), &event["summary_index"]);
            let stream = format!("{id}/summary_index {part}");
            reader.feed_complete(&stream, StreamKind::Thinking, part_text(&event["part"]), steps);
            Waits::Next
        }
        "response.output_item.done" => {
            feed_item(reader, &id, item, steps);
            reader.close_below(&format!("{id}/"), steps);
            match item.text("type") {
                // A thought is refused later without what it led to.
                "reasoning" => Waits::Next,
                kind if is_call(kind) => waits_of_call(kind),
                _ => Waits::Nothing,
            }
        }
        "response.completed" | "response.incomplete" | "response.failed" | "error" => {
            feed_output(reader, &event["response"], steps);
            reader.end_response(steps)
        }
        _ if kind.starts_with("response.reasoning") => Waits::Next,
        _ => Waits::Nothing,
    })
}

fn is_call(kind: &str) -> bool {
    kind.ends_with("_call") || kind.ends_with("_approval_request")
}

fn waits_of_call(kind: &str) -> Waits {
    if RUN_BY_PROVIDER.contains(&kind) { Waits::Nothing } else { Waits::End }
}

/// The name of the tool that an item calls; that of its kind if it has no other.
fn tool_name<'i>(item: &'i Json<'i>) -> &'i Json<'i> {
    if item["name"].as_str().is_some() { &item["name"] } else { &item["type"] }
}

/// What a call does, as text or JSON.
fn input(item: &Json<'_>) -> Option<String> {
    let of_key = |key: &&str| match &item[*key] {
        Json::Text(text) => Some(text.to_string()),
        value @ (Json::Object(_) | Json::List(_)) => Some(value.to_string()),
        _ => None,
    };
    INPUTS.iter().find_map(of_key)
}

fn part_text<'p>(part: &'p Json<'p>) -> &'p str {
    ["text", "refusal"].into_iter().find_map(|key| part[key].as_str()).unwrap_or_default()
}

/// Reads an item that arrived whole: a call, texts or thoughts.
fn feed_item(reader: &mut Reader, id: &str, item: &Json<'_>, steps: &mut Vec<Step>) {
    if is_call(item.text("type")) {
        let input = input(item).unwrap_or_default();
        reader.feed_complete(&format!("{id}/call"), tool(tool_name(item)), &input, steps);
    }
    feed_texts(reader, id, item, steps);
}

fn feed_texts(reader: &mut Reader, id: &str, item: &Json<'_>, steps: &mut Vec<Step>) {
    let kind = if item.text("type") == "reasoning" { StreamKind::Thinking } else { StreamKind::Text };
    for (key, index, kind) in
        [("summary", "summary_index", StreamKind::Thinking), ("content", "content_index", kind)]
    {
        for (at, part) in item[key].items().iter().enumerate() {
            reader.feed_complete(&format!("{id}/{index} {at}"), kind.clone(), part_text(part), steps);
        }
    }
}

/// Reads the items of a response.
fn feed_output(reader: &mut Reader, response: &Json<'_>, steps: &mut Vec<Step>) {
    for (at, item) in response["output"].items().iter().enumerate() {
        feed_item(reader, &at.to_string(), item, steps);
    }
}

fn read_whole(reader: &mut Reader, response: &Json<'_>, steps: &mut Vec<Step>) {
    feed_output(reader, response, steps);
}

/// One response: its items and events are numbered on.
#[derive(Default)]
struct Tail {
    /// The id by which the client knows the response.
    id: Value,
    /// That id and the provider's of the current response, until they are taken.
    renamed: Option<(String, String)>,
    next_event: u64,
    /// Finished items, the open one, and the index of the next.
    done: Vec<Value>,
    open: Option<Open>,
    next: u64,
    /// Where the current response begins: the index of its first item, and how many items were finished.
    base: u64,
    kept: usize,
    usage: Usage,
}

struct Open {
    index: Value,
    item: Value,
    /// The part that was begun, if any.
    part: Option<Value>,
    text: String,
}

impl Tail {
    fn follow(&mut self, event: &Json<'_>) {
        self.next_event = event["sequence_number"].as_u64().map_or(self.next_event, |number| number + 1);
        match event.text("type") {
            "response.output_item.added" => {
                let index = &event["output_index"];
                self.next = self.next.max(index.as_u64().unwrap_or(0) + 1);
                let item = (&event["item"]).into();
                self.open = Some(Open { index: index.into(), item, part: None, text: String::new() });
            }
            "response.content_part.added" => {
                if let Some(open) = &mut self.open {
                    open.part = Some((&event["part"]).into());
                }
            }
            "response.output_text.delta" => {
                if let Some(open) = &mut self.open {
                    open.text.push_str(event.text("delta"));
                }
            }
            "response.output_item.done" => {
                self.open = None;
                self.done.push((&event["item"]).into());
            }
            "response.completed" | "response.incomplete" => self.usage.report(&event["response"]["usage"]),
            _ => {}
        }
    }

    fn numbered(&mut self, mut event: Value) -> Value {
        event["sequence_number"] = json!(self.next_event);
        self.next_event += 1;
        event
    }
}

impl Splice for Tail {
    fn sent(&mut self, event: &Json<'_>) {
        if self.id.is_null() {
            self.id = (&event["response"]["id"]).into();
        }
        self.follow(event);
    }

    fn close(&mut self) -> Vec<Value> {
        self.base = self.next;
        self.kept = self.done.len();
        self.usage.close();
        let Some(Open { index, mut item, part, text }) = self.open.take() else { return Vec::new() };
        let mut events = Vec::new();
        if let Some(mut part) = part {
            part["text"] = json!(text);
            let about = |mut event: Value| {
                event["item_id"] = item["id"].clone();
                event["output_index"] = index.clone();
                event["content_index"] = json!(0);
                event
            };
            events.push(about(json!({ "type": "response.output_text.done", "text": text })));
            events.push(about(json!({ "type": "response.content_part.done", "part": part })));
            item["content"] = json!([part]);
        }
        item["status"] = json!("completed");
        self.done.push(item.clone());
        self.kept = self.done.len();
        events.push(json!({ "type": "response.output_item.done", "output_index": index, "item": item }));
        events.into_iter().map(|event| self.numbered(event)).collect()
    }

    fn rewrite(&mut self, mut event: Value) -> Option<Value> {
        if !event.is_object() {
            return Some(event);
        }
        if matches!(text(&event, "type"), "response.created" | "response.in_progress" | "response.queued") {
            return None;
        }
        if let Some(index) = event["output_index"].as_u64() {
            event["output_index"] = json!(index + self.base);
        }
        let mut event = self.numbered(event);
        self.follow(&Json::from(&event));
        if event["response"].is_object() {
            let kept = self.done[..self.kept].to_vec();
            let response = &mut event["response"];
            if let Some(client) = self.id.as_str() {
                let provider = text(response, "id").to_owned();
                self.renamed =
                    (!provider.is_empty() && provider != client).then(|| (client.to_owned(), provider));
                response["id"] = self.id.clone();
            }
            if let Some(output) = response["output"].as_array_mut() {
                output.splice(0..0, kept);
            }
            if response["usage"].is_object() {
                response["usage"] = self.usage.total();
            }
        }
        Some(event)
    }

    fn renamed(&mut self) -> Option<(String, String)> {
        self.renamed.take()
    }
}

fn parse(_: &str, body: &str) -> Option<Request> {
    let root = Node::root(body)?;
    let fields = root.fields()?;
    let input = fields.get("input")?;
    let instructions = fields.get("instructions").filter(|node| !node.is_null());
    let items = input.items();
    let (entries, end) = match &items {
        Some(items) => {
            let entries = items.iter().filter_map(entry).collect();
            (entries, Slot::After(items.last().map(|last| last.range().end)?))
        }
        None => {
            let mut only = Entry::new(Role::User, Slot::Text(input.range()));
            only.texts.push(input.text()?);
            (vec![only], Slot::Text(input.range()))
        }
    };
    let follows = fields.get("previous_response_id").filter(|node| !node.is_null());
    Some(Request {
        model: fields.get("model").and_then(Node::text),
        has_tools: fields.get("tools").is_some_and(Node::has_items),
        has_choices: false,
        key: fields.get("prompt_cache_key").and_then(Node::text),
        follows: follows.and_then(|node| Some((node.text()?, node.range()))),
        prefix: instructions.map_or(Slot::Key(root.inside()), Node::text_slot),
        system: instructions.and_then(Node::text).into_iter().collect(),
        entries,
        end,
    })
}

fn entry(item: &Node<'_>) -> Option<Entry> {
    let value = item.value();
    let slot = Slot::After(item.range().end);
    let kind = text(&value, "type");
    let id = || text(&value, "call_id").to_owned();
    if kind.ends_with("_call_output") {
        let mut entry = Entry::new(Role::Tool, slot);
        let parts = value["output"].as_array().into_iter().flatten();
        let parts = parts.filter_map(|part| part["text"].as_str());
        let texts = value["output"].as_str().into_iter().chain(parts);
        entry.add_result(&id(), texts.map(str::to_owned), false);
        return Some(entry);
    }
    if kind.ends_with("_call") {
        let mut entry = Entry::new(Role::Assistant, slot);
        let input = INPUTS.iter().find_map(|key| value.get(*key));
        let name = if value["name"].is_string() { "name" } else { "type" };
        entry.calls.push(Call {
            id: id(),
            name: text(&value, name).to_owned(),
            input: input.map(openai::arguments).unwrap_or_default(),
        });
        return Some(entry);
    }
    let role = if kind == "reasoning" { Role::Assistant } else { openai::role(text(&value, "role")) };
    let mut entry = Entry::new(role, slot);
    entry.texts.extend(value["content"].as_str().map(str::to_owned));
    let parts = value["content"].as_array().into_iter().flatten();
    entry.texts.extend(parts.map(|part| text(part, "text").to_owned()));
    Some(entry)
}
