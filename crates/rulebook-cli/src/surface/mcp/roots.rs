//! The client's roots: the folders it works in, unless the command line names some.

#![expect(deprecated, reason = "the clients of today have roots")]

use std::path::PathBuf;
use std::sync::Arc;

use rmcp::{Peer, RoleServer};
use rulebook_workspace::find_root;

use super::Opener;
use crate::lock::lock;
use crate::surface::file_uri::file_path;

/// Asks a client that has roots for them.
pub(super) async fn query(opener: Arc<Opener>, peer: Peer<RoleServer>) {
    let has_roots = peer.peer_info().is_some_and(|client| client.capabilities.roots.is_some());
    if !has_roots || !opener.args.root.is_empty() {
        return;
    }
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
