//! The table as lines that fit the terminal. Columns that do not fit are counted in a last one.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anstyle::Style;
use rulebook::matrix::{CellState, SYMBOLS};
use unicode_width::UnicodeWidthStr as _;

use super::cell::{DIFFERS, Shown, character, ellipsis};
use super::{Grid, GridAudience, GridRow, GridTarget, Room};
use crate::out::{self, BOLD, DIM, PLAIN, paint, plural};

/// The width of a table that is not written to a terminal.
const PIPED: usize = 100;

/// How much of a line the first column may take, in percent, and the most characters of a cell's text. The first that lets
/// all columns fit is used. With 0, cells are symbols only.
const SIZES: [(usize, usize); 5] = [(50, 24), (50, 16), (40, 13), (34, 10), (40, 0)];

/// The same where a line has room for everything.
#[cfg(any(feature = "lsp", feature = "mcp"))]
const WHOLE: [(usize, usize); 1] = [(100, usize::MAX)];

/// The first column is not narrower than this.
const NARROW: usize = 10;

/// Where the columns of a table are.
struct Layout {
    /// The width of the first column, which names the rules.
    first: usize,
    /// The widths of the columns that fit, and of the one that counts the others.
    widths: Vec<usize>,
    /// How many columns fit.
    shown: usize,
    /// The most characters of a cell's text.
    cell: usize,
    /// The whole width.
    limit: usize,
}

impl Grid {
    /// Writes the table with its tokens and its legend.
    pub(in crate::surface) fn write(&self, text: &mut String) {
        self.write_within(text, Room::Terminal);
    }

    /// Writes the same for a place that may be wider than a terminal.
    pub(in crate::surface) fn write_within(&self, text: &mut String, room: Room) {
        let rows = self.collapsed();
        let layout = match room {
            Room::Terminal => Layout::new(self, &rows, out::width().unwrap_or(PIPED), &SIZES),
            #[cfg(any(feature = "lsp", feature = "mcp"))]
            Room::Unlimited => Layout::new(self, &rows, usize::MAX, &WHOLE),
        };
        let shown = layout.shown;
        let names = self.names.iter().take(shown).map(|name| (BOLD, name.clone()));
        layout.line(text, (PLAIN, ""), names.chain([(DIM, self.others(shown))]), "");
        for row in &rows {
            let cells = row.cells.iter().take(shown).map(|cell| (cell.style(), cell.cut(layout.cell)));
            let rest = (DIM, counted(&row.cells[shown..]));
            layout.line(
                text,
                (PLAIN, &layout.source(&row.source)),
                cells.chain([rest]),
                &layout.note(self, row),
            );
        }
        for (title, numbers) in &self.totals {
            let numbers = numbers.iter().take(shown).map(|number| (DIM, number.clone()));
            layout.line(text, (DIM, layout.title(title)), numbers, "");
        }
        for differing in &self.differing {
            let _ = writeln!(text, "  {}", paint(DIM, out::clean(differing)));
        }
        let legend = self.legend();
        if !legend.is_empty() {
            let _ = writeln!(text, "\n{}", paint(DIM, legend));
        }
    }

    /// Describes how many columns follow the ones that are shown.
    fn others(&self, shown: usize) -> String {
        match self.names.len() - shown {
            0 => String::new(),
            hidden => format!("+{}", plural(hidden, "agent")),
        }
    }

    fn legend(&self) -> String {
        let meaning = |state: CellState, meaning: &'static str| match (state, self.target, self.audience) {
            (CellState::Inactive, GridTarget::Start, _) => "inactive at the start",
            (CellState::Inactive, GridTarget::Tree, _) => "inactive: no file matches",
            (CellState::Inactive, GridTarget::Folder, _) => "inactive: no file below matches",
            (CellState::Native, GridTarget::Folder, GridAudience::Agents) => {
                "read by the agent, for some or all files below"
            }
            (CellState::Native, _, GridAudience::Any) => "applies",
            _ => meaning,
        };
        let known = SYMBOLS.iter().filter(|(state, ..)| self.states.contains(state));
        let mut entries: Vec<String> = known
            .map(|(state, .., words)| format!("{} {}", character(*state), meaning(*state, words)))
            .collect();
        if !self.differing.is_empty() {
            entries.push(format!("{DIFFERS}: the agents of this product differ, see below the table"));
        }
        entries.join("   ")
    }
}

