//! `export`: copies rules into the forms of other agents, and shows how each copy compares with its rule.

mod hints;
mod json;
mod remove;
mod row;
mod section;
mod targets;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::anyhow;
use rulebook::export::{Allow, TARGETS, TOOLS, Target, Tool};
use rulebook::resolve::Rulebook;
use rulebook_workspace::{
    AdoptError, CopyState, ExportOptions, ExportPlan, ExportRow, Loaded, Outcome, PlanError, Reach, Removes,
    SelectError, Sources, Tree, Wanted, Workspace,
};

use crate::alert::print_alerts;
use crate::args::{Args, Export, Import};
use crate::diff::diff;
use crate::input::open_workspace;
use crate::out::{self, BOLD, CYAN, DIM, GREEN, PLAIN, RED, Table, YELLOW, paint, plural};
use hints::{command_of, no_rules_of};
use remove::{absolute, remove, show_refused};
pub(super) use row::described;
use section::{Section, is_open};
pub(super) use targets::targets;

pub(super) fn run(args: &Args, options: &Export) -> anyhow::Result<ExitCode> {
    let workspace = open_workspace(args)?;
    if options.remove {
        return remove(args, options, &workspace);
    }
    let wanted = export_options(&workspace, options)?;
    export(args, options, &workspace, wanted)
}

/// Copies the rules of another tool, by default into Rulebook's own form.
pub(super) fn import(args: &Args, options: &Import) -> anyhow::Result<ExitCode> {
    let Some(tool) = Tool::named(&options.tool) else {
        let known: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
        let error = anyhow!("use one of {}", known.join(", "));
        return Err(error.context(format!("no tool named `{}`", out::clean(&options.tool))));
    };
    let workspace = open_workspace(args)?;
    if options.export.remove {
        return remove(args, &options.export, &workspace);
    }
    let mut own = options.export.clone();
    if own.to.is_empty() {
        own.to = vec!["rulebook".to_owned()];
    }
    if own.from.is_empty() {
        own.from = vec!["rulebook".to_owned()];
    }
    let wanted = ExportOptions { tool: Some(tool), ..export_options(&workspace, &own)? };
    export(args, &own, &workspace, wanted)
}

fn export(
    args: &Args,
    options: &Export,
    workspace: &Workspace,
    mut wanted: ExportOptions,
) -> anyhow::Result<ExitCode> {
    let is_read_only = options.dry_run || options.check;
    let _locks = if is_read_only { Vec::new() } else { workspace.lock_exports(wanted.dir.as_deref()) };
    let tree = workspace.tree(Wanted::Files, &|_| ());
    if let Some(copy) = &options.adopt {
        let sources = workspace.sources(Reach::Walked(&tree));
        let adopted = sources.adopt(&loaded(&sources, &wanted).book, copy, wanted.dir.as_deref());
        let adopted = adopted.map_err(|error| match error {
            AdoptError::NotACopy(_) => {
                anyhow!("`.rulebook/export.lock` lists the copies").context(error.to_string())
            }
            error => error.into(),
        })?;
        let source = out::clean(&adopted.source);
        if !args.json {
            out::print_aside(&format!("`{source}` has the edits of `{}`\n", out::clean(copy)));
        }
        if let Some((before, after)) = &adopted.replaced {
            out::print_aside(&format!("`{source}` was edited too; its own edits are replaced:\n"));
            out::print_aside(&diff(before, after));
        }
        wanted.keep.push(adopted.source);
    }
    let sources = workspace.sources(Reach::Walked(&tree));
    let loaded = loaded(&sources, &wanted);
    if !args.json {
        print_alerts(&loaded.diagnostics);
    }
    let book = loaded.book;
    let plan = planned(&sources, &book, &tree, &wanted)?;
    if let Some(tool) = wanted.tool.filter(|_| plan.rows.is_empty() && plan.files.is_empty()) {
        return Err(no_rules_of(tool));
    }
    let conflicts: Vec<&ExportRow> = plan.rows.iter().filter(|row| is_conflict(row)).collect();
    if let Some(first) = conflicts.first().filter(|_| !is_read_only) {
        let Outcome::Copied { path, .. } = &first.outcome else { unreachable!("conflicts are copies") };
        let error = anyhow!(
            "`{} --adopt {path}` applies the edits to the rule, `--keep {}` instead drops them; `--dry-run` shows the difference",
            command_of(&wanted),
            first.source
        );
        let message = format!("`{}` and its copy `{path}` both changed; nothing was written", first.source);
        return Err(error.context(message));
    }
    let is_done = plan.is_done()?;
    show_refused(&plan);
    if !is_read_only {
        plan.apply()?;
    }
    if args.json {
        out::print_json(&json::answer(&plan, is_read_only))?;
    } else {
        out::print(&show(&plan, &wanted, is_read_only, options.files))?;
    }
    let has_edits = plan.rows.iter().any(is_edited);
    Ok(ExitCode::from(u8::from(options.check && (!is_done || has_edits))))
}

