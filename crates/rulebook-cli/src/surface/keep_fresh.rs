//! Keeps the copies of remote rules fresh while a server runs.

use rulebook_workspace::Workspace;

/// Starts a thread that fetches remotes whose copies are too old. The result is stored with the copy and reported with the
/// rules.
#[cfg(feature = "remote")]
pub(super) fn keep_fresh(open: impl Fn() -> anyhow::Result<Workspace> + Send + 'static) {
    use std::time::{Duration, SystemTime};

    use rulebook_workspace::remote;

    const INTERVAL: Duration = Duration::from_secs(30);
    std::thread::spawn(move || {
        loop {
            if let Ok(Workspace { settings, homes, .. }) = open() {
                let now = SystemTime::now();
                for remote in settings.remotes.iter().filter(|remote| remote::is_due(remote, &homes, now)) {
                    let _ = remote::sync(remote, &homes, now);
                }
            }
            std::thread::sleep(INTERVAL);
        }
    });
}

/// Does nothing: this build cannot fetch.
#[cfg(not(feature = "remote"))]
pub(super) fn keep_fresh(_open: impl Fn() -> anyhow::Result<Workspace> + Send + 'static) {}