impl Layout {
    fn new(grid: &Grid, rows: &[GridRow], limit: usize, sizes: &[(usize, usize)]) -> Layout {
        let titles = grid.totals.iter().map(|(title, _)| title.width());
        let sources = rows.iter().map(|row| row.source.width()).chain(titles);
        let longest = sources.max().unwrap_or(0);
        let widths = |cell: usize| -> Vec<usize> {
            let width = |at: usize| {
                let cells = rows.iter().map(|row| row.cells[at].cut(cell).width());
                let totals = grid.totals.iter().map(|(_, numbers)| numbers[at].width());
                cells.chain(totals).chain([grid.names[at].width()]).max().unwrap_or(0)
            };
            (0..grid.names.len()).map(width).collect()
        };
        let total =
            |first: usize, widths: &[usize]| first + widths.iter().map(|width| 2 + width).sum::<usize>();
        let size = |(share, cell): &(usize, usize)| {
            (longest.min((limit.saturating_mul(*share) / 100).max(NARROW)), *cell)
        };
        let sizes: Vec<(usize, usize)> = sizes.iter().map(size).collect();
        for &(first, cell) in &sizes {
            let widths = widths(cell);
            if total(first, &widths) <= limit {
                return Layout { first, shown: widths.len(), widths, cell, limit };
            }
        }
        let (first, cell) = sizes[sizes.len() - 1];
        let all = widths(cell);
        let with_rest = |shown: usize| {
            let counts = rows.iter().map(|row| counted(&row.cells[shown..]).width());
            let rest = counts.chain([grid.others(shown).width()]).max();
            (
                shown,
                all[..shown].iter().copied().chain(rest.filter(|_| shown < all.len())).collect::<Vec<_>>(),
            )
        };
        let (shown, widths) = (1..all.len())
            .rev()
            .map(with_rest)
            .find(|(_, widths)| total(first, widths) <= limit)
            .unwrap_or_else(|| with_rest(1));
        Layout { first, widths, shown, cell, limit }
    }

    /// Returns the note of a row, or the text that its cells have no room for.
    fn note(&self, grid: &Grid, row: &GridRow) -> String {
        let has_room = self.cell > 0 || !row.note.is_empty();
        match row.cells.iter().find(|cell| !has_room && cell.is_telling()) {
            Some(cell) => {
                let same = grid.names.iter().zip(&row.cells).filter(|(_, other)| other.text == cell.text);
                let names: Vec<&str> = same.map(|(name, _)| name.as_str()).collect();
                format!("{}: {}", names.join(", "), cell.text)
            }
            None => row.note.clone(),
        }
    }

    /// Writes one line. A note that does not fit is written below it.
    fn line(
        &self,
        text: &mut String,
        first: (Style, &str),
        cells: impl Iterator<Item = (Style, String)>,
        note: &str,
    ) {
        let mut used = first.1.width();
        let _ = write!(text, "{}", paint(first.0, out::clean(first.1)));
        let mut start = self.first + 2;
        for ((style, cell), width) in cells.zip(&self.widths) {
            if !cell.is_empty() {
                let _ = write!(text, "{:gap$}{}", "", paint(style, &cell), gap = start.saturating_sub(used));
                used = start + cell.width();
            }
            start += width + 2;
        }
        let note = out::clean(note);
        if !note.is_empty() && start + note.width() <= self.limit {
            let _ = write!(text, "{:gap$}{}", "", paint(DIM, &note), gap = start.saturating_sub(used));
        } else if !note.is_empty() {
            let _ = write!(text, "\n    {}", paint(DIM, &note));
        }
        text.push('\n');
    }

    /// Returns the title of a last row, or its first word if the title is too long.
    fn title<'t>(&self, title: &'t str) -> &'t str {
        let is_short = title.width() <= self.first;
        title.split(' ').next().filter(|_| !is_short).unwrap_or(title)
    }

    /// Returns the name of a rule, shortened at its start if it is too long.
    fn source(&self, source: &str) -> String {
        let count = source.chars().count();
        if count <= self.first {
            return source.to_owned();
        }
        [ellipsis()].into_iter().chain(source.chars().skip(count + 1 - self.first)).collect()
    }
}

/// Counts the states of cells whose columns do not fit: `✓2 –1`.
fn counted(cells: &[Shown]) -> String {
    let mut counts: BTreeMap<Option<CellState>, usize> = BTreeMap::new();
    cells.iter().for_each(|cell| *counts.entry(cell.state).or_default() += 1);
    let words = counts.into_iter().map(|(state, count)| match state {
        Some(state) => format!("{}{count}", character(state)),
        None => format!("{count} differ"),
    });
    words.collect::<Vec<_>>().join(" ")
}
