//! `rulebook lsp` from outside, as editors use it.

mod client;
mod features;
mod protocol;
mod sync;

pub(crate) use client::Editor;
