//! Patterns with look-around or back-references, searched at the end of every line in a bounded window.
//!
//! Unlike the automaton, this is not exact: a match longer than the window is missed, and a match is reported at the end of
//! its line, or later if its look-ahead may extend further. With many patterns, the search skips line ends, so that the
//! work stays proportional to the text. When it runs depends on the text alone and not on how the text is split.

mod lookahead;
mod reach;
#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use fancy_regex::{Expr, RegexBuilder};

use super::characters::is_incomplete;
use super::hit::{AROUND, Spot};
use super::pattern::NEVER_MATCHES;
use lookahead::Lookahead;
use reach::{Metered, Reach};

/// The size of the window, and the maximum distance between two searches.
const WINDOW: usize = 8 << 10;
const STRIDE: usize = 4 << 10;

/// How far before new text a match may start.
const OVERLAP: usize = 1 << 10;

/// The maximum number of steps of one search, and how often a pattern may exceed it in a text before it is skipped.
const MAX_STEPS: usize = 100_000;
const MAX_FAILURES: u8 = 16;

/// How often all patterns together may exceed it: a constant, and once per this many bytes. Beyond that, each pattern that
/// exceeds it is dropped.
const FREE_FAILURES: usize = 64;
const BYTES_PER_FAILURE: usize = 16 << 10;

/// The steps of a first attempt: more than one for each byte of a search. The full number is tried only if enough work is left.
const FIRST_STEPS: usize = 16_000;

/// The maximum work of all patterns together: a constant, and an allowance for each byte. Work is the number of bytes that the
/// steps of a search can inspect. Beyond it, only patterns go on whose steps inspect few bytes and that had little work so far.
const FREE_WORK: usize = 256 << 20;
const WORK_PER_BYTE: usize = 4 << 10;
const SHORT_REACH: usize = 256;

/// How often a text may be searched because of line ends: with one pattern, and at least. `FREE_BYTES` are added at the
/// start. Beyond that, searches are a stride apart.
const MAX_PASSES: usize = 64;
const MIN_PASSES: usize = 2;
const FREE_BYTES: usize = 16 << 10;

/// The maximum number of bytes that all patterns together search in a text.
const MAX_SEARCHED: usize = 128 << 20;

/// A pattern, how far its look-ahead reaches, and how far one of its steps does.
#[derive(Debug)]
pub(super) struct FallbackPattern {
    regex: fancy_regex::Regex,
    /// The same with the full number of steps, compiled when a search first needs it.
    thorough: OnceLock<Option<fancy_regex::Regex>>,
    lookahead: Lookahead,
    reach: Reach,
}

impl FallbackPattern {
    pub(super) fn new(pattern: &str) -> Result<FallbackPattern, String> {
        compile(pattern, FIRST_STEPS).map(|(regex, expr)| FallbackPattern {
            regex,
            thorough: OnceLock::new(),
            lookahead: Lookahead::of(&expr),
            reach: Reach::of(&expr),
        })
    }

    /// The text of each match; `Err` if that takes too many steps.
    pub(super) fn matches<'t>(&self, text: &'t str) -> Result<Vec<&'t [u8]>, ()> {
        let (mut found, mut from) = (Vec::new(), 0);
        while from <= text.len() {
            let Some((start, end)) = self.find(text, from, 0, &mut 0)? else { break };
            found.push(&text.as_bytes()[start..end]);
            from = if end > from { end } else { text.ceil_char_boundary(from + 1) };
            if end == text.len() && start == end {
                break;
            }
        }
        Ok(found)
    }

    /// Finds the first match; `Err` if that takes too many steps, or could take more work than is left. Adds to the work.
    fn find(
        &self,
        text: &str,
        from: usize,
        left: usize,
        work: &mut usize,
    ) -> Result<Option<(usize, usize)>, ()> {
        let metered = Metered::new(text);
        let found = self.regex.find_from_pos(&metered, from);
        *work += metered.work(&self.reach);
        if let Ok(found) = found {
            return Ok(found);
        }
        if MAX_STEPS.saturating_mul(self.reach.within(text)) > left {
            return Err(());
        }
        let thorough = self
            .thorough
            .get_or_init(|| compile(self.regex.as_str(), MAX_STEPS).ok().map(|(regex, _)| regex));
        let metered = Metered::new(text);
        let found = thorough.as_ref().ok_or(())?.find_from_pos(&metered, from);
        *work += metered.work(&self.reach);
        found.map_err(drop)
    }
}

