//! The table of wires.

use super::json::Json;
use super::protocol::Wire;
use super::reader::{Reader, Step, Waits};
use super::{anthropic, gemini, openai_chat, openai_responses};

pub(in crate::surface) static WIRES: &[Wire] =
    &[anthropic::WIRE, openai_chat::WIRE, openai_responses::WIRE, gemini::WIRE];

/// Reads an event of a response: as one of the wire that is expected, else as one of any wire.
pub(in crate::surface) fn read(
    wire: Option<&Wire>,
    reader: &mut Reader,
    event: &Json<'_>,
    steps: &mut Vec<Step>,
) -> Waits {
    wire.into_iter().chain(WIRES).find_map(|wire| (wire.read)(reader, event, steps)).unwrap_or_default()
}

/// Returns the first wire of a provider.
fn wire_of(provider: &str) -> &'static Wire {
    WIRES.iter().find(|wire| wire.provider == provider).unwrap_or(&WIRES[0])
}

/// Returns the wire of a request by its path, or by its provider if it is no conversation.
pub(in crate::surface) fn wire_at(path: &str, has_header: impl Fn(&str) -> bool) -> &'static Wire {
    WIRES.iter().find(|wire| (wire.is_for)(path)).unwrap_or_else(|| wire_of(provider(path, has_header)))
}

/// Returns the provider of a request that is no conversation: counting tokens, listing models.
pub(in crate::surface) fn provider(path: &str, has_header: impl Fn(&str) -> bool) -> &'static str {
    let is_for = |wire: &&Wire| {
        wire.headers.iter().any(|header| has_header(header))
            || wire.paths.is_some_and(|prefix| path.starts_with(prefix))
    };
    WIRES.iter().find(is_for).map_or(openai_chat::WIRE.provider, |wire| wire.provider)
}
