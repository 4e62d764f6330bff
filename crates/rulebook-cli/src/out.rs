//! Output for people: colour, alignment, diagnostics with a caret.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write as _};

use anstyle::{AnsiColor, Style};
use rulebook::diagnostic::{Diagnostic, Severity};
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const GREEN: Style = AnsiColor::Green.on_default();
pub(crate) const YELLOW: Style = AnsiColor::Yellow.on_default();
pub(crate) const RED: Style = AnsiColor::Red.on_default();
pub(crate) const CYAN: Style = AnsiColor::Cyan.on_default();
pub(crate) const PLAIN: Style = Style::new();

/// A text in a style.
pub(crate) fn paint(style: Style, text: impl std::fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}

/// Prints text; colours are dropped where nobody would see them.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = anstream::AutoStream::auto(io::stdout().lock());
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

/// Prints to standard error.
pub(crate) fn print_aside(text: &str) {
    let mut out = anstream::AutoStream::auto(io::stderr().lock());
    // Nobody is left to tell.
    let _ = out.write_all(text.as_bytes());
}

/// Prints bytes as they are, in one go.
pub(crate) fn print_raw(bytes: &[u8]) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    Ok(out.flush()?)
}

/// Prints a value as JSON on one line.
pub(crate) fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    let mut out = io::BufWriter::with_capacity(1 << 16, io::stdout().lock());
    serde_json::to_writer(&mut out, value)?;
    out.write_all(b"\n")?;
    Ok(out.flush()?)
}

/// Says why something could not be done, and what to do.
pub(crate) fn complain(error: &anyhow::Error) {
    let mut lines = error.chain().map(ToString::to_string);
    let mut text = format!("{}: {}\n", paint(RED.bold(), "error"), lines.next().unwrap_or_default());
    for line in lines {
        let _ = writeln!(text, "  {}: {line}", paint(CYAN, "help"));
    }
    print_aside(&text);
}

/// How wide the terminal is; without one, nothing is cut.
pub(crate) fn width() -> Option<usize> {
    io::stdout()
        .is_terminal()
        .then(terminal_size::terminal_size)
        .flatten()
        .map(|(width, _)| usize::from(width.0))
}

/// Columns side by side; the last one takes what is left of the line.
#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<Vec<(Style, String)>>,
}

impl Table {
    pub(crate) fn row<const N: usize>(&mut self, cells: [(Style, &str); N]) {
        self.rows.push(cells.map(|(style, text)| (style, clean(text))).to_vec());
    }

    /// The widest row of each column, so that several tables can share them.
    pub(crate) fn widths(&self) -> Vec<usize> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        (0..columns)
            .map(|at| {
                self.rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.1.width()).max().unwrap_or(0)
            })
            .collect()
    }

    pub(crate) fn write(&self, text: &mut String, indent: usize, widths: &[usize]) {
        let limit = width();
        for row in &self.rows {
            let mut used = indent;
            text.extend(std::iter::repeat_n(' ', indent));
            for (at, (style, cell)) in row.iter().enumerate() {
                let is_last = at + 1 == row.len();
                let room = limit.map_or(usize::MAX, |limit| limit.saturating_sub(used).max(12));
                let shown = if is_last { cut(cell, room) } else { cell.clone() };
                text.push_str(&paint(*style, &shown));
                if !is_last {
                    let pad = widths.get(at).copied().unwrap_or(0).saturating_sub(shown.width()) + 2;
                    text.extend(std::iter::repeat_n(' ', pad));
                    used += shown.width() + pad;
                }
            }
            text.push('\n');
        }
    }
}

/// One line without control characters: what comes from a stranger's file cannot steer a terminal.
pub(crate) fn clean(text: &str) -> String {
    let steers =
        |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars()
        .map(|c| {
            if c.is_control() {
                ' '
            } else if steers(c) {
                '\u{fffd}'
            } else {
                c
            }
        })
        .collect()
}

fn cut(text: &str, room: usize) -> String {
    if text.width() <= room {
        return text.to_owned();
    }
    let mut short = String::new();
    for c in text.chars() {
        if short.width() + 2 > room {
            break;
        }
        short.push(c);
    }
    short.push('…');
    short
}

fn severity_style(severity: Severity) -> Style {
    match severity {
        Severity::Error => RED.bold(),
        Severity::Warning => YELLOW.bold(),
        Severity::Note => CYAN.bold(),
    }
}

/// `path:line:column`, as far as it is known.
pub(crate) fn place(diagnostic: &Diagnostic) -> String {
    match diagnostic.line {
        0 => clean(&diagnostic.path),
        line => format!("{}:{line}:{}", clean(&diagnostic.path), diagnostic.column),
    }
}

/// One diagnostic: what, where, the line with a caret, the remedy.
pub(crate) fn write_diagnostic(text: &mut String, diagnostic: &Diagnostic) {
    let style = severity_style(diagnostic.severity);
    let label = paint(style, format!("{}[{}]", diagnostic.severity.name(), diagnostic.code.row().name));
    let _ = writeln!(text, "{label}: {}", paint(BOLD, clean(&diagnostic.message)));
    let number = diagnostic.line.to_string();
    let gutter = " ".repeat(number.len());
    let _ = writeln!(text, "{gutter}{} {}", paint(CYAN, "-->"), place(diagnostic));
    if let Some(excerpt) = &diagnostic.excerpt {
        let bar = paint(CYAN, "|");
        let before: String = excerpt.line.chars().take(diagnostic.column - 1).collect();
        let pad = " ".repeat(clean(&before).width());
        let room = excerpt.line.chars().count().saturating_sub(diagnostic.column - 1).max(1);
        let caret = paint(style, "^".repeat(excerpt.width.min(room)));
        let _ = writeln!(text, "{gutter} {bar}");
        let _ = writeln!(text, "{} {bar} {}", paint(CYAN, &number), clean(&excerpt.line));
        let _ = writeln!(text, "{gutter} {bar} {pad}{caret}");
    }
    let _ = writeln!(
        text,
        "{gutter} {} {}: {}\n",
        paint(CYAN, "="),
        paint(CYAN, "help"),
        clean(&diagnostic.help)
    );
}

/// `1 error, 2 warnings`; nothing where there are none.
pub(crate) fn count(diagnostics: &[Diagnostic]) -> Option<String> {
    let of = |severity: Severity| diagnostics.iter().filter(|d| d.severity == severity).count();
    let parts: Vec<String> = [Severity::Error, Severity::Warning, Severity::Note]
        .into_iter()
        .map(|severity| (of(severity), severity))
        .filter(|(count, _)| *count > 0)
        .map(|(count, severity)| paint(severity_style(severity), plural(count, severity.name())))
        .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// `1 rule`, `2 rules`.
pub(crate) fn plural(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}
