//! Decides which rules of coding agents apply to the work at hand, and why.
//!
//! Pure: no file is opened, no environment read. Sources and evidence come in, verdicts go out. The whole way, with a
//! rule file of Cline's and a message that names a folder:
//!
//! ```
//! use rulebook::evaluate::{Audience, State, evaluate};
//! use rulebook::evidence::{Input, Root, Roots, collect};
//! use rulebook::format::FormatId;
//! use rulebook::parse::parse;
//! use rulebook::render::{Notice, render};
//! use rulebook::resolve::{Switches, resolve};
//! use rulebook::source::Source;
//!
//! // Discover: a source is a text, its format and where it was found.
//! let text = "---\npaths: ['apps/web/**']\n---\nUse React.";
//! let source = Source::text(FormatId::Cline, ".clinerules/web.md", text);
//!
//! // Parse, resolve: rules in their order, with what is switched off.
//! let parsed = parse(source);
//! assert!(parsed.diagnostics.is_empty());
//! let book = resolve([parsed.entry], &Switches::default());
//!
//! // Evidence: what the host says, with what exists.
//! let roots = Roots { roots: vec![Root { path: "/repo".into(), ..Root::default() }], home: None };
//! let input = Input { message: Some("add a component to apps/web".into()), ..Input::default() };
//! let (evidence, _) = collect(&input, &roots, &|_, path| path == "apps");
//!
//! // Evaluate, render.
//! let evaluation = evaluate(&book, &evidence, Audience::any());
//! assert!(matches!(evaluation.verdicts[0].state, State::Stack));
//! let rendered = render(&evaluation);
//! assert_eq!(rendered.text, ".clinerules/web.md\nUse React.");
//! assert_eq!(Notice::of(&rendered).unwrap().line(), "📋 Conditional rules applied: web");
//! ```

#![forbid(unsafe_code)]

pub mod agent;
mod body;
pub mod change;
pub mod compare;
pub mod condition;
pub mod coverage;
pub mod diagnostic;
pub mod evaluate;
pub mod evidence;
pub mod explain;
pub mod export;
pub mod fix;
pub mod format;
pub mod frontmatter;
pub mod glob;
pub mod guard;
mod hash;
pub mod hidden;
pub mod html;
pub mod id;
pub mod lint;
mod markdown;
pub mod matrix;
mod occurrences;
mod own_text;
pub mod parse;
pub mod render;
pub mod requirement;
pub mod resolve;
pub mod rule;
pub mod session;
pub mod shell;
pub mod source;
pub mod stream;
pub mod syntax;
pub mod unread;
mod words;
mod work;
