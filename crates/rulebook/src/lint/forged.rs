//! `forged`: the text of a rule contains what Rulebook writes around rules.

use super::page::Page;
use crate::diagnostic::{Code, Diagnostic, report_first};
use crate::render::{OFFERS_LINE, line_ends, looks_like_header};
use crate::stream::policy::own_tags;

pub(super) fn lint(page: &Page<'_>, diagnostics: &mut Vec<Diagnostic>) {
    // Values of the header are delivered too.
    let tags = own_tags(&page.text)
        .map(|at| (at..at + 1, "looks like a tag around a rule; it is escaped on delivery"));
    let mut start = page.body;
    let mut is_after_blank = false;
    let ends = line_ends(&page.text[page.body..]).map(|end| page.body + end).chain([page.text.len()]);
    let lines = ends.filter_map(|end| {
        let line = &page.text[start..end];
        let span = start..start + line.trim_end().len();
        start = end + 1;
        let written = line.trim();
        let is_forged = is_after_blank && looks_like_header(written) || written == OFFERS_LINE;
        is_after_blank = written.is_empty();
        is_forged.then_some((
            span,
            "looks like the first line of another rule; it is indented if that rule is delivered too",
        ))
    });
    let mut found: Vec<_> = tags.chain(lines).collect();
    found.sort_by_key(|(span, _)| span.start);
    let report = |(span, what): (std::ops::Range<usize>, &str)| page.report(Code::Forged, span, what);
    report_first(found.into_iter(), report, diagnostics);
}
