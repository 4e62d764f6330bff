//! Tells the client when the list of rules has changed.
//!
//! Looking anew and comparing says exactly what a client would see, switches and settings included; watchers of the
//! system would need one for every folder of the tree, and for folders that are not there yet.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::{Peer, RoleServer};

use super::Asks;

/// The shortest wait between two looks.
const WAIT: Duration = Duration::from_secs(2);

/// In a large tree a look takes time: it gets at most one part in this many.
const SHARE: u32 = 50;

/// Compares the list with what the client knows, again and again, until it is gone.
pub(super) async fn watch(asks: Arc<Asks>, peer: Peer<RoleServer>) {
    loop {
        let started = Instant::now();
        let looking = Arc::clone(&asks);
        let Ok(is_news) = tokio::task::spawn_blocking(move || look(&looking)).await else { return };
        let took = started.elapsed();
        if is_news && peer.notify_resource_list_changed().await.is_err() {
            return;
        }
        tokio::time::sleep(WAIT.max(took.saturating_mul(SHARE))).await;
    }
}

/// Whether the list is another than the client knows. While there is no workspace it is empty.
fn look(asks: &Asks) -> bool {
    let seen = asks.resources().unwrap_or_default();
    let known = asks.learn(seen.clone());
    known.is_some_and(|known| known != seen)
}