/// The rules to choose from.
fn loaded(sources: &Sources<'_>, options: &ExportOptions) -> Loaded {
    match (options.tool, options.reader()) {
        (Some(tool), _) => sources.of_tool(tool),
        (None, Some(agent)) => sources.native(agent),
        (None, None) => sources.meant(),
    }
}

/// Plans an export, with errors that say what to do.
pub(super) fn planned(
    sources: &Sources<'_>,
    book: &Rulebook,
    tree: &Tree,
    options: &ExportOptions,
) -> anyhow::Result<ExportPlan> {
    sources.export(book, tree, options).map_err(|error| match error {
        PlanError::Select(SelectError::Empty) if let Some(tool) = options.tool => no_rules_of(tool),
        PlanError::Select(error) => anyhow!(error.help()).context(error.to_string()),
        PlanError::NotCopied(name) => {
            let error = format!("`--keep` names `{}`, which is not exported here", out::clean(&name));
            anyhow!(
                "name the source of a copy, or the file of a list of rules; `.rulebook/export.lock` has both"
            )
            .context(error)
        }
        PlanError::Read(error) => anyhow!(error),
    })
}

/// The options of flags and settings.
fn export_options(workspace: &Workspace, options: &Export) -> anyhow::Result<ExportOptions> {
    let settings = &workspace.settings.export;
    let mut from = if options.from.is_empty() { settings.from.clone() } else { options.from.clone() };
    let mut to = if options.to.is_empty() { settings.to.clone() } else { options.to.clone() };
    let dir = options.dir.as_ref().map(absolute).transpose()?;
    if to.is_empty() && (options.adopt.is_some() || options.keep.is_some() || options.sync) {
        // What was exported is known.
        let (sources, targets) = workspace.recorded_export(dir.as_deref())?;
        to = targets;
        if from.is_empty() {
            from = sources;
        }
    }
    if to.is_empty() {
        let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        let help = "add `--to AGENT`, such as `--to claude`, or set `to` under `[export]` in `rulebook.toml`";
        let error = anyhow!("{help}; agents: {}", names.join(", "));
        return Err(error.context("`--to` is missing"));
    }
    let allow = options.allow.or(settings.allow).unwrap_or(Allow::Meant);
    Ok(ExportOptions {
        from,
        to: targets(&to)?,
        tool: None,
        allow,
        loss: options.loss.or(settings.loss),
        keep: options.keep.iter().cloned().collect(),
        dir,
        removes: match (options.sync, options.from.is_empty() && options.to.is_empty()) {
            (false, _) => Removes::Nothing,
            (true, false) => Removes::Gone,
            (true, true) => Removes::Others,
        },
        check: options.check,
    })
}

fn is_edited(row: &ExportRow) -> bool {
    matches!(
        &row.outcome,
        Outcome::Copied { state: CopyState::Edited { .. }, .. }
            | Outcome::Stale { is_edited: true, .. }
            | Outcome::ListEdited { .. }
    )
}

fn is_conflict(row: &ExportRow) -> bool {
    matches!(&row.outcome, Outcome::Copied { state: CopyState::Edited { is_conflict: true, .. }, .. })
}

/// How many rows of one kind are shown.
const ROWS: usize = 40;

fn show(plan: &ExportPlan, options: &ExportOptions, is_read_only: bool, all: bool) -> String {
    let mut text = String::new();
    // Copies for other agents may be removed.
    let others = plan.rows.iter().map(|row| row.target);
    let mut targets: Vec<&'static Target> = Vec::new();
    for target in options.to.iter().copied().chain(others) {
        if !targets.iter().any(|known| known.name == target.name) {
            targets.push(target);
        }
    }
    for target in targets {
        let rows: Vec<&ExportRow> = plan.rows.iter().filter(|row| row.target.name == target.name).collect();
        let _ = writeln!(text, "{}: {}", paint(BOLD, target.title()), summary(&rows));
        let most = if all { usize::MAX } else { ROWS };
        for section in Section::ALL {
            let rows: Vec<&ExportRow> =
                rows.iter().copied().filter(|row| Section::of(row) == section).collect();
            write_rows(&mut text, section.title(), &rows, most);
        }
        text.push('\n');
    }
    let command = command_of(options);
    for row in &plan.rows {
        let Some((path, before, after)) = edits(&row.outcome) else { continue };
        let _ = writeln!(text, "{} {}: not overwritten", paint(YELLOW, "edited"), out::clean(path));
        text.push_str(&diff(after, before));
        let path = out::clean(path);
        let _ = match row.outcome {
            Outcome::ListEdited { .. } => {
                writeln!(text, "  help: `{command} --keep {path}` replaces the list\n")
            }
            _ => writeln!(
                text,
                "  help: `{command} --adopt {path}` applies the edits to the rule, `--keep {}` instead drops them\n",
                out::clean(&row.source)
            ),
        };
    }
    let count = plural(plan.files.len(), "file");
    let edited = plan.rows.iter().filter(|row| is_edited(row)).count();
    let _ = match (plan.files.is_empty(), is_read_only) {
        (true, _) if edited > 0 => {
            let copies = if edited == 1 { "1 copy was".to_owned() } else { format!("{edited} copies were") };
            writeln!(text, "{copies} edited; everything else is up to date")
        }
        (true, _) => writeln!(text, "everything is up to date"),
        (false, true) => writeln!(text, "{count} would change; nothing was written"),
        (false, false) => {
            let dir = options.dir.as_ref().map(|dir| format!(" --dir {}", out::clean(&shown_folder(dir))));
            let dir = dir.unwrap_or_default();
            writeln!(
                text,
                "{count} written; `rulebook export --remove{dir}` removes all exported copies and imported rules"
            )
        }
    };
    text
}

