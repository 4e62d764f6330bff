//! `explain`: shows which rules each agent has for a path and why, and why the others are not there.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::anyhow;
use rulebook::agent::Agent;
use rulebook::compare::Difference;
use rulebook::diagnostic::Diagnostic;
use rulebook::evidence::{Evidence, Input};
use rulebook::matrix::Matrix;
use rulebook_workspace::hosts::Host;
use rulebook_workspace::{Differing, Explanation, Viewpoint, Workspace, not_searched};

use super::grid::{Grid, GridTarget};
use super::sections::{show, title};
use super::used::{IfWired, install_hints, show_viewpoint};
use super::{reach, sessions};
use crate::alert::print_alerts;
use crate::args::{Args, Explain};
use crate::input::{open_workspace, read_evidence};
use crate::out::{self, BOLD, DIM, PLAIN, Table, YELLOW, paint, plural};

pub(super) fn run(args: &Args, options: &Explain) -> anyhow::Result<()> {
    let mut workspace = open_workspace(args)?;
    if let Some(id) = &options.session {
        return sessions::explain(args, &workspace, id);
    }
    if let Some(id) = &options.rule {
        return reach::run(args, &workspace, id, options.view.point());
    }
    let paths = [&options.paths[..], &options.more_paths].concat();
    let (input, diagnostics) = read_evidence(args, &options.evidence, &paths)?;
    workspace.learn_links(input.arguments.iter().map(String::as_str));
    let mut answer = answer(&workspace, &input, options.view.point())?;
    answer.explanation.add_diagnostics(diagnostics);
    if args.json {
        return out::print_json(&answer.explanation.output());
    }
    out::print(&answer.text())?;
    print_alerts(&answer.explanation.diagnostics);
    Ok(())
}

/// An explanation, with what is shown to people besides.
pub(super) struct Answer {
    pub(super) explanation: Explanation,
    /// The title of a target without a path.
    without_path: &'static str,
    /// The table of each target.
    grids: Vec<Grid>,
    /// What wiring an agent would add.
    hints: Vec<String>,
}

/// Explains each path by itself, or the evidence as a whole if there are no paths.
pub(super) fn answer(workspace: &Workspace, input: &Input, view: Viewpoint) -> anyhow::Result<Answer> {
    let mut grids = Vec::new();
    // By agent: one line for all targets.
    let mut if_wired: Vec<IfWired> = Vec::new();
    let each = |matrix: &Matrix<'_>, evidence: &Evidence| {
        let is_argument = evidence.paths.iter().all(|seen| !seen.sources.is_empty());
        let about = match evidence.paths.is_empty() {
            true => GridTarget::Start,
            false if is_argument => GridTarget::Paths,
            false => GridTarget::Folder,
        };
        grids.push(Grid::new(matrix, about));
        if_wired.resize_with(matrix.columns.len(), IfWired::default);
        if_wired.iter_mut().zip(&matrix.columns).for_each(|(rules, column)| rules.add(column, &matrix.rows));
    };
    let explanation = workspace.explain(input, view, each).map_err(|outside| {
        anyhow!("name a path inside the root, or add its folder with `--root`").context(outside.to_string())
    })?;
    let about = match explanation.targets.as_slice() {
        [(target, _)] if target.path.is_none() => "here",
        [(target, _)] if target.path.as_ref().is_some_and(|path| path.ends_with('/')) => "for these files",
        [_] => "for this path",
        _ => "for these paths",
    };
    let hints = match view {
        Viewpoint::As(_) => Vec::new(),
        Viewpoint::For(named) if Host::of(named.agent).is_none() => {
            unreachable_hint(named.agent, if_wired.iter().map(IfWired::len).sum()).into_iter().collect()
        }
        _ => install_hints(explanation.agents.iter().zip(if_wired), Some(about)),
    };
    let without_path = match *input == Input::default() {
        true => "no path given: what is loaded at the start",
        false => "the given evidence",
    };
    Ok(Answer { explanation, without_path, grids, hints })
}

/// Says how the rules that an agent without hooks lacks could reach it.
fn unreachable_hint(agent: &Agent, count: usize) -> Option<String> {
    let (rules, verb) = (plural(count, "rule"), if count == 1 { "does" } else { "do" });
    let title = agent.title;
    (count > 0).then(|| {
        format!(
            "{rules} {verb} not reach {title}: add `rulebook mcp` to its settings, or use `rulebook proxy`"
        )
    })
}

impl Answer {
    /// Formats the answer for people, with colours.
    pub(super) fn text(&self) -> String {
        let Explanation { view, agents, targets, differences, diagnostics, .. } = &self.explanation;
        let mut text = String::new();
        show_viewpoint(&mut text, *view, agents);
        if let Viewpoint::As(named) = view
            && let Some(not_searched) = not_searched(named.agent)
        {
            text.pop();
            let _ = writeln!(text, "{}\n", paint(DIM, not_searched));
        }
        for ((target, tokens), grid) in targets.iter().zip(&self.grids) {
            let title = title(target, self.without_path);
            match view {
                Viewpoint::Used => show_table(&mut text, &title, grid),
                _ => show(&mut text, &title, target, *tokens, *view),
            }
        }
        show_differences(&mut text, differences);
        for hint in &self.hints {
            let _ = writeln!(text, "{}", paint(DIM, hint));
        }
        show_count(&mut text, diagnostics);
        text
    }
}

/// Writes the table of a target.
fn show_table(text: &mut String, title: &str, grid: &Grid) {
    let _ = writeln!(text, "{}", paint(BOLD, title));
    if grid.is_empty() {
        text.push_str("\n  no rule files found; `rulebook status` searches the whole tree\n\n");
        return;
    }
    grid.write(text);
    text.push('\n');
}

/// Writes what agents treat differently than it is meant; files of one folder with one cause are one line.
fn show_differences(text: &mut String, differences: &[Differing]) {
    if differences.is_empty() {
        return;
    }
    let _ =
        writeln!(text, "  {}", paint(DIM, "agents that treat a header differently than its author meant"));
    let mut groups: BTreeMap<(&str, &str, String), Vec<&Differing>> = BTreeMap::new();
    for differing in differences {
        let folder = differing.source.rsplit_once('/').map_or("", |(folder, _)| folder);
        let Difference { does, why, .. } = &differing.difference;
        let cause = format!("{does}{}", why.as_ref().map(|why| format!(" ({why})")).unwrap_or_default());
        groups.entry((differing.agent.title, folder, cause)).or_default().push(differing);
    }
    let mut table = Table::default();
    for ((agent, folder, cause), group) in groups {
        match group.as_slice() {
            group if group.len() > 3 => {
                let source = format!("{folder}/ ({})", plural(group.len(), "file"));
                table.row([(YELLOW, &source), (PLAIN, &format!("{agent} {cause}"))]);
            }
            group => {
                for differing in group {
                    table.row([(YELLOW, &differing.source), (PLAIN, &differing.sentence)]);
                }
            }
        }
    }
    table.write(text, 4, &table.widths());
    text.push('\n');
}

fn show_count(text: &mut String, diagnostics: &[Diagnostic]) {
    if let Some(count) = out::count(diagnostics) {
        let _ = writeln!(text, "{count} in these files; run `rulebook check`");
    }
}
