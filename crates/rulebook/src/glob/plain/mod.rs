//! Common patterns, matched directly on their text without compiling them.
//!
//! A plain pattern has literal directories with `**` between them, followed by a name, a name with one `*` and one list
//! in braces, or `**`. For normalized paths without the dialect's special traits, it agrees with the full expression.

mod name;

use std::ops::Range;

pub(super) use name::{Last, extensions};

use name::{Name, Segment, Span, is_segment_match, read_segment};

/// A plain pattern. All spans point into its text.
#[derive(Clone, Debug)]
pub(super) struct Plain {
    /// Runs of segments with `**` between them.
    runs: [Run; MAX_RUNS],
    count: u8,
    /// The first run starts at the root.
    is_rooted: bool,
    /// `**` is between the last run and the end.
    has_gap: bool,
    /// The path may end in a slash.
    allows_slash: bool,
    end: End,
}

#[derive(Clone, Debug)]
enum End {
    /// The last run is the end.
    Run,
    /// `**`: everything below, and the directory itself.
    Below,
    /// As `Below`, but without the directory itself.
    Inside,
    Name(Name),
}

const MAX_RUNS: usize = 4;

/// Differences between dialects in plain patterns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// `a/**` also matches `a`.
    includes_folder: bool,
    /// `*/**` also matches `a`.
    includes_any_folder: bool,
    /// The plain pattern decides about paths with a trailing slash.
    knows_folders: bool,
    /// A pattern without a slash matches at any depth.
    any_depth: bool,
    /// Texts that give words in braces a special meaning, so that the pattern is not plain.
    not_plain: &'static [&'static str],
}

impl Rules {
    pub(super) const PICOMATCH: Rules = Rules {
        includes_folder: true,
        includes_any_folder: false,
        knows_folders: true,
        any_depth: false,
        not_plain: &[],
    };
    /// A segment that expands to `..` removes the one before it.
    pub(super) const MINIMATCH: Rules = Rules {
        includes_folder: false,
        knows_folders: false,
        not_plain: &["{.", ",.", ".}"],
        ..Rules::PICOMATCH
    };
    pub(super) const COPILOT: Rules = Rules { any_depth: true, ..Rules::MINIMATCH };
    /// An empty last word is ignored.
    pub(super) const VSCODE: Rules =
        Rules { includes_any_folder: true, knows_folders: false, not_plain: &[",}"], ..Rules::PICOMATCH };
}

/// Consecutive segments without `**`.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    span: Span,
    /// A segment is a [`Name`], which is parsed again when matching.
    is_wild: bool,
}

impl Plain {
    /// Reads `pattern` from `start`, after a `!` if there is one.
    pub(super) fn read(pattern: &str, start: usize, rules: Rules) -> Option<Plain> {
        if rules.not_plain.iter().any(|text| pattern.contains(text)) {
            return None;
        }
        let mut plain = Plain {
            runs: Default::default(),
            count: 0,
            is_rooted: true,
            has_gap: false,
            allows_slash: false,
            end: End::Run,
        };
        let mut run = start..start;
        let mut is_wild = false;
        let mut at = start;
        loop {
            let (end, segment) = read_segment(pattern, at)?;
            let is_last = end == pattern.len();
            match segment {
                Segment::Literal => run.end = end,
                // picomatch has special rules for consecutive `**`.
                Segment::Globstar if run.is_empty() && at != start => return None,
                Segment::Globstar => {
                    plain.close_run(&run, is_wild)?;
                    plain.is_rooted &= at != start;
                    plain.has_gap = true;
                    let after_star = pattern[..at].ends_with("*/");
                    if is_last {
                        let includes =
                            if after_star { rules.includes_any_folder } else { rules.includes_folder };
                        // `**` alone matches everything.
                        plain.end = if includes || at == start { End::Below } else { End::Inside };
                    }
                    run = end + 1..end + 1;
                    is_wild = false;
                }
                Segment::Name(name) if is_last => {
                    plain.close_run(&run, is_wild)?;
                    run = end..end;
                    plain.end = End::Name(name);
                }
                Segment::Name(_) => {
                    run.end = end;
                    is_wild = true;
                }
            }
            if is_last {
                break;
            }
            at = end + 1;
        }
        plain.close_run(&run, is_wild)?;
        plain.allows_slash = !rules.knows_folders || plain.allows_slash(pattern, start);
        if rules.any_depth && !pattern[start..].contains('/') {
            plain.is_rooted = false;
            plain.has_gap = plain.count == 0;
        }
        Some(plain)
    }

    fn close_run(&mut self, run: &Range<usize>, is_wild: bool) -> Option<()> {
        if !run.is_empty() {
            *self.runs.get_mut(usize::from(self.count))? = Run { span: run.clone().into(), is_wild };
            self.count += 1;
            self.has_gap = false;
        }
        Some(())
    }

    /// picomatch allows a trailing slash after a final `*`, and after its shortcuts `*`, `*/*` and `**/*` with any number
    /// of extensions, but not after a single segment that starts with something else.
    fn allows_slash(&self, pattern: &str, start: usize) -> bool {
        let End::Name(name) = &self.end else { return false };
        let ends_in_star = name.has_star && name.middle.is_empty() && name.list.is_none();
        if ends_in_star {
            let is_flat = start == 0 && !pattern.contains('/') && !pattern.starts_with('*');
            return !is_flat;
        }
        if start > 0 || name.list.is_some() {
            return false;
        }
        let extensions = ["**/*", "*/*", "*"].iter().find_map(|form| pattern.strip_prefix(form));
        extensions.is_some_and(|text| {
            let mut parts = text.split('.');
            parts.next() == Some("")
                && parts.all(|part| {
                    !part.is_empty() && part.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_')
                })
        })
    }

