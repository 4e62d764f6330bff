//! `rulebook lsp` from outside, as editors use it.

mod client;
mod features;
mod sync;

pub(crate) use client::Editor;
