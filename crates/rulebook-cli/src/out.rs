//! Output: colours, tables, JSON, diagnostics with a caret.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write as _};
use std::sync::OnceLock;
use std::time::SystemTime;

use anstyle::{AnsiColor, Style};
use rulebook::diagnostic::{Code, Diagnostic, Severity, nearest};
use rulebook::hidden::visible;
pub(crate) use rulebook::render::grouped;
use serde::Serialize;
use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use crate::json;

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const GREEN: Style = AnsiColor::Green.on_default();
pub(crate) const YELLOW: Style = AnsiColor::Yellow.on_default();
pub(crate) const RED: Style = AnsiColor::Red.on_default();
pub(crate) const CYAN: Style = AnsiColor::Cyan.on_default();
pub(crate) const PLAIN: Style = Style::new();

/// The version of every JSON output.
pub(crate) const VERSION: u32 = 1;

pub(crate) fn paint(style: Style, text: impl std::fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}

/// Prints text; drops colours if standard output is not a terminal.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = anstream::AutoStream::auto(io::stdout().lock());
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

/// Prints to standard error.
pub(crate) fn print_aside(text: &str) {
    let mut out = anstream::AutoStream::auto(io::stderr().lock());
    // There is nowhere left to report a failure.
    let _ = out.write_all(text.as_bytes());
}

/// Prints bytes unchanged.
pub(crate) fn print_raw(bytes: &[u8]) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    Ok(out.flush()?)
}

/// Whether standard output is a pipe whose reader has closed it.
#[cfg(unix)]
pub(crate) fn is_unread() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdout = io::stdout();
    let mut fds = [PollFd::new(&stdout, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut fds, Some(&now)).is_ok() && fds[0].revents().contains(PollFlags::ERR)
}

/// Whether standard output is a pipe whose reader has closed it; on this system only a write shows it.
#[cfg(not(unix))]
pub(crate) fn is_unread() -> bool {
    false
}

/// Whether standard output was closed when the program started. The runtime of Rust then opens `/dev/null` for reading and
/// writing in its place, so that writes succeed; a redirection opens it for writing.
#[cfg(unix)]
pub(crate) fn is_closed() -> bool {
    use rustix::fs::{FileType, OFlags, fcntl_getfl, fstat};
    let stdout = io::stdout();
    let is_device = || {
        fstat(&stdout).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice)
    };
    let is_for_both = fcntl_getfl(&stdout).is_ok_and(|flags| flags & OFlags::RWMODE == OFlags::RDWR);
    is_for_both && is_device() && !stdout.is_terminal()
}

/// Whether standard output was closed when the program started; on this system a write shows it.
#[cfg(not(unix))]
pub(crate) fn is_closed() -> bool {
    false
}

/// Prints a value as JSON on one line.
pub(crate) fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    print_raw(&json::line(value)?)
}

/// Converts texts of models and rules to JSON, with hidden characters visible. Paths stay as they are: they name files.
pub(crate) fn shown_json(value: &impl Serialize) -> serde_json::Result<Value> {
    fn show(value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(shown) = visible(text) {
                    *text = shown;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(show),
            Value::Object(fields) => {
                let is_path = |key: &str| matches!(key, "paths" | "path" | "file");
                fields.iter_mut().filter(|(key, _)| !is_path(key)).for_each(|(_, value)| show(value));
            }
            _ => {}
        }
    }
    let mut value = serde_json::to_value(value)?;
    show(&mut value);
    Ok(value)
}

/// Prints an answer as JSON or as text.
pub(crate) fn print_answer(
    is_json: bool,
    value: &impl Serialize,
    text: impl FnOnce() -> String,
) -> anyhow::Result<()> {
    if is_json { print_json(value) } else { print(&text()) }
}

/// Suggests the known name that is most similar, or else says where the names are listed.
pub(crate) fn suggestion<'n>(name: &str, known: impl Iterator<Item = &'n str>, listed: &str) -> String {
    nearest(name, known).map_or_else(|| listed.to_owned(), |near| format!("did you mean `{}`?", clean(near)))
}

/// Prints an error for programs.
pub(crate) fn print_error_json(message: &str, help: &str) {
    let (message, help) = (visible(message), visible(help));
    // If standard output is closed, there is nowhere to report the error.
    let _ =
        print_json(&serde_json::json!({ "version": VERSION, "error": { "message": message, "help": help } }));
}

/// Prints an error, its causes as help lines. It may name what it found on the disk.
pub(crate) fn print_error(error: &anyhow::Error) {
    let mut lines = error.chain().map(|cause| clean(&cause.to_string()));
    let mut text = format!("{}: {}\n", paint(RED.bold(), "error"), lines.next().unwrap_or_default());
    for line in lines {
        let _ = writeln!(text, "  {}: {line}", paint(CYAN, "help"));
    }
    print_aside(&text);
}

/// Returns the width that `COLUMNS` names, or that of the terminal if there is one.
pub(crate) fn width() -> Option<usize> {
    let named = || std::env::var("COLUMNS").ok()?.parse().ok().filter(|columns| *columns > 0);
    let terminal = || io::stdout().is_terminal().then(terminal_size::terminal_size).flatten();
    named().or_else(|| terminal().map(|(width, _)| usize::from(width.0)))
}

