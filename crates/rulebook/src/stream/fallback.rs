//! The fallback: patterns with look-around or back-references, run at every line's end on a bounded window.
//!
//! Not exact as the automaton is: a match longer than the window is missed, and one is told at the end of its line. Where
//! it runs depends on the text alone, so that any split of it gives the same.

use super::watch::{AROUND, Spot};

/// How much text a pattern sees, and how much of a line without an end goes between two looks.
const WINDOW: usize = 8 << 10;
const STRIDE: usize = 4 << 10;

/// How far before what is new a match may start.
const OVERLAP: usize = 1 << 10;

/// How near the end of an unfinished line a match is not trusted.
const MARGIN: usize = 256;

/// How many steps one look may take.
const STEPS: usize = 100_000;

/// The patterns.
#[derive(Debug)]
pub(super) struct Fallback {
    patterns: Vec<fancy_regex::Regex>,
}

/// What a stream's patterns see.
#[derive(Debug, Default)]
pub(super) struct Window {
    text: Vec<u8>,
    gone: usize,
    gone_lines: usize,
    since: usize,
}

impl Fallback {
    pub(super) fn new(patterns: &[String]) -> Result<Fallback, String> {
        let build = |pattern: &String| fancy_regex::RegexBuilder::new(pattern).backtrack_limit(STEPS).build();
        let patterns =
            patterns.iter().map(build).collect::<Result<_, _>>().map_err(|error| error.to_string())?;
        Ok(Fallback { patterns })
    }

    pub(super) fn start(&self) -> Window {
        Window::default()
    }

    /// Goes on over some bytes, or looks a last time where there are none.
    pub(super) fn watch(
        &self,
        window: &mut Window,
        bytes: Option<&[u8]>,
        mut found: impl FnMut(usize, Spot<'_>),
    ) {
        if self.patterns.is_empty() {
            return;
        }
        for &byte in bytes.unwrap_or_default() {
            window.text.push(byte);
            window.since += 1;
            if byte == b'\n' {
                self.look(window, 0, &mut found);
            } else if window.since == STRIDE {
                // A line goes on here: what its next signs could undo is looked at again.
                self.look(window, MARGIN, &mut found);
            }
        }
        if bytes.is_none() {
            self.look(window, 0, &mut found);
        }
    }

    fn look(&self, window: &mut Window, margin: usize, found: &mut impl FnMut(usize, Spot<'_>)) {
        let text = String::from_utf8_lossy(&window.text);
        // What came since the last look, and enough before it for a match that straddles it.
        let from = text.floor_char_boundary(text.len().saturating_sub(window.since + OVERLAP));
        for (pattern, regex) in self.patterns.iter().enumerate() {
            // A look that takes too many steps finds nothing; that is the bound.
            let Ok(Some(matched)) = regex.find_from_pos(text.as_ref(), from) else { continue };
            if matched.end() + margin > text.len() {
                continue;
            }
            let line = window.gone_lines + text[..matched.start()].matches('\n').count() + 1;
            let (start, end) = (window.gone + matched.start(), window.gone + matched.end());
            let shown = text.floor_char_boundary(matched.start().saturating_sub(AROUND));
            let around = &text.as_bytes()[shown..text.floor_char_boundary(matched.end() + AROUND)];
            let lead = matched.start() - shown;
            found(pattern, Spot { start, end, line, text: matched.as_str().as_bytes(), around, lead });
        }
        window.since = 0;
        let mut excess = window.text.len().saturating_sub(WINDOW);
        while excess < window.text.len() && excess > 0 && window.text[excess] & 0xc0 == 0x80 {
            excess += 1;
        }
        window.gone += excess;
        window.gone_lines += memchr::memchr_iter(b'\n', &window.text[..excess]).count();
        window.text.drain(..excess);
    }
}
