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
mod rename;
mod requests;
mod serve;
mod server;
mod snapshot;
mod structure;
mod transport;
mod view;
mod watcher;
mod worker;

use anyhow::{Context as _, anyhow};
use serde_json::json;

use crate::args::Args;
use client::Client;
use server::Server;

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let (connection, threads) = transport::connect();
    let (id, params) = connection.initialize_start().map_err(|_| {
        anyhow!("an editor starts `rulebook lsp`; see docs/editor.md")
            .context("the client closed the connection before `initialize`")
    })?;
    let client = Client::read(&params);
    let answer = json!({
        "capabilities": requests::capabilities(),
        "serverInfo": { "name": "rulebook", "version": env!("CARGO_PKG_VERSION") },
    });
    connection.initialize_finish(id, answer).context("the editor did not finish the initialization")?;
    serve::serve(Server::new(args.lasting(), client, connection.sender.clone()), &connection)?;
    drop(connection);
    threads.join().context("the connection to the editor is broken")
}
