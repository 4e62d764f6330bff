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

fn read(reader: &mut Reader, event: &Json<'_>, steps: &mut Vec<Step>) -> Option<Waits> {
    let kind = event["type"].as_str().filter(|kind| kind.starts_with("response.") || *kind == "error")?;
    let item = &event["item"];
    let id = event["item_id"].as_str().unwrap_or_else(|| item.text("id"));
    let part = |name: &str| format!("{id}/{name} {}{}", event["content_index"], event["summary_index"]);
    let delta = event["delta"].as_str();
    let is_call = |kind: &str| kind.ends_with("_call");
    Some(match kind {
        "response.output_item.added" => {
            let kind = item.text("type");
            if is_call(kind) {
                reader.feed(format!("{id}/call"), tool(&item["name"]), None, steps);
            }
            match kind {
                call if RUN_BY_PROVIDER.contains(&call) => Waits::Nothing,
                call if is_call(call) => Waits::End,
                _ => Waits::Next,
            }
        }
        "response.output_text.delta" | "response.refusal.delta" => {
            reader.feed(part("text"), StreamKind::Text, delta, steps);
            Waits::Nothing
        }
        "response.content_part.added" => Waits::Next,
        "response.reasoning_text.delta" | "response.reasoning_summary_text.delta" => {
            reader.feed(part("thinking"), StreamKind::Thinking, delta, steps);
            Waits::Next
        }
        "response.function_call_arguments.delta"
        | "response.mcp_call_arguments.delta"
        | "response.custom_tool_call_input.delta" => {
            reader.feed(format!("{id}/call"), tool(&Json::Null), delta, steps);
            Waits::Nothing
        }
        "response.output_item.done" => {
            feed_action(item, id, reader, steps);
            reader.close_below(&format!("{id}/"), steps);
            // A thought is refused later without what it led to.
            if item.text("type") == "reasoning" { Waits::Next } else { Waits::Nothing }
        }
        "response.completed" | "response.incomplete" | "response.failed" | "error" => {
            reader.end_response(steps)
        }
        _ if kind.starts_with("response.reasoning") => Waits::Next,
        _ => Waits::Nothing,
    })
}

/// Feeds a call whose arguments arrive only with its end.
fn feed_action(item: &Json<'_>, id: &str, reader: &mut Reader, steps: &mut Vec<Step>) {
    let kind = item.text("type");
    let has_deltas = matches!(kind, "function_call" | "custom_tool_call");
    if kind.ends_with("_call") && !has_deltas && item["action"].is_object() {
        reader.feed(format!("{id}/call"), tool(&item["type"]), Some(&item["action"].to_string()), steps);
    }
}

fn read_whole(reader: &mut Reader, response: &Json<'_>, steps: &mut Vec<Step>) {
    for (at, item) in response["output"].items().iter().enumerate() {
        let thoughts = item["summary"].items().iter().map(|part| (StreamKind::Thinking, part.text("text")));
        let kind = if item.text("type") == "reasoning" { StreamKind::Thinking } else { StreamKind::Text };
        let texts = item["content"].items().iter().map(|part| (kind.clone(), part.text("text")));
        for (place, (kind, text)) in thoughts.chain(texts).enumerate() {
            reader.feed_whole(&format!("{at}/{place}"), kind, text, steps);
        }
        if item.text("type").ends_with("_call") {
            let input = ["arguments", "input"].iter().find_map(|key| item[key].as_str());
            let action = item["action"].is_object().then(|| item["action"].to_string());
            let name = if item["name"].as_str().is_some() { &item["name"] } else { &item["type"] };
            let input = input.or(action.as_deref()).unwrap_or_default();
            reader.feed_whole(&format!("{at}/call"), tool(name), input, steps);
        }
    }
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
        let input = ["arguments", "input", "action"].iter().find_map(|key| value.get(*key));
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
