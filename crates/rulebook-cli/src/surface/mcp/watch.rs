//! Tells the client when the list of rules has changed.
//!
//! Looking anew and comparing says exactly what a client would see, switches and settings included; watchers of the
//! system would need one for every folder of the tree, and for folders that are not there yet.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::model::Resource;
use rmcp::{Peer, RoleServer};

use super::Asks;

/// The shortest wait between two looks.
const WAIT: Duration = Duration::from_secs(2);

/// In a large tree a look takes time: it gets at most one part in this many.
const SHARE: u32 = 50;

/// Compares the list with what it was, again and again, until the client is gone.
pub(super) async fn watch(asks: Arc<Asks>, peer: Peer<RoleServer>) {
    let mut known = None;
    loop {
        let started = Instant::now();
        let asks = Arc::clone(&asks);
        let Ok(seen) = tokio::task::spawn_blocking(move || look(&asks)).await else { return };
        let took = started.elapsed();
        let is_news = known.as_ref().is_some_and(|known| *known != seen);
        if is_news && peer.notify_resource_list_changed().await.is_err() {
            return;
        }
        known = Some(seen);
        tokio::time::sleep(WAIT.max(took * SHARE)).await;
    }
}

/// The list; empty while there is no workspace.
fn look(asks: &Asks) -> Vec<Resource> {
    asks.resources().unwrap_or_default()
}
