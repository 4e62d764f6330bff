//! Qwen Code: Claude Code's events; context before a tool does not reach the model.

use super::event::Moment;
use super::{Host, claude};

pub(super) const HOST: Host = Host {
    name: "qwen",
    agent: "qwen",
    cap: 20_000,
    hears: &[Moment::Prompt, Moment::After],
    shows_notices: true,
    misses: &[],
    forgets: &[],
    decode: claude::decode,
    encode: claude::encode,
};
