//! The matrix as text: one row per rule, one column per agent.

mod cell;
mod layout;
mod tree;

pub(super) use cell::GridTarget;
#[cfg(feature = "ui")]
pub(super) use cell::cell_text;
pub(super) use tree::InTree;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rulebook::matrix::{AgentColumn, CellState, Matrix, tokens_for_any};
use rulebook_workspace::AgentCoverage;

use super::load::Load;
use crate::out::{grouped, plural};
use cell::{Shown, note, shown, shown_for_any};
use tree::TreeFiles;

/// A table of rules and agents.
pub(super) struct Grid {
    /// The name of each column.
    names: Vec<String>,
    rows: Vec<GridRow>,
    /// The last rows: a title, and a number per column.
    totals: Vec<(&'static str, Vec<String>)>,
    states: BTreeSet<CellState>,
    /// What differs between the surfaces of a product.
    differing: Vec<String>,
    target: GridTarget,
    audience: GridAudience,
}

/// Whom a table is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum GridAudience {
    Agents,
    /// No agent is known: the one column is for an agent that reads nothing by itself.
    Any,
}

/// How wide a table may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// As wide as the terminal.
    Terminal,
    /// As wide as its texts, for what scrolls.
    #[cfg(any(feature = "lsp", feature = "mcp"))]
    Unlimited,
}

struct GridRow {
    source: String,
    cells: Vec<Shown>,
    note: String,
}

impl Grid {
    /// Makes a table of a matrix. Several surfaces of one product are one column; without agents, the column is `any`.
    pub(super) fn new(matrix: &Matrix<'_>, target: GridTarget) -> Grid {
        if matrix.columns.is_empty() {
            return Grid::for_any(matrix, target);
        }
        let mut grid =
            Grid::with(matrix, target, &|column, row| shown(&matrix.columns[column].cells[row], target));
        let title =
            if grid.states.contains(&CellState::Offered) { "tokens, including offers" } else { "tokens" };
        grid.total(matrix, title, &|column| matrix.columns[column].tokens);
        grid
    }

    /// Makes a table of how many files of the tree each rule has for each agent; one coverage per column.
    pub(super) fn of_tree(matrix: &Matrix<'_>, agents: &[AgentCoverage]) -> Grid {
        let in_tree: Vec<InTree<'_>> = agents.iter().map(InTree::of).collect();
        let mut grid = Grid::with(matrix, GridTarget::Tree, &|column, row| {
            let cell = &matrix.columns[column].cells[row];
            let (state, files) = in_tree[column].state(&matrix.rows[row], cell);
            match files {
                Some(files) => tree::shown(state, files),
                None if state == CellState::Overridden => Shown::new(state, String::new()),
                None => shown(cell, GridTarget::Tree),
            }
        });
        for (at, row) in grid.rows.iter_mut().enumerate().filter(|(_, row)| row.note.is_empty()) {
            let matches_nothing = |(column, in_tree): (&AgentColumn<'_>, &InTree<'_>)| {
                in_tree.state(&matrix.rows[at], &column.cells[at]).1 == Some(TreeFiles::Some(0))
            };
            if matrix.columns.iter().zip(&in_tree).any(matches_nothing) {
                "no file matches".clone_into(&mut row.note);
            }
        }
        let report = |column: usize| &agents[column].report;
        grid.total(matrix, "tokens always loaded", &|column| Load::of(&matrix.columns[column]).tokens);
        grid.total(matrix, "files without path-specific rules", &|column| report(column).unreached.files);
        grid
    }

    /// Makes a table whose cells are made from the positions of their column and row.
    fn with(matrix: &Matrix<'_>, target: GridTarget, cell: &dyn Fn(usize, usize) -> Shown) -> Grid {
        let groups = products(matrix);
        let mut grid = Grid::empty(groups.keys().copied(), target, GridAudience::Agents);
        for (at, row) in matrix.rows.iter().enumerate() {
            let cells = groups.values().map(|columns| {
                let shown: Vec<Shown> = columns.iter().map(|column| cell(*column, at)).collect();
                grid.states.extend(shown.iter().filter_map(|shown| shown.state));
                if shown.iter().all(|other| other == &shown[0]) {
                    return shown[0].clone();
                }
                let each = columns.iter().zip(&shown);
                let each: Vec<String> = each
                    .map(|(column, shown)| {
                        format!("{} {}", matrix.columns[*column].agent.name, shown.plain())
                    })
                    .collect();
                grid.differing.push(format!("{}: {}", row.origin.display, each.join(", ")));
                Shown::differs()
            });
            let cells = cells.collect();
            grid.rows.push(GridRow {
                source: row.origin.display.clone(),
                cells,
                note: note(matrix, at, row, target),
            });
        }
        grid
    }

