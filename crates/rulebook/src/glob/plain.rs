//! The shapes most patterns have, matched on the text itself without a program.
//!
//! Literal directories, `**` between them, and at the end a name, a name with one `*` and one list
//! in braces, or `**`. For paths in normal form this agrees with the expression picomatch writes,
//! but for line breaks, which the caller looks after.

use std::ops::Range;

/// A pattern of a common shape; all spans point into its text.
#[derive(Clone, Debug)]
pub(super) struct Plain {
    /// Runs of literal segments with `**` between them.
    runs: [Span; MAX_RUNS],
    count: u8,
    /// The first run starts at the root.
    is_rooted: bool,
    /// `**` stands between the last run and the end.
    has_gap: bool,
    /// A slash may follow the whole.
    allows_slash: bool,
    end: End,
}

#[derive(Clone, Debug)]
enum End {
    /// The last run is the end.
    Run,
    /// `**`, with everything below.
    Below,
    Name(Name),
}

/// `head*middle{first,second}tail`, where the star and the list may be absent.
#[derive(Clone, Debug)]
struct Name {
    head: Span,
    has_star: bool,
    middle: Span,
    /// Between the braces.
    list: Option<Span>,
    tail: Span,
}

/// How the last segment of every match looks.
pub(super) enum Last<'g> {
    Unknown,
    Name(&'g str),
    /// One of these extensions, separated by commas.
    Extension(&'g str),
}

const MAX_RUNS: usize = 4;

#[derive(Clone, Copy, Debug, Default)]
struct Span {
    start: u16,
    end: u16,
}

impl Span {
    fn of<'g>(&self, pattern: &'g str) -> &'g str {
        &pattern[self.start.into()..self.end.into()]
    }

    fn is_empty(&self) -> bool {
        self.start == self.end
    }
}

impl From<Range<usize>> for Span {
    // Patterns are at most 4 KiB.
    fn from(range: Range<usize>) -> Span {
        Span { start: range.start as u16, end: range.end as u16 }
    }
}

impl Plain {
    /// Reads `pattern` from `start` on, where a `!` may have stood before.
    pub(super) fn read(pattern: &str, start: usize) -> Option<Plain> {
        let mut plain = Plain {
            runs: Default::default(),
            count: 0,
            is_rooted: true,
            has_gap: false,
            allows_slash: false,
            end: End::Run,
        };
        let mut run: Option<Range<usize>> = None;
        let mut at = start;
        loop {
            let (end, segment) = read_segment(pattern, at)?;
            let is_last = end == pattern.len();
            match segment {
                Segment::Literal => run = Some(run.map_or(at, |run| run.start)..end),
                // Picomatch joins neighbouring `**` in ways of its own.
                Segment::Globstar if run.is_none() && at != start => return None,
                Segment::Globstar => {
                    plain.close_run(&mut run)?;
                    plain.is_rooted &= at != start;
                    plain.has_gap = true;
                    if is_last {
                        plain.end = End::Below;
                    }
                }
                Segment::Name(_) if !is_last => return None,
                Segment::Name(name) => {
                    plain.close_run(&mut run)?;
                    plain.end = End::Name(name);
                }
            }
            if is_last {
                break;
            }
            at = end + 1;
        }
        plain.close_run(&mut run)?;
        plain.allows_slash = plain.allows_slash(pattern, start);
        Some(plain)
    }

    fn close_run(&mut self, run: &mut Option<Range<usize>>) -> Option<()> {
        if let Some(run) = run.take() {
            *self.runs.get_mut(usize::from(self.count))? = run.into();
            self.count += 1;
            self.has_gap = false;
        }
        Some(())
    }

