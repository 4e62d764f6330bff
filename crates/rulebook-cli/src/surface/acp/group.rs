//! The process group of the agent: agents start themselves again, and start servers, and all of it is ended together.

/// Makes this program the leader of a process group, to which what it starts belongs. With a terminal, it stays in the
/// terminal's group: programs of other groups cannot read from it.
#[cfg(unix)]
pub(super) fn lead() {
    use std::io::IsTerminal as _;
    if !std::io::stdin().is_terminal() {
        // If the editor made it the leader already, this fails.
        let _ = rustix::process::setpgid(None, None);
    }
}

/// Ends the group, this program included, if it is its leader.
#[cfg(unix)]
pub(super) fn end() {
    use rustix::process::{Signal, getpgrp, getpid, kill_current_process_group};
    if getpgrp() == getpid() {
        let _ = kill_current_process_group(Signal::KILL);
    }
}

#[cfg(not(unix))]
pub(super) fn lead() {}

#[cfg(not(unix))]
pub(super) fn end() {}
