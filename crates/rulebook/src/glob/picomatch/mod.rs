//! Picomatch's dialect: a glob becomes the regular expression picomatch would build for it.
//!
//! Picomatch defines what a glob means by the text it writes, character by character, so its
//! corners (a lone `{`, `[!a]`, `**.ts`) can only be met by writing the same expression.

mod brackets;
mod groups;
mod repeats;
mod shortcuts;
mod stars;
mod tokens;
mod translator;

use super::error::GlobError;

const DOT: &str = r"\.";
const SLASH: &str = r"\/";
const NOT_SLASH: &str = "[^/]";
const STAR: &str = "[^/]*?";

/// One more character, but no line break.
pub(super) const SOMETHING: &str = "(?=.)";
/// No `.` or `..` segment starts here.
pub(super) const NO_DOTS: &str = r"(?!\.{1,2}(?:\/|$))";
/// No `.` or `..` segment starts here or after the slash here.
pub(super) const NO_DOTS_BEYOND: &str = r"(?!(?:^|\/)\.{1,2}(?:\/|$))";
/// What follows a leading dot is more than another dot.
pub(super) const NO_LONE_DOT: &str = r"(?!\.{0,1}(?:\/|$))";
/// One character of a path that `**` walks over.
pub(super) const STRIDE: &str = r"(?:(?!(?:^|\/)\.{1,2}(?:\/|$)).)";
const GLOBSTAR: &str = r"(?:(?:(?!(?:^|\/)\.{1,2}(?:\/|$)).)*?)";

/// The expression a glob stands for, without its anchors.
#[derive(Debug)]
pub(super) struct Translation {
    pub(super) source: String,
    /// The whole pattern is turned around by an odd number of leading `!`.
    pub(super) negated: bool,
    /// Byte offset of what follows the leading `!`; 0 unless negated.
    pub(super) body: usize,
}

/// Writes the expression for `pattern`.
pub(super) fn translate(pattern: &str) -> Result<Translation, GlobError> {
    let plain = |source| Translation { source, negated: false, body: 0 };
    if let Some(source) = shortcuts::named_form(pattern) {
        return Ok(plain(source));
    }
    let input = shortcuts::stripped(shortcuts::replaced(pattern));
    if let Some(source) = shortcuts::flat_form(input) {
        return Ok(plain(source));
    }
    let mut translation = translator::Translator::new(input).run()?;
    if translation.negated {
        translation.body += pattern.len() - input.len();
    }
    Ok(translation)
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 4);
    for c in text.chars() {
        if is_special(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

fn is_special(c: char) -> bool {
    "-*+?.^${}(|)[]".contains(c)
}
