//! HTML: untrusted text without markup and without hidden characters.

use crate::hidden::shown_characters;

/// Escapes a text for an element or a quoted attribute. Characters that are invisible or that reverse the text are
/// written as their code.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + text.len() / 8);
    for c in shown_characters(text).chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, shown: &str) {
        assert_eq!(escape(text), shown);
    }

    #[test]
    fn markup_is_escaped() {
        check("<b onclick=\"x\">'&'", "&lt;b onclick=&quot;x&quot;&gt;&#39;&amp;&#39;");
    }

    #[test]
    fn invisible_and_reversing_characters_are_shown() {
        check("a\u{202e}b", "a&lt;U+202E&gt;b");
        check("a\u{200b}b\0", "a&lt;U+200B&gt;b&lt;U+0000&gt;");
        check("👩\u{200d}💻 é\n\tשלום", "👩\u{200d}💻 é\n\tשלום");
    }
}
