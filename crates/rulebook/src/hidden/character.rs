//! Characters that people do not see.

use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Invisible characters, with the name of each range. Sorted.
const HIDDEN: &[(RangeInclusive<char>, &str)] = &[
    ('\u{0}'..='\u{8}', "CONTROL CHARACTER"),
    ('\u{b}'..='\u{b}', "LINE TABULATION"),
    ('\u{e}'..='\u{1a}', "CONTROL CHARACTER"),
    ('\u{1b}'..='\u{1b}', "ESCAPE"),
    ('\u{1c}'..='\u{1f}', "CONTROL CHARACTER"),
    ('\u{7f}'..='\u{9f}', "CONTROL CHARACTER"),
    ('\u{ad}'..='\u{ad}', "SOFT HYPHEN"),
    ('\u{34f}'..='\u{34f}', "COMBINING GRAPHEME JOINER"),
    ('\u{61c}'..='\u{61c}', "ARABIC LETTER MARK"),
    ('\u{115f}'..='\u{1160}', "HANGUL FILLER"),
    ('\u{17b4}'..='\u{17b5}', "KHMER VOWEL INHERENT"),
    ('\u{180b}'..='\u{180f}', "MONGOLIAN VARIATION SELECTOR"),
    ('\u{200b}'..='\u{200b}', "ZERO WIDTH SPACE"),
    ('\u{200c}'..='\u{200c}', "ZERO WIDTH NON-JOINER"),
    ('\u{200d}'..='\u{200d}', "ZERO WIDTH JOINER"),
    ('\u{200e}'..='\u{200e}', "LEFT-TO-RIGHT MARK"),
    ('\u{200f}'..='\u{200f}', "RIGHT-TO-LEFT MARK"),
    ('\u{2028}'..='\u{2028}', "LINE SEPARATOR"),
    ('\u{2029}'..='\u{2029}', "PARAGRAPH SEPARATOR"),
    ('\u{202a}'..='\u{202a}', "LEFT-TO-RIGHT EMBEDDING"),
    ('\u{202b}'..='\u{202b}', "RIGHT-TO-LEFT EMBEDDING"),
    ('\u{202c}'..='\u{202c}', "POP DIRECTIONAL FORMATTING"),
    ('\u{202d}'..='\u{202d}', "LEFT-TO-RIGHT OVERRIDE"),
    ('\u{202e}'..='\u{202e}', "RIGHT-TO-LEFT OVERRIDE"),
    ('\u{2060}'..='\u{2060}', "WORD JOINER"),
    ('\u{2061}'..='\u{2064}', "INVISIBLE OPERATOR"),
    ('\u{2065}'..='\u{2065}', "UNASSIGNED FORMAT CHARACTER"),
    ('\u{2066}'..='\u{2066}', "LEFT-TO-RIGHT ISOLATE"),
    ('\u{2067}'..='\u{2067}', "RIGHT-TO-LEFT ISOLATE"),
    ('\u{2068}'..='\u{2068}', "FIRST STRONG ISOLATE"),
    ('\u{2069}'..='\u{2069}', "POP DIRECTIONAL ISOLATE"),
    ('\u{206a}'..='\u{206f}', "DEPRECATED FORMAT CHARACTER"),
    ('\u{2800}'..='\u{2800}', "BRAILLE PATTERN BLANK"),
    ('\u{3164}'..='\u{3164}', "HANGUL FILLER"),
    ('\u{fe00}'..='\u{fe0f}', "VARIATION SELECTOR"),
    ('\u{feff}'..='\u{feff}', "ZERO WIDTH NO-BREAK SPACE"),
    ('\u{ffa0}'..='\u{ffa0}', "HALFWIDTH HANGUL FILLER"),
    ('\u{fff0}'..='\u{fff8}', "UNASSIGNED FORMAT CHARACTER"),
    ('\u{fff9}'..='\u{fffb}', "INTERLINEAR ANNOTATION"),
    ('\u{13430}'..='\u{1343f}', "HIEROGLYPH FORMAT CHARACTER"),
    ('\u{16fe4}'..='\u{16fe4}', "KHITAN FILLER"),
    ('\u{1bca0}'..='\u{1bca3}', "SHORTHAND FORMAT CHARACTER"),
    ('\u{1d159}'..='\u{1d159}', "MUSICAL NULL NOTEHEAD"),
    ('\u{1d173}'..='\u{1d17a}', "MUSICAL FORMAT CHARACTER"),
    ('\u{e0000}'..='\u{e007f}', "TAG CHARACTER"),
    ('\u{e0080}'..='\u{e00ff}', "UNASSIGNED FORMAT CHARACTER"),
    ('\u{e0100}'..='\u{e01ef}', "VARIATION SELECTOR"),
    ('\u{e01f0}'..='\u{e0fff}', "UNASSIGNED FORMAT CHARACTER"),
];

