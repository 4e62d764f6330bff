//! Text of strangers in HTML: nothing in it is markup, and nothing in it hides.

use crate::lint::is_hidden;

/// A text as HTML shows it, in an element or a quoted attribute. Characters that people do not see, or that turn the
/// text around, are written as their code.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + text.len() / 8);
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' | '\t' => escaped.push(c),
            c if is_shown_as_code(c) => escaped.push_str(&format!("⟨U+{:04X}⟩", u32::from(c))),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Joiners and selectors of shapes belong to ordinary writing, and HTML has its own line ends.
fn is_shown_as_code(c: char) -> bool {
    let is_common = matches!(c, '\r' | '\u{ad}' | '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}');
    (c.is_control() || is_hidden(c)) && !is_common
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, shown: &str) {
        assert_eq!(escape(text), shown);
    }

    #[test]
    fn markup_is_text() {
        check("<b onclick=\"x\">'&'", "&lt;b onclick=&quot;x&quot;&gt;&#39;&amp;&#39;");
    }

    #[test]
    fn what_hides_or_turns_the_text_around_is_seen() {
        check("a\u{202e}b", "a⟨U+202E⟩b");
        check("a\u{200b}b\0", "a⟨U+200B⟩b⟨U+0000⟩");
        check("👩\u{200d}💻 é\n\tשלום", "👩\u{200d}💻 é\n\tשלום");
    }
}
