//! What the standard requires of the header of a skill.

use super::fields::Fields;
use super::reader::Reader;
use crate::diagnostic::{Code, shown};
use crate::markdown::has_words;

/// The longest description, in characters.
const MAX_DESCRIPTION: usize = 1_024;

/// Reports a missing or overlong description, and a name that is not that of the folder.
pub(super) fn report_skill(reader: &mut Reader<'_>, header: &Fields, description: Option<&str>) {
    let count = description.map_or(0, |description| description.chars().count());
    match header.find("description").map(|field| field.node.span.clone()) {
        Some(span) if count > MAX_DESCRIPTION => {
            let message =
                format!("the description has {count} characters; at most {MAX_DESCRIPTION} are allowed");
            reader.report(Code::SkillDescription, span, message);
        }
        // An empty file is one problem.
        _ if count > 0 || !has_words(reader.text) => {}
        span => {
            let message = "this skill has no description, so agents do not know when to use it";
            reader.report(Code::SkillDescription, span.unwrap_or(0..0), message);
        }
    }
    if let Some((name, folder)) = other_name(reader, header) {
        let span = header.find("name").map_or(0..0, |field| field.node.span.clone());
        let message = format!("the name is `{}`, and the folder is `{}`", shown(&name), shown(&folder));
        reader.report(Code::SkillName, span, message);
    }
}

/// Whether the agent does not list the skill because of its name.
pub(super) fn is_unlisted(reader: &mut Reader<'_>, header: &Fields) -> bool {
    reader.format().needs_folder_name && other_name(reader, header).is_some()
}

/// Returns the name of a skill and that of its folder, if they differ.
fn other_name(reader: &mut Reader<'_>, header: &Fields) -> Option<(String, String)> {
    let folder = reader.origin.inner.split('/').next().unwrap_or_default().to_owned();
    let name = header.text("name", reader).filter(|name| *name != folder)?;
    Some((name, folder))
}
