//! Splits a file into header and body.

use crate::diagnostic::Code;
use crate::format::{Broken, PlaceKind};
use crate::frontmatter::{self, Header, Problem, Reading, Tier};
use crate::source::Origin;

/// Splits a file into header and body as its format does, with readers up to `reach`.
pub(super) fn split_header<'t>(origin: &Origin, text: &'t str, reach: Option<Tier>) -> Reading<'t> {
    let mut reading = match reach {
        Some(tier) if !origin.place.is_raw() && origin.format.top.admits(text) => {
            frontmatter::read(text, tier)
        }
        _ => frontmatter::read_raw(text),
    };
    // A header means nothing in a file that is always on: text between two lines is text.
    let is_always_on = matches!(origin.place.shape, PlaceKind::File { always: true, .. });
    if matches!(reading.header, Header::Broken) && is_always_on {
        reading = frontmatter::read_raw(text);
    }
    match reading.header {
        // The lenient readers find what is wrong with a header that is not read.
        Header::Broken => {
            let lenient = frontmatter::read(text, Tier::Lines).problems;
            let causes: Vec<Problem> = lenient.into_iter().filter(|problem| problem.fix.is_some()).collect();
            if !causes.is_empty() && reach < Some(Tier::Lines) {
                reading.problems = causes;
            }
        }
        // The agent itself writes such values.
        Header::Read { .. } if origin.format.unquoted => {
            reading.problems.retain(|problem| problem.code != Code::UnquotedValue);
        }
        _ => {}
    }
    // A skill that another agent reads as text.
    if origin.display.ends_with("SKILL.md") {
        reading.problems.retain(|problem| problem.code != Code::RawHeader);
    }
    let is_open = |problem: &Problem| problem.code == Code::UnclosedHeader;
    if origin.format.broken == Broken::Swallow && reading.problems.iter().any(is_open) {
        (reading.body, reading.body_start) = ("", text.len());
    }
    reading
}
