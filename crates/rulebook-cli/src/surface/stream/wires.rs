//! The wires: which stream a model's event goes on with, for each provider's way of saying it.

use std::collections::BTreeMap;

use rulebook::stream::Kind;
use serde_json::Value;

use super::Step;

/// Reads events of any wire; a recording has one.
#[derive(Default)]
pub(super) struct Reader {
    /// Streams that are open, with what they carry.
    open: BTreeMap<String, Kind>,
    /// The ids of calls, where they have any.
    calls: BTreeMap<String, String>,
    messages: usize,
}

impl Reader {
    /// What an event does.
    pub(super) fn read(&mut self, event: &Value, steps: &mut Vec<Step>) {
        match event["type"].as_str() {
            Some(kind) if kind.starts_with("response.") => self.responses(kind, event, steps),
            Some(kind) => self.anthropic(kind, event, steps),
            None if event["choices"].is_array() => self.chat(event, steps),
            None => {}
        }
    }

    /// Ends what is still open.
    pub(super) fn end(&mut self, steps: &mut Vec<Step>) {
        for stream in std::mem::take(&mut self.open).into_keys() {
            steps.push(Step::End { stream });
        }
    }

    fn feed(&mut self, stream: String, kind: Kind, text: Option<&str>, steps: &mut Vec<Step>) {
        let kind = self.open.entry(stream.clone()).or_insert(kind).clone();
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            steps.push(Step::Feed { stream, kind, bytes: text.as_bytes().to_vec() });
        }
    }

    fn close(&mut self, stream: &str, steps: &mut Vec<Step>) {
        if self.open.remove(stream).is_some() {
            steps.push(Step::End { stream: stream.to_owned() });
        }
    }

    fn anthropic(&mut self, kind: &str, event: &Value, steps: &mut Vec<Step>) {
        let stream = format!("{}/{}", self.messages, event["index"]);
        match kind {
            "message_start" => {
                self.end(steps);
                self.messages += 1;
            }
            "content_block_start" => {
                let block = &event["content_block"];
                match block["type"].as_str() {
                    Some("thinking") => self.feed(stream, Kind::Thinking, block["thinking"].as_str(), steps),
                    Some(call) if call.ends_with("tool_use") => {
                        // Usually empty, and the arguments follow in pieces.
                        let whole = block["input"].as_object().filter(|input| !input.is_empty());
                        let whole = whole.map(|input| Value::Object(input.clone()).to_string());
                        self.feed(stream, tool(&block["name"]), whole.as_deref(), steps);
                    }
                    _ => self.feed(stream, Kind::Text, block["text"].as_str(), steps),
                }
            }
            "content_block_delta" => {
                let delta = &event["delta"];
                let said = [
                    (Kind::Text, "text"),
                    (Kind::Thinking, "thinking"),
                    (tool(&Value::Null), "partial_json"),
                ];
                for (kind, key) in said {
                    if let Some(text) = delta[key].as_str() {
                        self.feed(stream.clone(), kind, Some(text), steps);
                    }
                }
            }
            "content_block_stop" => self.close(&stream, steps),
            "message_stop" => self.end(steps),
            _ => {}
        }
    }

    fn chat(&mut self, event: &Value, steps: &mut Vec<Step>) {
        let id = event["id"].as_str().unwrap_or_default();
        for choice in event["choices"].as_array().into_iter().flatten() {
            let (delta, at) = (&choice["delta"], format!("{id}/{}", choice["index"]));
            let said = [
                (Kind::Text, "content"),
                (Kind::Text, "refusal"),
                (Kind::Thinking, "reasoning_content"),
                (Kind::Thinking, "reasoning"),
            ];
            for (kind, key) in said {
                if let Some(text) = delta[key].as_str() {
                    self.feed(format!("{at}/{key}"), kind, Some(text), steps);
                }
            }
            let calls = delta["tool_calls"].as_array().into_iter().flatten();
            for (place, call) in calls.enumerate() {
                let number = if call["index"].is_null() { &call["id"] } else { &call["index"] };
                let number = if number.is_null() { place.to_string() } else { number.to_string() };
                let stream = format!("{at}/call {number}");
                // Some give every call the same index.
                if let Some(id) = call["id"].as_str().filter(|id| !id.is_empty())
                    && self.calls.insert(stream.clone(), id.to_owned()).is_some_and(|other| other != id)
                {
                    self.close(&stream, steps);
                }
                self.feed_function(stream, &call["function"], steps);
            }
            if delta["function_call"].is_object() {
                self.feed_function(format!("{at}/call"), &delta["function_call"], steps);
            }
            if choice["finish_reason"].as_str().is_some_and(|reason| !reason.is_empty()) {
                self.close_below(&format!("{at}/"), steps);
            }
        }
    }

    fn feed_function(&mut self, stream: String, function: &Value, steps: &mut Vec<Step>) {
        self.feed(stream, tool(&function["name"]), function["arguments"].as_str(), steps);
    }

    fn close_below(&mut self, prefix: &str, steps: &mut Vec<Step>) {
        let ended: Vec<String> = self.open.keys().filter(|key| key.starts_with(prefix)).cloned().collect();
        ended.iter().for_each(|stream| self.close(stream, steps));
    }

    fn responses(&mut self, kind: &str, event: &Value, steps: &mut Vec<Step>) {
        let item = event["item_id"].as_str().or_else(|| event["item"]["id"].as_str()).unwrap_or_default();
        let part = |name: &str| format!("{item}/{name} {}{}", event["content_index"], event["summary_index"]);
        let delta = event["delta"].as_str();
        match kind {
            "response.output_item.added"
                if event["item"]["type"].as_str().is_some_and(|kind| kind.ends_with("_call")) =>
            {
                self.feed(format!("{item}/call"), tool(&event["item"]["name"]), None, steps);
            }
            "response.output_text.delta" | "response.refusal.delta" => {
                self.feed(part("text"), Kind::Text, delta, steps);
            }
            "response.reasoning_text.delta" | "response.reasoning_summary_text.delta" => {
                self.feed(part("thinking"), Kind::Thinking, delta, steps);
            }
            "response.function_call_arguments.delta"
            | "response.mcp_call_arguments.delta"
            | "response.custom_tool_call_input.delta" => {
                self.feed(format!("{item}/call"), tool(&Value::Null), delta, steps);
            }
            "response.output_item.done" => self.close_below(&format!("{item}/"), steps),
            "response.completed" | "response.incomplete" | "response.failed" => self.end(steps),
            _ => {}
        }
    }
}

fn tool(name: &Value) -> Kind {
    Kind::Tool(name.as_str().unwrap_or("unknown").to_owned())
}
