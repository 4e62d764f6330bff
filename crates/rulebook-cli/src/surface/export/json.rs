//! An export as JSON.

use rulebook::export::Proof;
use rulebook_workspace::{CopyState, ExportPlan, ExportRow, Outcome};
use serde_json::{Value, json};

use crate::out::VERSION;

pub(super) fn answer(plan: &ExportPlan, is_read_only: bool) -> Value {
    let row = |row: &ExportRow| {
        let (state, path, proof) = match &row.outcome {
            Outcome::Copied { path, proof, state } => {
                let state = match state {
                    CopyState::New => "new",
                    CopyState::Changed => "changed",
                    CopyState::Same => "same",
                    CopyState::Edited { is_conflict: false, .. } => "edited",
                    CopyState::Edited { is_conflict: true, .. } => "conflict",
                };
                (state, Some(path), Some(proof))
            }
            Outcome::Read { path, proof } => ("read", Some(path), Some(proof)),
            Outcome::Delivered(_) => ("delivered", None, None),
            Outcome::Indexed(path, _) => ("indexed", Some(path), None),
            Outcome::LeftOut(_) => ("left-out", None, None),
            Outcome::Stale { path, is_edited: false, .. } => ("removed", Some(path), None),
            Outcome::Stale { path, .. } => ("kept", Some(path), None),
            Outcome::ListEdited { path, .. } => ("edited", Some(path), None),
            _ => ("", None, None),
        };
        json!({
            "id": row.id,
            "source": row.source,
            "target": row.target.name,
            "state": state,
            "path": path,
            "same": proof.map(Proof::is_same),
            "proof": proof,
            "loss": row.loss().map(|loss| json!({ "code": loss.code(), "message": loss.to_string() })),
            "notes": row.notes,
        })
    };
    json!({
        "version": VERSION,
        "files": plan.tree,
        "written": !is_read_only,
        "rules": plan.rows.iter().map(row).collect::<Vec<_>>(),
        "changes": plan.files.iter().map(|file| {
            let change = match (&file.before, &file.after) {
                (None, _) => "new",
                (_, None) => "removed",
                _ => "changed",
            };
            json!({ "path": file.display, "change": change })
        }).collect::<Vec<_>>(),
    })
}
