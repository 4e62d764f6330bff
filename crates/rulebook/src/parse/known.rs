//! Sorts the fields of a header by the keys its format knows, and reports the rest.

use super::build;
use super::fields::{Fields, is_everything, write_key};
use super::reader::Reader;
use crate::condition;
use crate::diagnostic::{Code, Fix, Severity, any_of, nearest_few, shown};
use crate::format::{Bare, FORMATS, Format, FormatId, Keys, Lists, Repeats, StatedActivation, keys};
use crate::frontmatter::{Field, Node, Value};
use crate::glob::split_list;
use crate::hidden;

/// Keys that only the agent of a place reads; elsewhere they are mistakes.
const PLACE_KEYS: &[(&str, &str)] = &[(".qwen/skills", "allowedTools")];

/// Keys of skills and the values that change nothing.
const DEFAULTS: &[(&str, Value)] =
    &[("disable-model-invocation", Value::Bool(false)), ("user-invocable", Value::Bool(true))];

/// The modes of agents. Another word under `mode` is for people.
const MODES: &[&str] =
    &["act", "agent", "architect", "ask", "build", "chat", "code", "debug", "edit", "orchestrator", "plan"];

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
        self.take_patterns(&mut unknown, &mut sorted);
        let mut others = Vec::new();
        for field in &unknown {
            if !self.report_unknown(field, &sorted) {
                others.push(field);
            }
        }
        // In an agent's own view, each of them may be why a rule applies otherwise than meant.
        if !std::ptr::eq(format, format.id.row()) {
            for field in others.drain(..) {
                let message =
                    format!("`{}` is not a key of {}; it is ignored", shown(&field.key), files_of(format));
                let help = remedy(format, &field.key);
                self.report(Code::UnknownKey, field.key_span.clone(), message).help = help;
            }
        }
        self.report_others(&others);
        let has_paths = sorted.given(format.paths_key).is_some();
        // The agent always applies the rule, as the header says.
        let is_always = sorted.is_always() && format.bare == Bare::Always && !has_paths;
        // A description is for people too.
        for key in format.agent_ignores.iter().filter(|key| **key != "description") {
            let is_cline = format.id == FormatId::Cline && *key == "alwaysApply";
            // Without patterns, `false` has no effect, which is reported once the rule is built.
            let is_false = *key == "alwaysApply" && sorted.not_always().is_some();
            let is_dead = *key == "globs" && has_paths || is_always && !is_cline || is_false;
            // Without patterns, the agent applies the rule to everything too.
            let is_idle = |field: &&Field| {
                format.bare == Bare::Always
                    && format.agent_ignores.contains(&format.paths_key)
                    && is_everything(&field.node)
            };
            if let Some(field) = sorted.find(key).filter(|field| !is_dead && !is_idle(field)) {
                let written = write_key(format.paths_key, field, self);
                let message = format!("{} itself ignores `{}`; Rulebook uses it", format.agent, field.key);
                let diagnostic = self.report(Code::ForeignKey, field.key_span.clone(), message);
                match *key {
                    "globs" | "paths" if format.agent_ignores.contains(&format.paths_key) => {
                        diagnostic.help =
                            format!("{} has no key for paths and always applies the rule", format.agent);
                    }
                    "globs" if is_everything(&field.node) => {
                        diagnostic.severity = Severity::Note;
                        diagnostic.help = "remove it: without it the rule is always on".to_owned();
                    }
                    "globs" => {
                        diagnostic.help = match format.lists {
                            Lists::List | Lists::ListOrNever => {
                                format!("write `{}:` with a list", format.paths_key)
                            }
                            _ => written,
                        };
                        diagnostic.fix = Some(Fix::new(field.key_span.clone(), format.paths_key));
                    }
                    _ => {
                        if is_always {
                            diagnostic.severity = Severity::Note;
                        }
                        diagnostic.help =
                            format!("remove it: without `{}` the rule is always on", format.paths_key);
                    }
                }
            }
        }
        sorted
    }

    /// Takes patterns under a key that no agent has for the paths that its author meant, unless the agent's own key is there. An
    /// agent's own view ignores such keys, and a strict schema rejects them.
    fn take_patterns(&self, unknown: &mut Vec<Field>, sorted: &mut Fields) {
        let format = self.format();
        let is_meant = matches!(format.keys, Keys::Paths | Keys::Plain | Keys::Conditions);
        let has_key = keys::known(format).any(|known| known == format.paths_key)
            && !format.agent_ignores.contains(&format.paths_key);
        let is_free = keys::PATHS.iter().all(|key| sorted.given(key).is_none());
        let is_for_paths =
            |field: &Field| keys::AMBIGUOUS.contains(&field.key.as_str()) && has_patterns(&field.node);
        let Some(foreign) = keys::PATHS.iter().find(|key| **key != format.paths_key) else { return };
        if is_meant
            && has_key
            && is_free
            && let Some(at) = unknown.iter().position(is_for_paths)
        {
            sorted.0.push((foreign, unknown.remove(at)));
        }
    }

    /// Reports keys that resemble none of the agent's, if they would have an effect in a rule of Rulebook. Most others
    /// are for people and other tools.
    fn report_others(&mut self, others: &[&Field]) {
        let is_label = |field: &Field| {
            let Value::Text(word) = &field.node.value else { return false };
            field.key == "mode" && !MODES.contains(&word.trim().to_lowercase().as_str())
        };
        let has_effect = |field: &&&Field| {
            keys::known(FormatId::Rulebook.row()).any(|key| key == field.key) && !is_label(field)
        };
        let others: Vec<&&Field> = others.iter().filter(has_effect).collect();
        // The keys of skills are open: most are for the tools that made them.
        let Some(first) = others.first().filter(|_| self.format().id != FormatId::Skill) else { return };
        let names: Vec<String> = others.iter().map(|field| format!("`{}`", shown(&field.key))).collect();
        let message = format!("without effect in {}: {}", files_of(self.format()), names.join(", "));
        let diagnostic = self.report(Code::UnknownKey, first.key_span.clone(), message);
        diagnostic.severity = Severity::Note;
        diagnostic.help = "remove what no other tool uses".to_owned();
    }

    /// Reports an unknown key that looks like a mistake, and returns whether it does. `known` are the other fields of the
    /// header.
    fn report_unknown(&mut self, field: &Field, known: &Fields) -> bool {
        let format = self.format();
        let key = field.key.clone();
        let looks_like = |seen: &String| keys::known(format).find(|known| known.eq_ignore_ascii_case(seen));
        if let Some(known) = hidden::skeleton(&key).as_ref().and_then(looks_like) {
            let message = format!("looks like `{known}` but uses other letters; it is ignored");
            self.report(Code::LookAlike, field.key_span.clone(), message);
            return true;
        }
        if let Some(owner) = keys::owner(&key).filter(|_| format.id != FormatId::Skill && !is_metadata(field))
        {
            self.report_foreign(field, owner, known);
            return true;
        }
        let own =
            |key: &&str| format.keys == Keys::All || !keys::PATHS.contains(key) || *key == format.paths_key;
        let is_paths = keys::PATHS.contains(&key.as_str()) || keys::INVENTED.contains(&key.as_str());
        let near = if is_paths && keys::known(format).any(|known| known == format.paths_key) {
            vec![format.paths_key]
        } else {
            // Most unknown keys are not typing errors.
            let mut near = nearest_few(&key, keys::known(format).filter(own), 3);
            near.retain(|near| strsim::damerau_levenshtein(&plain(&key), &plain(near)) <= near.len() / 4);
            near
        };
        let Some(&first) = near.first() else { return false };
        let is_default = |(known, value): &(&str, Value)| *known == first && field.node.value == *value;
        if PLACE_KEYS.contains(&(self.origin.place.path, key.as_str()))
            || format.id == FormatId::Skill && DEFAULTS.iter().any(is_default)
        {
            return true;
        }
        // Fixable if it is one typing error in a key that the agent knows and that is not there yet.
        let is_typo = strsim::damerau_levenshtein(&key, first) == 1;
        let is_there = keys::canonical(format, first).is_some_and(|key| known.find(key).is_some());
        let is_free = !is_there && !format.agent_ignores.contains(&first);
        let message = format!("`{}` is not a key of {}; it is ignored", shown(&key), files_of(format));
        let diagnostic = self.report(Code::UnknownKey, field.key_span.clone(), message);
        diagnostic.help = format!("did you mean {}?", any_of(&near));
        diagnostic.fix = (is_typo && is_free).then(|| Fix::new(field.key_span.clone(), first));
        true
    }

    /// Reports another agent's key. If the agent's own key for the same is there too, the file is for both.
    fn report_foreign(&mut self, field: &Field, owner: &str, known: &Fields) {
        let format = self.format();
        let key = field.key.as_str();
        let own: Vec<&str> = match () {
            () if keys::PATHS.contains(&key) => vec![format.paths_key],
            () if !keys::ACTIVATION.contains(&key) => Vec::new(),
            () => match format.modes {
                Some(modes) => vec![modes.key],
                None => vec!["alwaysApply", format.paths_key, "description"],
            },
        };
        let understood = |key: &&str| {
            keys::known(format).any(|known| known == *key) && !format.agent_ignores.contains(key)
        };
        let own: Vec<&str> = own.into_iter().filter(understood).collect();
        if own.iter().any(|key| known.given(key).is_some()) || self.means_the_same(field, known) {
            return;
        }
        let message = format!("`{key}` is {owner} key; {} ignores it", format.agent);
        let diagnostic = self.report(Code::ForeignKey, field.key_span.clone(), message);
        diagnostic.help = match own.as_slice() {
            [] => format!("{} has no such key; remove it unless another agent reads the file", format.agent),
            own => format!("{} uses {}", format.agent, any_of(own)),
        };
    }

    /// Whether the rule applies in the way that another agent's key states, for other reasons.
    fn means_the_same(&self, field: &Field, known: &Fields) -> bool {
        let Value::Text(word) = &field.node.value else { return false };
        let Some(meant) = stated_by(word, |key| key == field.key) else { return false };
        let format = self.format();
        let is_given = |key: &str| known.given(key).is_some();
        let decided = |stated| {
            let (has_paths, is_described) = (is_given(format.paths_key), is_given("description"));
            build::decide(stated, has_paths, is_described, known.bare(format)).0
        };
        decided(Some(meant)) == decided(known.is_always().then_some(StatedActivation::Always))
    }
}

