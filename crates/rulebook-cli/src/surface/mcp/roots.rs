//! The client's roots: the folders it works in, unless the command line names some.

#![expect(deprecated, reason = "the clients of today have roots")]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::InitializeRequestParams;
use rmcp::{Peer, RoleServer};
use rulebook_workspace::find_root;

use super::Opener;
use crate::lock::lock;
use crate::surface::file_uri::file_path;

/// How long requests wait for the client's roots. A client that does not answer is waited for once.
const MAX_WAIT: Duration = Duration::from_secs(2);

impl Opener {
    /// Whether the client decides which roots the workspace has.
    fn has_roots(&self, client: &InitializeRequestParams) -> bool {
        client.capabilities.roots.is_some() && self.args.root.is_empty()
    }

    /// The client has made its handshake: what it asks next is about its roots, even if it did not name them yet.
    pub(super) fn expect_roots(&self, client: &InitializeRequestParams) {
        self.awaits_roots.send_replace(self.has_roots(client));
    }

    /// Waits until the client's roots are known.
    pub(super) async fn roots_known(&self) {
        let mut awaits = self.awaits_roots.subscribe();
        let known = tokio::time::timeout(MAX_WAIT, awaits.wait_for(|awaits| !awaits)).await;
        if known.is_err() {
            self.awaits_roots.send_replace(false);
        }
    }
}

/// Asks a client that has roots for them.
pub(super) async fn query(opener: Arc<Opener>, peer: Peer<RoleServer>) {
    if peer.peer_info().is_some_and(|client| opener.has_roots(&client)) {
        list(&opener, &peer).await;
    }
    opener.awaits_roots.send_replace(false);
}

async fn list(opener: &Opener, peer: &Peer<RoleServer>) {
    let Ok(listed) = peer.list_roots().await else { return };
    let mut folders: Vec<PathBuf> = Vec::new();
    for folder in listed.roots.iter().filter_map(|root| file_path(&root.uri)).filter(|folder| folder.is_dir())
    {
        let root = find_root(&folder).to_owned();
        if !folders.contains(&root) {
            folders.push(root);
        }
    }
    *lock(&opener.client_roots) = folders;
}
