//! Output for people: colour, alignment, diagnostics with a caret.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write as _};

use anstyle::{AnsiColor, Style};
use rulebook::diagnostic::{Diagnostic, Severity};
use rulebook::hidden::is_hidden;
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const GREEN: Style = AnsiColor::Green.on_default();
pub(crate) const YELLOW: Style = AnsiColor::Yellow.on_default();
pub(crate) const RED: Style = AnsiColor::Red.on_default();
pub(crate) const CYAN: Style = AnsiColor::Cyan.on_default();
pub(crate) const PLAIN: Style = Style::new();

/// The version of every JSON output.
pub(crate) const VERSION: u32 = 1;

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

/// Whether standard output is a pipe that nobody reads any more.
#[cfg(unix)]
pub(crate) fn is_unread() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdout = io::stdout();
    let mut asked = [PollFd::new(&stdout, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut asked, Some(&now)).is_ok() && asked[0].revents().contains(PollFlags::ERR)
}

/// Whether standard output is a pipe that nobody reads any more; here only writing tells.
#[cfg(not(unix))]
pub(crate) fn is_unread() -> bool {
    false
}

/// Prints a value as JSON on one line.
pub(crate) fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    let mut out = io::BufWriter::with_capacity(1 << 16, io::stdout().lock());
    serde_json::to_writer(&mut out, value)?;
    out.write_all(b"\n")?;
    Ok(out.flush()?)
}

/// Prints an error, its causes as help lines.
pub(crate) fn print_error(error: &anyhow::Error) {
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

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
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

    /// Writes the rows. Nothing is cut: what does not fit goes on below, under its column or, where that is too
    /// narrow, under the row.
    pub(crate) fn write(&self, text: &mut String, indent: usize, widths: &[usize]) {
        let limit = width().unwrap_or(usize::MAX);
        for row in &self.rows {
            let Some(((style, last), cells)) = row.split_last() else { continue };
            text.extend(std::iter::repeat_n(' ', indent));
            let mut used = indent;
            for (at, (style, cell)) in cells.iter().enumerate() {
                let pad = widths.get(at).copied().unwrap_or(0).saturating_sub(cell.width()) + 2;
                text.push_str(&paint(*style, cell));
                text.extend(std::iter::repeat_n(' ', pad));
                used += cell.width() + pad;
            }
            let fits = used + last.width() <= limit;
            let column = if fits || limit.saturating_sub(used) >= NARROW { used } else { indent + 4 };
            if column != used {
                text.truncate(text.trim_end_matches(' ').len());
                text.push('\n');
                text.extend(std::iter::repeat_n(' ', column));
            }
            for (at, line) in wrap(last, limit.saturating_sub(column)).iter().enumerate() {
                if at > 0 {
                    text.push('\n');
                    text.extend(std::iter::repeat_n(' ', column));
                }
                text.push_str(&paint(*style, line));
            }
            text.push('\n');
        }
    }
}

/// Columns narrower than this are not written into.
const NARROW: usize = 36;

/// Lines of at most `room`, broken between words where that can be.
fn wrap(text: &str, room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is one");
        if !line.is_empty() && used + 1 + word.width() > room {
            lines.push(word.to_owned());
            used = word.width();
            continue;
        }
        if !line.is_empty() {
            line.push(' ');
            used += 1;
        }
        line.push_str(word);
        used += word.width();
    }
    lines
}

/// One line without control characters: what comes from a stranger's file cannot steer a terminal, nor hide in it.
pub(crate) fn clean(text: &str) -> String {
    let is_common = |c: char| matches!(c, '\u{ad}' | '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}');
    text.chars()
        .map(|c| {
            if c.is_control() {
                ' '
            } else if is_hidden(c) && !is_common(c) {
                '\u{fffd}'
            } else {
                c
            }
        })
        .collect()
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
