//! Rulebook as an interface of JSON texts: what every binding adapts and nothing else.
//!
//! Requests and answers are JSON in the shapes of the command: evidence goes in as for `prompt --evidence`, answers come
//! out as from `explain --json` and `prompt --json`. A binding adds the types of its language, no decision.
//!
//! ```no_run
//! let book = rulebook_json::Book::open(r#"{"roots": ["."]}"#)?;
//! println!("{}", book.explain(r#"{"input": {"paths": ["src/app.ts"]}, "for": "claude"}"#)?);
//! # Ok::<(), rulebook_json::JsonError>(())
//! ```
//!
//! [`Book::open`] reads a workspace on disk. [`Book::of_texts`] reads texts that are given, and works without a disk.

#![forbid(unsafe_code)]

mod book;
mod catalogue;
mod error;
mod file;
mod request;
mod session;
mod shared;

pub use book::Book;
pub use catalogue::catalogue;
pub use error::{ErrorCode, JsonError};
pub use session::Session;
pub use shared::Shared;
