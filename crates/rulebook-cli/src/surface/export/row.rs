//! A row of the report: the file, and the proof in words.

use std::fmt::Write as _;

use rulebook::export::{Allow, Loss, Proof};
use rulebook_workspace::{CopyState, ExportRow, Outcome};

use crate::out::grouped;

/// The file of a row, and what is to be said about it.
pub(in super::super) fn described(row: &ExportRow) -> (String, String) {
    match &row.outcome {
        Outcome::Copied { path, proof, state } => {
            let state = match state {
                CopyState::New => "new",
                CopyState::Changed => "changed",
                CopyState::Same => "up to date",
                CopyState::Edited { .. } => "edited",
            };
            (format!("→ {path} ({state})"), shown(proof))
        }
        Outcome::Read { path, proof } => (format!("already reads {path}"), shown(proof)),
        Outcome::Delivered(loss) => ("delivered by Rulebook".to_owned(), loss.to_string()),
        Outcome::Indexed(path, loss) => (format!("listed in {path}"), loss.to_string()),
        Outcome::LeftOut(loss) => ("not copied".to_owned(), help(loss)),
        Outcome::Stale { path, is_edited, is_gone } => {
            let why = match (is_gone, row.source.is_empty()) {
                (true, _) => "its rule is gone",
                (_, true) => "no rule is left to list",
                _ => "its rule is not copied there",
            };
            match is_edited {
                false => (format!("→ {path} (removed)"), why.to_owned()),
                true => (format!("→ {path} (kept)"), format!("{why}, but the copy was edited")),
            }
        }
        Outcome::ListEdited { path, .. } => {
            (format!("→ {path} (edited)"), "the list of rules was edited and is not updated".to_owned())
        }
        _ => Default::default(),
    }
}

fn help(loss: &Loss) -> String {
    match loss {
        Loss::Wider(proof) => {
            let allow = if proof.is_wider_elsewhere() { Allow::Unseen } else { Allow::Wider };
            format!("{loss}; `--allow {allow}` writes it anyway")
        }
        Loss::Spoiled { .. } => format!("{loss}; `--allow {}` writes it anyway", Allow::Wider),
        _ => loss.to_string(),
    }
}

/// The proof in words: "matches the same 5,316 of 5,316 files".
fn shown(proof: &Proof) -> String {
    let mut text =
        format!("matches the same {} of {} files", grouped(proof.files.same()), grouped(proof.files.total));
    for (what, file, near) in [
        ("wider on", &proof.files.wider, &proof.near.wider),
        ("narrower on", &proof.files.narrower, &proof.near.narrower),
        ("undocumented for", &proof.files.unknown, &proof.near.unknown),
        (
            "the agent and the rule treat letter case differently in",
            &proof.files.letter_case,
            &proof.near.letter_case,
        ),
    ] {
        match (&file.example, &near.example) {
            (Some(path), _) if file.count > 1 => {
                let _ = write!(text, "; {what} `{path}` and {} more", file.count - 1);
            }
            (Some(path), _) => {
                let _ = write!(text, "; {what} `{path}`");
            }
            (None, Some(path)) => {
                let _ = write!(text, "; {what} paths such as `{path}`");
            }
            (None, None) => {}
        }
    }
    for key in &proof.unenforced {
        let _ = write!(text, "; the agent does not enforce `{key}`");
    }
    if let Some((was, is)) = proof.without_files {
        let _ = write!(text, "; when no file matches, it is {is} instead of {was}");
    }
    text
}
