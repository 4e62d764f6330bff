//! Ids and addresses: how rules are named, and how names are written in addresses.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::hash::TextHash;
use crate::hidden::is_hidden;

/// The most characters of an id.
const MAX_ID: usize = 128;

/// Normalises an id: trimmed and lower case, with `-` for every character that could break a line, a quotation or a tag,
/// or that nobody can see. A long id is cut and ends in its hash.
pub fn normalize_id(text: &str) -> String {
    // Most file names already are ids.
    let is_plain = |byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'/');
    if text.len() <= MAX_ID && text.bytes().all(is_plain) {
        return text.to_owned();
    }
    let id: String = text.trim().replace(is_unsafe, "-").to_lowercase();
    match id.char_indices().nth(MAX_ID) {
        None => id,
        Some(_) => {
            let kept = id.char_indices().nth(MAX_ID - 9).map_or(id.len(), |(at, _)| at);
            format!("{}-{:08x}", &id[..kept], TextHash::of(&id).number() >> 32)
        }
    }
}

/// A path or a name in a sentence or a tag for a model: with `-` for the characters that an id cannot have.
pub fn plain_name(name: &str) -> Cow<'_, str> {
    if name.contains(is_unsafe) { Cow::Owned(name.replace(is_unsafe, "-")) } else { Cow::Borrowed(name) }
}

/// Whether a character cannot be part of an id: spaces, controls, hidden and bidirectional characters, quotes and `<>`.
fn is_unsafe(c: char) -> bool {
    const QUOTES: &str = "\"'`´‘’‚‛“”„‟‹›«»<>";
    c.is_whitespace() || c.is_control() || is_hidden(c) || QUOTES.contains(c)
}

/// The name in `rule://NAME`, percent-decoded; any other text is returned as it is.
pub fn rule_name(text: &str) -> String {
    text.strip_prefix("rule://").map_or_else(|| text.to_owned(), |name| percent_decoded(name).into_owned())
}

/// The address of the rule with that name: `rule://NAME`.
pub fn rule_uri(name: &str) -> String {
    format!("rule://{}", percent_encoded(name))
}

/// Characters of a path that need a percent code in an address.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// Encodes a path for an address: letters, digits and `-._~/` stay as they are.
pub fn percent_encoded(path: &str) -> String {
    utf8_percent_encode(path, ENCODED).to_string()
}

/// Decodes `%2F` and the like. Text whose escapes are not UTF-8 is returned as it is.
pub fn percent_decoded(text: &str) -> Cow<'_, str> {
    percent_decode_str(text).decode_utf8().unwrap_or(Cow::Borrowed(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_trimmed_lower_cased_and_dashed() {
        #[track_caller]
        fn check(text: &str, id: &str) {
            assert_eq!(normalize_id(text), id);
            assert_eq!(normalize_id(id), id, "a normalised id stays as it is");
        }
        check("  My Rule.v2 ", "my-rule.v2");
        check("a\tb\u{a0}c\nd", "a-b-c-d");
        check("we\u{202e}b\u{200b}x\u{2069}", "we-b-x-");
        check("it's \"so\" `x` <b>", "it-s--so---x---b-");
        check("Ünïcode/日本語@v2+é", "ünïcode/日本語@v2+é");
        check(&"x".repeat(128), &"x".repeat(128));
        let long = normalize_id(&"Ä".repeat(200));
        assert_eq!(long.chars().count(), 128);
        assert!(long.starts_with(&format!("{}-", "ä".repeat(119))));
        assert_ne!(long, normalize_id(&"Ä".repeat(201)));
        check(&"Ä".repeat(200), &long);
    }

    #[test]
    fn names_of_addresses_are_decoded() {
        #[track_caller]
        fn check(text: &str, name: &str) {
            assert_eq!(rule_name(text), name);
        }
        check("rule://a%2Fb", "a/b");
        check("rule://100%", "100%");
        check("rule://%ff", "%ff");
        check("a%2Fb", "a%2Fb");
    }

    #[test]
    fn an_address_is_read_back_as_the_name_it_was_made_of() {
        assert_eq!(rule_uri("a b/é.x"), "rule://a%20b/%C3%A9.x");
        assert_eq!(rule_name(&rule_uri("a b/é.x")), "a b/é.x");
    }
}
