//! Ids and addresses: how rules are named, and how names are written in addresses.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::hidden::visible;

/// Normalises an id: trimmed, lower case, with `-` for spaces and control characters.
pub fn normalize_id(text: &str) -> String {
    // Most file names already are ids.
    if text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'/')) {
        return text.to_owned();
    }
    let plain = text.trim().replace(|c: char| c == ' ' || c.is_control(), "-");
    visible(&plain).to_lowercase()
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
        assert_eq!(normalize_id("  My Rule.v2 "), "my-rule.v2");
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