    /// Picomatch lets a slash follow a final `*`, and its shortcuts `*` and `**/*` with any number
    /// of extensions; but not a single segment that begins otherwise.
    fn allows_slash(&self, pattern: &str, start: usize) -> bool {
        let End::Name(name) = &self.end else { return false };
        let ends_in_star = name.has_star && name.middle.is_empty() && name.list.is_none();
        if ends_in_star {
            let is_flat = start == 0 && !pattern.contains('/') && !pattern.starts_with('*');
            return !is_flat;
        }
        let extensions = match &pattern[start..] {
            text if start > 0 || name.list.is_some() => return text.is_empty(),
            text => text.strip_prefix("**/*").or_else(|| text.strip_prefix('*')),
        };
        extensions.is_some_and(|text| {
            let mut parts = text.split('.');
            parts.next() == Some("")
                && parts.all(|part| {
                    !part.is_empty() && part.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_')
                })
        })
    }

    pub(super) fn is_universal(&self) -> bool {
        self.count == 0
            && match &self.end {
                End::Run => false,
                End::Below => true,
                End::Name(name) => self.has_gap && name.is_any(),
            }
    }

    /// The literal every match starts with.
    pub(super) fn prefix<'g>(&self, pattern: &'g str) -> &'g str {
        match (&self.end, self.is_rooted, self.count) {
            (_, false, _) => "",
            (End::Name(name), true, 0) if !self.has_gap => name.head.of(pattern),
            (_, true, 0) => "",
            (_, true, _) => self.runs[0].of(pattern),
        }
    }

    pub(super) fn last<'g>(&self, pattern: &'g str) -> Last<'g> {
        match &self.end {
            End::Below => Last::Unknown,
            End::Run => {
                let run = self.runs[usize::from(self.count) - 1].of(pattern);
                Last::Name(run.rsplit('/').next().unwrap_or(run))
            }
            End::Name(name) => name.last(pattern),
        }
    }

    pub(super) fn is_match(&self, pattern: &str, path: &str) -> bool {
        let path = match path.strip_suffix('/') {
            Some(bare) if self.allows_slash => bare,
            _ => path,
        };
        match &self.end {
            End::Run | End::Below => self.spans(pattern, path),
            End::Name(name) => {
                let (dirs, last) = path.rsplit_once('/').unwrap_or(("", path));
                name.is_match(pattern, last) && self.spans(pattern, dirs)
            }
        }
    }

    /// Whether the runs are found in `dirs` in this order.
    fn spans(&self, pattern: &str, dirs: &str) -> bool {
        let mut runs = self.runs[..self.count.into()].iter().map(|run| run.of(pattern));
        let mut rest = Some(dirs).filter(|dirs| !dirs.is_empty());
        if self.is_rooted
            && let Some(first) = runs.next()
        {
            match rest.and_then(|rest| after_run(rest, first)) {
                Some(after) => rest = after,
                None => return false,
            }
        }
        let end = if self.has_gap { None } else { runs.next_back() };
        for run in runs {
            match rest.and_then(|rest| find_run(rest, run)) {
                Some(after) => rest = after,
                None => return false,
            }
        }
        match end {
            Some(run) => rest.is_some_and(|rest| ends_with_run(rest, run)),
            None => self.has_gap || rest.is_none(),
        }
    }
}

/// What follows `run` at the start of `text`: nothing, or more segments.
fn after_run<'t>(text: &'t str, run: &str) -> Option<Option<&'t str>> {
    match text.strip_prefix(run)? {
        "" => Some(None),
        rest => rest.strip_prefix('/').map(Some),
    }
}

fn find_run<'t>(text: &'t str, run: &str) -> Option<Option<&'t str>> {
    let mut rest = text;
    loop {
        if let Some(after) = after_run(rest, run) {
            return Some(after);
        }
        rest = rest.split_once('/')?.1;
    }
}