/// A table. The last column takes the rest of the line.
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

    /// Returns the width of each column, so that several tables can share them.
    pub(crate) fn widths(&self) -> Vec<usize> {
        let count = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        (0..count)
            .map(|at| {
                self.rows.iter().filter_map(|row| row.get(at)).map(|cell| columns(&cell.1)).max().unwrap_or(0)
            })
            .collect()
    }

    /// Writes the rows. A last cell that does not fit is wrapped below its column or, if that is too narrow, below the row.
    pub(crate) fn write(&self, text: &mut String, indent: usize, widths: &[usize]) {
        let limit = width().unwrap_or(usize::MAX);
        for row in &self.rows {
            let Some(((style, last), cells)) = row.split_last() else { continue };
            text.extend(std::iter::repeat_n(' ', indent));
            let mut used = indent;
            for (at, (style, cell)) in cells.iter().enumerate() {
                let width = columns(cell);
                let pad = widths.get(at).copied().unwrap_or(0).saturating_sub(width) + 2;
                let _ = write!(text, "{style}{cell}{style:#}{:pad$}", "");
                used += width + pad;
            }
            let fits = used + columns(last) <= limit;
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

impl<const N: usize> FromIterator<[(Style, String); N]> for Table {
    fn from_iter<I: IntoIterator<Item = [(Style, String); N]>>(rows: I) -> Table {
        let clean_row = |row: [(Style, String); N]| row.map(|(style, text)| (style, clean(&text))).to_vec();
        Table { rows: rows.into_iter().map(clean_row).collect() }
    }
}

/// The narrowest column for wrapped text.
const NARROW: usize = 36;

/// The columns that a clean text takes.
fn columns(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.width() }
}

/// Breaks text between words into lines of at most `room` columns.
fn wrap(text: &str, room: usize) -> Vec<String> {
    if columns(text) <= room {
        return vec![text.to_owned()];
    }
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ') {
        let line = lines.last_mut().expect("starts with one line");
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

/// Returns one line with hidden characters and control characters visible, so that text from files cannot control the
/// terminal or hide in it.
pub(crate) fn clean(text: &str) -> String {
    if text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
        return text.to_owned();
    }
    let line: String =
        text.chars().map(|c| if matches!(c, '\n' | '\r' | '\t' | '\u{c}') { ' ' } else { c }).collect();
    visible(&line).into_owned()
}

fn severity_style(severity: Severity) -> Style {
    match severity {
        Severity::Error => RED.bold(),
        Severity::Warning => YELLOW.bold(),
        Severity::Note => CYAN.bold(),
    }
}

/// Returns `path:line:column`, or the path alone if there is no line.
pub(crate) fn place(diagnostic: &Diagnostic) -> String {
    match diagnostic.line {
        0 => clean(&diagnostic.path),
        line => format!("{}:{line}:{}", clean(&diagnostic.path), diagnostic.column),
    }
}

/// How many characters of a source line are shown.
const MAX_EXCERPT: usize = 120;

/// Returns `warning[dead-glob]`.
pub(crate) fn label(severity: Severity, code: Code) -> String {
    paint(severity_style(severity), format!("{}[{}]", severity.name(), code.row().name))
}

/// Writes a diagnostic: message, location, the line with a caret, help.
pub(crate) fn write_diagnostic(text: &mut String, diagnostic: &Diagnostic) {
    let style = severity_style(diagnostic.severity);
    let label = label(diagnostic.severity, diagnostic.code);
    let _ = writeln!(text, "{label}: {}", paint(BOLD, clean(&diagnostic.message)));
    let number = diagnostic.line.to_string();
    let gutter = " ".repeat(number.len());
    let _ = writeln!(text, "{gutter}{} {}", paint(CYAN, "-->"), place(diagnostic));
    if let Some(excerpt) = &diagnostic.excerpt {
        let bar = paint(CYAN, "|");
        let before: String = excerpt.line.chars().take(diagnostic.column - 1).collect();
        let pad = " ".repeat(clean(&before).width());
        let shown: String = excerpt.line.chars().take(MAX_EXCERPT).collect();
        let marked: String = shown.chars().skip(diagnostic.column - 1).take(excerpt.width).collect();
        let caret = paint(style, "^".repeat(clean(&marked).width().max(1)));
        let _ = writeln!(text, "{gutter} {bar}");
        let more = if shown.len() < excerpt.line.len() { "…" } else { "" };
        let _ = writeln!(text, "{} {bar} {}{more}", paint(CYAN, &number), clean(&shown));
        if diagnostic.column <= MAX_EXCERPT {
            let _ = writeln!(text, "{gutter} {bar} {pad}{caret}");
        }
    }
    let _ = writeln!(
        text,
        "{gutter} {} {}: {}\n",
        paint(CYAN, "="),
        paint(CYAN, "help"),
        clean(&diagnostic.help)
    );
}

/// Returns `1 error, 2 warnings`, or `None` if there are no diagnostics.
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

/// Returns `1 rule`, `2 rules`.
pub(crate) fn plural(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

/// Returns a moment in seconds since 1970.
pub(crate) fn seconds(at: SystemTime) -> u64 {
    at.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Returns a count with its word: `1 rule`, `1,200 rules`.
pub(crate) fn counted(count: usize, word: &str) -> String {
    format!("{} {word}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// Whether the terminal can show more than ASCII: not if the locale names another encoding.
pub(crate) fn has_unicode() -> bool {
    static HAS_UNICODE: OnceLock<bool> = OnceLock::new();
    *HAS_UNICODE.get_or_init(|| {
        let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
        locale.is_none_or(|locale| {
            let locale = locale.to_lowercase();
            locale.contains("utf-8") || locale.contains("utf8")
        })
    })
}

/// Returns how long ago a moment was: `5 min ago`.
pub(crate) fn age(at: SystemTime) -> String {
    let seconds = SystemTime::now().duration_since(at).map_or(0, |age| age.as_secs());
    match seconds {
        0..60 => "now".to_owned(),
        60..3600 => format!("{} min ago", seconds / 60),
        3600..86_400 => format!("{} h ago", seconds / 3600),
        _ => format!("{} days ago", seconds / 86_400),
    }
}
