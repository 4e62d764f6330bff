//! Continues one response of OpenAI's Responses with another.

use serde_json::{Value, json};

use crate::surface::wire::json::Json;
use crate::surface::wire::protocol::text;
use crate::surface::wire::splice::{Splice, Usage};

/// One response: its items and events are numbered on.
#[derive(Default)]
pub(super) struct Tail {
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

    /// The provider sends both events, and clients read either.
    fn fail(&mut self, error: Value) -> Vec<Value> {
        let response = json!({
            "id": self.id,
            "object": "response",
            "status": "failed",
            "error": { "code": error["code"], "message": error["message"] },
            "output": self.done,
        });
        let failed = json!({ "type": "response.failed", "response": response });
        [error, failed].map(|event| self.numbered(event)).into()
    }

    fn renamed(&mut self) -> Option<(String, String)> {
        self.renamed.take()
    }
}
