//! The table of requests and notifications.

use std::fmt;

use anyhow::Context as _;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::document::Document;
use super::evidence::Reported;
use super::protocol::{Changed, Command, FolderChange, Opened, Place, path_of};
use super::server::{Server, Walk};
use super::{actions, commands, completion, extension, hints, hover, lens, navigate, rename, structure};

/// What the server offers to the editor.
pub(super) fn capabilities() -> Value {
    json!({
        "positionEncoding": "utf-16",
        "textDocumentSync": { "openClose": true, "change": 2, "save": true },
        "codeActionProvider": { "codeActionKinds": [actions::QUICK_FIX, actions::FIX_ALL] },
        "codeLensProvider": {},
        "completionProvider": { "triggerCharacters": ["/", "@", ":", "\"", "-", " "] },
        "definitionProvider": true,
        "executeCommandProvider": { "commands": commands::names() },
        "foldingRangeProvider": true,
        "hoverProvider": true,
        "inlayHintProvider": true,
        "referencesProvider": true,
        "renameProvider": { "prepareProvider": true },
        "semanticTokensProvider": { "full": true, "legend": { "tokenTypes": structure::TOKENS, "tokenModifiers": [] } },
        "workspace": { "workspaceFolders": { "supported": true, "changeNotifications": true } },
    })
}

/// How a request about a place in a document is answered.
type Answer = fn(&Server, &Place) -> anyhow::Result<Value>;

/// The requests about a place in a document.
const PLACES: &[(&str, Answer)] = &[
    ("rulebook/sessions", |server, place| Ok(extension::sessions(server, place))),
    ("rulebook/view", |server, place| Ok(extension::view(server, place))),
    ("textDocument/codeAction", |server, place| Ok(actions::actions(server, place))),
    ("textDocument/codeLens", |server, place| Ok(lens::lenses(server, place))),
    ("textDocument/completion", |server, place| Ok(completion::complete(server, place))),
    ("textDocument/definition", |server, place| Ok(navigate::definition(server, place))),
    ("textDocument/foldingRange", |server, place| Ok(structure::folding(server, place))),
    ("textDocument/hover", |server, place| Ok(hover::hover(server, place))),
    ("textDocument/inlayHint", |server, place| Ok(hints::hints(server, place))),
    ("textDocument/prepareRename", rename::prepare),
    ("textDocument/references", |server, place| Ok(navigate::references(server, place))),
    ("textDocument/rename", rename::rename),
    ("textDocument/semanticTokens/full", |server, place| Ok(structure::tokens(server, place))),
];

/// Answers a request; `None` if it is not known.
pub(super) fn answer(server: &mut Server, method: &str, params: Value) -> Option<anyhow::Result<Value>> {
    if method == "workspace/executeCommand" {
        return Some(read::<Command>(params).and_then(|command| commands::execute(server, &command)));
    }
    let (_, answer) = PLACES.iter().find(|(name, _)| *name == method)?;
    Some(read::<Place>(params).and_then(|place| answer(server, &place)))
}

/// Takes a notification. One that is not known is ignored, as the protocol says.
pub(super) fn note(server: &mut Server, method: &str, params: Value) -> anyhow::Result<()> {
    match method {
        "textDocument/didOpen" => {
            let Opened { text_document: opened } = read(params)?;
            let Some(document) = Document::open(opened.uri.clone(), opened.version, &opened.text) else {
                return Ok(());
            };
            let walk = walk_for(&document);
            server.documents.insert(opened.uri.clone(), document);
            server.publish_document(&opened.uri);
            server.check_soon(walk);
        }
        "textDocument/didChange" => {
            let Changed { text_document: name, content_changes } = read(params)?;
            let document = server.documents.get_mut(&name.uri);
            let document = document.with_context(|| format!("`{}` is not open", name.uri))?;
            document.apply(&content_changes);
            document.version = name.version;
            let is_independent = server.open(&name.uri).is_some_and(|(open, last)| last.is_independent(open));
            server.publish_document(&name.uri);
            if !is_independent {
                server.check_soon(Walk::Not);
            }
        }
        "textDocument/didClose" => {
            let Place { text_document: name, .. } = read(params)?;
            let closed = server.documents.remove(&name.uri);
            server.check_soon(closed.as_ref().map_or(Walk::Not, walk_for));
        }
        "textDocument/didSave" => {
            let Place { text_document: name, .. } = read(params)?;
            if let Some(document) = server.documents.get_mut(&name.uri) {
                document.saved = document.text.clone();
                document.is_new = false;
            }
            server.check_soon(Walk::Not);
        }
        "workspace/didChangeWatchedFiles" => {
            const CHANGED: u64 = 2;
            let changes = params["changes"].as_array();
            let is_new = |change: &Value| change["type"].as_u64() != Some(CHANGED);
            let walk = changes.is_none_or(|changes| changes.iter().any(is_new));
            server.check_soon(if walk { Walk::Again } else { Walk::Not });
        }
        "workspace/didChangeWorkspaceFolders" => {
            let FolderChange { added, removed } = read(params["event"].clone())?;
            let removed: Vec<_> = removed.iter().filter_map(|folder| path_of(&folder.uri)).collect();
            server.client.folders.retain(|folder| !removed.contains(folder));
            server.client.folders.extend(added.iter().filter_map(|folder| path_of(&folder.uri)));
            server.check_soon(Walk::Again);
        }
        "initialized" => {
            server.register();
            server.ask_configuration();
        }
        "rulebook/editors" => server.evidence.report(read::<Reported>(params)?),
        "workspace/didChangeConfiguration" => {
            server.configure(&params["settings"]);
            // A client that sends no settings expects to be asked for them.
            if params["settings"].get("rulebook").is_none() {
                server.ask_configuration();
            }
        }
        _ => {}
    }
    Ok(())
}

/// Whether the tree changes if a document is opened or closed: a file that is not saved yet appears or vanishes.
fn walk_for(document: &Document) -> Walk {
    if document.is_new { Walk::Again } else { Walk::Not }
}

fn read<T: DeserializeOwned>(params: Value) -> anyhow::Result<T> {
    serde_json::from_value(params).context(BadParams)
}

/// The parameters of a request or notification cannot be read.
#[derive(Debug)]
pub(super) struct BadParams;

impl fmt::Display for BadParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the parameters are not as the protocol says")
    }
}
