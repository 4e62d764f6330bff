//! Qwen Code: Claude Code's events; context before a tool does not reach the model.

use rulebook::session::{HostProfile, Moment};

use super::claude;
use super::event::Host;

pub(super) const HOST: Host = Host {
    profile: HostProfile {
        name: "qwen",
        cap: 20_000,
        context_at: &[Moment::Prompt, Moment::After],
        call_context: false,
        stops: true,
        asks: false,
        shows_notices: true,
        misses: &[],
        forgets: &[],
    },
    agent: "qwen",
    decode: claude::decode,
    encode: claude::encode,
};