/// A folder as people name it: relative to the current one, if it is in it.
fn shown_folder(folder: &Path) -> String {
    let current = std::env::current_dir().ok();
    let inner = current.and_then(|current| folder.strip_prefix(current).ok().map(Path::to_owned));
    inner.unwrap_or_else(|| folder.to_owned()).display().to_string()
}

/// A file that was edited by hand: what is in it, and what would be written.
pub(super) fn edits(outcome: &Outcome) -> Option<(&str, &str, &str)> {
    match outcome {
        Outcome::Copied { path, state: CopyState::Edited { before, after, .. }, .. }
        | Outcome::ListEdited { path, before, after } => Some((path, before, after)),
        _ => None,
    }
}

/// The number of rules, and what becomes of them.
pub(super) fn summary(rows: &[&ExportRow]) -> String {
    let count = |is_it: &dyn Fn(&Outcome) -> bool| rows.iter().filter(|row| is_it(&row.outcome)).count();
    let proof = |outcome: &Outcome| match outcome {
        Outcome::Copied { proof, .. } | Outcome::Read { proof, .. } => Some(proof.is_same()),
        _ => None,
    };
    let parts = [
        (count(&|outcome| proof(outcome) == Some(true) && !is_open(outcome)), "exact"),
        (count(&is_open), "not documented"),
        (count(&|outcome| proof(outcome) == Some(false)), "partial"),
        (count(&|outcome| matches!(outcome, Outcome::Delivered(_))), "delivered by Rulebook"),
        (count(&|outcome| matches!(outcome, Outcome::Indexed(..))), "in an index"),
        (count(&|outcome| matches!(outcome, Outcome::LeftOut(_))), "not copied"),
    ];
    let parts: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    let rules = plural(rows.iter().filter(|row| !row.id.is_empty()).count(), "rule");
    if parts.is_empty() { rules } else { format!("{rules} ({})", parts.join(", ")) }
}

fn write_rows(text: &mut String, title: &str, rows: &[&ExportRow], most: usize) {
    /// A note on more rules than that is shown once.
    const COMMON: usize = 3;
    let mut notes: BTreeMap<&str, usize> = BTreeMap::new();
    rows.iter().flat_map(|row| &row.notes).for_each(|note| *notes.entry(note).or_default() += 1);
    notes.retain(|_, count| *count > COMMON);
    let mut table = Table::default();
    for row in rows.iter().take(most) {
        let (file, what) = described(row);
        let style = match &row.outcome {
            outcome if is_open(outcome) => YELLOW,
            Outcome::Copied { proof, .. } | Outcome::Read { proof, .. } if proof.is_same() => GREEN,
            Outcome::LeftOut(_) => RED,
            _ => YELLOW,
        };
        table.row([
            (PLAIN, &out::clean(&row.source)),
            (DIM, &out::clean(&file)),
            (style, &out::clean(&what)),
        ]);
        for note in row.notes.iter().filter(|note| !notes.contains_key(note.as_str())) {
            table.row([(PLAIN, ""), (DIM, "note"), (DIM, &out::clean(note))]);
        }
    }
    if !table.is_empty() {
        let _ = writeln!(text, "  {}", paint(CYAN, title));
        table.write(text, 4, &table.widths());
    }
    if rows.len() > most {
        let _ = writeln!(text, "    and {} more; `--all` shows them", rows.len() - most);
    }
    for (note, count) in notes {
        let _ =
            writeln!(text, "    {} {}: {}", paint(DIM, "note on"), plural(count, "rule"), out::clean(note));
    }
}
