//! Untrusted text, numbers and times as markup.

use std::time::SystemTime;

use maud::{Markup, PreEscaped, Render, html};
use rulebook::html::escape;

use crate::out::age;
pub(super) use crate::out::{counted, grouped};

/// Untrusted text: escaped, with hidden characters made visible.
pub(super) struct Text<'t>(pub(super) &'t str);

impl Render for Text<'_> {
    fn render_to(&self, buffer: &mut String) {
        buffer.push_str(&escape(self.0));
    }
}

/// An untrusted name, isolated from the text direction around it. Lines may break after a slash.
pub(super) fn name(text: &str) -> Markup {
    html! { bdi { (PreEscaped(escape(text).replace('/', "/<wbr>"))) } }
}

/// A path on one line. If it does not fit, the style sheet cuts the folder, so that the file's name stays readable.
pub(super) fn shortened(path: &str) -> Markup {
    // A skill is known by its folder.
    let end = path.strip_suffix("/SKILL.md").unwrap_or(path);
    let at = end.rfind('/').map_or(0, |at| at + 1);
    html! {
        bdi .short {
            @if at > 0 { span .folder { (PreEscaped(escape(&path[..at]))) } }
            span .name { (PreEscaped(escape(&path[at..]))) }
        }
    }
}

/// A pattern on one line. If it does not fit, the style sheet cuts its end and marks the cut.
pub(super) fn pattern(text: &str) -> Markup {
    html! { @if !text.is_empty() { span .pattern { (Text(text)) } } }
}

/// `~1,240`, with a tooltip.
pub(super) fn tokens(count: usize) -> Markup {
    html! { span .tokens title="tokens, estimated" { "~" (grouped(count)) } }
}

/// Returns the text with its first letter in upper case.
pub(super) fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// How long ago; the script adds the exact time.
pub(super) fn when(at: u64) -> Markup {
    let moment = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(at);
    html! { time data-at=(at) { (age(moment)) } }
}

/// Text with code between backticks.
pub(super) fn ticks(text: &str) -> Markup {
    let mut parts = text.split('`');
    html! {
        (Text(parts.next().unwrap_or_default()))
        @for (at, part) in parts.enumerate() {
            @if at % 2 == 0 { code { (Text(part)) } } @else { (Text(part)) }
        }
    }
}

/// Markup from the engine, which has escaped it.
pub(super) fn fragment(html: String) -> Markup {
    PreEscaped(html)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn untrusted_text_is_escaped() {
        let shown = ticks("a `<b>` <i>\u{202e}").into_string();
        assert_eq!(shown, "a <code>&lt;b&gt;</code> &lt;i&gt;&lt;U+202E&gt;");
        assert_eq!(name("\"><b>a/b").into_string(), "<bdi>&quot;&gt;&lt;b&gt;a/<wbr>b</bdi>");
    }
}
