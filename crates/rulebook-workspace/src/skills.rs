//! Skills: which of them are offered to agents that do not read them.

use rulebook::format::FormatId;
use rulebook::parse::Entry;

/// The most skills that are offered.
const MAX_OFFERED: usize = 20;

/// Offers the first skills if the settings allow it, and no others.
pub(crate) fn limit(entries: &mut [Entry], are_offered: bool) {
    let skills = entries.iter_mut().filter_map(|entry| match entry {
        Entry::Rule(rule) if rule.origin.format.id == FormatId::Skill => Some(rule),
        _ => None,
    });
    let most = if are_offered { MAX_OFFERED } else { 0 };
    skills.filter(|rule| rule.is_offered).skip(most).for_each(|rule| rule.is_offered = false);
}