/// Whether a value is nothing but path patterns: `src/**`, `["*.ts", docs/*]`.
fn has_patterns(node: &Node) -> bool {
    let texts = condition::texts(node, &mut |_, _, _| {});
    let is_pattern = |text: &str| {
        let is_path = text.contains('/') || text.starts_with("*.");
        is_path && text.contains('*') && !text.contains(char::is_whitespace) && !text.contains("://")
    };
    let mut pieces = texts.iter().flat_map(|(text, _)| split_list(text)).map(|(_, piece)| piece).peekable();
    pieces.peek().is_some() && pieces.all(is_pattern)
}

/// Returns the activation that a word states as the value of an agent's key: `manual` of `trigger`.
pub(super) fn stated_by(word: &str, is_key: impl Fn(&str) -> bool) -> Option<StatedActivation> {
    let modes = FORMATS.iter().filter_map(|format| format.modes).filter(|modes| is_key(modes.key));
    modes.flat_map(|modes| modes.words).find(|(known, _)| *known == word).map(|(_, stated)| *stated)
}

/// Whether a field has another agent's key and a value that says nothing to that agent: `type: guide`.
fn is_metadata(field: &Field) -> bool {
    let is_key = FORMATS.iter().any(|format| format.modes.is_some_and(|modes| modes.key == field.key));
    let Value::Text(word) = &field.node.value else { return false };
    is_key && !keys::PATHS.contains(&field.key.as_str()) && stated_by(word, |key| key == field.key).is_none()
}

/// Returns a key without case and separators.
fn plain(key: &str) -> String {
    key.to_lowercase().replace(['-', '_'], "")
}

/// Returns what to do about a key that an agent does not know.
fn remedy(format: &Format, key: &str) -> String {
    /// Longer lists do not help.
    const FEW: usize = 6;
    let known: Vec<String> = keys::known(format).map(|known| format!("`{known}`")).collect();
    let known = match known.as_slice() {
        [] => "none".to_owned(),
        few if few.len() <= FEW => few.join(", "),
        _ => return format!("remove `{}`, or correct its name", shown(key)),
    };
    format!("remove `{}`, or correct its name: {} knows {known}", shown(key), format.agent)
}

/// Returns what the files of a format are called.
fn files_of(format: &Format) -> String {
    if format.id == FormatId::Skill { "skills".to_owned() } else { format!("{} rules", format.agent) }
}
