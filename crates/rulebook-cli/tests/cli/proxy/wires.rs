//! How a test speaks each wire: conversations, answers as events and as one value, and what a client reads in them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// A conversation that asks for an answer.
pub(crate) const GO: &[(&str, &str)] = &[("user", "go")];

/// The events of an answer from an id, a text in pieces and the arguments of a call in pieces.
type Events = fn(&str, &[&str], Option<&[&str]>) -> Vec<String>;

/// How a test speaks a wire.
pub(crate) struct Wire {
    pub(crate) name: &'static str,
    pub(crate) path: &'static str,
    /// A request from entries, each a kind (`user`, `assistant`, `call`, `result`, `failed`) and a text.
    pub(crate) conversation: fn(&[(&str, &str)]) -> Value,
    pub(crate) events: Events,
    /// An answer as one value, from a text and the arguments of a call.
    pub(crate) whole: fn(&str, Option<&str>) -> Value,
    /// The text in an answer's values, events or one, and the arguments of its calls.
    pub(crate) received: fn(&[Value]) -> (String, Vec<String>),
}

pub(crate) static WIRES: [Wire; 4] = [ANTHROPIC, CHAT, RESPONSES, GEMINI];

fn event(value: &Value) -> String {
    let name = value["type"].as_str().map(|name| format!("event: {name}\n")).unwrap_or_default();
    format!("{name}data: {value}\n\n")
}

pub(crate) const ANTHROPIC: Wire = Wire {
    name: "anthropic",
    path: "/v1/messages",
    conversation: |entries| {
        let messages: Vec<Value> = entries
            .iter()
            .map(|(kind, text)| match *kind {
                "user" => json!({ "role": "user", "content": text }),
                "assistant" => json!({ "role": "assistant", "content": [{ "type": "text", "text": text }] }),
                "call" => json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": format!("toolu_{text}"), "name": "Read", "input": { "file_path": text } }] }),
                kind => json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": format!("toolu_{text}"), "content": "x", "is_error": kind == "failed" }] }),
            })
            .collect();
        json!({ "model": "m", "stream": true, "system": [{ "type": "text", "text": "sys", "cache_control": { "type": "ephemeral" } }], "tools": [{ "name": "Read" }], "messages": messages })
    },
    events: |id, texts, call| {
        let mut events = vec![
            json!({ "type": "message_start", "message": { "id": format!("msg_{id}"), "type": "message", "role": "assistant", "content": [], "usage": { "input_tokens": 10, "output_tokens": 1 } } }),
        ];
        let mut index = 0;
        if !texts.is_empty() {
            events.push(json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } }));
            events.extend(texts.iter().map(|text| json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": text } })));
            events.push(json!({ "type": "content_block_stop", "index": 0 }));
            index = 1;
        }
        if let Some(pieces) = call {
            events.push(json!({ "type": "content_block_start", "index": index, "content_block": { "type": "tool_use", "id": format!("toolu_{id}"), "name": "write", "input": {} } }));
            events.extend(pieces.iter().map(|piece| json!({ "type": "content_block_delta", "index": index, "delta": { "type": "input_json_delta", "partial_json": piece } })));
            events.push(json!({ "type": "content_block_stop", "index": index }));
        }
        events.push(json!({ "type": "message_delta", "delta": { "stop_reason": if call.is_some() { "tool_use" } else { "end_turn" } }, "usage": { "output_tokens": 5 } }));
        events.push(json!({ "type": "message_stop" }));
        events.iter().map(event).collect()
    },
    whole: |text, call| {
        let mut content = vec![json!({ "type": "text", "text": text })];
        content.extend(call.map(|call| json!({ "type": "tool_use", "id": "toolu_1", "name": "write", "input": serde_json::from_str::<Value>(call).unwrap() })));
        json!({ "id": "msg", "type": "message", "role": "assistant", "content": content, "usage": { "input_tokens": 10, "output_tokens": 5 } })
    },
    received: |values| {
        let text: String = values.iter().filter_map(|v| v["delta"]["text"].as_str()).collect();
        let mut calls: BTreeMap<String, String> = BTreeMap::new();
        for value in values {
            if let Some(piece) = value["delta"]["partial_json"].as_str() {
                calls.entry(value["index"].to_string()).or_default().push_str(piece);
            }
        }
        let blocks = || values.iter().flat_map(|value| value["content"].as_array().into_iter().flatten());
        let whole: String = blocks().filter_map(|block| block["text"].as_str()).collect();
        let inputs =
            blocks().filter(|block| block["input"].is_object()).map(|block| block["input"].to_string());
        (text + &whole, calls.into_values().chain(inputs).collect())
    },
};

