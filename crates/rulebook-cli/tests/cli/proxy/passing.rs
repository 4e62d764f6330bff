//! Without rules to add and without a match, every byte passes unchanged.

use std::io::Write as _;
use std::net::TcpStream;

use serde_json::json;

use super::lab::{Do, Lab, NO_MAP, SSE, header, post, read_answer, response};
use super::wires::WIRES;

/// Sends the same bytes directly to the server and through the proxy; both sides must receive the same.
#[track_caller]
pub(crate) fn same(lab: &Lab, request: &[u8], answer: &[Do]) {
    lab.model.answers(answer.to_vec());
    let mut stream = TcpStream::connect(("127.0.0.1", lab.model.port)).unwrap();
    stream.write_all(request).unwrap();
    let direct = read_answer(stream);
    lab.model.answers(answer.to_vec());
    let through = lab.send(request);
    let seen = lab.model.seen();
    let [.., first, second] = seen.as_slice() else { panic!("two requests") };
    assert_eq!(first.text(), second.text(), "the body of the request");
    // The proxy replaces its own name by the server's.
    let head = |head: &str| {
        let mut lines: Vec<String> = head
            .lines()
            .filter(|line| !line.to_lowercase().starts_with("host:"))
            .map(str::to_owned)
            .collect();
        lines.sort();
        lines
    };
    assert_eq!(head(&first.head), head(&second.head), "the head of the request");
    assert_eq!(direct.text(), through.text(), "the body of the answer");
    assert_eq!(head(&direct.head), head(&through.head), "the head of the answer");
    assert_eq!(direct.is_whole, through.is_whole);
}

fn chunked(body: &[u8], size: usize) -> Vec<Do> {
    let chunks = body.chunks(size).map(|chunk| Do::Chunk(chunk.to_vec()));
    [Do::Write(SSE.to_vec())].into_iter().chain(chunks).chain([Do::Chunk(Vec::new())]).collect()
}

/// An answer that is one value.
fn whole(body: &str) -> [Do; 1] {
    [Do::Write(response("200 OK", "content-type: application/json\r\n", body))]
}

#[test]
fn a_request_that_is_not_a_conversation_passes_unchanged() {
    let lab = Lab::new(&[NO_MAP, ("always.md", "Always.\n")]);
    let plain = [Do::Write(response("200 OK", "X-Odd-Case: a\r\nx-two: 1\r\nx-two: 2\r\n", "{\"a\": 1}"))];
    same(
        &lab,
        b"GET /v1/models?limit=3&x=%20 HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: k\r\nX-ODD: 1\r\n\r\n",
        &plain,
    );
    same(
        &lab,
        b"HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        &[Do::Write(b"HTTP/1.1 200 OK\r\nx: y\r\n\r\n".to_vec())],
    );
    same(&lab, &post("/v1/messages/count_tokens", "{\"model\" :\"m\"}"), &plain);
    same(&lab, &post("/v1/embeddings", "\u{0}not json"), &plain);
    same(
        &lab,
        b"DELETE /v1/files/1 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        &[Do::Write(b"HTTP/1.1 204 No Content\r\n\r\n".to_vec())],
    );
    same(&lab, b"POST /v1/upload HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", &plain);
}

#[test]
fn a_request_with_two_lengths_cannot_smuggle_another() {
    let lab = Lab::new(&[NO_MAP]);
    let body = "5\r\nabcde\r\n0\r\n\r\n";
    for path in ["/v1/upload", "/v1/messages"] {
        for lengths in [
            "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
            "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n",
        ] {
            let before = lab.model.seen().len();
            lab.send(format!("POST {path} HTTP/1.1\r\nHost: localhost\r\n{lengths}\r\n{body}").as_bytes());
            // Refused, or read as chunked: no bytes are left that could be another request.
            for seen in &lab.model.seen()[before..] {
                assert_eq!(seen.text(), "abcde", "{lengths}{}", seen.head);
                assert!(header(&seen.head, "content-length").is_none_or(|len| len == "5"), "{}", seen.head);
            }
        }
        for lengths in [
            "Content-Length: 3\r\nContent-Length: 4\r\n",
            "Content-Length: +3\r\n",
            "Transfer-Encoding: chunked, identity\r\n",
        ] {
            let before = lab.model.seen().len();
            let answer =
                lab.send(format!("POST {path} HTTP/1.1\r\nHost: localhost\r\n{lengths}\r\nabcd").as_bytes());
            assert_eq!((answer.status(), lab.model.seen().len()), (400, before), "{lengths}");
        }
    }
}

#[test]
fn errors_pass_unchanged_with_retry_after() {
    let lab = Lab::new(&[NO_MAP]);
    for wire in &WIRES {
        let body = (wire.conversation)(&[("user", "hi")]).to_string();
        for status in
            ["429 Too Many Requests", "400 Bad Request", "529 Overloaded", "500 Internal Server Error"]
        {
            let error =
                response(status, "Retry-After: 7\r\ncontent-type: application/json\r\n", "{\"error\" : {}}");
            same(&lab, &post(wire.path, &body), &[Do::Write(error)]);
        }
    }
}

