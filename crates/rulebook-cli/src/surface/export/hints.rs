//! What to do about an export that found nothing, or copies that were edited.

use anyhow::anyhow;
use rulebook::export::Tool;
use rulebook_workspace::ExportOptions;

/// Returns the error for a tool that has no rules here.
pub(super) fn no_rules_of(tool: &Tool) -> anyhow::Error {
    let places = tool.formats.iter().flat_map(|format| format.workspace);
    let folders: Vec<String> = places.map(|place| format!("`{}`", place.path)).collect();
    anyhow!("name the folder that contains it with `--root`").context(format!(
        "no rules of {} found in {}",
        tool.name,
        folders.join(", ")
    ))
}

/// The command line of an export, without what it does about edits.
pub(super) fn command_of(options: &ExportOptions) -> String {
    let to: Vec<&str> = options.to.iter().map(|target| target.name).collect();
    let verb = options.tool.map_or_else(|| "export".to_owned(), |tool| format!("import {}", tool.name));
    let loss = options.loss.map(|loss| format!(" --loss {loss}")).unwrap_or_default();
    format!("rulebook {verb} --to {} --from {}{loss}", to.join(","), options.from.join(","))
}
