//! Removes our entries from a JSON file.

use jsonc_parser::ast::Value;
use jsonc_parser::common::Ranged as _;
use jsonc_parser::tokens::Token;
use rulebook_workspace::wiring::SERVER;
use serde_json::Value as Json;

use super::document::{Document, Edit, is_container, is_listed, items, member, own_lines};
use super::server::ServerEntry;
use crate::surface::install::program::Program;

/// Collects the edits that remove our entries; returns whether we created the whole document.
pub(super) fn strip(document: &Document<'_>, patch: &Json, program: &Program, edits: &mut Vec<Edit>) -> bool {
    let is_compact = document.is_compact();
    let is_emptied = Strip { document, program, is_compact }.strip(&document.root, patch, edits);
    is_emptied && !is_compact
}

struct Strip<'a, 't> {
    document: &'a Document<'t>,
    program: &'a Program,
    /// Whether the layout does not show which containers we created: then those that become empty are removed.
    is_compact: bool,
}

impl Strip<'_, '_> {
    /// Returns whether we created the whole value, so that it is removed with its items.
    fn strip(&self, value: &Value<'_>, patch: &Json, edits: &mut Vec<Edit>) -> bool {
        // Lists of events that are not in the patch may contain our entries too: an older version wrote them.
        let is_handlers = |part: &&Json| part.get(0).is_some_and(Json::is_object);
        let other = patch.as_object().and_then(|parts| parts.values().find(is_handlers));
        let mut removed: Vec<bool> = Vec::new();
        for item in items(value) {
            let mut below = Vec::new();
            let is_removed = match item.key {
                None => is_listed(item.value, patch) || self.strip_handlers(item.value, &mut below),
                Some(key) => match patch.get(key).or(other) {
                    Some(_) if key == SERVER => {
                        ServerEntry::of(item.value).is_some_and(|server| server.is_plain())
                    }
                    Some(part) if is_container(part) => self.strip(item.value, part, &mut below),
                    Some(_) => removed.last().is_some_and(|before| *before),
                    None => false,
                },
            };
            if !is_removed {
                edits.append(&mut below);
            }
            removed.push(is_removed);
        }
        self.cut(value, &removed, edits);
        let inside = value.range().start + 1;
        let is_spaced = self.document.token_after(inside).is_some_and(|first| first.range.start > inside);
        !removed.is_empty()
            && removed.iter().all(|removed| *removed)
            && (is_spaced || self.is_compact)
            && !self.document.has_comment(value)
    }

    /// Removes our handlers from one element; returns whether it has no others.
    fn strip_handlers(&self, element: &Value<'_>, edits: &mut Vec<Edit>) -> bool {
        let is_ours = |value: &Value<'_>| !own_lines(value, self.program).is_empty();
        let group = element.as_object().and_then(|element| member(element, "hooks"));
        let Some(group) = group.filter(|group| group.as_array().is_some()) else { return is_ours(element) };
        let removed: Vec<bool> = items(group).iter().map(|item| is_ours(item.value)).collect();
        self.cut(group, &removed, edits);
        !removed.is_empty() && removed.iter().all(|removed| *removed)
    }

    /// Cuts items with the white space before them and one comma each: the one after, or, if no item follows and the list
    /// has no trailing comma, the one before.
    fn cut(&self, value: &Value<'_>, removed: &[bool], edits: &mut Vec<Edit>) {
        let items = items(value);
        let comma_after = |at: usize| items.get(at).and_then(|item| self.document.comma_after(item.end()));
        let ends_in_comma = items.len().checked_sub(1).and_then(comma_after).is_some();
        let last_kept = removed.iter().rposition(|removed| !removed);
        // Where the text continues after a run of removed items.
        let mut after = 0;
        for (at, item) in items.iter().enumerate().rev().filter(|(at, _)| removed[*at]) {
            let follows = ends_in_comma || last_kept.is_some_and(|kept| kept > at);
            let comma = if follows { comma_after(at) } else { at.checked_sub(1).and_then(comma_after) };
            if removed.get(at + 1) != Some(&true) {
                after = item.end() + usize::from(follows && comma == Some(item.end()));
            }
            edits.push((self.start_of_space(item.start, after)..item.end(), String::new()));
            edits.extend(comma.map(|comma| (comma..comma + 1, String::new())));
        }
    }

    /// Returns the start of the white space before an item. A line comment keeps its line end.
    fn start_of_space(&self, start: usize, after: usize) -> usize {
        let Some(before) = self.document.token_before(start) else { return start };
        let rest = self.document.text[after..].trim_start_matches([' ', '\t']);
        let is_needed = matches!(before.token, Token::CommentLine(_)) && !rest.starts_with(['\r', '\n']);
        if is_needed { start } else { before.range.end }
    }
}
