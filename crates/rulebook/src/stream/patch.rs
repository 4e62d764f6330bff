//! Splits a patch, as its text arrives, into the lines that it adds to each file.
//!
//! Reads `apply_patch` envelopes, unified diffs and SEARCH/REPLACE blocks. A text is a patch if its first non-blank line starts one. Any other text
//! is passed on unchanged as soon as that is certain.

mod diff;
mod line;
#[cfg(test)]
mod tests;

use diff::Diff;
use line::{Line, Rest, Verdict, starts_with};

/// The maximum length of a held line. A longer header is passed on as plain text.
const MAX_LINE: usize = 64 << 10;

/// A text that may be a patch. At most two lines of it are kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Patch {
    form: Form,
    rest: Rest,
    /// The current line, while it is held.
    held: String,
}

/// A part of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part<'p> {
    /// The following parts belong to this file: its new name as written, without the `a/` and `b/` of a diff.
    File(&'p str),
    /// The following parts belong to a file whose name, as written here, depends on a variable.
    UnknownFile(&'p str),
    /// The next added text of the file: lines or parts of them, without `+` and with line breaks.
    Added(&'p str),
    /// The next text that is removed from the file, or replaced.
    Removed(&'p str),
    /// The next text outside of a patch: blanks before it, text after it, or all of a text that is not a patch.
    Plain(&'p str),
}

impl Patch {
    /// Reads more text.
    pub(super) fn feed(&mut self, text: &str, out: &mut impl FnMut(Part<'_>)) {
        let mut rest = text;
        while !rest.is_empty() {
            if matches!(self.form, Form::Plain) {
                return pass(Rest::Plain, rest, out);
            }
            let (part, after) = rest.split_at(rest.find('\n').map_or(rest.len(), |at| at + 1));
            self.read(part, out);
            rest = after;
        }
    }

    /// Ends the text. If it has not started a patch by now, it is not one.
    pub(super) fn finish(&mut self, out: &mut impl FnMut(Part<'_>)) {
        if self.rest == Rest::Held && !self.held.is_empty() {
            self.decide(Line::Ended, out);
        }
        if let Form::Unknown { first } = &self.form {
            pass(Rest::Plain, first, out);
            self.form = Form::Plain;
        }
        // A line that could start a patch does not.
        pass(Rest::Plain, &self.held, out);
        self.clear_held();
        self.rest = Rest::Held;
    }

    /// Reads a line or a part of it.
    fn read(&mut self, part: &str, out: &mut impl FnMut(Part<'_>)) {
        if self.rest != Rest::Held {
            pass(self.rest, part, out);
        } else {
            let is_start = self.held.is_empty() && self.form.is_untouched();
            // There may be many blanks, so they are not held.
            let text = if is_start { part.trim_start() } else { part };
            pass(Rest::Plain, part.strip_suffix(text).unwrap_or_default(), out);
            self.held.push_str(text);
            if !self.held.is_empty() {
                self.decide(if part.ends_with('\n') { Line::Ended } else { Line::Open }, out);
            }
        }
        if part.ends_with('\n') {
            self.rest = Rest::Held;
        }
    }

    /// Decides about the held line, which may be incomplete.
    fn decide(&mut self, line: Line, out: &mut impl FnMut(Part<'_>)) {
        let step = match &mut self.form {
            Form::Unknown { first } if first.is_empty() => opening(&self.held),
            Form::Unknown { first } => match starts_with(&self.held, "+++ ") {
                Some(true) => Step::Become(Form::Diff(Diff::after(first))),
                Some(false) => Step::Line(Verdict::Wait),
                None => Step::Become(Form::Plain),
            },
            Form::Plain => Step::Line(Verdict::Rest(Rest::Plain)),
            Form::Envelope => Step::Line(envelope(&self.held, line)),
            Form::After => after(&self.held),
            Form::Diff(diff) => Step::Line(diff.decide(&self.held, line)),
            Form::Blocks(side) => Step::Line(block(&self.held, *side, line)),
        };
        self.apply(step, line, out);
    }

    fn apply(&mut self, step: Step, line: Line, out: &mut impl FnMut(Part<'_>)) {
        let is_long = self.held.trim_end_matches('\n').len() > MAX_LINE;
        match step {
            Step::Line(Verdict::Rest(rest)) => {
                let is_marked =
                    matches!(rest, Rest::Added | Rest::Removed) && !matches!(self.form, Form::Blocks(_));
                let text = if is_marked { self.held.get(1..) } else { Some(self.held.as_str()) };
                pass(rest, text.unwrap_or_default(), out);
                self.rest = rest;
                self.clear_held();
            }
            Step::Become(Form::Plain) => self.give_up(out),
            Step::Become(form) => {
                self.form = form;
                self.decide(line, out);
            }
            Step::Line(_) | Step::Pair if is_long => self.give_up(out),
            Step::Pair if line == Line::Ended => {
                self.form = Form::Unknown { first: std::mem::take(&mut self.held) };
            }
            Step::Line(Verdict::Header) if line == Line::Ended => {
                let held = std::mem::take(&mut self.held);
                self.header(held.trim_end(), out);
            }
            Step::Line(_) | Step::Pair => {}
        }
    }

    /// Passes the held text on as plain text, and everything after it too if no patch has started.
    fn give_up(&mut self, out: &mut impl FnMut(Part<'_>)) {
        if let Form::Unknown { first } = &self.form {
            pass(Rest::Plain, first, out);
            self.form = Form::Plain;
        }
        self.rest = Rest::Plain;
        pass(Rest::Plain, &self.held, out);
        self.clear_held();
    }

    /// Clears the held line and frees the memory of a long one.
    fn clear_held(&mut self) {
        self.held.clear();
        self.held.shrink_to(MAX_LINE);
    }

    fn header(&mut self, line: &str, out: &mut impl FnMut(Part<'_>)) {
        if let Form::Diff(diff) = &mut self.form {
            if let Some(path) = diff.header(line) {
                out(Part::File(&path));
            }
        } else if let Form::Blocks(side) = &mut self.form {
            *side = Side::after(line).unwrap_or(*side);
        } else if line == END {
            self.form = Form::After;
        } else if let Some(path) = FILES.iter().find_map(|header| line.strip_prefix(header)) {
            out(Part::File(path.trim()));
        }
    }
}

/// The form of the text.
#[derive(Clone, Debug)]
enum Form {
    /// Not known yet. `first` is a `--- ` line, which starts a diff if a `+++ ` line follows.
    Unknown {
        first: String,
    },
    Plain,
    /// Between `*** Begin Patch` and `*** End Patch`.
    Envelope,
    /// After `*** End Patch`.
    After,
    Diff(Diff),
    /// SEARCH/REPLACE blocks.
    Blocks(Side),
}

/// The part of a SEARCH/REPLACE block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    /// Between blocks.
    Outside,
    /// The text that is replaced.
    Search,
    /// The new text.
    Replace,
}

/// The lines that start the parts of a block.
const MARKERS: &[(&str, Side)] = &[
    ("<<<<<<< SEARCH", Side::Search),
    ("------- SEARCH", Side::Search),
    ("=======", Side::Replace),
    (">>>>>>> REPLACE", Side::Outside),
    ("+++++++ REPLACE", Side::Outside),
];

impl Side {
    /// The part that a line starts.
    fn after(line: &str) -> Option<Side> {
        MARKERS.iter().find(|(marker, _)| line == *marker).map(|(_, side)| *side)
    }
}

fn block(held: &str, side: Side, line: Line) -> Verdict {
    let rest = if side == Side::Search { Rest::Removed } else { Rest::Plain };
    let found = MARKERS.iter().filter_map(|(marker, _)| starts_with(held.trim_end(), marker)).max();
    match found {
        Some(true) if line == Line::Open || Side::after(held.trim_end()).is_some() => Verdict::Header,
        Some(false) if line == Line::Open => Verdict::Wait,
        _ => Verdict::Rest(rest),
    }
}

impl Form {
    fn is_untouched(&self) -> bool {
        matches!(self, Form::Unknown { first } if first.is_empty())
    }
}

impl Default for Form {
    fn default() -> Form {
        Form::Unknown { first: String::new() }
    }
}

/// The next step for a held line.
#[derive(Clone, Debug)]
enum Step {
    Line(Verdict),
    /// Hold it together with the next line.
    Pair,
    /// The text has this form; decide again.
    Become(Form),
}

const END: &str = "*** End Patch";
const FILES: &[&str] = &["*** Add File:", "*** Update File:", "*** Delete File:", "*** Move to:"];

/// The starts of patches.
const OPENINGS: &[(&str, Step)] = &[
    ("*** Begin Patch\n", Step::Become(Form::Envelope)),
    ("*** Begin Patch\r", Step::Become(Form::Envelope)),
    ("*** Begin Patch ", Step::Become(Form::Envelope)),
    ("*** Add File: ", Step::Become(Form::Envelope)),
    ("*** Update File: ", Step::Become(Form::Envelope)),
    ("*** Delete File: ", Step::Become(Form::Envelope)),
    ("diff --git ", Step::Become(Form::Diff(Diff::NEW))),
    ("@@ ", Step::Become(Form::Diff(Diff::NEW))),
    ("@@\n", Step::Become(Form::Diff(Diff::NEW))),
    ("@@\r", Step::Become(Form::Diff(Diff::NEW))),
    ("<<<<<<< SEARCH", Step::Become(Form::Blocks(Side::Outside))),
    ("------- SEARCH", Step::Become(Form::Blocks(Side::Outside))),
    ("--- ", Step::Pair),
];

fn opening(held: &str) -> Step {
    let known = OPENINGS.iter().find_map(|(text, step)| Some((starts_with(held, text)?, step)));
    match known {
        Some((true, step)) => step.clone(),
        Some((false, _)) => Step::Line(Verdict::Wait),
        None => Step::Become(Form::Plain),
    }
}

fn envelope(held: &str, line: Line) -> Verdict {
    if held.starts_with(['+', '-']) {
        return Verdict::Rest(Rest::of(held));
    }
    match starts_with(held, "*** ") {
        Some(true) => Verdict::Header,
        Some(false) if line == Line::Open => Verdict::Wait,
        _ => Verdict::Rest(Rest::Dropped),
    }
}

fn after(held: &str) -> Step {
    match opening(held) {
        Step::Become(Form::Plain) | Step::Pair => Step::Line(Verdict::Rest(Rest::Plain)),
        step => step,
    }
}

fn pass(rest: Rest, text: &str, out: &mut impl FnMut(Part<'_>)) {
    if text.is_empty() {
        return;
    }
    match rest {
        Rest::Added => out(Part::Added(text)),
        Rest::Plain => out(Part::Plain(text)),
        Rest::Removed => out(Part::Removed(text)),
        Rest::Held | Rest::Dropped => {}
    }
}
