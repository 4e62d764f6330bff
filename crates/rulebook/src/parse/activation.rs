//! The activation that a header, or the place of its file, states.

use super::fields::Fields;
use super::known::stated_by;
use super::reader::Reader;
use crate::condition;
use crate::diagnostic::{Code, Fix, any_of, shown};
use crate::format::{ActivationKey, Bare, Format, Keys, PlaceKind, StatedActivation};
use crate::frontmatter::{Field, Value};

impl Fields {
    /// Returns the activation that the header, or the place of the file, states.
    pub(super) fn stated_activation(&self, reader: &mut Reader) -> Option<StatedActivation> {
        let place = reader.origin.place;
        if place.is_raw() || matches!(place.shape, PlaceKind::File { always: true, .. }) {
            return Some(StatedActivation::AlwaysHere);
        }
        if self.is_excluded(reader.format()) {
            return Some(StatedActivation::Off);
        }
        let has_word = |(key, word): &(&str, &str)| {
            self.find(key).is_some_and(|field| field.node.value == Value::Text((*word).to_owned()))
        };
        if reader.format().off_words.iter().any(has_word) {
            return Some(StatedActivation::Off);
        }
        if self.called().is_some() {
            return Some(StatedActivation::Manual);
        }
        if let Some(modes) = reader.format().modes {
            match self.text(modes.key, reader) {
                Some(word) => {
                    let stated = self.stated_by_key(&word, &modes, reader);
                    let stated =
                        stated.filter(|stated| self.is_backed(*stated, &modes, reader)).or(modes.unsaid);
                    return stated.or_else(|| self.stated_always(reader));
                }
                None if modes.unsaid.is_some() => return modes.unsaid,
                None => {}
            }
        }
        self.stated_always(reader)
    }

    /// Whether the header has the key that its activation needs. An agent with a schema ignores the activation
    /// otherwise, which is reported.
    fn is_backed(&self, stated: StatedActivation, modes: &ActivationKey, reader: &mut Reader) -> bool {
        let needed = match stated {
            StatedActivation::Glob => std::slice::from_ref(&reader.format().paths_key),
            StatedActivation::Offered => modes.offered_by,
            _ => return true,
        };
        let is_missing = |key: &&&str| modes.unsaid.is_some() && self.given(key).is_none();
        let missing: Vec<String> = needed.iter().filter(is_missing).map(|key| format!("`{key}`")).collect();
        if missing.is_empty() {
            return true;
        }
        let missing = missing.join(" and ");
        let field = self.find(modes.key).expect("the activation was read from it");
        let value = shown(&reader.text[field.node.span.clone()]);
        let message = format!("`{}: {value}` has no effect without {missing}", field.key);
        reader.report(Code::Unreachable, field.key_span.clone(), message).help = format!("add {missing}");
        false
    }

    /// Whether the header names a surface that must not read the rule, in a text or a list.
    fn is_excluded(&self, format: &Format) -> bool {
        let Some((field, words)) = format.excludes.and_then(|(key, words)| Some((self.given(key)?, words)))
        else {
            return false;
        };
        let named = condition::texts(&field.node, &mut |_, _, _| {});
        named.iter().any(|(word, _)| words.contains(word))
    }

    /// Returns the key that makes the file a command, which the user calls by name.
    pub(super) fn called(&self) -> Option<&Field> {
        self.given("called").filter(|field| field.node.value != Value::Bool(false))
    }

    /// Returns the activation of a rule without conditions. `alwaysApply: false` counts if the agent knows it.
    pub(super) fn bare(&self, format: &Format) -> Bare {
        let knows = || self.not_always().is_some() && !format.agent_ignores.contains(&"alwaysApply");
        format.not_always.filter(|_| knows()).unwrap_or(format.bare)
    }

    /// Whether the header has `alwaysApply: true`.
    pub(super) fn is_always(&self) -> bool {
        self.given("alwaysApply").is_some_and(|field| field.node.value == Value::Bool(true))
    }

    /// Returns the field `alwaysApply: false`.
    pub(super) fn not_always(&self) -> Option<&Field> {
        self.given("alwaysApply").filter(|field| field.node.value == Value::Bool(false))
    }

    fn stated_always(&self, reader: &mut Reader) -> Option<StatedActivation> {
        self.always_apply(reader).filter(|always| *always).map(|_| StatedActivation::Always)
    }

    /// Returns the activation that a word stands for. Wrong hyphens and case are accepted and reported.
    fn stated_by_key(
        &self,
        word: &str,
        modes: &ActivationKey,
        reader: &mut Reader,
    ) -> Option<StatedActivation> {
        let plain = |text: &str| text.trim().to_lowercase().replace(['-', ' '], "_");
        let found = modes.words.iter().find(|(name, _)| plain(name) == plain(word));
        if found.is_none_or(|(name, _)| *name != word) {
            let span = self.find(modes.key).expect("read by the caller").node.span.clone();
            let agent = reader.format().agent;
            let message = match found {
                Some(_) => format!("`{}` is not a value of `{}`", shown(word), modes.key),
                None if reader.format().bare == Bare::Undocumented => format!(
                    "`{}` is not a value of `{}` in {agent} rules: {agent} does not document what it does with it",
                    shown(word),
                    modes.key
                ),
                None => format!("`{}` is not a value of `{}`; {agent} ignores it", shown(word), modes.key),
            };
            let diagnostic = reader.report(Code::BadValue, span.clone(), message);
            diagnostic.fix = found.map(|(name, _)| Fix::new(span, *name));
            diagnostic.help = match found {
                Some((name, _)) => format!("write `{}: {name}`", modes.key),
                // Other agents have a word for the same.
                None if let Some((name, _)) = stated_by(word, |_| true)
                    .and_then(|meant| modes.words.iter().find(|(_, stated)| *stated == meant)) =>
                {
                    format!("write `{}: {name}`", modes.key)
                }
                None => {
                    let names: Vec<&str> = modes.words.iter().map(|(name, _)| *name).collect();
                    format!("write {}", any_of(&names))
                }
            };
        }
        // It is not documented that the agent accepts them too.
        let is_own = matches!(reader.format().keys, Keys::Own(_));
        found.filter(|(name, _)| *name == word || !is_own).map(|(_, stated)| *stated)
    }
}