/// The patterns.
#[derive(Debug)]
pub(super) struct Fallback {
    patterns: Vec<FallbackPattern>,
    /// The number of mandatory patterns, which come first and do not share the limits of the others.
    mandatory: usize,
    /// How many searches took too many steps, in how many bytes, and the patterns that were dropped for it.
    failures: usize,
    fed: usize,
    dropped: Vec<bool>,
    /// The work of each pattern, that of all but the mandatory ones, and how much of it is free.
    work: Vec<usize>,
    total_work: usize,
    free_work: usize,
}

/// The window of a stream.
#[derive(Debug, Default)]
pub(super) struct Window {
    text: Vec<u8>,
    /// The numbers of bytes and of line breaks before `text`.
    discarded: usize,
    discarded_lines: usize,
    /// The number of bytes since the last search, and where the next one starts.
    since: usize,
    from: usize,
    /// The start of a match that depends on text after it.
    undecided: Option<usize>,
    /// How many searches of each pattern took too many steps.
    failures: Vec<u8>,
    /// The number of bytes searched, counting repetitions.
    searched: usize,
}

/// The outcome of a search.
pub(super) enum Outcome<'t> {
    Match(Spot<'t>),
    /// It took too many steps.
    GaveUp,
}

/// Checks whether a pattern can be run.
pub(super) fn check(pattern: &str) -> Result<(), String> {
    let (_, expr) = compile(pattern, FIRST_STEPS)?;
    if lookahead::never_matches(&expr) { Err(NEVER_MATCHES.to_owned()) } else { Ok(()) }
}

fn compile(pattern: &str, steps: usize) -> Result<(fancy_regex::Regex, Expr), String> {
    let message = |error: fancy_regex::Error| {
        let text = error.to_string();
        let line = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        line.trim_start_matches("error: ").to_owned()
    };
    let regex = RegexBuilder::new(pattern).backtrack_limit(steps).crlf(true).build().map_err(message)?;
    let tree = Expr::parse_tree(pattern).map_err(message)?;
    Ok((regex, tree.expr))
}

impl Fallback {
    /// The first `mandatory` patterns do not share the limits of the others.
    pub(super) fn new(patterns: Vec<FallbackPattern>, mandatory: usize) -> Fallback {
        let (dropped, work) = (vec![false; patterns.len()], vec![0; patterns.len()]);
        Fallback {
            dropped,
            work,
            patterns,
            mandatory,
            failures: 0,
            fed: 0,
            total_work: 0,
            free_work: FREE_WORK,
        }
    }

