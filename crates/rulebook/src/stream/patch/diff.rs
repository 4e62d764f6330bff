//! Unified diffs: recognizes headers and the ends of hunks.

use super::line::{Line, Rest, Verdict, starts_with};

/// The state of a diff.
///
/// Models often get line counts wrong, so the counts are used only while the lines agree with them. A line that cannot be in
/// a hunk ends the hunk, and an added line after the end of a hunk still counts as added.
#[derive(Clone, Debug)]
pub(super) struct Diff {
    hunk: Hunk,
    /// The name in the `--- ` line just read. Without one, `+++ ` starts an added line.
    old: Option<String>,
    /// The file of a `diff --git` line; its `+++ ` line does not report it again.
    named: Option<String>,
}

/// The number of remaining lines of the old and the new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Hunk {
    old: u64,
    new: u64,
}

const DEV_NULL: &str = "/dev/null";
const GIT: &str = "diff --git ";
const OLD: &str = "--- ";
const NEW: &str = "+++ ";
const HUNK: &str = "@@";
const HEADERS: &[&str] = &[GIT, OLD, NEW, HUNK];

impl Diff {
    pub(super) const NEW: Diff = Diff { hunk: Hunk::OVER, old: None, named: None };

    /// A diff that starts with this `--- ` line.
    pub(super) fn after(first: &str) -> Diff {
        Diff { old: first.strip_prefix(OLD).map(name), ..Diff::NEW }
    }

    /// Decides about a line, which may be incomplete.
    pub(super) fn decide(&mut self, held: &str, line: Line) -> Verdict {
        if let Some(rest) = self.hunk.take(held) {
            return Verdict::Rest(rest);
        }
        let possible = HEADERS.iter().filter(|header| **header != NEW || self.old.is_some());
        match possible.filter_map(|header| starts_with(held, header)).max() {
            Some(true) => Verdict::Header,
            Some(false) if line == Line::Open => Verdict::Wait,
            _ => {
                self.old = None;
                Verdict::Rest(Rest::of(held))
            }
        }
    }

    /// Reads a header; returns the file if it names one.
    pub(super) fn header(&mut self, line: &str) -> Option<String> {
        let old = self.old.take();
        if let Some(names) = line.strip_prefix(GIT) {
            self.named = git_name(names);
            return self.named.clone();
        }
        if let Some(new) = line.strip_prefix(NEW) {
            let path = chosen(&old?, &name(new));
            return (self.named.take().as_ref() != Some(&path)).then_some(path);
        }
        // A blank name is trimmed with its line.
        if let Some(old) = line.strip_prefix(OLD.trim_end()) {
            self.old = Some(name(old));
        } else {
            self.hunk = Hunk::read(line).unwrap_or(Hunk::OVER);
        }
        None
    }
}

impl Hunk {
    const OVER: Hunk = Hunk { old: 0, new: 0 };

    /// Reads `@@ -1,2 +3,4 @@`.
    fn read(line: &str) -> Option<Hunk> {
        let (ranges, _) = line.strip_prefix("@@ -")?.split_once(" @@")?;
        let (old, new) = ranges.split_once(" +")?;
        Some(Hunk { old: count(old)?, new: count(new)? })
    }

    /// Counts a line of the hunk, or ends the hunk if the line cannot be in it.
    fn take(&mut self, held: &str) -> Option<Rest> {
        if *self == Hunk::OVER {
            return None;
        }
        match held.as_bytes().first()? {
            b'+' if self.new > 0 => {
                self.new -= 1;
                return Some(Rest::Added);
            }
            b'-' if self.old > 0 => {
                self.old -= 1;
                return Some(Rest::Removed);
            }
            // Editors remove the blank of an empty line.
            b' ' | b'\n' | b'\r' => {
                self.old = self.old.saturating_sub(1);
                self.new = self.new.saturating_sub(1);
            }
            b'\\' => {}
            _ => {
                *self = Hunk::OVER;
                return None;
            }
        }
        Some(Rest::Dropped)
    }
}

fn count(range: &str) -> Option<u64> {
    let (start, count) = range.split_once(',').unwrap_or((range, "1"));
    start.parse::<u64>().ok()?;
    count.parse().ok()
}

/// The file of a `---` and a `+++` name: the new name, unless the file is deleted.
fn chosen(old: &str, new: &str) -> String {
    let is_git = (old.starts_with("a/") || old == DEV_NULL) && (new.starts_with("b/") || new == DEV_NULL);
    let (name, prefix) = if new == DEV_NULL { (old, "a/") } else { (new, "b/") };
    let bare = if is_git { name.strip_prefix(prefix) } else { None };
    bare.unwrap_or(name).to_owned()
}

/// The file of `a/x b/x`; names may contain blanks. Quoted names are read from the lines below.
fn git_name(names: &str) -> Option<String> {
    if names.contains('"') {
        return None;
    }
    let halves = names.split_at_checked(names.len() / 2);
    let same = halves.and_then(|(old, new)| {
        let path = chosen(old, new.strip_prefix(' ')?);
        (old == path || old.strip_prefix("a/") == Some(&path)).then_some(path)
    });
    same.or_else(|| names.rsplit_once(" b/").map(|(_, new)| new.to_owned()))
}

/// The name in a `---` or `+++` line: up to a tab and a time, or in quotes.
fn name(text: &str) -> String {
    let name = text.split('\t').next().unwrap_or(text).trim();
    let inner = name.strip_prefix('"').and_then(|name| name.strip_suffix('"'));
    inner.map_or_else(|| name.to_owned(), unquote)
}

/// Removes git's quoting: `\"`, `\t` and octal bytes.
fn unquote(inner: &str) -> String {
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.as_bytes();
    while let [first, after @ ..] = rest {
        let (byte, after) = match (first, after) {
            (b'\\', [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', after @ ..]) => {
                ((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'), after)
            }
            (b'\\', [b't', after @ ..]) => (b'\t', after),
            (b'\\', [b'n', after @ ..]) => (b'\n', after),
            (b'\\', [byte, after @ ..]) => (*byte, after),
            (byte, after) => (*byte, after),
        };
        bytes.push(byte);
        rest = after;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
