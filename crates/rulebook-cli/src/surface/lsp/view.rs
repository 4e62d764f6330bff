//! What the view of the extension shows: the agents, every rule with its state for each of them, and the problems.

use std::collections::HashMap;
use std::path::Path;

use rulebook::diagnostic::Severity;
use rulebook::evidence::Input;
use rulebook::matrix::CellState;
use rulebook::resolve::OffBy;
use serde_json::{Value, json};

use super::snapshot::Snapshot;
use crate::surface::problems::problems;
use crate::surface::rows::{all_rows, state_words};

/// The agents, rules and problems, as `status` shows them.
pub(super) fn of(snapshot: &Snapshot) -> Value {
    let Snapshot { workspace, views, .. } = snapshot;
    let book = &views.meant.book;
    let evidence = workspace.evidence_for(book, &Input::default());
    let matrix = views.matrix(&evidence);
    // The problems of each file: how many, and the worst one.
    let mut found: HashMap<&str, (usize, Severity)> = HashMap::new();
    for diagnostic in &views.meant.diagnostics {
        let (count, worst) = found.entry(&diagnostic.path).or_insert((0, diagnostic.severity));
        *count += 1;
        *worst = (*worst).min(diagnostic.severity);
    }
    let is_loaded = |state: CellState| matches!(state, CellState::Native | CellState::Added);
    let agents = matrix.columns.iter().map(|column| {
        let loaded = column.cells.iter().filter(|cell| is_loaded(cell.state)).count();
        json!({
            "name": column.agent.name, "title": column.agent.title, "tokens": column.tokens, "loaded": loaded,
            "wired": column.wired.iter().map(|wiring| wiring.name()).collect::<Vec<_>>(),
        })
    });
    let positions = matrix.rows.iter().enumerate();
    let positions: HashMap<(&str, &str), usize> =
        positions.map(|(at, row)| ((row.id, row.origin.display.as_str()), at)).collect();
    let switches: HashMap<&str, (Option<OffBy>, bool)> = book
        .rules()
        .map(|(rule, off)| (rule.origin.display.as_str(), (off.map(|off| off.by), rule.is_mandatory)))
        .collect();
    let rules = all_rows(workspace, &views.meant, &matrix).into_iter().map(|row| {
        // What is no rule as meant cannot be switched off by itself.
        let (off, is_mandatory) = switches.get(row.source.as_str()).copied().unwrap_or((None, true));
        let at = positions.get(&(row.id.as_str(), row.source.as_str())).copied();
        let states = matrix.columns.iter().filter_map(|column| {
            let cell = &column.cells[at?];
            let text = json!({ "state": cell.state, "symbol": cell.state.symbol(), "because": cell.because });
            Some((column.agent.name.to_owned(), text))
        });
        let states: serde_json::Map<String, Value> = states.collect();
        let path = at.map(|at| &matrix.rows[at].origin.path).filter(|path| Path::new(path).is_absolute());
        let (problems, worst) = found.get(row.source.as_str()).copied().unzip();
        json!({
            "id": row.id, "key": row.key, "source": row.source, "uri": path.map(|path| snapshot.uris.of(path)),
            "state": row.state, "words": anstream::adapter::strip_str(&state_words(&row).1).to_string(),
            "description": row.description, "tokens": row.tokens, "agents": states,
            "problems": problems.unwrap_or_default(), "severity": worst,
            "canSwitch": !is_mandatory && off.is_none_or(|by| by == OffBy::Toggle), "isOff": off.is_some(),
        })
    });
    let rules: Vec<Value> = rules.collect();
    let problems = problems(&matrix, &views.meant.diagnostics).into_iter().map(|problem| {
        let path = snapshot.existing(&problem.path);
        json!({
            "code": problem.code, "severity": problem.severity, "effect": problem.effect, "command": problem.command,
            "count": problem.count, "isFolder": path.as_deref().is_some_and(|path| Path::new(path).is_dir()),
            "uri": path.map(|path| snapshot.uris.of(&path)),
        })
    });
    let problems: Vec<Value> = problems.collect();
    json!({ "agents": agents.collect::<Vec<_>>(), "rules": rules, "problems": problems })
}
