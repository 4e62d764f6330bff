//! Codex: Claude Code's events and answers, and no key beyond them.

use super::event::Moment;
use super::{Host, Touch, claude};

pub(super) const HOST: Host = Host {
    name: "codex",
    agent: "codex",
    cap: 9_000,
    hears: &[Moment::Start, Moment::Prompt, Moment::Before, Moment::After],
    shows_notices: true,
    misses: &[Touch::Read, Touch::Write, Touch::Shell],
    forgets: &[],
    decode: claude::decode,
    encode: claude::encode,
};
