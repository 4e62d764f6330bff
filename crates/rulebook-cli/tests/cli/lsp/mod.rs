//! `rulebook lsp` from outside, as editors use it.

mod client;
mod features;
mod imports;
mod protocol;
mod sync;
mod view;

pub(crate) use client::Editor;
