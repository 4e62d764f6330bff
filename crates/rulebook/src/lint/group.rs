//! Groups: diagnostics that say the same of different files or values.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::diagnostic::{Code, Diagnostic, Severity};

/// Diagnostics that differ only in what they quote.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Group<'d> {
    /// At least one, sorted by file and position.
    pub diagnostics: Vec<&'d Diagnostic>,
}

impl Group<'_> {
    /// Returns the code of all of them.
    pub fn code(&self) -> Code {
        self.diagnostics[0].code
    }

    /// Returns the severity of all of them.
    pub fn severity(&self) -> Severity {
        self.diagnostics[0].severity
    }

    /// Returns their message, if it is the same.
    pub fn message(&self) -> Option<&str> {
        common(self.diagnostics.iter().map(|found| found.message.as_str()))
    }

    /// Returns their message without what differs.
    pub fn shape(&self) -> String {
        self.message().map_or_else(|| shape(&self.diagnostics[0].message), str::to_owned)
    }

    /// Returns what to do about most of them, and about how many: the help of at least half of them, or that of the code.
    pub fn help(&self) -> (&str, usize) {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        self.diagnostics.iter().for_each(|found| *counts.entry(&found.help).or_default() += 1);
        let all = self.diagnostics.len();
        let most = counts.into_iter().max_by_key(|(_, count)| *count).filter(|(_, count)| count * 2 >= all);
        most.unwrap_or((self.code().row().remedy, all))
    }
}

/// Groups diagnostics. Worse groups come first, then larger ones.
pub fn group(diagnostics: &[Diagnostic]) -> Vec<Group<'_>> {
    let mut groups: BTreeMap<(Severity, Code, String), Vec<&Diagnostic>> = BTreeMap::new();
    for found in diagnostics {
        groups.entry((found.severity, found.code, shape(&found.message))).or_default().push(found);
    }
    let mut groups: Vec<Group<'_>> = groups.into_values().map(|diagnostics| Group { diagnostics }).collect();
    groups.iter_mut().for_each(|group| group.diagnostics.sort());
    groups.sort_by_key(|group| (group.severity(), Reverse(group.diagnostics.len())));
    groups
}

/// Returns a message without what it quotes and counts: "no file in the tree matches `…`".
fn shape(message: &str) -> String {
    let mut shape = String::new();
    for (at, part) in message.split('`').enumerate() {
        match part {
            // One value or several of them.
            _ if at % 2 == 1 && shape.ends_with("`…`") => {}
            _ if at % 2 == 1 => shape.push_str("`…`"),
            ", " | " or " => {}
            part => shape.push_str(part),
        }
    }
    let shape = shape
        .strip_suffix(" more below")
        .and_then(|rest| rest.rsplit_once("; "))
        .map_or(&*shape, |(rest, _)| rest);
    let shape =
        shape.strip_suffix(" more").and_then(|rest| rest.rsplit_once(" or ")).map_or(shape, |(rest, _)| rest);
    let mut counted = String::new();
    for c in shape.chars() {
        match c.is_ascii_digit() {
            true if counted.ends_with('…') => {}
            true => counted.push('…'),
            false => counted.push(c),
        }
    }
    counted
}

fn common<'t>(mut texts: impl Iterator<Item = &'t str>) -> Option<&'t str> {
    let first = texts.next()?;
    texts.all(|text| text == first).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_that_differ_in_what_they_quote_are_one_group() {
        let found = |code, path: &str, message: &str| Diagnostic::whole(code, path, message);
        let all = [
            found(Code::DeadGlob, "b", "no file in the tree matches `a`"),
            found(Code::OverLimit, "a", "has 3 lines, not 20"),
            found(Code::DeadGlob, "a", "no file in the tree matches `b`, `c` or 3 more"),
            found(Code::DeadGlob, "c", "no file in the tree matches `d`; 4 more below"),
            found(Code::OverLimit, "b", "has 4 lines, not 10"),
            found(Code::NotUtf8, "d", "is not UTF-8"),
        ];
        let groups = group(&all);
        let shown: Vec<(Code, usize)> =
            groups.iter().map(|group| (group.code(), group.diagnostics.len())).collect();
        assert_eq!(shown, [(Code::NotUtf8, 1), (Code::DeadGlob, 3), (Code::OverLimit, 2)]);
        assert_eq!(groups[0].message(), Some("is not UTF-8"));
        assert_eq!(groups[1].message(), None);
        assert_eq!(groups[1].shape(), "no file in the tree matches `…`");
        assert_eq!(groups[1].diagnostics[0].path, "a");
        assert_eq!(groups[2].shape(), "has … lines, not …");
    }
}
