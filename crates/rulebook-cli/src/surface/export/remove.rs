//! `export --remove`: takes every copy out again.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use rulebook::export::Blocks;
use rulebook_workspace::{ExportPlan, Workspace};
use serde_json::json;

use crate::args::{Args, Export};
use crate::out::{self, VERSION, YELLOW, paint};

pub(super) fn remove(args: &Args, options: &Export, workspace: &Workspace) -> anyhow::Result<ExitCode> {
    let dir = options.dir.as_ref().map(absolute).transpose()?;
    let is_read_only = options.dry_run || options.check;
    let _locks = if is_read_only { Vec::new() } else { workspace.lock_exports(dir.as_deref()) };
    let (plan, kept) = workspace.remove_exported(dir.as_deref())?;
    let is_done = plan.is_done()?;
    show_refused(&plan);
    if !is_read_only {
        plan.apply()?;
    }
    let removed: Vec<&str> = plan.files.iter().map(|file| file.display.as_str()).collect();
    let blocks = |text: &Option<String>| text.as_deref().map_or(0, |text| Blocks::of(text).count());
    if args.json {
        out::print_json(
            &json!({ "version": VERSION, "removed": removed, "kept": kept, "written": !is_read_only }),
        )?;
    } else {
        let mut text = String::new();
        let done = if is_read_only { "would remove" } else { "removed" };
        for file in &plan.files {
            let path = out::clean(&file.display);
            let _ = match file.after {
                None => writeln!(text, "{done} {path}"),
                Some(_) => {
                    let count = blocks(&file.before).saturating_sub(blocks(&file.after));
                    let copies = if count == 1 { "1 copy".to_owned() } else { format!("{count} copies") };
                    writeln!(text, "{done} {copies} from {path}")
                }
            };
        }
        for path in &kept {
            let _ = writeln!(
                text,
                "{} {}: it was edited; remove it yourself",
                paint(YELLOW, "kept"),
                out::clean(path)
            );
        }
        if removed.is_empty() && kept.is_empty() {
            text.push_str("nothing to remove: no copy is recorded\n");
        }
        out::print(&text)?;
    }
    Ok(ExitCode::from(u8::from(options.check && !is_done)))
}

/// Somebody may have written into the record what no export writes.
pub(super) fn show_refused(plan: &ExportPlan) {
    for path in plan.refused() {
        let path = out::clean(path);
        out::print_aside(&format!(
            "`.rulebook/export.lock` names `{path}`, which no export writes; it is not touched\n"
        ));
    }
}

/// A folder as an absolute path.
pub(super) fn absolute(dir: &PathBuf) -> anyhow::Result<PathBuf> {
    Ok(std::path::absolute(dir)?)
}
