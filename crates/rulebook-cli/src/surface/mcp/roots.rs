//! The client's roots: the folders it works in, unless the command line names some.

#![expect(deprecated, reason = "the clients of today have roots")]

use std::path::PathBuf;
use std::sync::Arc;

use rmcp::{Peer, RoleServer};
use rulebook::id::percent_decoded;
use rulebook_workspace::find_root;

use super::Opener;
use crate::lock::lock;

/// Asks a client that has roots for them.
pub(super) async fn query(opener: Arc<Opener>, peer: Peer<RoleServer>) {
    let has_roots = peer.peer_info().is_some_and(|client| client.capabilities.roots.is_some());
    if !has_roots || !opener.args.root.is_empty() {
        return;
    }
    let Ok(listed) = peer.list_roots().await else { return };
    let mut folders: Vec<PathBuf> = Vec::new();
    for folder in listed.roots.iter().filter_map(|root| folder(&root.uri)).filter(|folder| folder.is_dir()) {
        let root = find_root(&folder).to_owned();
        if !folders.contains(&root) {
            folders.push(root);
        }
    }
    *lock(&opener.client_roots) = folders;
}

/// The folder of a `file://` address.
fn folder(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    Some(PathBuf::from(percent_decoded(&rest[rest.find('/')?..]).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_is_a_folder_by_its_address() {
        #[track_caller]
        fn check(uri: &str, wanted: Option<&str>) {
            assert_eq!(folder(uri), wanted.map(PathBuf::from), "{uri}");
        }
        check("file:///a/b", Some("/a/b"));
        check("file://localhost/a%20b/%C3%A9", Some("/a b/é"));
        check("file:///100%", Some("/100%"));
        check("file:///a%2", Some("/a%2"));
        check("https://example.com/a", None);
        check("file://", None);
    }
}
