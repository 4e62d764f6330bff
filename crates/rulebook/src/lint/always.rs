//! `always-glob`: a glob that matches every file.

use super::{Page, Told};
use crate::diagnostic::Code;
use crate::format::Bare;
use crate::glob::Glob;
use crate::rule::Rule;

pub(super) fn lint(page: &Page<'_>, told: &mut Told) {
    let Some(glob) = universal(page.rule) else { return };
    let message = format!("`{glob}` matches every file, so the rule is on with any path at all");
    let found = page.report_value(Code::AlwaysGlob, glob, message);
    told.push(match page.rule.origin.format.bare {
        Bare::Always => {
            found.help("name the files the rule is about; if it is always meant, leave the key out")
        }
        _ => found,
    });
}

/// The glob that makes a rule's paths mean every file: where one excludes some, the others narrow it.
fn universal(rule: &Rule) -> Option<&str> {
    let has_paths = rule.conditions.iter().any(|condition| condition.key == "paths");
    let excludes = |glob: &String| glob.starts_with('!');
    if !has_paths || rule.globs.iter().any(excludes) {
        return None;
    }
    let dialect = rule.origin.format.dialect;
    // In some dialects these leave hidden files alone, which few rules are about.
    let is_universal = |glob: &&String| {
        matches!(glob.as_str(), "**" | "**/*")
            // What names something is not for everything, and need not be read again.
            || (!glob.contains(|c: char| c.is_alphanumeric())
                && Glob::new(glob, dialect).is_ok_and(|glob| glob.is_universal()))
    };
    rule.globs.iter().find(is_universal).map(String::as_str)
}
