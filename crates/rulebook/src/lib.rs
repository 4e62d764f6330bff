//! Decides which rules of coding agents apply to the work at hand, and why.

pub mod condition;
pub mod diagnostic;
pub mod evaluate;
pub mod evidence;
pub mod explain;
pub mod format;
pub mod frontmatter;
pub mod glob;
pub mod render;
pub mod resolve;
pub mod rule;
pub mod source;
