//! OpenAI's Responses.

use rulebook::stream::StreamKind;
use serde_json::{Value, json};

use super::reader::tool;
use super::request::{Call, Node};
use super::splice::Spent;
use super::{COMMENT, Deltas, Entry, Reader, Request, Role, Shapes, Slot, Splice, Step, Waits, Wire, text};

pub(super) const WIRE: Wire = Wire {
    name: "openai-responses",
    provider: "openai",
    home: "https://api.openai.com",
    variables: &[],
    is_for: |path| path.ends_with("/responses"),
    request,
    shapes: Shapes {
        part: |text| json!({ "type": "message", "role": "user", "content": text }),
        told: |text| message("developer", "input_text", text),
        said: |text| message("assistant", "output_text", text),
        standing: |text| message("developer", "input_text", text),
        key: |text| ("instructions", json!(text)),
    },
    whole,
    usage: "usage",
    deltas: Deltas { texts: &["/delta"], once: &["/logprobs"] },
    splice: || Box::new(Tail::default()),
    ping: COMMENT,
    error: |error| {
        let error = super::openai_error(error);
        json!({ "type": "error", "message": error["error"]["message"], "code": error["error"]["type"], "param": null })
    },
};

fn message(role: &str, kind: &str, text: &str) -> Value {
    json!({ "type": "message", "role": role, "content": [{ "type": kind, "text": text }] })
}

/// The calls that the provider carries out itself.
const SERVED: &[&str] =
    &["web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_call"];

pub(super) fn read(reader: &mut Reader, kind: &str, event: &Value, steps: &mut Vec<Step>) -> Waits {
    let of_item = &event["item"];
    let item = event["item_id"].as_str().or_else(|| of_item["id"].as_str()).unwrap_or_default();
    let part = |name: &str| format!("{item}/{name} {}{}", event["content_index"], event["summary_index"]);
    let delta = event["delta"].as_str();
    let is_call = |kind: &str| kind.ends_with("_call");
    match kind {
        "response.output_item.added" => {
            let kind = text(of_item, "type");
            if is_call(kind) {
                reader.feed(format!("{item}/call"), tool(&of_item["name"]), None, steps);
            }
            return match kind {
                served if SERVED.contains(&served) => Waits::Nothing,
                call if is_call(call) => Waits::End,
                _ => Waits::Next,
            };
        }
        "response.output_text.delta" | "response.refusal.delta" => {
            reader.feed(part("text"), StreamKind::Text, delta, steps);
        }
        "response.content_part.added" => return Waits::Next,
        "response.reasoning_text.delta" | "response.reasoning_summary_text.delta" => {
            reader.feed(part("thinking"), StreamKind::Thinking, delta, steps);
            return Waits::Next;
        }
        "response.function_call_arguments.delta"
        | "response.mcp_call_arguments.delta"
        | "response.custom_tool_call_input.delta" => {
            reader.feed(format!("{item}/call"), tool(&Value::Null), delta, steps);
        }
        "response.output_item.done" => {
            whole_call(of_item, item, reader, steps);
            reader.close_below(&format!("{item}/"), steps);
            // Thought without what it led to is refused when it comes again.
            if text(of_item, "type") == "reasoning" {
                return Waits::Next;
            }
        }
        "response.completed" | "response.incomplete" | "response.failed" => {
            reader.end(steps);
            return Waits::Last;
        }
        _ if kind.starts_with("response.reasoning") => return Waits::Next,
        _ => {}
    }
    Waits::Nothing
}

/// A call whose arguments came with its end alone.
fn whole_call(item: &Value, id: &str, reader: &mut Reader, steps: &mut Vec<Step>) {
    let is_told = matches!(text(item, "type"), "function_call" | "custom_tool_call");
    if text(item, "type").ends_with("_call") && !is_told && item["action"].is_object() {
        reader.feed(format!("{id}/call"), tool(&item["type"]), Some(&item["action"].to_string()), steps);
    }
}

fn whole(answer: &Value, reader: &mut Reader, steps: &mut Vec<Step>) {
    for (at, item) in answer["output"].as_array().into_iter().flatten().enumerate() {
        let parts = |key: &str| item[key].as_array().into_iter().flatten();
        let thoughts = parts("summary").map(|part| (StreamKind::Thinking, text(part, "text")));
        let kind = if text(item, "type") == "reasoning" { StreamKind::Thinking } else { StreamKind::Text };
        let texts = parts("content").map(|part| (kind.clone(), text(part, "text")));
        for (place, (kind, text)) in thoughts.chain(texts).enumerate() {
            reader.whole(&format!("{at}/{place}"), kind, text, steps);
        }
        if text(item, "type").ends_with("_call") {
            let input = ["arguments", "input"].iter().find_map(|key| item[*key].as_str());
            let action = item["action"].is_object().then(|| item["action"].to_string());
            let name = if item["name"].is_string() { &item["name"] } else { &item["type"] };
            let input = input.or(action.as_deref()).unwrap_or_default();
            reader.whole(&format!("{at}/call"), tool(name), input, steps);
        }
    }
}

