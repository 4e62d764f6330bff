//! Codex: Claude Code's events and answers; it rejects unknown keys.

use rulebook::session::{HostProfile, Moment, Touch};

use super::claude;
use super::event::Host;

pub(super) const HOST: Host = Host {
    profile: HostProfile {
        name: "codex",
        cap: 9_000,
        context_at: &[Moment::Start, Moment::Prompt, Moment::Before, Moment::After],
        call_context: false,
        stops: true,
        asks: false,
        shows_notices: true,
        misses: &[Touch::Read, Touch::Write, Touch::Shell],
        forgets: &[],
    },
    agent: "codex",
    decode: claude::decode,
    encode: claude::encode,
};
