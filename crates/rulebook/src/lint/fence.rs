//! `unclosed-fence`: a code block that is never closed. Rules that follow it in a prompt become part of the code.

use super::page::Page;
use crate::diagnostic::{Code, Diagnostic, Fix};

/// An opening fence.
struct Open {
    start: usize,
    mark: char,
    len: usize,
    indent: usize,
}

pub(super) fn lint(page: &Page<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let mut open: Option<Open> = None;
    let mut nested = Nested::default();
    let mut at = page.body;
    for line in page.text[page.body..].split_inclusive('\n') {
        let start = at;
        at += line.len();
        nested.add(line);
        let Some(Fence { indent, mark, len, has_info }) = fence(line) else { continue };
        match &open {
            Some(fence) if fence.mark == mark && len >= fence.len && !has_info => open = None,
            Some(_) => {}
            None => open = Some(Open { start: start + indent, mark, len, indent }),
        }
    }
    let Some(fence) = open.filter(|_| nested.is_inside()) else { return };
    let marks = fence.mark.to_string().repeat(fence.len);
    let end = page.text.trim_end().len();
    let span = fence.start..fence.start + fence.len;
    // The last line of the file opens nothing.
    if page.text[span.end..].trim().is_empty() {
        let line_start = page.text[..fence.start].rfind('\n').map_or(0, |at| at + 1);
        let mut found =
            page.report(Code::UnclosedFence, span, "this fence opens a code block with nothing in it");
        found.help = "remove this line".to_owned();
        found.fix = page.is_whole().then(|| Fix::new(line_start..page.text.len(), ""));
        diagnostics.push(found);
        return;
    }
    let mut found = page.report(Code::UnclosedFence, span, "this code block is never closed");
    if page.is_whole() && fence.indent == 0 {
        let line_break = if page.text.contains("\r\n") { "\r\n" } else { "\n" };
        found.fix = Some(Fix::new(end..end, format!("{line_break}{marks}")));
    }
    diagnostics.push(found);
}

/// Blocks in blocks, as people write them: a fence with a language opens another block.
#[derive(Default)]
pub(super) struct Nested(Vec<(char, usize)>);

impl Nested {
    /// Reads the next line.
    pub(super) fn add(&mut self, line: &str) {
        let Some(Fence { mark, len, has_info, .. }) = fence(line) else { return };
        match self.0.last() {
            Some((open, longest)) if *open == mark && len >= *longest && !has_info => {
                self.0.pop();
            }
            _ => self.0.push((mark, len)),
        }
    }

    /// Whether the next line is code.
    pub(super) fn is_inside(&self) -> bool {
        !self.0.is_empty()
    }
}

/// A line of marks that opens or closes a block.
struct Fence {
    indent: usize,
    mark: char,
    len: usize,
    has_info: bool,
}

fn fence(line: &str) -> Option<Fence> {
    let trimmed = line.trim_start_matches([' ', '\t', '>']);
    let mark = trimmed.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let len = trimmed.chars().take_while(|c| *c == mark).count();
    let info = trimmed[len..].trim();
    // A tag after the marks is not a language: ```` ```</example> ````.
    let has_info = !info.is_empty() && !info.starts_with('<');
    (len >= 3 && !info.contains('`')).then_some(Fence {
        indent: line.len() - trimmed.len(),
        mark,
        len,
        has_info,
    })
}
