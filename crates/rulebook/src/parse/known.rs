//! Sorts the fields of a header by the keys its format knows, and reports the rest.

use super::fields::Fields;
use super::reader::Reader;
use crate::diagnostic::{Code, Fix, Severity, nearest, shown};
use crate::format::{Keys, Repeats, keys};
use crate::frontmatter::Field;
use crate::hidden;

impl Reader<'_> {
    /// Sorts out the keys that the format knows. The others are reported.
    pub(super) fn sort_fields(&mut self, fields: Vec<Field>) -> Fields {
        let format = self.format();
        let mut sorted = Fields::default();
        let mut unknown = Vec::new();
        for mut field in fields {
            if let (Some(last), Repeats::Last) = (field.last.take(), format.repeats) {
                field.node = *last;
            }
            match keys::canonical(format, &field.key) {
                Some(key) if sorted.find(key).is_none() => sorted.0.push((key, field)),
                Some(key) => {
                    let message = format!("`{}` repeats `{key}`; the first one counts", field.key);
                    self.report(Code::DuplicateKey, field.key_span, message);
                }
                None => unknown.push(field),
            }
        }
        unknown.iter().for_each(|field| self.report_unknown(field, &sorted));
        for key in format.agent_ignores {
            let is_dead = *key == "globs" && sorted.given(format.paths_key).is_some();
            if let Some(field) = sorted.find(key).filter(|_| !is_dead) {
                let message = format!("{} itself ignores `{key}`; Rulebook uses it", format.agent);
                let diagnostic = self.report(Code::ForeignKey, field.key_span.clone(), message);
                match *key {
                    "description" => {
                        diagnostic.severity = Severity::Note;
                        diagnostic.help = "no action needed".to_owned();
                    }
                    "globs" | "paths" if format.agent_ignores.contains(&format.paths_key) => {
                        diagnostic.help =
                            format!("{} has no key for paths and always applies the rule", format.agent);
                    }
                    "globs" => diagnostic.help = format!("write `{}:` with a list", format.paths_key),
                    _ => {
                        diagnostic.help =
                            format!("remove it: without `{}` the rule is always on", format.paths_key);
                    }
                }
            }
        }
        sorted
    }

    /// Reports an unknown key. `known` are the other fields of the header.
    fn report_unknown(&mut self, field: &Field, known: &Fields) {
        let format = self.format();
        let key = field.key.clone();
        let looks_like = |seen: &String| keys::known(format).find(|known| known.eq_ignore_ascii_case(seen));
        if let Some(known) = hidden::skeleton(&key).as_ref().and_then(looks_like) {
            let message = format!("looks like `{known}` but uses other letters; it is ignored");
            self.report(Code::LookAlike, field.key_span.clone(), message);
            return;
        }
        if let Some(owner) = keys::owner(&key) {
            let message = format!("`{key}` is {owner} key; {} ignores it", format.agent);
            let diagnostic = self.report(Code::ForeignKey, field.key_span.clone(), message);
            match key.as_str() {
                "always" => diagnostic.help = "write `alwaysApply: true`".to_owned(),
                _ if keys::PATHS.contains(&key.as_str()) => {
                    diagnostic.help = format!("write `{}:`", format.paths_key);
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
        let diagnostic = self.report(
            Code::UnknownKey,
            field.key_span.clone(),
            format!("`{}` is not a key of {} rules; it is ignored", shown(&key), format.agent),
        );
        if let Some(near) = near {
            diagnostic.help = format!("did you mean `{near}`?");
            // Fixable if it is one typing error in a key that the agent knows and that is not there yet.
            let is_typo = strsim::damerau_levenshtein(&key, near) == 1;
            let is_there = keys::canonical(format, near).is_some_and(|key| known.find(key).is_some());
            let is_free = !is_there && !format.agent_ignores.contains(&near);
            diagnostic.fix = (is_typo && is_free).then(|| Fix::new(field.key_span.clone(), near));
        }
    }
}