#[test]
fn without_rules_a_conversation_passes_unchanged() {
    let lab = Lab::new(&[]);
    for wire in &WIRES {
        let body = format!(
            "{{ \"extra\": 1.0, \"u\": \"\\u00e9\",{}",
            &(wire.conversation)(&[("user", "hi")]).to_string()[1..]
        );
        let events = (wire.events)("1", &["m = new M", "ap()"], Some(&["{\"a\":", "1}"])).concat();
        same(&lab, &post(wire.path, &body), &chunked(events.as_bytes(), 7));
        same(&lab, &post(wire.path, &body), &whole(&(wire.whole)("x", None).to_string()));
    }
}

#[test]
fn an_answer_without_a_match_passes_unchanged() {
    let lab = Lab::new(&[NO_MAP]);
    for wire in &WIRES {
        let body = (wire.conversation)(&[("user", "hi")]).to_string();
        let events =
            (wire.events)("1", &["m = ", "a new Set() é", " and so"], Some(&["{\"content\":", "\"n\"}"]));
        let odd =
            ": a comment\r\n\r\nevent: unknown\r\ndata: {\"type\":\"never_seen\"}\r\n\r\ndata: no json\n\n";
        let all = format!("{}{odd}{}", events[0], events[1..].concat());
        for size in [1, 5, 64, 100_000] {
            same(&lab, &post(wire.path, &body), &chunked(all.as_bytes(), size));
        }
        same(
            &lab,
            &post(wire.path, &body),
            &chunked(all.replace('\n', "\r\n").replace("\r\r\n", "\r\n").as_bytes(), 50),
        );
        same(&lab, &post(wire.path, &body), &whole(&format!(" {}", (wire.whole)("x", Some("{\"a\":1}")))));
    }
}

#[test]
fn a_request_of_an_agent_without_tools_passes_unchanged() {
    let lab = Lab::new(&[NO_MAP, ("always.md", "Always.\n")]);
    for wire in &WIRES {
        let mut body = (wire.conversation)(&[("user", "a title for this")]);
        body.as_object_mut().unwrap().remove("tools");
        let events = (wire.events)("1", &["new Map"], None).concat();
        let request = String::from_utf8(post(wire.path, &body.to_string())).unwrap();
        let request = request.replacen("\r\n", "\r\nUser-Agent: claude-cli/2.1\r\n", 1);
        same(&lab, request.as_bytes(), &chunked(events.as_bytes(), 1000));
    }
}

#[test]
fn a_websocket_is_refused() {
    let lab = Lab::new(&[]);
    let answer = lab.send(
        b"GET /v1/responses HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    );
    assert_eq!((answer.status(), lab.model.seen().len()), (426, 0));
}

#[test]
fn a_compressed_conversation_is_read_and_passes_unchanged_if_nothing_is_added() {
    let lab = Lab::new(&[("src.md", "---\npaths: [src/**]\n---\nSource.\n")]);
    let zip = |text: &str| {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(text.as_bytes()).unwrap();
        gzip.finish().unwrap()
    };
    let request = |body: &[u8]| {
        let mut all = format!(
            "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
            body.len()
        )
        .into_bytes();
        all.extend(body);
        all
    };
    let quiet = zip(&(WIRES[0].conversation)(&[("user", "hi")]).to_string());
    lab.send(&request(&quiet));
    assert_eq!(lab.model.seen()[0].body, quiet);
    lab.send(&request(&zip(&(WIRES[0].conversation)(&[("user", "look at src/a.ts")]).to_string())));
    let seen = &lab.model.seen()[1];
    assert!(seen.text().contains("Source."), "{}", seen.text());
    assert_eq!(header(&seen.head, "content-encoding"), None);
    lab.send(&request(b"no gzip"));
    assert_eq!(lab.model.seen()[2].body, b"no gzip");
    lab.until_logged("coding cannot be read");
}

#[test]
fn a_large_request_and_a_large_event_pass() {
    let lab = Lab::new(&[("src.md", "---\npaths: [src/**]\n---\nSource.\n"), NO_MAP]);
    let mut body = (WIRES[0].conversation)(&[("user", "look at src/a.ts")]);
    body["padding"] = json!("x".repeat(64 << 20));
    let line = format!("data: {{\"type\":\"x\",\"y\":\"{}\"}}\n\n", "z".repeat(10 << 20));
    lab.model.answers(chunked(line.as_bytes(), 1 << 16));
    let answer = lab.post("/v1/messages", &body.to_string());
    assert_eq!(answer.body.len(), line.len());
    let seen = lab.model.seen();
    assert!(seen[0].body.len() > 64 << 20 && seen[0].text().contains("Source."));
}
