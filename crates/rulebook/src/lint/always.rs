//! `always-glob`: a glob that matches every file.

use super::page::Page;
use crate::diagnostic::{Code, Diagnostic};
use crate::format::Bare;
use crate::glob::Glob;
use crate::rule::Rule;

pub(super) fn lint(page: &Page<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Some(glob) = universal(page.rule) else { return };
    let message = format!("`{glob}` matches every file, so the rule applies to any path");
    let found = page.report_value(Code::AlwaysGlob, glob, message);
    diagnostics.push(match page.rule.origin.format.bare {
        Bare::Always => {
            found.help("name the files that the rule is about; to make it always on, remove the key")
        }
        _ => found,
    });
}

/// Returns the glob that makes a rule apply to every file. A rule that excludes files does not.
fn universal(rule: &Rule) -> Option<&str> {
    let has_paths = rule.conditions.iter().any(|condition| condition.key == "paths");
    let excludes = |glob: &String| glob.starts_with('!');
    if !has_paths || rule.globs.iter().any(excludes) {
        return None;
    }
    let dialect = rule.origin.format.dialect;
    // In some dialects `**` skips hidden files, which few rules are about.
    let is_universal = |glob: &&String| {
        matches!(glob.as_str(), "**" | "**/*")
            // A glob with a letter or digit in it cannot match everything, so it is not parsed.
            || (!glob.contains(|c: char| c.is_alphanumeric())
                && Glob::new(glob, dialect).is_ok_and(|glob| glob.is_universal()))
    };
    rule.globs.iter().find(is_universal).map(String::as_str)
}