/// Whether a character is invisible by itself. Some scripts and emoji need such characters.
pub fn is_hidden(c: char) -> bool {
    !matches!(c, ' '..='~' | '\n') && character_name(c).is_some()
}

/// Writes hidden characters as `<U+200B>`.
pub(crate) fn shown_characters(text: &str) -> Cow<'_, str> {
    if is_plain(text) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 64);
    for line in text.split_inclusive('\n') {
        let mut written = 0;
        for (at, c) in hidden_characters(line, false) {
            shown.push_str(&line[written..at]);
            shown.push_str(&format!("<U+{:04X}>", u32::from(c)));
            written = at + c.len_utf8();
        }
        shown.push_str(&line[written..]);
    }
    Cow::Owned(shown)
}

/// Whether a text has no hidden characters. Fast, since this is true of nearly every file.
pub(crate) fn is_plain(text: &str) -> bool {
    let is_common = |byte: u8| (byte.wrapping_sub(b' ') <= b'~' - b' ') | (byte == b'\n');
    // Without early exit and branches, so that the compiler vectorises it.
    let are_common = |piece: &[u8]| piece.iter().fold(true, |common, byte| common & is_common(*byte));
    let hides = |at: usize, byte: u8| match byte {
        ..0x80 => !is_common(byte) && !matches!(byte, b'\t' | b'\r' | 0xc),
        // The first bytes of hidden characters beyond ASCII.
        0xc2 | 0xcd | 0xd8 | 0xe1 | 0xe2 | 0xe3 | 0xef | 0xf0 | 0xf3 => {
            text[at..].chars().next().is_some_and(is_hidden)
        }
        _ => false,
    };
    let any_hides =
        |from: usize, piece: &[u8]| piece.iter().enumerate().any(|(at, byte)| hides(from + at, *byte));
    const PIECE: usize = 64;
    let mut pieces = text.as_bytes().chunks(PIECE).enumerate();
    are_common(text.as_bytes())
        || !pieces.any(|(count, piece)| !are_common(piece) && any_hides(count * PIECE, piece))
}

/// Hidden characters, each with its byte offset.
pub(crate) type Found = Vec<(usize, char)>;

/// The tag sequences that turn a black flag into the flag of a country.
const FLAGS: [&str; 3] = ["gbeng", "gbsct", "gbwls"];

/// Finds hidden characters that have no use at their position.
pub(crate) fn hidden_characters(text: &str, has_bom: bool) -> Found {
    if is_plain(text) {
        return Found::new();
    }
    let mut found = Found::new();
    let mut before = None;
    // The end of the tags of a flag.
    let mut flag_end = 0;
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        if c == '\u{1f3f4}' {
            flag_end = end + flag_tags(&text[end..]);
        }
        let belongs = match c {
            '\u{feff}' => at == 0 && has_bom,
            '\u{200e}' | '\u{200f}' | '\u{61c}' => directs(&text[..at], &text[end..]),
            '\u{200c}' | '\u{200d}' => {
                before.is_some_and(|before| joins(before, c, text[end..].chars().next()))
            }
            '\u{e0030}'..='\u{e007f}' => at < flag_end,
            _ => before.is_some_and(|before| selects(before, c)),
        };
        if is_hidden(c) && !belongs {
            found.push((at, c));
        }
        before = Some(c);
    }
    found
}

