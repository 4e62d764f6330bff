//! The connection to the editor: messages of a bounded size on the standard streams.

use std::io::{self, BufRead, Read as _, Write, stdin, stdout};
use std::thread::{self, JoinHandle};

use crossbeam_channel::{bounded, select};
use lsp_server::{Connection, ErrorCode, Message};
use serde_json::{Value, json};

/// The longest header of a message, and the longest message. Editors send whole files, which are at most 1 MiB if they are read.
const MAX_HEADER: usize = 4 << 10;
const MAX_MESSAGE: usize = 64 << 20;

/// How many messages may wait, so that those that are cancelled meanwhile need no work.
const MAX_WAITING: usize = 256;

/// The threads that read and write.
pub(super) struct Threads {
    reader: JoinHandle<io::Result<()>>,
    writer: JoinHandle<io::Result<()>>,
}

/// Connects to the editor.
pub(super) fn connect() -> (Connection, Threads) {
    let (sender, to_send) = bounded::<Message>(0);
    let (received, receiver) = bounded::<Message>(MAX_WAITING);
    let (reject, rejected) = bounded::<Value>(0);
    let writer = thread::spawn(move || {
        let mut output = stdout().lock();
        loop {
            select! {
                recv(to_send) -> message => match message {
                    Ok(message) => message.write(&mut output)?,
                    Err(_) => return Ok(()),
                },
                recv(rejected) -> answer => if let Ok(answer) = answer {
                    write(&mut output, &answer)?;
                } else {
                    // The reader has ended; answers may still follow.
                    return to_send.into_iter().try_for_each(|message| message.write(&mut output));
                },
            }
        }
    });
    let reader = thread::spawn(move || {
        let mut input = stdin().lock();
        while let Some(message) = read(&mut input)? {
            let message = match message {
                Ok(message) => message,
                Err(answer) => {
                    // Without a writer, nobody is there to be answered.
                    if reject.send(answer).is_err() {
                        break;
                    }
                    continue;
                }
            };
            let is_exit = matches!(&message, Message::Notification(note) if note.method == "exit");
            if received.send(message).is_err() || is_exit {
                break;
            }
        }
        Ok(())
    });
    (Connection { sender, receiver }, Threads { reader, writer })
}

impl Threads {
    /// Waits for both.
    pub(super) fn join(self) -> io::Result<()> {
        for thread in [self.reader, self.writer] {
            thread.join().map_err(|_| io::Error::other("a thread failed"))??;
        }
        Ok(())
    }
}

/// A message, or the answer to a text that is none.
type Incoming = Result<Message, Value>;

/// Writes an answer that is no message of the library: to a request whose id is not known.
fn write(output: &mut impl Write, answer: &Value) -> io::Result<()> {
    let text = answer.to_string();
    write!(output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    output.flush()
}

/// The answer to a body that is no message.
fn rejection(body: &[u8]) -> Value {
    let (code, message, id) = match serde_json::from_slice::<Value>(body) {
        Err(error) => (ErrorCode::ParseError, format!("the message is not JSON: {error}"), Value::Null),
        Ok(value) => {
            let id = value.get("id").filter(|id| id.is_number() || id.is_string()).cloned();
            let message = "the message is not a request, a notification or an answer".to_owned();
            (ErrorCode::InvalidRequest, message, id.unwrap_or_default())
        }
    };
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code as i32, "message": message } })
}

/// Reads a message; `None` at the end. Only what arrives takes memory, not what a header announces.
fn read(input: &mut impl BufRead) -> io::Result<Option<Incoming>> {
    let invalid = |what: String| io::Error::new(io::ErrorKind::InvalidData, what);
    let mut message = Vec::new();
    loop {
        let start = message.len();
        let room = u64::try_from(MAX_HEADER - start).unwrap_or_default();
        match input.by_ref().take(room).read_until(b'\n', &mut message)? {
            0 if start == 0 => return Ok(None),
            0 => return Err(invalid(format!("a header has no end, or is longer than {MAX_HEADER} bytes"))),
            _ if message[start..] == *b"\r\n" => break,
            _ => {}
        }
    }
    let header = String::from_utf8_lossy(&message).into_owned();
    let mut lengths = header.lines().filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("Content-Length").then(|| value.trim().parse::<usize>())
    });
    let len = lengths.next_back().and_then(Result::ok).filter(|len| *len <= MAX_MESSAGE);
    let Some(len) = len else {
        return Err(invalid(format!("the length of a message is missing, or above {MAX_MESSAGE} bytes")));
    };
    let head = message.len();
    let mut body = input.by_ref().take(u64::try_from(len).unwrap_or(u64::MAX));
    if body.read_to_end(&mut message)? < len {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Some(serde_json::from_slice(&message[head..]).map_err(|_| rejection(&message[head..]))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_no_message_is_answered() {
        #[track_caller]
        fn check(body: &str, code: i32, id: Value) {
            let text = format!("Content-Length: {}\r\n\r\n{body}", body.len());
            let answer = read(&mut text.as_bytes()).unwrap().unwrap().unwrap_err();
            assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{body}");
        }
        check("{", -32700, Value::Null);
        check("\u{feff}{}", -32700, Value::Null);
        check("[1]", -32600, Value::Null);
        check(r#"{"id": 7}"#, -32600, json!(7));
    }

    #[test]
    fn a_message_takes_only_the_memory_of_what_arrives() {
        let of = |text: &str| {
            read(&mut text.as_bytes()).map(|message| message.is_some()).map_err(|error| error.kind())
        };
        let body = r#"{"jsonrpc":"2.0","method":"exit"}"#;
        assert_eq!(of(&format!("Content-Length: {}\r\n\r\n{body}", body.len())), Ok(true));
        assert_eq!(of(""), Ok(false));
        for announced in ["99999999999999", "3000000000", "99999999999999999999999999", "-1", "x", ""] {
            let text = format!("Content-Length: {announced}\r\n\r\n{body}");
            assert_eq!(of(&text), Err(io::ErrorKind::InvalidData), "{announced}");
        }
        assert_eq!(of(&format!("Content-Length: 60000000\r\n\r\n{body}")), Err(io::ErrorKind::UnexpectedEof));
        assert_eq!(of(&"x".repeat(MAX_HEADER * 2)), Err(io::ErrorKind::InvalidData));
    }
}
