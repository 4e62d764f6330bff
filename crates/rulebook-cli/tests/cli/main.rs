//! The built binary from outside: its commands, hooks and servers, each in its own home and workspace.

#![cfg(all(
    unix,
    feature = "acp",
    feature = "lsp",
    feature = "mcp",
    feature = "proxy",
    feature = "remote",
    feature = "ui"
))]
#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

mod acp;
mod ci;
mod completions;
mod docs;
mod faults;
mod hooks;
mod hostile;
mod json;
mod lsp;
mod mcp;
mod pages;
mod proxy;
mod remote;
mod sandbox;
mod server;
mod ui;
