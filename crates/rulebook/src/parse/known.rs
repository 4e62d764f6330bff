//! Sorts the fields of a header by the keys its format knows, and reports the rest.

use super::fields::Fields;
use super::reader::Reader;
use crate::diagnostic::{Code, Fix, Severity, nearest, shown};
use crate::format::{Keys, keys};
use crate::frontmatter::Field;
use crate::hidden;

impl Reader<'_> {
    /// Parts known keys from the rest, which is told.
    pub(super) fn sort_fields(&mut self, fields: Vec<Field>) -> Fields {
        let format = self.format();
        let mut sorted = Fields::default();
        let mut unknown = Vec::new();
        for field in fields {
            match keys::canonical(format, &field.key) {
                Some(key) if sorted.find(key).is_none() => sorted.0.push((key, field)),
                Some(key) => {
                    let message =
                        format!("`{}` says again what `{key}` says; the first one counts", field.key);
                    self.tell(Code::DuplicateKey, field.key_span, message);
                }
                None => unknown.push(field),
            }
        }
        unknown.iter().for_each(|field| self.report_unknown(field, &sorted));
        for key in format.agent_ignores {
            let is_dead = *key == "globs" && sorted.given(format.paths_key).is_some();
            if let Some(field) = sorted.find(key).filter(|_| !is_dead) {
                let message = format!("{} itself ignores `{key}`; it counts here", format.agent);
                let told = self.tell(Code::ForeignKey, field.key_span.clone(), message);
                match *key {
                    "description" => {
                        told.severity = Severity::Note;
                        told.help = "nothing to do".to_owned();
                    }
                    "globs" | "paths" if format.agent_ignores.contains(&format.paths_key) => {
                        told.help =
                            format!("{} has no key for paths: to it the rule is always on", format.agent);
                    }
                    "globs" => told.help = format!("write `{}:` with a list", format.paths_key),
                    _ => {
                        told.help =
                            format!("leave it out: without `{}` the rule is always on", format.paths_key);
                    }
                }
            }
        }
        sorted
    }

    /// `known` are the other fields of the header.
    fn report_unknown(&mut self, field: &Field, known: &Fields) {
        let format = self.format();
        let key = field.key.clone();
        let seems = |seen: &String| keys::known(format).find(|known| known.eq_ignore_ascii_case(seen));
        if let Some(known) = hidden::skeleton(&key).as_ref().and_then(seems) {
            let message = format!("this only looks like `{known}`: it has other letters, and is ignored");
            self.tell(Code::LookAlike, field.key_span.clone(), message);
            return;
        }
        if let Some(owner) = keys::owner(&key) {
            let message = format!("`{key}` is {owner} key; {} ignores it", format.agent);
            let told = self.tell(Code::ForeignKey, field.key_span.clone(), message);
            match key.as_str() {
                "always" => told.help = "write `alwaysApply: true`".to_owned(),
                _ if keys::PATHS.contains(&key.as_str()) => {
                    told.help = format!("write `{}:`", format.paths_key);
                }
                _ => {}
            }
            return;
        }
        let own =
            |key: &&str| format.keys == Keys::All || !keys::PATHS.contains(key) || *key == format.paths_key;
        let is_paths = keys::PATHS.contains(&key.as_str()) || keys::INVENTED.contains(&key.as_str());
        let near = if is_paths && keys::known(format).any(|known| known == format.paths_key) {
            Some(format.paths_key)
        } else {
            nearest(&key, keys::known(format).filter(own))
        };
        let told = self.tell(
            Code::UnknownKey,
            field.key_span.clone(),
            format!("`{}` is not a key of {} rules; it is ignored", shown(&key), format.agent),
        );
        if let Some(near) = near {
            told.help = format!("did you mean `{near}`?");
            // One slip of the finger, in a key that is not there otherwise and that the agent knows.
            let is_slip = strsim::damerau_levenshtein(&key, near) == 1;
            let is_there = keys::canonical(format, near).is_some_and(|key| known.find(key).is_some());
            let is_free = !is_there && !format.agent_ignores.contains(&near);
            told.fix = (is_slip && is_free).then(|| Fix::new(field.key_span.clone(), near));
        }
    }
}
