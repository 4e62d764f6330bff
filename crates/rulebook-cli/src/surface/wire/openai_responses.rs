//! OpenAI's Responses.

mod tail;

use std::borrow::Cow;

use rulebook::stream::StreamKind;
use serde_json::{Value, json};

use super::cut::Deltas;
use super::edit::{Shapes, Slot};
use super::json::Json;
use super::node::Node;
use super::openai;
use super::protocol::{COMMENT, Wire, text};
use super::reader::{Reader, Step, Waits};
use super::request::{Call, Entry, Request, Role};

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
    splice: || Box::new(tail::Tail::default()),
    ping: COMMENT,
    error: |error| {
        let error = &openai::error(error)["error"];
        let code = if error["code"].is_string() { &error["code"] } else { &error["type"] };
        json!({ "type": "error", "message": error["message"], "code": code, "param": null })
    },
    error_is_chunk: false,
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

/// The events that carry a part when it begins and ends, with the key of its index.
const PARTS: &[(&str, StreamKind, &str)] = &[
    ("response.content_part", StreamKind::Text, "content_index"),
    ("response.reasoning_summary_part", StreamKind::Thinking, "summary_index"),
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
        feed_part(reader, stream, kind.clone(), event, whole, steps);
        return Some(if *kind == StreamKind::Thinking { Waits::Next } else { Waits::Nothing });
    }
    if let Some((_, whole, is_run)) = CALLS.iter().find(|(name, ..)| *name == what) {
        let stream = format!("{id}/call");
        let kind = reader.open.get(&stream).cloned().unwrap_or_else(|| reader.tool(&event["name"]));
        feed_part(reader, stream, kind, event, whole, steps);
        return Some(if *is_run { Waits::Nothing } else { Waits::End });
    }
    if let Some((_, kind, index)) = PARTS.iter().find(|(name, ..)| *name == what) {
        let part = reader.index(&format!("{id} {index}"), &event[*index]);
        let text = part_text(reader, &event["part"]);
        reader.feed_complete(&format!("{id}/{index} {part}"), kind.clone(), &text, steps);
        let is_whole = *kind == StreamKind::Text && end == "done";
        return Some(if is_whole { Waits::Nothing } else { Waits::Next });
    }
    Some(match kind {
        "response.output_item.added" => {
            let kind = item.text("type");
            if is_call(kind) {
                let (kind, input) = (reader.tool(tool_name(item)), input(reader, item));
                reader.feed(format!("{id}/call"), kind, input.as_deref(), steps);
            }
            feed_texts(reader, &id, item, steps);
            if is_call(kind) { waits_of_call(kind) } else { Waits::Next }
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

/// Reads a piece of a text, or the whole at its end.
fn feed_part(
    reader: &mut Reader,
    stream: String,
    kind: StreamKind,
    event: &Json<'_>,
    whole: &str,
    steps: &mut Vec<Step>,
) {
    if event.text("type").ends_with(".delta") {
        let text = reader.text(&event["delta"]);
        return reader.feed(stream, kind, text.as_deref(), steps);
    }
    let text = reader.text(&event[whole]).unwrap_or_default();
    reader.feed_complete(&stream, kind, &text, steps);
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
fn input(reader: &mut Reader, item: &Json<'_>) -> Option<String> {
    let (key, value) =
        INPUTS.iter().find_map(|key| Some((*key, item.get(key).filter(|value| !value.is_null())?)))?;
    // Calls of functions and of tools that take text have one; those of the provider's tools have objects and lists too.
    let is_text = matches!(key, "arguments" | "input" | "code");
    match value {
        value @ Json::Object(_) => Some(value.to_string()),
        value @ Json::List(_) if !is_text => Some(value.to_string()),
        value => reader.text(value).map(Cow::into_owned),
    }
}

fn part_text<'p>(reader: &mut Reader, part: &'p Json<'_>) -> Cow<'p, str> {
    ["text", "refusal"].into_iter().find_map(|key| reader.text(&part[key])).unwrap_or_default()
}

/// Reads an item that arrived whole: a call, texts or thoughts.
fn feed_item(reader: &mut Reader, id: &str, item: &Json<'_>, steps: &mut Vec<Step>) {
    if is_call(item.text("type")) {
        let input = input(reader, item).unwrap_or_default();
        let kind = reader.tool(tool_name(item));
        reader.feed_complete(&format!("{id}/call"), kind, &input, steps);
    }
    feed_texts(reader, id, item, steps);
}

fn feed_texts(reader: &mut Reader, id: &str, item: &Json<'_>, steps: &mut Vec<Step>) {
    let kind = if item.text("type") == "reasoning" { StreamKind::Thinking } else { StreamKind::Text };
    for (key, index, kind) in
        [("summary", "summary_index", StreamKind::Thinking), ("content", "content_index", kind)]
    {
        for (at, part) in reader.items(&item[key]).enumerate() {
            let text = part_text(reader, part);
            reader.feed_complete(&format!("{id}/{index} {at}"), kind.clone(), &text, steps);
        }
    }
}

/// Reads the items of a response.
fn feed_output(reader: &mut Reader, response: &Json<'_>, steps: &mut Vec<Step>) {
    for (at, item) in reader.items(&response["output"]).enumerate() {
        feed_item(reader, &at.to_string(), item, steps);
    }
}

fn read_whole(reader: &mut Reader, response: &Json<'_>, steps: &mut Vec<Step>) {
    feed_output(reader, response, steps);
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
