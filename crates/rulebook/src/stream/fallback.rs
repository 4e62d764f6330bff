//! The fallback: patterns with look-around or back-references, run at every line's end on a bounded window.
//!
//! Not exact as the automaton is: a match longer than the window is missed, and one is told at the end of its line, or
//! of a later one once all that its look-ahead could see is known. With many patterns not every line's end gets a look:
//! the work stays proportional to the text. Where it runs depends on the text alone, so that any
//! split of it gives the same.

mod reach;
#[cfg(test)]
mod tests;

use fancy_regex::{Expr, RegexBuilder};

use super::characters::is_cut;
use super::pattern::NOTHING_MATCHES;
use super::watch::{AROUND, Spot};
use reach::Reach;

/// How much text a pattern sees, and how much of a line without an end goes between two looks.
const WINDOW: usize = 8 << 10;
const STRIDE: usize = 4 << 10;

/// How far before what is new a match may start.
const OVERLAP: usize = 1 << 10;

/// How far behind a match a look-ahead without a bound of its own sees for sure, in bytes.
const MARGIN: usize = 256;

/// How many steps one look may take, and how many looks of a pattern may take more before a text is spared it.
const STEPS: usize = 100_000;
const MAX_BROKEN: u8 = 16;

/// How many looks of all patterns may take more, and one for every so many bytes that go by; then one is enough, and its
/// pattern is dropped.
const BROKEN: usize = 64;
const BYTES_A_BREAK: usize = 16 << 10;

/// How much of a text is looked at for line ends alone: so many times its bytes, for one pattern and for many, and a little
/// more at the beginning. Beyond it the looks are a stride apart.
const TIMES: usize = 64;
const LEAST_TIMES: usize = 2;
const FREE: usize = 16 << 10;

/// How much of a text all patterns together look at, in bytes.
const LOOKED: usize = 128 << 20;

/// The patterns.
#[derive(Debug)]
pub(super) struct Fallback {
    patterns: Vec<(fancy_regex::Regex, Reach)>,
    held: usize,
    /// How many looks took too many steps, in how many bytes, and the patterns that were dropped for it.
    broken: usize,
    fed: usize,
    dropped: Vec<bool>,
}

/// What a stream's patterns see.
#[derive(Debug, Default)]
pub(super) struct Window {
    text: Vec<u8>,
    gone: usize,
    gone_lines: usize,
    /// How much came since the last look, and where the next one begins.
    since: usize,
    from: usize,
    /// Where a match begins that was found, and of which something behind it is to decide.
    unsure: Option<usize>,
    /// How many looks each pattern did not end.
    broken: Vec<u8>,
    /// How many bytes were looked at, some of them often.
    looked: usize,
}

/// What a look came to.
pub(super) enum Seen<'t> {
    Match(Spot<'t>),
    /// It took too many steps.
    GaveUp,
}

/// Whether a pattern can be run, or why not.
pub(super) fn check(pattern: &str) -> Result<usize, String> {
    let (_, expr) = compile(pattern)?;
    if reach::is_never(&expr) { Err(NOTHING_MATCHES.to_owned()) } else { Ok(0) }
}

fn compile(pattern: &str) -> Result<(fancy_regex::Regex, Expr), String> {
    let told = |error: fancy_regex::Error| {
        let text = error.to_string();
        let line = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        line.trim_start_matches("error: ").to_owned()
    };
    let regex = RegexBuilder::new(pattern).backtrack_limit(STEPS).crlf(true).build().map_err(told)?;
    let tree = Expr::parse_tree(pattern).map_err(told)?;
    Ok((regex, tree.expr))
}

impl Fallback {
    /// The first so many do not share what the others may cost together.
    pub(super) fn new(patterns: &[String], held: usize) -> Result<Fallback, String> {
        let build = |pattern: &String| compile(pattern).map(|(regex, expr)| (regex, Reach::of(&expr)));
        let dropped = vec![false; patterns.len()];
        let patterns = patterns.iter().map(build).collect::<Result<_, _>>()?;
        Ok(Fallback { patterns, held, broken: 0, fed: 0, dropped })
    }

    pub(super) fn start(&self) -> Window {
        Window { broken: vec![0; self.patterns.len()], ..Window::default() }
    }

