//! Settings: `rulebook.toml`, the person's own file and flags, merged into one.

#[cfg_attr(not(feature = "remote"), expect(dead_code, reason = "only fetching needs all of it"))]
pub(crate) mod address;
mod keys;
mod layer;
mod merge;
mod text;
mod values;

pub(crate) use layer::MAX_TEXT;
pub use layer::{Layer, LayerKind};
pub use merge::merge;
pub use values::{AgentSettings, Agents, Remote, Rules, Setting, Settings, Trust, WorkspaceFacts};

#[cfg(test)]
mod tests;
