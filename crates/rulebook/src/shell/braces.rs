//! Braces: `{a,b}` is several words.

use super::command::Word;

/// The maximum number of words that braces expand to.
const MAX_BRACES: usize = 64;

/// Expands `{a,b}`. A sequence (`{a..b}`), or a word with too many alternatives, is not known.
pub(super) fn expand_braces(word: Word, braces: &[usize], has_dots: bool) -> Vec<Word> {
    let kinds: Vec<(usize, u8)> = braces.iter().map(|at| (*at, word.text.as_bytes()[*at])).collect();
    let is_open = kinds.iter().any(|(_, kind)| *kind == b'{') && kinds.iter().any(|(_, kind)| *kind == b'}');
    if !is_open || !(has_dots || kinds.iter().any(|(_, kind)| *kind == b',')) {
        return vec![word];
    }
    if !word.holes.is_empty() || has_dots && !kinds.iter().any(|(_, kind)| *kind == b',') {
        return vec![Word::hole(&word.text)];
    }
    let mut words = Vec::new();
    if !alternatives(&word.text, &kinds, &mut words) {
        return vec![Word::hole(&word.text)];
    }
    if !word.stars.is_empty() {
        let stars = |word: &Word| word.text.match_indices('*').map(|(at, _)| at).collect();
        words.iter_mut().for_each(|word| word.stars = stars(word));
    }
    words
}

/// Adds the alternatives of the first pair of braces with a comma; `false` if they are too many.
fn alternatives(text: &str, braces: &[(usize, u8)], words: &mut Vec<Word>) -> bool {
    let mut stack: Vec<(usize, Vec<usize>)> = Vec::new();
    let mut pair: Option<(usize, Vec<usize>, usize)> = None;
    for (at, kind) in braces {
        match kind {
            b'{' => stack.push((*at, Vec::new())),
            b',' => stack.iter_mut().last().into_iter().for_each(|(_, commas)| commas.push(*at)),
            _ => {
                let closed = stack.pop().filter(|(_, commas)| !commas.is_empty());
                // The outer pair comes first.
                let is_outer = |open: usize| pair.as_ref().is_none_or(|(known, _, _)| open < *known);
                if let Some((open, commas)) = closed.filter(|(open, _)| is_outer(*open)) {
                    pair = Some((open, commas, *at));
                }
            }
        }
    }
    let Some((open, commas, close)) = pair else {
        words.push(Word::known(text));
        return words.len() <= MAX_BRACES;
    };
    let starts = std::iter::once(open).chain(commas.iter().copied());
    let ends = commas.iter().copied().chain([close]);
    starts.zip(ends).all(|(start, end)| {
        let expanded = format!("{}{}{}", &text[..open], &text[start + 1..end], &text[close + 1..]);
        let moved = |at: usize| match at {
            at if at < open => Some(at),
            at if at > start && at < end => Some(at - start - 1 + open),
            at if at > close => Some(at - close - 1 + open + (end - start - 1)),
            _ => None,
        };
        let rest: Vec<(usize, u8)> =
            braces.iter().filter_map(|(at, kind)| Some((moved(*at)?, *kind))).collect();
        alternatives(&expanded, &rest, words)
    })
}
