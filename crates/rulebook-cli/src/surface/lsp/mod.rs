//! `lsp`: a language server. It shows in the editor what `check`, `explain` and `status` know, with unsaved texts.
//!
//! One thread answers requests from the last [snapshot](snapshot::Snapshot) and never waits; a [worker](worker) checks
//! the workspace again after every change.

mod actions;
mod client;
mod commands;
mod completion;
mod cursor;
mod document;
mod evidence;
mod extension;
#[cfg(feature = "fuzzing")]
pub(super) mod fuzzing;
mod hints;
mod hover;
mod lens;
mod matcher;
mod navigate;
mod preview;
mod problems;
mod protocol;
mod reading;
mod references;
mod rename;
mod requests;
mod serve;
mod server;
mod snapshot;
mod structure;
mod transport;
mod uris;
mod view;
mod watcher;
mod worker;

use std::process::ExitCode;

use anyhow::{Context as _, anyhow};
use lsp_server::{Connection, ErrorCode, Message, Response};
use serde_json::json;

use crate::args::Args;
use client::Client;
use serve::End;
use server::Server;

/// Serves one editor.
pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let (connection, threads) = transport::connect();
    let end = match initialize(&connection)? {
        Some(client) => {
            serve::serve(Server::new(args.lasting(), client, connection.sender.clone()), &connection)?
        }
        None => End::Abrupt,
    };
    drop(connection);
    threads.join().context("the connection to the editor is broken")?;
    Ok(if end == End::Clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Waits for the first request and answers it; `None` if the editor exits before.
fn initialize(connection: &Connection) -> anyhow::Result<Option<Client>> {
    for message in &connection.receiver {
        match message {
            Message::Request(request) if request.method == "initialize" => {
                let answer = json!({
                    "capabilities": requests::capabilities(),
                    "serverInfo": { "name": "rulebook", "version": env!("CARGO_PKG_VERSION") },
                });
                connection.sender.send(Response::new_ok(request.id, answer).into())?;
                return Ok(Some(Client::read(&request.params)));
            }
            Message::Request(request) => {
                let message = format!("`{}` came before `initialize`", request.method);
                let code = ErrorCode::ServerNotInitialized as i32;
                connection.sender.send(Response::new_err(request.id, code, message).into())?;
            }
            Message::Notification(notification) if notification.method == "exit" => return Ok(None),
            Message::Notification(_) | Message::Response(_) => {}
        }
    }
    Err(anyhow!("an editor starts `rulebook lsp`; see docs/editor.md")
        .context("the client closed the connection before `initialize`"))
}
