//! What the fuzz target runs: a switchboard whose two sides are texts.

use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};

use super::Switchboard;
use super::message::{Message, Side};
use super::relay::Relay;
use crate::args::Args;
use crate::lock::lock;

/// What was written to one side.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        lock(&self.0).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Relays lines: one that begins with `>` comes from the editor, any other from the agent.
///
/// # Panics
///
/// If a line of the editor that is no message is not passed on.
pub fn relay_lines(root: &Path, lines: &[u8]) {
    let (to_client, to_agent) = (Written::default(), Written::default());
    let args = Args { root: vec![root.to_owned()], ..Args::default() };
    let relay = Relay::new(args, "agent".to_owned(), Box::new(to_client.clone()), Box::new(to_agent.clone()));
    let mut board = Switchboard::new(relay);
    let mut plain = 0;
    for line in lines.split(|byte| *byte == b'\n') {
        let (side, line) = match line.split_first() {
            Some((b'>', line)) => (Side::Client, line),
            _ => (Side::Agent, line),
        };
        let message = Message::read(line.to_vec());
        plain += usize::from(side == Side::Client && message.json.is_null());
        board.dispatch(side, message);
    }
    board.finish();
    board.close();
    let passed = lock(&to_agent.0).split(|byte| *byte == b'\n').count() - 1;
    assert!(passed >= plain, "the agent got {passed} lines, and {plain} are no messages");
}
