//! Writes the JavaScript around a WebAssembly module: `wasm-glue MODULE FOLDER`.
//!
//! This is a program of this workspace, so that its version of wasm-bindgen is the one that the module was built with.

use anyhow::{Context, Result};
use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<()> {
    let mut words = std::env::args().skip(1);
    let (module, folder) = words.next().zip(words.next()).context("usage: wasm-glue MODULE FOLDER")?;
    Bindgen::new()
        .input_path(module)
        .out_name("rulebook")
        .web(true)?
        .typescript(false)
        .remove_name_section(true)
        .remove_producers_section(true)
        .generate(folder)
}