    /// The whole segments that every match starts with.
    pub(super) fn root<'g>(&self, pattern: &'g str) -> &'g str {
        let first = self.runs[..self.count.into()].first().filter(|_| self.is_rooted);
        first.map_or("", |run| {
            let text = run.span.of(pattern);
            let literal = literal_start(text);
            if literal.len() == text.len() {
                text
            } else {
                literal.rsplit_once('/').map_or("", |(root, _)| root)
            }
        })
    }

    pub(super) fn last<'g>(&self, pattern: &'g str) -> Last<'g> {
        match &self.end {
            End::Below | End::Inside => Last::Unknown,
            End::Run => {
                let run = self.runs[usize::from(self.count) - 1].span.of(pattern);
                Last::Name(run.rsplit('/').next().unwrap_or(run))
            }
            End::Name(name) => name.last(pattern),
        }
    }

    /// The part before the first dot in the last segment of every match.
    pub(super) fn stem<'g>(&self, pattern: &'g str) -> Option<&'g str> {
        let End::Name(name) = &self.end else { return None };
        name.head.of(pattern).split_once('.').map(|(stem, _)| stem)
    }

    /// Whether it is `**/*.ext` or `**/*.{one,two}`: [`Plain::last`] alone decides about paths without a trailing slash.
    pub(super) fn is_any_with_extension(&self, pattern: &str) -> bool {
        let End::Name(name) = &self.end else { return false };
        !self.is_rooted && self.count == 0 && name.is_any_with_extension(pattern)
    }

    /// Whether, within one folder, only the extension decides about a file with an extension: `src/**`, `src/**/*.ts`.
    pub(super) fn depends_on_extension_only(&self, pattern: &str) -> bool {
        match &self.end {
            End::Run => false,
            End::Inside => true,
            // It also matches the folder itself, so a file name must not match the last segment.
            End::Below => self.runs[..self.count.into()].last().is_none_or(|run| {
                !run.span.of(pattern).rsplit('/').next().unwrap_or_default().contains(['.', '*'])
            }),
            End::Name(name) => name.is_any() || name.is_any_with_extension(pattern),
        }
    }

    /// A segment that every match contains.
    pub(super) fn segment<'g>(&self, pattern: &'g str) -> Option<&'g str> {
        // The first run of a rooted pattern is found by its prefix instead.
        let skipped = usize::from(self.is_rooted && self.count > 0);
        let runs = self.runs[skipped..self.count.into()].iter();
        let segments = runs.flat_map(|run| run.span.of(pattern).split('/'));
        segments
            .filter(|segment| literal_start(segment).len() == segment.len())
            .max_by_key(|segment| segment.len())
    }

    pub(super) fn is_match(&self, pattern: &str, path: &str) -> bool {
        let path = match path.strip_suffix('/') {
            Some(bare) if self.allows_slash => bare,
            _ => path,
        };
        match &self.end {
            End::Run | End::Below | End::Inside => self.spans(pattern, path),
            End::Name(name) => {
                let slash = path.bytes().rposition(|c| c == b'/');
                let (dirs, last) = slash.map_or(("", path), |at| (&path[..at], &path[at + 1..]));
                name.is_match(pattern, last) && self.spans(pattern, dirs)
            }
        }
    }

    /// Whether `dirs` contains the runs in this order.
    fn spans(&self, pattern: &str, dirs: &str) -> bool {
        let mut runs = self.runs[..self.count.into()].iter();
        let mut rest = Some(dirs).filter(|dirs| !dirs.is_empty());
        if self.is_rooted
            && let Some(first) = runs.next()
        {
            match rest.and_then(|rest| first.strip(pattern, rest)) {
                Some(after) => rest = after,
                None => return false,
            }
        }
        let end = if self.has_gap { None } else { runs.next_back() };
        for run in runs {
            match rest.and_then(|rest| run.find(pattern, rest)) {
                Some(after) => rest = after,
                None => return false,
            }
        }
        match (end, &self.end) {
            (Some(run), _) => rest.is_some_and(|rest| run.ends(pattern, rest)),
            (None, End::Inside) => rest.is_some(),
            (None, _) => self.has_gap || rest.is_none(),
        }
    }
}

impl Run {
    /// If `text` starts with the run, the segments after it; `Some(None)` if there are none.
    fn strip<'t>(&self, pattern: &str, text: &'t str) -> Option<Option<&'t str>> {
        let run = self.span.of(pattern);
        if !self.is_wild {
            return match text.strip_prefix(run)? {
                "" => Some(None),
                rest => rest.strip_prefix('/').map(Some),
            };
        }
        let mut rest = Some(text);
        for segment in run.split('/') {
            let (name, after) = match rest?.split_once('/') {
                Some((name, after)) => (name, Some(after)),
                None => (rest?, None),
            };
            if !is_segment_match(segment, name) {
                return None;
            }
            rest = after;
        }
        Some(rest)
    }

    fn find<'t>(&self, pattern: &str, text: &'t str) -> Option<Option<&'t str>> {
        let mut rest = text;
        loop {
            if let Some(after) = self.strip(pattern, rest) {
                return Some(after);
            }
            rest = rest.split_once('/')?.1;
        }
    }

    fn ends(&self, pattern: &str, text: &str) -> bool {
        let run = self.span.of(pattern);
        if !self.is_wild {
            return text.strip_suffix(run).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
        }
        let mut names = text.rsplit('/');
        run.rsplit('/').all(|segment| names.next().is_some_and(|name| is_segment_match(segment, name)))
    }
}

/// The text before the first star or brace.
fn literal_start(text: &str) -> &str {
    text.find(['*', '{']).map_or(text, |end| &text[..end])
}
