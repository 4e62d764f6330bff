//! What the editor can do, and what the user chose there.

use std::path::PathBuf;

use serde_json::Value;

use super::protocol::path_of;

/// The editor.
#[derive(Clone, Debug, Default)]
pub(super) struct Client {
    /// The folders that are open.
    pub(super) folders: Vec<PathBuf>,
    /// Whether it reports changes on disk if it is asked to.
    pub(super) watches: bool,
    /// Whether it answers which settings the user has, and whether it reports changes of them if it is asked to.
    pub(super) has_settings: bool,
    pub(super) reports_settings: bool,
    /// What it can be asked to show again, as names of capabilities.
    pub(super) refreshes: Vec<&'static str>,
    /// Whether a change of several files may rename some.
    pub(super) renames: bool,
    /// Whether it is Rulebook's own extension, which shows the results of commands itself.
    pub(super) is_own: bool,
    pub(super) choices: Choices,
}

/// What the user chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Choices {
    /// Whether to show what stream rules match in open files.
    pub(super) preview: bool,
    /// Whether open files are evidence for the agents' sessions.
    pub(super) evidence: bool,
}

impl Default for Choices {
    fn default() -> Choices {
        Choices { preview: true, evidence: true }
    }
}

impl Choices {
    /// Takes what a settings object says, and keeps the rest.
    pub(super) fn read(self, settings: &Value) -> Choices {
        let own = settings.get("rulebook").unwrap_or(settings);
        let choice = |key: &str, now: bool| own.get(key).and_then(Value::as_bool).unwrap_or(now);
        Choices { preview: choice("preview", self.preview), evidence: choice("evidence", self.evidence) }
    }
}

impl Client {
    pub(super) fn read(params: &Value) -> Client {
        let capabilities = &params["capabilities"];
        let is = |pointer: &str| capabilities.pointer(pointer).and_then(Value::as_bool).unwrap_or_default();
        let folders = params["workspaceFolders"].as_array();
        let mut folders: Vec<PathBuf> =
            folders.into_iter().flatten().filter_map(|folder| path_of(folder["uri"].as_str()?)).collect();
        if folders.is_empty() {
            folders.extend(params["rootUri"].as_str().and_then(path_of));
        }
        let operations = capabilities.pointer("/workspace/workspaceEdit/resourceOperations");
        let operations = operations.and_then(Value::as_array);
        Client {
            folders,
            watches: is("/workspace/didChangeWatchedFiles/dynamicRegistration"),
            has_settings: is("/workspace/configuration"),
            reports_settings: is("/workspace/didChangeConfiguration/dynamicRegistration"),
            refreshes: ["inlayHint", "codeLens"]
                .into_iter()
                .filter(|what| is(&format!("/workspace/{what}/refreshSupport")))
                .collect(),
            renames: operations.is_some_and(|all| all.iter().any(|operation| operation == "rename")),
            is_own: params["initializationOptions"]["extension"].as_bool().unwrap_or_default(),
            choices: Choices::default().read(&params["initializationOptions"]),
        }
    }
}
