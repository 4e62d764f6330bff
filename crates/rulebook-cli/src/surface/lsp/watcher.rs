//! The thread that watches what editors do not report: the user's switches and settings, and the sessions of agents.

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, SystemTime};

use crossbeam_channel::{Receiver, bounded};
use rulebook_workspace::Homes;
use rulebook_workspace::toggles::Toggles;

use crate::surface::follow::Follower;

/// What changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum News {
    /// Switches, trust or settings of the user.
    State,
    /// A session of an agent.
    Sessions,
}

/// The time between two looks.
const INTERVAL: Duration = Duration::from_millis(500);

/// Starts the thread. Sessions are followed for the view of the extension only.
pub(super) fn start(follows_sessions: bool) -> Receiver<News> {
    // A server that is busy gets one report of all changes.
    let (sender, receiver) = bounded(2);
    thread::spawn(move || {
        let homes = Homes::from_environment();
        let state = homes.state.as_ref().map(|state| state.join("rulebook"));
        let mut files: Vec<PathBuf> =
            homes.config.iter().map(|config| config.join("rulebook/config.toml")).collect();
        if let Some(state) = &state {
            files.push(Toggles::at(state).file().to_owned());
            files.push(rulebook_workspace::TrustStore::at(state).file().to_owned());
        }
        let written = |file: &PathBuf| -> Option<SystemTime> { file.metadata().ok()?.modified().ok() };
        let look = || files.iter().map(written).collect::<Vec<_>>();
        let mut known = look();
        let mut follower = state.filter(|_| follows_sessions).map(Follower::new);
        let mut is_first = true;
        loop {
            let mut news = Vec::new();
            let now = look();
            if now != known {
                known = now;
                news.push(News::State);
            }
            if let Some(follower) = &mut follower {
                let mut is_changed = false;
                follower.scan(|_, _, _| is_changed = true);
                if is_changed && !is_first {
                    news.push(News::Sessions);
                }
            }
            is_first = false;
            for news in news {
                if sender.send(news).is_err() {
                    return;
                }
            }
            thread::sleep(INTERVAL);
        }
    });
    receiver
}
