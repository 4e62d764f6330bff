//! Splits a patch, while its text arrives, into the lines it adds to each file.
//!
//! Reads `apply_patch` envelopes and unified diffs. A text is a patch if its first line that is not blank opens one;
//! any other text is passed on as it is, as soon as that is sure.

mod diff;
#[cfg(test)]
mod tests;

use diff::Diff;

/// How long a line may be held. A header that is longer is no header: it is passed on as plain text.
const LINE: usize = 64 << 10;

/// One text, as far as it came. At most two lines of it are kept.
#[derive(Clone, Debug, Default)]
pub struct Patch {
    form: Form,
    rest: Rest,
    /// The line so far, while it is held.
    held: String,
}

/// What the text said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'p> {
    /// What follows belongs to this file, by its new name: as written, without the `a/` and `b/` of a diff.
    File(&'p str),
    /// Text of added lines, whole or in part, behind all earlier of the file; without their `+` and with their line
    /// breaks.
    Added(&'p str),
    /// Text in no patch, behind all earlier: all of another text, blanks before a patch, what stands behind its end.
    Plain(&'p str),
}

impl Patch {
    /// Starts before the first character.
    pub fn new() -> Patch {
        Patch::default()
    }

    /// Reads more text.
    pub fn feed(&mut self, text: &str, out: &mut impl FnMut(Part<'_>)) {
        let mut rest = text;
        while !rest.is_empty() {
            if matches!(self.form, Form::Plain) {
                return Rest::Plain.pass(rest, out);
            }
            let (part, after) = rest.split_at(rest.find('\n').map_or(rest.len(), |at| at + 1));
            self.read(part, out);
            rest = after;
        }
    }

    /// Ends the text. One that has not opened a patch by now is none.
    pub fn finish(&mut self, out: &mut impl FnMut(Part<'_>)) {
        if self.rest == Rest::Held && !self.held.is_empty() {
            self.judge(Line::Ended, out);
        }
        if let Form::Unknown { first } = &self.form {
            Rest::Plain.pass(first, out);
            self.form = Form::Plain;
        }
        // What still waits to open a patch will not.
        Rest::Plain.pass(&self.held, out);
        self.let_go();
        self.rest = Rest::Held;
    }

    /// Whether the text so far is a patch. `None` is not no: its first line could still open one.
    pub fn is_patch(&self) -> Option<bool> {
        match self.form {
            Form::Unknown { .. } => None,
            Form::Plain => Some(false),
            Form::Envelope | Form::After | Form::Diff(_) => Some(true),
        }
    }

    /// Reads a line or a part of one.
    fn read(&mut self, part: &str, out: &mut impl FnMut(Part<'_>)) {
        if self.rest != Rest::Held {
            self.rest.pass(part, out);
        } else {
            let is_start = self.held.is_empty() && self.form.is_untouched();
            // Blanks may be many, so they are not held.
            let text = if is_start { part.trim_start() } else { part };
            Rest::Plain.pass(part.strip_suffix(text).unwrap_or_default(), out);
            self.held.push_str(text);
            if !self.held.is_empty() {
                self.judge(if part.ends_with('\n') { Line::Ended } else { Line::Open }, out);
            }
        }
        if part.ends_with('\n') {
            self.rest = Rest::Held;
        }
    }

    /// Decides about the held line, as far as it came.
    fn judge(&mut self, line: Line, out: &mut impl FnMut(Part<'_>)) {
        let verdict = match &mut self.form {
            Form::Unknown { first } if first.is_empty() => opening(&self.held),
            Form::Unknown { first } => match begins(&self.held, "+++ ") {
                Some(true) => Verdict::Turn(Form::Diff(Diff::after(first))),
                Some(false) => Verdict::Wait,
                None => Verdict::Turn(Form::Plain),
            },
            Form::Plain => Verdict::Rest(Rest::Plain),
            Form::Envelope => envelope(&self.held, line),
            Form::After => after(&self.held),
            Form::Diff(diff) => diff.judge(&self.held, line),
        };
        self.carry_out(verdict, line, out);
    }

    fn carry_out(&mut self, verdict: Verdict, line: Line, out: &mut impl FnMut(Part<'_>)) {
        let is_long = self.held.trim_end_matches('\n').len() > LINE;
        match verdict {
            Verdict::Wait | Verdict::Header | Verdict::Pair if is_long => self.give_up(out),
            Verdict::Pair if line == Line::Ended => {
                self.form = Form::Unknown { first: std::mem::take(&mut self.held) };
            }
            Verdict::Header if line == Line::Ended => {
                let held = std::mem::take(&mut self.held);
                self.header(held.trim_end(), out);
            }
            Verdict::Wait | Verdict::Header | Verdict::Pair => {}
            Verdict::Turn(Form::Plain) => self.give_up(out),
            Verdict::Turn(form) => {
                self.form = form;
                self.judge(line, out);
            }
            Verdict::Rest(rest) => {
                let text = if rest == Rest::Added { self.held.get(1..) } else { Some(self.held.as_str()) };
                rest.pass(text.unwrap_or_default(), out);
                self.rest = rest;
                self.let_go();
            }
        }
    }

    /// Takes what is held for plain text, and all that follows too if nothing opened a patch.
    fn give_up(&mut self, out: &mut impl FnMut(Part<'_>)) {
        if let Form::Unknown { first } = &self.form {
            Rest::Plain.pass(first, out);
            self.form = Form::Plain;
        }
        self.rest = Rest::Plain;
        Rest::Plain.pass(&self.held, out);
        self.let_go();
    }

    /// Forgets the held line, with the room that a long one took.
    fn let_go(&mut self) {
        self.held.clear();
        self.held.shrink_to(LINE);
    }

    fn header(&mut self, line: &str, out: &mut impl FnMut(Part<'_>)) {
        if let Form::Diff(diff) = &mut self.form {
            if let Some(path) = diff.header(line) {
                out(Part::File(&path));
            }
        } else if line == END {
            self.form = Form::After;
        } else if let Some(path) = FILES.iter().find_map(|header| line.strip_prefix(header)) {
            out(Part::File(path.trim()));
        }
    }
}

/// What the text is, as far as its first lines said.
#[derive(Clone, Debug)]
enum Form {
    /// Nobody knows yet. `first` is a `--- ` line, which opens a diff if a `+++ ` line follows.
    Unknown {
        first: String,
    },
    Plain,
    /// Between `*** Begin Patch` and `*** End Patch`.
    Envelope,
    /// Behind `*** End Patch`.
    After,
    Diff(Diff),
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

/// What becomes of the rest of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Rest {
    #[default]
    Held,
    Added,
    Plain,
    Dropped,
}

impl Rest {
    fn pass(self, text: &str, out: &mut impl FnMut(Part<'_>)) {
        if text.is_empty() {
            return;
        }
        match self {
            Rest::Added => out(Part::Added(text)),
            Rest::Plain => out(Part::Plain(text)),
            Rest::Held | Rest::Dropped => {}
        }
    }
}

/// Whether the held line is whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    Open,
    Ended,
}

/// What to do with a held line.
#[derive(Clone, Debug)]
enum Verdict {
    /// Too short to tell.
    Wait,
    /// Hold it to its end, then read it.
    Header,
    /// Hold it and look at the next one.
    Pair,
    /// The text is of this form; look again.
    Turn(Form),
    Rest(Rest),
}

const END: &str = "*** End Patch";
const FILES: &[&str] = &["*** Add File:", "*** Update File:", "*** Delete File:", "*** Move to:"];

/// What opens a patch, and which.
const OPENINGS: &[(&str, Verdict)] = &[
    ("*** Begin Patch\n", Verdict::Turn(Form::Envelope)),
    ("*** Begin Patch\r", Verdict::Turn(Form::Envelope)),
    ("*** Begin Patch ", Verdict::Turn(Form::Envelope)),
    ("*** Add File: ", Verdict::Turn(Form::Envelope)),
    ("*** Update File: ", Verdict::Turn(Form::Envelope)),
    ("*** Delete File: ", Verdict::Turn(Form::Envelope)),
    ("diff --git ", Verdict::Turn(Form::Diff(Diff::NEW))),
    ("@@ ", Verdict::Turn(Form::Diff(Diff::NEW))),
    ("@@\n", Verdict::Turn(Form::Diff(Diff::NEW))),
    ("@@\r", Verdict::Turn(Form::Diff(Diff::NEW))),
    ("--- ", Verdict::Pair),
];

fn opening(held: &str) -> Verdict {
    let known = OPENINGS.iter().find_map(|(text, verdict)| Some((begins(held, text)?, verdict)));
    match known {
        Some((true, verdict)) => verdict.clone(),
        Some((false, _)) => Verdict::Wait,
        None => Verdict::Turn(Form::Plain),
    }
}

fn envelope(held: &str, line: Line) -> Verdict {
    if held.starts_with('+') {
        return Verdict::Rest(Rest::Added);
    }
    match begins(held, "*** ") {
        Some(true) => Verdict::Header,
        Some(false) if line == Line::Open => Verdict::Wait,
        _ => Verdict::Rest(Rest::Dropped),
    }
}

fn after(held: &str) -> Verdict {
    match opening(held) {
        Verdict::Turn(Form::Plain) | Verdict::Pair => Verdict::Rest(Rest::Plain),
        verdict => verdict,
    }
}

/// Whether `held` begins with `text`; `Some(false)` if it is too short to tell, and `None` if it never will.
fn begins(held: &str, text: &str) -> Option<bool> {
    let is_whole = held.starts_with(text);
    (is_whole || text.starts_with(held)).then_some(is_whole)
}
