//! Compares what is read with what clients read: events of every wire, damaged in many ways, against Node and Python.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::Json;

/// Events of the four wires.
const EVENTS: &[&str] = &[
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"call new Map() \ud83d\ude00"}}"#,
    r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\":\"x\"}"}}"#,
    r#"{"id":"c","choices":[{"index":0,"delta":{"content":"new Map","tool_calls":null},"logprobs":1.5e3}]}"#,
    r#"{"type":"response.output_text.delta","sequence_number":4,"delta":"n\u00e9w é😀","logprobs":[]}"#,
    r#"{"candidates":[{"content":{"parts":[{"text":"new Map"}],"role":"model"}}],"usageMetadata":{"n":-1}}"#,
];

/// What damaged events contain.
const DAMAGE: &[&[u8]] = &[
    b"NaN",
    b"-Infinity",
    b"Infinity",
    b"1e999",
    b"\\ud83d",
    b"\\udc00",
    b"\xff",
    b"\xed\xa0\x80",
    b"\xe2\x82",
    b"\xef\xbb\xbf",
    b"\"",
    b"\\",
    b",",
    b"}",
    b"[",
    b" ",
    b"\n",
    b"x",
    b"0",
];

/// Prints for each line, an event in hexadecimal digits, the sorted letters of its texts, or `-` if it is not JSON.
const NODE: &str = r"
const letters = (value) => typeof value === 'string' ? [value] : value && typeof value === 'object' ? Object.values(value).flatMap(letters) : [];
for (const line of require('fs').readFileSync(0, 'latin1').trimEnd().split('\n')) {
  try { console.log('=' + letters(JSON.parse(Buffer.from(line, 'hex').toString().replace(/^\ufeff/, ''))).map((text) => text.replace(/[^a-zA-Z]/g, '')).sort().join(',')); }
  catch { console.log('-'); }
}";

const PYTHON: &str = r"
import json, re, sys
def texts(value):
    if isinstance(value, str): return [value]
    values = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [text for item in values for text in texts(item)]
def read(data):
    for form in (data, data.decode('utf-8', 'replace')):
        try: return json.loads(form)
        except (ValueError, RecursionError): pass
    raise ValueError
for line in sys.stdin:
    try: print('=' + ','.join(sorted(re.sub('[^a-zA-Z]', '', text) for text in texts(read(bytes.fromhex(line))))))
    except (ValueError, RecursionError): print('-')
";

/// Runs a program on all events; returns its lines, or `None` if it is not installed.
fn run(program: &str, args: [&str; 2], events: &[Vec<u8>]) -> Option<Vec<String>> {
    let mut child =
        Command::new(program).args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
    let hex = |event: &Vec<u8>| event.iter().map(|byte| format!("{byte:02x}")).collect::<String>() + "\n";
    child.stdin.take()?.write_all(events.iter().map(hex).collect::<String>().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let lines: Vec<String> = String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), events.len(), "{program} answered every line");
    Some(lines)
}

fn texts<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Object(fields) => fields.values().for_each(|item| texts(item, found)),
        _ => {}
    }
}

fn own(event: &[u8]) -> String {
    let Some(value) = Json::read(event).as_ref().map(Value::from) else { return "-".to_owned() };
    let mut found = Vec::new();
    texts(&value, &mut found);
    let letters = |text: &&str| text.chars().filter(char::is_ascii_alphabetic).collect::<String>();
    let mut found: Vec<String> = found.iter().map(letters).collect();
    found.sort();
    format!("={}", found.join(","))
}

/// Events with up to three damages each, always the same ones.
fn damaged() -> Vec<Vec<u8>> {
    let mut state = 1_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    let mut events: Vec<Vec<u8>> = EVENTS.iter().map(|event| event.as_bytes().to_vec()).collect();
    for number in 0..3000 {
        let mut event = EVENTS[number % EVENTS.len()].as_bytes().to_vec();
        for _ in 0..=random(3) {
            let at = random(event.len());
            let damage = DAMAGE[random(DAMAGE.len())];
            match random(3) {
                0 => drop(event.splice(at..at, damage.iter().copied())),
                1 => drop(event.splice(at..=at, damage.iter().copied())),
                // Where a value is, so that the rest stays JSON.
                _ => {
                    let value = event.iter().rposition(|byte| *byte == b':').unwrap_or(at);
                    event.splice(value + 1..value + 1, [damage, b",\"k\":"].concat());
                }
            }
        }
        events.push(event);
    }
    events
}

#[test]
fn events_are_read_as_node_and_python_read_them() {
    let events = damaged();
    let peers = [("node", ["-e", NODE]), ("python3", ["-c", PYTHON])];
    let peers = peers.into_iter().filter_map(|(name, args)| {
        let lines = run(name, args, &events);
        if lines.is_none() {
            eprintln!("skipped: {name} is not installed");
        }
        lines
    });
    let peers: Vec<Vec<String>> = peers.collect();
    let mut read = 0;
    for (at, event) in events.iter().enumerate() {
        let (own, shown) = (own(event), String::from_utf8_lossy(event));
        let mut known = peers.iter().map(|lines| lines[at].as_str()).filter(|line| *line != "-");
        match known.next() {
            Some(line) => assert_eq!(own, line, "{shown}"),
            None if peers.len() == 2 => assert_eq!(own, "-", "{shown}"),
            None => {}
        }
        read += usize::from(own != "-");
    }
    assert!(read > events.len() / 10, "{read} events are JSON");
}

#[test]
fn deep_events_are_read() {
    for depth in [100, 130, 900, 50_000] {
        let deep =
            format!(r#"{{"a":{}"x"{},"delta":{{"text":"new Map"}}}}"#, "[".repeat(depth), "]".repeat(depth));
        let event = Json::read(deep.as_bytes()).unwrap();
        assert_eq!(event["delta"].text("text"), "new Map");
    }
}