/// Returns the length of the tags that belong to a black flag.
fn flag_tags(text: &str) -> usize {
    let spelled = |flag: &&str| {
        let tag = |c: char| char::from_u32(0xe0000 + u32::from(c));
        let tags: String = flag.chars().filter_map(tag).chain(['\u{e007f}']).collect();
        text.starts_with(&tags).then_some(tags.len())
    };
    FLAGS.iter().find_map(spelled).unwrap_or(0)
}

/// Whether a joiner belongs between two characters: in scripts that need it, and in composed emoji.
fn joins(before: char, joiner: char, after: Option<char>) -> bool {
    let needs_joiners = |c| {
        matches!(c, '\u{600}'..='\u{8ff}' | '\u{900}'..='\u{dff}' | '\u{f00}'..='\u{109f}' | '\u{1780}'..='\u{18af}'
            | '\u{1900}'..='\u{1c4f}' | '\u{a800}'..='\u{abff}' | '\u{11000}'..='\u{11fff}')
    };
    let is_pictograph = |c| matches!(c, '\u{2190}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}');
    let ends_pictograph = |c| is_pictograph(c) || matches!(c, '\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}');
    needs_joiners(before) && !after.is_some_and(is_hidden)
        || joiner == '\u{200d}' && ends_pictograph(before) && after.is_some_and(is_pictograph)
}

/// Whether a direction mark belongs between two texts: a single one, near a right-to-left letter.
fn directs(before: &str, after: &str) -> bool {
    const NEAR: usize = 8;
    let is_right_to_left = |c: char| {
        c.is_alphabetic()
            && matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
    };
    let is_neutral = |c: &char| c.is_ascii() && !c.is_ascii_alphabetic();
    let is_near = |side: &mut dyn Iterator<Item = char>| {
        side.take(NEAR).find(|c| !is_neutral(c)).is_some_and(is_right_to_left)
    };
    let is_alone =
        !before.chars().next_back().is_some_and(is_hidden) && !after.chars().next().is_some_and(is_hidden);
    is_alone && (is_near(&mut before.chars().rev()) || is_near(&mut after.chars()))
}

/// Whether a variation selector follows a character with several shapes.
fn selects(before: char, selector: char) -> bool {
    match selector {
        '\u{180b}'..='\u{180f}' => matches!(before, '\u{1800}'..='\u{18af}'),
        // Myanmar, mathematical operators, Phags-pa.
        '\u{fe00}' if matches!(before, '\u{1000}'..='\u{109f}' | '\u{2200}'..='\u{22ff}' | '\u{2a00}'..='\u{2aff}' | '\u{a840}'..='\u{a877}') => {
            true
        }
        '\u{fe0e}' | '\u{fe0f}' => is_emoji(before),
        '\u{fe00}'..='\u{fe02}' | '\u{e0100}'..='\u{e01ef}' => {
            matches!(before, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}')
        }
        _ => false,
    }
}

/// Whether a character can be shown as text or as a picture.
fn is_emoji(c: char) -> bool {
    matches!(c, '0'..='9' | '#' | '*' | '©' | '®' | '‼' | '⁉' | '™' | 'ℹ' | '↔'..='↙' | '↩' | '↪' | '\u{2300}'..='\u{23ff}'
        | 'Ⓜ' | '\u{25a0}'..='\u{27bf}' | '⤴' | '⤵' | '\u{2b00}'..='\u{2bff}' | '〰' | '〽' | '㊗' | '㊙'
        | '\u{1f000}'..='\u{1faff}')
}

/// Returns the name of an invisible character.
pub(crate) fn character_name(c: char) -> Option<&'static str> {
    let at = HIDDEN.partition_point(|(range, _)| *range.end() < c);
    HIDDEN.get(at).filter(|(range, _)| range.contains(&c)).map(|(_, name)| *name)
}

/// Returns the letter of a tag character.
pub(crate) fn tagged(c: char) -> Option<char> {
    matches!(c, '\u{e0020}'..='\u{e007e}').then(|| char::from_u32(u32::from(c) - 0xe0000)).flatten()
}

#[cfg(test)]
mod tests;
