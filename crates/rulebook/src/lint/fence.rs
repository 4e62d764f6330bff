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
    // Blocks in blocks, as people write them: a fence with a language opens another one.
    let mut nested: Vec<(char, usize)> = Vec::new();
    let mut at = page.body;
    for line in page.text[page.body..].split_inclusive('\n') {
        let start = at;
        at += line.len();
        let trimmed = line.trim_start_matches([' ', '\t', '>']);
        let indent = line.len() - trimmed.len();
        let Some(mark) = trimmed.chars().next().filter(|mark| matches!(mark, '`' | '~')) else { continue };
        let len = trimmed.chars().take_while(|c| *c == mark).count();
        // A tag after the marks is not a language: ```` ```</example> ````.
        let info = trimmed[len..].trim();
        let info = if info.starts_with('<') { "" } else { info };
        if len < 3 || info.contains('`') {
            continue;
        }
        match &open {
            Some(fence) if fence.mark == mark && len >= fence.len && info.is_empty() => open = None,
            Some(_) => {}
            None => open = Some(Open { start: start + indent, mark, len, indent }),
        }
        match nested.last() {
            Some((known, longest)) if *known == mark && len >= *longest && info.is_empty() => {
                nested.pop();
            }
            _ => nested.push((mark, len)),
        }
    }
    let Some(fence) = open.filter(|_| !nested.is_empty()) else { return };
    let marks = fence.mark.to_string().repeat(fence.len);
    let end = page.text.trim_end().len();
    let span = fence.start..fence.start + fence.len;
    let mut found = page.report(Code::UnclosedFence, span, "this code block is never closed");
    if page.is_whole() && fence.indent == 0 {
        let line_break = if page.text.contains("\r\n") { "\r\n" } else { "\n" };
        found.fix = Some(Fix::new(end..end, format!("{line_break}{marks}")));
    }
    diagnostics.push(found);
}
