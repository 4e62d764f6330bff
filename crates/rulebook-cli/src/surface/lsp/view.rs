//! What the view of the extension shows: the agents, every rule with its state for each of them, and the problems.

use std::collections::HashMap;

use rulebook::evidence::Input;
use rulebook::matrix::CellState;
use rulebook::resolve::OffBy;
use rulebook_workspace::{Views, Workspace};
use serde_json::{Value, json};

use super::uris::Uris;
use crate::surface::problems::problems;
use crate::surface::rows::{self, state_words};

/// The agents, rules and problems, as `status` shows them.
pub(super) fn of(workspace: &Workspace, views: &Views, uris: &Uris) -> Value {
    let book = &views.meant.book;
    let evidence = workspace.evidence_for(book, &Input::default());
    let matrix = views.matrix(&evidence);
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for found in &views.meant.diagnostics {
        *counts.entry(&found.path).or_default() += 1;
    }
    let is_loaded = |state: CellState| matches!(state, CellState::Native | CellState::Added);
    let agents = matrix.columns.iter().map(|column| {
        let loaded = column.cells.iter().filter(|cell| is_loaded(cell.state)).count();
        json!({
            "name": column.agent.name, "title": column.agent.title, "tokens": column.tokens, "loaded": loaded,
            "wired": column.wired.iter().map(|wiring| wiring.name()).collect::<Vec<_>>(),
        })
    });
    let cells: HashMap<(&str, &str), usize> =
        matrix.rows.iter().enumerate().map(|(at, row)| ((row.id, row.origin.path.as_str()), at)).collect();
    let switched: HashMap<&str, (Option<OffBy>, bool, &str)> = book
        .rules()
        .map(|(rule, off)| {
            let path = rule.origin.path.as_str();
            (rule.origin.display.as_str(), (off.map(|off| off.by), rule.is_mandatory, path))
        })
        .collect();
    let rules = rows::rows(workspace, &views.meant).into_iter().map(|row| {
        let (off, is_mandatory, path) = switched.get(row.source.as_str()).copied().unwrap_or((None, true, ""));
        let at = cells.get(&(row.id.as_str(), path)).copied();
        let states = matrix.columns.iter().filter_map(|column| {
            let cell = &column.cells[at?];
            let text = json!({ "state": cell.state, "symbol": cell.state.symbol(), "because": cell.because });
            Some((column.agent.name.to_owned(), text))
        });
        let states: serde_json::Map<String, Value> = states.collect();
        let problems = counts.get(row.source.as_str()).copied().unwrap_or_default();
        json!({
            "id": row.id, "key": row.key, "source": row.source, "uri": if path.is_empty() { Value::Null } else { uris.of(path).into() },
            "state": row.state, "words": anstream::adapter::strip_str(&state_words(&row).1).to_string(),
            "description": row.description, "tokens": row.tokens, "problems": problems, "agents": states,
            "canSwitch": !is_mandatory && off.is_none_or(|by| by == OffBy::Toggle), "isOff": off.is_some(),
        })
    });
    let rules: Vec<Value> = rules.collect();
    let problems = problems(&matrix, &views.meant.diagnostics).into_iter().map(|problem| {
        let file = switched.get(problem.path.as_str()).map(|(.., path)| uris.of(path));
        json!({
            "code": problem.code, "effect": problem.effect, "command": problem.command, "count": problem.count, "uri": file,
        })
    });
    let problems: Vec<Value> = problems.collect();
    json!({ "agents": agents.collect::<Vec<_>>(), "rules": rules, "problems": problems })
}
