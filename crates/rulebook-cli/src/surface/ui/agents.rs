//! The home view: what is broken, and every rule for every agent.

use std::collections::BTreeMap;

use maud::{Markup, html};
use rulebook::matrix::CellState;

use super::cache::{CachedRules, Caches};
use super::http::{Query, Response};
use super::links::Links;
use super::live::Live;
use super::matrix::{Column, RowSummary};
use super::page::{self, first_rule, frame};
use super::problems::{triage, worst_by_file};
use super::rule;
use super::table::{TableView, legend, symbols};
use super::text::{counted, grouped, ticks};

/// How many rules are on a page.
const SIZE: usize = 100;

/// Rules that an agent does not use are collapsed by reason if there are more than this.
const MAX_OPEN: usize = 3;

pub(super) fn show(caches: &Caches<'_>, live: &Live, query: &Query) -> anyhow::Result<Response> {
    let rules = caches.rules_for(query)?;
    let body = if rules.matrix.rows.is_empty() {
        html! { h1 { "Agents" } (first_rule()) }
    } else {
        list(caches, &rules, live, query)?
    };
    Ok(frame("agents", "Agents", query, &rules, &body))
}

fn list(caches: &Caches<'_>, rules: &CachedRules, live: &Live, query: &Query) -> anyhow::Result<Markup> {
    let links = Links::of(query);
    let worst = worst_by_file(&rules.views.meant.diagnostics);
    let columns: Vec<&Column> = match rules.matrix.column(query.get("for")) {
        Some(column) => vec![column],
        None => rules.matrix.used().collect(),
    };
    let words: Vec<String> = query.get("q").split_whitespace().map(str::to_lowercase).collect();
    let (state, only_problems) = (query.get("state"), !query.get("problems").is_empty());
    let is_wanted = |at: usize, row: &RowSummary| {
        words.iter().all(|word| row.text.contains(word.as_str()))
            && (state.is_empty() || columns.iter().any(|column| column.cells[at].state.name() == state))
            && (!only_problems || worst.contains_key(row.source.as_str()))
    };
    let rows = rules.matrix.rows.iter().enumerate();
    let found: Vec<(usize, &RowSummary)> = rows.filter(|(at, row)| is_wanted(*at, row)).collect();
    let is_filtered = found.len() < rules.matrix.rows.len();
    let single = columns.first().copied().filter(|_| columns.len() == 1);
    let (main, unused) = match single.filter(|_| !is_filtered) {
        Some(column) => without_unused(&found, column),
        None => (found.clone(), BTreeMap::new()),
    };
    let (page, pages, part) = page::paged(query, main.len(), SIZE);
    let open = query.get("open");
    let details = if open.is_empty() { None } else { rule::details(caches, rules, open, live, query)? };
    let toggled = |source: &str| match source == open {
        true => format!("agents{}", query.with(&[("open", "")])),
        false => format!("agents{}#open", query.with(&[("open", source)])),
    };
    let problems = match rules.matrix.column(query.get("for")) {
        Some(column) => rules.problems_of(column.agent),
        None => rules.problems.clone(),
    };
    let table = TableView {
        rules,
        delivered: &live.delivered(|root| rules.is_here(root)),
        worst: &worst,
        links,
        back: format!("agents{}", query.with(&[])),
        open: &toggled,
        opened: details.map(|details| (open, details)),
        columns: match single {
            Some(column) => vec![column],
            None => rules.matrix.products.iter().collect(),
        },
    };
    Ok(html! {
        h1 .hidden { "Agents" }
        (triage(rules, &problems, single.map(|column| column.title).filter(|_| !query.get("for").is_empty()), links))
        @if let Some(column) = single { (not_wired(column)) }
        form .filters role="search" action="agents" data-live="" {
            input type="search" name="q" value=(query.get("q")) placeholder="Filter by path, id, glob, description" aria-label="Filter rules" autocomplete="off" data-slash="";
            (states(&columns, state))
            label { input type="checkbox" name="problems" value="only" checked[only_problems]; "Only problems" }
            input type="hidden" name="for" value=(query.get("for"));
            button .quiet type="submit" { "Filter" }
        }
        div #live {
            p .count .matches role="status" { (count(rules, &found, &columns)) }
            @if found.is_empty() {
                p .none { "No rule matches the filter. " a href=(links.to("agents", &[])) { "Show all" } }
            } @else {
                @if table.columns.len() > 1 { (page::one_agent(table.columns[0].title)) }
                (table.table(&main[part]))
                (page::pager("agents", query, page, pages, ["← Previous", "Next →"]))
                @for ((state, because), rows) in &unused { (group(&table, *state, because, rows)) }
                (legend(&columns, &table.columns))
                p .detail { a href=(links.to("export", &[])) { "Preview copies of these rules for another agent" } }
            }
        }
    })
}