    /// Adds a last row. If the surfaces of a product differ, it shows the range.
    fn total(&mut self, matrix: &Matrix<'_>, title: &'static str, number: &dyn Fn(usize) -> usize) {
        let total = |columns: Vec<usize>| {
            let numbers: BTreeSet<usize> = columns.into_iter().map(number).collect();
            match (numbers.first(), numbers.last()) {
                (Some(least), Some(most)) if least != most => {
                    format!("{}–{}", grouped(*least), grouped(*most))
                }
                (least, _) => grouped(least.copied().unwrap_or(0)),
            }
        };
        self.totals.push((title, products(matrix).into_values().map(total).collect()));
    }

    fn for_any(matrix: &Matrix<'_>, target: GridTarget) -> Grid {
        let mut grid = Grid::empty(["any"], target, GridAudience::Any);
        for row in &matrix.rows {
            let (shown, note) = shown_for_any(row, matrix.meant_for(row), target);
            grid.states.extend(shown.state);
            grid.rows.push(GridRow { source: row.origin.display.clone(), cells: vec![shown], note });
        }
        let tokens = grouped(tokens_for_any(&matrix.meant));
        let title =
            if grid.states.contains(&CellState::Offered) { "tokens, including offers" } else { "tokens" };
        grid.totals.push((title, vec![tokens]));
        grid
    }

    fn empty<'n>(
        names: impl IntoIterator<Item = &'n str>,
        target: GridTarget,
        audience: GridAudience,
    ) -> Grid {
        Grid {
            names: names.into_iter().map(str::to_owned).collect(),
            rows: Vec::new(),
            totals: Vec::new(),
            states: BTreeSet::new(),
            differing: Vec::new(),
            target,
            audience,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the rows; if the table is long, those of a folder that are equal are one.
    fn collapsed(&self) -> Vec<GridRow> {
        /// Shorter tables are shown as they are.
        const LONG: usize = 24;
        let mut groups: Vec<Vec<&GridRow>> = Vec::new();
        let mut known: HashMap<(&str, &[Shown]), usize> = HashMap::new();
        let mut in_folder: HashMap<&str, usize> = HashMap::new();
        for row in &self.rows {
            let folder = folder(&row.source);
            let group = match self.rows.len() > LONG {
                true => *known.entry((folder, &row.cells)).or_insert(groups.len()),
                false => groups.len(),
            };
            if group == groups.len() {
                groups.push(Vec::new());
                *in_folder.entry(folder).or_default() += 1;
            }
            groups[group].push(row);
        }
        let shown = |group: Vec<&GridRow>| {
            let (row, count) = (group[0], group.len());
            let folder = folder(&row.source);
            let is_one_note = group.iter().all(|other| other.note == row.note);
            GridRow {
                source: match count {
                    1 => row.source.clone(),
                    _ if in_folder[folder] == 1 => {
                        let kind =
                            if group.iter().all(|row| is_skill(&row.source)) { "skill" } else { "file" };
                        format!("{folder}/ ({})", plural(count, kind))
                    }
                    _ => format!("{} and {} more", row.source, count - 1),
                },
                cells: row.cells.clone(),
                note: if is_one_note { row.note.clone() } else { String::new() },
            }
        };
        groups.into_iter().map(shown).collect()
    }
}

/// Returns the columns of each product, by its name; those of other agents by theirs.
fn products<'m>(matrix: &Matrix<'m>) -> BTreeMap<&'m str, Vec<usize>> {
    let mut groups: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, column) in matrix.columns.iter().enumerate() {
        let product = column.agent.product().filter(|product| {
            let surfaces = matrix.columns.iter().filter(|other| product.surfaces.contains(&other.agent.name));
            surfaces.count() > 1
        });
        groups.entry(product.map_or(column.agent.name, |product| product.name)).or_default().push(at);
    }
    groups
}

/// Returns the folder of a rule; of a skill, the folder that holds the skills.
fn folder(source: &str) -> &str {
    let source = source.strip_suffix(SKILL).unwrap_or(source);
    source.rsplit_once('/').map_or("", |(folder, _)| folder)
}

const SKILL: &str = "/SKILL.md";

fn is_skill(source: &str) -> bool {
    source.ends_with(SKILL)
}
