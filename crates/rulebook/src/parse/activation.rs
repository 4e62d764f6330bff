//! What a header, or the place of its file, says about the activation.

use super::fields::Fields;
use super::reader::Reader;
use crate::diagnostic::{Code, Fix, shown};
use crate::format::{ActivationKey, Bare, Format, Keys, PlaceKind, StatedActivation};
use crate::frontmatter::{Field, Value};

impl Fields {
    /// What the header, or the place of the file, says about the activation.
    pub(super) fn said(&self, reader: &mut Reader) -> Option<StatedActivation> {
        let place = reader.origin.place;
        if place.is_raw() || matches!(place.shape, PlaceKind::File { always: true, .. }) {
            return Some(StatedActivation::AlwaysHere);
        }
        if self.called().is_some() {
            return Some(StatedActivation::Manual);
        }
        if let Some(modes) = reader.format().modes {
            match self.text(modes.key, reader) {
                Some(word) => {
                    let said = self.mode_said(&word, &modes, reader);
                    let said = said.filter(|said| self.is_backed(*said, &modes, reader)).or(modes.unsaid);
                    return said.or_else(|| self.said_always(reader));
                }
                None if modes.unsaid.is_some() => return modes.unsaid,
                None => {}
            }
        }
        self.said_always(reader)
    }

    /// Whether the header has what its word for how it comes on needs. An agent that goes by a schema takes a file
    /// without it for one that says nothing, and that is told.
    fn is_backed(&self, said: StatedActivation, modes: &ActivationKey, reader: &mut Reader) -> bool {
        let needed = match said {
            StatedActivation::Glob => reader.format().paths_key,
            StatedActivation::Offered => "description",
            _ => return true,
        };
        if modes.unsaid.is_none() || self.given(needed).is_some() {
            return true;
        }
        let field = self.find(modes.key).expect("it has a word");
        let message = format!("this needs a `{needed}`, and without one counts for nothing");
        reader.tell(Code::Unreachable, field.key_span.clone(), message).help = format!("add a `{needed}`");
        false
    }

    /// What makes the file a command, called by name.
    pub(super) fn called(&self) -> Option<&Field> {
        self.given("called").filter(|field| field.node.value != Value::Bool(false))
    }

    /// What the rule is without conditions: not always on, where the header says so and the agent knows the key.
    pub(super) fn bare(&self, format: &Format) -> Bare {
        let knows = format.keys == Keys::Plain && !format.agent_ignores.contains(&"alwaysApply");
        match format.bare {
            Bare::Always | Bare::OfferedElseAlways if knows && self.not_always().is_some() => {
                Bare::OfferedElseManual
            }
            bare => bare,
        }
    }

    /// An `alwaysApply: false`.
    pub(super) fn not_always(&self) -> Option<&Field> {
        self.given("alwaysApply").filter(|field| field.node.value == Value::Bool(false))
    }

    fn said_always(&self, reader: &mut Reader) -> Option<StatedActivation> {
        self.always_apply(reader).filter(|always| *always).map(|_| StatedActivation::Always)
    }

    /// What the word under the agent's key for modes means; hyphens and case are forgiven here, and told.
    fn mode_said(&self, word: &str, modes: &ActivationKey, reader: &mut Reader) -> Option<StatedActivation> {
        let plain = |text: &str| text.trim().to_lowercase().replace(['-', ' '], "_");
        let found = modes.words.iter().find(|(name, _)| plain(name) == plain(word));
        if found.is_none_or(|(name, _)| *name != word) {
            let span = self.find(modes.key).expect("read by the caller").node.span.clone();
            let message = format!("`{}` is not a value of `{}`", shown(word), modes.key);
            let told = reader.tell(Code::BadValue, span.clone(), message);
            told.fix = found.map(|(name, _)| Fix::new(span, *name));
            told.help = match found {
                Some((name, _)) => format!("write `{}: {name}`", modes.key),
                None => {
                    let names: Vec<String> =
                        modes.words.iter().map(|(name, _)| format!("`{name}`")).collect();
                    format!("write one of {}", names.join(", "))
                }
            };
        }
        // Nobody says that the agent forgives them too.
        let is_own = matches!(reader.format().keys, Keys::Own(_));
        found.filter(|(name, _)| *name == word || !is_own).map(|(_, said)| *said)
    }
}