/// What wiring an agent would change, and the command.
fn not_wired(column: &Column) -> Markup {
    let more = column.cells.iter().filter(|cell| cell.would_add).count();
    let command = format!("rulebook install {}", column.agent.name);
    html! {
        @if column.wired.is_empty() && more > 0 {
            p .hint { (column.agent.title) " is not wired. " code { (command) } " would add " (counted(more, "rule")) ". "
                button .quiet .small .needs-script type="button" data-copy=(command) { "Copy command" } }
        }
    }
}

fn count(rules: &CachedRules, found: &[(usize, &RowSummary)], columns: &[&Column]) -> String {
    let all = counted(rules.matrix.rows.len(), "rule");
    let shown = if found.len() < rules.matrix.rows.len() {
        format!("{} of {all}", grouped(found.len()))
    } else {
        all
    };
    match columns {
        [one] => format!("{} · {shown}", one.agent.title),
        _ => format!("{} · {shown}", counted(columns.len(), "agent")),
    }
}

/// A choice of the states that occur, each with the number of rules.
fn states(columns: &[&Column], wanted: &str) -> Markup {
    let rows = columns.first().map_or(0, |column| column.cells.len());
    let count = |state: CellState| {
        (0..rows).filter(|at| columns.iter().any(|column| column.cells[*at].state == state)).count()
    };
    html! {
        select name="state" aria-label="State" {
            option value="" { "Any state" }
            @for (state, symbol, _) in symbols() {
                @if count(state) > 0 { option value=(state.name()) selected[wanted == state.name()] { (symbol) " " (state.name()) " (" (grouped(count(state))) ")" } }
            }
        }
    }
}

type Rows<'r> = Vec<(usize, &'r RowSummary)>;

/// Separates the rules that an agent does not use, by reason, from those it uses.
fn without_unused<'r>(
    found: &Rows<'r>,
    column: &Column,
) -> (Rows<'r>, BTreeMap<(CellState, String), Rows<'r>>) {
    let mut unused: BTreeMap<(CellState, String), Rows<'r>> = BTreeMap::new();
    for (at, row) in found {
        let cell = &column.cells[*at];
        let is_used = match cell.state {
            CellState::Native | CellState::Added | CellState::Offered | CellState::Stream => true,
            CellState::Inactive => cell.is_conditional,
            // A row stays where it is when it is switched off.
            CellState::Disabled => true,
            _ => false,
        };
        if !is_used {
            unused.entry((cell.state, cell.because.clone())).or_default().push((*at, *row));
        }
    }
    unused.retain(|_, rows| rows.len() > MAX_OPEN);
    let is_collapsed = |at: usize| {
        let cell = &column.cells[at];
        unused.contains_key(&(cell.state, cell.because.clone()))
    };
    (found.iter().copied().filter(|(at, _)| !is_collapsed(*at)).collect(), unused)
}

/// Rules that an agent does not use, for one reason.
fn group(table: &TableView<'_>, state: CellState, because: &str, rows: &Rows<'_>) -> Markup {
    let meaning = symbols().find(|row| row.0 == state).map_or("", |row| row.2);
    let why = if because.is_empty() { meaning.to_owned() } else { format!("{meaning}: {because}") };
    let is_open =
        table.opened.as_ref().is_some_and(|(source, _)| rows.iter().any(|(_, row)| row.source == *source));
    html! {
        details .group open[is_open] id=(format!("g-{}-{}", state.name(), rows[0].0)) {
            summary { (counted(rows.len(), "rule")) " " (ticks(&why)) }
            (table.table(&rows[..rows.len().min(SIZE)]))
            @if rows.len() > SIZE { p .detail { "And " (grouped(rows.len() - SIZE)) " more; use the filter." } }
        }
    }
}
