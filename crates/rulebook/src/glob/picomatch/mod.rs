//! picomatch's dialect: a glob becomes the regular expression that picomatch builds for it.
//!
//! picomatch defines the meaning of a glob by the expression it writes, character by character. Matching its edge cases
//! (a lone `{`, `[!a]`, `**.ts`) requires writing the same expression.

mod brackets;
mod expression;
mod groups;
mod reader;
mod repeats;
mod shortcuts;
mod stars;
mod token;
mod translator;

use super::error::GlobError;
use reader::Translation;
use translator::Translator;

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
    let mut translation = Translator::new(input).run()?;
    if translation.negated {
        translation.body += pattern.len() - input.len();
    }
    Ok(translation)
}
