//! Tells the client when the list of rules has changed, or the text of a rule it follows.
//!
//! Loading again and comparing shows exactly what a client would see, toggles and settings included. File system watchers
//! would need one for every folder of the tree, and for folders that do not exist yet.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::model::{
    Resource, ResourceListChangedNotification, ResourceUpdatedNotification, ResourceUpdatedNotificationParam,
    ServerNotification,
};
use rmcp::service::SubscriptionContext;
use rmcp::{Peer, RoleServer};

use super::{Opener, resources_of, text_of};
use crate::lock::lock;
use crate::pace::Pace;

const PACE: Pace = Pace { shortest: Duration::from_secs(2), parts: 50 };

/// Compares the list with what the client knows, repeatedly, until the client is gone.
pub(super) async fn watch(opener: Arc<Opener>, peer: Peer<RoleServer>) {
    loop {
        let started = Instant::now();
        let scanned = Arc::clone(&opener);
        let Ok((is_news, changed)) = tokio::task::spawn_blocking(move || scan(&scanned)).await else {
            return;
        };
        let took = started.elapsed();
        if is_news && peer.notify_resource_list_changed().await.is_err() {
            return;
        }
        for uri in changed {
            if peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await.is_err() {
                return;
            }
        }
        tokio::time::sleep(PACE.pause(took)).await;
    }
}

/// Whether the list differs from what the client knows, and which of its subscribed rules have a new text. Without a
/// workspace the list is empty.
fn scan(opener: &Opener) -> (bool, Vec<String>) {
    let book = opener.book().ok();
    let seen = book.as_ref().map(resources_of).unwrap_or_default();
    let known = opener.replace_known(seen.clone());
    let followed: Vec<String> = lock(&opener.followed).keys().cloned().collect();
    let mut changed = Vec::new();
    for uri in followed {
        let text = book.as_ref().and_then(|book| text_of(book, &uri));
        // The subscription may have ended in the meantime.
        let mut followed = lock(&opener.followed);
        if followed.get(&uri).is_some_and(|known| *known != text) {
            followed.insert(uri.clone(), text);
            changed.push(uri);
        }
    }
    (known.is_some_and(|known| known != seen), changed)
}

/// What a subscription of a client without a handshake has seen.
struct Seen {
    listed: Vec<Resource>,
    /// The rules it follows, each with its text.
    texts: Vec<(String, Option<String>)>,
}

/// Notifies a subscription of changes, until it ends.
pub(super) async fn listen(opener: Arc<Opener>, context: &SubscriptionContext) {
    let followed = context.accepted().resource_subscriptions.clone().unwrap_or_default();
    let mut seen: Option<Seen> = None;
    loop {
        let started = Instant::now();
        let (opener, uris) = (Arc::clone(&opener), followed.clone());
        let look = move || {
            let book = opener.book().ok();
            let text = |uri: String| (uri.clone(), book.as_ref().and_then(|book| text_of(book, &uri)));
            let listed = book.as_ref().map(resources_of).unwrap_or_default();
            Seen { listed, texts: uris.into_iter().map(text).collect() }
        };
        let Ok(now) = tokio::task::spawn_blocking(look).await else { return };
        let took = started.elapsed();
        for notification in seen.as_ref().map(|before| changes(before, &now)).unwrap_or_default() {
            // What the subscription does not cover is refused here, and need not be sent.
            let _ = context.sink().send(notification).await;
        }
        seen = Some(now);
        if tokio::time::timeout(PACE.pause(took), context.cancelled()).await.is_ok() {
            return;
        }
    }
}

fn changes(before: &Seen, now: &Seen) -> Vec<ServerNotification> {
    let list = (before.listed != now.listed).then(|| {
        ServerNotification::ResourceListChangedNotification(ResourceListChangedNotification::default())
    });
    let texts = before.texts.iter().zip(&now.texts).filter(|(before, now)| before != now);
    let updated = texts.map(|(_, (uri, _))| {
        let params = ResourceUpdatedNotificationParam::new(uri.clone());
        ServerNotification::ResourceUpdatedNotification(ResourceUpdatedNotification::new(params))
    });
    list.into_iter().chain(updated).collect()
}