pub(crate) const CHAT: Wire = Wire {
    name: "openai-chat",
    path: "/v1/chat/completions",
    conversation: |entries| {
        let mut messages = vec![json!({ "role": "system", "content": "sys" })];
        messages.extend(entries.iter().map(|(kind, text)| match *kind {
            "user" => json!({ "role": "user", "content": text }),
            "assistant" => json!({ "role": "assistant", "content": text }),
            "call" => json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": format!("call_{text}"), "type": "function", "function": { "name": "read", "arguments": json!({ "path": text }).to_string() } }] }),
            kind => json!({ "role": "tool", "tool_call_id": format!("call_{text}"), "content": if kind == "failed" { "Exit code: 1\nx" } else { "x" } }),
        }));
        json!({ "model": "m", "stream": true, "tools": [{ "type": "function", "function": { "name": "read" } }], "messages": messages })
    },
    events: |id, texts, call| {
        let chunk = |delta: Value, finish: Option<&str>| json!({ "id": format!("chatcmpl-{id}"), "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }] });
        let mut events = vec![chunk(json!({ "role": "assistant", "content": "" }), None)];
        events.extend(texts.iter().map(|text| chunk(json!({ "content": text }), None)));
        if let Some(pieces) = call {
            events.push(chunk(json!({ "tool_calls": [{ "index": 0, "id": format!("call_{id}"), "type": "function", "function": { "name": "write", "arguments": "" } }] }), None));
            events.extend(pieces.iter().map(|piece| {
                chunk(json!({ "tool_calls": [{ "index": 0, "function": { "arguments": piece } }] }), None)
            }));
        }
        events.push(chunk(json!({}), Some(if call.is_some() { "tool_calls" } else { "stop" })));
        let mut usage = chunk(json!({}), None);
        usage["choices"] = json!([]);
        usage["usage"] = json!({ "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15 });
        events.push(usage);
        let mut events: Vec<String> = events.iter().map(event).collect();
        events.push("data: [DONE]\n\n".to_owned());
        events
    },
    whole: |text, call| {
        let calls = call.map(|call| json!([{ "id": "call_1", "type": "function", "function": { "name": "write", "arguments": call } }]));
        json!({ "id": "chatcmpl", "choices": [{ "index": 0, "message": { "role": "assistant", "content": text, "tool_calls": calls }, "finish_reason": "stop" }], "usage": { "prompt_tokens": 10, "completion_tokens": 5 } })
    },
    received: |values| {
        let deltas =
            || values.iter().flat_map(|value| ["delta", "message"].map(|key| &value["choices"][0][key]));
        let text: String = deltas().filter_map(|delta| delta["content"].as_str()).collect();
        let pieces = deltas().filter_map(|delta| delta["tool_calls"][0]["function"]["arguments"].as_str());
        let call: String = pieces.collect();
        (text, if call.is_empty() { Vec::new() } else { vec![call] })
    },
};

pub(crate) const RESPONSES: Wire = Wire {
    name: "openai-responses",
    path: "/v1/responses",
    conversation: |entries| {
        let items: Vec<Value> = entries
            .iter()
            .map(|(kind, text)| match *kind {
                "user" => json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": text }] }),
                "assistant" => json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": text }] }),
                "call" => json!({ "type": "function_call", "call_id": format!("call_{text}"), "name": "read", "arguments": json!({ "path": text }).to_string() }),
                kind => json!({ "type": "function_call_output", "call_id": format!("call_{text}"), "output": if kind == "failed" { r#"{"output":"x","metadata":{"exit_code":1}}"# } else { "x" } }),
            })
            .collect();
        json!({ "model": "m", "stream": true, "store": false, "instructions": "sys", "tools": [{ "type": "function", "name": "read" }], "input": items })
    },
    events: |id, texts, call| {
        let response = |output: &[Value], usage: Value| json!({ "id": format!("resp_{id}"), "object": "response", "output": output, "usage": usage });
        let mut events = vec![json!({ "type": "response.created", "response": response(&[], Value::Null) })];
        let mut output = Vec::new();
        if !texts.is_empty() {
            let whole = texts.concat();
            let part = |text: &str| json!({ "type": "output_text", "text": text, "annotations": [] });
            let item = |content: Value| json!({ "type": "message", "id": format!("msg_{id}"), "role": "assistant", "content": content });
            let about = |mut value: Value| {
                value["item_id"] = json!(format!("msg_{id}"));
                value["output_index"] = json!(0);
                value["content_index"] = json!(0);
                value
            };
            events.push(
                json!({ "type": "response.output_item.added", "output_index": 0, "item": item(json!([])) }),
            );
            events.push(about(json!({ "type": "response.content_part.added", "part": part("") })));
            events.extend(
                texts
                    .iter()
                    .map(|text| about(json!({ "type": "response.output_text.delta", "delta": text }))),
            );
            events.push(about(json!({ "type": "response.output_text.done", "text": whole })));
            events.push(about(json!({ "type": "response.content_part.done", "part": part(&whole) })));
            output.push(item(json!([part(&whole)])));
            events.push(json!({ "type": "response.output_item.done", "output_index": 0, "item": output[0] }));
        }
        if let Some(pieces) = call {
            let index = output.len();
            let item = |arguments: &str| json!({ "type": "function_call", "id": format!("fc_{id}"), "call_id": format!("call_{id}"), "name": "write", "arguments": arguments });
            events.push(
                json!({ "type": "response.output_item.added", "output_index": index, "item": item("") }),
            );
            events.extend(pieces.iter().map(|piece| json!({ "type": "response.function_call_arguments.delta", "item_id": format!("fc_{id}"), "output_index": index, "delta": piece })));
            events.push(json!({ "type": "response.function_call_arguments.done", "item_id": format!("fc_{id}"), "output_index": index, "arguments": pieces.concat() }));
            output.push(item(&pieces.concat()));
            events.push(
                json!({ "type": "response.output_item.done", "output_index": index, "item": output[index] }),
            );
        }
        events.push(json!({ "type": "response.completed", "response": response(&output, json!({ "input_tokens": 10, "output_tokens": 5 })) }));
        for (number, event) in events.iter_mut().enumerate() {
            event["sequence_number"] = json!(number);
        }
        events.iter().map(event).collect()
    },
    whole: |text, call| {
        let mut output = vec![
            json!({ "type": "message", "id": "msg", "role": "assistant", "content": [{ "type": "output_text", "text": text }] }),
        ];
        output.extend(call.map(|call| json!({ "type": "function_call", "id": "fc", "call_id": "call_1", "name": "write", "arguments": call })));
        json!({ "id": "resp", "object": "response", "output": output, "usage": { "input_tokens": 10, "output_tokens": 5 } })
    },
    received: |values| {
        let of = |kind: &str| {
            values
                .iter()
                .filter(move |value| value["type"] == kind)
                .map(|value| value["delta"].as_str().unwrap_or_default())
                .collect::<String>()
        };
        let call = of("response.function_call_arguments.delta");
        let items = || values.iter().flat_map(|value| value["output"].as_array().into_iter().flatten());
        let whole: String = items().filter_map(|item| item["content"][0]["text"].as_str()).collect();
        let calls = items().filter_map(|item| item["arguments"].as_str().map(str::to_owned));
        let streamed = (!call.is_empty()).then_some(call);
        (of("response.output_text.delta") + &whole, streamed.into_iter().chain(calls).collect())
    },
};

pub(crate) const GEMINI: Wire = Wire {
    name: "gemini",
    path: "/v1beta/models/g:streamGenerateContent?alt=sse",
    conversation: |entries| {
        let contents: Vec<Value> = entries
            .iter()
            .map(|(kind, text)| match *kind {
                "user" => json!({ "role": "user", "parts": [{ "text": text }] }),
                "assistant" => json!({ "role": "model", "parts": [{ "text": text }] }),
                "call" => json!({ "role": "model", "parts": [{ "functionCall": { "id": format!("f_{text}"), "name": "read_file", "args": { "file_path": text } } }] }),
                kind => json!({ "role": "user", "parts": [{ "functionResponse": { "id": format!("f_{text}"), "name": "read_file", "response": { (if kind == "failed" { "error" } else { "output" }): "x" } } }] }),
            })
            .collect();
        json!({ "systemInstruction": { "parts": [{ "text": "sys" }] }, "tools": [{ "functionDeclarations": [] }], "contents": contents })
    },
    events: |id, texts, call| {
        let answer = |parts: Value, finish: Option<&str>| {
            let mut candidate = json!({ "content": { "role": "model", "parts": parts }, "index": 0 });
            if let Some(finish) = finish {
                candidate["finishReason"] = json!(finish);
            }
            json!({ "candidates": [candidate], "responseId": id, "usageMetadata": { "promptTokenCount": 10, "candidatesTokenCount": 5 } })
        };
        let mut events: Vec<Value> =
            texts.iter().map(|text| answer(json!([{ "text": text }]), None)).collect();
        events.extend(call.map(|call| {
            let args: Value = serde_json::from_str(&call.concat()).unwrap();
            answer(
                json!([{ "functionCall": { "name": "write", "args": args }, "thoughtSignature": "c2ln" }]),
                None,
            )
        }));
        events.push(answer(json!([{ "text": "" }]), Some("STOP")));
        events.iter().map(event).collect()
    },
    whole: |text, call| {
        let mut parts = vec![json!({ "text": text })];
        parts.extend(call.map(|call| json!({ "functionCall": { "name": "write", "args": serde_json::from_str::<Value>(call).unwrap() } })));
        json!({ "candidates": [{ "content": { "role": "model", "parts": parts }, "finishReason": "STOP" }], "usageMetadata": { "promptTokenCount": 10, "candidatesTokenCount": 5 } })
    },
    received: |values| {
        let parts = || {
            values
                .iter()
                .flat_map(|value| value["candidates"][0]["content"]["parts"].as_array().into_iter().flatten())
        };
        let text: String = parts().filter_map(|part| part["text"].as_str()).collect();
        (
            text,
            parts()
                .filter(|part| part["functionCall"].is_object())
                .map(|part| part["functionCall"]["args"].to_string())
                .collect(),
        )
    },
};
