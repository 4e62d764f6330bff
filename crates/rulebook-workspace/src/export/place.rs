//! Places: paths for copies that no other file has.

use std::collections::HashMap;
use std::io;

use rulebook::export::{Target, are_copies, is_marked};

use super::files::Files;
use super::pending::{GroupDrafts, Original};
use crate::recorded::INDEX;

/// The paths of copies, each with its root and without letter case, and the file of its rule.
pub(super) type Taken<'r> = HashMap<(usize, String), &'r str>;

/// The first of the paths of whole files that another file has.
pub(super) fn taken_path(
    original: &Original<'_>,
    drafts: &GroupDrafts,
    taken: &Taken<'_>,
    files: &mut Files<'_>,
) -> io::Result<Option<String>> {
    let origin = &original.meant.rule.origin;
    for draft in drafts.iter().flatten() {
        let key = (origin.root, draft.path.to_lowercase());
        if taken.get(&key).is_some_and(|other| *other != origin.path) {
            return Ok(Some(draft.path.clone()));
        }
        if files.record(origin.root, &draft.path, &original.path).is_some() {
            continue;
        }
        let is_ours = |text: &String| {
            *text == draft.text || is_marked(text, &original.path) || are_copies(text, &draft.text)
        };
        let (there, _) = files.get(origin.root, &draft.path)?;
        let (is_other, is_new) = (there.as_ref().is_some_and(|text| !is_ours(text)), there.is_none());
        let is_clash = is_new && files.has_other_case(origin.root, &draft.path)?;
        if is_other || is_clash || files.is_recorded(origin.root, &draft.path) {
            return Ok(Some(draft.path.clone()));
        }
    }
    Ok(None)
}

/// The path of the index, which no copy has and no file that is not an index.
pub(super) fn index_path(
    target: &Target,
    planned: &[(usize, String, String, &'static str)],
    files: &mut Files<'_>,
) -> io::Result<String> {
    const NAME: &str = "rulebook-index";
    let paths = (1..).map(|number| match number {
        1 => target.path("", NAME),
        _ => target.path("", &format!("{NAME}-{number}")),
    });
    for path in paths {
        let is_copy = planned.iter().any(|(root, other, source, _)| {
            (*root, source.is_empty()) == (0, false) && other.eq_ignore_ascii_case(&path)
        });
        if !target.is_block() && is_copy {
            continue;
        }
        let is_recorded = target.is_block() || files.record(0, &path, "").is_some();
        let (there, _) = files.get(0, &path)?;
        if is_recorded || there.as_ref().is_none_or(|text| is_marked(text, INDEX)) {
            return Ok(path);
        }
    }
    unreachable!("the numbers do not end")
}
