//! What a message brings along: rules that another program of Rulebook added to it, and the blocks around the user's words.

use super::due::offers_delivery_of;
use super::event::Delivery;
use crate::evidence::without_generated;
use crate::own_text::{INTERRUPT_TAG, OwnText};
use crate::render::offer_line;
use crate::rule::Rule;
use crate::stream::policy::{attribute, escape_tags};

/// Why a rule counts as delivered that came with the message.
const WITH_MESSAGE: &str = "in the message";

/// The deliveries of rules that a message contains because Rulebook added them. Anyone can write such a text, so it does not
/// stand for a mandatory rule unless Rulebook is known to relay the message.
pub fn carried<'r>(message: &str, rules: impl Iterator<Item = &'r Rule>, is_relayed: bool) -> Vec<Delivery> {
    let own = OwnText::of(message);
    if own == OwnText::default() {
        return Vec::new();
    }
    let delivery = |rule: &Rule| {
        let (name, body) = (attribute(rule.address()), rule.readable());
        let body = escape_tags(&body);
        let is_whole = own.rules.iter().any(|(known, text)| *known == name && *text == body);
        let is_listed = || own.listed.contains(&offer_line(rule).as_str());
        (is_whole || is_listed())
            .then(|| Delivery { offered: !is_whole, ..Delivery::of(rule, WITH_MESSAGE.to_owned()) })
    };
    let rules = rules.filter(|rule| is_relayed || !rule.is_mandatory);
    let offers = (!own.offers.is_empty()).then(|| offers_delivery_of(&own.offers));
    rules.filter_map(delivery).chain(offers).collect()
}

/// Whether a message is not the user's, but asks the model again after an interrupt.
pub fn is_retry(message: &str) -> bool {
    message.contains(&format!("<{INTERRUPT_TAG} ")) && without_generated(message).trim().is_empty()
}