    /// Goes on over some bytes, or looks a last time where there are none.
    pub(super) fn watch(
        &mut self,
        window: &mut Window,
        bytes: Option<&[u8]>,
        mut seen: impl FnMut(usize, Seen<'_>),
    ) {
        for &byte in bytes.unwrap_or_default() {
            window.text.push(byte);
            window.since += 1;
            self.fed += 1;
            if window.since == STRIDE || (byte == b'\n' && window.affords_line(self.patterns.len())) {
                self.look(window, Text::GoesOn, &mut seen);
            }
        }
        if bytes.is_none() {
            self.look(window, Text::Ended, &mut seen);
        }
    }

    fn look(&mut self, window: &mut Window, state: Text, seen: &mut impl FnMut(usize, Seen<'_>)) {
        let cut = if state == Text::Ended { 0 } else { cut_bytes(&window.text) };
        let text = String::from_utf8_lossy(&window.text[..window.text.len() - cut]);
        let from = text.floor_char_boundary(window.from);
        window.from = text.len().saturating_sub(OVERLAP);
        window.unsure = None;
        window.looked += text.len() - from;
        let is_spent = window.looked.saturating_mul(self.patterns.len()) > LOOKED;
        for (pattern, ((regex, reach), broken)) in self.patterns.iter().zip(&mut window.broken).enumerate() {
            let is_mandatory = pattern < self.held;
            if is_spent && !is_mandatory && *broken < MAX_BROKEN {
                *broken = MAX_BROKEN;
                seen(pattern, Seen::GaveUp);
            }
            if self.dropped[pattern]
                || *broken == MAX_BROKEN
                || (*reach == Reach::END && state != Text::Ended)
            {
                continue;
            }
            let matched = match regex.find_from_pos(text.as_ref(), from) {
                Ok(Some(matched)) => matched,
                Ok(None) => continue,
                Err(_) => {
                    *broken += 1;
                    self.broken += usize::from(!is_mandatory);
                    self.dropped[pattern] = !is_mandatory && self.broken > BROKEN + self.fed / BYTES_A_BREAK;
                    seen(pattern, Seen::GaveUp);
                    continue;
                }
            };
            let (start, end) = (matched.start(), matched.end());
            let is_sure = end.saturating_add(reach.most) <= text.len()
                || (!reach.leaves_line && text[end..].contains('\n'))
                || state == Text::Ended;
            if !is_sure {
                window.from = window.from.min(start);
                window.unsure = Some(window.unsure.unwrap_or(start).min(start));
                continue;
            }
            let shown = text.floor_char_boundary(start.saturating_sub(AROUND));
            let spot = Spot {
                start: window.gone + start,
                end: window.gone + end,
                line: window.gone_lines + text[..start].matches('\n').count() + 1,
                text: matched.as_str().as_bytes(),
                around: &text.as_bytes()[shown..text.floor_char_boundary(end + AROUND)],
                lead: start - shown,
            };
            seen(pattern, Seen::Match(spot));
        }
        window.let_go();
    }
}

impl Window {
    /// Below which offset nothing is left to look at, but for matches over several lines.
    pub(super) fn settled(&self) -> usize {
        let looked = self.text.len() - self.since;
        self.gone + self.unsure.unwrap_or(looked).min(looked)
    }

    /// Whether the end of a line is worth a look, with so many patterns.
    fn affords_line(&self, patterns: usize) -> bool {
        let fed = self.gone + self.text.len();
        let times = (TIMES / patterns.max(1)).max(LEAST_TIMES);
        let looked = self.looked + (self.text.len() - self.from);
        looked <= FREE + fed.saturating_mul(times) && looked.saturating_mul(patterns) <= LOOKED / 4
    }

    fn let_go(&mut self) {
        self.since = 0;
        let mut excess = self.text.len().saturating_sub(WINDOW);
        while excess < self.text.len() && excess > 0 && self.text[excess] & 0xc0 == 0x80 {
            excess += 1;
        }
        self.gone += excess;
        self.from = self.from.saturating_sub(excess);
        self.unsure = self.unsure.map(|start| start.saturating_sub(excess));
        self.gone_lines += memchr::memchr_iter(b'\n', &self.text[..excess]).count();
        self.text.drain(..excess);
    }
}

/// Whether more can come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Text {
    GoesOn,
    Ended,
}

/// How many bytes at the end are of a character that is not whole.
fn cut_bytes(text: &[u8]) -> usize {
    (1..=text.len().min(3)).find(|count| is_cut(&text[text.len() - count..])).unwrap_or(0)
}