    /// The text of each match of a pattern in a whole text; `None` if that takes too many steps.
    pub(super) fn matches<'t>(&self, pattern: usize, text: &'t str) -> Option<Vec<&'t [u8]>> {
        self.patterns[pattern].matches(text).ok()
    }

    pub(super) fn start(&self) -> Window {
        Window { failures: vec![0; self.patterns.len()], ..Window::default() }
    }

    /// Continues a text, or searches its end if there are no bytes.
    pub(super) fn watch(
        &mut self,
        window: &mut Window,
        bytes: Option<&[u8]>,
        mut report: impl FnMut(usize, Outcome<'_>),
    ) {
        for &byte in bytes.unwrap_or_default() {
            window.text.push(byte);
            window.since += 1;
            self.fed += 1;
            if window.since == STRIDE || (byte == b'\n' && window.affords_line(self.patterns.len())) {
                self.search(window, TextState::Open, &mut report);
            }
        }
        if bytes.is_none() {
            self.search(window, TextState::Ended, &mut report);
        }
    }

    fn search(&mut self, window: &mut Window, state: TextState, report: &mut impl FnMut(usize, Outcome<'_>)) {
        let cut = if state == TextState::Ended { 0 } else { incomplete_bytes(&window.text) };
        let text = String::from_utf8_lossy(&window.text[..window.text.len() - cut]);
        let from = text.floor_char_boundary(window.from);
        window.from = text.len().saturating_sub(OVERLAP);
        window.undecided = None;
        window.searched += text.len() - from;
        let is_spent = window.searched.saturating_mul(self.patterns.len()) > MAX_SEARCHED;
        for pattern in 0..self.patterns.len() {
            let is_mandatory = pattern < self.mandatory;
            if !is_mandatory && !self.dropped[pattern] && self.is_too_expensive(pattern, &text) {
                self.dropped[pattern] = true;
                report(pattern, Outcome::GaveUp);
            }
            let (FallbackPattern { lookahead, .. }, failures) =
                (&self.patterns[pattern], &mut window.failures[pattern]);
            if is_spent && !is_mandatory && !self.dropped[pattern] && *failures < MAX_FAILURES {
                *failures = MAX_FAILURES;
                report(pattern, Outcome::GaveUp);
            }
            if self.dropped[pattern]
                || *failures == MAX_FAILURES
                || (*lookahead == Lookahead::END && state != TextState::Ended)
            {
                continue;
            }
            let left =
                if is_mandatory { usize::MAX } else { self.allowed_work().saturating_sub(self.total_work) };
            let mut work = 0;
            let matched = self.patterns[pattern].find(&text, from, left, &mut work);
            if !is_mandatory {
                self.work[pattern] += work;
                self.total_work += work;
            }
            let (start, end) = match matched {
                Ok(Some(matched)) => matched,
                Ok(None) => continue,
                Err(()) => {
                    *failures += 1;
                    self.failures += usize::from(!is_mandatory);
                    let allowed = FREE_FAILURES + self.fed / BYTES_PER_FAILURE;
                    self.dropped[pattern] = !is_mandatory && self.failures > allowed;
                    report(pattern, Outcome::GaveUp);
                    continue;
                }
            };
            let is_certain = end.saturating_add(lookahead.bytes) <= text.len()
                || (!lookahead.leaves_line && text[end..].contains('\n'))
                || state == TextState::Ended;
            if !is_certain {
                window.from = window.from.min(start);
                window.undecided = Some(window.undecided.unwrap_or(start).min(start));
                continue;
            }
            let shown = text.floor_char_boundary(start.saturating_sub(AROUND));
            let spot = Spot {
                start: window.discarded + start,
                end: window.discarded + end,
                line: window.discarded_lines + text[..start].matches('\n').count() + 1,
                text: &text.as_bytes()[start..end],
                around: &text.as_bytes()[shown..text.floor_char_boundary(end + AROUND)],
                lead: start - shown,
            };
            report(pattern, Outcome::Match(spot));
        }
        window.discard_text();
    }

    /// The work that all patterns may cause together, so far.
    fn allowed_work(&self) -> usize {
        self.free_work + self.fed.saturating_mul(WORK_PER_BYTE)
    }

    /// Whether a pattern is too expensive now that too much work was done.
    fn is_too_expensive(&self, pattern: usize, text: &str) -> bool {
        let allowed = self.allowed_work();
        self.total_work > allowed
            && (self.work[pattern] > allowed / (4 * self.patterns.len())
                || self.patterns[pattern].reach.within(text) > SHORT_REACH)
    }
}

impl Window {
    /// The offset below which no future match can start, except for matches over several lines.
    pub(super) fn settled(&self) -> usize {
        let searched = self.text.len() - self.since;
        self.discarded + self.undecided.unwrap_or(searched).min(searched)
    }

    /// The start of a match that depends on text after it.
    pub(super) fn undecided(&self) -> Option<usize> {
        self.undecided.map(|start| self.discarded + start)
    }

    /// How many of these bytes arrive before the next search, at most.
    pub(super) fn next_search(&self, bytes: &[u8]) -> usize {
        let line = memchr::memchr(b'\n', bytes).map_or(bytes.len(), |at| at + 1);
        line.min(STRIDE - self.since)
    }

    /// Whether all text was just searched.
    pub(super) fn has_just_searched(&self) -> bool {
        self.since == 0
    }

    /// Whether to search at the end of a line, with this many patterns.
    fn affords_line(&self, patterns: usize) -> bool {
        let fed = self.discarded + self.text.len();
        let passes = (MAX_PASSES / patterns.max(1)).max(MIN_PASSES);
        let searched = self.searched + (self.text.len() - self.from);
        searched <= FREE_BYTES + fed.saturating_mul(passes)
            && searched.saturating_mul(patterns) <= MAX_SEARCHED / 4
    }

    fn discard_text(&mut self) {
        self.since = 0;
        let mut excess = self.text.len().saturating_sub(WINDOW);
        while excess < self.text.len() && excess > 0 && self.text[excess] & 0xc0 == 0x80 {
            excess += 1;
        }
        self.discarded += excess;
        self.from = self.from.saturating_sub(excess);
        self.undecided = self.undecided.map(|start| start.saturating_sub(excess));
        self.discarded_lines += memchr::memchr_iter(b'\n', &self.text[..excess]).count();
        self.text.drain(..excess);
    }
}

/// Whether more text may follow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TextState {
    Open,
    Ended,
}

/// The number of bytes of an incomplete character at the end.
fn incomplete_bytes(text: &[u8]) -> usize {
    (1..=text.len().min(3)).find(|count| is_incomplete(&text[text.len() - count..])).unwrap_or(0)
}
