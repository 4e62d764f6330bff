//! Sharing: agents that read a file alike share one reading of it.

use super::build::position;
use super::{Entry, Parsed};
use crate::format::Format;
use crate::source::Origin;

impl Parsed {
    /// The same reading for another origin of the same file, if its format reads the file alike.
    pub fn reread(&self, origin: &Origin) -> Option<Parsed> {
        let own = self.entry.origin();
        let is_same_file = (own.scope, own.root, &own.path, &own.display, &own.folder, &own.inner)
            == (origin.scope, origin.root, &origin.path, &origin.display, &origin.folder, &origin.inner);
        if !is_same_file || own.place != origin.place || own.format.reading() != origin.format.reading() {
            return None;
        }
        let mut shared = self.clone();
        match &mut shared.entry {
            Entry::Rule(rule) => {
                rule.position = position(origin);
                rule.origin = origin.clone();
            }
            Entry::Rejected(rejected) => rejected.origin = origin.clone(),
        }
        Some(shared)
    }
}

impl Format {
    /// Everything that the result of parsing depends on. Where files are found is not part of it.
    fn reading(&self) -> impl PartialEq {
        // Without `..`, so that a new field is not forgotten here.
        let Format {
            id,
            order: _,
            agent,
            workspace: _,
            user: _,
            configs: _,
            since: _,
            off_words,
            climbs: _,
            user_first: _,
            priority,
            tier,
            broken,
            bare,
            not_always,
            everything,
            repeats,
            ids,
            plain_folders,
            same_id: _,
            paths_key,
            lists,
            keys,
            modes,
            aliases,
            inert,
            sets,
            excludes,
            agent_ignores,
            unquoted,
            offers_scoped,
            dialect,
            rival,
            exclusions,
            top,
            strips_comments,
            scoped,
            from_root,
            unless: _,
            needs_folder_name,
            imports: _,
            largest: _,
            rules_import: _,
            limit,
            advised,
            confidence: _,
            knowledge: _,
        } = *self;
        let keys = (paths_key, lists, keys, modes, aliases, inert, sets, excludes, agent_ignores, unquoted);
        let activation = (bare, not_always, everything, off_words, needs_folder_name, offers_scoped);
        let header = (tier, broken, repeats, top, strips_comments, (dialect, rival, exclusions));
        (
            (id, agent, priority, (scoped, from_root), (ids, plain_folders), limit, advised),
            header,
            activation,
            keys,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::Agent;
    use crate::format::{FormatId, PlaceKind};
    use crate::parse::parse;
    use crate::source::Source;

    #[test]
    fn agents_that_read_alike_share_a_reading() {
        #[track_caller]
        fn check(one: &str, other: &str, format: FormatId, is_shared: bool) {
            let [one, other] = [one, other].map(|name| {
                let agent = Agent::named(name).unwrap();
                let format = agent.formats.iter().find(|own| own.id == format).unwrap();
                let mut places = format.workspace.iter();
                let place = places.find(|place| matches!(place.shape, PlaceKind::Folder { .. }));
                Origin::new(format, place.unwrap_or(&format.workspace[0]), "a.md")
            });
            let parsed = parse(Source { origin: one, text: Ok("---\nglobs: src/**\n---\nText".into()) });
            let shared = parsed.reread(&other);
            let parsed = parse(Source { origin: other, text: Ok("---\nglobs: src/**\n---\nText".into()) });
            assert_eq!(shared.is_some(), is_shared);
            if let Some(shared) = shared {
                assert_eq!(format!("{shared:?}"), format!("{parsed:?}"));
            }
        }
        check("cursor", "cursor-cli", FormatId::Cursor, true);
        check("jules", "pi", FormatId::AgentsMd, true);
        check("cursor", "cline", FormatId::Cursor, false);
        check("jules", "kiro", FormatId::AgentsMd, false);
    }
}