/// One response, whose items and events are counted on.
#[derive(Default)]
struct Tail {
    /// What the client knows the response by.
    id: Value,
    next_event: u64,
    /// Items that are done, the one that is open with the part and the text it has so far, and the next one's index.
    done: Vec<Value>,
    open: Option<Open>,
    next: u64,
    /// Where the answer that comes now begins: its first item's index, and how many items were done.
    base: u64,
    kept: usize,
    spent: Spent,
}

struct Open {
    index: Value,
    item: Value,
    /// Whether a part was begun.
    part: Option<Value>,
    text: String,
}

impl Tail {
    fn follow(&mut self, event: &Value) {
        self.next_event = event["sequence_number"].as_u64().map_or(self.next_event, |number| number + 1);
        match text(event, "type") {
            "response.output_item.added" => {
                let item = event["item"].clone();
                let index = event["output_index"].clone();
                self.next = self.next.max(index.as_u64().unwrap_or(0) + 1);
                self.open = Some(Open { index, item, part: None, text: String::new() });
            }
            "response.content_part.added" => {
                if let Some(open) = &mut self.open {
                    open.part = Some(event["part"].clone());
                }
            }
            "response.output_text.delta" => {
                if let Some(open) = &mut self.open {
                    open.text.push_str(text(event, "delta"));
                }
            }
            "response.output_item.done" => {
                self.open = None;
                self.done.push(event["item"].clone());
            }
            "response.completed" | "response.incomplete" => self.spent.saw(&event["response"]["usage"]),
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
    fn went(&mut self, event: &Value) {
        if self.id.is_null() {
            self.id = event["response"]["id"].clone();
        }
        self.follow(event);
    }

    fn close(&mut self) -> Vec<Value> {
        self.base = self.next;
        self.kept = self.done.len();
        self.spent.close();
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
        if matches!(text(&event, "type"), "response.created" | "response.in_progress" | "response.queued") {
            return None;
        }
        if let Some(index) = event["output_index"].as_u64() {
            event["output_index"] = json!(index + self.base);
        }
        let mut event = self.numbered(event);
        self.follow(&event);
        if event["response"].is_object() {
            let kept = self.done[..self.kept].to_vec();
            let response = &mut event["response"];
            if !self.id.is_null() {
                response["id"] = self.id.clone();
            }
            if let Some(output) = response["output"].as_array_mut() {
                output.splice(0..0, kept);
            }
            if response["usage"].is_object() {
                response["usage"] = self.spent.total();
            }
        }
        Some(event)
    }
}

fn request(_: &str, body: &str) -> Option<Request> {
    let root = Node::root(body)?;
    let fields = root.fields()?;
    let input = fields.get("input")?;
    let instructions = fields.get("instructions").filter(|node| !node.is_null());
    let items = input.items();
    let (entries, end) = match &items {
        Some(items) => {
            let entries = items.iter().filter_map(entry).collect();
            (entries, Slot::Behind(items.last().map(|last| last.range().end)?))
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
        has_tools: fields.get("tools").and_then(Node::items).is_some_and(|tools| !tools.is_empty()),
        key: fields.get("prompt_cache_key").and_then(Node::text),
        follows: follows.and_then(|node| Some((node.text()?, node.range()))),
        prefix: instructions.map_or(Slot::Key(root.inside()), Node::standing),
        standing: instructions.and_then(Node::text).into_iter().collect(),
        entries,
        end,
    })
}

fn entry(item: &Node<'_>) -> Option<Entry> {
    let value = item.value();
    let slot = Slot::Behind(item.range().end);
    let kind = text(&value, "type");
    let id = || text(&value, "call_id").to_owned();
    if kind.ends_with("_call_output") {
        let mut entry = Entry::new(Role::Tool, slot);
        entry.results.push(id());
        entry.told.extend(value["output"].as_str().map(str::to_owned));
        return Some(entry);
    }
    if kind.ends_with("_call") {
        let mut entry = Entry::new(Role::Assistant, slot);
        let input = ["arguments", "input", "action"].iter().find_map(|key| value.get(*key));
        let name = if value["name"].is_string() { "name" } else { "type" };
        entry.calls.push(Call {
            id: id(),
            name: text(&value, name).to_owned(),
            input: input.map(super::arguments).unwrap_or_default(),
        });
        return Some(entry);
    }
    let role = if kind == "reasoning" { Role::Assistant } else { Role::named(text(&value, "role")) };
    let mut entry = Entry::new(role, slot);
    entry.texts.extend(value["content"].as_str().map(str::to_owned));
    let parts = value["content"].as_array().into_iter().flatten();
    entry.texts.extend(parts.map(|part| text(part, "text").to_owned()));
    Some(entry)
}