fn ends_with_run(text: &str, run: &str) -> bool {
    text.strip_suffix(run).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

impl Name {
    /// A lone `*`.
    fn is_any(&self) -> bool {
        self.has_star && self.list.is_none() && self.head.is_empty() && self.middle.is_empty()
    }

    fn is_match(&self, pattern: &str, name: &str) -> bool {
        if self.is_any() {
            return !name.is_empty();
        }
        let Some(rest) = name.strip_prefix(self.head.of(pattern)) else { return false };
        let Some(list) = self.list else { return self.ends(pattern, rest) };
        let Some(rest) = rest.strip_suffix(self.tail.of(pattern)) else { return false };
        list.of(pattern)
            .split(',')
            .any(|word| rest.strip_suffix(word).is_some_and(|rest| self.ends(pattern, rest)))
    }

    fn ends(&self, pattern: &str, rest: &str) -> bool {
        let middle = self.middle.of(pattern);
        if self.has_star { rest.ends_with(middle) } else { rest == middle }
    }

    fn last<'g>(&self, pattern: &'g str) -> Last<'g> {
        let middle = self.middle.of(pattern);
        let Some(list) = self.list else {
            return middle.rsplit_once('.').map_or(Last::Unknown, |(_, end)| Last::Extension(end));
        };
        if let Some((_, end)) = self.tail.of(pattern).rsplit_once('.') {
            return Last::Extension(end);
        }
        let list = list.of(pattern);
        let before = if self.has_star { middle } else { self.head.of(pattern) };
        if self.tail.is_empty() && before.ends_with('.') && !list.contains('.') {
            return Last::Extension(list);
        }
        Last::Unknown
    }
}

enum Segment {
    Literal,
    Globstar,
    Name(Name),
}

/// Reads up to the next slash or the end; `None` for anything out of the common.
fn read_segment(pattern: &str, start: usize) -> Option<(usize, Segment)> {
    let bytes = pattern.as_bytes();
    let len = bytes[start..].iter().position(|&c| !is_literal(c)).unwrap_or(bytes.len() - start);
    let at = start + len;
    match bytes.get(at) {
        None | Some(b'/') => {
            let text = &pattern[start..at];
            (!matches!(text, "" | "." | "..")).then_some((at, Segment::Literal))
        }
        Some(b'*' | b'{') => read_wild(pattern, start, at),
        _ => None,
    }
}

fn read_wild(pattern: &str, start: usize, mut at: usize) -> Option<(usize, Segment)> {
    let bytes = pattern.as_bytes();
    let head = start..at;
    let has_star = bytes[at] == b'*';
    if has_star {
        // A star after a leading dot matches no lone dot.
        if &pattern[head.clone()] == "." {
            return None;
        }
        at += 1;
        if head.is_empty() && bytes.get(at) == Some(&b'*') {
            let ends = matches!(bytes.get(at + 1), None | Some(b'/'));
            return ends.then_some((at + 1, Segment::Globstar));
        }
    }
    let middle = at..literal_end(bytes, at);
    at = middle.end;
    let mut list = None;
    let mut tail = at..at;
    if bytes.get(at) == Some(&b'{') {
        let inside = at + 1..at + pattern[at..].find('}')?;
        if !is_word_list(&pattern[inside.clone()]) {
            return None;
        }
        at = inside.end + 1;
        tail = at..literal_end(bytes, at);
        at = tail.end;
        list = Some(inside.into());
    }
    let name = Name { head: head.into(), has_star, middle: middle.into(), list, tail: tail.into() };
    matches!(bytes.get(at), None | Some(b'/')).then_some((at, Segment::Name(name)))
}

fn literal_end(bytes: &[u8], start: usize) -> usize {
    bytes[start..].iter().position(|&c| !is_literal(c)).map_or(bytes.len(), |len| start + len)
}

/// Two to a hundred literals, none with `..`, which would make a range.
fn is_word_list(text: &str) -> bool {
    let commas = text.bytes().filter(|&c| c == b',').count();
    (1..100).contains(&commas) && !text.contains("..") && text.bytes().all(|c| c == b',' || is_literal(c))
}

/// Bytes that stand for themselves wherever they stand.
fn is_literal(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80 || b"_-. @#~%=&".contains(&byte)
}
