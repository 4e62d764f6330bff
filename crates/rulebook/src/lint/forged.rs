//! `forged`: what is written around rules, written inside one. It means nothing where it is delivered, and is told.

use super::{Page, Told};
use crate::diagnostic::{Code, tell_first};
use crate::render::{OFFERS_LINE, looks_like_header};
use crate::stream::policy::own_tags;

pub(super) fn lint(page: &Page<'_>, told: &mut Told) {
    let body = &page.text[page.body..];
    let tags = own_tags(body).map(|at| (at..at + 1, "looks like the tag around a rule"));
    let mut end = 0;
    let mut is_after_blank = false;
    let lines = body.split_inclusive('\n').filter_map(|line| {
        end += line.len();
        let start = end - line.len();
        let written = line.trim();
        let is_forged = is_after_blank && looks_like_header(written) || written == OFFERS_LINE;
        is_after_blank = written.is_empty();
        is_forged.then_some((start..start + line.trim_end().len(), "looks like the line above another rule"))
    });
    let mut found: Vec<_> = tags.chain(lines).collect();
    found.sort_by_key(|(span, _)| span.start);
    let tell = |(span, what): (std::ops::Range<usize>, &str)| {
        let message = format!("{what}, and is written so that it is none");
        page.tell(Code::Forged, page.body + span.start..page.body + span.end, message)
    };
    tell_first(found.into_iter(), tell, told);
}
