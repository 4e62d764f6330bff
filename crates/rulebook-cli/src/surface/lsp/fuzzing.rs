//! What the fuzz target runs: one server that gets messages without waiting for its threads.

use std::cell::RefCell;
use std::path::Path;

use lsp_server::{Connection, Message, Notification, Request};
use serde_json::{Value, json};

use super::client::Client;
use super::serve;
use super::server::{Server, Walk};
use crate::args::Args;

thread_local! {
    static SERVER: RefCell<Option<(Server, Connection)>> = const { RefCell::new(None) };
}

/// Gives messages to a server of this workspace: a method and its parameters. The last check sees all open texts, which are
/// closed afterwards.
pub fn answer_messages(root: &Path, messages: Vec<(String, Value)>) {
    SERVER.with_borrow_mut(|server| {
        let (server, client) = server.get_or_insert_with(|| start(root));
        for (method, params) in messages {
            serve::answer(server, Request { id: 1.into(), method: method.clone(), params: params.clone() });
            serve::note(server, Notification { method, params });
        }
        check(server);
        for uri in server.documents.keys().cloned().collect::<Vec<_>>() {
            let place = json!({ "textDocument": { "uri": uri }, "position": { "line": 1, "character": 3 } });
            for method in ["textDocument/hover", "textDocument/completion", "textDocument/codeAction"] {
                serve::answer(
                    server,
                    Request { id: 2.into(), method: method.to_owned(), params: place.clone() },
                );
            }
        }
        server.documents.clear();
        server.client.folders.clear();
        let answers: Vec<Message> = client.receiver.try_iter().collect();
        assert!(!answers.is_empty(), "nothing was answered");
    });
}

fn start(root: &Path) -> (Server, Connection) {
    let (connection, client) = Connection::memory();
    let args = Args { root: vec![root.to_owned()], ..Args::default() };
    let mut server = Server::new(args, Client::read(&Value::Null), connection.sender);
    check(&mut server);
    (server, client)
}

/// Checks the workspace now.
fn check(server: &mut Server) {
    server.check_soon(Walk::Not);
    std::thread::sleep(server.pause());
    server.tick();
    if let Ok(result) = server.worker.results.recv() {
        server.accept(result);
    }
}
