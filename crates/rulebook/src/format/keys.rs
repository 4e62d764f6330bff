//! The keys of headers: which ones each format knows, and which agent the others belong to.

use super::id::FormatId;
use super::row::{Format, Keys};
use crate::condition;

/// Keys that every format understands.
const COMMON: &[&str] = &["alwaysApply", "description", "enabled", "examples", "id", "tags"];

/// The key for the order, in formats that have one.
const PRIORITY: &[&str] = &["priority"];

/// The agents' keys for the paths of a rule.
pub(crate) const PATHS: &[&str] = &["paths", "globs", "applyTo", "fileMatchPattern", "patterns"];

/// The agents' keys for the activation of a rule, besides `alwaysApply`.
pub(crate) const ACTIVATION: &[&str] = &["always", "apply", "inclusion", "trigger", "type"];

/// Keys that people invent for the paths of a rule.
pub(crate) const INVENTED: &[&str] =
    &["file_patterns", "filePatterns", "files", "glob", "include", "includes", "path", "pattern"];

/// Keys that people invent for the paths of a rule, and for other things too: their values tell.
pub(crate) const AMBIGUOUS: &[&str] = &["applies_to", "appliesTo", "scope", "scopes"];

/// Keys for the regular expressions of a stream trigger; the first one present counts.
pub(crate) const TRIGGERS: &[&str] = &["condition", "ttsr_trigger", "ttsrTrigger"];

/// Keys of native rules alone.
const NATIVE: &[&str] = &["ast", "forbids", "on-unknown", "repeat", "requires"];

const STREAM: &[&str] = &["scope", "interruptMode", "repeatMode", "repeatGap", "contextMode"];

/// Keys of other agents, and whose they are.
const FOREIGN: &[(&str, &str)] = &[
    ("always", "no agent's"),
    ("apply", "JetBrains AI Assistant's"),
    ("applyTo", "Copilot's"),
    ("excludeAgent", "Copilot's"),
    ("fileMatchPattern", "Kiro's"),
    ("globs", "Cursor's"),
    ("inclusion", "Kiro's"),
    ("invokable", "Continue's"),
    ("paths", "Claude Code's and Cline's"),
    ("patterns", "JetBrains AI Assistant's"),
    ("regex", "Continue's"),
    ("trigger", "Windsurf's"),
    ("triggers", "OpenHands'"),
    ("type", "Augment's"),
];

/// Returns the canonical key, if the format knows the key.
pub(crate) fn canonical(format: &Format, key: &str) -> Option<&'static str> {
    // Two keys for paths stay separate: their order does not decide which one counts.
    if let Some((_, known)) = format.aliases.iter().find(|(own, _)| *own == key && !PATHS.contains(own)) {
        return Some(known);
    }
    known(format).find(|known| *known == key).or_else(|| {
        // These agents treat `always-apply` and `always_apply` the same.
        let plain = |text: &str| text.replace(['-', '_'], "").to_lowercase();
        (format.keys == Keys::All && key.contains(['-', '_']))
            .then(|| known(format).find(|known| plain(known) == plain(key)))
            .flatten()
    })
}

/// Returns every key that the format knows, in a stable order.
pub(crate) fn known(format: &Format) -> impl Iterator<Item = &'static str> {
    let groups: &[&[&'static str]] = match &format.keys {
        Keys::All | Keys::Conditions => &[COMMON, PRIORITY, PATHS, TRIGGERS, STREAM],
        Keys::Paths => &[COMMON, PATHS, TRIGGERS, STREAM],
        Keys::Plain => &[COMMON, PATHS],
        Keys::Strict => &[COMMON, PRIORITY, &["globs"]],
        Keys::Own(keys) => std::slice::from_ref(keys),
    };
    let conditions = matches!(format.keys, Keys::All | Keys::Conditions);
    groups
        .iter()
        .flat_map(|group| group.iter().copied())
        .chain(format.modes.map(|modes| modes.key))
        .chain(format.aliases.iter().map(|(own, _)| *own))
        .chain(format.inert.iter().copied())
        .chain(conditions.then_some("match"))
        .chain(NATIVE.iter().copied().filter(|_| format.id == FormatId::Rulebook))
        .chain(condition::all().filter(move |_| conditions).map(|kind| kind.key))
}

impl Format {
    /// Returns every key its headers may have, sorted.
    pub fn known_keys(&self) -> Vec<&'static str> {
        let mut known: Vec<&str> = known(self).collect();
        known.sort_unstable();
        known.dedup();
        known
    }
}

/// Returns whose key it is, if it belongs to another agent.
pub(crate) fn owner(key: &str) -> Option<&'static str> {
    FOREIGN.iter().find(|(foreign, _)| *foreign == key).map(|(_, owner)| *owner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_spellings_are_accepted_where_the_agent_accepts_them() {
        #[track_caller]
        fn check(format: &str, key: &str, known: Option<&str>) {
            assert_eq!(canonical(Format::named(format).unwrap(), key), known, "{format} {key}");
        }
        check("xcsh", "always-apply", Some("alwaysApply"));
        check("omp", "interrupt_mode", Some("interruptMode"));
        check("cursor", "always-apply", None);
        check("cursor", "mode", None);
        check("cline", "mode", Some("mode"));
        check("windsurf", "trigger", Some("trigger"));
        check("cursor", "trigger", None);
        check("opencode", "globs", Some("globs"));
        check("opencode", "paths", None);
        check("opencode", "condition", None);
    }

    #[test]
    fn the_table_of_other_agents_keys_is_sorted() {
        assert!(FOREIGN.is_sorted_by(|a, b| a.0 < b.0));
    }
}
